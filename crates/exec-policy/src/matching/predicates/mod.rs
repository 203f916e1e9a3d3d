//! The named checks of arguments, for programs that prefixes and flags cannot judge.
//!
//! A check holds only if it is certain: words that are not known make it fail. Checks of paths look at every word and
//! at every part of a word that could be a path (`--file=PATH`, `-oPATH`, `HEAD:PATH`, `of=PATH`), whatever option it
//! belongs to.

mod awk;
mod find;
mod programs;
mod sed;

use super::args::Arg;
use super::download;
use super::facts::{Names, PlaceFacts};
use super::options::{self, Item, Table};
use super::paths::{Resolved, resolve};
use crate::language::model::ArgPredicate;

/// One command as the checks see it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View<'a> {
    /// All words, the program first.
    pub(crate) words: &'a [Arg<'a>],
    /// The directories in which it may run; none if nobody knows.
    pub(crate) cwds: &'a [Names],
    pub(crate) place: &'a PlaceFacts,
    /// It changes the shell in a way that does not matter.
    pub(crate) harmless_change: bool,
    /// Where a download stands to it.
    pub(crate) download: Download,
}

/// How what was downloaded could reach a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Download {
    /// As its input.
    pub(crate) piped: bool,
    /// As a word, by way of a substitution somewhere in the script.
    pub(crate) substituted: bool,
}

/// Whether a check holds of `rest`, the words after a rule's prefix.
pub(crate) fn holds(
    predicate: ArgPredicate,
    table: Option<&Table>,
    rest: &[Arg<'_>],
    view: &View<'_>,
) -> bool {
    if vouches(predicate) && programs::refuses(view) {
        return false;
    }
    match predicate {
        ArgPredicate::SedPrint => reads_no_secret(rest, view) && sed::prints(rest),
        ArgPredicate::AwkPure => reads_no_secret(rest, view) && awk::is_pure(rest),
        ArgPredicate::FindNoAction => reads_no_secret(rest, view) && find::has_no_action(rest),
        ArgPredicate::PathsInProject => in_project(rest, view),
        ArgPredicate::NoSecrets => reads_no_secret(rest, view),
        ArgPredicate::SystemPaths => {
            any_operand(table, rest, view, true, |path| path.is_system(view.place))
        }
        ArgPredicate::WholeProject => {
            any_operand(table, rest, view, true, |path| path.is_project(view.place))
        }
        ArgPredicate::GitInternals => {
            any_operand(table, rest, view, false, |path| path.is_git_internal())
        }
        ArgPredicate::StartupFiles => any_operand(table, rest, view, false, |path| {
            path.is_startup_file(view.place)
        }),
        ArgPredicate::Devices => any_operand(table, rest, view, false, |path| path.is_device()),
        ArgPredicate::PrivateKeys => any_operand(table, rest, view, false, |path| {
            path.is_private_key(view.place)
        }),
        ArgPredicate::NoOperands => no_operands(table, rest),
        ArgPredicate::Alone => rest.is_empty(),
        ArgPredicate::HarmlessExports => view.harmless_change,
        ArgPredicate::HostMount => mounts_host(rest, view),
        // A colon would name another host.
        ArgPredicate::NoOptions => {
            rest.iter().all(|word| {
                !word.may_be_option() && word.known().is_none_or(|word| !word.contains(&b':'))
            }) && in_project(rest, view)
        }
        ArgPredicate::ProjectScript => {
            rest.first()
                .and_then(|word| word.known())
                .is_some_and(|script| script.starts_with(b"./"))
                && in_project(rest, view)
        }
        ArgPredicate::DownloadedScript => {
            (view.download.piped && download::reads_script(rest))
                || (view.download.substituted && download::script_is_unknown(rest))
                || rest
                    .iter()
                    .any(|word| matches!(word, Arg::Pipe(plain) if download::holds(plain)))
        }
    }
}

/// Whether a check is one that an allow rests on: what it holds of is harmless.
const fn vouches(predicate: ArgPredicate) -> bool {
    matches!(
        predicate,
        ArgPredicate::SedPrint
            | ArgPredicate::AwkPure
            | ArgPredicate::FindNoAction
            | ArgPredicate::PathsInProject
            | ArgPredicate::NoSecrets
            | ArgPredicate::NoOperands
            | ArgPredicate::Alone
            | ArgPredicate::NoOptions
            | ArgPredicate::ProjectScript
    )
}

/// How many separators of a word are looked behind: each part costs as much as the rest of the word.
const MAX_SEPARATORS: usize = 64;

const fn is_separator(byte: u8) -> bool {
    matches!(byte, b'=' | b':' | b'@' | b',')
}

/// Whether a word has more parts than are looked at.
fn is_too_long(word: &[u8]) -> bool {
    let separators = word.iter().filter(|b| is_separator(**b));
    separators.take(MAX_SEPARATORS.saturating_add(1)).count() > MAX_SEPARATORS
}

/// What is joined to a cluster of letters: `-vt/etc`, `-sf../x`.
fn clustered(word: &[u8]) -> Option<&[u8]> {
    let letters = word
        .strip_prefix(b"-")
        .filter(|rest| rest.first() != Some(&b'-'))?;
    let at = letters.iter().position(|b| !b.is_ascii_alphabetic())?;
    letters
        .get(at..)
        .filter(|rest| at > 0 && matches!(rest.first(), Some(b'/' | b'~' | b'.')))
}

/// Everything in a word that could be a path.
fn parts(word: &[u8]) -> impl Iterator<Item = &[u8]> {
    let glued = match word {
        [b'-', b'-', ..] => None,
        [b'-', _, rest @ ..] => Some(rest),
        _ => None,
    };
    let split = word
        .iter()
        .enumerate()
        .filter(|(_, b)| is_separator(**b))
        .take(MAX_SEPARATORS)
        .filter_map(move |(at, _)| word.get(at.saturating_add(1)..));
    // Up to the first separator as well: `src:dst`.
    let head = word
        .iter()
        .position(|b| matches!(b, b':' | b',' | b'='))
        .and_then(|at| word.get(..at));
    // An option is no path as a whole, though what is joined to it may be.
    let whole = (!matches!(word, [b'-', _, ..])).then_some(word);
    whole
        .into_iter()
        .chain(glued)
        .chain(clustered(word))
        .chain(head)
        .chain(split)
        .filter(|part| !part.is_empty())
}

/// `-v HOST:GUEST`, `--volume=HOST:GUEST` or `--mount type=bind,source=HOST,...` with a host path outside the project.
fn mounts_host(words: &[Arg<'_>], view: &View<'_>) -> bool {
    let outside = |path: &[u8]| {
        matches!(path.first(), Some(b'/' | b'~' | b'.'))
            && view
                .cwds
                .iter()
                .any(|cwd| !resolve(cwd, view.place, path).is_in_project(view.place))
    };
    let first = |value: &[u8]| value.split(|&b| b == b':').next().is_some_and(outside);
    let mount = |value: &[u8]| {
        value.split(|&b| b == b',').any(|part| {
            part.strip_prefix(b"source=")
                .or_else(|| part.strip_prefix(b"src="))
                .is_some_and(outside)
        })
    };
    words.iter().enumerate().any(|(at, word)| {
        let Some(word) = word.known() else {
            return false;
        };
        let next = || {
            words
                .get(at.saturating_add(1))
                .and_then(|word| word.known())
                .unwrap_or_default()
        };
        match word {
            b"-v" | b"--volume" => first(next()),
            b"--mount" => mount(next()),
            word => {
                word.strip_prefix(b"--volume=")
                    .or_else(|| word.strip_prefix(b"-v"))
                    .is_some_and(first)
                    || word.strip_prefix(b"--mount=").is_some_and(mount)
            }
        }
    })
}

fn no_operands(table: Option<&Table>, words: &[Arg<'_>]) -> bool {
    let mut none = true;
    options::scan(table, words, |item| {
        if let Item::Operand(word) = item {
            none &= word.known().is_some_and(|word| word.first() == Some(&b'+'));
        }
    });
    none && words.iter().all(|word| word.known().is_some())
}

/// Whether what a runner such as `xargs` reads, and hands on to the command, is no secret.
pub(super) fn no_secrets(words: &[Arg<'_>], view: &View<'_>) -> bool {
    reads_no_secret(words, view) && !programs::prints_unknown(words, view)
}

fn reads_no_secret(words: &[Arg<'_>], view: &View<'_>) -> bool {
    words.iter().all(|word| match *word {
        Arg::Known(word) if is_too_long(word) => false,
        Arg::Known(word) => parts(word).all(|part| {
            view.cwds
                .iter()
                .all(|cwd| !resolve(cwd, view.place, part).is_secret(view.place))
        }),
        Arg::Pattern { text, .. } => {
            stays_visible(text)
                && view.cwds.iter().all(|cwd| {
                    let path = resolve(cwd, view.place, text);
                    path.is_in_project(view.place) && !path.is_secret(view.place)
                })
        }
        Arg::Pipe(_) => true,
        Arg::Unknown => false,
    }) && !view.cwds.is_empty()
}

/// A glob that matches neither hidden names nor `..`.
fn stays_visible(pattern: &[u8]) -> bool {
    pattern.split(|&b| b == b'/').all(|name| {
        name != b".."
            && !(name.first() == Some(&b'.')
                && name.iter().any(|b| matches!(b, b'*' | b'?' | b'[')))
    })
}

fn in_project(words: &[Arg<'_>], view: &View<'_>) -> bool {
    let mut ended = false;
    let fine = |part: &[u8]| {
        view.cwds.iter().all(|cwd| {
            let path = resolve(cwd, view.place, part);
            path.is_writable(view.place)
                && !path.is_protected(view.place)
                && !path.is_secret(view.place)
        })
    };
    let all = words.iter().all(|word| match *word {
        Arg::Known(b"--") => {
            ended = true;
            true
        }
        // A response file holds arguments that nobody sees here.
        Arg::Known([b'@', ..]) => false,
        Arg::Known(word) if is_too_long(word) => false,
        Arg::Known(word) => {
            programs::search_directory(word, view).map_or_else(|| parts(word).all(fine), fine)
        }
        Arg::Pattern { text, .. } => {
            (ended || !word.may_be_option()) && stays_visible(text) && fine(text)
        }
        Arg::Pipe(_) | Arg::Unknown => false,
    });
    all && !view.cwds.is_empty()
}

/// Whether a known operand, or the value of an option, is such a path. With `whole`, `dir/*` counts as `dir`.
fn any_operand(
    table: Option<&Table>,
    words: &[Arg<'_>],
    view: &View<'_>,
    whole: bool,
    holds: impl Fn(&Resolved<'_>) -> bool,
) -> bool {
    let mut found = false;
    // Where nobody knows the directory, a relative path is taken to be below the project.
    let start = [view.place.cwd.clone()];
    let cwds = if view.cwds.is_empty() {
        &start[..]
    } else {
        view.cwds
    };
    let is = |text: &[u8]| {
        cwds.iter()
            .any(|cwd| holds(&resolve(cwd, view.place, text)))
    };
    options::scan(table, words, |item| {
        found |= match item {
            Item::Operand(Arg::Known(word))
            | Item::Option {
                value: Some(Arg::Known(word)),
                ..
            } => {
                if whole {
                    is(word)
                } else {
                    parts(word).any(is)
                }
            }
            Item::Unknown(raw) => !whole && parts(raw).any(is),
            Item::Operand(_) | Item::Option { .. } | Item::End => false,
        };
    });
    // Globs apart: the scan takes those that may be options for options.
    for word in words {
        let Arg::Pattern { text, prefix } = *word else {
            continue;
        };
        let inside = text
            .strip_suffix(b".*")
            .or_else(|| text.strip_suffix(b"*"))
            .filter(|base| base.is_empty() || base.last() == Some(&b'/'));
        found |= match inside {
            Some(base) if whole => is(if base.is_empty() { b"." } else { base }),
            _ => !whole && prefix.contains(&b'/') && is(prefix),
        };
    }
    found
}
