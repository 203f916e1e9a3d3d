//! The loose scan: commands in text that no parser read.
//!
//! It cuts text at everything that could start a command, resolves simple quoting, and never recurses: an explicit
//! stack remembers the commands around a substitution, so that `rm $(x) -rf /` is still one command.

use crate::ansi_c::ansi_c;
use crate::mentions::{Mention, MentionWord};
use crate::plain::RedirectKind;
use crate::shell::Shell;

/// Words after which a command starts, as at the beginning.
const LEADING: &[&[u8]] = &[
    b"!",
    b"do",
    b"elif",
    b"else",
    b"if",
    b"then",
    b"time",
    b"until",
    b"while",
    b"function",
];

/// Calls `found` with every command of `text`.
pub(crate) fn scan(text: &[u8], shell: Shell, found: &mut dyn FnMut(Mention)) {
    let mut scan = Scan {
        text,
        at: 0,
        escape: match shell {
            Shell::PowerShell => b'`',
            Shell::Cmd => b'^',
            Shell::Bash | Shell::Sh | Shell::Zsh => b'\\',
        },
        quotes: true,
        frame: Frame::default(),
        outer: Vec::new(),
        found,
    };
    scan.run();
}

/// A command being read.
#[derive(Default)]
struct Frame {
    command: Mention,
    text: Vec<u8>,
    present: bool,
    unknown: bool,
    glob: bool,
    double: bool,
    redirect: Option<RedirectKind>,
    /// What ends the frame: `)` or a backtick.
    close: u8,
}

struct Scan<'a> {
    text: &'a [u8],
    at: usize,
    escape: u8,
    /// Cleared after an unterminated quote: its content is read as text.
    quotes: bool,
    frame: Frame,
    outer: Vec<Frame>,
    found: &'a mut dyn FnMut(Mention),
}

impl Scan<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn run(&mut self) {
        let mut opened = 0;
        loop {
            while let Some(byte) = self.peek() {
                self.at = self.at.saturating_add(1);
                if byte == b'"' && self.quotes && !self.frame.double {
                    opened = self.at;
                }
                self.byte(byte);
            }
            // A double quote that never closed: read what follows it once more, without quotes.
            let unclosed = self.frame.double || self.outer.iter().any(|frame| frame.double);
            self.end_command();
            while let Some(frame) = self.outer.pop() {
                self.frame = frame;
                self.end_command();
            }
            if !(unclosed && self.quotes) {
                return;
            }
            self.quotes = false;
            self.at = opened;
        }
    }

    fn byte(&mut self, byte: u8) {
        let double = self.frame.double;
        match byte {
            b'\\' | b'^' | b'`' if byte == self.escape => {
                let escaped = self.peek();
                self.at = self.at.saturating_add(1);
                if let Some(escaped) = escaped.filter(|&b| b != b'\n') {
                    self.frame.text.push(escaped);
                }
            }
            b'"' if self.quotes => {
                self.frame.double = !double;
                self.frame.present = true;
            }
            b'\'' if self.quotes && !double => self.single(),
            b'`' => {
                if self.frame.close == b'`' {
                    self.leave();
                } else {
                    self.enter(b'`');
                }
            }
            b'$' => self.dollar(),
            _ if double => self.frame.text.push(byte),
            b'(' => self.enter(b')'),
            b')' => self.leave(),
            b'<' | b'>' => {
                self.end_word();
                if self.peek() == Some(b'(') {
                    return;
                }
                self.frame.redirect = Some(match byte {
                    b'<' => RedirectKind::Read,
                    _ if self.peek() == Some(b'>') => RedirectKind::Append,
                    _ => RedirectKind::Write,
                });
                while matches!(self.peek(), Some(b'<' | b'>' | b'&' | b'|')) {
                    self.at = self.at.saturating_add(1);
                }
            }
            b' ' | b'\t' | b'\r' | 0x0B | 0x0C => self.end_word(),
            b';' | b'&' | b'|' | b'\n' | b'{' | b'}' => self.end_command(),
            b'*' | b'?' | b'[' => {
                self.frame.glob = true;
                self.frame.text.push(byte);
            }
            _ => self.frame.text.push(byte),
        }
    }

    fn single(&mut self) {
        let rest = self.text.get(self.at..).unwrap_or_default();
        match rest.iter().position(|&b| b == b'\'') {
            Some(length) => {
                self.frame.present = true;
                self.frame
                    .text
                    .extend_from_slice(rest.get(..length).unwrap_or_default());
                self.at = self.at.saturating_add(length).saturating_add(1);
            }
            // Unterminated: what follows is read as text.
            None => self.quotes = false,
        }
    }

    fn dollar(&mut self) {
        match self.peek() {
            Some(b'(') => {
                self.at = self.at.saturating_add(1);
                self.frame.unknown = true;
                self.enter(b')');
            }
            Some(b'\'') if !self.frame.double => {
                let (decoded, end) = ansi_c(self.text, self.at.saturating_add(1));
                self.frame.text.extend_from_slice(&decoded);
                self.at = end;
            }
            Some(b'"') if !self.frame.double => {}
            _ => self.frame.unknown = true,
        }
    }

    fn enter(&mut self, close: u8) {
        if close == b'`' {
            self.frame.unknown = true;
        }
        let frame = Frame {
            close,
            ..Frame::default()
        };
        self.outer.push(std::mem::replace(&mut self.frame, frame));
    }

    fn leave(&mut self) {
        self.end_command();
        if let Some(frame) = self.outer.pop() {
            self.frame = frame;
        }
    }

    fn end_word(&mut self) {
        let frame = &mut self.frame;
        let text = std::mem::take(&mut frame.text);
        let present = std::mem::take(&mut frame.present) || !text.is_empty();
        let unknown = std::mem::take(&mut frame.unknown);
        let glob = std::mem::take(&mut frame.glob);
        if !present && !unknown {
            return;
        }
        if frame.command.words.is_empty() && LEADING.contains(&text.as_slice()) && !unknown {
            return;
        }
        let word = if unknown {
            MentionWord::Unknown
        } else if glob {
            MentionWord::Pattern(text)
        } else {
            MentionWord::Known(text)
        };
        if let Some(kind) = frame.redirect.take() {
            frame.command.redirects.push((kind, word));
            return;
        }
        if frame.command.words.is_empty()
            && let Some((name, value)) = word.known().and_then(crate::walk::split_assignment)
        {
            let entry = (name.to_vec(), MentionWord::Known(value.to_vec()));
            frame.command.assignments.push(entry);
            return;
        }
        frame.command.words.push(word);
    }

    fn end_command(&mut self) {
        self.end_word();
        self.frame.double = false;
        self.frame.redirect = None;
        let command = std::mem::take(&mut self.frame.command);
        if !(command.words.is_empty()
            && command.redirects.is_empty()
            && command.assignments.is_empty())
        {
            (self.found)(command);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let mut found = Vec::new();
        scan(text.as_bytes(), Shell::Bash, &mut |mention| {
            found.push(mention.to_string());
        });
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn cuts_at_everything_that_could_start_a_command() {
        check("ls;rm -rf /", &["ls", "rm -rf /"]);
        check("echo \"$(rm -rf /)\" x", &["rm -rf /", "echo <?> x"]);
        check("rm `x` -rf /", &["x", "rm <?> -rf /"]);
        check("if a; then rm -rf /; fi", &["a", "rm -rf /", "fi"]);
        check("f() { rm -rf /; }", &["f", "rm -rf /"]);
        check("A=1 rm >x -rf /", &["rm -rf / Write=x"]);
        check("r''m $'\\x2d'rf \\/", &["rm -rf /"]);
        check("echo 'oops; rm -rf /", &["echo oops", "rm -rf /"]);
        check(
            "echo \"oops; rm -rf /",
            &["echo oops; rm -rf /", "oops", "rm -rf /"],
        );
    }

    #[test]
    fn deep_nesting_is_linear_and_flat() {
        let text = format!("{}rm{}", "$(".repeat(50_000), ")".repeat(50_000));
        let mut found = 0;
        scan(text.as_bytes(), Shell::Bash, &mut |_| found += 1);
        assert_eq!(found, 50_001);
    }
}
