//! Where a body ends: by its length, by its chunks, or where the connection does.

/// How long a chunk's size may be written; 16 digits are 64 bits.
const MOST_DIGITS: u8 = 15;
/// Bytes of chunk extensions in one line, and of all trailers.
const MOST_EXTRA: usize = 8 * 1024;

/// How the end of a body is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "HTTP/1.1 knows no other way")]
pub enum Framing {
    /// There is none.
    Empty,
    /// After so many bytes.
    Length(u64),
    /// After the last chunk.
    Chunked,
    /// Where the connection ends; for answers only.
    UntilClose,
}

/// Who sent it: extensions and trailers of chunks are taken from servers only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there are two")]
pub enum Side {
    /// A request's body.
    Client,
    /// An answer's body.
    Server,
}

/// Why a body's end cannot be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BodyProblem {
    /// The size of a chunk is no number.
    #[error("the size of a chunk is no hexadecimal number")]
    ChunkSize,
    /// The size of a chunk is too large for any machine.
    #[error("the size of a chunk is too large")]
    ChunkTooLarge,
    /// A chunk does not end where it says.
    #[error("a chunk does not end where its size says")]
    ChunkEnd,
    /// Chunk extensions from a client, or endless ones.
    #[error("chunk extensions are not forwarded")]
    Extension,
    /// Trailers from a client, or endless ones.
    #[error("trailers are not forwarded")]
    Trailer,
    /// A line that does not end in CR LF.
    #[error("a line does not end in CR LF")]
    LineEnd,
    /// The connection ended in the middle.
    #[error("it ends too early")]
    Cut,
}

/// Follows a body and finds its end.
#[derive(Clone, Debug)]
pub struct BodyScanner {
    state: State,
    side: Side,
    extra: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Plain(u64),
    UntilClose,
    Size { digits: u8, value: u64 },
    Extension { value: u64 },
    SizeEnd { value: u64 },
    Data(u64),
    DataCr,
    DataLf,
    TrailerStart,
    Trailer,
    TrailerEnd,
    LastLf,
    Done,
}

impl BodyScanner {
    /// For a body that is framed like this.
    #[must_use]
    pub const fn new(framing: Framing, side: Side) -> Self {
        let state = match framing {
            Framing::Empty | Framing::Length(0) => State::Done,
            Framing::Length(length) => State::Plain(length),
            Framing::Chunked => State::Size {
                digits: 0,
                value: 0,
            },
            Framing::UntilClose => State::UntilClose,
        };
        Self {
            state,
            side,
            extra: 0,
        }
    }

    /// Whether the body is over.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// Whether the connection may end here.
    #[must_use]
    pub fn may_end(&self) -> bool {
        matches!(self.state, State::Done | State::UntilClose)
    }

    /// How many of these bytes belong to the body.
    ///
    /// # Errors
    /// The bytes are no body that everybody reads in the same way.
    pub fn scan(&mut self, bytes: &[u8]) -> Result<usize, BodyProblem> {
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            let left = u64::try_from(bytes.len() - at).unwrap_or(u64::MAX);
            at += match &mut self.state {
                State::Done => return Ok(at),
                State::UntilClose => return Ok(bytes.len()),
                State::Plain(wanted) => {
                    let taken = left.min(*wanted);
                    *wanted -= taken;
                    if *wanted == 0 {
                        self.state = State::Done;
                    }
                    // No more than `bytes` holds.
                    usize::try_from(taken).unwrap_or(usize::MAX)
                }
                State::Data(wanted) => {
                    let taken = left.min(*wanted);
                    *wanted -= taken;
                    if *wanted == 0 {
                        self.state = State::DataCr;
                    }
                    usize::try_from(taken).unwrap_or(usize::MAX)
                }
                _ => {
                    self.step(byte)?;
                    1
                }
            };
        }
        Ok(at)
    }

    fn step(&mut self, byte: u8) -> Result<(), BodyProblem> {
        self.state = match (self.state, byte) {
            (State::Size { digits: 1.., value }, b'\r') => State::SizeEnd { value },
            (State::Size { digits: 1.., value }, b';' | b' ' | b'\t') => {
                self.extra = 0;
                self.extra(BodyProblem::Extension)?;
                State::Extension { value }
            }
            (State::Size { digits, value }, byte) => {
                let digit = char::from(byte)
                    .to_digit(16)
                    .ok_or(BodyProblem::ChunkSize)?;
                if digits >= MOST_DIGITS {
                    return Err(BodyProblem::ChunkTooLarge);
                }
                State::Size {
                    digits: digits + 1,
                    value: value << 4 | u64::from(digit),
                }
            }
            (State::Extension { value }, b'\r') => State::SizeEnd { value },
            (State::Extension { value }, byte) => {
                text(byte)?;
                self.extra(BodyProblem::Extension)?;
                State::Extension { value }
            }
            (State::SizeEnd { value: 0 }, b'\n') => {
                self.extra = 0;
                State::TrailerStart
            }
            (State::SizeEnd { value }, b'\n') => State::Data(value),
            (State::DataCr, b'\r') => State::DataLf,
            (State::DataLf, b'\n') => State::Size {
                digits: 0,
                value: 0,
            },
            (State::DataCr | State::DataLf, _) => return Err(BodyProblem::ChunkEnd),
            (State::TrailerStart, b'\r') => State::LastLf,
            (State::Trailer, b'\r') => State::TrailerEnd,
            (State::TrailerStart | State::Trailer, byte) => {
                text(byte)?;
                self.extra(BodyProblem::Trailer)?;
                State::Trailer
            }
            (State::TrailerEnd, b'\n') => State::TrailerStart,
            (State::LastLf, b'\n') => State::Done,
            (state @ (State::Done | State::UntilClose | State::Plain(_) | State::Data(_)), _) => {
                state
            }
            (State::SizeEnd { .. } | State::TrailerEnd | State::LastLf, _) => {
                return Err(BodyProblem::LineEnd);
            }
        };
        Ok(())
    }

    /// One more byte beside the data.
    fn extra(&mut self, problem: BodyProblem) -> Result<(), BodyProblem> {
        self.extra += 1;
        if self.side == Side::Client || self.extra > MOST_EXTRA {
            return Err(problem);
        }
        Ok(())
    }
}

fn text(byte: u8) -> Result<(), BodyProblem> {
    if byte == b'\t' || !byte.is_ascii_control() {
        Ok(())
    } else {
        Err(BodyProblem::LineEnd)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many bytes belong to the body, fed in pieces of every size; it must be over then.
    fn end(framing: Framing, side: Side, bytes: &[u8]) -> Result<Option<usize>, BodyProblem> {
        let mut results = Vec::new();
        for size in 1..=bytes.len().max(1) {
            let mut scanner = BodyScanner::new(framing, side);
            let mut total = Ok(0);
            for piece in bytes.chunks(size) {
                total = total.and_then(|total| Ok(total + scanner.scan(piece)?));
            }
            results.push(total.map(|total| scanner.is_done().then_some(total)));
        }
        results.dedup();
        assert_eq!(results.len(), 1, "pieces matter: {results:?}");
        results.remove(0)
    }

    #[test]
    fn lengths() {
        let check = |length, bytes| end(Framing::Length(length), Side::Client, bytes);
        assert_eq!(check(0, b"next"), Ok(Some(0)));
        assert_eq!(check(3, b"abcnext"), Ok(Some(3)));
        assert_eq!(check(9, b"abc"), Ok(None));
        assert_eq!(end(Framing::Empty, Side::Server, b"x"), Ok(Some(0)));
        assert_eq!(end(Framing::UntilClose, Side::Server, b"x"), Ok(None));
        assert!(BodyScanner::new(Framing::UntilClose, Side::Server).may_end());
        assert!(!BodyScanner::new(Framing::Chunked, Side::Server).may_end());
    }

    #[test]
    fn chunks() {
        use BodyProblem as P;
        for (text, client, server) in [
            ("0\r\n\r\nnext", Ok(Some(5)), Ok(Some(5))),
            ("3\r\nabc\r\n0\r\n\r\n", Ok(Some(13)), Ok(Some(13))),
            ("A\r\n0123456789\r\n0\r\n\r\n", Ok(Some(20)), Ok(Some(20))),
            ("3\r\nabc", Ok(None), Ok(None)),
            ("3\nabc\r\n0\r\n\r\n", Err(P::ChunkSize), Err(P::ChunkSize)),
            ("3\r\nabcd\r\n", Err(P::ChunkEnd), Err(P::ChunkEnd)),
            ("3\r\nabc\n0\r\n\r\n", Err(P::ChunkEnd), Err(P::ChunkEnd)),
            ("\r\nabc", Err(P::ChunkSize), Err(P::ChunkSize)),
            ("0x3\r\nabc", Err(P::ChunkSize), Err(P::ChunkSize)),
            ("-1\r\n", Err(P::ChunkSize), Err(P::ChunkSize)),
            ("+3\r\n", Err(P::ChunkSize), Err(P::ChunkSize)),
            (" 3\r\n", Err(P::ChunkSize), Err(P::ChunkSize)),
            ("3\rabc", Err(P::LineEnd), Err(P::LineEnd)),
            (
                "fffffffffffffffff\r\n",
                Err(P::ChunkTooLarge),
                Err(P::ChunkTooLarge),
            ),
            ("3;x=1\r\nabc\r\n0\r\n\r\n", Err(P::Extension), Ok(Some(17))),
            ("3;x\nabc\r\n0\r\n\r\n", Err(P::Extension), Err(P::LineEnd)),
            ("0\r\nA: b\r\n\r\n", Err(P::Trailer), Ok(Some(11))),
            ("0\r\nA: b\n\r\n", Err(P::Trailer), Err(P::LineEnd)),
            ("0\r\n\rx", Err(P::LineEnd), Err(P::LineEnd)),
        ] {
            let bytes = text.as_bytes();
            assert_eq!(
                end(Framing::Chunked, Side::Client, bytes),
                client,
                "{text:?}"
            );
            assert_eq!(
                end(Framing::Chunked, Side::Server, bytes),
                server,
                "{text:?}"
            );
        }
    }

    #[test]
    fn extras_are_bounded() {
        let line = format!("3;{}", "x".repeat(9000));
        assert_eq!(
            BodyScanner::new(Framing::Chunked, Side::Server).scan(line.as_bytes()),
            Err(BodyProblem::Extension)
        );
        let trailers = format!("0\r\n{}", "a: b\r\n".repeat(3000));
        assert_eq!(
            BodyScanner::new(Framing::Chunked, Side::Server).scan(trailers.as_bytes()),
            Err(BodyProblem::Trailer)
        );
    }
}
