//! Regular expressions that mean the same to every reader, and hold no text of the host that could mean more.

/// A regular expression, in the subset that every reader understands alike: ASCII characters, brackets, groups, `|`,
/// `*`, `+`, `?`, `^` and `$`.
///
/// It is put together from parts, each of which stands for itself: there is no way to pass an expression as text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pattern(pub(crate) String);

/// A text that a pattern cannot hold as it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{character:?} cannot be part of a pattern")]
#[non_exhaustive]
pub struct PatternError {
    /// The character that is in the way: a quote, which would end the pattern, a control character, or one beyond ASCII.
    pub character: char,
}

impl Pattern {
    /// The text between `#"` and `"`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// A pattern that begins where the path begins.
    pub(crate) fn from_the_start() -> Self {
        Self("^".to_owned())
    }

    /// The devices of terminals, by the names that macOS gives them; not `/dev/tty`, which is the process's own.
    pub(crate) fn terminals() -> Self {
        Self("^/dev/tty[a-z][0-9a-z]+$".to_owned())
    }

    /// A part of a larger pattern.
    pub(crate) const fn part() -> Self {
        Self(String::new())
    }

    /// Followed by this many names, whatever they are, each with the separator before it.
    pub(crate) fn any_names(mut self, count: usize) -> Self {
        for _ in 0..count {
            self.0.push_str("/[^/]+");
        }
        self
    }

    /// Followed by any number of names, also none.
    pub(crate) fn some_names(mut self) -> Self {
        self.0.push_str("(/[^/]+)*");
        self
    }

    /// Followed by a separator.
    pub(crate) fn separator(mut self) -> Self {
        self.0.push('/');
        self
    }

    /// Followed by a character, which stands for itself.
    pub(crate) fn character(mut self, character: char) -> Result<Self, PatternError> {
        match character {
            '"' => return Err(PatternError { character }),
            'a'..='z'
            | 'A'..='Z'
            | '0'..='9'
            | ' '
            | '/'
            | '-'
            | '_'
            | '~'
            | '='
            | ','
            | '@'
            | '%'
            | ':'
            | ';'
            | '!'
            | '#'
            | '&'
            | '<'
            | '>'
            | '`'
            | '\'' => self.0.push(character),
            '!'..='~' => {
                self.0.push('\\');
                self.0.push(character);
            }
            _ => return Err(PatternError { character }),
        }
        Ok(self)
    }

    /// Followed by a letter in either case; anything else stands for itself.
    pub(crate) fn either_case(mut self, character: char) -> Result<Self, PatternError> {
        if !character.is_ascii_alphabetic() {
            return self.character(character);
        }
        let (small, large) = (
            character.to_ascii_lowercase(),
            character.to_ascii_uppercase(),
        );
        self.0.extend(['[', small, large, ']']);
        Ok(self)
    }

    /// Followed by one character of a name, whatever it is. Beyond ASCII it has up to four bytes, and readers may count
    /// either: a few such characters fit as well.
    pub(crate) fn any_character(mut self) -> Self {
        self.0.push_str("([ -.0-~]|[^ -~][^ -~]?[^ -~]?[^ -~]?)");
        self
    }

    /// Followed by one byte or character that is not a separator.
    pub(crate) fn one(mut self) -> Self {
        self.0.push_str("[^/]");
        self
    }

    /// Followed by any characters of a name, also none.
    pub(crate) fn any_characters(mut self) -> Self {
        self.0.push_str("[^/]*");
        self
    }

    /// Followed by any characters of a name, one of which at least is beyond ASCII.
    pub(crate) fn beyond_ascii(mut self) -> Self {
        self.0.push_str("[^/]*[^ -~][^/]*");
        self
    }

    /// Followed by characters beyond ASCII, at least one.
    pub(crate) fn only_beyond_ascii(mut self) -> Self {
        self.0.push_str("[^ -~]+");
        self
    }

    /// Followed by another part.
    pub(crate) fn then(mut self, part: &Self) -> Self {
        self.0.push_str(&part.0);
        self
    }

    /// Followed by one part or another.
    pub(crate) fn either(mut self, one: &Self, other: &Self) -> Self {
        self.0.push('(');
        self.0.push_str(&one.0);
        self.0.push('|');
        self.0.push_str(&other.0);
        self.0.push(')');
        self
    }

    /// Which ends where the path ends.
    pub(crate) fn until_the_end(mut self) -> Self {
        self.0.push('$');
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_stands_for_itself_or_is_refused() {
        for character in (0..=0x2ff).filter_map(char::from_u32) {
            match Pattern::part().character(character) {
                Ok(pattern) => {
                    let text = pattern.as_str();
                    assert!(!text.contains('"') && text.is_ascii(), "{character:?}");
                    let plain = text.strip_prefix('\\').unwrap_or(text);
                    assert_eq!(plain, character.to_string());
                    let special = ".*+?()[]{}|^$\\".contains(character);
                    assert_eq!(text.len() == 2, special, "{text}");
                }
                Err(error) => {
                    assert_eq!(error.character, character);
                    assert!(character == '"' || !(' '..='~').contains(&character));
                }
            }
        }
    }
}
