//! Scripts that come straight from the network.

use palisade_shell_analysis::{Construct, Join, Mention, MentionWord, Plain, PlainCommand};

use super::args::Arg;
use super::predicates::Download;
use super::program::folded_base;

const DOWNLOADERS: &[&[u8]] = &[
    b"curl", b"wget", b"fetch", b"aria2c", b"http", b"https", b"xh", b"lynx", b"nc", b"ncat",
    b"netcat", b"ssh", b"socat", b"ftp",
];

fn is_downloader(command: &PlainCommand) -> bool {
    DOWNLOADERS.contains(&folded_base(command.program()).as_ref())
}

/// How downloads could reach the commands of a script that could not be read: nobody knows which pipe feeds which.
pub(crate) fn among(mentions: &[Mention]) -> Download {
    let mut download = Download::default();
    for mention in mentions {
        let program = mention
            .words
            .first()
            .and_then(MentionWord::known)
            .unwrap_or_default();
        if DOWNLOADERS.contains(&folded_base(program).as_ref()) {
            download.piped = true;
            download.substituted |= mention.found.iter().any(|construct| {
                matches!(
                    construct,
                    Construct::Substitution | Construct::ProcessSubstitution
                )
            });
        }
    }
    download
}

/// Whether the script of an interpreter is a word that is decided at run time.
pub(crate) fn script_is_unknown(rest: &[Arg<'_>]) -> bool {
    let mut words = rest.iter();
    let first =
        words.find(|word| !matches!(word, Arg::Known([b'-', rest @ ..]) if !rest.contains(&b'c')));
    match first {
        Some(Arg::Known([b'-', ..])) => matches!(words.next(), Some(Arg::Unknown)),
        Some(Arg::Unknown) => true,
        _ => false,
    }
}

/// Whether any of these commands downloads.
pub(crate) fn holds(plain: &Plain) -> bool {
    plain.commands.iter().any(is_downloader)
}

/// Whether the input of a command comes from a download earlier in its pipeline.
pub(crate) fn feeds(commands: &[PlainCommand], index: usize) -> bool {
    let mut at = index;
    while commands
        .get(at)
        .is_some_and(|command| matches!(command.join, Join::Pipe | Join::PipeBoth))
    {
        at = at.saturating_sub(1);
        if commands.get(at).is_some_and(is_downloader) {
            return true;
        }
    }
    false
}

/// Whether an interpreter with these words takes its script from its input.
pub(crate) fn reads_script(rest: &[Arg<'_>]) -> bool {
    let words = || rest.iter().filter_map(|word| word.known());
    if words().any(|word| matches!(word, b"-" | b"-s" | b"/dev/stdin")) {
        return true;
    }
    rest.len() == words().count()
        && words().all(|word| word.first() == Some(&b'-'))
        && !words().any(|word| {
            matches!(
                word,
                [b'-', b'c' | b'm' | b'e' | b'V' | b'v', ..] | b"--version" | b"--help"
            )
        })
}
