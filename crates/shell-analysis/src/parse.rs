//! From tokens to commands: positions decide what a word may be.

use crate::lexer::{Lexer, RawWord, Token};
use crate::limits::Meter;
use crate::opaque::{Opaque, OpaqueReason as Reason};
use crate::plain::{
    Assignment, Cwd, Join, Plain, PlainCommand, Redirect, RedirectKind, RedirectTarget,
};
use crate::shell::Shell;
use crate::word::{Pattern, Span, Word};

/// Words that some shell takes for grammar, not for a program, when they come first; sorted.
///
/// Quoting would make them programs, but no useful program has such a name: quoted ones are refused as well.
const RESERVED: &[&[u8]] = &[
    b"always",
    b"case",
    b"coproc",
    b"do",
    b"done",
    b"elif",
    b"else",
    b"end",
    b"esac",
    b"fi",
    b"for",
    b"foreach",
    b"function",
    b"if",
    b"in",
    b"nocorrect",
    b"noglob",
    b"repeat",
    b"select",
    b"then",
    b"until",
    b"while",
];

/// Builtins whose operands zsh reads as assignments, expanding `=name` and `~` after each `=`.
const DECLARES: &[&[u8]] = &[
    b"declare",
    b"export",
    b"float",
    b"integer",
    b"local",
    b"readonly",
    b"typeset",
];

/// Reads a whole script; wrappers and effects are the caller's business.
pub(crate) fn commands(
    text: &[u8],
    shell: Shell,
    meter: &mut Meter,
) -> Result<Vec<PlainCommand>, Opaque> {
    let mut lexer = Lexer::new(text, shell, meter)?;
    list(&mut lexer, meter)
}

/// Whether `program` can stand first without any shell reading more into it.
pub(crate) fn check_program(program: &[u8], at: Option<usize>) -> Result<(), Opaque> {
    let refuse = |detail: &'static str| Err(Opaque::new(Reason::Program, at, detail));
    if program == b"[" || program == b":" {
        return Ok(());
    }
    match program.first() {
        None => return refuse("empty"),
        Some(first) if first.is_ascii_alphanumeric() || matches!(first, b'_' | b'.' | b'/') => {}
        Some(_) => return refuse("starts with a special character"),
    }
    if !program.iter().all(|b| {
        b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'/' | b'-' | b'+' | b'@' | b',')
    }) {
        return refuse("holds a special character");
    }
    if RESERVED
        .binary_search_by(|known| crate::names::order(known, program))
        .is_ok()
    {
        return Err(Opaque::new(
            Reason::Construct,
            at,
            format!("reserved word `{}`", String::from_utf8_lossy(program)),
        ));
    }
    Ok(())
}

/// Reads commands up to the end, or up to the `)` of the innermost `<(`.
fn list(lexer: &mut Lexer<'_>, meter: &mut Meter) -> Result<Vec<PlainCommand>, Opaque> {
    let nested = lexer.depth > 0;
    let mut commands = Vec::new();
    let mut join = Join::Start;
    loop {
        let (command, end) = command(lexer, meter, join)?;
        // A missing command is fine only where every shell ignores it: blank lines, and the end after `;` or newline.
        let may_be_missing = matches!(join, Join::Start | Join::Seq);
        let missing = command.is_none();
        if let Some(command) = command {
            if !meter.take_command() {
                return Err(Opaque::new(Reason::Limit, lexer.pos(), "too many commands"));
            }
            commands.push(command);
        }
        let next = match end {
            Token::Newline if missing => join,
            _ if missing && !(may_be_missing && matches!(end, Token::End | Token::Close)) => {
                return Err(Opaque::new(
                    Reason::Syntax,
                    lexer.token_start(),
                    "an operator without a command",
                ));
            }
            Token::And => Join::And,
            Token::Or => Join::Or,
            Token::Semicolon | Token::Newline => Join::Seq,
            Token::Pipe => Join::Pipe,
            Token::PipeBoth => Join::PipeBoth,
            Token::End if !nested => break,
            Token::Close if nested => break,
            _ => {
                return Err(Opaque::new(
                    Reason::Construct,
                    lexer.token_start(),
                    "unbalanced `<(`",
                ));
            }
        };
        join = next;
    }
    if commands.is_empty() {
        return Err(Opaque::new(
            Reason::Syntax,
            lexer.token_start(),
            "no command",
        ));
    }
    Ok(commands)
}

/// Reads one command and the token that ended it.
fn command(
    lexer: &mut Lexer<'_>,
    meter: &mut Meter,
    join: Join,
) -> Result<(Option<PlainCommand>, Token), Opaque> {
    let mut assignments = Vec::new();
    let mut words: Vec<Word> = Vec::new();
    let mut redirects = Vec::new();
    let mut span: Option<Span> = None;
    let end = loop {
        let start = lexer.pos();
        let token = lexer.next()?;
        if !meter.take(1) {
            return Err(Opaque::new(Reason::Limit, start, "too many words"));
        }
        match token {
            Token::Word(raw) => {
                let here = raw.span;
                span = Some(span.map_or(here, |s| Span {
                    start: s.start,
                    end: here.end,
                }));
                if words.is_empty() {
                    match assignment(&raw)? {
                        Some(assignment) => {
                            // A redirect among the assignments moves them in some shells.
                            if !redirects.is_empty() {
                                return Err(Opaque::new(
                                    Reason::Assignment,
                                    here.start,
                                    "after a redirect",
                                ));
                            }
                            assignments.push(assignment);
                        }
                        None => words.push(program(raw)?),
                    }
                } else {
                    words.push(operand(raw, &words)?);
                }
            }
            Token::Open => {
                if words.is_empty() || lexer.depth >= meter.limits().max_depth.min(8) {
                    return Err(Opaque::new(
                        Reason::Construct,
                        start,
                        "process substitution here",
                    ));
                }
                lexer.depth = lexer.depth.saturating_add(1);
                let commands = list(lexer, meter)?;
                lexer.depth = lexer.depth.saturating_sub(1);
                words.push(Word::ProcessSubstitution(Plain { commands }));
                if let Some(span) = &mut span {
                    span.end = lexer.pos();
                }
            }
            Token::Redirect(fd, kind) => {
                let at = lexer.pos();
                let Token::Word(raw) = lexer.next()? else {
                    return Err(Opaque::new(Reason::Redirect, at, "no target"));
                };
                redirects.push(Redirect {
                    fd,
                    kind,
                    target: path_target(raw)?,
                });
            }
            Token::Duplicate(fd, kind, source) => redirects.push(Redirect {
                fd,
                kind,
                target: RedirectTarget::Fd(source),
            }),
            Token::HereDocument(fd, body) => redirects.push(Redirect {
                fd,
                kind: RedirectKind::HereDocument,
                target: RedirectTarget::Body(body),
            }),
            end => break end,
        }
        // Redirects and quoted text belong to the command's place in the script too.
        if let Some(span) = &mut span {
            span.end = span.end.max(lexer.pos());
        }
    };
    if words.is_empty() {
        if !redirects.is_empty() {
            return Err(Opaque::new(
                Reason::Redirect,
                lexer.token_start(),
                "without a program, which runs one in zsh",
            ));
        }
        if !assignments.is_empty() {
            return Err(Opaque::new(
                Reason::Assignment,
                lexer.token_start(),
                "without a program, which lasts",
            ));
        }
        return Ok((None, end));
    }
    let command = PlainCommand {
        join,
        assignments,
        words,
        redirects,
        cwd: Cwd::Start,
        via: Vec::new(),
        operands_unknown: false,
        effect: None,
        tainted: None,
        span: span.unwrap_or_default(),
    };
    Ok((Some(command), end))
}

/// `NAME=value`, with the name unquoted and the value free of anything a shell may evaluate later.
fn assignment(raw: &RawWord) -> Result<Option<Assignment>, Opaque> {
    let Some(equals) = raw.equals else {
        return Ok(None);
    };
    let at = raw.span.start;
    let (name, value) = raw.bytes.split_at_checked(equals).unwrap_or((&[], &[]));
    let value = value.get(1..).unwrap_or_default();
    if raw.quoted_from.is_some_and(|from| from <= equals) || !is_identifier(name) {
        return Err(Opaque::new(
            Reason::Assignment,
            at,
            "`=` in a program word without a plain name before it",
        ));
    }
    if !raw.metas.is_empty() {
        return Err(Opaque::new(Reason::Glob, at, "in an assignment"));
    }
    check_value(value, at)?;
    Ok(Some(Assignment {
        name: name.to_vec(),
        value: value.to_vec(),
    }))
}

/// Refuses values that run code when the variable is an integer (`SECONDS='a[$(id)]'`) or expand in zsh (`A==ls`).
pub(crate) fn check_value(value: &[u8], at: impl Into<Option<usize>>) -> Result<(), Opaque> {
    let evaluates = value
        .iter()
        .any(|b| matches!(b, b'$' | b'`' | b'[' | b'\\'));
    let expands = value.first() == Some(&b'=')
        || value
            .windows(2)
            .any(|pair| pair.first() == Some(&b':') && matches!(pair.get(1), Some(b'=' | b'~')));
    if evaluates || expands {
        return Err(Opaque::new(
            Reason::Assignment,
            at,
            "a shell may evaluate the value",
        ));
    }
    Ok(())
}

pub(crate) fn is_identifier(name: &[u8]) -> bool {
    name.first()
        .is_some_and(|b| b.is_ascii_alphabetic() || *b == b'_')
        && name.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'_')
}

fn program(raw: RawWord) -> Result<Word, Opaque> {
    let at = Some(raw.span.start);
    if !raw.metas.is_empty() && raw.bytes != b"[" {
        return Err(Opaque::new(Reason::Glob, at, "in the program word"));
    }
    check_program(&raw.bytes, at)?;
    Ok(Word::Literal(raw.bytes))
}

fn operand(raw: RawWord, before: &[Word]) -> Result<Word, Opaque> {
    if let Some(equals) = raw.equals {
        let declares = before
            .iter()
            .filter_map(Word::literal)
            .any(|word| DECLARES.contains(&word));
        if declares {
            let value = raw
                .bytes
                .get(equals.saturating_add(1)..)
                .unwrap_or_default();
            check_value(value, raw.span.start)?;
        }
    }
    Ok(if raw.metas.is_empty() {
        Word::Literal(raw.bytes)
    } else {
        Word::Pattern(Pattern::new(raw.bytes, raw.metas))
    })
}

fn path_target(raw: RawWord) -> Result<RedirectTarget, Opaque> {
    let at = raw.span.start;
    if !raw.metas.is_empty() {
        return Err(Opaque::new(Reason::Glob, at, "in a redirect target"));
    }
    if raw.bytes == b"/dev/null" {
        return Ok(RedirectTarget::NullSink);
    }
    // bash opens sockets for these names; a path that only resembles them is not worth a closer look.
    let lower = raw.bytes.to_ascii_lowercase();
    let network = lower
        .windows(4)
        .any(|window| window == b"/tcp" || window == b"/udp");
    if network && lower.starts_with(b"/") {
        return Err(Opaque::new(
            Reason::Redirect,
            at,
            "bash may open a network connection",
        ));
    }
    if raw.bytes.is_empty() {
        return Err(Opaque::new(Reason::Redirect, at, "empty target"));
    }
    // `2>&-` and zsh's `>&p` are elsewhere; a bare `-` is a file in one shell and a close in another.
    if raw.bytes == b"-" {
        return Err(Opaque::new(Reason::Redirect, at, "target `-`"));
    }
    Ok(RedirectTarget::Path(raw.bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reserved_words_are_sorted() {
        assert!(RESERVED.is_sorted());
    }
}
