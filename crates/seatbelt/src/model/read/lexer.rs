//! From characters to tokens.

use super::error::{Position, ReadError, ReadProblem};

/// The smallest part of a text that means something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Open,
    Close,
    Symbol(String),
    Text(String),
    Raw(String),
}

/// Reads tokens, one at a time, and knows where it is.
pub(super) struct Lexer<'a> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
    at: Position,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self {
            rest: text.chars().peekable(),
            at: Position { line: 1, column: 1 },
        }
    }

    /// The next token and where it begins; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<(Position, Token)>, ReadError> {
        self.skip_space_and_comments();
        let at = self.at;
        let Some(c) = self.take() else {
            return Ok(None);
        };
        let token = match c {
            '(' => Token::Open,
            ')' => Token::Close,
            '"' => Token::Text(self.text(at)?),
            '#' => match self.rest.peek() {
                Some('"') => {
                    self.take();
                    Token::Raw(self.raw(at)?)
                }
                _ => return Err(ReadError::new(at, ReadProblem::Character(c))),
            },
            c if in_symbol(c) => Token::Symbol(self.symbol(c)),
            c => return Err(ReadError::new(at, ReadProblem::Character(c))),
        };
        Ok(Some((at, token)))
    }

    fn take(&mut self) -> Option<char> {
        let c = self.rest.next()?;
        if c == '\n' {
            self.at.line += 1;
            self.at.column = 1;
        } else {
            self.at.column += 1;
        }
        Some(c)
    }

    fn skip_space_and_comments(&mut self) {
        while let Some(&c) = self.rest.peek() {
            match c {
                ' ' | '\t' | '\n' | '\r' => {
                    self.take();
                }
                ';' => {
                    while self.rest.peek().is_some_and(|c| *c != '\n') {
                        self.take();
                    }
                }
                _ => return,
            }
        }
    }

    fn symbol(&mut self, first: char) -> String {
        let mut symbol = String::from(first);
        while let Some(c) = self.rest.next_if(|c| in_symbol(*c)) {
            self.at.column += 1;
            symbol.push(c);
        }
        symbol
    }

    fn text(&mut self, begin: Position) -> Result<String, ReadError> {
        let mut text = String::new();
        loop {
            let at = self.at;
            match self.take() {
                None => return Err(ReadError::new(begin, ReadProblem::Unfinished("a string"))),
                Some('"') => return Ok(text),
                Some('\\') => match self.take() {
                    None => return Err(ReadError::new(begin, ReadProblem::Unfinished("a string"))),
                    Some(c @ ('"' | '\\')) => text.push(c),
                    Some('n') => text.push('\n'),
                    Some('t') => text.push('\t'),
                    Some('r') => text.push('\r'),
                    Some(c) => return Err(ReadError::new(at, ReadProblem::Escape(c))),
                },
                Some(c) => text.push(c),
            }
        }
    }

    /// Up to the next quote, backslashes and all.
    fn raw(&mut self, begin: Position) -> Result<String, ReadError> {
        let mut text = String::new();
        loop {
            let at = self.at;
            match self.take() {
                None => {
                    let problem = ReadProblem::Unfinished("a raw string");
                    return Err(ReadError::new(begin, problem));
                }
                Some('"') if text.ends_with('\\') => {
                    return Err(ReadError::new(at, ReadProblem::RawQuote));
                }
                Some('"') => return Ok(text),
                Some(c) => text.push(c),
            }
        }
    }
}

const fn in_symbol(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '*' | '_' | '.' | '+' | '!' | '?' | '/')
}
