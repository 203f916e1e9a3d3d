//! Names code points that a reader of a prompt would not see, or would misread.

use std::fmt;

/// One code point (or stray byte) that has no place in a command a person should judge by eye.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HiddenPoint {
    /// Byte offset in the text.
    pub at: usize,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Named(u32, &'static str),
    NonAscii(u32),
    InvalidByte(u8),
}

impl HiddenPoint {
    /// Whether the code point is invisible or reorders text, and not merely outside ASCII.
    #[must_use]
    pub fn is_invisible(&self) -> bool {
        !matches!(self.kind, Kind::NonAscii(_))
    }
}

impl fmt::Display for HiddenPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            Kind::Named(point, name) => write!(f, "U+{point:04X} {name}"),
            Kind::NonAscii(point) => {
                write!(
                    f,
                    "U+{point:04X} non-ASCII character, may imitate another one"
                )
            }
            Kind::InvalidByte(byte) => write!(f, "byte 0x{byte:02X}, not valid UTF-8"),
        }
    }
}

/// Every hidden or non-ASCII code point of `text`, in order.
///
/// ```
/// let found: Vec<String> = palisade_shell_analysis::hidden_points("rm\u{200b} x".as_bytes())
///     .map(|p| p.to_string())
///     .collect();
/// assert_eq!(found, ["U+200B ZERO WIDTH SPACE"]);
/// ```
pub fn hidden_points(text: &[u8]) -> impl Iterator<Item = HiddenPoint> + '_ {
    let mut start = 0usize;
    text.utf8_chunks().flat_map(move |chunk| {
        let base = start;
        let valid = chunk.valid();
        let invalid = chunk.invalid();
        start = start
            .saturating_add(valid.len())
            .saturating_add(invalid.len());
        let named = valid.char_indices().filter_map(move |(offset, c)| {
            classify(c).map(|kind| HiddenPoint {
                at: base.saturating_add(offset),
                kind,
            })
        });
        let stray_base = base.saturating_add(valid.len());
        let stray = invalid
            .iter()
            .enumerate()
            .map(move |(offset, &byte)| HiddenPoint {
                at: stray_base.saturating_add(offset),
                kind: Kind::InvalidByte(byte),
            });
        named.chain(stray)
    })
}

fn classify(c: char) -> Option<Kind> {
    let point = u32::from(c);
    if c == '\t' || c == '\n' || (' '..='~').contains(&c) {
        return None;
    }
    Some(name(point).map_or(Kind::NonAscii(point), |name| Kind::Named(point, name)))
}

fn name(point: u32) -> Option<&'static str> {
    Some(match point {
        0x00 => "NULL",
        0x07 => "BELL",
        0x08 => "BACKSPACE",
        0x0B => "VERTICAL TAB",
        0x0C => "FORM FEED",
        0x0D => "CARRIAGE RETURN",
        0x1B => "ESCAPE",
        0x7F => "DELETE",
        0x85 => "NEXT LINE",
        0x9B => "CONTROL SEQUENCE INTRODUCER",
        0x00..=0x1F | 0x80..=0x9F => "CONTROL CHARACTER",
        0xA0 => "NO-BREAK SPACE",
        0xAD => "SOFT HYPHEN",
        0x034F => "COMBINING GRAPHEME JOINER",
        0x061C => "ARABIC LETTER MARK",
        0x115F => "HANGUL CHOSEONG FILLER",
        0x1160 => "HANGUL JUNGSEONG FILLER",
        0x1680 => "OGHAM SPACE MARK",
        0x17B4 | 0x17B5 => "KHMER INHERENT VOWEL",
        0x180B..=0x180D | 0x180F => "MONGOLIAN FREE VARIATION SELECTOR",
        0x180E => "MONGOLIAN VOWEL SEPARATOR",
        0x2000..=0x200A => "WIDE OR NARROW SPACE",
        0x200B => "ZERO WIDTH SPACE",
        0x200C => "ZERO WIDTH NON-JOINER",
        0x200D => "ZERO WIDTH JOINER",
        0x200E => "LEFT-TO-RIGHT MARK",
        0x200F => "RIGHT-TO-LEFT MARK",
        0x2028 => "LINE SEPARATOR",
        0x2029 => "PARAGRAPH SEPARATOR",
        0x202A => "LEFT-TO-RIGHT EMBEDDING",
        0x202B => "RIGHT-TO-LEFT EMBEDDING",
        0x202C => "POP DIRECTIONAL FORMATTING",
        0x202D => "LEFT-TO-RIGHT OVERRIDE",
        0x202E => "RIGHT-TO-LEFT OVERRIDE",
        0x202F => "NARROW NO-BREAK SPACE",
        0x205F => "MEDIUM MATHEMATICAL SPACE",
        0x2060 => "WORD JOINER",
        0x2061..=0x2064 => "INVISIBLE OPERATOR",
        0x2066 => "LEFT-TO-RIGHT ISOLATE",
        0x2067 => "RIGHT-TO-LEFT ISOLATE",
        0x2068 => "FIRST STRONG ISOLATE",
        0x2069 => "POP DIRECTIONAL ISOLATE",
        0x206A..=0x206F => "DEPRECATED FORMAT CHARACTER",
        0x2800 => "BRAILLE PATTERN BLANK",
        0x3000 => "IDEOGRAPHIC SPACE",
        0x3164 => "HANGUL FILLER",
        0xFE00..=0xFE0F | 0xE0100..=0xE01EF => "VARIATION SELECTOR",
        0xFEFF => "ZERO WIDTH NO-BREAK SPACE",
        0xFFA0 => "HALFWIDTH HANGUL FILLER",
        0xFFF9..=0xFFFB => "INTERLINEAR ANNOTATION CHARACTER",
        0xE0000..=0xE007F => "TAG CHARACTER",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_places() {
        let text = "a\u{202e}b\u{a0}\u{fe0f}\u{e0041}\u{ad}é\r";
        let mut bytes = text.as_bytes().to_vec();
        bytes.push(0xFF);
        let found: Vec<String> = hidden_points(&bytes)
            .map(|p| format!("{} {p}", p.at))
            .collect();
        assert_eq!(
            found,
            [
                "1 U+202E RIGHT-TO-LEFT OVERRIDE",
                "5 U+00A0 NO-BREAK SPACE",
                "7 U+FE0F VARIATION SELECTOR",
                "10 U+E0041 TAG CHARACTER",
                "14 U+00AD SOFT HYPHEN",
                "16 U+00E9 non-ASCII character, may imitate another one",
                "18 U+000D CARRIAGE RETURN",
                "19 byte 0xFF, not valid UTF-8",
            ]
        );
        assert_eq!(hidden_points(b"plain ascii\n\t").count(), 0);
    }
}
