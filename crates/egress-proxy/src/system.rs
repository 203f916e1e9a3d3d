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
        Box::pin(addresses(host.to_string()))
    }
}

#[cfg(not(all(target_env = "gnu", target_feature = "crt-static")))]
async fn addresses(name: String) -> io::Result<Vec<IpAddr>> {
    // The port is not used: it only completes the address.
    let found = tokio::net::lookup_host((name, 0)).await?;
    Ok(found.map(|address| address.ip()).collect())
}

/// A program with a C library of its own cannot load the system's modules for names: they belong to another C library. The
/// system's own program can.
#[cfg(all(target_env = "gnu", target_feature = "crt-static"))]
async fn addresses(name: String) -> io::Result<Vec<IpAddr>> {
    let asked = tokio::task::spawn_blocking(move || getent::addresses(&name));
    asked.await.map_err(io::Error::other)?
}

#[cfg(any(
    all(test, target_os = "linux"),
    all(target_env = "gnu", target_feature = "crt-static")
))]
mod getent {
    use std::io;
    use std::net::IpAddr;
    use std::process::{Command, Stdio};

    const PROGRAM: &str = "/usr/bin/getent";
    /// What it exits with if there is no such name.
    const NOT_FOUND: i32 = 2;

    pub(super) fn addresses(name: &str) -> io::Result<Vec<IpAddr>> {
        let answer = Command::new(PROGRAM)
            .args(["ahosts", "--", name])
            .env_clear()
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output()
            .map_err(|error| io::Error::new(error.kind(), format!("{PROGRAM}: {error}")))?;
        match answer.status.code() {
            Some(0) => Ok(listed(&String::from_utf8_lossy(&answer.stdout))),
            Some(NOT_FOUND) => Err(io::Error::new(
                io::ErrorKind::NotFound,
                "there is no such name",
            )),
            _ => Err(io::Error::other(format!("{PROGRAM}: {}", answer.status))),
        }
    }

    /// The addresses at the beginnings of the lines; each stands there once for every kind of socket.
    pub(super) fn listed(answer: &str) -> Vec<IpAddr> {
        let mut found = Vec::new();
        for line in answer.lines() {
            let first = line.split_ascii_whitespace().next();
            let address = first.and_then(|first| first.parse().ok());
            found.extend(address.filter(|address| !found.contains(address)));
        }
        found
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

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::net::IpAddr;

    use super::getent;

    #[test]
    fn every_address_of_an_answer_counts_once() {
        let answer =
            "127.0.0.1       STREAM localhost\n127.0.0.1       DGRAM  \n::1  STREAM\nnonsense\n";
        let expected = ["127.0.0.1", "::1"].map(|address| address.parse::<IpAddr>().unwrap());
        assert_eq!(getent::listed(answer), expected);
    }

    /// Names that every system knows without asking anybody.
    #[test]
    fn the_system_s_own_program_is_asked() {
        let found = getent::addresses("localhost").unwrap();
        assert!(found.iter().all(IpAddr::is_loopback), "{found:?}");
        assert!(!found.is_empty());
        assert_eq!(getent::addresses("127.0.0.1").unwrap().len(), 1);
    }
}
