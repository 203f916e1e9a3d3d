//! What a client begins to speak in a tunnel, judged generously: what a lenient server could take for HTTP is HTTP.

/// Longer first lines are not waited for.
const MOST_LINE: usize = 8 * 1024;

/// The first words of HTTP/2.
const PREFACE: &[u8] = b"PRI * HTTP/2";

/// What the first bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Opening {
    /// Not enough to tell.
    Wait,
    /// TLS: a ClientHello must follow.
    Tls,
    /// The format in which SSL 2 began, and TLS could.
    Ssl2,
    /// HTTP/1, or something that a server could take for it.
    Http,
    /// HTTP/2 without TLS.
    Http2,
    /// Something else, which names no host.
    Opaque,
}

/// Tells what the first bytes of a stream are.
#[must_use]
pub fn classify(bytes: &[u8]) -> Opening {
    match bytes {
        [] => Opening::Wait,
        [22, ..] => Opening::Tls,
        // Two bytes of length with the highest bit set, the message, its version.
        [0x80..=0xff, _, 1, 0 | 2 | 3, ..] => Opening::Ssl2,
        [0x80..=0xff, rest @ ..] if rest.len() < 3 && may_be_ssl2(rest) => Opening::Wait,
        _ => text(bytes),
    }
}

fn may_be_ssl2(rest: &[u8]) -> bool {
    rest.get(1).is_none_or(|&message| message == 1)
}

/// Only what comes before the end of the first line, or before what no line has, decides: not how it arrives in pieces.
fn text(bytes: &[u8]) -> Opening {
    let is_too_long = bytes.len() > MOST_LINE;
    let bytes = bytes.get(..MOST_LINE).unwrap_or(bytes);
    // Servers skip empty lines, and some skip more, in front of a request.
    let blank = |byte: &u8| matches!(byte, b'\r' | b'\n' | b' ' | b'\t');
    let start = bytes.iter().take_while(|byte| blank(byte)).count();
    let rest = bytes.get(start..).unwrap_or_default();
    if rest.is_empty() {
        return if is_too_long {
            Opening::Http
        } else {
            Opening::Wait
        };
    }
    if rest.starts_with(PREFACE) {
        return Opening::Http2;
    }
    if PREFACE.starts_with(rest) {
        return Opening::Wait;
    }
    let end = |byte: &u8| byte.is_ascii_control() && !matches!(byte, b'\r' | b'\t');
    let end = rest.iter().position(end);
    let line = end.map_or(rest, |end| rest.get(..end).unwrap_or(rest));
    if has_version(line) {
        return Opening::Http;
    }
    if end.is_none() && !is_too_long {
        return Opening::Wait;
    }
    // HTTP/0.9 has no version.
    if is_request(line) {
        Opening::Http
    } else {
        Opening::Opaque
    }
}

fn has_version(line: &[u8]) -> bool {
    let mut windows = line.windows(5);
    windows.any(|window| window.eq_ignore_ascii_case(b"http/"))
}

/// A word that begins with a letter, a blank, and what could be a target.
fn is_request(line: &[u8]) -> bool {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let count = line.iter().take_while(|byte| is_word(byte)).count();
    let after = line.get(count..).unwrap_or_default();
    let target = after.trim_ascii_start();
    let is_target = matches!(target.first(), Some(b'/' | b'*'))
        || target
            .get(..4)
            .is_some_and(|start| start.eq_ignore_ascii_case(b"http"));
    line.first().is_some_and(u8::is_ascii_alphabetic) && target.len() < after.len() && is_target
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn openings() {
        for (bytes, expected) in [
            (&b""[..], Opening::Wait),
            (b"\x16", Opening::Tls),
            (b"\x80\x2e\x01\x03\x01", Opening::Ssl2),
            (b"\x80\x2e\x01", Opening::Wait),
            (b"\x80\x2e\x07\x03", Opening::Opaque),
            (b"G", Opening::Wait),
            (b"GET / HTTP/1.1\r\n", Opening::Http),
            (b"GET / HTTP/1.1", Opening::Http),
            (b"\r\n\r\nget / http/1.1\r\n", Opening::Http),
            (b"FOO-BAR / HTTP/1.1\n", Opening::Http),
            (b"GET /\xff HTTP/1.1\r\n", Opening::Http),
            (b"GET /\x01 HTTP/1.1\r\n", Opening::Http),
            (b"FOO-BAR /\x01 HTTP/1.1\r\n", Opening::Http),
            (b"GET /\r\n", Opening::Http),
            (b"GET\t/\r\n", Opening::Http),
            (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", Opening::Http2),
            (b"PRI * HTTP/", Opening::Wait),
            (b"PRI * HTTP/1.1\r\n", Opening::Http),
            (b"SSH-2.0-OpenSSH_9.2\r\n", Opening::Opaque),
            (b"SSH-2.0-OpenS", Opening::Wait),
            (b"EHLO client.test\r\n", Opening::Opaque),
            (b"0032git-upload-pack /x\0host=a\0", Opening::Opaque),
            (b"\0\0\0\x08\x04\xd2\x16\x2f", Opening::Opaque),
            (b"*1\r\n$4\r\nPING\r\n", Opening::Opaque),
        ] {
            assert_eq!(classify(bytes), expected, "{:?}", bytes.escape_ascii());
        }
        assert_eq!(classify(&[b'a'; 9000]), Opening::Opaque);
        assert_eq!(classify(&[b'\n'; 9000]), Opening::Http);
    }
}
