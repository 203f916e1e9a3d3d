//! The head of a request: read strictly, compared with itself, and written anew for the server.

use super::authority::{Authority, AuthorityProblem};
use super::body::Framing;
use super::fields::{
    FIRST_LINE, Fields, HeadLimits, HeadProblem, check_taken, whole_head, write_field,
};

/// What a request is for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a proxy is asked in these ways")]
pub enum Target {
    /// A tunnel to a host.
    Tunnel(Authority),
    /// A path of a host.
    Resource {
        /// The host.
        authority: Authority,
        /// The path, with what follows it.
        path: String,
    },
    /// A path of the host at the other end of the tunnel.
    Path(String),
}

/// The head of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestHead {
    method: String,
    target: Target,
    minor_version: u8,
    fields: Fields,
    framing: Framing,
    length: usize,
}

/// Reads the head at the beginning of these bytes.
///
/// # Errors
/// It is none that every program reads in the same way, or asks for what is not forwarded.
pub fn read_request(bytes: &[u8], limits: HeadLimits) -> Result<Option<RequestHead>, HeadProblem> {
    let Some(head) = whole_head(bytes, limits)? else {
        return Ok(None);
    };
    let mut headers = vec![httparse::EMPTY_HEADER; limits.headers];
    let mut request = httparse::Request::new(&mut headers);
    check_taken(request.parse(head), head)?;
    let (Some(method), Some(target), Some(minor_version)) =
        (request.method, request.path, request.version)
    else {
        return Err(FIRST_LINE);
    };
    let fields = Fields::new(request.headers)?;
    if fields.want_upgrade() {
        return Err(HeadProblem::Upgrade);
    }
    if ["TRACE", "TRACK"]
        .iter()
        .any(|name| method.eq_ignore_ascii_case(name))
    {
        return Err(HeadProblem::Trace);
    }
    let framing = fields.framing(minor_version)?.unwrap_or(Framing::Empty);
    let target = read_target(method, target)?;
    if matches!(target, Target::Tunnel(_)) && framing != Framing::Empty {
        return Err(HeadProblem::Length);
    }
    let read = RequestHead {
        method: method.to_owned(),
        target,
        minor_version,
        fields,
        framing,
        length: head.len(),
    };
    read.check_host_count()?;
    Ok(Some(read))
}

fn read_target(method: &str, target: &str) -> Result<Target, HeadProblem> {
    if !target.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(HeadProblem::Malformed("the target is not plain ASCII"));
    }
    let authority = |text: &str, fallback| {
        Authority::parse(text, fallback).map_err(|problem| match problem {
            AuthorityProblem::Host(error) => HeadProblem::TargetHost(error.problem()),
            AuthorityProblem::Port => HeadProblem::TargetPort,
        })
    };
    // Methods are in capitals; what is nearly CONNECT is a mistake or a trick.
    if method.eq_ignore_ascii_case("CONNECT") {
        if method != "CONNECT" {
            return Err(HeadProblem::Malformed("CONNECT is written in capitals"));
        }
        return authority(target, None).map(Target::Tunnel);
    }
    if target.contains('#') {
        return Err(HeadProblem::Malformed("the target has a fragment"));
    }
    if target.starts_with('/') {
        return Ok(Target::Path(target.to_owned()));
    }
    let scheme = "http://";
    let rest = match target.split_at_checked(scheme.len()) {
        Some((start, rest)) if start.eq_ignore_ascii_case(scheme) => rest,
        _ => return Err(HeadProblem::TargetForm),
    };
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (host, path) = rest.split_at_checked(end).unwrap_or((rest, ""));
    Ok(Target::Resource {
        authority: authority(host, Some(80))?,
        path: if path.starts_with('/') {
            path.to_owned()
        } else {
            format!("/{path}")
        },
    })
}

impl RequestHead {
    /// What is asked for.
    #[must_use]
    pub const fn target(&self) -> &Target {
        &self.target
    }

    /// The method as written.
    #[must_use]
    pub fn method(&self) -> &str {
        &self.method
    }

    /// The `1` of HTTP/1.1.
    #[must_use]
    pub const fn minor_version(&self) -> u8 {
        self.minor_version
    }

    /// Where the body ends.
    #[must_use]
    pub const fn framing(&self) -> Framing {
        self.framing
    }

    /// How many bytes it takes.
    #[must_use]
    pub const fn length(&self) -> usize {
        self.length
    }

    /// Whether the client would go on with this connection afterwards.
    #[must_use]
    pub fn keeps_alive(&self) -> bool {
        if self.minor_version == 0 {
            self.fields.connection_says("keep-alive")
        } else {
            !self.fields.connection_says("close")
        }
    }

    /// Compares the Host header with the host that the request goes to.
    ///
    /// # Errors
    /// What the header says instead, with what does not print replaced.
    pub fn check_host(&self, authority: &Authority) -> Result<(), String> {
        for value in self.fields.all("host") {
            let is_same = str::from_utf8(value).is_ok_and(|value| authority.is_named_by(value));
            if !is_same {
                return Err(value.escape_ascii().to_string());
            }
        }
        Ok(())
    }

    fn check_host_count(&self) -> Result<(), HeadProblem> {
        match self.fields.all("host").count() {
            1 => Ok(()),
            // A proxy is told the host in the target already, and a server of HTTP/1.0 never is.
            0 if self.minor_version == 0 && !matches!(self.target, Target::Path(_)) => Ok(()),
            _ => Err(HeadProblem::HostCount),
        }
    }

    /// The head for the server: no word about this connection, one canonical Host, and these fields in place of the
    /// client's own of the same names (in lower case). The Host leaves the port out if it is the usual one.
    #[must_use]
    pub fn forwarded(
        &self,
        authority: &Authority,
        usual_port: u16,
        path: &str,
        added: &[(&str, &[u8])],
    ) -> Vec<u8> {
        let mut out =
            format!("{} {path} HTTP/1.{}\r\n", self.method, self.minor_version).into_bytes();
        let host = authority.to_string();
        let usual = format!(":{usual_port}");
        let host = host.strip_suffix(&usual).unwrap_or(&host);
        write_field(&mut out, "host", host.as_bytes());
        let mut except = vec!["host"];
        except.extend(added.iter().map(|(name, _)| *name));
        self.fields.write(&mut out, &except);
        for (name, value) in added {
            write_field(&mut out, name, value);
        }
        out.extend_from_slice(b"connection: close\r\n\r\n");
        out
    }
}

#[cfg(test)]
mod tests {
    use super::HeadProblem as P;
    use super::*;

    const LIMITS: HeadLimits = HeadLimits {
        bytes: 1024,
        headers: 10,
    };

    fn read(text: &str) -> Result<Option<RequestHead>, HeadProblem> {
        read_request(text.as_bytes(), LIMITS)
    }

    /// A GET with these lines after its Host.
    fn with(lines: &str) -> Result<Option<RequestHead>, HeadProblem> {
        read(&format!(
            "POST http://a.test/ HTTP/1.1\r\nHost: a.test\r\n{lines}\r\n"
        ))
    }

    #[test]
    fn a_request_is_rewritten() {
        let text = "GET HTTP://A.test:80/x?y HTTP/1.1\r\nHost: a.TEST\r\nProxy-Authorization: Basic x\r\n\
                    Connection: keep-alive, X-Own\r\nX-Own: 1\r\nTE: trailers\r\nAccept: */*\r\nX-Key: mine\r\n\r\nrest";
        let head = read(text).unwrap().unwrap();
        assert_eq!(head.length(), text.len() - 4);
        assert!(head.keeps_alive());
        let Target::Resource { authority, path } = head.target() else {
            panic!("{head:?}");
        };
        assert_eq!(head.check_host(authority), Ok(()));
        assert_eq!(
            String::from_utf8(head.forwarded(authority, 80, path, &[("x-key", b"theirs")]))
                .unwrap(),
            "GET /x?y HTTP/1.1\r\nhost: a.test\r\naccept: */*\r\nx-key: theirs\r\nconnection: close\r\n\r\n"
        );
    }

    #[test]
    fn bodies_keep_their_framing() {
        let length = with("Content-Length: 5\r\n").unwrap().unwrap();
        assert_eq!(length.framing(), Framing::Length(5));
        let chunked = with("transfer-encoding: Chunked\r\n").unwrap().unwrap();
        assert_eq!(chunked.framing(), Framing::Chunked);
        let authority = Authority::parse("a.test:8080", None).ok().unwrap();
        let out = String::from_utf8(chunked.forwarded(&authority, 80, "/", &[])).unwrap();
        assert!(out.contains("\r\nhost: a.test:8080\r\n"), "{out}");
        assert!(out.contains("\r\ntransfer-encoding: chunked\r\n"), "{out}");
    }

    #[test]
    fn what_could_be_read_in_two_ways_is_refused() {
        for (lines, problem) in [
            (
                "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
                P::LengthAndEncoding,
            ),
            ("Content-Length: 5\r\nContent-Length: 5\r\n", P::Length),
            ("Content-Length: 5, 5\r\n", P::Length),
            ("Content-Length: +5\r\n", P::Length),
            ("Content-Length: -1\r\n", P::Length),
            ("Content-Length: 0x5\r\n", P::Length),
            ("Content-Length: \r\n", P::Length),
            ("Content-Length: 99999999999999999999\r\n", P::Length),
            (
                "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
                P::Encoding,
            ),
            ("Transfer-Encoding: chunked, chunked\r\n", P::Encoding),
            ("Transfer-Encoding: gzip, chunked\r\n", P::Encoding),
            ("Transfer-Encoding: xchunked\r\n", P::Encoding),
            ("Transfer-Encoding: identity\r\n", P::Encoding),
            ("Transfer_Encoding: chunked\r\n", P::Lookalike),
            ("Content_Length: 5\r\n", P::Lookalike),
            (
                "Transfer-Encoding : chunked\r\n",
                P::Malformed("a header's name is malformed"),
            ),
            ("X: a\r\n b\r\n", P::Folded),
            ("X: a\r\n\tb\r\n", P::Folded),
            (" X: a\r\n", P::Folded),
            ("X: a\nY: b\r\n", P::BareLf),
            ("X: a\rY: b\r\n", P::BareCr),
            ("X: a\0\r\n", P::Nul),
            ("X: a\u{1}\r\n", P::Control),
            ("X\r\n", P::Malformed("a header's name is malformed")),
            (": x\r\n", P::Malformed("a header's name is malformed")),
            ("Host: b.test\r\n", P::HostCount),
            ("Connection: content-length\r\n", P::Connection),
            ("Connection: close, Host\r\n", P::Connection),
            ("Connection: upgrade\r\n", P::Upgrade),
            ("Upgrade: websocket\r\n", P::Upgrade),
        ] {
            assert_eq!(with(lines), Err(problem), "{lines:?}");
        }
        assert_eq!(
            read("POST http://a.test/ HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"),
            Err(P::Encoding)
        );
    }

    #[test]
    fn first_lines() {
        let first = |line: &str| read(&format!("{line}\r\nHost: a.test\r\n\r\n"));
        for (line, problem) in [
            ("GET https://a.test/ HTTP/1.1", P::TargetForm),
            ("GET ftp://a.test/ HTTP/1.1", P::TargetForm),
            ("OPTIONS * HTTP/1.1", P::TargetForm),
            ("GET a.test HTTP/1.1", P::TargetForm),
            (
                "GET http://a.test/#x HTTP/1.1",
                P::Malformed("the target has a fragment"),
            ),
            ("GET http://a.test/ HTTP/2.0", P::Version),
            (
                "GET http://a.test/",
                P::Malformed("the first line is malformed"),
            ),
            ("TRACE http://a.test/ HTTP/1.1", P::Trace),
            (
                "connect a.test:443 HTTP/1.1",
                P::Malformed("CONNECT is written in capitals"),
            ),
            ("CONNECT a.test HTTP/1.1", P::TargetPort),
            ("CONNECT a.test:443:80 HTTP/1.1", P::TargetPort),
            ("CONNECT http://a.test:443 HTTP/1.1", P::TargetPort),
        ] {
            assert_eq!(first(line), Err(problem), "{line}");
        }
        for host in [
            "127.1",
            "2130706433",
            "0x7f000001",
            "0177.0.0.1",
            "a..test",
            "u@a.test",
        ] {
            assert!(
                matches!(
                    first(&format!("GET http://{host}/ HTTP/1.1")),
                    Err(P::TargetHost(_))
                ),
                "{host}"
            );
        }
        assert_eq!(
            first("GET http://h\u{e9}.test/ HTTP/1.1"),
            Err(P::Malformed("the target is not plain ASCII"))
        );
        assert!(matches!(
            first("GET /path HTTP/1.1").unwrap().unwrap().target(),
            Target::Path(_)
        ));
        assert_eq!(
            read("\r\nGET http://a.test/ HTTP/1.1\r\n\r\n"),
            Err(P::Malformed("the head begins with an empty line"))
        );
    }

    #[test]
    fn heads_are_bounded() {
        assert_eq!(with(&"X: y\r\n".repeat(10)), Err(P::TooManyHeaders));
        assert_eq!(
            with(&format!("X: {}\r\n", "y".repeat(1000))),
            Err(P::TooLong)
        );
        assert_eq!(read(&"G".repeat(1025)), Err(P::TooLong));
        assert_eq!(read("GET http://a.test/ HTTP/1.1\r\nHo"), Ok(None));
        // Wrong already, whatever follows.
        assert_eq!(read("GET http://a.test/ HTTP/1.1\n"), Err(P::BareLf));
    }

    #[test]
    fn hosts_are_compared() {
        let head = read("GET http://a.test/ HTTP/1.1\r\nHost: b.test\r\n\r\n")
            .unwrap()
            .unwrap();
        let Target::Resource { authority, .. } = head.target() else {
            panic!("{head:?}");
        };
        assert_eq!(head.check_host(authority), Err("b.test".to_owned()));
    }

    #[test]
    fn http_1_0_may_leave_the_host_out_and_closes() {
        let head = read("GET http://a.test/ HTTP/1.0\r\n\r\n")
            .unwrap()
            .unwrap();
        assert!(!head.keeps_alive());
        assert_eq!(read("GET / HTTP/1.0\r\n\r\n"), Err(P::HostCount));
        assert_eq!(
            read("GET http://a.test/ HTTP/1.1\r\n\r\n"),
            Err(P::HostCount)
        );
    }
}
