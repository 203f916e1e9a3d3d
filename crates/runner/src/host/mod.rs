//! What is known about this host and its user, read when asked, as a value.

use std::path::PathBuf;

use palisade_policy::{AbsolutePath, Environment, HostFacts};

/// This machine and its user, for one process.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Host {
    /// What a policy needs to know.
    pub facts: HostFacts,
    /// The environment that commands can inherit from.
    pub environment: Environment,
    /// The home directory of the user database, where it differs from `HOME`: its secrets are guarded as well.
    pub other_home: Option<AbsolutePath>,
    /// The program that becomes the helper of a Linux sandbox, if one is known.
    pub helper: Option<PathBuf>,
    /// The git that brings back history, if one is known.
    pub git: Option<PathBuf>,
    /// Where what outlives a run is kept, such as approvals and the audit file.
    pub state_dir: Option<PathBuf>,
    /// Where configuration is read from.
    pub config_dir: Option<PathBuf>,
    /// Where what lasts as long as the user is logged in is kept, such as claims on workspaces.
    pub runtime_dir: Option<PathBuf>,
}

impl Host {
    /// A host of which only these facts are known.
    #[must_use]
    pub const fn new(facts: HostFacts) -> Self {
        Self {
            facts,
            environment: Environment::new(),
            other_home: None,
            helper: None,
            git: None,
            state_dir: None,
            config_dir: None,
            runtime_dir: None,
        }
    }
}
