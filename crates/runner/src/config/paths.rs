//! Where the files are.

use std::path::PathBuf;

use super::state::State;
use crate::host::Host;

/// What a layer's file is called.
pub(crate) const POLICY_FILE: &str = "policy.toml";
/// The directory of a project's layer. Every writable root protects it by default.
pub(crate) const PROJECT_DIRECTORY: &str = ".palisade";
/// The administrator's file.
pub(super) const SYSTEM: &str = "/etc/palisade/policy.toml";

/// Where the layers of a policy and the state are.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ConfigPaths {
    /// The administrator's file.
    pub system: Option<PathBuf>,
    /// Who must own the administrator's files: the superuser, unless somebody else administers.
    pub system_owner: u32,
    /// The user's file.
    pub user: Option<PathBuf>,
    /// Where approvals, grants and trust are kept.
    pub state: Option<State>,
}

impl ConfigPaths {
    /// No file at all: only what Palisade brings along, what the project says and what the session says.
    #[must_use]
    pub const fn none() -> Self {
        Self {
            system: None,
            system_owner: 0,
            user: None,
            state: None,
        }
    }

    /// The usual places of a host.
    #[must_use]
    pub fn of(host: &Host) -> Self {
        let user = host.config_dir.as_ref();
        Self {
            system: Some(PathBuf::from(SYSTEM)),
            user: user.map(|directory| directory.join(POLICY_FILE)),
            state: host.state_dir.clone().map(State::new),
            ..Self::none()
        }
    }

    /// With this file of the administrator.
    #[must_use]
    pub fn with_system(mut self, file: impl Into<PathBuf>) -> Self {
        self.system = Some(file.into());
        self
    }

    /// With the administrator's files owned by this user.
    #[must_use]
    pub fn with_system_owner(mut self, uid: u32) -> Self {
        self.system_owner = uid;
        self
    }

    /// With this file of the user.
    #[must_use]
    pub fn with_user(mut self, file: impl Into<PathBuf>) -> Self {
        self.user = Some(file.into());
        self
    }

    /// With this state.
    #[must_use]
    pub fn with_state(mut self, state: State) -> Self {
        self.state = Some(state);
        self
    }
}
