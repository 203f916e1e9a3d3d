//! What can be wrong with a policy: each error names the field and the value.

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};

use crate::path_matcher::PathMatcher;
use crate::paths::AbsolutePath;
use crate::seccomp::SyscallName;

/// A path that a policy cannot use.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {problem}", Shown(.path))]
pub struct PathError {
    path: PathBuf,
    problem: PathProblem,
}

impl PathError {
    pub(crate) fn new(path: impl AsRef<Path>, problem: PathProblem) -> Self {
        Self {
            path: path.as_ref().to_path_buf(),
            problem,
        }
    }

    /// The path as it was given.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What is wrong with it.
    #[must_use]
    pub fn problem(&self) -> &PathProblem {
        &self.problem
    }
}

/// What is wrong with a path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PathProblem {
    /// Nothing there.
    #[error("the path is empty")]
    Empty,
    /// A relative path where an absolute one belongs.
    #[error("the path is relative; write it from the root of the file system")]
    Relative,
    /// An absolute path where a relative one belongs.
    #[error("the path is absolute; write it relative to the root that it belongs to")]
    Absolute,
    /// A `..`, whose meaning depends on symbolic links.
    #[error("the path contains `..`; write the path that it leads to")]
    Parent,
    /// A NUL, at which the kernel would cut the path off.
    #[error("the path contains a NUL")]
    Nul,
    /// The root of the file system as a writable root.
    #[error(
        "the root of the file system cannot be a writable root; full access has a mode of its own"
    )]
    FileSystemRoot,
    /// The home directory, or something above it, as a writable root.
    #[error(
        "the root holds the home directory {home}; name a directory below it, or allow the home root explicitly"
    )]
    HoldsHome {
        /// The home directory that the root holds.
        home: AbsolutePath,
    },
    /// A root in a place that must not be written or read.
    #[error(
        "the root lies in {guarded}, which the policy guards; name another root, or reopen that path by name"
    )]
    InsideGuarded {
        /// The guarded path.
        guarded: PathMatcher,
    },
    /// A `~` without a known home directory.
    #[error("`~` has no meaning here, because the home directory is not known")]
    NoHome,
    /// A `~name`.
    #[error("only `~` and `~/` are expanded; write the home of another user in full")]
    OtherHome,
    /// A glob that cannot be read.
    #[error("{0}")]
    Glob(GlobProblem),
}

/// What is wrong with a glob.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GlobProblem {
    /// `**` next to other characters.
    #[error("`**` must stand alone between separators")]
    DoubleStar,
    /// A bracket that is not the escape of one character.
    #[error("brackets only quote one character, as in `[*]`; character classes are not supported")]
    Class,
    /// A glob with more parts than anyone writes on purpose.
    #[error("the pattern is longer than 1024 bytes or has more than 32 parts")]
    TooLong,
}

/// A host that a policy cannot use.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}`: {problem}", host.escape_debug())]
pub struct HostError {
    host: String,
    problem: HostProblem,
}

impl HostError {
    pub(crate) fn new(host: &str, problem: HostProblem) -> Self {
        Self {
            host: host.to_owned(),
            problem,
        }
    }

    /// The host as it was given.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// What is wrong with it.
    #[must_use]
    pub fn problem(&self) -> HostProblem {
        self.problem
    }
}

/// What is wrong with a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HostProblem {
    /// Nothing there.
    #[error("the host is empty")]
    Empty,
    /// Longer than a name may be, or a label longer than 63 bytes.
    #[error("the host is longer than 253 characters, or one of its labels longer than 63")]
    TooLong,
    /// A NUL, where a resolver and a check can see two different names.
    #[error("the host contains a NUL")]
    Nul,
    /// A letter beyond ASCII.
    #[error("the host is not ASCII; write an international name in its `xn--` form")]
    NotAscii,
    /// A character that no host name has.
    #[error("the host contains a character that no host name has")]
    BadCharacter,
    /// An empty label, as in `a..b`.
    #[error("the host has an empty label")]
    EmptyLabel,
    /// A star anywhere but alone in front.
    #[error("a star may only stand alone in front, as in `*.example.com`")]
    BadWildcard,
    /// A number that some resolvers take for an address.
    #[error("the host ends in a number but is not an address in its usual form")]
    Numeric,
    /// Port 0.
    #[error("port 0 cannot be connected to")]
    PortZero,
}

/// A limit that cannot be counted in the kernel's units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{value} is more than the {max} that can be counted")]
pub struct LimitError {
    pub(crate) value: u64,
    pub(crate) max: u64,
}

/// A policy that says something impossible, at one of its fields.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{field}`: {problem}")]
pub struct PolicyError {
    field: Cow<'static, str>,
    problem: PolicyProblem,
}

impl PolicyError {
    /// A problem at a field.
    pub fn at(field: impl Into<Cow<'static, str>>, problem: impl Into<PolicyProblem>) -> Self {
        Self {
            field: field.into(),
            problem: problem.into(),
        }
    }

    /// A profile blocks a system call that a backend does not know; only a backend has the tables to say so.
    #[must_use]
    pub fn unknown_syscall(name: &SyscallName) -> Self {
        Self::at(
            "blocked_syscalls",
            PolicyProblem::Syscall(name.as_str().to_owned()),
        )
    }

    /// The field, as in `writable_roots[1]`.
    #[must_use]
    pub fn field(&self) -> &str {
        &self.field
    }

    /// What is wrong there.
    #[must_use]
    pub fn problem(&self) -> &PolicyProblem {
        &self.problem
    }
}

/// What is wrong with a policy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyProblem {
    /// A path.
    #[error(transparent)]
    Path(#[from] PathError),
    /// A host.
    #[error(transparent)]
    Host(#[from] HostError),
    /// A limit.
    #[error(transparent)]
    Limit(#[from] LimitError),
    /// A system call that has no such name.
    #[error("`{}` is not the name of a system call", .0.escape_debug())]
    Syscall(String),
    /// Two fields that contradict each other.
    #[error(transparent)]
    Contradiction(#[from] Contradiction),
    /// No backend of this host can express it.
    #[error(transparent)]
    Lowering(#[from] LoweringProblem),
}

/// Why a policy cannot become a plan on a host, whatever losses are accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoweringProblem {
    /// The policy confines nothing, so there is no plan for it.
    #[error("a policy that confines nothing cannot be lowered")]
    NothingToEnforce,
    /// The host has no mechanism that is strong enough.
    #[error("nothing on this host can enforce the policy: {why}")]
    NoMechanism {
        /// What is missing.
        why: String,
    },
    /// The policy was resolved for a session that owns other things than it would own here.
    #[error(
        "the policy was resolved with other private places than this host provides; resolve it again with those of the host"
    )]
    OtherPrivatePlaces,
    /// A path of the policy that the facts about the host say nothing about.
    #[error("nobody looked at {path} on this host")]
    NotSurveyed {
        /// The path, or the glob.
        path: String,
    },
    /// A writable path that does not exist.
    #[error("{path} does not exist; create it first")]
    MissingRoot {
        /// The path.
        path: AbsolutePath,
    },
    /// A writable path with a symbolic link in it.
    #[error("{path} leads through a symbolic link; name what it leads to{}", .real.as_ref().map(|real| format!(": {real}")).unwrap_or_default())]
    LinkedRoot {
        /// The path.
        path: AbsolutePath,
        /// What it leads to, if it leads anywhere.
        real: Option<AbsolutePath>,
    },
    /// A writable path that is neither a directory nor a regular file.
    #[error("{path} is neither a directory nor a regular file")]
    UnusableRoot {
        /// The path.
        path: AbsolutePath,
    },
    /// A writable path with an access list that the user may not change.
    #[error(
        "the access list of {path} cannot be changed by this user; let its owner grant that, or choose a directory of your own"
    )]
    ForeignAccessList {
        /// The path.
        path: AbsolutePath,
    },
    /// A path that this system's sandbox cannot be told.
    #[error("`{}` cannot be told to the sandbox of this system: {why}; rename it, or leave it out of the policy", .path.escape_debug())]
    UnspeakablePath {
        /// The path, as far as it can be shown.
        path: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A writable path where the kernel shows its own parameters and devices.
    #[error("{path} is not for files: what is written there changes the kernel or reaches devices")]
    KernelRoot {
        /// The path.
        path: AbsolutePath,
    },
}

/// Two settings that cannot both be meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Contradiction {
    /// Hosts are listed, but the network is off.
    #[error("hosts are listed, but `network_access` is false")]
    HostsWithoutNetwork,
    /// The network is on, but sockets are filtered away.
    #[error("`network_access` is true without a list, but `allow_network_sockets` is false")]
    NetworkWithoutSockets,
    /// Sockets are open, but the network is off.
    #[error("`allow_network_sockets` is true, but `network_access` is false")]
    SocketsWithoutNetwork,
    /// A grant for a policy that does not confine anything.
    #[error("nothing can be granted to a policy that confines nothing")]
    GrantWithoutSandbox,
}

/// A path in an error message: quoted, with what cannot be seen made visible.
struct Shown<'a>(&'a Path);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.0.to_string_lossy().escape_debug())
    }
}
