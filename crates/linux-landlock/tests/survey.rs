//! The survey against real trees: links, missing paths, git files, sockets, globs, names that are no text.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test ends where its assumption fails")]

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use palisade_linux_landlock::host::{Entry, LandlockSupport, NamespaceSupport};
use palisade_linux_landlock::survey::{SurveyOptions, kernel, look};
use palisade_linux_landlock::{LinuxHost, LinuxLandlock, private_places};
use palisade_policy::{
    AbsolutePath, Backend as _, CanonicalSandboxPolicy, GitAccess, HostFacts, Os, PathRules,
    PathSpec, PolicyContext, RelativePath, ResolvedPolicy, WorkspaceRoot,
};

fn abs(path: impl AsRef<Path>) -> AbsolutePath {
    AbsolutePath::new(path).unwrap()
}

/// A home and a workspace in a directory of their own.
struct Tree {
    _owner: tempfile::TempDir,
    base: PathBuf,
}

impl Tree {
    fn new() -> Self {
        let owner = tempfile::tempdir().unwrap();
        let base = fs::canonicalize(owner.path()).unwrap();
        fs::create_dir_all(base.join("home")).unwrap();
        fs::create_dir_all(base.join("app")).unwrap();
        Self {
            _owner: owner,
            base,
        }
    }

    fn path(&self, below: &str) -> PathBuf {
        self.base.join(below)
    }

    fn directory(&self, below: &str) {
        fs::create_dir_all(self.path(below)).unwrap();
    }

    fn file(&self, below: &str, text: &str) {
        let path = self.path(below);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn repository(&self, below: &str) {
        self.directory(&format!("{below}/objects"));
        self.directory(&format!("{below}/refs"));
        self.file(&format!("{below}/HEAD"), "ref: refs/heads/main\n");
    }

    fn survey(&self, rules: PathRules, options: &SurveyOptions) -> (ResolvedPolicy, LinuxHost) {
        let root = WorkspaceRoot::new(self.path("app")).unwrap();
        let facts = HostFacts::new(Os::Linux)
            .with_home(abs(self.path("home")))
            .with_uid(1000);
        let mut host = kernel(&facts);
        let context = PolicyContext::new(facts, root.clone()).with_private(private_places(&host));
        let policy = CanonicalSandboxPolicy::workspace_write([root]).with_paths(rules);
        let policy = policy.resolve(&context).unwrap();
        look(&mut host, &policy, options);
        (policy, host)
    }

    fn launch(&self, rules: PathRules) -> LinuxHost {
        let (policy, host) = self.survey(rules, &SurveyOptions::launch());
        // Whatever the tree looks like, what was looked at is what lowering asks for.
        if palisade_linux_landlock::tier(&host).is_some() {
            LinuxLandlock.lower(&policy, &host).map(|_| ()).unwrap();
        }
        host
    }
}

fn protect(names: &[&str]) -> PathRules {
    let names = names.iter().map(|name| RelativePath::new(name).unwrap());
    PathRules::default().with_protected(names)
}

#[test]
fn links_are_followed_and_remembered() {
    let tree = Tree::new();
    tree.directory("app/real/inner");
    tree.file("app/plain", "");
    symlink("real", tree.path("app/first")).unwrap();
    symlink("first", tree.path("app/second")).unwrap();
    symlink("../app/gone/below", tree.path("app/dangling")).unwrap();
    symlink("none/../gone", tree.path("app/unclear")).unwrap();
    symlink("circle", tree.path("app/circle")).unwrap();
    let host = tree.launch(protect(&[
        "second/inner",
        "second/missing/deep",
        "second",
        "dangling",
        "unclear",
        "circle",
        "plain/below",
    ]));
    let at = |below: &str| {
        host.places
            .entries
            .get(&abs(tree.path(below)))
            .unwrap()
            .clone()
    };

    let inner = at("app/second/inner");
    assert_eq!(inner.real, abs(tree.path("app/real/inner")));
    assert_eq!(inner.entry, Entry::Directory);
    let links: Vec<_> = ["app/second", "app/first"]
        .map(|link| abs(tree.path(link)))
        .to_vec();
    assert_eq!(inner.links, links);

    let deep = at("app/second/missing/deep");
    assert_eq!(deep.real, abs(tree.path("app/real/missing/deep")));
    assert_eq!((deep.entry, deep.missing_above), (Entry::Missing, 1));

    let second = at("app/second");
    let target = Some(abs(tree.path("app/real")));
    assert_eq!(second.entry, Entry::Symlink { target });
    assert_eq!(second.links, [abs(tree.path("app/first"))]);

    assert_eq!(at("app/circle").entry, Entry::Symlink { target: None });
    assert_eq!(at("app/unclear").entry, Entry::Symlink { target: None });
    let target = Some(abs(tree.path("app/gone/below")));
    assert_eq!(at("app/dangling").entry, Entry::Symlink { target });
    let target = at("app/gone/below");
    assert_eq!((target.entry, target.missing_above), (Entry::Missing, 1));
    assert_eq!(
        at("app/plain/below").below_file,
        Some(abs(tree.path("app/plain")))
    );
    assert_eq!(at("home/.ssh").entry, Entry::Missing);
}

#[test]
fn names_that_are_no_text_stay_what_they_are() {
    let tree = Tree::new();
    let name = OsStr::from_bytes(b"s\xffcret.env");
    fs::write(tree.path("app").join(name), "").unwrap();
    let host =
        tree.launch(PathRules::default().with_deny_read([PathSpec::parse("**/*.env").unwrap()]));
    let found: Vec<_> = host
        .places
        .globs
        .values()
        .flat_map(|found| &found.matches)
        .collect();
    assert_eq!(found, [&(abs(tree.path("app").join(name)), Entry::File)]);
}

#[test]
fn globs_match_links_without_following_them() {
    let tree = Tree::new();
    tree.file("outside/.env", "");
    tree.file("app/a/b/.env", "");
    symlink(tree.path("outside"), tree.path("app/out")).unwrap();
    symlink(tree.path("outside/.env"), tree.path("app/.env")).unwrap();
    let rules = PathRules::default().with_deny_read([PathSpec::parse("**/.env").unwrap()]);
    let host = tree.launch(rules);
    let expansion = host.places.globs.values().next().unwrap();
    let mut found: Vec<_> = expansion
        .matches
        .iter()
        .map(|(path, _)| path.clone())
        .collect();
    found.sort();
    assert_eq!(
        found,
        [abs(tree.path("app/.env")), abs(tree.path("app/a/b/.env"))]
    );
    assert!(
        host.places
            .entries
            .contains_key(&abs(tree.path("outside/.env")))
    );
    assert!(!expansion.truncated);
}

#[test]
fn a_walk_that_gives_up_says_so() {
    let tree = Tree::new();
    for i in 0..50 {
        tree.file(&format!("app/{i}.env"), "");
    }
    let rules = || PathRules::default().with_deny_read([PathSpec::parse("**/*.env").unwrap()]);
    let mut options = SurveyOptions::launch();
    options.max_matches = 10;
    let (_, host) = tree.survey(rules(), &options);
    let expansion = host.places.globs.values().next().unwrap();
    assert!(expansion.truncated && expansion.matches.len() == 10);

    options = SurveyOptions::launch();
    options.max_entries = 20;
    let (_, host) = tree.survey(rules(), &options);
    assert!(host.places.globs.values().next().unwrap().truncated);
}

#[test]
fn a_repository_and_its_work_trees() {
    let tree = Tree::new();
    let app = abs(tree.path("app"));
    tree.repository("app/.git");
    let git = tree.launch(PathRules::default()).places.git;
    assert!(git[&app].can_be_overlaid());

    // A work tree that its repository knows.
    fs::remove_dir_all(tree.path("app/.git")).unwrap();
    tree.repository("main/.git");
    tree.file("main/.git/worktrees/app/HEAD", "ref: refs/heads/side\n");
    tree.file("main/.git/worktrees/app/commondir", "../..\n");
    let pointer = tree.path("app/.git");
    tree.file(
        "main/.git/worktrees/app/gitdir",
        &format!("{}\n", pointer.display()),
    );
    let git_dir = tree.path("main/.git/worktrees/app");
    tree.file("app/.git", &format!("gitdir: {}\n", git_dir.display()));
    let commit = || PathRules::default().with_git(GitAccess::Commit);
    let git = tree.launch(commit()).places.git;
    assert_eq!(git[&app].git_dir, abs(&git_dir));
    assert_eq!(git[&app].common_dir, abs(tree.path("main/.git")));
    assert!(git[&app].can_be_overlaid());

    // One that it does not know: the pointer may have been planted.
    tree.file("main/.git/worktrees/app/gitdir", "/somewhere/else/.git\n");
    let git = tree.launch(commit()).places.git;
    assert_eq!(git[&app].common_dir, abs(tree.path("main/.git")));
    assert!(!git[&app].can_be_overlaid());

    // One that leads to nothing yet, inside the root: it is guarded, so that nobody makes it.
    tree.file("app/.git", "gitdir: ./later\n");
    let host = tree.launch(PathRules::default());
    assert_eq!(host.places.git[&app].git_dir, abs(tree.path("app/later")));
    assert!(!host.places.git[&app].sound);

    // No pointer at all.
    tree.file("app/.git", "\0nonsense");
    assert!(tree.launch(PathRules::default()).places.git.is_empty());
}

#[test]
fn sockets_with_a_path_are_found() {
    let tree = Tree::new();
    if palisade_linux_landlock::tier(&kernel(&HostFacts::new(Os::Linux)))
        != Some(palisade_linux_landlock::Tier::Full)
    {
        println_skip("no namespaces here");
        return;
    }
    let listener = UnixListener::bind(tree.path("a b.sock")).unwrap();
    let gone = UnixListener::bind(tree.path("gone.sock")).unwrap();
    fs::remove_file(tree.path("gone.sock")).unwrap();
    let host = tree.launch(PathRules::default());
    assert!(host.places.sockets.contains(&abs(tree.path("a b.sock"))));
    assert!(!host.places.sockets.contains(&abs(tree.path("gone.sock"))));
    drop((listener, gone));
}

fn println_skip(why: &str) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stderr(), "skipped: {why}");
}

#[test]
fn hard_links_are_counted_when_asked_for() {
    let tree = Tree::new();
    tree.file("outside", "");
    fs::hard_link(tree.path("outside"), tree.path("app/alias")).unwrap();
    let (_, host) = tree.survey(PathRules::default(), &SurveyOptions::thorough());
    assert_eq!(host.places.hard_links.count, 1);
    assert_eq!(
        host.places.hard_links.examples,
        [abs(tree.path("app/alias"))]
    );
    let (_, host) = tree.survey(PathRules::default(), &SurveyOptions::launch());
    assert_eq!(host.places.hard_links.count, 0);
}

#[test]
fn caches_are_those_that_exist() {
    let tree = Tree::new();
    tree.directory("home/.cargo");
    tree.directory("elsewhere");
    tree.file("home/.npm", "");
    symlink(tree.path("elsewhere"), tree.path("home/.cache")).unwrap();
    let host = tree.launch(PathRules::default());
    assert_eq!(host.places.caches, [abs(tree.path("home/.cargo"))]);
}

#[test]
fn without_namespaces_the_way_to_a_secret_is_listed_without_links() {
    let tree = Tree::new();
    tree.file("home/.ssh/id", "");
    tree.file("home/notes", "");
    symlink(tree.path("home/.ssh"), tree.path("home/alias")).unwrap();
    let root = WorkspaceRoot::new(tree.path("app")).unwrap();
    let facts = HostFacts::new(Os::Linux)
        .with_home(abs(tree.path("home")))
        .with_uid(1000);
    let mut host = kernel(&facts);
    host.landlock = LandlockSupport::Abi(7);
    host.namespaces = NamespaceSupport::Refused {
        why: "a test says so".to_owned(),
        cure: None,
    };
    let context = PolicyContext::new(facts, root.clone()).with_private(private_places(&host));
    let policy = CanonicalSandboxPolicy::workspace_write([root]);
    let policy = policy.resolve(&context).unwrap();
    look(&mut host, &policy, &SurveyOptions::launch());
    let mut listed = host.places.listings[&abs(tree.path("home"))].clone();
    listed.sort();
    assert_eq!(
        listed,
        [abs(tree.path("home/.ssh")), abs(tree.path("home/notes"))]
    );
    LinuxLandlock.lower(&policy, &host).map(|_| ()).unwrap();
}
