//! What the proxy asks of whoever starts it: names, connections, approval, and somebody who is told.

use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::pin::Pin;

use palisade_policy::HostName;
use serde::Serialize;

use crate::lease::Lease;
use crate::record::ConnectionRecord;

/// Something that is waited for.
pub type Later<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Finds the addresses of a name.
pub trait Resolver: Send + Sync {
    /// The addresses, the preferred one first. Called once for each connection to a name, and never for a host that may
    /// not be reached.
    fn resolve<'a>(&'a self, host: &'a HostName) -> Later<'a, io::Result<Vec<IpAddr>>>;
}

/// Opens connections.
pub trait Connector: Send + Sync {
    /// A connection to exactly this address.
    fn connect(&self, address: SocketAddr) -> Later<'_, io::Result<TcpStream>>;
}

/// Asks about a host that the policy does not list.
pub trait Approver: Send + Sync {
    /// The answer, whenever there is one; the proxy stops waiting in time. One question at a time for one host and port.
    fn ask<'a>(&'a self, host: &'a HostName, port: u16) -> Later<'a, Answer>;
}

/// Is told about each connection.
pub trait Observer: Send + Sync {
    /// A connection has ended. Called on the proxy's own thread, which waits.
    fn ended(&self, record: &ConnectionRecord);
}

impl<F: Fn(&ConnectionRecord) + Send + Sync> Observer for F {
    fn ended(&self, record: &ConnectionRecord) {
        self(record);
    }
}

/// What somebody says about a host.
#[derive(Clone, Debug)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a new outcome must break the builds of those who judge by it"
)]
pub enum Answer {
    /// Go ahead.
    Granted(Approval),
    /// Go ahead for now. The connections that waited for it end with the lease, and others ask again.
    Leased(Approval, Lease),
    /// No, and not later in this session either.
    Denied,
    /// Nobody may be asked about it now: it is not listed, and that is all.
    NotAsked,
}

/// For how long somebody agreed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[expect(
    clippy::exhaustive_enums,
    reason = "a new outcome must break the builds of those who judge by it"
)]
pub enum Approval {
    /// For the connections that wait for the answer.
    Once,
    /// Until the proxy ends.
    Session,
    /// Beyond. The proxy remembers it until it ends; keeping it is for whoever answered.
    Project,
}
