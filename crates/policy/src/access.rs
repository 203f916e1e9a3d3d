//! The question and the answer of the oracle: an access, and a verdict that names the clause behind it.

use std::fmt;

use crate::grant::Grant;
use crate::network::{HostName, NetworkAllowlistEntry, Protocol};
use crate::path_matcher::PathMatcher;
use crate::paths::AbsolutePath;

/// Something that a command wants to do. Paths are resolved: no symbolic link is left in them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Access {
    /// Read a file, or list a directory.
    Read(AbsolutePath),
    /// Change the content or the metadata of what is there.
    Write(AbsolutePath),
    /// Make a new entry: a file, a directory, a link, a socket.
    Create(AbsolutePath),
    /// Remove an entry.
    Delete(AbsolutePath),
    /// Move an entry, replacing what is there.
    Rename {
        /// The old name.
        from: AbsolutePath,
        /// The new name.
        to: AbsolutePath,
    },
    /// Execute a file.
    Execute(AbsolutePath),
    /// Connect to a host.
    Connect {
        /// The host.
        host: HostName,
        /// The port.
        port: u16,
        /// The transport.
        protocol: Protocol,
    },
    /// Listen on an address.
    Bind {
        /// The address.
        host: HostName,
        /// The port.
        port: u16,
    },
    /// Connect to a local socket.
    Unix {
        /// Its address.
        address: UnixAddress,
        /// Who listens there.
        peer: Peer,
    },
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(path) => write!(f, "read {path}"),
            Self::Write(path) => write!(f, "write {path}"),
            Self::Create(path) => write!(f, "create {path}"),
            Self::Delete(path) => write!(f, "delete {path}"),
            Self::Rename { from, to } => write!(f, "rename {from} to {to}"),
            Self::Execute(path) => write!(f, "execute {path}"),
            Self::Connect {
                host,
                port,
                protocol,
            } => write!(f, "connect to {host} port {port}/{protocol}"),
            Self::Bind { host, port } => write!(f, "listen on {host} port {port}"),
            Self::Unix { address, peer } => {
                let whose = match peer {
                    Peer::Session => "own",
                    Peer::Host => "the host's",
                };
                write!(f, "connect to {whose} socket {address}")
            }
        }
    }
}

/// The address of a local socket.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum UnixAddress {
    /// A path.
    Path(AbsolutePath),
    /// A name in Linux's abstract namespace.
    Abstract(Vec<u8>),
    /// One half of a pair.
    Unnamed,
}

impl fmt::Display for UnixAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(path) => path.fmt(f),
            Self::Abstract(name) => write!(f, "@{}", name.escape_ascii()),
            Self::Unnamed => f.write_str("without a name"),
        }
    }
}

/// Who listens on a local socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(
    clippy::exhaustive_enums,
    reason = "inside or outside: there is no third"
)]
pub enum Peer {
    /// A process of the same session.
    Session,
    /// Somebody outside.
    Host,
}

/// Where an allowed access takes effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(
    clippy::exhaustive_enums,
    reason = "inside or outside: there is no third"
)]
pub enum Place {
    /// In what the session owns; the host never sees it.
    Private,
    /// On the host.
    Host,
}

/// Allowed or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a new outcome must break the builds of all who judge by it"
)]
pub enum Permission {
    /// It may happen, there.
    Allowed(Place),
    /// It must not happen.
    Denied,
}

/// What the policy says about an access, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub struct Verdict {
    /// Allowed or not.
    pub permission: Permission,
    /// The clause that decided.
    pub clause: Clause,
    /// The smallest grant that would allow a denied access, if one would.
    pub remedy: Option<Grant>,
}

impl Verdict {
    /// Whether the access may happen.
    #[must_use]
    pub const fn is_allowed(&self) -> bool {
        matches!(self.permission, Permission::Allowed(_))
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self.permission {
            Permission::Allowed(Place::Host) => "allowed",
            Permission::Allowed(Place::Private) => "allowed (private)",
            Permission::Denied => "denied",
        };
        write!(f, "{word}: {}", self.clause)?;
        match &self.remedy {
            Some(grant) => write!(f, "; a grant to {grant} would allow it"),
            None => Ok(()),
        }
    }
}

/// The part of a policy that decided about an access.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Clause {
    /// The policy has no sandbox.
    FullAccess,
    /// Somebody else's sandbox decides.
    ExternalSandbox,
    /// What nothing guards can be read.
    ReadableByDefault,
    /// The mode changes nothing on the host.
    ReadOnlyMode,
    /// No writable root holds the path.
    OutsideRoots,
    /// A writable root holds the path.
    WritableRoot(AbsolutePath),
    /// A subpath that every writable root protects.
    Protected(AbsolutePath),
    /// A secret.
    Sensitive(PathMatcher),
    /// A path that the policy denies.
    DenyRead(PathMatcher),
    /// A path that the policy keeps from changing.
    ReadOnlyPath(PathMatcher),
    /// Moving, replacing or removing this entry would take a guard with it.
    HoldsGuarded(AbsolutePath),
    /// Moving this entry could bring what a glob guards to where it does not, or the other way round.
    MovesGuarded(PathMatcher),
    /// A grant names the path.
    Reopened(AbsolutePath),
    /// A secret's entry that names the path and does not block it.
    NotBlocked(PathMatcher),
    /// The session has its own.
    PrivatePlace(AbsolutePath),
    /// A device that is the same for everybody.
    StandardDevice(AbsolutePath),
    /// The whole network is open.
    FullNetwork,
    /// The network is off.
    NoNetwork,
    /// An entry of the allowlist.
    Listed(NetworkAllowlistEntry),
    /// No entry of the allowlist.
    NotListed,
    /// The session has its own loopback.
    OwnLoopback,
    /// The policy opens the host's loopback.
    HostLoopback,
    /// The host's loopback is closed.
    NoHostLoopback,
    /// Loopback is off.
    NoLoopback,
    /// A socket that belongs to the session.
    SessionSocket,
    /// A socket of the host that the policy names.
    ListedSocket(AbsolutePath),
    /// A socket of the host that the policy does not name.
    UnlistedSocket,
    /// A system call that the filter refuses, whatever it is about.
    FilteredCall,
    /// A session has processes of its own, and no others.
    OwnProcesses,
}

impl fmt::Display for Clause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FullAccess => f.write_str("the policy has no sandbox"),
            Self::ExternalSandbox => f.write_str("the sandbox around this process decides"),
            Self::ReadableByDefault => f.write_str("what nothing guards can be read"),
            Self::ReadOnlyMode => f.write_str("the mode is read-only"),
            Self::OutsideRoots => f.write_str("no writable root holds it"),
            Self::WritableRoot(root) => write!(f, "the writable root {root} holds it"),
            Self::Protected(path) => write!(f, "{path} is protected"),
            Self::Sensitive(path) => write!(f, "{path} is a secret"),
            Self::DenyRead(path) => write!(f, "the policy denies {path}"),
            Self::ReadOnlyPath(path) => write!(f, "the policy makes {path} read-only"),
            Self::HoldsGuarded(path) => write!(f, "it holds {path}, which is guarded"),
            Self::MovesGuarded(matcher) => {
                write!(f, "moving it could move what {matcher} guards")
            }
            Self::Reopened(path) => write!(f, "a grant names {path}"),
            Self::NotBlocked(path) => write!(f, "the policy names {path} and does not block it"),
            Self::PrivatePlace(path) => write!(f, "the session has its own {path}"),
            Self::StandardDevice(path) => write!(f, "{path} is a standard device"),
            Self::FullNetwork => f.write_str("the network is open"),
            Self::NoNetwork => f.write_str("the network is off"),
            Self::Listed(entry) => write!(f, "the allowlist has {entry}"),
            Self::NotListed => f.write_str("the allowlist does not have it"),
            Self::OwnLoopback => f.write_str("the session has its own loopback"),
            Self::HostLoopback => f.write_str("the policy opens the loopback of the host"),
            Self::NoHostLoopback => f.write_str("the loopback of the host is closed"),
            Self::NoLoopback => f.write_str("loopback is off"),
            Self::SessionSocket => f.write_str("the socket belongs to the session"),
            Self::ListedSocket(path) => write!(f, "the policy opens the socket {path}"),
            Self::UnlistedSocket => f.write_str("the policy does not open this socket of the host"),
            Self::FilteredCall => f.write_str("the filter of system calls refuses it"),
            Self::OwnProcesses => f.write_str("the session sees its own processes alone"),
        }
    }
}
