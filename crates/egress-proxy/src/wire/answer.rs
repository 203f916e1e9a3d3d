//! The head of a server's answer, which is as strict: what a client would read in two ways is not passed on.

use super::body::Framing;
use super::fields::{FIRST_LINE, Fields, HeadLimits, HeadProblem, check_taken, whole_head};

/// The head of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResponseHead {
    status: u16,
    reason: String,
    minor_version: u8,
    fields: Fields,
    framing: Framing,
    length: usize,
}

/// Reads the head of an answer to a request with this method.
///
/// # Errors
/// It is none that every client reads in the same way, or switches to another protocol.
pub fn read_response(
    bytes: &[u8],
    limits: HeadLimits,
    method: &str,
) -> Result<Option<ResponseHead>, HeadProblem> {
    let Some(head) = whole_head(bytes, limits)? else {
        return Ok(None);
    };
    let mut headers = vec![httparse::EMPTY_HEADER; limits.headers];
    let mut response = httparse::Response::new(&mut headers);
    check_taken(response.parse(head), head)?;
    let (Some(status), Some(minor_version)) = (response.code, response.version) else {
        return Err(FIRST_LINE);
    };
    if status == 101 || !(100..=599).contains(&status) {
        return Err(HeadProblem::Unexpected);
    }
    let fields = Fields::new(response.headers)?;
    let said = fields.framing(minor_version)?;
    let framing = match (status, said) {
        // Some would wait for what it announces.
        (100..=199 | 204, Some(Framing::Chunked | Framing::Length(1..))) => {
            return Err(HeadProblem::Unexpected);
        }
        (100..=199 | 204 | 304, _) => Framing::Empty,
        _ if method.eq_ignore_ascii_case("HEAD") => Framing::Empty,
        (_, Some(framing)) => framing,
        (_, None) => Framing::UntilClose,
    };
    Ok(Some(ResponseHead {
        status,
        reason: response.reason.unwrap_or_default().to_owned(),
        minor_version,
        fields,
        framing,
        length: head.len(),
    }))
}

impl ResponseHead {
    /// The status.
    #[must_use]
    pub const fn status(&self) -> u16 {
        self.status
    }

    /// Whether the final answer is still to come.
    #[must_use]
    pub const fn is_interim(&self) -> bool {
        self.status < 200
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

    /// The head for the client: no word about the connection to the server, and one about this one.
    #[must_use]
    pub fn forwarded(&self, keep_alive: bool) -> Vec<u8> {
        let mut out = format!(
            "HTTP/1.{} {} {}\r\n",
            self.minor_version, self.status, self.reason
        )
        .into_bytes();
        self.fields.write(&mut out, &[]);
        if !self.is_interim() {
            let word = if keep_alive { "keep-alive" } else { "close" };
            out.extend_from_slice(format!("connection: {word}\r\n").as_bytes());
        }
        out.extend_from_slice(b"\r\n");
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: HeadLimits = HeadLimits {
        bytes: 1024,
        headers: 10,
    };

    fn framing(text: &str, method: &str) -> Result<Framing, HeadProblem> {
        let head = read_response(text.as_bytes(), LIMITS, method)?;
        Ok(head.expect("a whole head").framing())
    }

    #[test]
    fn where_answers_end() {
        let length = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n";
        assert_eq!(framing(length, "GET"), Ok(Framing::Length(3)));
        assert_eq!(framing(length, "HEAD"), Ok(Framing::Empty));
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        assert_eq!(framing(chunked, "GET"), Ok(Framing::Chunked));
        assert_eq!(
            framing("HTTP/1.1 200 OK\r\n\r\n", "GET"),
            Ok(Framing::UntilClose)
        );
        for empty in [
            "HTTP/1.1 204 \r\n\r\n",
            "HTTP/1.1 204 \r\nContent-Length: 0\r\n\r\n",
        ] {
            assert_eq!(framing(empty, "GET"), Ok(Framing::Empty));
        }
        let cached = "HTTP/1.1 304 Not Modified\r\nContent-Length: 3\r\n\r\n";
        assert_eq!(framing(cached, "GET"), Ok(Framing::Empty));
        assert_eq!(
            framing("HTTP/1.1 100 Continue\r\n\r\n", "POST"),
            Ok(Framing::Empty)
        );
    }

    #[test]
    fn answers_that_split_are_refused() {
        for (text, problem) in [
            (
                "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",
                HeadProblem::LengthAndEncoding,
            ),
            (
                "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\n",
                HeadProblem::Length,
            ),
            (
                "HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n",
                HeadProblem::Unexpected,
            ),
            (
                "HTTP/1.1 204 No Content\r\nContent-Length: 3\r\n\r\n",
                HeadProblem::Unexpected,
            ),
            (
                "HTTP/1.1 100 Continue\r\nTransfer-Encoding: chunked\r\n\r\n",
                HeadProblem::Unexpected,
            ),
            // Without its length, the body would not end for the client.
            (
                "HTTP/1.1 200 OK\r\nConnection: content-length\r\nContent-Length: 3\r\n\r\n",
                HeadProblem::Connection,
            ),
            ("HTTP/1.1 200 OK\nX: y\r\n\r\n", HeadProblem::BareLf),
            ("HTTP/1.1 200 OK\r\nX: y\r\n z\r\n\r\n", HeadProblem::Folded),
        ] {
            assert_eq!(framing(text, "GET"), Err(problem), "{text:?}");
        }
    }

    #[test]
    fn what_is_about_the_connection_stays() {
        let text = "HTTP/1.1 200 OK\r\nConnection: close, X-Own\r\nX-Own: 1\r\nKeep-Alive: x\r\nA: b\r\n\r\n";
        let head = read_response(text.as_bytes(), LIMITS, "GET")
            .unwrap()
            .unwrap();
        assert_eq!(
            String::from_utf8(head.forwarded(true)).unwrap(),
            "HTTP/1.1 200 OK\r\na: b\r\nconnection: keep-alive\r\n\r\n"
        );
    }
}
