//! `$'...'`: strings in which any byte can be spelled as an escape.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ansi_c_strings() {
        assert_eq!(ansi_c(br"\x72\155\u0041\'x' y", 0), (b"rmA'x".to_vec(), 18));
        assert_eq!(ansi_c(br"\x72", 0).0, b"r");
        assert_eq!(ansi_c(br"\", 0).0, b"");
    }
}
