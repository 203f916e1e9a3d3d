//! The words of a command as the matcher sees them, whichever side of the analysis they come from.

use palisade_shell_analysis::{Mention, MentionWord, Pattern, Plain, PlainCommand, Word};

/// One word.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Arg<'a> {
    /// The program receives these bytes.
    Known(&'a [u8]),
    /// A glob: its text, and what every expansion starts with.
    Pattern { text: &'a [u8], prefix: &'a [u8] },
    /// `<(...)`: the path of a pipe that these commands write.
    Pipe(&'a Plain),
    /// Decided at run time.
    Unknown,
}

impl<'a> Arg<'a> {
    pub(crate) const fn known(self) -> Option<&'a [u8]> {
        match self {
            Self::Known(bytes) => Some(bytes),
            Self::Pattern { .. } | Self::Pipe(_) | Self::Unknown => None,
        }
    }

    /// Whether the program may take it for an option.
    pub(crate) fn may_be_option(self) -> bool {
        match self {
            Self::Known(bytes) => matches!(bytes, [b'-', _, ..]),
            Self::Pattern { prefix, .. } => matches!(prefix.first(), None | Some(b'-')),
            Self::Pipe(_) => false,
            Self::Unknown => true,
        }
    }
}

fn of_pattern(pattern: &Pattern) -> Arg<'_> {
    Arg::Pattern {
        text: pattern.text(),
        prefix: pattern.literal_prefix(),
    }
}

/// The words of a command that was read exactly.
pub(crate) fn of_plain<'a>(command: &'a PlainCommand, out: &mut Vec<Arg<'a>>) {
    out.clear();
    out.extend(command.words.iter().map(|word| match word {
        Word::Literal(bytes) => Arg::Known(bytes),
        Word::Pattern(pattern) => of_pattern(pattern),
        Word::ProcessSubstitution(plain) => Arg::Pipe(plain),
        _ => Arg::Unknown,
    }));
}

/// The words of a command that was mentioned.
pub(crate) fn of_mention<'a>(mention: &'a Mention, out: &mut Vec<Arg<'a>>) {
    out.clear();
    out.extend(mention.words.iter().map(of_mention_word));
}

pub(crate) fn of_mention_word(word: &MentionWord) -> Arg<'_> {
    match word {
        MentionWord::Known(bytes) => Arg::Known(bytes),
        MentionWord::Pattern(text) => {
            let end = text
                .iter()
                .position(|b| matches!(b, b'*' | b'?' | b'['))
                .unwrap_or(text.len());
            Arg::Pattern {
                text,
                prefix: text.get(..end).unwrap_or(text),
            }
        }
        _ => Arg::Unknown,
    }
}
