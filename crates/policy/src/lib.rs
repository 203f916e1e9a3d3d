//! What a sandboxed command may touch.
#![forbid(unsafe_code)]

mod command;
mod error;
mod host;
mod limits;
mod model;
mod network;
mod paths;
mod raw_path;
mod seccomp;

pub use command::{
    CommandSpec, Environment, ExecEnv, ExecExpiration, SandboxPermissions, SandboxTransformError,
    SandboxType,
};
pub use error::{
    Contradiction, GlobProblem, HostError, HostProblem, LimitError, PathError, PathProblem,
    PolicyError, PolicyProblem,
};
pub use host::{HostFacts, Os, PathCase};
pub use limits::ResourceLimits;
pub use model::{NetworkAccess, SandboxMode, SandboxPolicy};
pub use network::{HostName, HostPattern, NetworkAllowlistEntry, Protocol};
pub use paths::{AbsolutePath, RelativePath, WorkspaceRoot};
pub use seccomp::{SeccompProfile, SyscallName};
