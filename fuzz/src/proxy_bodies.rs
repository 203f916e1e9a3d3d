//! Bodies: where one ends does not depend on how it arrives, and a plain reader of chunks finds the same end.

use palisade_egress_proxy::wire::{BodyProblem, BodyScanner, Framing, Side};

/// Reads the bytes as a body of every kind.
pub fn run(data: &[u8]) {
    let length = data.first().copied().map_or(0, u64::from);
    for framing in [
        Framing::Empty,
        Framing::Length(length),
        Framing::Chunked,
        Framing::UntilClose,
    ] {
        for side in [Side::Client, Side::Server] {
            let whole = in_pieces(data, framing, side, data.len());
            for size in [1, 2, 3, 7, 64] {
                assert_eq!(in_pieces(data, framing, side, size), whole, "{size}");
            }
            let Ok((count, is_done)) = whole else {
                continue;
            };
            assert!(count <= data.len());
            let expected = match framing {
                Framing::Empty => (0, true),
                Framing::Length(length) => {
                    (data.len().min(length as usize), count as u64 == length)
                }
                Framing::UntilClose => (data.len(), false),
                Framing::Chunked => match chunks(data) {
                    Some(end) => (end, true),
                    None => (data.len(), false),
                },
            };
            assert_eq!((count, is_done), expected, "{framing:?} from {side:?}");
            // What is taken from a client has nothing but chunks in it: nothing else could be read in another way.
            if framing == Framing::Chunked && side == Side::Client && is_done {
                assert_eq!(in_pieces(data, framing, Side::Server, 5), Ok((count, true)));
                assert!(data[..count].ends_with(b"0\r\n\r\n"));
            }
        }
    }
}

/// How many bytes belong to the body, and whether it is over.
fn in_pieces(
    data: &[u8],
    framing: Framing,
    side: Side,
    size: usize,
) -> Result<(usize, bool), BodyProblem> {
    let mut scanner = BodyScanner::new(framing, side);
    let mut count = 0;
    for piece in data.chunks(size.max(1)) {
        let taken = scanner.scan(piece)?;
        count += taken;
        if taken < piece.len() {
            assert!(scanner.is_done(), "bytes are left of a body that goes on");
            break;
        }
    }
    assert!(!scanner.is_done() || scanner.may_end());
    Ok((count, scanner.is_done()))
}

/// The end of chunks that are well-formed, by lines; nothing if it is not there yet.
fn chunks(data: &[u8]) -> Option<usize> {
    let mut at = 0;
    let line = |at: usize| {
        let rest = data.get(at..)?;
        let end = rest.windows(2).position(|it| it == b"\r\n")?;
        Some((&rest[..end], at + end + 2))
    };
    loop {
        let (size, next) = line(at)?;
        let digits = size.iter().take_while(|byte| byte.is_ascii_hexdigit());
        let digits: String = digits.map(|byte| char::from(*byte)).collect();
        let size = usize::from_str_radix(&digits, 16).ok()?;
        at = next;
        if size == 0 {
            break;
        }
        at = at.checked_add(size)?.checked_add(2)?;
        if at > data.len() {
            return None;
        }
    }
    loop {
        let (trailer, next) = line(at)?;
        at = next;
        if trailer.is_empty() {
            return Some(at);
        }
    }
}
