//! Planting without a sandbox: hostile names, races and bounds.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use palisade_policy::{
    AbsolutePath, CanonicalSandboxPolicy, HostFacts, Os, PathRules, PathSpec, PolicyContext,
    ResolvedPolicy, WorkspaceRoot,
};
use tempfile::TempDir;

use super::*;
use crate::host::{LandlockSupport, NamespaceSupport};
use crate::seccomp::Arch;

struct Tree {
    base: TempDir,
    root: PathBuf,
    policy: ResolvedPolicy,
    options: AftermathOptions,
}

impl Tree {
    fn new() -> Self {
        Self::with(PathRules::default())
    }

    fn with(rules: PathRules) -> Self {
        let base = tempfile::tempdir().unwrap();
        let real = fs::canonicalize(base.path()).unwrap();
        let root = real.join("app");
        for directory in ["app", "home", "outside"] {
            fs::create_dir(real.join(directory)).unwrap();
        }
        let cwd = WorkspaceRoot::new(&root).unwrap();
        let home = AbsolutePath::new(real.join("home")).unwrap();
        let context = PolicyContext::new(HostFacts::new(Os::Linux).with_home(home), cwd.clone());
        let policy = CanonicalSandboxPolicy::workspace_write([cwd])
            .with_paths(rules)
            .resolve(&context)
            .unwrap();
        let options = AftermathOptions {
            // Machines that test are slow at times.
            max_time: Duration::from_secs(60),
            ..AftermathOptions::default()
        };
        Self {
            base,
            root,
            policy,
            options,
        }
    }

    fn look(&self) -> Before {
        let host = LinuxHost::new(
            Arch::X86_64,
            LandlockSupport::Abi(7),
            NamespaceSupport::Works,
        );
        Before::look(&self.policy, &host, &self.options)
    }

    fn make(&self, path: impl AsRef<Path>, text: &str) {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// The kinds and the paths below the root.
    fn found(&self, before: &Before) -> Vec<(FindingKind, PathBuf)> {
        let relative = |path: &AbsolutePath| {
            let path = path.as_path();
            path.strip_prefix(&self.root).unwrap_or(path).to_path_buf()
        };
        let found = before.compare(&self.policy);
        found
            .iter()
            .map(|finding| (finding.kind, relative(&finding.path)))
            .collect()
    }

    #[track_caller]
    fn expect(&self, before: &Before, expected: &[(FindingKind, &str)]) {
        let expected: Vec<_> = expected
            .iter()
            .map(|(kind, path)| (*kind, PathBuf::from(path)))
            .collect();
        assert_eq!(self.found(before), expected);
    }
}

use FindingKind::*;

#[test]
fn an_untouched_tree_and_ordinary_work_say_nothing() {
    let tree = Tree::new();
    tree.make("Makefile", "all:");
    tree.make(".git/config", "");
    tree.make("vendor/lib/.git/config", "");
    let before = tree.look();
    tree.expect(&before, &[]);
    tree.make("src/main.rs", "fn main() {}");
    tree.make(".git/index", "x");
    tree.make(".git/objects/aa/bb", "x");
    tree.make("vendor/lib/.git/index", "x");
    tree.expect(&before, &[]);
}

#[test]
fn repositories_are_found_whatever_they_are_made_of() {
    let tree = Tree::new();
    tree.make("old/.git", "gitdir: ../x");
    tree.make("kept/.git/config", "");
    let before = tree.look();
    tree.make("a/.git/hooks/pre-commit", "evil");
    tree.make("a/.git/config", "evil");
    tree.make("b/.git", "gitdir: /elsewhere");
    fs::create_dir(tree.root.join("c")).unwrap();
    symlink("../outside", tree.root.join("c/.git")).unwrap();
    tree.make("old/.git", "gitdir: ../evil");
    tree.make("kept/.git/config", "[core] fsmonitor = evil");
    tree.make("kept/.git/hooks/post-checkout", "evil");
    tree.make("kept/.git/hooks/x.sample", "not run");
    tree.expect(
        &before,
        &[
            (NestedRepository, "a/.git"),
            (NestedRepository, "b/.git"),
            (NestedRepository, "c/.git"),
            (NestedRepository, "old/.git"),
            (RunsLater, "kept/.git/config"),
            (RunsLater, "kept/.git/hooks/post-checkout"),
        ],
    );
}

#[test]
fn bare_repositories_are_found_in_the_root_and_below() {
    let tree = Tree::new();
    tree.make("fixture/HEAD", "");
    tree.make("fixture/refs/x", "");
    tree.make("fixture/objects/x", "");
    let before = tree.look();
    tree.make("HEAD", "ref: refs/heads/main");
    tree.make("config", "[core] fsmonitor = evil");
    fs::create_dir(tree.root.join("objects")).unwrap();
    fs::create_dir(tree.root.join("refs")).unwrap();
    // Shares the objects of another.
    tree.make("deep/.x/HEAD", "");
    tree.make("deep/.x/commondir", "/elsewhere");
    tree.make("fixture/config", "[core] fsmonitor = evil");
    tree.make("fixture/hooks/pre-push", "evil");
    tree.expect(
        &before,
        &[
            (PlantedBareRepository, ""),
            (PlantedBareRepository, "deep/.x"),
            (RunsLater, "fixture/config"),
            (RunsLater, "fixture/hooks/pre-push"),
        ],
    );
}

#[test]
fn files_that_tools_run_are_told_when_they_are_new_or_change() {
    let tree = Tree::new();
    tree.make("Makefile", "all:");
    tree.make("same/.npmrc", "");
    let before = tree.look();
    // As long as before, and with the old time.
    let times = fs::metadata(tree.root.join("Makefile")).unwrap();
    tree.make("Makefile", "evl:");
    let file = fs::File::options()
        .write(true)
        .open(tree.root.join("Makefile"))
        .unwrap();
    file.set_modified(times.modified().unwrap()).unwrap();
    for path in [
        ".envrc",
        ".cargo/config.toml",
        "sub/.idea/runConfigurations/a.xml",
        ".gitattributes",
        ".vscode/tasks.json",
    ] {
        tree.make(path, "x");
    }
    symlink("elsewhere", tree.root.join("sub/.husky")).unwrap();
    tree.expect(
        &before,
        &[
            (Protected, ".vscode/tasks.json"),
            (RunsLater, ".cargo/config.toml"),
            (RunsLater, ".envrc"),
            (RunsLater, ".gitattributes"),
            (RunsLater, "Makefile"),
            (RunsLater, "sub/.husky"),
            (RunsLater, "sub/.idea/runConfigurations/a.xml"),
        ],
    );
}

#[test]
fn hooks_in_the_tree_are_told_if_git_takes_them_from_there() {
    let tree = Tree::new();
    tree.make(".git/config", "[core]\n\thooksPath = tools/hooks\n");
    tree.make("tools/hooks/pre-commit", "fine");
    fs::write(
        tree.base.path().join("home/.gitconfig"),
        "[core]\nhooksPath = ./mine\n",
    )
    .unwrap();
    let before = tree.look();
    tree.make("tools/hooks/pre-commit", "evil");
    tree.make("mine/post-merge", "evil");
    tree.make("tools/other", "fine");
    tree.expect(
        &before,
        &[
            (HooksPath, "mine/post-merge"),
            (HooksPath, "tools/hooks/pre-commit"),
        ],
    );
}

#[test]
fn later_matches_of_denied_patterns_are_told() {
    let env = PathSpec::parse("**/.env*").unwrap();
    let tree = Tree::with(PathRules::default().with_deny_read([env]));
    tree.make("a/.env", "old");
    let before = tree.look();
    tree.make("b/c/.env.local", "new");
    tree.make("b/c/env", "new");
    tree.expect(&before, &[(LaterMatch, "b/c/.env.local")]);
}

#[test]
fn files_with_names_elsewhere_are_told_when_they_change() {
    let mut tree = Tree::new();
    tree.options.hard_links = true;
    let outside = tree.base.path().join("outside");
    for name in ["changed", "same"] {
        fs::write(outside.join(name), "x").unwrap();
        fs::hard_link(outside.join(name), tree.root.join(name)).unwrap();
    }
    let before = tree.look();
    tree.make("changed", "evil");
    // Both names are here.
    tree.make("one", "x");
    fs::hard_link(tree.root.join("one"), tree.root.join("two")).unwrap();
    tree.expect(&before, &[(HardLink, "changed")]);
}

#[test]
fn files_that_run_as_their_owner() {
    let mut tree = Tree::new();
    tree.options.set_ids = true;
    let set = |name: &str, mode: u32| {
        let mode = fs::Permissions::from_mode(mode);
        fs::set_permissions(tree.root.join(name), mode).unwrap();
    };
    for name in ["known", "user", "deep/group", "plain"] {
        tree.make(name, "x");
    }
    set("known", 0o4755);
    let before = tree.look();
    set("user", 0o4755);
    set("deep/group", 0o2711);
    set("plain", 0o1777);
    tree.expect(&before, &[(SetId, "deep/group"), (SetId, "user")]);
}

#[test]
fn hostile_names_are_told_in_one_line() {
    let tree = Tree::new();
    let before = tree.look();
    for name in [&b"line\nbreak"[..], b"\x1b[31mred", b"\xff\xfe", b" "] {
        tree.make(Path::new(OsStr::from_bytes(name)).join(".envrc"), "x");
    }
    let found = before.compare(&tree.policy);
    assert_eq!(found.len(), 4);
    for finding in found {
        let text = finding.to_string();
        assert!(!text.chars().any(char::is_control), "{text:?}");
        assert!(
            fs::symlink_metadata(&finding.path).is_ok(),
            "the path itself is unchanged"
        );
    }
}

#[test]
fn bounds_are_kept_and_told() {
    let mut tree = Tree::new();
    tree.options.max_entries = 50;
    tree.options.max_depth = 5;
    let before = tree.look();
    tree.make("d/d/d/d/d/d/d/.envrc", "x");
    let found = tree.found(&before);
    assert_eq!(found, [(Incomplete, PathBuf::from("d/d/d/d/d"))]);
    for i in 0..100 {
        tree.make(format!("many/{i}"), "x");
    }
    let found = tree.found(&before);
    assert!(
        found
            .iter()
            .any(|(kind, path)| *kind == Incomplete && path == Path::new("many"))
    );

    tree.options = AftermathOptions {
        max_findings: 3,
        ..AftermathOptions::default()
    };
    let before = tree.look();
    for i in 0..10 {
        tree.make(format!("f/{i}/.envrc"), "x");
    }
    let found = before.compare(&tree.policy);
    assert_eq!(found.len(), 4);
    assert_eq!(
        found.last().unwrap().what,
        "7 more findings than are listed"
    );

    tree.options.max_time = Duration::ZERO;
    let found = tree.look().compare(&tree.policy);
    assert!(found.iter().all(|finding| finding.kind == Incomplete) && !found.is_empty());
}

#[test]
#[expect(clippy::print_stdout, reason = "a test says why it is skipped")]
fn a_directory_that_cannot_be_listed_is_told_if_it_is_new() {
    let tree = Tree::new();
    tree.make("old/x", "");
    tree.make("new/x", "");
    let close = |name: &str, mode| {
        let permissions = fs::Permissions::from_mode(mode);
        fs::set_permissions(tree.root.join(name), permissions).unwrap();
    };
    close("old", 0o0);
    if fs::read_dir(tree.root.join("old")).is_ok() {
        println!("skipped: root may list every directory");
        return;
    }
    let before = tree.look();
    close("new", 0o0);
    let found = tree.found(&before);
    close("old", 0o700);
    close("new", 0o700);
    assert_eq!(found, [(Incomplete, PathBuf::from("new"))]);
}

/// Somebody who still runs swaps a directory for a link to the outside, again and again.
#[test]
fn a_swapped_directory_leads_nowhere_else() {
    let tree = Tree::new();
    let outside = tree.base.path().join("outside");
    for i in 0..50 {
        let directory = outside.join(format!("{i}"));
        fs::create_dir_all(directory.join(".git")).unwrap();
        fs::write(directory.join(".envrc"), "x").unwrap();
    }
    let outside = fs::canonicalize(outside).unwrap();
    for name in ["a", "b", "c"] {
        fs::create_dir_all(tree.root.join(name).join("inner")).unwrap();
    }
    symlink(&outside, tree.root.join("link")).unwrap();
    let before = tree.look();
    let stop = AtomicBool::new(false);
    let seen = std::thread::scope(|scope| {
        scope.spawn(|| {
            let exchange = |one: &str, two: &str| {
                let (one, two) = (tree.root.join(one), tree.root.join(two));
                let flags = rustix::fs::RenameFlags::EXCHANGE;
                rustix::fs::renameat_with(rustix::fs::CWD, &one, rustix::fs::CWD, &two, flags)
            };
            while !stop.load(Ordering::Relaxed) {
                for name in ["a", "b", "c", "b/inner"] {
                    exchange(name, "link").unwrap();
                    exchange(name, "link").unwrap();
                }
            }
        });
        let mut raced = 0;
        let mut wrong = Vec::new();
        let end = std::time::Instant::now() + Duration::from_secs(60);
        let mut rounds = 0;
        while (rounds < 500 || raced == 0) && std::time::Instant::now() < end {
            rounds += 1;
            for finding in before.compare(&tree.policy) {
                match finding.kind {
                    Incomplete => raced += 1,
                    _ => wrong.push(finding.to_string()),
                }
            }
        }
        stop.store(true, Ordering::Relaxed);
        (raced, wrong)
    });
    assert_eq!(seen.1, Vec::<String>::new(), "nothing outside is looked at");
    // What was swapped under our eyes is said, or else the race never happened.
    assert!(seen.0 > 0, "no swap met the walk");
}
