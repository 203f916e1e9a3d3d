//! Why no command was started under a profile.

use std::io;
use std::path::PathBuf;

use crate::host::SandboxExec;

/// Why no command was started under a profile. Whatever it is, nothing ran.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ApplyError {
    /// `/usr/bin/sandbox-exec` is not there.
    #[error(
        "/usr/bin/sandbox-exec is not there; it is part of macOS and cannot be installed apart: repair the system, or \
         run where commands need no sandbox"
    )]
    Missing,
    /// This process is in a sandbox already.
    #[error(
        "this program runs in a sandbox already, and macOS makes none inside another; start it outside of that sandbox, \
         or declare that one in the policy as external"
    )]
    Nested,
    /// Seatbelt is part of macOS.
    #[error("this is not macOS, and only macOS has Seatbelt")]
    NotMacos,
    /// A path must not depend on where somebody is.
    #[error("the path of the {what} is not absolute: {}", path.display())]
    Relative {
        /// Of what.
        what: &'static str,
        /// The path.
        path: PathBuf,
    },
    /// Something cannot be passed as an argument.
    #[error("the {what} holds {byte}, which cannot be passed on")]
    Unpassable {
        /// What it is.
        what: &'static str,
        /// What it holds.
        byte: &'static str,
    },
    /// There is no command.
    #[error("there is no program to start")]
    NoProgram,
    /// The system takes no such large list of arguments.
    #[error(
        "the profile, the arguments and the environment come to {bytes} bytes, and macOS takes {limit}; name fewer paths \
         in the policy, or pass less"
    )]
    TooLarge {
        /// How much it is.
        bytes: usize,
        /// How much is taken.
        limit: usize,
    },
    /// The directory for temporary files could not be made, or not be trusted.
    #[error("the directory for temporary files below {}: {why}", base.display())]
    Temporary {
        /// Where it was to be.
        base: PathBuf,
        /// What is wrong.
        why: String,
        /// What the system said, if it was the system.
        #[source]
        source: Option<io::Error>,
    },
    /// `sandbox-exec` ended with 71 before our helper ran.
    #[error(
        "macOS did not apply the sandbox (sandbox-exec ended with 71, and its message is on the error stream): this \
         program runs in another sandbox, or the policy does not let the sandbox helper be read and executed; the \
         command did not run"
    )]
    NestedOrRefused,
    /// `sandbox-exec` ended with 65 before our helper ran.
    #[error(
        "macOS did not compile the profile (sandbox-exec ended with 65, and its message is on the error stream); the \
         command did not run. This is a fault of ours: report it with that message"
    )]
    ProfileRefused,
    /// `sandbox-exec` ended in another way before our helper ran.
    #[error("sandbox-exec ended with {code} before the command was started, which did not run")]
    EndedBefore {
        /// Its exit code.
        code: i32,
    },
    /// `sandbox-exec` was killed before our helper ran.
    #[error(
        "sandbox-exec was ended by signal {signal} before the command was started, which did not run"
    )]
    KilledBefore {
        /// The signal.
        signal: i32,
    },
    /// Our helper ran in the sandbox and could not become the command.
    #[error("{step} failed in the sandbox: {source}")]
    Step {
        /// What it was doing.
        step: super::stage::Step,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// Something else was said than our helper says.
    #[error(
        "what the sandbox helper said cannot be read; it is another version of this program, or damaged"
    )]
    Garbled,
}

impl ApplyError {
    /// Why a profile cannot be applied on such a host; `None` if it can.
    #[must_use]
    pub const fn of_host(sandbox_exec: SandboxExec) -> Option<Self> {
        match sandbox_exec {
            SandboxExec::Works => None,
            SandboxExec::Missing => Some(Self::Missing),
            SandboxExec::Nested => Some(Self::Nested),
            SandboxExec::NotMacos => Some(Self::NotMacos),
        }
    }

    /// What an end means where the helper has not spoken. `Err` is a signal.
    #[must_use]
    pub const fn never_entered(end: Result<i32, i32>) -> Self {
        match end {
            Ok(71) => Self::NestedOrRefused,
            Ok(65) => Self::ProfileRefused,
            Ok(code) => Self::EndedBefore { code },
            Err(signal) => Self::KilledBefore { signal },
        }
    }
}
