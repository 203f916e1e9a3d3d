//! The strict reader of words and operators.
//!
//! It accepts only what bash, dash and zsh read alike, and answers opaque to everything else. Each refusal below is
//! about a spelling that at least one of the three shells expands, splits or groups differently, or would under a
//! common option. When in doubt, refuse: the cost is a question, the alternative is a wrong answer.

use crate::limits::Meter;
use crate::opaque::{Opaque, OpaqueReason as Reason};
use crate::plain::RedirectKind;
use crate::shell::Shell;
use crate::word::Span;

/// A word before its position is known.
#[derive(Debug, Default)]
pub(crate) struct RawWord {
    /// The text with quotes removed.
    pub(crate) bytes: Vec<u8>,
    /// Indices of active glob characters in `bytes`.
    pub(crate) metas: Vec<usize>,
    /// Index in `bytes` of the first unquoted `=`.
    pub(crate) equals: Option<usize>,
    /// Index in `bytes` where the first quote opened.
    pub(crate) quoted_from: Option<usize>,
    pub(crate) span: Span,
}

#[derive(Debug)]
pub(crate) enum Token {
    Word(RawWord),
    And,
    Or,
    /// `;`
    Semicolon,
    Newline,
    Pipe,
    PipeBoth,
    /// A redirect that takes a word: descriptor and operator.
    Redirect(u8, RedirectKind),
    /// A redirect that names a descriptor: `2>&1`.
    Duplicate(u8, RedirectKind, u8),
    HereDocument(u8, Vec<u8>),
    /// `<(`
    Open,
    /// `)`
    Close,
    End,
}

pub(crate) struct Lexer<'a> {
    text: &'a [u8],
    pos: usize,
    /// Where the last token started.
    token_start: usize,
    shell: Shell,
    /// Where reading goes on after the next newline, once a here-document was seen on this line.
    after_bodies: Option<usize>,
    /// Open `<(`; here-documents and newlines inside are refused or restricted.
    pub(crate) depth: usize,
}

impl<'a> Lexer<'a> {
    /// Refuses any byte outside printable ASCII, tab and newline before the first token is read.
    pub(crate) fn new(text: &'a [u8], shell: Shell, meter: &mut Meter) -> Result<Self, Opaque> {
        if text.len() > meter.limits().max_bytes || !meter.take(text.len()) {
            return Err(Opaque::new(
                Reason::Limit,
                None,
                format!("{} bytes of script", text.len()),
            ));
        }
        if !text
            .iter()
            .all(|&b| matches!(b, b' '..=b'~' | b'\t' | b'\n'))
            && let Some(point) = crate::hidden::hidden_points(text).next()
        {
            return Err(Opaque::new(
                Reason::HiddenCharacter,
                point.at,
                point.to_string(),
            ));
        }
        Ok(Self {
            text,
            pos: 0,
            token_start: 0,
            shell,
            after_bodies: None,
            depth: 0,
        })
    }

    pub(crate) fn pos(&self) -> usize {
        self.pos
    }

    pub(crate) fn token_start(&self) -> usize {
        self.token_start
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.pos).copied()
    }

    fn peek_at(&self, ahead: usize) -> Option<u8> {
        self.text.get(self.pos.saturating_add(ahead)).copied()
    }

    fn advance(&mut self, n: usize) {
        self.pos = self.pos.saturating_add(n);
    }

    fn opaque<T>(&self, reason: Reason, detail: &'static str) -> Result<T, Opaque> {
        Err(Opaque::new(reason, self.pos, detail))
    }

    pub(crate) fn next(&mut self) -> Result<Token, Opaque> {
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.advance(1);
        }
        self.token_start = self.pos;
        let Some(byte) = self.peek() else {
            return Ok(Token::End);
        };
        let following = self.peek_at(1);
        match (byte, following) {
            (b'\n', _) => {
                self.advance(1);
                if let Some(resume) = self.after_bodies.take() {
                    self.pos = resume;
                }
                Ok(Token::Newline)
            }
            (b'&', Some(b'&')) => self.operator(2, Token::And),
            (b'&', Some(b'>')) => self.opaque(Reason::Redirect, "`&>` means another thing in dash"),
            (b'&', _) => self.opaque(Reason::Background, "`&`"),
            (b'|', Some(b'|')) => self.operator(2, Token::Or),
            (b'|', Some(b'&')) if self.shell == Shell::Sh => {
                self.opaque(Reason::Syntax, "`|&` is not in POSIX sh")
            }
            (b'|', Some(b'&')) => self.operator(2, Token::PipeBoth),
            (b'|', _) => self.operator(1, Token::Pipe),
            (b';', Some(b';' | b'&' | b'|')) => {
                self.opaque(Reason::Syntax, "`;` before an operator")
            }
            (b';', _) => self.operator(1, Token::Semicolon),
            (b')', _) if self.depth > 0 => {
                // What follows must not continue a word: `<(a)b` is one argument in two parts.
                match following {
                    None | Some(b' ' | b'\t' | b'\n' | b';' | b'|' | b'&' | b')') => {
                        self.operator(1, Token::Close)
                    }
                    Some(_) => self.opaque(Reason::Construct, "text joined to `<(...)`"),
                }
            }
            (b'(' | b')', _) => self.opaque(Reason::Construct, "parenthesis"),
            (b'<' | b'>', _) => {
                let fd = u8::from(byte == b'>');
                self.redirect(fd)
            }
            (b'0'..=b'9', Some(b'<' | b'>')) => {
                self.advance(1);
                self.redirect(byte.saturating_sub(b'0'))
            }
            _ => self.word().map(Token::Word),
        }
    }

    fn operator(&mut self, length: usize, token: Token) -> Result<Token, Opaque> {
        self.advance(length);
        Ok(token)
    }

    /// Reads a redirect operator at `<` or `>`.
    fn redirect(&mut self, fd: u8) -> Result<Token, Opaque> {
        let first = self.peek();
        // Input on 0 and output elsewhere: zsh refuses to mix directions on one descriptor.
        if (first == Some(b'<')) != (fd == 0) {
            return self.opaque(Reason::Redirect, "an unusual descriptor");
        }
        let (second, third) = (self.peek_at(1), self.peek_at(2));
        let (length, kind) = match (first, second, third) {
            (Some(b'<'), Some(b'('), _) => {
                let joined_fd = self
                    .pos
                    .checked_sub(1)
                    .and_then(|before| self.text.get(before))
                    .is_some_and(|&b| !matches!(b, b' ' | b'\t'));
                if self.shell == Shell::Sh || joined_fd {
                    return self.opaque(Reason::Construct, "process substitution here");
                }
                self.advance(2);
                return Ok(Token::Open);
            }
            (Some(b'<'), Some(b'<'), Some(b'\'' | b'"')) => return self.here_document(fd),
            (Some(b'<'), Some(b'<'), _) => {
                return self.opaque(Reason::HereDocument, "delimiter is not quoted");
            }
            (Some(b'>'), Some(b'>'), _) => (2, RedirectKind::Append),
            (Some(b'>'), Some(b'|'), _) => (2, RedirectKind::Clobber),
            (Some(b'>'), Some(b'&'), _) => {
                return self.duplicate(fd, RedirectKind::DuplicateOut);
            }
            (Some(b'<'), Some(b'&'), _) => return self.duplicate(fd, RedirectKind::DuplicateIn),
            // zsh reads `<1-5>` as a glob.
            (Some(b'<'), Some(b'0'..=b'9' | b'-' | b'>'), _) => {
                return self.opaque(Reason::Redirect, "numeric glob or `<>`");
            }
            (Some(b'<'), _, _) => (1, RedirectKind::Read),
            _ => (1, RedirectKind::Write),
        };
        self.advance(length);
        if matches!(self.peek(), Some(b'&' | b'|' | b'(' | b'<' | b'>' | b'!')) {
            return self.opaque(Reason::Redirect, "unusual redirect operator");
        }
        Ok(Token::Redirect(fd, kind))
    }

    /// `>&N` with one digit and nothing joined to it: `>&file` writes a file and `>&1-` closes one.
    fn duplicate(&mut self, fd: u8, kind: RedirectKind) -> Result<Token, Opaque> {
        let digit = self.peek_at(2).filter(u8::is_ascii_digit);
        let ends = matches!(
            self.peek_at(3),
            None | Some(b' ' | b'\t' | b'\n' | b';' | b'|' | b'&' | b')')
        );
        match digit {
            Some(digit) if ends => {
                self.advance(3);
                Ok(Token::Duplicate(fd, kind, digit.saturating_sub(b'0')))
            }
            _ => self.opaque(Reason::Redirect, "`>&` without a single descriptor"),
        }
    }

    /// `<<'WORD'`: finds the body at once, because nothing on the rest of the line can move it.
    fn here_document(&mut self, fd: u8) -> Result<Token, Opaque> {
        if self.depth > 0 {
            return self.opaque(Reason::HereDocument, "inside `<(...)`");
        }
        let start = self.pos;
        let quote = self.peek_at(2).unwrap_or(b'\'');
        self.advance(3);
        let rest = self.text.get(self.pos..).unwrap_or_default();
        let length = rest
            .iter()
            .take_while(|b| b.is_ascii_alphanumeric() || **b == b'_')
            .count();
        let delimiter = rest.get(..length).unwrap_or_default();
        self.advance(length);
        let closed = self.peek() == Some(quote);
        let ends = matches!(
            self.peek_at(1),
            Some(b' ' | b'\t' | b'\n' | b';' | b'|' | b'&')
        );
        if length == 0 || !closed || !ends {
            return Err(Opaque::new(
                Reason::HereDocument,
                start,
                "delimiter is not a quoted name",
            ));
        }
        self.advance(1);
        let body_start = match self.after_bodies {
            Some(resume) => resume,
            None => self
                .text
                .get(self.pos..)
                .and_then(|rest| rest.iter().position(|&b| b == b'\n'))
                .map_or(self.text.len(), |offset| {
                    self.pos.saturating_add(offset).saturating_add(1)
                }),
        };
        let mut line_start = body_start;
        while let Some(rest) = self.text.get(line_start..).filter(|rest| !rest.is_empty()) {
            let line_length = rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
            let next = line_start
                .saturating_add(line_length)
                .saturating_add(1)
                .min(self.text.len());
            if rest.get(..line_length) == Some(delimiter) {
                let body = self.text.get(body_start..line_start).unwrap_or_default();
                self.after_bodies = Some(next);
                return Ok(Token::HereDocument(fd, body.to_vec()));
            }
            line_start = next;
        }
        Err(Opaque::new(
            Reason::HereDocument,
            start,
            "the delimiter never comes",
        ))
    }

    fn word(&mut self) -> Result<RawWord, Opaque> {
        let start = self.pos;
        let mut word = RawWord {
            // Most words fit: growing by doubling from nothing would cost more than the rest of the loop.
            bytes: Vec::with_capacity(16),
            ..RawWord::default()
        };
        let mut brackets = false;
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' | b'\n' | b';' | b'|' | b'&' | b')' => break,
                b'<' | b'>' => {
                    // `a1>x` and `"1">x`: where the word ends is a matter of opinion.
                    let before = self.pos.checked_sub(1).and_then(|i| self.text.get(i));
                    if before.is_some_and(u8::is_ascii_alphabetic) && self.peek_at(1) != Some(b'(')
                    {
                        break;
                    }
                    return self.opaque(Reason::Redirect, "operator joined to a word");
                }
                b'\'' | b'"' => {
                    word.quoted_from.get_or_insert(word.bytes.len());
                    self.quoted(byte, &mut word)?;
                    continue;
                }
                b'*' | b'?' => word.metas.push(word.bytes.len()),
                b'[' => {
                    brackets = true;
                    word.metas.push(word.bytes.len());
                }
                b']' if brackets => word.metas.push(word.bytes.len()),
                b'=' => {
                    // Also after `''`, which does not stop zsh.
                    if word.bytes.is_empty() {
                        return self
                            .opaque(Reason::Expansion, "leading `=` names a program in zsh");
                    }
                    word.equals.get_or_insert(word.bytes.len());
                }
                b'~' => self.tilde(start)?,
                b'a'..=b'z'
                | b'A'..=b'Z'
                | b'0'..=b'9'
                | b'_'
                | b'-'
                | b'.'
                | b'/'
                | b':'
                | b','
                | b'+'
                | b'@'
                | b'%'
                | b']' => {}
                _ => return self.refuse(byte),
            }
            word.bytes.push(byte);
            self.advance(1);
        }
        if !word.metas.is_empty()
            && let Some(offset) = self
                .text
                .get(start..self.pos)
                .and_then(|raw| raw.iter().position(|&b| b == b'~'))
        {
            return Err(Opaque::new(
                Reason::Glob,
                start.saturating_add(offset),
                "`~` in a glob excludes files in zsh",
            ));
        }
        word.span = Span {
            start,
            end: self.pos,
        };
        Ok(word)
    }

    /// A tilde is literal only right after ordinary word text: not leading, not after `=`, `:` or a quote.
    fn tilde(&self, start: usize) -> Result<(), Opaque> {
        let before = self
            .pos
            .checked_sub(1)
            .filter(|&before| before >= start)
            .and_then(|before| self.text.get(before));
        match before {
            Some(b)
                if b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'/' | b'@') =>
            {
                Ok(())
            }
            _ => self.opaque(Reason::Expansion, "tilde"),
        }
    }

    fn quoted(&mut self, quote: u8, word: &mut RawWord) -> Result<(), Opaque> {
        let open = self.pos;
        self.advance(1);
        loop {
            let Some(byte) = self.peek() else {
                return Err(Opaque::new(Reason::Quoting, open, "the quote never closes"));
            };
            if byte == quote {
                self.advance(1);
                if quote == b'\'' && self.peek() == Some(b'\'') {
                    return self.opaque(Reason::Quoting, "`''` is a quote under zsh's rcquotes");
                }
                return Ok(());
            }
            if byte == b'\n' && self.after_bodies.is_some() {
                return self.opaque(Reason::HereDocument, "a quoted newline before its body");
            }
            if quote == b'"' {
                match byte {
                    b'$' | b'`' => return self.opaque(Reason::Expansion, "inside double quotes"),
                    b'\\' => return self.opaque(Reason::Backslash, "inside double quotes"),
                    b'!' => return self.opaque(Reason::Expansion, "`!` inside double quotes"),
                    _ => {}
                }
            }
            word.bytes.push(byte);
            self.advance(1);
        }
    }

    fn refuse<T>(&self, byte: u8) -> Result<T, Opaque> {
        match byte {
            b'\\' => self.opaque(Reason::Backslash, ""),
            b'$' => self.opaque(Reason::Expansion, "`$`"),
            b'`' => self.opaque(Reason::Expansion, "backtick"),
            b'{' | b'}' => self.opaque(Reason::Expansion, "brace"),
            b'^' => self.opaque(Reason::Expansion, "`^` is a glob in zsh"),
            b'#' => self.opaque(Reason::Construct, "`#`"),
            b'!' => self.opaque(Reason::Construct, "`!`"),
            b'(' => self.opaque(Reason::Construct, "parenthesis"),
            _ => self.opaque(Reason::Syntax, "unexpected character"),
        }
    }
}
