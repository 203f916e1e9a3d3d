//! Helpers of the forbid side for raw shell text: balanced extents, ANSI-C strings, brace lists.
//!
//! Nothing here decides anything: the worst a mistake can do is to mention a command too many or to leave one to the
//! allow side, which answers opaque to all of this text.

/// The index just past the bracket that closes the one opened before `from`, or `None` if it never closes.
///
/// Keeps its own stack, so that deep nesting costs memory and not call frames.
pub(crate) fn closing(text: &[u8], from: usize, close: u8) -> Option<usize> {
    let mut stack = vec![close];
    let mut at = from;
    while let Some(&byte) = text.get(at) {
        let in_double = stack.last() == Some(&b'"');
        let next = text.get(at.saturating_add(1)).copied();
        at = at.saturating_add(1);
        if Some(&byte) == stack.last() {
            stack.pop();
            if stack.is_empty() {
                return Some(at);
            }
            continue;
        }
        match (byte, next) {
            (b'\\', Some(_)) => at = at.saturating_add(1),
            (b'\'', _) if !in_double => {
                let rest = text.get(at..).unwrap_or_default();
                let length = rest.iter().position(|&b| b == b'\'')?;
                at = at.saturating_add(length).saturating_add(1);
            }
            (b'"', _) => stack.push(b'"'),
            (b'`', _) => stack.push(b'`'),
            (b'$', Some(b'{')) => {
                stack.push(b'}');
                at = at.saturating_add(1);
            }
            (b'$', Some(b'(')) => {
                stack.push(b')');
                at = at.saturating_add(1);
            }
            (b'(', _) if !in_double && stack.last() == Some(&b')') => stack.push(b')'),
            _ => {}
        }
    }
    None
}

/// Decodes the body of `$'...'` that starts at `from`; returns the text and the index past the closing quote.
pub(crate) fn ansi_c(text: &[u8], from: usize) -> (Vec<u8>, usize) {
    let mut out = Vec::new();
    let mut at = from;
    while let Some(&byte) = text.get(at) {
        at = at.saturating_add(1);
        match byte {
            b'\'' => return (out, at),
            b'\\' => {
                let Some(&escape) = text.get(at) else { break };
                at = at.saturating_add(1);
                let simple = match escape {
                    b'a' => Some(0x07),
                    b'b' => Some(0x08),
                    b'e' | b'E' => Some(0x1B),
                    b'f' => Some(0x0C),
                    b'n' => Some(b'\n'),
                    b'r' => Some(b'\r'),
                    b't' => Some(b'\t'),
                    b'v' => Some(0x0B),
                    _ => None,
                };
                if let Some(byte) = simple {
                    out.push(byte);
                    continue;
                }
                let (start, radix, digits) = match escape {
                    b'x' => (at, 16, 2),
                    b'u' => (at, 16, 4),
                    b'U' => (at, 16, 8),
                    b'0'..=b'7' => (at.saturating_sub(1), 8, 3),
                    _ => {
                        out.push(escape);
                        continue;
                    }
                };
                let (value, end) = number(text, start, radix, digits);
                at = end;
                match (escape, u8::try_from(value), char::from_u32(value)) {
                    (b'u' | b'U', _, Some(c)) => {
                        out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                    }
                    (_, Ok(byte), _) => out.push(byte),
                    _ => {}
                }
            }
            _ => out.push(byte),
        }
    }
    (out, at)
}

fn number(text: &[u8], start: usize, radix: u32, digits: usize) -> (u32, usize) {
    let mut value = 0u32;
    let mut at = start;
    while let Some(digit) = text
        .get(at)
        .filter(|_| at.saturating_sub(start) < digits)
        .and_then(|&b| char::from(b).to_digit(radix))
    {
        value = value.wrapping_mul(radix).wrapping_add(digit);
        at = at.saturating_add(1);
    }
    (value, at)
}

/// Expands comma lists in braces: `{a,b}c` gives `ac` and `bc`. At most `cap` results.
pub(crate) fn braces(raw: &[u8], cap: usize) -> Vec<Vec<u8>> {
    let mut done = Vec::new();
    let mut work = vec![raw.to_vec()];
    // The last result comes off the stack first, so alternatives are pushed in reverse.
    while let Some(text) = work.pop() {
        if done.len().saturating_add(work.len()) >= cap {
            done.push(text);
            continue;
        }
        let Some((before, alternatives, after)) = first_list(&text) else {
            done.push(text);
            continue;
        };
        for alternative in alternatives.iter().rev() {
            let mut joined = before.to_vec();
            joined.extend_from_slice(alternative);
            joined.extend_from_slice(after);
            work.push(joined);
        }
    }
    done
}

type List<'a> = (&'a [u8], Vec<&'a [u8]>, &'a [u8]);

/// The first brace list outside quotes and `${...}`.
fn first_list(text: &[u8]) -> Option<List<'_>> {
    let mut quote = None;
    let mut opens: Vec<(usize, Vec<usize>)> = Vec::new();
    let mut at = 0usize;
    while let Some(&byte) = text.get(at) {
        let here = at;
        at = at.saturating_add(1);
        match (quote, byte) {
            (Some(open), _) if byte == open => quote = None,
            (Some(_), _) => {}
            (None, b'\'' | b'"' | b'`') => quote = Some(byte),
            (None, b'\\') => at = at.saturating_add(1),
            (None, b'$') if matches!(text.get(at), Some(b'{' | b'(')) => {
                let close = if text.get(at) == Some(&b'{') {
                    b'}'
                } else {
                    b')'
                };
                at = closing(text, at.saturating_add(1), close)?;
            }
            (None, b'{') => opens.push((here, Vec::new())),
            (None, b',') => {
                if let Some((_, commas)) = opens.last_mut() {
                    commas.push(here);
                }
            }
            (None, b'}') => {
                if let Some((open, commas)) = opens.pop()
                    && !commas.is_empty()
                {
                    let mut pieces = Vec::new();
                    let mut start = open.saturating_add(1);
                    for end in commas.into_iter().chain([here]) {
                        pieces.push(text.get(start..end).unwrap_or_default());
                        start = end.saturating_add(1);
                    }
                    return Some((
                        text.get(..open).unwrap_or_default(),
                        pieces,
                        text.get(at..).unwrap_or_default(),
                    ));
                }
            }
            (None, _) => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closing_brackets_see_quotes_and_nesting() {
        for (text, rest) in [
            ("a) b", " b"),
            ("a $(b) c) d", " d"),
            ("a ')' \")\" \\) c) d", " d"),
            ("${x:-)} y) z", " z"),
            ("a (b) c) d", " d"),
        ] {
            let end = closing(text.as_bytes(), 0, b')').unwrap();
            assert_eq!(&text[end..], rest, "{text}");
        }
        assert_eq!(closing(b"a (b", 0, b')'), None);
        let deep = "$(".repeat(20_000);
        assert_eq!(closing(deep.as_bytes(), 2, b')'), None);
    }

    #[test]
    fn ansi_c_strings() {
        assert_eq!(ansi_c(br"\x72\155\u0041\'x' y", 0), (b"rmA'x".to_vec(), 18));
        assert_eq!(ansi_c(br"\x72", 0).0, b"r");
        assert_eq!(ansi_c(br"\", 0).0, b"");
    }

    #[test]
    fn brace_lists() {
        let expand = |raw: &str| -> Vec<String> {
            braces(raw.as_bytes(), 16)
                .into_iter()
                .map(|word| String::from_utf8(word).unwrap())
                .collect()
        };
        assert_eq!(expand("{rm,-rf,/}"), ["rm", "-rf", "/"]);
        assert_eq!(expand("a{b,c}{d,e}"), ["abd", "abe", "acd", "ace"]);
        assert_eq!(expand("{a,{b,c}}"), ["a", "b", "a", "c"]);
        assert_eq!(expand("{a}"), ["{a}"]);
        assert_eq!(expand("'{a,b}'"), ["'{a,b}'"]);
        assert!(expand(&"{a,b}".repeat(30)).len() <= 18);
    }
}
