//! Helpers of the forbid side for raw shell text: balanced extents and brace lists.
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
