//! The Windows sandbox through its public face: confinement where a real Windows confines, and the wrapper everywhere.
//!
//! Under Wine nothing restricts, and the tests of confinement say so and show nothing.
#![cfg(windows)]
#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test ends where its assumption fails, and says what it has not shown"
)]

mod confined;
mod wrapper;

use std::path::PathBuf;

use palisade_policy::{
    AbsolutePath, AcceptedLosses, CanonicalSandboxPolicy, Guarantee, HostFacts, Os, PolicyContext,
    WorkspaceRoot,
};
use palisade_windows_token::survey::spelled;
use palisade_windows_token::{SelfCheckFailure, StartError, StartOptions, Started, start};

/// The program that plays the command.
const CHILD: &str = env!("CARGO_BIN_EXE_palisade-windows-test-child");
/// The wrapper.
const WRAPPER: &str = env!("CARGO_BIN_EXE_palisade-windows-sandbox");

/// A program of this package: where it was built, or where those who copied it say.
fn program(built: &str) -> PathBuf {
    let path = match std::env::var_os("PALISADE_TEST_PROGRAMS") {
        Some(programs) => PathBuf::from(programs).join(PathBuf::from(built).file_name().unwrap()),
        None => PathBuf::from(built),
    };
    let real = std::fs::canonicalize(path).unwrap();
    PathBuf::from(spelled(real.to_str().unwrap()).unwrap().as_str())
}

/// A root with something protected in it, something outside, and a state directory.
struct World {
    _directory: tempfile::TempDir,
    base: PathBuf,
    root: PathBuf,
}

impl World {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let real = std::fs::canonicalize(directory.path()).unwrap();
        let base = PathBuf::from(spelled(real.to_str().unwrap()).unwrap().as_str());
        let root = base.join("root");
        std::fs::create_dir_all(root.join(".git")).unwrap();
        std::fs::create_dir(base.join("home")).unwrap();
        std::fs::write(root.join(".git").join("config"), "config").unwrap();
        std::fs::write(root.join("file"), "file").unwrap();
        std::fs::write(base.join("outside"), "outside").unwrap();
        Self {
            _directory: directory,
            base,
            root,
        }
    }

    fn policy(&self) -> CanonicalSandboxPolicy {
        let root = WorkspaceRoot::new(&self.root).unwrap();
        CanonicalSandboxPolicy::workspace_write_no_sensitive_blocking([root])
    }

    fn context(&self) -> PolicyContext {
        let home = AbsolutePath::new(self.base.join("home")).unwrap();
        let facts = HostFacts::new(Os::Windows).with_home(home);
        PolicyContext::new(facts, WorkspaceRoot::new(&self.root).unwrap())
    }

    fn start(&self) -> Result<Started, StartError> {
        let losses: AcceptedLosses = Guarantee::ALL.into_iter().collect();
        let options = StartOptions::new(self.base.join("state"));
        start(&self.policy(), &self.context(), &losses, &options)
    }

    /// A session, where a token restricts. Elsewhere it says that nothing was shown; what the refusal must be is tested
    /// beside the self-check.
    fn confined(&self) -> Option<Started> {
        match self.start() {
            Ok(started) => Some(started),
            Err(StartError::SelfCheck(SelfCheckFailure::NotRestricted)) => {
                eprintln!("skipped: Wine does not restrict");
                None
            }
            Err(error) => panic_with(&error),
        }
    }
}

#[expect(clippy::panic, reason = "any other refusal is a failure")]
fn panic_with(error: &StartError) -> ! {
    panic!("{error}")
}
