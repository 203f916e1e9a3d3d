//! Speaking to people: answers on standard output, everything else on standard error, colours only on a terminal.

mod shown;
pub(crate) mod span;

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::Mutex;

pub(crate) use self::shown::shown;
use crate::args::{Colour, Invocation};
use crate::complaint::Complaint;

/// How this program speaks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Voice {
    /// Whether only what was asked for is said.
    pub(crate) quiet: bool,
    /// Whether standard output takes colours.
    pub(crate) colour_out: bool,
    /// Whether standard error takes colours.
    pub(crate) colour_err: bool,
    /// Whether a person reads standard error.
    pub(crate) err_is_terminal: bool,
}

/// What a piece of text is, for those who see colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    Good,
    Bad,
    Careful,
    /// What a person is asked about.
    #[cfg(unix)]
    Strong,
    Faint,
}

impl Voice {
    pub(crate) fn of(invocation: &Invocation) -> Self {
        let err_is_terminal = io::stderr().is_terminal();
        let colour = |terminal: bool| match invocation.how.color {
            Colour::Always => true,
            Colour::Never => false,
            Colour::Auto => terminal && plain_is_not_wished(),
        };
        Self {
            quiet: invocation.how.quiet,
            colour_out: colour(io::stdout().is_terminal()),
            colour_err: colour(err_is_terminal),
            err_is_terminal,
        }
    }

    /// What was asked for.
    pub(crate) fn answer(&self, text: &str) {
        to_stdout(&shown::safe(text));
    }

    /// The same as JSON.
    pub(crate) fn answer_json(&self, json: &str) {
        to_stdout(&shown::safe_json(json));
    }

    /// What was asked for, to the byte: a file, unless a person reads it.
    pub(crate) fn answer_file(&self, text: &str) {
        match io::stdout().is_terminal() {
            true => self.answer(text),
            false => to_stdout(text),
        }
    }

    /// A line about what happens, unless quiet was wished for.
    pub(crate) fn note(&self, line: &str) {
        if !self.quiet {
            self.tell(line);
        }
    }

    /// A line that is said in any case.
    pub(crate) fn tell(&self, line: &str) {
        to_stderr(&format!("palisade: {line}\n"));
    }

    /// Why something did not happen, and what would help.
    pub(crate) fn complain(&self, complaint: &Complaint) {
        let error = self.err_tone(Tone::Bad, "error");
        let mut text = format!("palisade: {error}: {}\n", complaint.what.trim_end());
        for line in &complaint.help {
            text.push_str(&format!(
                "  {} {line}\n",
                self.err_tone(Tone::Good, "help:")
            ));
        }
        to_stderr(&text);
    }

    /// A piece of text for standard output.
    pub(crate) fn out_tone(&self, tone: Tone, text: &str) -> String {
        tinted(self.colour_out, tone, text)
    }

    /// A piece of text for standard error.
    pub(crate) fn err_tone(&self, tone: Tone, text: &str) -> String {
        tinted(self.colour_err, tone, text)
    }
}

/// Why an answer was not written, if one was not.
static UNWRITTEN: Mutex<Option<io::Error>> = Mutex::new(None);

/// Writes to standard output. Who reads it may be gone; then nobody misses it. What is cut short for another reason is told
/// at the end: half a policy is another policy.
fn to_stdout(text: &str) {
    let mut stdout = io::stdout().lock();
    let written = stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush());
    if let Err(error) = written
        && error.kind() != io::ErrorKind::BrokenPipe
        && let Ok(mut unwritten) = UNWRITTEN.lock()
    {
        *unwritten = Some(error);
    }
}

/// That everything that was asked for was written.
///
/// # Errors
/// It was not.
pub(crate) fn all_answered() -> Result<(), Complaint> {
    let unwritten = UNWRITTEN
        .lock()
        .ok()
        .and_then(|mut unwritten| unwritten.take());
    match unwritten {
        Some(error) => Err(Complaint::failed(format!(
            "the answer could not be written to standard output: {error}"
        ))),
        None => Ok(()),
    }
}

/// Writes to standard error. Whoever reads it may be gone, or may not read at all: that is waited for a while, because this
/// program is to end, with its exit code, even so.
pub(crate) fn to_stderr(text: &str) {
    if is_read() {
        let _ = io::stderr().write_all(shown::safe(text).as_bytes());
    }
}

/// Whether there is room for a page in standard error, soon.
#[cfg(unix)]
fn is_read() -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let patience = Timespec {
        tv_sec: 2,
        tv_nsec: 0,
    };
    let stderr = rustix::stdio::stderr();
    let mut polled = [PollFd::from_borrowed_fd(stderr, PollFlags::OUT)];
    // What cannot be asked is tried.
    !matches!(poll(&mut polled, Some(&patience)), Ok(0))
}

#[cfg(not(unix))]
const fn is_read() -> bool {
    true
}

fn plain_is_not_wished() -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

fn tinted(colour: bool, tone: Tone, text: &str) -> String {
    if !colour {
        return text.to_owned();
    }
    let code = match tone {
        Tone::Good => GOOD,
        Tone::Bad => BAD,
        Tone::Careful => CAREFUL,
        #[cfg(unix)]
        Tone::Strong => STRONG,
        Tone::Faint => FAINT,
    };
    format!("{code}{text}{PLAIN}")
}

const GOOD: &str = "\x1b[32m";
const BAD: &str = "\x1b[1;31m";
const CAREFUL: &str = "\x1b[33m";
const STRONG: &str = "\x1b[1m";
const FAINT: &str = "\x1b[2m";
const PLAIN: &str = "\x1b[0m";

/// Everything that we write to a terminal besides text.
const COLOURS: [&str; 6] = [GOOD, BAD, CAREFUL, STRONG, FAINT, PLAIN];
