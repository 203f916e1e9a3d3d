//! Patches: any bytes are refused or are a patch; applied to real files it changes everything that it says or nothing, and
//! nothing outside the workspace and nothing that is protected.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use palisade_policy::{
    AbsolutePath, CanonicalSandboxPolicy, HostFacts, Os, PolicyContext, WorkspaceRoot,
};
use palisade_runner::files::GuardedFiles;
use palisade_runner::patch::{Patch, PatchError, apply, check};

/// Files that patches find. The names are short, so that random patches name them.
const FILES: [(&str, &str); 6] = [
    ("w/a", "one\ntwo\nthree\n"),
    ("w/b", "x\ny\nx\ny\n"),
    ("w/d/c", "last line without its end"),
    ("w/.git/config", "[core]\n"),
    ("o/a", "outside\n"),
    ("h/.ssh/id", "secret\n"),
];

type Tree = BTreeMap<PathBuf, (u32, Vec<u8>)>;

struct Stage {
    top: tempfile::TempDir,
    files: GuardedFiles,
    base: AbsolutePath,
    before: Tree,
}

thread_local! {
    static STAGE: RefCell<Option<Stage>> = const { RefCell::new(None) };
}

/// Reads the bytes as a patch and applies it.
pub fn run(data: &[u8]) {
    let Ok(patch) = Patch::parse(data) else {
        return;
    };
    for path in patch.paths() {
        let parts = path.as_path().components();
        let plain = |part| matches!(part, std::path::Component::Normal(_));
        assert!(parts.into_iter().all(plain), "{path:?}");
    }
    STAGE.with_borrow_mut(|kept| {
        let stage = kept.take().unwrap_or_else(Stage::new);
        // A stage that was changed is not used again.
        *kept = stage.apply(&patch).then_some(stage);
    });
}

impl Stage {
    fn new() -> Self {
        // libFuzzer ends the process without dropping anything: whoever starts it says where, and cleans up.
        let scratch = std::env::var_os("TMPDIR").unwrap_or_else(|| "/var/tmp".into());
        let top = tempfile::Builder::new()
            .prefix("palisade-fuzz-")
            .tempdir_in(scratch)
            .expect("a directory for the stage");
        let at = top.path().canonicalize().expect("the stage is there");
        for (name, content) in FILES {
            let path = at.join(name);
            fs::create_dir_all(path.parent().expect("it has one")).expect("the stage can be set");
            fs::write(path, content).expect("the stage can be set");
        }
        symlink("../o", at.join("w/l")).expect("the stage can be set");
        symlink("../o/a", at.join("w/m")).expect("the stage can be set");
        let cwd = WorkspaceRoot::new(at.join("w")).expect("it can be a root");
        let home = AbsolutePath::new(at.join("h")).expect("it is absolute");
        let base = cwd.path().clone();
        let context = PolicyContext::new(HostFacts::new(Os::Linux).with_home(home), cwd.clone());
        let policy = CanonicalSandboxPolicy::workspace_write([cwd]).resolve(&context);
        let before = tree(&at);
        Self {
            top,
            files: GuardedFiles::new(policy.expect("the policy resolves")),
            base,
            before,
        }
    }

    /// Whether everything is as before.
    fn apply(&self, patch: &Patch) -> bool {
        let permitted = check(patch, &self.files, &self.base);
        let applied = apply(patch, &self.files, &self.base);
        let top = self.top.path().canonicalize().expect("the stage is there");
        let after = tree(&top);
        match &applied {
            Err(PatchError::NotUndone { .. }) => panic!("{applied:?}"),
            Err(_) => assert_eq!(after, self.before, "{applied:?}"),
            Ok(applied) => {
                assert!(permitted.is_ok(), "{permitted:?}");
                assert!(applied.leftovers.is_empty(), "{applied:?}");
                assert_eq!(applied.to_string().lines().count(), applied.files.len());
            }
        }
        let named: Vec<PathBuf> = patch
            .paths()
            .map(|path| self.base.join(path).as_path().to_path_buf())
            .collect();
        for path in self.before.keys().chain(after.keys()) {
            if self.before.get(path) == after.get(path) {
                continue;
            }
            let inside = path.starts_with(self.base.as_path());
            assert!(inside, "{} is outside", path.display());
            let protected = path.starts_with(self.base.as_path().join(".git"));
            assert!(!protected, "{} is protected", path.display());
            // A file that the patch names, or a directory that was made for one.
            assert!(
                named.iter().any(|name| name.starts_with(path)),
                "{} is not named",
                path.display()
            );
        }
        after == self.before
    }
}

/// Everything below a directory: permissions and content.
fn tree(top: &Path) -> Tree {
    let mut all = Tree::new();
    let mut pending = vec![top.to_path_buf()];
    while let Some(path) = pending.pop() {
        let metadata = path.symlink_metadata().expect("it is there");
        let content = if metadata.is_dir() {
            let entries = fs::read_dir(&path).expect("it can be listed");
            pending.extend(entries.map(|entry| entry.expect("it can be listed").path()));
            Vec::new()
        } else if metadata.is_symlink() {
            path.read_link()
                .expect("it is a link")
                .into_os_string()
                .into_encoded_bytes()
        } else {
            fs::read(&path).expect("it can be read")
        };
        all.insert(path, (metadata.permissions().mode(), content));
    }
    all
}
