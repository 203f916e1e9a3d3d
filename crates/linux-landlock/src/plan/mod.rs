//! What lowering says and launching does, as plain data: nothing here looks at the host.
//!
//! A [`Plan`] can be printed, compared and sent to another process; the helper does what it says and decides nothing.
//! What it enforces stands in the report that comes with it.

mod display;
mod landlock;
#[cfg(feature = "model")]
pub mod model;
mod mounts;

pub use landlock::{FsRights, NetRights, PathRule, PortRule, Ruleset, Scopes};
pub use mounts::{Device, MaskKind, Mount, OverlayStore};

use std::net::{Ipv4Addr, SocketAddrV4};

use palisade_policy::AbsolutePath;

use crate::host::CgroupSupport;
use crate::seccomp::Filter;

/// How strong the stack is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(
    clippy::exhaustive_enums,
    reason = "every caller must know what a new tier means"
)]
pub enum Tier {
    /// Landlock and seccomp, without namespaces.
    Landlock,
    /// Namespaces, Landlock where the kernel has it, and seccomp.
    Full,
}

/// Everything that the helper has to do, in the order of the fields.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Plan {
    /// How strong the stack is.
    pub tier: Tier,
    /// Which network the session has; the landlock tier always has the host's.
    pub network: NetworkNamespace,
    /// Guarded paths that do not exist: empty directories, made before the session, outer ones first, and removed after
    /// it, inner ones first. One that is no longer empty stays: a directory above a guarded path may have been used.
    pub placeholders: Vec<AbsolutePath>,
    /// What is mounted after the root of the file system has been made read-only; empty in the landlock tier.
    pub mounts: Vec<Mount>,
    /// The Landlock rules of every command; `None` where the kernel has no Landlock.
    pub landlock: Option<Ruleset>,
    /// The system-call filter of every command.
    pub filter: Filter,
    /// The limits of every command.
    pub limits: Limits,
    /// Where a control group of the session is made, for the limits that one keeps; nothing for the others.
    pub cgroups: CgroupSupport,
    /// Variables that every command gets, in place of its own but where they yield.
    pub environment: Vec<(String, EnvValue)>,
    /// Whether the session gets a fresh directory for temporary files, with a Landlock rule of its own; removed when
    /// the session ends. For the landlock tier, which has no private `/tmp`.
    pub private_tmpdir: bool,
    /// Directories outside every writable place: making a file in one must fail before a command is started.
    pub canaries: Vec<AbsolutePath>,
    /// Git directories with a private overlay, whose history is imported when a command has ended.
    pub git: Vec<GitOverlay>,
}

/// The value of a variable that every command gets.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "who starts a command must know how to make each value"
)]
pub enum EnvValue {
    /// This text.
    Literal(String),
    /// The path of the session's own directory for temporary files, or of something below it.
    InTmp(String),
    /// This text, where the command has no value of its own.
    Unset(String),
}

/// Which network the session has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "every caller must know what a new kind means"
)]
pub enum NetworkNamespace {
    /// The host's.
    Host,
    /// Its own: nothing but loopback, which is up.
    OwnLoopback,
    /// Its own, with loopback down.
    Nothing,
    /// Its own: loopback, and on it [a socket](PROXY) whose connections whoever starts the session accepts.
    Proxied,
}

/// Where the proxy of a session listens, on the session's own loopback. Nothing else is there before the first command.
pub const PROXY: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 3128);

/// A git directory that the session works on through a private overlay.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GitOverlay {
    /// The directory that is overlaid: what holds objects and refs.
    pub common_dir: AbsolutePath,
    /// The git directory of the work tree: the same, or `worktrees/NAME` below it.
    pub git_dir: AbsolutePath,
}

/// Limits on resources; 0 is unlimited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Processor seconds of each process.
    pub cpu_seconds: u64,
    /// The largest file, in bytes.
    pub file_size: u64,
    /// Processes alive at once, and by what that is kept.
    pub pids: Option<(u32, LimitMechanism)>,
    /// Bytes of memory of the whole tree, and by what that is kept.
    pub memory: Option<(u64, LimitMechanism)>,
}

/// By what a limit on the whole tree is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LimitMechanism {
    /// `RLIMIT_NPROC`, which counts within the session's user namespace.
    Rlimit,
    /// A control group of the session.
    Cgroup,
    /// Init measures now and then, and ends the command that is over.
    Sampled,
}
