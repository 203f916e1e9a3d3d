//! The last lines of an output, as text without the codes of terminals.

/// How much is searched: bytes, lines, and bytes of a line.
const BYTES: usize = 64 * 1024;
const LINES: usize = 48;
const LINE_BYTES: usize = 2 * 1024;

/// The last lines that say something, oldest first.
pub(super) fn last(output: &[u8]) -> Vec<String> {
    let tail = output
        .get(output.len().saturating_sub(BYTES)..)
        .unwrap_or_default();
    let mut lines: Vec<String> = tail
        .split(|byte| matches!(byte, b'\n' | b'\r'))
        .rev()
        .filter(|line| !line.trim_ascii().is_empty())
        .take(LINES)
        .map(|line| {
            let line = line.get(..line.len().min(LINE_BYTES)).unwrap_or_default();
            String::from_utf8_lossy(&plain(line)).into_owned()
        })
        .collect();
    lines.reverse();
    lines
}

/// Without escape sequences: `ESC [ … letter`, `ESC ] … BEL`, `ESC` and one character.
fn plain(line: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(line.len());
    let mut rest = line;
    while let [first, after @ ..] = rest {
        rest = match (first, after) {
            (0x1b, [b'[', tail @ ..]) => skip_past(tail, |byte| (0x40..=0x7e).contains(&byte)),
            (0x1b, [b']', tail @ ..]) => skip_past(tail, |byte| byte == 0x07 || byte == b'\\'),
            (0x1b, [_, tail @ ..]) => tail,
            (0x1b, []) => after,
            _ => {
                plain.push(*first);
                after
            }
        };
    }
    plain
}

fn skip_past(bytes: &[u8], end: impl Fn(u8) -> bool) -> &[u8] {
    let at = bytes.iter().position(|byte| end(*byte));
    at.and_then(|at| bytes.get(at + 1..)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_and_links_are_taken_out() {
        let written = b"\x1b[1;31merror\x1b[0m: x\r\n\n\x1b]8;;file:///a\x07/b\x1b]8;;\x07\n";
        assert_eq!(last(written), ["error: x", "/b"]);
        assert_eq!(last(b"\x1b["), [""]);
    }

    #[test]
    fn memory_and_work_are_bounded() {
        let flood = b"x: Permission denied\n".repeat(100_000);
        assert_eq!(last(&flood).len(), LINES);
        let long = vec![b'y'; 10 * BYTES];
        assert_eq!(last(&long)[0].len(), LINE_BYTES);
    }
}
