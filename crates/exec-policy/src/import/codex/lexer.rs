//! The words of a `.rules` file: names, strings, brackets. Anything else is a word that no literal has.

use crate::import::report::ImportError;

/// What a token is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Name(String),
    Text(String),
    Open(char),
    Close(char),
    Comma,
    Equals,
    /// An operator, a number, a formatted string: something computed.
    Other,
    /// The end of a line outside brackets, or a semicolon.
    End,
}

/// A token with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) line: usize,
    /// Whether it is the first of an indented line: inside a block.
    pub(super) indented: bool,
}

const MAX_DEPTH: usize = 64;

/// All tokens, with an end after the last.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, ImportError> {
    let mut lexer = Lexer {
        rest: text.chars().peekable(),
        line: 1,
        depth: 0,
        line_start: true,
        blanks: false,
        tokens: Vec::new(),
    };
    while lexer.step()? {}
    lexer.push(Kind::End);
    Ok(lexer.tokens)
}

struct Lexer<'a> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
    line: usize,
    depth: usize,
    line_start: bool,
    blanks: bool,
    tokens: Vec<Token>,
}

impl Lexer<'_> {
    fn fail(&self, problem: &'static str) -> ImportError {
        ImportError::Syntax {
            line: self.line,
            problem,
        }
    }

    fn push(&mut self, kind: Kind) {
        let indented = self.line_start && self.blanks && self.depth == 0;
        self.line_start = false;
        let line = self.line;
        self.tokens.push(Token {
            kind,
            line,
            indented,
        });
    }

    fn step(&mut self) -> Result<bool, ImportError> {
        let Some(c) = self.rest.next() else {
            return if self.depth == 0 {
                Ok(false)
            } else {
                Err(self.fail("a bracket is never closed"))
            };
        };
        match c {
            '\n' => {
                if self.depth == 0 {
                    self.push(Kind::End);
                }
                self.line = self.line.saturating_add(1);
                self.line_start = true;
                self.blanks = false;
            }
            ' ' | '\t' => self.blanks = true,
            // Some readers end a line here and others do not: what stands behind it, or behind a comment, is unclear.
            '\r' if self.rest.peek() != Some(&'\n') => {
                return Err(self.fail("a carriage return that ends no line"));
            }
            '\r' => {}
            '#' => while self.rest.next_if(|c| !matches!(c, '\n' | '\r')).is_some() {},
            '\\' if matches!(self.rest.peek(), Some('\n' | '\r')) => {
                self.rest.next_if_eq(&'\r');
                if self.rest.next_if_eq(&'\n').is_none() {
                    return Err(self.fail("a carriage return that ends no line"));
                }
                self.line = self.line.saturating_add(1);
            }
            '(' | '[' | '{' => {
                self.push(Kind::Open(c));
                self.depth = self.depth.saturating_add(1);
                if self.depth > MAX_DEPTH {
                    return Err(self.fail("nested too deeply"));
                }
            }
            ')' | ']' | '}' => {
                self.depth = self
                    .depth
                    .checked_sub(1)
                    .ok_or_else(|| self.fail("a bracket is closed that was never opened"))?;
                self.push(Kind::Close(c));
            }
            ',' => self.push(Kind::Comma),
            ';' => self.push(Kind::End),
            '=' if self.rest.peek() != Some(&'=') => self.push(Kind::Equals),
            '"' | '\'' => {
                let line = self.line;
                let text = self.text(c, false)?;
                self.push(Kind::Text(text));
                if let Some(token) = self.tokens.last_mut() {
                    token.line = line;
                }
            }
            c if c.is_ascii_alphabetic() || c == '_' => self.name(c)?,
            _ => self.push(Kind::Other),
        }
        Ok(true)
    }

    fn name(&mut self, first: char) -> Result<(), ImportError> {
        let mut name = String::from(first);
        while let Some(c) = self
            .rest
            .next_if(|c| c.is_ascii_alphanumeric() || *c == '_')
        {
            name.push(c);
        }
        match (name.as_str(), self.rest.peek().copied()) {
            ("r" | "R", Some(quote @ ('"' | '\''))) => {
                self.rest.next();
                let text = self.text(quote, true)?;
                self.push(Kind::Text(text));
            }
            (_, Some(quote @ ('"' | '\''))) => {
                // Bytes and formatted strings are no literal of ours.
                self.rest.next();
                self.text(quote, false)?;
                self.push(Kind::Other);
            }
            _ => self.push(Kind::Name(name)),
        }
        Ok(())
    }

    /// The rest of a string whose first quote was read.
    fn text(&mut self, quote: char, raw: bool) -> Result<String, ImportError> {
        let mut triple = false;
        if self.rest.next_if_eq(&quote).is_some() {
            if self.rest.next_if_eq(&quote).is_none() {
                return Ok(String::new());
            }
            triple = true;
        }
        let mut text = String::new();
        let mut quotes = 0;
        loop {
            let Some(c) = self.rest.next() else {
                return Err(self.fail("a string never ends"));
            };
            if c == quote {
                quotes += 1;
                if !triple {
                    return Ok(text);
                }
                if quotes == 3 {
                    text.truncate(text.len().saturating_sub(2));
                    return Ok(text);
                }
                text.push(c);
                continue;
            }
            quotes = 0;
            match c {
                '\n' if !triple => return Err(self.fail("a string ends with its line")),
                '\n' => {
                    self.line = self.line.saturating_add(1);
                    text.push(c);
                }
                '\\' if raw => {
                    text.push(c);
                    text.extend(self.rest.next());
                }
                '\\' => text.extend(self.escape()?),
                _ => text.push(c),
            }
        }
    }

    fn escape(&mut self) -> Result<Option<char>, ImportError> {
        Ok(Some(match self.rest.next() {
            Some(c @ ('\\' | '"' | '\'')) => c,
            Some('n') => '\n',
            Some('t') => '\t',
            Some('r') => '\r',
            Some('\n') => {
                self.line = self.line.saturating_add(1);
                return Ok(None);
            }
            Some('x') => self.code(2)?,
            Some('u') => self.code(4)?,
            Some('U') => self.code(8)?,
            _ => return Err(self.fail("an unknown escape in a string")),
        }))
    }

    fn code(&mut self, digits: usize) -> Result<char, ImportError> {
        let mut value: u32 = 0;
        for _ in 0..digits {
            let digit = self.rest.next().and_then(|c| c.to_digit(16));
            let digit = digit.ok_or_else(|| self.fail("an unknown escape in a string"))?;
            value = value.wrapping_mul(16).wrapping_add(digit);
        }
        char::from_u32(value).ok_or_else(|| self.fail("an unknown escape in a string"))
    }
}
