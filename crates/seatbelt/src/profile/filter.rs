//! Where a rule holds.

use super::parameter::ParameterName;
use super::pattern::Pattern;

/// One condition of a rule.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Filter {
    /// `(literal ...)`: exactly this path.
    Literal(PathValue),
    /// `(subpath ...)`: this path and everything below.
    Subpath(PathValue),
    /// `(regex #"...")`: paths that match.
    Regex(Pattern),
    /// `(path-ancestors ...)`: every directory above this path.
    PathAncestors(PathValue),
    /// `(vnode-type ...)`: what kind of entry it is.
    VnodeType(VnodeType),
    /// `(require-all ...)`: all of these hold.
    All(Vec<Filter>),
    /// `(require-any ...)`: one of these holds.
    Any(Vec<Filter>),
    /// `(require-not ...)`: this does not hold.
    Not(Box<Filter>),
    /// `(remote ...)`: the other end of a connection.
    Remote(Endpoint),
    /// `(local ...)`: our end of a connection, or where somebody listens.
    Local(Endpoint),
    /// `(global-name "...")`: a Mach service.
    GlobalName(String),
    /// `(global-name-prefix "...")`: Mach services whose names begin so.
    GlobalNamePrefix(String),
    /// `(local-name "...")`: a Mach service of the session.
    LocalName(String),
    /// `(sysctl-name "...")`: a kernel value.
    SysctlName(String),
    /// `(sysctl-name-prefix "...")`: kernel values whose names begin so.
    SysctlNamePrefix(String),
    /// `(ipc-posix-name "...")`: shared memory or a semaphore.
    IpcPosixName(String),
    /// `(ipc-posix-name-prefix "...")`: those whose names begin so.
    IpcPosixNamePrefix(String),
    /// `(iokit-registry-entry-class "...")`: a class of devices.
    IokitRegistryEntryClass(String),
    /// `(iokit-user-client-class "...")`: a way to talk to a driver.
    IokitUserClientClass(String),
    /// `(preference-domain "...")`: settings of a program.
    PreferenceDomain(String),
    /// `(extension "...")`: the process was handed this object itself, such as a terminal that it opened.
    Extension(String),
    /// `(target ...)`: which process is acted on.
    Target(Target),
    /// `(socket-domain ...)`: a family of sockets.
    SocketDomain(String),
}

/// A path in a filter.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "in the text or beside it")]
pub enum PathValue {
    /// `(param "...")`: a path of the host, passed beside the text.
    Parameter(ParameterName),
    /// A path that is the same on every host, written in the base.
    Fixed(String),
}

/// What kind of entry a path names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum VnodeType {
    /// `REGULAR-FILE`
    RegularFile,
    /// `DIRECTORY`
    Directory,
    /// `SYMLINK`
    Symlink,
    /// `CHARACTER-DEVICE`
    CharacterDevice,
    /// `BLOCK-DEVICE`
    BlockDevice,
    /// `FIFO`
    Fifo,
    /// `SOCKET`
    Socket,
    /// `TTY`
    Tty,
}

/// One end of a connection.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Endpoint {
    /// `ip "host:port"`, of any transport.
    Ip {
        /// The host.
        host: EndpointHost,
        /// The port; `None` for `*`.
        port: Option<u16>,
    },
    /// `tcp "host:port"`.
    Tcp {
        /// The host.
        host: EndpointHost,
        /// The port; `None` for `*`.
        port: Option<u16>,
    },
    /// `udp "host:port"`.
    Udp {
        /// The host.
        host: EndpointHost,
        /// The port; `None` for `*`.
        port: Option<u16>,
    },
    /// `unix-socket`, at paths where one of these holds; everywhere, if there is none.
    UnixSocket(Vec<Filter>),
}

/// Seatbelt knows no other hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "Seatbelt knows no other hosts")]
pub enum EndpointHost {
    /// `*`
    Any,
    /// `localhost`
    Localhost,
}

/// Which process an operation acts on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Target {
    /// `self`
    Itself,
    /// `same-sandbox`
    SameSandbox,
    /// `children`
    Children,
    /// `pgrp`
    ProcessGroup,
    /// `others`
    Others,
}
