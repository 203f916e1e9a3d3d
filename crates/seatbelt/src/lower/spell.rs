//! Names as patterns: what a name can be spelled like on a file system that compares it loosely.
//!
//! APFS and HFS+ compare names by their letters, not by their bytes: `A` is `a`, an accent may be part of a letter or
//! follow it, and some characters beyond ASCII stand for ASCII letters (the sign of the kelvin is a `k`, one sharp s is two
//! `s`). What exists has one spelling, which the kernel reports; what is missing can be made in any. A pattern that denies
//! therefore fits every spelling, and where that cannot be said exactly, it fits more. A pattern that allows fits only what
//! is certain.

use palisade_policy::{GlobPart, GlobToken, PathCase};

use crate::profile::Pattern;

/// What some character beyond ASCII is compared as where case does not matter, in small letters: the full case folding
/// and the canonical decompositions of Unicode that end in ASCII.
const FOLDED_FROM_BEYOND: [&str; 11] = [
    "ffi", "ffl", "ff", "fi", "fl", "ss", "st", "k", "s", ";", "`",
];

/// The same where case matters: only what is decomposed.
const DECOMPOSED_FROM_BEYOND: [&str; 3] = ["K", ";", "`"];

/// What a character beyond ASCII is compared as, if that is ASCII.
const fn as_ascii(character: char, case: PathCase) -> Option<&'static str> {
    match (character, case) {
        ('\u{212a}', _) => Some("K"),
        ('\u{37e}', _) => Some(";"),
        ('\u{1fef}', _) => Some("`"),
        (_, PathCase::Sensitive) => None,
        ('\u{17f}', _) => Some("s"),
        ('\u{df}' | '\u{1e9e}', _) => Some("ss"),
        ('\u{fb00}', _) => Some("ff"),
        ('\u{fb01}', _) => Some("fi"),
        ('\u{fb02}', _) => Some("fl"),
        ('\u{fb03}', _) => Some("ffi"),
        ('\u{fb04}', _) => Some("ffl"),
        ('\u{fb05}' | '\u{fb06}', _) => Some("st"),
        _ => None,
    }
}

/// A pattern for every spelling of a name, and perhaps a few other names.
pub(super) fn every_spelling(name: &str, case: PathCase) -> Pattern {
    let mut characters = Vec::with_capacity(name.len());
    for character in name.chars() {
        match as_ascii(character, case) {
            Some(ascii) => characters.extend(ascii.chars()),
            None => characters.push(character),
        }
    }
    let mut pattern = Pattern::part();
    let mut at = 0;
    while let Some(rest) = characters.get(at..).filter(|rest| !rest.is_empty()) {
        let (part, length) = next_part(rest, case);
        pattern = pattern.then(&part);
        at += length.max(1);
    }
    pattern
}

/// A pattern for the next characters, and how many they are.
fn next_part(rest: &[char], case: PathCase) -> (Pattern, usize) {
    // An accent may be part of the letter before it, so that letter goes with what is beyond ASCII.
    let plain = rest.iter().take_while(|c| c.is_ascii()).count();
    if plain <= 1 && rest.len() > plain {
        let beyond = rest.iter().skip(plain).take_while(|c| !c.is_ascii());
        return (Pattern::part().beyond_ascii(), plain + beyond.count());
    }
    // The last letter before what is beyond ASCII is left to the next part.
    let plain = match rest.len() > plain {
        true => plain - 1,
        false => plain,
    };
    let head = rest.get(..plain).unwrap_or_default();
    let folded = folded_length(head, case);
    if folded == 0 {
        let part = head
            .first()
            .map_or_else(Pattern::part, |c| letter(*c, case));
        return (part, 1);
    }
    let mut letters = Pattern::part();
    for c in head.iter().take(folded) {
        letters = letters.then(&letter(*c, case));
    }
    let other = match folded {
        1 => Pattern::part().only_beyond_ascii(),
        _ => Pattern::part().beyond_ascii(),
    };
    (Pattern::part().either(&letters, &other), folded)
}

/// How many of the next characters could be written with some beyond ASCII in their place: the sequences that begin
/// here, and those that begin inside them.
fn folded_length(head: &[char], case: PathCase) -> usize {
    let sequences: &[&str] = match case {
        PathCase::Insensitive => &FOLDED_FROM_BEYOND,
        PathCase::Sensitive => &DECOMPOSED_FROM_BEYOND,
    };
    let same = |c: char, folded: char| match case {
        PathCase::Insensitive => c.to_ascii_lowercase() == folded,
        PathCase::Sensitive => c == folded,
    };
    let starts_at = |at: usize| {
        sequences
            .iter()
            .filter(|sequence| {
                sequence
                    .chars()
                    .enumerate()
                    .all(|(i, folded)| head.get(at + i).is_some_and(|c| same(*c, folded)))
            })
            .map(|sequence| sequence.len())
            .max()
    };
    let Some(mut end) = starts_at(0) else {
        return 0;
    };
    let mut at = 1;
    while at < end {
        if let Some(length) = starts_at(at) {
            end = end.max(at + length);
        }
        at += 1;
    }
    end
}

/// A pattern for one character; where a pattern cannot hold it, for any.
fn letter(c: char, case: PathCase) -> Pattern {
    let exact = match case {
        PathCase::Insensitive => Pattern::part().either_case(c),
        PathCase::Sensitive => Pattern::part().character(c),
    };
    exact.unwrap_or_else(|_| Pattern::part().one())
}

/// A pattern for nothing but this name: `None` if there is none.
pub(super) fn certain_spelling(name: &str, case: PathCase) -> Option<Pattern> {
    name.chars().try_fold(Pattern::part(), |pattern, c| {
        match case {
            PathCase::Insensitive => pattern.either_case(c),
            PathCase::Sensitive => pattern.character(c),
        }
        .ok()
    })
}

/// Whether a name is compared by its bytes.
pub(super) fn is_compared_exactly(name: &str, case: PathCase) -> bool {
    case == PathCase::Sensitive && name.is_ascii() && !name.contains(['K', ';', '`'])
}

/// A pattern for the names that the parts of a glob stand for, each with the separator before it. It fits at least one
/// name.
pub(super) fn glob(parts: &[GlobPart], case: PathCase) -> Pattern {
    // What matches holds everything below it, so `**` at the end adds nothing.
    let parts = match parts {
        [GlobPart::AnyNames] => return Pattern::part().any_names(1),
        [names @ .., GlobPart::AnyNames] => names,
        parts => parts,
    };
    parts
        .iter()
        .fold(Pattern::part(), |pattern, part| match part {
            GlobPart::AnyNames => pattern.some_names(),
            GlobPart::Name(tokens) => pattern.separator().then(&glob_name(tokens, case)),
        })
}

fn glob_name(tokens: &[GlobToken], case: PathCase) -> Pattern {
    let is_byte = |token: &GlobToken| matches!(token, GlobToken::Byte(_));
    let mut pattern = Pattern::part();
    for run in tokens.chunk_by(|a, b| is_byte(a) && is_byte(b)) {
        pattern = match run {
            [GlobToken::Any] => pattern.any_characters(),
            [GlobToken::One] => pattern.any_character(),
            bytes => {
                let bytes: Vec<u8> = bytes
                    .iter()
                    .filter_map(|token| match token {
                        GlobToken::Byte(byte) => Some(*byte),
                        GlobToken::Any | GlobToken::One => None,
                    })
                    .collect();
                match String::from_utf8(bytes) {
                    Ok(text) => pattern.then(&every_spelling(&text, case)),
                    Err(_) => pattern.any_characters(),
                }
            }
        };
    }
    pattern
}

/// The name that a part stands for, if it has no wildcards.
pub(super) fn literal_name(part: &GlobPart) -> Option<String> {
    let GlobPart::Name(tokens) = part else {
        return None;
    };
    let bytes: Option<Vec<u8>> = tokens
        .iter()
        .map(|token| match token {
            GlobToken::Byte(byte) => Some(*byte),
            GlobToken::Any | GlobToken::One => None,
        })
        .collect();
    String::from_utf8(bytes?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loosely(name: &str) -> String {
        every_spelling(name, PathCase::Insensitive)
            .as_str()
            .to_owned()
    }

    #[test]
    fn letters_fit_in_both_cases() {
        assert_eq!(loosely(".git"), r"\.[gG][iI][tT]");
        assert_eq!(
            every_spelling(".git", PathCase::Sensitive).as_str(),
            r"\.git"
        );
    }

    #[test]
    fn signs_that_stand_for_letters_fit_too() {
        assert_eq!(loosely(".kube"), r"\.([kK]|[^ -~]+)[uU][bB][eE]");
        assert_eq!(loosely(".ssh"), r"\.([sS][sS]|[^/]*[^ -~][^/]*)[hH]");
        assert_eq!(loosely("off"), r"[oO]([fF][fF]|[^/]*[^ -~][^/]*)");
        assert_eq!(loosely("sst"), r"([sS][sS][tT]|[^/]*[^ -~][^/]*)");
    }

    #[test]
    fn accents_take_their_letter_along() {
        assert_eq!(loosely("caf\u{e9}x"), "[cC][aA][^/]*[^ -~][^/]*[xX]");
        assert_eq!(loosely("cafe\u{301}"), "[cC][aA][fF][^/]*[^ -~][^/]*");
        assert_eq!(loosely("\u{212a}ube"), loosely("kube"));
        assert_eq!(loosely("a\u{df}"), loosely("ass"));
        let exactly = |name| every_spelling(name, PathCase::Sensitive);
        assert_eq!(exactly("\u{212a}"), exactly("K"));
        assert_ne!(exactly("K"), exactly("k"));
    }

    #[test]
    fn what_a_pattern_cannot_hold_fits_more_or_is_not_certain() {
        assert_eq!(loosely("a\"b"), "[aA][^/][bB]");
        assert_eq!(certain_spelling("a\"b", PathCase::Insensitive), None);
        assert_eq!(
            certain_spelling("a.b", PathCase::Insensitive).map(|p| p.as_str().to_owned()),
            Some(r"[aA]\.[bB]".to_owned())
        );
    }
}
