//! What is known about this host and its user, read when asked, as a value.
//!
//! [`Host::look`] is the only call of the crate that reads the environment and the user database. Everything else takes
//! a [`Host`], so that a test, or a program that serves several users, hands in the host that it means.

mod ahead;
#[cfg(unix)]
mod database;
mod directories;
mod dispatch;
mod git;
mod guard;
mod parts;
mod real;
#[cfg(all(unix, not(all(target_env = "gnu", target_feature = "crt-static"))))]
mod sys;
#[cfg(test)]
#[cfg(unix)]
mod tests;

use std::path::PathBuf;

use palisade_policy::{AbsolutePath, Environment, HostFacts};

pub use ahead::HelperAhead;
pub use dispatch::dispatch;
pub use parts::HostParts;
pub(crate) use real::real_path;

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
    /// The program that becomes the helper of a sandbox, if one is known.
    pub helper: Option<PathBuf>,
    /// The git that brings back history, if one is known.
    pub git: Option<PathBuf>,
    /// Where what outlives a run is kept, such as approvals and the audit file.
    pub state_dir: Option<PathBuf>,
    /// Where configuration is read from.
    pub config_dir: Option<PathBuf>,
    /// Where what lasts as long as the user is logged in is kept, such as claims on workspaces.
    pub runtime_dir: Option<PathBuf>,
    /// The program that runs now, if it is known.
    pub current_program: Option<PathBuf>,
    /// Further directories and files that decide about commands or tell about them, which no command may ever write, such
    /// as an audit file of the caller's choice.
    pub guarded: Vec<PathBuf>,
    /// What the proxies of its sandboxes are started with.
    pub(crate) egress: crate::egress::Egress,
    /// The helper, if it was started before anybody knows what for.
    #[cfg_attr(
        not(all(target_os = "linux", feature = "linux-landlock")),
        expect(
            dead_code,
            reason = "only the Linux sandbox is set up by a helper that waits"
        )
    )]
    pub(crate) ahead: HelperAhead,
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
            current_program: None,
            guarded: Vec::new(),
            egress: crate::egress::Egress::new(),
            ahead: HelperAhead::none(),
        }
    }

    /// This host, as this process sees it now.
    #[must_use]
    pub fn look() -> Self {
        let host = Self::from_parts(HostParts::look());
        match dispatch::dispatches() {
            true => host.with_current_program_as_helper(),
            false => host,
        }
    }

    /// The host that these parts describe. The disk is looked at, to find what they lead to; nothing else is.
    #[must_use]
    pub fn from_parts(parts: HostParts) -> Self {
        parts.into_host()
    }

    /// With this program as the helper of a sandbox.
    #[must_use]
    pub fn with_helper(mut self, helper: impl Into<PathBuf>) -> Self {
        self.helper = Some(helper.into());
        self
    }

    /// With this for the proxies of its sandboxes: secrets that they add, limits, or other names and connections than the
    /// system's.
    #[must_use]
    pub fn with_egress(mut self, egress: crate::egress::Egress) -> Self {
        self.egress = egress;
        self
    }

    /// With one more directory or file that no command may ever write: a sandbox that would let it is refused.
    #[must_use]
    pub fn guarding(mut self, path: impl Into<PathBuf>) -> Self {
        self.guarded.push(path.into());
        self
    }

    /// With the program that runs now as the helper. It must hand its arguments to the sandbox's dispatch call before
    /// it does anything else; only its author knows whether it does.
    #[must_use]
    pub fn with_current_program_as_helper(mut self) -> Self {
        if self.current_program.is_some() {
            self.helper = self.current_program.clone();
        }
        self
    }

    /// With a helper that was started ahead. The first session on this host takes it, if it is the host's helper; if there
    /// is none, it ends with the host.
    #[must_use]
    pub fn with_helper_ahead(self, ahead: HelperAhead) -> Self {
        Self { ahead, ..self }
    }

    /// Without it: nothing is to be confined.
    pub(crate) fn without_helper_ahead(self) -> Self {
        self.with_helper_ahead(HelperAhead::none())
    }
}
