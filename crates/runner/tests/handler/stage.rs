//! A place for real commands: a workspace, a directory outside of it, a home with a secret; and the helper.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use palisade_policy::{AbsolutePath, Environment, HostFacts, Os, WorkspaceRoot};
use palisade_runner::host::Host;

pub(crate) const SECRET: &str = "the-secret-key";

pub(crate) struct Stage {
    root: tempfile::TempDir,
}

impl Stage {
    /// Outside of `/tmp`, which a sandbox has of its own.
    pub(crate) fn new() -> Self {
        let root = tempfile::tempdir_in("/var/tmp").unwrap();
        let stage = Self { root };
        for directory in ["workspace", "outside", "home/.ssh", "other-home"] {
            std::fs::create_dir_all(stage.path(directory)).unwrap();
        }
        std::fs::write(stage.path("home/.ssh/id_ed25519"), SECRET).unwrap();
        stage
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    pub(crate) fn absolute(&self, name: &str) -> AbsolutePath {
        AbsolutePath::new(self.path(name)).unwrap()
    }

    pub(crate) fn workspace(&self) -> WorkspaceRoot {
        WorkspaceRoot::new(self.path("workspace")).unwrap()
    }

    pub(crate) fn host(&self) -> Host {
        let uid = rustix::process::geteuid().as_raw();
        let facts = HostFacts::new(Os::Linux)
            .with_uid(uid)
            .with_home(self.absolute("home"));
        Host::new(facts)
    }

    /// An environment that says something else about the home and the temporary directory than the host does.
    pub(crate) fn environment(&self) -> Environment {
        Environment::from([
            ("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into()),
            ("HOME".into(), self.path("other-home").into()),
            ("TMPDIR".into(), self.path("outside").into()),
        ])
    }
}

/// The helper; where it is not known, cargo is asked to build it. `None` if there is no way to one.
pub(crate) fn helper() -> Option<&'static Path> {
    static HELPER: OnceLock<Option<PathBuf>> = OnceLock::new();
    let helper = HELPER.get_or_init(|| {
        if let Some(path) = std::env::var_os("PALISADE_TEST_HELPER") {
            return Some(PathBuf::from(path));
        }
        let program = std::env::current_exe().unwrap();
        let profile = program.parent()?.parent()?;
        let mut build = Command::new(std::env::var_os("CARGO")?);
        build
            .args(["build", "--quiet", "-p", "palisade-linux-landlock"])
            .args(["--bin", "palisade-linux-sandbox", "--target-dir"])
            .arg(profile.parent()?);
        if profile.ends_with("release") {
            build.arg("--release");
        }
        assert!(build.status().unwrap().success(), "the helper is not built");
        Some(profile.join("palisade-linux-sandbox"))
    });
    if helper.is_none() {
        eprintln!("skipped: no helper; set PALISADE_TEST_HELPER");
    }
    helper.as_deref()
}
