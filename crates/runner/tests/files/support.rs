//! A workspace, a place outside that must stay as it is, and the files of a policy.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use palisade_policy::{
    AbsolutePath, CanonicalSandboxPolicy, Clause, HostFacts, Os, PathRules, PathSpec,
    PolicyContext, PrivatePlaces, WorkspaceRoot,
};
use palisade_runner::files::{FileError, FileRefusal, GuardedFiles};

pub(crate) struct Stage {
    _directory: tempfile::TempDir,
    pub(crate) top: PathBuf,
    pub(crate) workspace: PathBuf,
    pub(crate) outside: PathBuf,
    pub(crate) home: PathBuf,
}

impl Stage {
    /// A workspace with `src/lib.rs` and `.git/config`, a home with a key, and a file outside.
    pub(crate) fn new() -> Self {
        let directory = tempfile::Builder::new()
            .prefix("palisade-files-")
            .tempdir_in("/var/tmp")
            .unwrap();
        let top = directory.path().canonicalize().unwrap();
        let at = |name: &str| top.join(name);
        for name in ["app/src", "app/.git", "outside/below", "home/.ssh"] {
            std::fs::create_dir_all(at(name)).unwrap();
        }
        for (name, content) in [
            ("app/src/lib.rs", "inside\n"),
            ("app/.git/config", "[core]\n"),
            ("outside/lib.rs", "OUTSIDE\n"),
            ("outside/below/lib.rs", "OUTSIDE\n"),
            ("home/.ssh/id", "SECRET\n"),
            ("home/.netrc", "SECRET\n"),
        ] {
            std::fs::write(at(name), content).unwrap();
        }
        Self {
            workspace: at("app"),
            outside: at("outside"),
            home: at("home"),
            top,
            _directory: directory,
        }
    }

    pub(crate) fn root(&self) -> WorkspaceRoot {
        WorkspaceRoot::new(&self.workspace).unwrap()
    }

    pub(crate) fn context(&self) -> PolicyContext {
        let facts = HostFacts::new(Os::Linux).with_home(abs(&self.home));
        PolicyContext::new(facts, self.root())
    }

    pub(crate) fn policy(&self) -> CanonicalSandboxPolicy {
        CanonicalSandboxPolicy::workspace_write([self.root()])
    }

    pub(crate) fn under(&self, policy: &CanonicalSandboxPolicy) -> GuardedFiles {
        GuardedFiles::new(policy.resolve(&self.context()).unwrap())
    }

    /// Files of a policy that lets the workspace be written and the home's secrets not be read.
    pub(crate) fn files(&self) -> GuardedFiles {
        self.under(&self.policy())
    }

    /// The same, and nothing outside can be read.
    pub(crate) fn files_without_outside(&self) -> GuardedFiles {
        let denied = PathSpec::parse(self.outside.to_str().unwrap()).unwrap();
        let rules = PathRules::default().with_deny_read([denied]);
        self.under(&self.policy().with_paths(rules))
    }

    pub(crate) fn private(&self) -> GuardedFiles {
        let context = self.context().with_private(PrivatePlaces::all());
        GuardedFiles::new(self.policy().resolve(&context).unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> AbsolutePath {
        abs(&self.workspace.join(name))
    }
}

pub(crate) fn abs(path: &Path) -> AbsolutePath {
    AbsolutePath::new(path).unwrap()
}

/// Everything below a directory: kind, permissions, times and content.
pub(crate) fn tree(directory: &Path) -> BTreeMap<PathBuf, String> {
    let mut all = BTreeMap::new();
    let mut pending = vec![directory.to_path_buf()];
    while let Some(path) = pending.pop() {
        let metadata = path.symlink_metadata().unwrap();
        let content = match metadata.file_type() {
            kind if kind.is_dir() => {
                let entries = std::fs::read_dir(&path).unwrap();
                pending.extend(entries.map(|entry| entry.unwrap().path()));
                String::new()
            }
            kind if kind.is_symlink() => path.read_link().unwrap().display().to_string(),
            kind if kind.is_file() => {
                let bytes = std::fs::read(&path).unwrap();
                format!("{} {}", metadata.ino(), bytes.escape_ascii())
            }
            _ => "special".to_owned(),
        };
        let mode = metadata.mode();
        all.insert(path, format!("{mode:o} {content}"));
    }
    all
}

/// The same without what differs between two equal trees.
pub(crate) fn contents(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    for path in tree(directory).into_keys() {
        if path.symlink_metadata().unwrap().is_file() {
            let name = path.strip_prefix(directory).unwrap().to_path_buf();
            all.insert(name, std::fs::read(path).unwrap());
        }
    }
    all
}

pub(crate) fn refused<T: std::fmt::Debug>(result: Result<T, FileError>) -> FileRefusal {
    match result {
        Err(FileError::Refused(refusal)) => *refusal,
        other => panic!("not refused: {other:?}"),
    }
}

pub(crate) fn clause<T: std::fmt::Debug>(result: Result<T, FileError>) -> Clause {
    refused(result).clause().clone()
}
