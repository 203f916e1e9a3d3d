//! SOCKS5 as it is asked and answered (RFC 1928), and what older and odder clients get.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::cursor::Cursor;

const VERSION: u8 = 5;
const NO_AUTHENTICATION: u8 = 0;

/// What a client offers first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SocksGreeting {
    /// Whether it would go without authentication, which is all that is offered here.
    pub without_authentication: bool,
    /// How many bytes it takes.
    pub length: usize,
}

/// Whom a client wants to reach.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SocksRequest {
    /// The host as written: a name that is not yet checked, or an address.
    pub host: String,
    /// The port.
    pub port: u16,
    /// How many bytes it takes.
    pub length: usize,
}

/// Why SOCKS cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SocksProblem {
    /// SOCKS4 or 4a, which some clients use to resolve names themselves.
    #[error("version 4 is not spoken; use version 5 with remote names (socks5h://)")]
    Version4,
    /// Any other version.
    #[error("this is not version 5")]
    Version,
    /// The client insists on authentication.
    #[error("only clients that go without authentication are served")]
    Authentication,
    /// BIND: waiting for a connection from outside.
    #[error("BIND is not served")]
    Bind,
    /// UDP ASSOCIATE.
    #[error("UDP is not served")]
    Udp,
    /// Any other command.
    #[error("the command is not known")]
    Command,
    /// Neither IPv4, IPv6 nor a name.
    #[error("the kind of address is not known")]
    AddressKind,
    /// A reserved byte that is not zero.
    #[error("a reserved byte is not zero")]
    Reserved,
    /// A name that is not text.
    #[error("the name is not ASCII")]
    NotAscii,
}

impl SocksProblem {
    /// The answer that tells a client of version 5.
    #[must_use]
    pub const fn reply(self) -> SocksReply {
        match self {
            Self::Bind | Self::Udp | Self::Command => SocksReply::CommandNotSupported,
            Self::AddressKind => SocksReply::AddressNotSupported,
            _ => SocksReply::Failure,
        }
    }
}

/// What a client of version 5 is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SocksReply {
    /// Connected.
    Connected,
    /// Something else.
    Failure,
    /// The policy says no.
    NotAllowed,
    /// No way there, no such name, or no answer.
    Unreachable,
    /// The server does not accept connections.
    ConnectionRefused,
    /// BIND, UDP and the like.
    CommandNotSupported,
    /// Neither IPv4, IPv6 nor a name.
    AddressNotSupported,
}

impl SocksReply {
    /// The answer on the wire. Which local address is used is nobody's business.
    #[must_use]
    pub const fn bytes(self) -> [u8; 10] {
        let code = match self {
            Self::Connected => 0,
            Self::Failure => 1,
            Self::NotAllowed => 2,
            Self::Unreachable => 4,
            Self::ConnectionRefused => 5,
            Self::CommandNotSupported => 7,
            Self::AddressNotSupported => 8,
        };
        [VERSION, code, 0, 1, 0, 0, 0, 0, 0, 0]
    }
}

/// Reads what a client offers.
///
/// # Errors
/// It is not SOCKS5.
pub fn read_greeting(bytes: &[u8]) -> Result<Option<SocksGreeting>, SocksProblem> {
    let mut fields = Cursor::new(bytes);
    match fields.u8() {
        None => return Ok(None),
        Some(VERSION) => {}
        Some(4) => return Err(SocksProblem::Version4),
        Some(_) => return Err(SocksProblem::Version),
    }
    Ok(fields.vector8().map(|methods| SocksGreeting {
        without_authentication: methods.contains(&NO_AUTHENTICATION),
        length: bytes.len() - fields.left(),
    }))
}

/// Reads whom a client wants to reach.
///
/// # Errors
/// It wants something else, or says it in a way that is not understood.
pub fn read_socks_request(bytes: &[u8]) -> Result<Option<SocksRequest>, SocksProblem> {
    let mut fields = Cursor::new(bytes);
    let Some([version, command, reserved, kind]) = fields.array() else {
        return Ok(None);
    };
    match (version, command, reserved) {
        (VERSION, 1, 0) => {}
        (VERSION, 2, _) => return Err(SocksProblem::Bind),
        (VERSION, 3, _) => return Err(SocksProblem::Udp),
        (VERSION, 1, _) => return Err(SocksProblem::Reserved),
        (VERSION, ..) => return Err(SocksProblem::Command),
        _ => return Err(SocksProblem::Version),
    }
    let host = match kind {
        1 => fields
            .array::<4>()
            .map(|octets| IpAddr::from(Ipv4Addr::from(octets)).to_string()),
        4 => fields
            .array::<16>()
            .map(|octets| IpAddr::from(Ipv6Addr::from(octets)).to_string()),
        3 => match fields.vector8() {
            Some(name) => match str::from_utf8(name) {
                Ok(name) if name.is_ascii() => Some(name.to_owned()),
                _ => return Err(SocksProblem::NotAscii),
            },
            None => None,
        },
        _ => return Err(SocksProblem::AddressKind),
    };
    let (Some(host), Some(port)) = (host, fields.u16()) else {
        return Ok(None);
    };
    Ok(Some(SocksRequest {
        host,
        port,
        length: bytes.len() - fields.left(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(bytes: &[u8]) -> Result<Option<(String, u16)>, SocksProblem> {
        read_socks_request(bytes).map(|request| request.map(|it| (it.host, it.port)))
    }

    #[test]
    fn greetings() {
        let greeting = read_greeting(&[5, 2, 2, 0, 99]).unwrap().unwrap();
        assert!(greeting.without_authentication);
        assert_eq!(greeting.length, 4);
        let greeting = read_greeting(&[5, 1, 2]).unwrap().unwrap();
        assert!(!greeting.without_authentication);
        assert_eq!(read_greeting(&[5, 2, 0]), Ok(None));
        assert_eq!(read_greeting(&[]), Ok(None));
        assert_eq!(read_greeting(&[4, 1]), Err(SocksProblem::Version4));
        assert_eq!(read_greeting(&[6]), Err(SocksProblem::Version));
    }

    #[test]
    fn requests() {
        let name = b"\x05\x01\x00\x03\x06a.test\x01\xbb";
        assert_eq!(request(name), Ok(Some(("a.test".to_owned(), 443))));
        for end in 0..name.len() {
            assert_eq!(request(&name[..end]), Ok(None), "{end}");
        }
        assert_eq!(
            request(&[5, 1, 0, 1, 127, 0, 0, 1, 0, 80]),
            Ok(Some(("127.0.0.1".to_owned(), 80)))
        );
        let mut v6 = vec![5, 1, 0, 4];
        v6.extend("::ffff:10.0.0.1".parse::<Ipv6Addr>().unwrap().octets());
        v6.extend([0, 80]);
        assert_eq!(request(&v6), Ok(Some(("::ffff:10.0.0.1".to_owned(), 80))));
        // A NUL is text: the policy's own check of names refuses it.
        assert_eq!(
            request(b"\x05\x01\x00\x03\x03a\0b\x00\x50"),
            Ok(Some(("a\0b".to_owned(), 80)))
        );
        assert_eq!(
            request(b"\x05\x01\x00\x03\x02\xc3\xa9\x00\x50"),
            Err(SocksProblem::NotAscii)
        );
        for (start, problem) in [
            ([5, 2, 0, 1], SocksProblem::Bind),
            ([5, 3, 0, 1], SocksProblem::Udp),
            ([5, 9, 0, 1], SocksProblem::Command),
            ([5, 1, 1, 1], SocksProblem::Reserved),
            ([5, 1, 0, 2], SocksProblem::AddressKind),
            ([4, 1, 0, 1], SocksProblem::Version),
        ] {
            assert_eq!(request(&start), Err(problem));
        }
    }
}
