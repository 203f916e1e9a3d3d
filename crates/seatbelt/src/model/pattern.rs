//! Regular expressions, in the subset that every reader understands alike.
//!
//! What readers differ about is refused: counted and lazy repetition, classes by name, escapes of letters, empty
//! alternatives, backslashes in brackets.

/// Why a pattern is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PatternProblem {
    /// A group that is not closed, or not opened.
    #[error("a group is not closed, or not opened")]
    Group,
    /// Brackets that are not closed, hold nothing, or hold something that readers differ about.
    #[error(
        "brackets that are not closed, hold nothing, or are read differently by different readers"
    )]
    Brackets,
    /// A repetition of nothing, of a repetition or of an anchor.
    #[error("a repetition of nothing, of a repetition or of an anchor")]
    Repetition,
    /// An alternative or a group with nothing in it.
    #[error("an alternative or a group with nothing in it")]
    Empty,
    /// An escape of something that stands for itself, or of nothing.
    #[error("a backslash before something else than punctuation")]
    Escape,
    /// A character that has to be escaped.
    #[error("{0:?} means different things to different readers; escape it")]
    Unescaped(char),
    /// Groups inside groups inside groups.
    #[error("groups are nested more than {0} deep")]
    TooDeep(usize),
    /// A long pattern.
    #[error("the pattern is longer than {0} bytes")]
    TooLong(usize),
}

const MAX_DEPTH: usize = 32;
const MAX_BYTES: usize = 64 * 1024;

/// Which bytes fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ByteSet([u64; 4]);

impl ByteSet {
    const NONE: Self = Self([0; 4]);
    const ALL: Self = Self([u64::MAX; 4]);

    fn of(byte: u8) -> Self {
        let mut set = Self::NONE;
        set.insert(byte);
        set
    }

    fn insert(&mut self, byte: u8) {
        if let Some(word) = self.0.get_mut(usize::from(byte >> 6)) {
            *word |= 1 << (byte & 63);
        }
    }

    fn inverted(self) -> Self {
        Self(self.0.map(|word| !word))
    }

    pub(super) fn contains(&self, byte: u8) -> bool {
        let word = self.0.get(usize::from(byte >> 6)).copied().unwrap_or(0);
        word & (1 << (byte & 63)) != 0
    }
}

/// What a pattern says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Syntax {
    One(ByteSet),
    Start,
    End,
    Sequence(Vec<Syntax>),
    Either(Vec<Syntax>),
    Repeat {
        inner: Box<Syntax>,
        least_once: bool,
        at_most_once: bool,
    },
}

/// Reads a pattern.
pub(super) fn parse(text: &str) -> Result<Syntax, PatternProblem> {
    if text.len() > MAX_BYTES {
        return Err(PatternProblem::TooLong(MAX_BYTES));
    }
    let mut parser = Parser {
        rest: text.as_bytes(),
    };
    let syntax = parser.either(0)?;
    match parser.rest {
        [] => Ok(syntax),
        _ => Err(PatternProblem::Group),
    }
}

struct Parser<'a> {
    rest: &'a [u8],
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    fn take(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    fn either(&mut self, depth: usize) -> Result<Syntax, PatternProblem> {
        if depth > MAX_DEPTH {
            return Err(PatternProblem::TooDeep(MAX_DEPTH));
        }
        let mut branches = vec![self.sequence(depth)?];
        while self.peek() == Some(b'|') {
            self.take();
            branches.push(self.sequence(depth)?);
        }
        Ok(match branches.pop() {
            Some(only) if branches.is_empty() => only,
            last => {
                branches.extend(last);
                Syntax::Either(branches)
            }
        })
    }

    fn sequence(&mut self, depth: usize) -> Result<Syntax, PatternProblem> {
        let mut items = Vec::new();
        while let Some(byte) = self.peek() {
            if matches!(byte, b'|' | b')') {
                break;
            }
            let item = self.item(depth)?;
            items.push(self.repeated(item)?);
        }
        match items.is_empty() {
            true => Err(PatternProblem::Empty),
            false => Ok(Syntax::Sequence(items)),
        }
    }

    fn item(&mut self, depth: usize) -> Result<Syntax, PatternProblem> {
        Ok(match self.take() {
            None => return Err(PatternProblem::Empty),
            Some(b'^') => Syntax::Start,
            Some(b'$') => Syntax::End,
            Some(b'.') => Syntax::One(ByteSet::ALL),
            Some(b'[') => Syntax::One(self.brackets()?),
            Some(b'(') => {
                let inner = self.either(depth + 1)?;
                match self.take() {
                    Some(b')') => inner,
                    _ => return Err(PatternProblem::Group),
                }
            }
            Some(b'*' | b'+' | b'?') => return Err(PatternProblem::Repetition),
            Some(byte @ (b'{' | b'}' | b']')) => {
                return Err(PatternProblem::Unescaped(char::from(byte)));
            }
            Some(b'\\') => match self.take() {
                Some(byte) if byte.is_ascii_punctuation() => Syntax::One(ByteSet::of(byte)),
                _ => return Err(PatternProblem::Escape),
            },
            Some(byte) => Syntax::One(ByteSet::of(byte)),
        })
    }

    fn repeated(&mut self, item: Syntax) -> Result<Syntax, PatternProblem> {
        let (least_once, at_most_once) = match self.peek() {
            Some(b'*') => (false, false),
            Some(b'+') => (true, false),
            Some(b'?') => (false, true),
            _ => return Ok(item),
        };
        self.take();
        let again = matches!(self.peek(), Some(b'*' | b'+' | b'?'));
        // Repeating a group that can be empty is a loop through nothing, about which readers differ.
        if again || may_be_empty(&item) {
            return Err(PatternProblem::Repetition);
        }
        Ok(Syntax::Repeat {
            inner: Box::new(item),
            least_once,
            at_most_once,
        })
    }

    fn brackets(&mut self) -> Result<ByteSet, PatternProblem> {
        let wrong = PatternProblem::Brackets;
        let inverted = self.peek() == Some(b'^');
        if inverted {
            self.take();
        }
        let mut set = ByteSet::NONE;
        let mut first = true;
        loop {
            let low = match self.take().ok_or(wrong)? {
                b']' if !first => break,
                // `[:`, `[.` and `[=` begin classes by name.
                b'[' if matches!(self.peek(), Some(b':' | b'.' | b'=')) => return Err(wrong),
                b'\\' => return Err(wrong),
                byte if !byte.is_ascii() => return Err(wrong),
                byte => byte,
            };
            first = false;
            let high = match self.rest {
                [b'-', b']', ..] => low,
                [b'-', high, ..] if high.is_ascii() && !matches!(high, b'\\' | b'[') => {
                    let high = *high;
                    self.take();
                    self.take();
                    high
                }
                [b'-', ..] => return Err(wrong),
                _ => low,
            };
            if high < low {
                return Err(wrong);
            }
            for byte in low..=high {
                set.insert(byte);
            }
        }
        Ok(if inverted { set.inverted() } else { set })
    }
}

fn may_be_empty(syntax: &Syntax) -> bool {
    match syntax {
        Syntax::One(_) => false,
        Syntax::Start | Syntax::End => true,
        Syntax::Sequence(items) => items.iter().all(may_be_empty),
        Syntax::Either(branches) => branches.iter().any(may_be_empty),
        Syntax::Repeat {
            inner, least_once, ..
        } => !least_once || may_be_empty(inner),
    }
}
