//! What is to be run: a command before and after a sandbox is chosen for it.
#![expect(
    clippy::exhaustive_enums,
    reason = "every caller must decide what a new variant means to it"
)]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::error::PolicyError;
use crate::limits::ResourceLimits;
use crate::network::NetworkAllowlistEntry;
use crate::paths::AbsolutePath;

/// The environment of a command, complete: nothing is inherited.
pub type Environment = BTreeMap<OsString, OsString>;

/// A command that somebody wants to run.
///
/// Nothing here is text for display: what was decided is what runs, byte for byte.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CommandSpec {
    /// The program, as it was asked for.
    pub program: OsString,
    /// The arguments, without the program's name.
    pub args: Vec<OsString>,
    /// Where it runs; never what a policy is resolved against.
    pub cwd: PathBuf,
    /// Its environment.
    pub env: Environment,
    /// When it is ended.
    pub expiration: ExecExpiration,
    /// What it asks for beyond the policy.
    pub sandbox_permissions: SandboxPermissions,
    /// Why it asks.
    pub justification: Option<String>,
}

impl CommandSpec {
    /// A program without arguments, in no particular directory, with an empty environment.
    #[must_use]
    pub fn new(program: impl Into<OsString>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            cwd: PathBuf::new(),
            env: Environment::new(),
            expiration: ExecExpiration::DefaultTimeout,
            sandbox_permissions: SandboxPermissions::UseDefault,
            justification: None,
        }
    }

    /// With these arguments in place of the others.
    #[must_use]
    pub fn with_args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args = args.into_iter().map(Into::into).collect();
        self
    }

    /// With this directory.
    #[must_use]
    pub fn with_cwd(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.cwd = cwd.into();
        self
    }

    /// With this environment in place of the other.
    #[must_use]
    pub fn with_env(mut self, env: Environment) -> Self {
        self.env = env;
        self
    }

    /// With this expiration.
    #[must_use]
    pub fn with_expiration(mut self, expiration: ExecExpiration) -> Self {
        self.expiration = expiration;
        self
    }

    /// With these permissions asked for.
    #[must_use]
    pub fn with_sandbox_permissions(mut self, permissions: SandboxPermissions) -> Self {
        self.sandbox_permissions = permissions;
        self
    }

    /// With this reason given.
    #[must_use]
    pub fn with_justification(mut self, justification: impl Into<String>) -> Self {
        self.justification = Some(justification.into());
        self
    }
}

/// A command ready to be started, wrapped for its sandbox where one is wrapped around it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "whoever makes one must fill in every part"
)]
pub struct ExecEnv {
    /// The program that is started.
    pub program: OsString,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Where it runs.
    pub cwd: PathBuf,
    /// Its environment.
    pub env: Environment,
    /// When it is ended.
    pub expiration: ExecExpiration,
    /// Whether a sandbox confines it.
    pub sandbox_active: bool,
    /// Which one.
    pub sandbox_type: SandboxType,
}

/// When a command is ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ExecExpiration {
    /// After this many milliseconds.
    Timeout(u64),
    /// After the default time.
    #[default]
    DefaultTimeout,
    /// Never by itself: only when somebody cancels it.
    Cancellation,
}

impl ExecExpiration {
    /// The default time, in milliseconds.
    pub const DEFAULT_TIMEOUT_MS: u64 = 30_000;

    /// The time, in milliseconds; `None` if it never ends by itself.
    #[must_use]
    pub const fn timeout_ms(self) -> Option<u64> {
        match self {
            Self::Timeout(ms) => Some(ms),
            Self::DefaultTimeout => Some(Self::DEFAULT_TIMEOUT_MS),
            Self::Cancellation => None,
        }
    }

    /// How long the command may run under a policy's limits.
    ///
    /// The smaller of what the command asks for and what the policy says, of those present. `default` counts only
    /// where neither says anything; a command that asks for no timeout has said something.
    #[must_use]
    pub fn effective_wall(self, limits: &ResourceLimits, default: Duration) -> Option<Duration> {
        let policy = limits.wall();
        match self {
            Self::Timeout(ms) => {
                let asked = Duration::from_millis(ms);
                Some(policy.map_or(asked, |policy| policy.min(asked)))
            }
            Self::DefaultTimeout => Some(policy.unwrap_or(default)),
            Self::Cancellation => policy,
        }
    }
}

impl From<Option<u64>> for ExecExpiration {
    fn from(timeout_ms: Option<u64>) -> Self {
        timeout_ms.map_or(Self::DefaultTimeout, Self::Timeout)
    }
}

/// The mechanism that confines a command. This is the only such type that is ever enforced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SandboxType {
    /// Nothing.
    None,
    /// Seatbelt, on macOS.
    MacosSeatbelt,
    /// Landlock, seccomp and namespaces, on Linux.
    LinuxLandlock,
    /// A restricted token and a job object, on Windows.
    WindowsRestrictedToken,
}

impl fmt::Display for SandboxType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "no sandbox",
            Self::MacosSeatbelt => "Seatbelt",
            Self::LinuxLandlock => "Landlock",
            Self::WindowsRestrictedToken => "restricted token",
        })
    }
}

/// What a command asks for beyond the policy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum SandboxPermissions {
    /// Nothing.
    #[default]
    UseDefault,
    /// To run without the sandbox.
    RequireEscalated,
    /// To run in the sandbox with more permissions.
    WithAdditionalPermissions {
        /// Paths to read.
        fs_read: Vec<AbsolutePath>,
        /// Paths to write.
        fs_write: Vec<AbsolutePath>,
        /// Hosts to reach.
        network: Vec<NetworkAllowlistEntry>,
    },
    /// To run without the sandbox, said by the host program. Never taken from a model's request.
    BypassSandbox,
}

/// A command could not be wrapped for its sandbox. It was not run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SandboxTransformError {
    /// The helper executable was not found.
    #[error("the sandbox helper executable is missing")]
    MissingSandboxExecutable,
    /// The mechanism does not work on this host.
    #[error("{0} is not available on this host")]
    UnavailableSandboxType(SandboxType),
    /// The mechanism failed.
    #[error("the sandbox could not be created: {0}")]
    CreationFailed(String),
    /// The policy makes no sense on this host.
    #[error("the policy is invalid: {0}")]
    InvalidPolicy(#[from] PolicyError),
}
