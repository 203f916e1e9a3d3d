//! The allow side's way through wrappers: from what was typed to what runs.

use crate::limits::Meter;
use crate::opaque::{Opaque, OpaqueReason as Reason};
use crate::options::{self, Known, Shape, ShellShape};
use crate::parse::{check_program, check_value};
use crate::plain::{Assignment, PlainCommand, UnwrapKind, UnwrapStep};
use crate::shell::Shell;
use crate::word::Word;
use crate::wrappers::{self, Wrapper};

/// A command with its wrappers removed.
pub(crate) enum Unwrapped {
    Command(PlainCommand),
    /// The wrapper chain ends in a shell with an inline script; the command carries what applies to all of it.
    Script {
        outer: PlainCommand,
        shell: Shell,
        script: Vec<u8>,
    },
}

/// Removes wrappers until a program is left, or a script.
pub(crate) fn unwrap(mut command: PlainCommand, meter: &mut Meter) -> Result<Unwrapped, Opaque> {
    let max_depth = meter.limits().max_depth;
    loop {
        let at = command.span.start;
        if command.via.len() > max_depth || !meter.take(command.words.len()) {
            return Err(Opaque::new(Reason::Limit, at, "too many wrappers"));
        }
        let Some(base) = crate::names::trusted_base(command.program()) else {
            return Ok(Unwrapped::Command(command));
        };
        if let Some(shell) = Shell::from_program(base) {
            return unwrap_shell(command, shell);
        }
        if matches!(base, b"find" | b"gfind") && runs_commands(&command.words) {
            return Err(wrapper(&command, "runs commands on files it finds"));
        }
        let Some(row) = wrappers::find(base) else {
            return Ok(Unwrapped::Command(command));
        };
        if !row.allow_side {
            return Err(wrapper(&command, "what it runs is not the whole story"));
        }
        if row.is_named("env") {
            split_string(&mut command)?;
        }
        match options::read(row, &known(&command.words)) {
            Shape::Command {
                at,
                assignments,
                replacement,
            } => peel(&mut command, row, at, &assignments, replacement.as_deref())?,
            Shape::Alone if command.operands_unknown || row.kind == UnwrapKind::Runner => {
                // `xargs nice`: the input names the program. `xargs` alone echoes, which is not worth a case.
                return Err(wrapper(&command, "the input decides what it runs"));
            }
            Shape::Alone if row.is_named("exec") => {
                return Err(wrapper(&command, "its redirects outlast it"));
            }
            Shape::Alone => return Ok(Unwrapped::Command(command)),
            Shape::Script { .. } => return Err(wrapper(&command, "a script in an option")),
            Shape::Unknown(why) => return Err(wrapper(&command, why)),
        }
    }
}

/// `find -exec` and its like: the files found become operands of a command, of which the list says too little.
fn runs_commands(words: &[Word]) -> bool {
    words
        .iter()
        .filter_map(Word::literal)
        .any(|word| matches!(word, b"-exec" | b"-execdir" | b"-ok" | b"-okdir"))
}

fn known(words: &[Word]) -> Vec<Known<'_>> {
    words.iter().map(Word::literal).collect()
}

fn wrapper(command: &PlainCommand, why: &str) -> Opaque {
    let name = String::from_utf8_lossy(command.program());
    Opaque::new(
        Reason::Wrapper,
        command.span.start,
        format!("`{name}`: {why}"),
    )
}

/// Moves the words before `at` into a step.
fn peel(
    command: &mut PlainCommand,
    row: &Wrapper,
    at: usize,
    assignments: &[usize],
    replacement: Option<&[u8]>,
) -> Result<(), Opaque> {
    for &index in assignments {
        let Some(word) = command.words.get(index).and_then(Word::literal) else {
            continue;
        };
        let Some(equals) = word.iter().position(|&b| b == b'=') else {
            continue;
        };
        let (name, value) = word.split_at_checked(equals).unwrap_or_default();
        let value = value.get(1..).unwrap_or_default();
        check_value(value, command.span.start)?;
        command.assignments.push(Assignment {
            name: name.to_vec(),
            value: value.to_vec(),
        });
    }
    let inner = command.words.split_off(at.min(command.words.len()));
    let outer = std::mem::replace(&mut command.words, inner);
    command.via.push(step(row.kind, outer));
    if row.kind == UnwrapKind::Runner {
        command.operands_unknown = true;
    }
    let program = command.program();
    check_program(program, Some(command.span.start))?;
    // `xargs -I X X`: the program is whatever the input says.
    let replaced = replacement.is_some_and(|replacement| {
        replacement.is_empty()
            || program
                .windows(replacement.len())
                .any(|window| window == replacement)
    });
    if replaced {
        return Err(wrapper(command, "the input decides what it runs"));
    }
    Ok(())
}

fn step(kind: UnwrapKind, words: Vec<Word>) -> UnwrapStep {
    UnwrapStep {
        kind,
        words: words
            .into_iter()
            .filter_map(|word| match word {
                Word::Literal(bytes) => Some(bytes),
                // `options::read` stops at the first word that is not literal.
                Word::Pattern(_) | Word::ProcessSubstitution(_) => None,
            })
            .collect(),
    }
}

fn unwrap_shell(mut command: PlainCommand, shell: Shell) -> Result<Unwrapped, Opaque> {
    if !shell.is_posix_like() {
        return Err(Opaque::new(
            Reason::UnreadShell,
            command.span.start,
            shell.to_string(),
        ));
    }
    match options::read_shell(shell, &known(&command.words)) {
        ShellShape::Program => Ok(Unwrapped::Command(command)),
        ShellShape::Unknown(why) => Err(wrapper(&command, why)),
        ShellShape::Script(at) => {
            // Words after the script are its positional parameters, which a plain script cannot use.
            let mut rest = command.words.split_off(at.min(command.words.len()));
            rest.truncate(1);
            let Some(Word::Literal(script)) = rest.pop() else {
                return Err(wrapper(&command, "the script is not literal"));
            };
            let outer = std::mem::take(&mut command.words);
            command.via.push(step(UnwrapKind::Shell, outer));
            Ok(Unwrapped::Script {
                outer: command,
                shell,
                script,
            })
        }
    }
}

/// `env -S 'a b' c` is `env a b c`; only text that splits at blanks and nothing else is followed.
fn split_string(command: &mut PlainCommand) -> Result<(), Opaque> {
    let Some(first) = command.words.get(1).and_then(Word::literal) else {
        return Ok(());
    };
    let (text, used) = if first == b"-S" || first == b"--split-string" {
        match command.words.get(2).and_then(Word::literal) {
            Some(text) => (text.to_vec(), 2),
            None => return Err(wrapper(command, "`-S` without a literal string")),
        }
    } else if let Some(text) = first
        .strip_prefix(b"--split-string=")
        .or_else(|| first.strip_prefix(b"-S"))
    {
        (text.to_vec(), 1)
    } else {
        return Ok(());
    };
    let plain = text.iter().all(|b| {
        b.is_ascii_alphanumeric()
            || matches!(
                b,
                b' ' | b'_' | b'-' | b'.' | b'/' | b'=' | b':' | b',' | b'+' | b'@' | b'%'
            )
    });
    if !plain {
        return Err(wrapper(command, "`-S` with more than plain words"));
    }
    let pieces = text
        .split(|&b| b == b' ')
        .filter(|piece| !piece.is_empty())
        .map(|piece| Word::Literal(piece.to_vec()));
    command.words.splice(1..=used, pieces);
    Ok(())
}
