//! `host:port`, as it stands in a request's target or in its Host header.

use std::fmt;
use std::net::IpAddr;

use palisade_policy::{HostError, HostName};

/// A host and a port.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_structs, reason = "that is all there is to it")]
pub struct Authority {
    /// The host.
    pub host: HostName,
    /// The port.
    pub port: u16,
}

/// Why a text is no authority.
pub(super) enum AuthorityProblem {
    /// The host is wrong.
    Host(HostError),
    /// The port is missing or no port.
    Port,
}

impl Authority {
    /// Reads `host:port`, with brackets around IPv6, and without a port if there is one to fall back to.
    pub(super) fn parse(text: &str, fallback: Option<u16>) -> Result<Self, AuthorityProblem> {
        let (host, port) = split(text).ok_or(AuthorityProblem::Port)?;
        let host = HostName::parse(host).map_err(AuthorityProblem::Host)?;
        let port = match port {
            Some(port) => number(port),
            None => fallback,
        };
        let port = port.ok_or(AuthorityProblem::Port)?;
        Ok(Self { host, port })
    }

    /// Whether the value of a Host header means this authority. It may leave the port out.
    pub(super) fn is_named_by(&self, header: &str) -> bool {
        Self::parse(header, Some(self.port)).is_ok_and(|named| named == *self)
    }
}

/// The host without its port. Colons without brackets are for IPv6 only, and two programs could split it in two ways.
fn split(text: &str) -> Option<(&str, Option<&str>)> {
    if text.starts_with('[') {
        let end = text.find(']')? + 1;
        let (host, rest) = text.split_at_checked(end)?;
        return match rest.strip_prefix(':') {
            Some(port) => Some((host, Some(port))),
            None => rest.is_empty().then_some((host, None)),
        };
    }
    match text.split_once(':') {
        Some((_, port)) if port.contains(':') => None,
        Some((host, port)) => Some((host, Some(port))),
        None => Some((text, None)),
    }
}

/// Digits as everybody writes them.
fn number(text: &str) -> Option<u16> {
    let is_plain = !text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_plain)
}

impl fmt::Display for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.host.address() {
            Some(IpAddr::V6(address)) => write!(f, "[{address}]:{}", self.port),
            _ => write!(f, "{}:{}", self.host, self.port),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, fallback: Option<u16>) -> Option<String> {
        let authority = Authority::parse(text, fallback).ok()?;
        Some(authority.to_string())
    }

    #[test]
    fn authorities() {
        for (text, fallback, expected) in [
            ("Example.COM.:443", None, Some("example.com:443")),
            ("example.com", Some(80), Some("example.com:80")),
            ("example.com", None, None),
            ("[::1]:80", None, Some("[::1]:80")),
            ("[::ffff:10.0.0.1]", Some(80), Some("10.0.0.1:80")),
            ("::1:80", Some(80), None),
            ("[::1]x", Some(80), None),
            ("[::1%eth0]:80", None, None),
            ("a.test:", Some(80), None),
            ("a.test:0", None, None),
            ("a.test:080", None, None),
            ("a.test:+80", None, None),
            ("a.test:65536", None, None),
            ("a.test: 80", None, None),
            ("user@a.test:80", None, None),
            ("user:word@a.test:80", None, None),
            ("2130706433:80", None, None),
            ("0x7f.1:80", None, None),
            ("0177.0.0.1:80", None, None),
            ("", Some(80), None),
        ] {
            assert_eq!(read(text, fallback).as_deref(), expected, "{text:?}");
        }
    }

    #[test]
    fn a_host_header_may_leave_the_port_out() {
        let authority = Authority::parse("a.test:8080", None).ok().unwrap();
        assert!(authority.is_named_by("A.test"));
        assert!(authority.is_named_by("a.test.:8080"));
        assert!(!authority.is_named_by("a.test:80"));
        assert!(!authority.is_named_by("b.test:8080"));
        assert!(!authority.is_named_by("a.test, b.test"));
    }
}
