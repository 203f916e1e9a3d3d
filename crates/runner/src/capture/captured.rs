//! What was kept, as bytes and as text.

use std::borrow::Cow;

use super::Captured;

impl Captured {
    /// How many bytes were written, the missing ones included.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.omitted
            .saturating_add(self.head.len() as u64)
            .saturating_add(self.tail.len() as u64)
    }

    /// Whether nothing was written.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.total() == 0
    }

    /// Whether nothing is missing.
    #[must_use]
    pub const fn is_whole(&self) -> bool {
        self.omitted == 0
    }

    /// The bytes that were kept. Where some are missing, which [`Self::is_whole`] tells, the two ends meet unmarked.
    #[must_use]
    pub fn bytes(&self) -> Cow<'_, [u8]> {
        if self.tail.is_empty() {
            Cow::Borrowed(&self.head)
        } else {
            Cow::Owned([self.head.as_slice(), self.tail.as_slice()].concat())
        }
    }

    /// The text of it, for people: what is not UTF-8 is replaced, and a line of its own stands for missing bytes.
    ///
    /// A character that was cut counts as missing as a whole.
    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        if self.omitted == 0 {
            return match self.bytes() {
                Cow::Borrowed(bytes) => String::from_utf8_lossy(bytes),
                Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
            };
        }
        let head = without_cut_end(&self.head);
        let tail = without_cut_start(&self.tail);
        let shown = (head.len() as u64).saturating_add(tail.len() as u64);
        let missing = self.total().saturating_sub(shown);
        let mut text = String::from_utf8_lossy(head).into_owned();
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&format!("[... {missing} bytes omitted ...]\n"));
        text.push_str(&String::from_utf8_lossy(tail));
        Cow::Owned(text)
    }
}

/// Without the start of a character whose rest is missing.
fn without_cut_end(bytes: &[u8]) -> &[u8] {
    // Only the last sequence can be cut, and it is at most three bytes long.
    let window = bytes.len().saturating_sub(3);
    let start = bytes
        .iter()
        .enumerate()
        .skip(window)
        .rev()
        .find(|(_, byte)| !is_continuation(**byte));
    let Some((at, _)) = start else { return bytes };
    let (before, last) = bytes.split_at(at);
    match std::str::from_utf8(last) {
        Err(error) if error.error_len().is_none() && error.valid_up_to() == 0 => before,
        _ => bytes,
    }
}

/// Without the rest of a character whose start is missing.
fn without_cut_start(bytes: &[u8]) -> &[u8] {
    let rest = bytes
        .iter()
        .take(3)
        .take_while(|byte| is_continuation(**byte))
        .count();
    bytes.get(rest..).unwrap_or_default()
}

const fn is_continuation(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::capture::{Caps, Captured, Tape};

    fn captured(head: usize, tail: usize, bytes: &[u8]) -> Captured {
        let mut tape = Tape::new(Caps::new(head, tail));
        tape.push(bytes);
        tape.finish()
    }

    #[test]
    fn whole_output_is_borrowed() {
        let whole = captured(10, 10, b"hello");
        assert_eq!(whole.text(), "hello");
        assert_eq!(whole.bytes().as_ref(), b"hello");
        assert!(matches!(whole.text(), std::borrow::Cow::Borrowed(_)));
        assert!(whole.is_whole() && !whole.is_empty());
        assert!(Captured::default().is_empty());
    }

    #[test]
    fn missing_bytes_have_a_line_of_their_own() {
        let cut = captured(3, 3, b"abcdefghij");
        assert_eq!(cut.text(), "abc\n[... 4 bytes omitted ...]\nhij");
        assert_eq!(cut.bytes().as_ref(), b"abchij");
        let cut = captured(2, 2, b"a\nbcde\n");
        assert_eq!(cut.text(), "a\n[... 3 bytes omitted ...]\ne\n");
        let cut = captured(0, 2, b"abc");
        assert_eq!(cut.text(), "[... 1 bytes omitted ...]\nbc");
        let cut = captured(0, 0, b"abc");
        assert_eq!(cut.text(), "[... 3 bytes omitted ...]\n");
    }

    #[test]
    fn a_cut_character_is_missing_as_a_whole() {
        // Three bytes each.
        let cut = captured(4, 4, "€€€€".as_bytes());
        assert_eq!(cut.text(), "€\n[... 6 bytes omitted ...]\n€");
    }

    #[test]
    fn bytes_that_are_no_text_are_replaced_and_not_dropped() {
        let cut = captured(2, 2, b"a\xffxxxx\xffb");
        assert_eq!(
            cut.text(),
            "a\u{fffd}\n[... 4 bytes omitted ...]\n\u{fffd}b"
        );
        assert_eq!(captured(9, 9, b"a\xffb").text(), "a\u{fffd}b");
    }

    proptest! {
        #[test]
        fn no_replacement_character_comes_from_a_cut(
            text in "[a-zé€🦀\n]{0,60}",
            head in 0_usize..30,
            tail in 0_usize..30,
        ) {
            let cut = captured(head, tail, text.as_bytes());
            prop_assert!(!cut.text().contains(char::REPLACEMENT_CHARACTER));
            prop_assert_eq!(cut.total(), text.len() as u64);
        }

        #[test]
        fn the_marker_and_the_shown_bytes_add_up(bytes in proptest::collection::vec(any::<u8>(), 9..60)) {
            let cut = captured(4, 4, &bytes);
            let text = cut.text().into_owned();
            let (_, rest) = text.split_once("[... ").unwrap();
            let (number, _) = rest.split_once(" bytes omitted").unwrap();
            let missing: u64 = number.parse().unwrap();
            prop_assert!(missing >= cut.omitted && missing <= cut.omitted + 6);
        }
    }
}
