//! What requests and answers have in common: lines, fields, and how the body is framed.

use palisade_policy::HostProblem;

use super::body::Framing;

/// How large a head may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a head has no other dimensions")]
pub struct HeadLimits {
    /// In bytes.
    pub bytes: usize,
    /// In headers.
    pub headers: usize,
}

/// Why a head is not forwarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HeadProblem {
    /// Too many bytes.
    #[error("the head is too long")]
    TooLong,
    /// Too many headers.
    #[error("there are too many headers")]
    TooManyHeaders,
    /// A NUL.
    #[error("the head contains a NUL")]
    Nul,
    /// CR without LF.
    #[error("a CR stands without its LF")]
    BareCr,
    /// LF without CR.
    #[error("an LF stands without its CR")]
    BareLf,
    /// Another control character.
    #[error("the head contains a control character")]
    Control,
    /// A header over several lines.
    #[error("a header is folded over several lines")]
    Folded,
    /// The grammar of HTTP/1 is not kept.
    #[error("{0}")]
    Malformed(&'static str),
    /// Neither HTTP/1.0 nor HTTP/1.1.
    #[error("the version is neither HTTP/1.0 nor HTTP/1.1")]
    Version,
    /// The host in the target is none.
    #[error("the target's host: {0}")]
    TargetHost(HostProblem),
    /// The port in the target is none, or missing where it is needed.
    #[error("the target's port is missing or no port")]
    TargetPort,
    /// Not what a proxy is asked.
    #[error("a proxy is asked for an http:// address, or with CONNECT for host:port")]
    TargetForm,
    /// Not what a server is asked.
    #[error("in a tunnel a server is asked for a path")]
    TunnelForm,
    /// No Host, or several.
    #[error("there is not exactly one Host header")]
    HostCount,
    /// A length that is no number, or several lengths.
    #[error("there is not one plain Content-Length")]
    Length,
    /// An encoding that is not exactly `chunked`.
    #[error("Transfer-Encoding is not exactly `chunked`")]
    Encoding,
    /// A length and an encoding.
    #[error("both Content-Length and Transfer-Encoding are there")]
    LengthAndEncoding,
    /// A header that some read as another one.
    #[error("a header's name could be read as another one's")]
    Lookalike,
    /// Connection names a header that must stay.
    #[error("Connection names a header that is not its to name")]
    Connection,
    /// The client wants to switch to another protocol.
    #[error("upgrades are not forwarded; use TLS or a tunnel")]
    Upgrade,
    /// A method that reads back what was sent.
    #[error("the method reads back what the proxy sent")]
    Trace,
    /// A server's answer that was not asked for.
    #[error("an answer that cannot be forwarded")]
    Unexpected,
}

/// The first line is neither a request's nor an answer's.
pub(super) const FIRST_LINE: HeadProblem = HeadProblem::Malformed("the first line is malformed");

/// Names and values, in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fields(Vec<(String, Vec<u8>)>);

/// What is about one connection and never about the next, whoever says so.
const HOP_BY_HOP: &[&str] = &[
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// What Connection must not take away.
const ESSENTIAL: &[&str] = &[
    "authorization",
    "content-length",
    "cookie",
    "host",
    "transfer-encoding",
];

impl Fields {
    /// What the parser found, if it is nothing that another program would find something else in.
    pub(super) fn new(headers: &[httparse::Header<'_>]) -> Result<Self, HeadProblem> {
        let mut fields = Vec::with_capacity(headers.len());
        for header in headers {
            let name = header.name.to_ascii_lowercase();
            if is_lookalike(&name) {
                return Err(HeadProblem::Lookalike);
            }
            fields.push((name, header.value.to_vec()));
        }
        let fields = Self(fields);
        fields.check_connection()?;
        Ok(fields)
    }

    /// Every value under this name, which is in lower case.
    pub(super) fn all(&self, name: &str) -> impl Iterator<Item = &[u8]> {
        let named = self.0.iter().filter(move |(other, _)| other == name);
        named.map(|(_, value)| value.as_slice())
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.all(name).next().is_some()
    }

    /// The words of a list, in lower case.
    fn words(&self, name: &str) -> Vec<String> {
        let lists = self.all(name).map(String::from_utf8_lossy);
        lists
            .flat_map(|list| {
                list.split(',')
                    .map(|word| word.trim().to_ascii_lowercase())
                    .collect::<Vec<_>>()
            })
            .filter(|word| !word.is_empty())
            .collect()
    }

    /// Whether Connection (or the older Proxy-Connection) has this word.
    pub(super) fn connection_says(&self, word: &str) -> bool {
        let mut words = self.words("connection");
        words.extend(self.words("proxy-connection"));
        words.iter().any(|other| other == word)
    }

    /// Whether they lead to another protocol.
    pub(super) fn want_upgrade(&self) -> bool {
        let words = self.words("connection");
        self.has("upgrade") || words.iter().any(|word| word == "upgrade")
    }

    /// Whether Connection takes away nothing that matters.
    fn check_connection(&self) -> Result<(), HeadProblem> {
        let words = self.words("connection");
        if words.iter().any(|word| ESSENTIAL.contains(&word.as_str())) {
            return Err(HeadProblem::Connection);
        }
        Ok(())
    }

    /// How the body is framed, as far as the fields say; nothing if they say nothing.
    pub(super) fn framing(&self, minor_version: u8) -> Result<Option<Framing>, HeadProblem> {
        let mut lengths = self.all("content-length");
        let mut encodings = self.all("transfer-encoding");
        match (lengths.next(), encodings.next()) {
            (Some(_), Some(_)) => Err(HeadProblem::LengthAndEncoding),
            (None, None) => Ok(None),
            (Some(length), None) if lengths.next().is_none() => Ok(Some(Framing::Length(
                number(length).ok_or(HeadProblem::Length)?,
            ))),
            (Some(_), None) => Err(HeadProblem::Length),
            (None, Some(encoding)) => {
                let is_chunked = encoding.eq_ignore_ascii_case(b"chunked");
                // HTTP/1.0 has no encodings: some ignore the header there, and some do not.
                if is_chunked && encodings.next().is_none() && minor_version == 1 {
                    Ok(Some(Framing::Chunked))
                } else {
                    Err(HeadProblem::Encoding)
                }
            }
        }
    }

    /// Writes what goes on to the next one; not `except`, not what is about this connection.
    pub(super) fn write(&self, out: &mut Vec<u8>, except: &[&str]) {
        let named = self.words("connection");
        for (name, value) in &self.0 {
            let stays = !HOP_BY_HOP.contains(&name.as_str())
                && !except.contains(&name.as_str())
                && !named.contains(name);
            if stays {
                write_field(out, name, value);
            }
        }
        if self.has("transfer-encoding") {
            write_field(out, "transfer-encoding", b"chunked");
        }
    }
}

pub(super) fn write_field(out: &mut Vec<u8>, name: &str, value: &[u8]) {
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b": ");
    out.extend_from_slice(value);
    out.extend_from_slice(b"\r\n");
}

/// Names that CGI and its heirs cannot tell from those that frame a body or name a host.
fn is_lookalike(name: &str) -> bool {
    let framing = ["content-length", "transfer-encoding", "host"];
    name.contains('_') && framing.contains(&name.replace('_', "-").as_str())
}

/// Digits alone; 18 of them fit into 64 bits.
fn number(value: &[u8]) -> Option<u64> {
    let text = str::from_utf8(value).ok()?;
    let is_plain = (1..=18).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_plain)
}

/// The head at the beginning of these bytes, with the empty line that ends it; nothing if it has not ended yet.
pub(super) fn whole_head(bytes: &[u8], limits: HeadLimits) -> Result<Option<&[u8]>, HeadProblem> {
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n");
    let head = end.map_or(bytes, |end| bytes.get(..end + 4).unwrap_or(bytes));
    if head.len() > limits.bytes {
        return Err(HeadProblem::TooLong);
    }
    check_lines(head)?;
    Ok(end.map(|_| head))
}

/// What the parser would let pass, or repair.
fn check_lines(head: &[u8]) -> Result<(), HeadProblem> {
    let mut before = None;
    for (at, &byte) in head.iter().enumerate() {
        match (before, byte) {
            (_, 0) => return Err(HeadProblem::Nul),
            (Some(b'\r'), b'\n') if at == 1 => {
                return Err(HeadProblem::Malformed("the head begins with an empty line"));
            }
            (Some(b'\r'), b'\n') => {}
            (Some(b'\r'), _) => return Err(HeadProblem::BareCr),
            (_, b'\n') => return Err(HeadProblem::BareLf),
            (Some(b'\n'), b' ' | b'\t') => return Err(HeadProblem::Folded),
            (_, b'\t' | b'\r') => {}
            _ if byte.is_ascii_control() => return Err(HeadProblem::Control),
            _ => {}
        }
        before = Some(byte);
    }
    Ok(())
}

/// Whether the parser took all of the head.
pub(super) fn check_taken(parsed: httparse::Result<usize>, head: &[u8]) -> Result<(), HeadProblem> {
    match parsed {
        Ok(httparse::Status::Complete(length)) if length == head.len() => Ok(()),
        Ok(_) => Err(HeadProblem::Malformed("the head ends elsewhere")),
        Err(error) => Err(grammar(error)),
    }
}

/// What the parser says.
fn grammar(error: httparse::Error) -> HeadProblem {
    match error {
        httparse::Error::TooManyHeaders => HeadProblem::TooManyHeaders,
        httparse::Error::Version => HeadProblem::Version,
        httparse::Error::HeaderName => HeadProblem::Malformed("a header's name is malformed"),
        httparse::Error::HeaderValue => HeadProblem::Malformed("a header's value is malformed"),
        httparse::Error::Token => FIRST_LINE,
        httparse::Error::Status => HeadProblem::Malformed("the status is malformed"),
        httparse::Error::NewLine => HeadProblem::Malformed("a line is malformed"),
    }
}
