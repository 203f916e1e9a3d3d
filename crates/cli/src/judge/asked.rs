//! What is asked about: a command, or a script on standard input.

use std::ffi::OsString;
use std::io::{IsTerminal as _, Read as _};

use palisade::Prompt;

use crate::complaint::Complaint;
use crate::say::Voice;

/// Longer scripts are not read.
const MOST: u64 = 4 * 1024 * 1024;

/// What is asked about.
#[derive(Debug)]
pub(super) enum Asked {
    /// A program and its arguments.
    Command(Vec<OsString>),
    /// The text of a script.
    Script(OsString),
}

impl Asked {
    /// The command, or the script on standard input if there is none.
    ///
    /// # Errors
    /// There is neither.
    pub(super) fn read(command: &[OsString], voice: &Voice) -> Result<Self, Complaint> {
        match command.first() {
            Some(program) if program.is_empty() => {
                Err(Complaint::usage("the name of the program is empty"))
            }
            Some(_) => Ok(Self::Command(command.to_vec())),
            None => script(voice).map(Self::Script),
        }
    }

    /// On one line, with everything in it made visible.
    pub(super) fn line(&self) -> String {
        let words = match self {
            Self::Command(words) => words.as_slice(),
            Self::Script(text) => std::slice::from_ref(text),
        };
        let line = Prompt::new("", words.iter().cloned(), "").display_line();
        match self {
            Self::Command(_) => line,
            Self::Script(_) => format!("script {line}"),
        }
    }

    /// The line that asks for more about the same.
    pub(super) fn next(&self, command: &str) -> String {
        match self {
            Self::Command(_) => format!("palisade {command} -- {}", self.line()),
            Self::Script(_) => format!("palisade {command} < SCRIPT"),
        }
    }
}

fn script(voice: &Voice) -> Result<OsString, Complaint> {
    let input = std::io::stdin();
    if input.is_terminal() {
        voice.note("reads a script from this terminal; end it with Ctrl-D");
    }
    let mut bytes = Vec::new();
    input
        .lock()
        .take(MOST + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| Complaint::usage(format!("standard input cannot be read: {error}")))?;
    if bytes.len() as u64 > MOST {
        return Err(Complaint::usage(format!(
            "the script on standard input is longer than {MOST} bytes"
        )));
    }
    if bytes.trim_ascii().is_empty() {
        return Err(
            Complaint::usage("there is no command, and no script on standard input")
                .help("palisade check -- git push"),
        );
    }
    if bytes.contains(&0) {
        return Err(Complaint::usage(
            "the script on standard input holds a NUL byte: no shell takes it",
        ));
    }
    text(bytes)
}

#[cfg(unix)]
fn text(bytes: Vec<u8>) -> Result<OsString, Complaint> {
    use std::os::unix::ffi::OsStringExt as _;
    Ok(OsString::from_vec(bytes))
}

#[cfg(not(unix))]
fn text(bytes: Vec<u8>) -> Result<OsString, Complaint> {
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text.into()),
        Err(_) => Err(Complaint::usage(
            "the script on standard input is not UTF-8",
        )),
    }
}
