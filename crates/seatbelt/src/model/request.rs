//! What the kernel asks a profile: one operation, and what is known about its object.

use palisade_policy::AbsolutePath;

use crate::profile::{Operation, Target, VnodeType};

/// One question to a profile. A filter about something that is not known here does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Request {
    /// What is to be done.
    pub operation: Operation,
    /// The path, as the kernel resolved it: without links, and spelled as the file system spells what exists.
    pub path: Option<AbsolutePath>,
    /// What kind of entry is there.
    pub vnode_type: Option<VnodeType>,
    /// The other end of a connection.
    pub remote: Option<Address>,
    /// Our end, or where somebody listens.
    pub local: Option<Address>,
    /// The name of a service or a value.
    pub name: Option<Name>,
    /// Which process is acted on.
    pub target: Option<Target>,
    /// The extensions that the process holds for the object, by class.
    pub extensions: Vec<String>,
}

impl Request {
    /// An operation of whose object nothing is known.
    #[must_use]
    pub const fn new(operation: Operation) -> Self {
        Self {
            operation,
            path: None,
            vnode_type: None,
            remote: None,
            local: None,
            name: None,
            target: None,
            extensions: Vec::new(),
        }
    }

    /// About this path.
    #[must_use]
    pub fn at(mut self, path: AbsolutePath) -> Self {
        self.path = Some(path);
        self
    }

    /// About this kind of entry.
    #[must_use]
    pub const fn of_type(mut self, vnode_type: VnodeType) -> Self {
        self.vnode_type = Some(vnode_type);
        self
    }

    /// With this other end. A local socket is also the path that the request is about.
    #[must_use]
    pub fn to(mut self, remote: Address) -> Self {
        self.path = remote.path().cloned().or(self.path);
        self.remote = Some(remote);
        self
    }

    /// With this end of ours. A local socket is also the path that the request is about.
    #[must_use]
    pub fn from(mut self, local: Address) -> Self {
        self.path = local.path().cloned().or(self.path);
        self.local = Some(local);
        self
    }

    /// About something with this name.
    #[must_use]
    pub fn named(mut self, name: Name) -> Self {
        self.name = Some(name);
        self
    }

    /// With one more extension for the object.
    #[must_use]
    pub fn with_extension(mut self, class: impl Into<String>) -> Self {
        self.extensions.push(class.into());
        self
    }

    /// About this process.
    #[must_use]
    pub const fn acting_on(mut self, target: Target) -> Self {
        self.target = Some(target);
        self
    }
}

/// One end of a connection, as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a profile can tell no other ends apart"
)]
pub enum Address {
    /// An address of the internet.
    Internet {
        /// How it is spoken to.
        transport: Transport,
        /// Whether it is loopback: `127.0.0.1`, `::1`. Everywhere (`0.0.0.0`) is not.
        loopback: bool,
        /// The port.
        port: u16,
    },
    /// A local socket.
    Unix(AbsolutePath),
}

impl Address {
    /// Where a local socket is.
    #[must_use]
    pub const fn path(&self) -> Option<&AbsolutePath> {
        match self {
            Self::Unix(path) => Some(path),
            Self::Internet { .. } => None,
        }
    }
}

/// How an address is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a profile can tell no others apart"
)]
pub enum Transport {
    /// TCP.
    Tcp,
    /// UDP.
    Udp,
}

/// The name of a service or a value, and what kind of name it is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Name {
    /// A Mach service.
    Global(String),
    /// A Mach service of the session.
    Local(String),
    /// A kernel value.
    Sysctl(String),
    /// Shared memory or a semaphore.
    IpcPosix(String),
    /// A class of devices.
    IokitRegistryEntryClass(String),
    /// A way to talk to a driver.
    IokitUserClientClass(String),
    /// Settings of a program.
    PreferenceDomain(String),
    /// A family of sockets, such as `AF_UNIX`.
    SocketDomain(String),
}
