//! The system's own resolver and connections.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream};

use palisade_policy::HostName;

use crate::hooks::{Connector, Later, Resolver};

/// Asks the system, as every other program does.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct SystemResolver;

impl Resolver for SystemResolver {
    fn resolve<'a>(&'a self, host: &'a HostName) -> Later<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(async move {
            // The port is not used: it only completes the address.
            let found = tokio::net::lookup_host((host.to_string(), 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }
}

/// Connects as every other program does.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct SystemConnector;

impl Connector for SystemConnector {
    fn connect(&self, address: SocketAddr) -> Later<'_, io::Result<TcpStream>> {
        Box::pin(async move { tokio::net::TcpStream::connect(address).await?.into_std() })
    }
}
