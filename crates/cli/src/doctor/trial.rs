//! The default policy, really set up on this host for a throw-away workspace.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use palisade::runner::host::Host;
use palisade::runner::policy::{Enforcement, Guarantee, Level};
use palisade::{Policy, Sandbox};

use crate::complaint::Complaint;

/// What became of the default policy.
#[derive(Debug)]
pub(super) struct Trial {
    /// What the default policy promises.
    pub(super) promised: Vec<Guarantee>,
    /// What of it holds, with every loss accepted; or why nothing could be set up at all.
    pub(super) result: Result<Enforcement, String>,
}

impl Trial {
    /// Sets the default policy up, once, with nothing in it.
    ///
    /// # Errors
    /// There is no place for a throw-away workspace.
    pub(super) fn on(host: &Host) -> Result<Self, Complaint> {
        let workspace = Workspace::make().map_err(|error| {
            Complaint::failed(format!("a throw-away workspace cannot be made: {error}"))
        })?;
        let mut policy = Policy::workspace(&workspace.path);
        let promised = policy.oracle(host).map_err(Complaint::failed)?.guarantees();
        for guarantee in Guarantee::ALL {
            policy = policy.accept_loss(guarantee);
        }
        let result = Sandbox::on(host.clone(), policy)
            .map(|sandbox| sandbox.enforcement().clone())
            .map_err(|error| error.to_string());
        Ok(Self { promised, result })
    }

    /// What is promised and not enforced.
    pub(super) fn lost(&self) -> Vec<Guarantee> {
        let level = |guarantee: &Guarantee| match &self.result {
            Ok(enforcement) => enforcement.level(*guarantee),
            Err(_) => Level::NotEnforced,
        };
        let promised = self.promised.iter().copied();
        promised
            .filter(|guarantee| level(guarantee) < Level::Enforced)
            .collect()
    }

    /// Whether namespaces worked end to end: what only they can keep is kept.
    #[cfg(target_os = "linux")]
    pub(super) fn has_namespaces(&self) -> bool {
        let only_there = [Guarantee::ProtectedPaths, Guarantee::ProcessIsolation];
        self.result.as_ref().is_ok_and(|enforcement| {
            only_there
                .iter()
                .all(|guarantee| enforcement.level(*guarantee) == Level::Enforced)
        })
    }
}

/// A directory that goes away again.
#[derive(Debug)]
struct Workspace {
    path: PathBuf,
}

impl Workspace {
    fn make() -> std::io::Result<Self> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.map_or(0, |now| now.as_nanos());
        let name = format!("palisade-doctor-{}-{now}", std::process::id());
        let path = std::env::temp_dir().join(name);
        make_private(&path)?;
        Ok(Self { path })
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        // It is empty: nothing ran in it.
        let _ = std::fs::remove_dir(&self.path);
    }
}

#[cfg(unix)]
fn make_private(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new().mode(0o700).create(path)
}

#[cfg(not(unix))]
fn make_private(path: &Path) -> std::io::Result<()> {
    std::fs::create_dir(path)
}
