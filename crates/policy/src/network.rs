//! Hosts, and the allowlist entries that match them.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use serde::{Deserialize, Serialize};

use crate::error::{HostError, HostProblem};

/// The port of an entry that names none.
const HTTPS: u16 = 443;

/// A host that somebody wants to reach: a name in lower case without a trailing dot, or an address.
///
/// ```
/// use palisade_policy::HostName;
///
/// assert_eq!(HostName::parse("Docs.Example.COM.")?, HostName::parse("docs.example.com")?);
/// assert!(HostName::parse("evil.com\0.example.com").is_err());
/// assert!(HostName::parse("127.1").is_err(), "some resolvers take it for an address");
/// # Ok::<(), palisade_policy::HostError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct HostName(Name);

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Name {
    Dns(String),
    Address(IpAddr),
}

impl HostName {
    /// Reads a name or an address (IPv6 with or without brackets).
    ///
    /// # Errors
    /// The text is not a host, or one that two programs could read in two ways.
    pub fn parse(text: &str) -> Result<Self, HostError> {
        let fail = |problem| Err(HostError::new(text, problem));
        if text.is_empty() {
            return fail(HostProblem::Empty);
        }
        if text.contains('\0') {
            return fail(HostProblem::Nul);
        }
        if !text.is_ascii() {
            return fail(HostProblem::NotAscii);
        }
        if let Some(address) = parse_address(text) {
            return Ok(Self::from(address));
        }
        let name = text.strip_suffix('.').unwrap_or(text);
        match dns_problem(name) {
            Some(problem) => fail(problem),
            None => Ok(Self(Name::Dns(name.to_ascii_lowercase()))),
        }
    }

    /// The address, if the host is one.
    #[must_use]
    pub const fn address(&self) -> Option<IpAddr> {
        match &self.0 {
            Name::Dns(_) => None,
            Name::Address(address) => Some(*address),
        }
    }

    /// Whether the host is the machine (or the network namespace) that asks.
    ///
    /// `localhost` and names below it are loopback by definition (RFC 6761). The unspecified address counts too,
    /// because connecting to it reaches loopback.
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        match &self.0 {
            Name::Dns(name) => name == "localhost" || name.ends_with(".localhost"),
            Name::Address(address) => address.is_loopback() || address.is_unspecified(),
        }
    }
}

impl From<IpAddr> for HostName {
    /// An IPv4 address in IPv6 clothes is the IPv4 address.
    fn from(address: IpAddr) -> Self {
        Self(Name::Address(address.to_canonical()))
    }
}

impl fmt::Display for HostName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Name::Dns(name) => f.write_str(name),
            Name::Address(address) => address.fmt(f),
        }
    }
}

impl TryFrom<String> for HostName {
    type Error = HostError;

    fn try_from(text: String) -> Result<Self, HostError> {
        Self::parse(&text)
    }
}

impl From<HostName> for String {
    fn from(host: HostName) -> Self {
        host.to_string()
    }
}

/// The hosts that an allowlist entry stands for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct HostPattern {
    host: HostName,
    subdomains: bool,
}

impl HostPattern {
    /// Reads `example.com`, an address, or `*.example.com`, which covers the subdomains and not the domain itself.
    ///
    /// # Errors
    /// The text is neither. A lone `*` is refused too: the whole network is not a list of hosts.
    pub fn parse(text: &str) -> Result<Self, HostError> {
        let problem = |problem| HostError::new(text, problem);
        let Some(domain) = text.strip_prefix("*.") else {
            if text.contains('*') {
                return Err(problem(HostProblem::BadWildcard));
            }
            return HostName::parse(text).map(|host| Self {
                host,
                subdomains: false,
            });
        };
        let host = HostName::parse(domain).map_err(|error| problem(error.problem()))?;
        if host.address().is_some() {
            return Err(problem(HostProblem::BadWildcard));
        }
        Ok(Self {
            host,
            subdomains: true,
        })
    }

    /// Whether the pattern stands for this host.
    #[must_use]
    pub fn matches(&self, host: &HostName) -> bool {
        if !self.subdomains {
            return self.host == *host;
        }
        match (&self.host.0, &host.0) {
            (Name::Dns(domain), Name::Dns(name)) => name
                .strip_suffix(domain.as_str())
                .is_some_and(|labels| labels.len() > 1 && labels.ends_with('.')),
            _ => false,
        }
    }
}

impl From<HostName> for HostPattern {
    fn from(host: HostName) -> Self {
        Self {
            host,
            subdomains: false,
        }
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.subdomains {
            f.write_str("*.")?;
        }
        self.host.fmt(f)
    }
}

impl TryFrom<String> for HostPattern {
    type Error = HostError;

    fn try_from(text: String) -> Result<Self, HostError> {
        Self::parse(&text)
    }
}

impl From<HostPattern> for String {
    fn from(pattern: HostPattern) -> Self {
        pattern.to_string()
    }
}

/// A transport.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Protocol {
    /// TCP.
    #[default]
    Tcp,
    /// UDP.
    Udp,
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tcp => "tcp",
            Self::Udp => "udp",
        })
    }
}

/// One host and port that a policy opens.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "RawEntry")]
#[non_exhaustive]
pub struct NetworkAllowlistEntry {
    /// The host, or the subdomains of one.
    pub domain: HostPattern,
    /// The port; 443 unless said otherwise.
    pub port: u16,
    /// The transport; TCP unless said otherwise.
    pub protocol: Protocol,
}

impl NetworkAllowlistEntry {
    /// Port 443 of a host.
    ///
    /// # Errors
    /// The text is not a [`HostPattern`].
    pub fn https(domain: &str) -> Result<Self, HostError> {
        Self::with_port(domain, HTTPS)
    }

    /// A TCP port of a host.
    ///
    /// # Errors
    /// The text is not a [`HostPattern`], or the port is 0.
    pub fn with_port(domain: &str, port: u16) -> Result<Self, HostError> {
        Self::new(HostPattern::parse(domain)?, port, Protocol::Tcp)
    }

    /// A port of a host.
    ///
    /// # Errors
    /// The port is 0.
    pub fn new(domain: HostPattern, port: u16, protocol: Protocol) -> Result<Self, HostError> {
        if port == 0 {
            return Err(HostError::new(&domain.to_string(), HostProblem::PortZero));
        }
        Ok(Self {
            domain,
            port,
            protocol,
        })
    }

    /// Whether the entry opens this host and port.
    #[must_use]
    pub fn matches(&self, host: &HostName, port: u16, protocol: Protocol) -> bool {
        self.port == port && self.protocol == protocol && self.domain.matches(host)
    }
}

impl fmt::Display for NetworkAllowlistEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.domain.host.address() {
            Some(IpAddr::V6(address)) => write!(f, "[{address}]:{}", self.port)?,
            _ => write!(f, "{}:{}", self.domain, self.port)?,
        }
        match self.protocol {
            Protocol::Tcp => Ok(()),
            Protocol::Udp => f.write_str("/udp"),
        }
    }
}

/// An entry as it is written, before it is checked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawEntry {
    domain: String,
    #[serde(default = "https_port")]
    port: u16,
    #[serde(default)]
    protocol: Protocol,
}

const fn https_port() -> u16 {
    HTTPS
}

impl TryFrom<RawEntry> for NetworkAllowlistEntry {
    type Error = HostError;

    fn try_from(raw: RawEntry) -> Result<Self, HostError> {
        Self::new(HostPattern::parse(&raw.domain)?, raw.port, raw.protocol)
    }
}

fn parse_address(text: &str) -> Option<IpAddr> {
    let v6 = text
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
        .unwrap_or(text);
    let v4 = text.strip_suffix('.').unwrap_or(text);
    v4.parse::<Ipv4Addr>()
        .map(IpAddr::V4)
        .or_else(|_| v6.parse::<Ipv6Addr>().map(IpAddr::V6))
        .ok()
}

/// What keeps an ASCII text from being a host name.
fn dns_problem(name: &str) -> Option<HostProblem> {
    if name.is_empty() {
        return Some(HostProblem::Empty);
    }
    if name.len() > 253 || name.split('.').any(|label| label.len() > 63) {
        return Some(HostProblem::TooLong);
    }
    if name.split('.').any(str::is_empty) {
        return Some(HostProblem::EmptyLabel);
    }
    // Underscores occur in real names; a hyphen at the edge of a label could be read as an option.
    let good = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    let edge = |label: &str| label.starts_with('-') || label.ends_with('-');
    if name
        .split('.')
        .any(|label| edge(label) || !label.bytes().all(good))
    {
        return Some(HostProblem::BadCharacter);
    }
    // `127.1`, `0x7f.1` and `2130706433` are addresses to inet_aton and names to others.
    let last = name.rsplit('.').next().unwrap_or(name);
    let hex = last.strip_prefix("0x").or_else(|| last.strip_prefix("0X"));
    let number = last.bytes().all(|byte| byte.is_ascii_digit())
        || hex.is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
    number.then_some(HostProblem::Numeric)
}
