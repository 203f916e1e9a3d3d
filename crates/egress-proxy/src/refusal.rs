//! Why something was not let through.

use std::net::IpAddr;

use palisade_policy::HostProblem;
use serde::{Serialize, Serializer};

use crate::address::AddressProblem;
use crate::wire::{BodyProblem, HeadProblem, HelloProblem, SocksProblem};

/// Why a connection or a request was refused. Its text says what would help, where something would.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize)]
#[serde(tag = "code", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Refusal {
    /// The host is not a host, or one that two programs could read in two ways.
    #[error("this is no host: {problem}")]
    NotAHost {
        /// What is wrong with it.
        #[serde(serialize_with = "as_text")]
        problem: HostProblem,
    },
    /// No entry of the policy opens the host and port.
    #[error("the policy does not list this host and port")]
    NotListed,
    /// A name for the machine itself, which is inside.
    #[error("a local name is never forwarded; connect to it without the proxy")]
    LocalName,
    /// An address that no entry names.
    #[error("an address is reached only if the policy lists that address, and {problem}")]
    Literal {
        /// Why nobody is asked about it.
        problem: AddressProblem,
    },
    /// The name stands for an address that it should not stand for.
    #[error(
        "the name stands for {address}: {problem}; such an address is reached only if the policy lists it"
    )]
    Address {
        /// The address.
        address: IpAddr,
        /// What is wrong with it.
        problem: AddressProblem,
    },
    /// The name stands for an address of this machine.
    #[error("the name stands for {address}, an address of this machine")]
    OwnAddress {
        /// The address.
        address: IpAddr,
    },
    /// Somebody was asked and said no, now or earlier in the session.
    #[error("the host was asked for and denied")]
    Denied,
    /// Somebody was asked and did not answer in time.
    #[error("the host was asked for, and nobody answered in time")]
    Unanswered,
    /// Nobody can be asked now.
    #[error("too many hosts were asked for")]
    TooManyQuestions,
    /// No more connections at a time.
    #[error("too many connections are open")]
    TooManyConnections,
    /// TLS names another host than the connection was opened for.
    #[error("TLS names the host `{name}`, not the one that the connection was opened for")]
    ServerName {
        /// The name in the ClientHello.
        name: String,
    },
    /// TLS names no host, so nobody can tell which one is meant.
    #[error("TLS names no host (SNI)")]
    NoServerName,
    /// The name of the host is, or could be, encrypted.
    #[error("TLS hides the host it means (ECH); switch that off in the client")]
    EncryptedHello,
    /// TLS begins in a way that cannot be followed.
    #[error("TLS begins in a way that is not understood: {problem}")]
    Hello {
        /// What is wrong.
        #[serde(serialize_with = "as_text")]
        problem: HelloProblem,
    },
    /// A request names another host than it is sent to.
    #[error("the Host header names `{name}`, not the host that the request is for")]
    HostHeader {
        /// The header's value.
        name: String,
    },
    /// The head of a request is not one that everybody reads in the same way.
    #[error("the request is malformed: {problem}")]
    Head {
        /// What is wrong.
        #[serde(serialize_with = "as_text")]
        problem: HeadProblem,
    },
    /// The body of a request is not one that everybody reads in the same way.
    #[error("the request's body is malformed: {problem}")]
    Body {
        /// What is wrong.
        #[serde(serialize_with = "as_text")]
        problem: BodyProblem,
    },
    /// SOCKS, but not what is spoken here.
    #[error("SOCKS: {problem}")]
    Socks {
        /// What is wrong.
        #[serde(serialize_with = "as_text")]
        problem: SocksProblem,
    },
    /// Something else than TLS, to a host whose TLS is opened.
    #[error("only TLS is spoken to this host and port, for which the proxy has a secret")]
    NotTls,
    /// A client that does not speak TLS with the proxy.
    #[error(
        "TLS with the client failed: {problem}; it must trust the session's certificate authority and speak HTTP/1.1"
    )]
    ClientTls {
        /// What is wrong.
        problem: String,
    },
    /// A server that is not trusted, or does not speak TLS.
    #[error("TLS with the server failed: {problem}")]
    ServerTls {
        /// What is wrong.
        problem: String,
    },
    /// HTTP/2 without TLS, which nobody can look into.
    #[error("HTTP/2 without TLS is not forwarded; use HTTP/1.1")]
    Http2,
    /// TLS to the proxy itself.
    #[error("the proxy itself does not speak TLS; name it as http:// or socks5h://")]
    TlsToProxy,
    /// Neither HTTP nor SOCKS.
    #[error("neither HTTP nor SOCKS is spoken here")]
    UnknownProtocol,
    /// A request was not finished in time.
    #[error("the request was not finished in time")]
    TooSlow,
}

/// Only used by `serde`, which wants a reference.
fn as_text<S: Serializer>(problem: &impl ToString, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&problem.to_string())
}
