//! Which prefixes may be kept with an approval: those that say what will run.

use std::fmt;

use palisade_shell_analysis::hidden_points;

use super::program_table::{CODE_OPTIONS, MODULES, OPEN_SUBCOMMANDS};
use super::programs::{Kind, Subs, base, kind, listed};

/// How many runners may stand in front of each other: `uv run npx ...`.
const MAX_RUNNERS: usize = 4;
/// A prefix longer than this says too much to be read.
const MAX_TOKENS: usize = 16;
const MAX_TOKEN_BYTES: usize = 128;

/// Why a prefix is not kept.
#[derive(Clone, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// It would match every command.
    #[error("it is empty and would match every command")]
    Empty,
    /// Longer than a person reads.
    #[error("it is too long to be read")]
    TooLong,
    /// Characters that cannot be seen, or that imitate others.
    #[error("it contains characters that cannot be judged by eye")]
    Hidden,
    /// A program that is named by a path which anybody could fill.
    #[error("`{0}` is a path, and what lies there can change")]
    Path(Token),
    /// A shell runs whatever it is given.
    #[error("`{0}` is a shell and would run anything")]
    Shell(Token),
    /// An interpreter runs whatever it is given.
    #[error("`{0}` is an interpreter and would run anything")]
    Interpreter(Token),
    /// A wrapper runs whatever it is given.
    #[error("`{0}` runs other commands and would run anything")]
    Wrapper(Token),
    /// A program that destroys or changes the system.
    #[error("`{0}` can destroy things; each use is a question of its own")]
    Destructive(Token),
    /// A program that sends and fetches anything.
    #[error("`{0}` sends and fetches anything; each use is a question of its own")]
    Network(Token),
    /// A program whose bare name says nothing.
    #[error("`{0}` alone says nothing; name what it does")]
    NeedsSubcommand(Token),
    /// A program that nothing is known about, without a word that says what it does.
    #[error("`{0}` is not known, and alone it grants everything that it can do")]
    UnknownProgram(Token),
    /// A subcommand that runs anything.
    #[error("`{0}` runs other commands or changes what later ones do")]
    OpenSubcommand(Token),
    /// An option where a subcommand or command belongs: what follows could be anything.
    #[error("the option `{0}` leaves open what runs")]
    OpenOption(Token),
}

/// A word of a prefix, as messages show it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Token(String);

impl Token {
    fn new(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// The word.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.escape_debug())
    }
}

/// Whether a prefix may be kept with an approval.
///
/// ```
/// use palisade_exec_policy::approvals::may_offer;
///
/// assert!(may_offer(&["cargo", "test"]).is_ok());
/// assert!(may_offer(&["python3.11", "-m"]).is_err(), "any module");
/// assert!(may_offer(&["uv", "run", "python"]).is_err(), "still any program");
/// assert!(may_offer(&["uv", "run", "pytest"]).is_ok());
/// ```
///
/// # Errors
/// The prefix is empty, unreadable, or would grant everything: a shell, an interpreter, a wrapper, a program with
/// subcommands or an unknown one without a subcommand, a subcommand that runs anything, or anything longer that still
/// ends in one of them.
pub fn may_offer<T: AsRef<str>>(prefix: &[T]) -> Result<(), Refused> {
    let words: Vec<&str> = prefix.iter().map(AsRef::as_ref).collect();
    if words.is_empty() {
        return Err(Refused::Empty);
    }
    if words.len() > MAX_TOKENS || words.iter().any(|word| word.len() > MAX_TOKEN_BYTES) {
        return Err(Refused::TooLong);
    }
    if words.iter().any(|word| is_hidden(word)) {
        return Err(Refused::Hidden);
    }
    command(&words, MAX_RUNNERS)?;
    open_end(&words)
}

/// Why a rule that allows this prefix allows too much; `None` for one that does not.
pub(crate) fn is_wide(prefix: &[&str]) -> Option<Refused> {
    match may_offer(prefix) {
        Err(
            refused @ (Refused::Shell(_)
            | Refused::Interpreter(_)
            | Refused::Wrapper(_)
            | Refused::NeedsSubcommand(_)
            | Refused::OpenSubcommand(_)
            | Refused::OpenOption(_)),
        ) => Some(refused),
        Ok(()) | Err(_) => None,
    }
}

fn is_hidden(word: &str) -> bool {
    word.is_empty()
        || word.contains(['\n', '\t'])
        || hidden_points(word.as_bytes()).next().is_some()
}

/// Judges the words of one command.
fn command(words: &[&str], runners: usize) -> Result<(), Refused> {
    let Some((&program, rest)) = words.split_first() else {
        return Err(Refused::Empty);
    };
    if program.starts_with('-') || program.contains('=') {
        return Err(Refused::OpenOption(Token::new(program)));
    }
    let kind = kind(program);
    match kind {
        Some(Kind::Shell) => return Err(Refused::Shell(Token::new(program))),
        Some(Kind::Interpreter) => return interpreter(program, rest),
        Some(Kind::Wrapper) => return Err(Refused::Wrapper(Token::new(program))),
        Some(Kind::Destructive) => return Err(Refused::Destructive(Token::new(program))),
        Some(Kind::Network) => return Err(Refused::Network(Token::new(program))),
        _ => {}
    }
    if program.contains(['/', '\\']) && !is_system(program) {
        return Err(Refused::Path(Token::new(program)));
    }
    match kind {
        Some(Kind::Runner) => inner(program, rest, runners),
        Some(Kind::Subcommands(subs)) => subcommand(program, subs, rest, runners),
        None => unknown(program, rest),
        Some(_) => Ok(()),
    }
}

/// A program that nothing is known about: its subcommands are what others mean by them.
fn unknown(program: &str, rest: &[&str]) -> Result<(), Refused> {
    if rest.first().is_none_or(|word| word.starts_with('-')) {
        return Err(Refused::UnknownProgram(Token::new(program)));
    }
    match rest.iter().find(|word| is_open_subcommand(word)) {
        Some(word) => Err(Refused::OpenSubcommand(Token::new(word))),
        None => Ok(()),
    }
}

/// A subcommand that runs anything, whatever the program: `run`, `run:detached`, `exec:java`, `:app:run`.
fn is_open_subcommand(word: &str) -> bool {
    word.to_ascii_lowercase()
        .split(':')
        .any(|part| listed(OPEN_SUBCOMMANDS, part) || part == "exec-maven-plugin")
}

/// `python -m MODULE` for modules that alone decide what happens; nothing else of an interpreter.
fn interpreter(program: &str, rest: &[&str]) -> Result<(), Refused> {
    let python = base(program).starts_with("py");
    match rest {
        ["-m", module, ..] if python && is_bare_or_system(program) && listed(MODULES, module) => {
            Ok(())
        }
        _ => Err(Refused::Interpreter(Token::new(program))),
    }
}

fn subcommand(program: &str, subs: Subs, rest: &[&str], runners: usize) -> Result<(), Refused> {
    let Some((&sub, rest)) = rest.split_first() else {
        return Err(Refused::NeedsSubcommand(Token::new(program)));
    };
    // `git -C x push`, `cargo +nightly run`, `make -f x`, `make CC=x`: what follows is still open.
    if sub.starts_with(['-', '+']) || sub.contains('=') {
        return Err(Refused::OpenOption(Token::new(sub)));
    }
    let folded = sub.to_ascii_lowercase();
    let is = |names: &str| listed(names, &folded);
    if is(subs.open) {
        return Err(Refused::OpenSubcommand(Token::new(sub)));
    }
    if is(subs.runs) {
        return inner(sub, rest, runners);
    }
    if is(subs.group) {
        return match rest.first() {
            None => Err(Refused::NeedsSubcommand(Token::new(sub))),
            Some(word) if word.starts_with('-') || word.contains('=') => {
                Err(Refused::OpenOption(Token::new(word)))
            }
            // A script of the project has the name that the project gave it.
            Some(_) if listed(SCRIPTS, &folded) => Ok(()),
            Some(word)
                if is_open_subcommand(word) || listed(GROUP_OPEN, &word.to_ascii_lowercase()) =>
            {
                Err(Refused::OpenSubcommand(Token::new(word)))
            }
            Some(_) => Ok(()),
        };
    }
    if is_open_subcommand(sub) {
        return Err(Refused::OpenSubcommand(Token::new(sub)));
    }
    Ok(())
}

/// Further words below a group that run anything or change it: `submodule foreach`, `container attach`.
const GROUP_OPEN: &str = "foreach attach create cp up build set set-url";

/// Groups whose next word is the name of a script.
const SCRIPTS: &str = "run run-script rum urn";

fn inner(runner: &str, rest: &[&str], runners: usize) -> Result<(), Refused> {
    if rest.is_empty() {
        return Err(Refused::NeedsSubcommand(Token::new(runner)));
    }
    match runners.checked_sub(1) {
        Some(runners) => command(rest, runners),
        None => Err(Refused::Wrapper(Token::new(runner))),
    }
}

/// Whatever the program: a prefix must not end where code would follow.
fn open_end(words: &[&str]) -> Result<(), Refused> {
    let Some((&last, before)) = words.split_last() else {
        return Err(Refused::Empty);
    };
    if before.is_empty() {
        return Ok(());
    }
    let option = last.to_ascii_lowercase();
    if listed(CODE_OPTIONS, last) || listed(CODE_OPTIONS, &option) {
        return Err(Refused::OpenOption(Token::new(last)));
    }
    // `tool bash -x`: the last word that is no option is what runs.
    let ends_in = words
        .iter()
        .skip(1)
        .rev()
        .find(|word| !word.starts_with('-') && !word.contains('='));
    match ends_in.filter(|word| !is_everyday(word)) {
        Some(word) => match kind(word) {
            Some(Kind::Shell) => Err(Refused::Shell(Token::new(word))),
            Some(Kind::Interpreter) => Err(Refused::Interpreter(Token::new(word))),
            Some(Kind::Wrapper) => Err(Refused::Wrapper(Token::new(word))),
            _ => Ok(()),
        },
        None => Ok(()),
    }
}

/// Names of programs that are also everyday names of subcommands; after a program they are taken for those.
const EVERYDAY: &str = "watch time find script open start task code command batch at repeat screen view more most \
    info man stack mix set unset export alias source exec trap enable declare r rc es py gp";

/// `watch`, and `watch-css` too: only what begins with a name that means nothing else is a spelling of it.
fn is_everyday(word: &str) -> bool {
    let first = word.split_once('-').map_or(word, |(first, _)| first);
    listed(EVERYDAY, word) || listed(EVERYDAY, first)
}

fn is_bare_or_system(program: &str) -> bool {
    !program.contains(['/', '\\']) || is_system(program)
}

/// In a directory that only the administrator fills.
fn is_system(program: &str) -> bool {
    [
        "/bin/",
        "/usr/bin/",
        "/usr/local/bin/",
        "/opt/homebrew/bin/",
    ]
    .iter()
    .filter_map(|directory| program.strip_prefix(directory))
    .any(|base| !base.is_empty() && !base.contains(['/', '\\']))
}
