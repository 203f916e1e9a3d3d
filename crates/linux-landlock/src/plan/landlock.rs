//! Landlock rules as data: rights in the kernel's numbers, so that they can be lowered and printed on every system.

use std::fmt;
use std::ops::{BitAnd, BitOr};

use palisade_policy::AbsolutePath;

/// A set of rights on files and directories, in the kernel's bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FsRights(u64);

impl FsRights {
    /// Execute a file.
    pub const EXECUTE: Self = Self(1 << 0);
    /// Open a file for writing.
    pub const WRITE_FILE: Self = Self(1 << 1);
    /// Open a file for reading.
    pub const READ_FILE: Self = Self(1 << 2);
    /// List a directory.
    pub const READ_DIR: Self = Self(1 << 3);
    /// Remove an empty directory.
    pub const REMOVE_DIR: Self = Self(1 << 4);
    /// Remove anything else.
    pub const REMOVE_FILE: Self = Self(1 << 5);
    /// Make a character device.
    pub const MAKE_CHAR: Self = Self(1 << 6);
    /// Make a directory.
    pub const MAKE_DIR: Self = Self(1 << 7);
    /// Make a regular file.
    pub const MAKE_REG: Self = Self(1 << 8);
    /// Make a socket.
    pub const MAKE_SOCK: Self = Self(1 << 9);
    /// Make a named pipe.
    pub const MAKE_FIFO: Self = Self(1 << 10);
    /// Make a block device.
    pub const MAKE_BLOCK: Self = Self(1 << 11);
    /// Make a symbolic link.
    pub const MAKE_SYM: Self = Self(1 << 12);
    /// Link or rename to another directory (ABI 2).
    pub const REFER: Self = Self(1 << 13);
    /// Truncate a file (ABI 3).
    pub const TRUNCATE: Self = Self(1 << 14);
    /// Control a device (ABI 5).
    pub const IOCTL_DEV: Self = Self(1 << 15);

    const NAMES: [&'static str; 16] = [
        "execute",
        "write-file",
        "read-file",
        "read-dir",
        "remove-dir",
        "remove-file",
        "make-char",
        "make-dir",
        "make-reg",
        "make-sock",
        "make-fifo",
        "make-block",
        "make-sym",
        "refer",
        "truncate",
        "ioctl-dev",
    ];

    /// What makes sense on something that is not a directory.
    pub const FILE: Self = Self(
        Self::EXECUTE.0
            | Self::WRITE_FILE.0
            | Self::READ_FILE.0
            | Self::TRUNCATE.0
            | Self::IOCTL_DEV.0,
    );
    /// Reading, listing and executing.
    pub const READ: Self = Self(Self::EXECUTE.0 | Self::READ_FILE.0 | Self::READ_DIR.0);
    /// Whatever changes files and directories, device nodes excepted: those are never granted.
    pub const WRITE: Self = Self(
        Self::WRITE_FILE.0
            | Self::REMOVE_DIR.0
            | Self::REMOVE_FILE.0
            | Self::MAKE_DIR.0
            | Self::MAKE_REG.0
            | Self::MAKE_SOCK.0
            | Self::MAKE_FIFO.0
            | Self::MAKE_SYM.0
            | Self::REFER.0
            | Self::TRUNCATE.0,
    );

    /// Every right that this ABI of Landlock can withhold.
    #[must_use]
    pub const fn handled(abi: u32) -> Self {
        let bits = match abi {
            0 => 0,
            1 => 13,
            2 => 14,
            3 | 4 => 15,
            _ => 16,
        };
        Self((1 << bits) - 1)
    }

    /// The kernel's bits.
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// Rights from the kernel's bits; unknown ones are dropped.
    #[must_use]
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits & 0xffff)
    }

    /// Whether all of the others are among these.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl BitOr for FsRights {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitAnd for FsRights {
    type Output = Self;

    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl fmt::Display for FsRights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = Self::NAMES
            .iter()
            .enumerate()
            .filter(|(bit, _)| self.0 & (1 << bit) != 0)
            .map(|(_, name)| *name)
            .collect();
        f.write_str(&names.join(" "))
    }
}

/// A set of rights on TCP ports, in the kernel's bits (ABI 4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct NetRights(pub(crate) u64);

impl NetRights {
    /// Listen on a port.
    pub const BIND_TCP: Self = Self(1 << 0);
    /// Connect to a port.
    pub const CONNECT_TCP: Self = Self(1 << 1);

    /// The kernel's bits.
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.0
    }
}

impl BitOr for NetRights {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// What a command cannot reach outside its own domain, in the kernel's bits (ABI 6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Scopes(pub(crate) u64);

impl Scopes {
    /// Abstract unix sockets.
    pub const ABSTRACT_UNIX_SOCKET: Self = Self(1 << 0);
    /// Signals.
    pub const SIGNAL: Self = Self(1 << 1);

    /// The kernel's bits.
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.0
    }
}

impl BitOr for Scopes {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Rights on a path and everything below it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PathRule {
    /// The path.
    pub path: AbsolutePath,
    /// The rights; those that make no sense on what is there are left out when the rule is added.
    pub rights: FsRights,
}

impl PathRule {
    /// These rights on a path and everything below it.
    #[must_use]
    pub const fn new(path: AbsolutePath, rights: FsRights) -> Self {
        Self { path, rights }
    }
}

/// Rights on a TCP port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PortRule {
    /// The port.
    pub port: u16,
    /// The rights.
    pub rights: NetRights,
}

/// A Landlock ruleset.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ruleset {
    /// Rights on files that are withheld unless a rule grants them.
    pub handled_fs: FsRights,
    /// Rights on ports that are withheld unless a rule grants them.
    pub handled_net: NetRights,
    /// What is kept inside the domain.
    pub scopes: Scopes,
    /// Rights on paths.
    pub paths: Vec<PathRule>,
    /// Rights on ports.
    pub ports: Vec<PortRule>,
}
