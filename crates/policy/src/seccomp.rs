//! Which system calls a command is denied, whatever the paths.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::{PolicyError, PolicyProblem};

/// Never of use to a command, and each one a way to attack the kernel or another process.
const STRICT: [&str; 59] = [
    "acct",
    "add_key",
    "adjtimex",
    "bpf",
    "chroot",
    "clock_adjtime",
    "clock_settime",
    "delete_module",
    "finit_module",
    "fsconfig",
    "fsmount",
    "fsopen",
    "fspick",
    "init_module",
    "io_uring_enter",
    "io_uring_register",
    "io_uring_setup",
    "ioperm",
    "iopl",
    "kcmp",
    "kexec_file_load",
    "kexec_load",
    "keyctl",
    "listmount",
    "lookup_dcookie",
    "memfd_secret",
    "modify_ldt",
    "mount",
    "mount_setattr",
    "move_mount",
    "name_to_handle_at",
    "open_by_handle_at",
    "open_tree",
    "open_tree_attr",
    "perf_event_open",
    "personality",
    "pidfd_getfd",
    "pivot_root",
    "process_madvise",
    "process_vm_readv",
    "process_vm_writev",
    "ptrace",
    "quotactl",
    "quotactl_fd",
    "reboot",
    "request_key",
    "setdomainname",
    "sethostname",
    "setns",
    "settimeofday",
    "statmount",
    "swapoff",
    "swapon",
    "syslog",
    "umount",
    "umount2",
    "unshare",
    "userfaultfd",
    "vhangup",
];

/// What even an unconfined command is denied.
const PERMISSIVE: [&str; 4] = ["kexec_file_load", "kexec_load", "ptrace", "reboot"];

/// The name of a Linux system call: lower-case letters, digits and underscores.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SyscallName(Cow<'static, str>);

impl SyscallName {
    /// Checks the form of the name; whether there is such a call is for the backend to say.
    ///
    /// # Errors
    /// The text cannot be the name of a system call.
    pub fn new(name: impl Into<String>) -> Result<Self, PolicyError> {
        let name = name.into();
        let good = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        if name.is_empty() || name.len() > 64 || !name.bytes().all(good) {
            return Err(PolicyError::at(
                "blocked_syscalls",
                PolicyProblem::Syscall(name),
            ));
        }
        Ok(Self(Cow::Owned(name)))
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SyscallName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for SyscallName {
    type Error = PolicyError;

    fn try_from(name: String) -> Result<Self, PolicyError> {
        Self::new(name)
    }
}

impl From<SyscallName> for String {
    fn from(name: SyscallName) -> Self {
        name.0.into_owned()
    }
}

/// What the system-call filter does; only Linux has one.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "RawProfile")]
#[non_exhaustive]
pub struct SeccompProfile {
    /// The denied calls, sorted, each once.
    pub blocked_syscalls: Vec<SyscallName>,
    /// Whether the command may make namespaces of its own.
    pub allow_namespaces: bool,
    /// Whether the command may open sockets to the network of the host.
    pub allow_network_sockets: bool,
    /// Whether denials are only logged: nothing is enforced then, and the report says so.
    pub log_only: bool,
}

impl SeccompProfile {
    fn new(blocked: &[&'static str]) -> Self {
        Self {
            blocked_syscalls: blocked
                .iter()
                .map(|name| SyscallName(Cow::Borrowed(name)))
                .collect(),
            allow_namespaces: false,
            allow_network_sockets: false,
            log_only: false,
        }
    }

    /// For commands that nobody vouches for; the default.
    #[must_use]
    pub fn strict() -> Self {
        Self::new(&STRICT)
    }

    /// For commands without a sandbox: only what no command should do by accident.
    #[must_use]
    pub fn permissive() -> Self {
        Self {
            allow_namespaces: true,
            allow_network_sockets: true,
            ..Self::new(&PERMISSIVE)
        }
    }

    /// [`strict`](Self::strict), but denials are only logged.
    #[must_use]
    pub fn logging() -> Self {
        Self {
            log_only: true,
            ..Self::strict()
        }
    }

    /// With sockets to the network of the host.
    #[must_use]
    pub fn with_network(self) -> Self {
        Self {
            allow_network_sockets: true,
            ..self
        }
    }

    /// With these calls denied as well.
    #[must_use]
    pub fn with_blocked(mut self, more: impl IntoIterator<Item = SyscallName>) -> Self {
        self.blocked_syscalls.extend(more);
        self.blocked_syscalls.sort_unstable();
        self.blocked_syscalls.dedup();
        self
    }

    /// Whether this call is denied.
    #[must_use]
    pub fn blocks(&self, name: &str) -> bool {
        self.blocked_syscalls
            .binary_search_by(|blocked| blocked.as_str().cmp(name))
            .is_ok()
    }
}

impl Default for SeccompProfile {
    fn default() -> Self {
        Self::strict()
    }
}

/// A profile as it is written; what is left out is as in [`SeccompProfile::strict`].
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawProfile {
    blocked_syscalls: Option<Vec<SyscallName>>,
    #[serde(default)]
    allow_namespaces: bool,
    #[serde(default)]
    allow_network_sockets: bool,
    #[serde(default)]
    log_only: bool,
}

impl From<RawProfile> for SeccompProfile {
    fn from(raw: RawProfile) -> Self {
        let blocked = match raw.blocked_syscalls {
            Some(names) => Self::new(&[]).with_blocked(names),
            None => Self::strict(),
        };
        Self {
            allow_namespaces: raw.allow_namespaces,
            allow_network_sockets: raw.allow_network_sockets,
            log_only: raw.log_only,
            ..blocked
        }
    }
}
