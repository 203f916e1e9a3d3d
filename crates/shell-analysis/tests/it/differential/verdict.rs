//! Compares what was said with what was done.

use palisade_shell_analysis::{Cwd, Join, Plain, PlainCommand, RedirectKind, RedirectTarget, Word};

use super::oracle::Call;

/// Whether the calls are fully determined: every program is a recorder and nothing can fail on the way.
///
/// Otherwise (globs, files to read, builtins with a status of their own) calls may be missing, but none may differ.
pub(super) fn is_exact(plain: &Plain) -> bool {
    plain.commands.iter().all(|command| {
        let words_are_literal = command.words.iter().all(|word| word.literal().is_some());
        let redirects_work = command
            .redirects
            .iter()
            .all(|redirect| match &redirect.target {
                RedirectTarget::NullSink | RedirectTarget::Body(_) => true,
                RedirectTarget::Fd(fd) => *fd <= 2,
                RedirectTarget::Path(path) => {
                    redirect.kind != RedirectKind::Read && path.as_slice() == b"out"
                }
                _ => false,
            });
        let wrappers_exist = command.via.iter().all(|step| {
            let words: Vec<&[u8]> = step.words.iter().map(Vec::as_slice).collect();
            matches!(
                words[..],
                [b"command" | b"env" | b"nice"] | [b"env", b"A=1"] | [b"nice", b"-n", b"5"]
            )
        });
        is_recorder(command)
            && words_are_literal
            && redirects_work
            && wrappers_exist
            && command.tainted.is_none()
            // Shells refuse to change some variables, and then do not run the command.
            && command.assignments.iter().all(|a| a.name != b"SECONDS")
    })
}

fn is_recorder(command: &PlainCommand) -> bool {
    [&b"p0"[..], b"p1", b"p2", b"f0"].contains(&command.program())
}

pub(super) fn check(plain: &Plain, calls: &[Call], exact: bool) -> Result<(), String> {
    if exact {
        return check_exact(&plain.commands, calls);
    }
    // Each call is one of the commands, and no command runs twice.
    let mut candidates = Vec::new();
    collect(plain, &mut candidates);
    match calls
        .iter()
        .find(|call| !candidates.iter().any(|command| agrees(command, call)))
    {
        Some(call) => Err(format!("{:?} was not announced", call.argv)),
        None if assign(&mut candidates, calls) => Ok(()),
        None => Err("a command ran more often than announced".to_owned()),
    }
}

/// Whether each call can be a command of its own; patterns make this a matching problem, on very few items.
fn assign(candidates: &mut Vec<&PlainCommand>, calls: &[Call]) -> bool {
    let Some((call, rest)) = calls.split_first() else {
        return true;
    };
    (0..candidates.len()).any(|index| {
        let command = candidates.remove(index);
        let fits = agrees(command, call) && assign(candidates, rest);
        candidates.insert(index, command);
        fits
    })
}

fn collect<'a>(plain: &'a Plain, into: &mut Vec<&'a PlainCommand>) {
    for command in &plain.commands {
        into.push(command);
        for word in &command.words {
            if let Word::ProcessSubstitution(inner) = word {
                collect(inner, into);
            }
        }
    }
}

/// Plays the list through: `f0` fails, everything else succeeds.
fn check_exact(commands: &[PlainCommand], calls: &[Call]) -> Result<(), String> {
    let mut calls = calls;
    let mut ok = true;
    let mut rest = commands;
    while let Some(head) = rest.first() {
        let length = 1 + rest[1..]
            .iter()
            .take_while(|command| matches!(command.join, Join::Pipe | Join::PipeBoth))
            .count();
        let (pipeline, after) = rest.split_at(length);
        rest = after;
        let runs = match head.join {
            Join::And => ok,
            Join::Or => !ok,
            _ => true,
        };
        if !runs {
            continue;
        }
        ok = pipeline[length - 1].program() != b"f0";
        if calls.len() < length {
            return Err(format!("{} calls are missing", length - calls.len()));
        }
        // Members of a pipeline start in any order.
        let (mut now, later) = (calls[..length].to_vec(), &calls[length..]);
        calls = later;
        for command in pipeline {
            let Some(index) = now.iter().position(|call| agrees(command, call)) else {
                return Err(format!("{:?} did not run", command.words));
            };
            now.remove(index);
        }
    }
    match calls {
        [] => Ok(()),
        [extra, ..] => Err(format!("{:?} was not announced", extra.argv)),
    }
}

fn agrees(command: &PlainCommand, call: &Call) -> bool {
    words_agree(&command.words, &call.argv)
        && variables_agree(command, call)
        && cwd_agrees(command, call)
}

/// A pattern may become any number of names, all with its prefix, in its own position.
fn words_agree(words: &[Word], argv: &[String]) -> bool {
    match (words.split_first(), argv.split_first()) {
        (None, None) => true,
        (Some((Word::Pattern(pattern), words)), Some(_)) => (1..=argv.len()).any(|count| {
            let (expanded, rest) = argv.split_at(count);
            expanded
                .iter()
                .all(|name| name.as_bytes().starts_with(pattern.literal_prefix()))
                && words_agree(words, rest)
        }),
        (Some((Word::Literal(word), words)), Some((first, rest))) => {
            word.as_slice() == first.as_bytes() && words_agree(words, rest)
        }
        (Some((Word::ProcessSubstitution(_), words)), Some((first, rest))) => {
            first == "<fd>" && words_agree(words, rest)
        }
        _ => false,
    }
}

fn variables_agree(command: &PlainCommand, call: &Call) -> bool {
    if command.tainted.is_some() {
        return true;
    }
    [&b"A"[..], b"B", b"C_1"]
        .iter()
        .zip(&call.variables)
        .all(|(name, actual)| {
            let expected = command
                .assignments
                .iter()
                .rev()
                .find(|assignment| assignment.name == *name)
                .map(|assignment| assignment.value.as_slice());
            expected == actual.as_deref().map(str::as_bytes)
        })
}

fn cwd_agrees(command: &PlainCommand, call: &Call) -> bool {
    match &command.cwd {
        Cwd::Start => call.cwd.is_empty(),
        Cwd::OneOf(paths) => paths.iter().any(|path| path == call.cwd.as_bytes()),
        _ => true,
    }
}
