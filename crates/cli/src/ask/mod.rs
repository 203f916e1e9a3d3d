//! Approvals: who is asked, and how: on the terminal, by a command, over a socket.
//!
//! Whatever goes wrong while asking means no.

#[cfg(unix)]
mod choice;
#[cfg(unix)]
mod exchange;
#[cfg(unix)]
mod guard;
#[cfg(unix)]
mod program;
#[cfg(unix)]
mod question;
#[cfg(unix)]
mod socket;
#[cfg(unix)]
mod terminal;
#[cfg(unix)]
mod wire;
#[cfg(unix)]
mod wrap;

use std::path::PathBuf;
use std::time::Duration;

use palisade::runner::approve::{BoxFuture, Prompt, Prompter};
use palisade::runner::exec_policy::ReviewDecision;

#[cfg(unix)]
pub(crate) use self::guard::refuse_writable;
use crate::complaint::Complaint;
use crate::ground::Ground;
use crate::say::Voice;

/// How a refusal begins that no person gave, because there was none to ask.
pub(crate) const NOBODY: &str = "nobody could be asked";

/// How long a program or a socket has for an answer, unless a flag says otherwise.
#[cfg(unix)]
const PATIENCE: Duration = Duration::from_secs(300);

/// Nobody waits longer, and every clock can count it.
const LONGEST: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Who answers questions.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Who answers")]
pub(crate) struct AskFlags {
    /// Have this program answer: it reads a question as JSON and writes an answer
    #[arg(long, value_name = "PROGRAM", hide_short_help = true)]
    pub(crate) approval_command: Option<std::ffi::OsString>,
    /// Have whoever listens on this socket answer
    #[arg(
        long,
        value_name = "PATH",
        conflicts_with = "approval_command",
        hide_short_help = true
    )]
    pub(crate) approval_socket: Option<PathBuf>,
    /// How long either has for an answer, such as 30s or 5m; then the answer is no
    #[arg(long, value_name = "T", value_parser = wait, hide_short_help = true)]
    pub(crate) approval_timeout: Option<Duration>,
}

impl AskFlags {
    /// Who is asked: whom a flag names, or the person at the terminal, or nobody, whose answer is no.
    ///
    /// # Errors
    /// Whoever a flag names cannot be used: the command that is asked about could answer in its place.
    #[cfg(unix)]
    pub(crate) fn prompter(
        &self,
        ground: &Ground,
        voice: &Voice,
    ) -> Result<Box<dyn Prompter>, Complaint> {
        let place = Place::of(ground);
        let patience = self.approval_timeout.unwrap_or(PATIENCE);
        if let Some(program) = &self.approval_command {
            return program::answers(program, place, patience, ground);
        }
        if let Some(path) = &self.approval_socket {
            return socket::answers(path, place, patience, ground);
        }
        Ok(match terminal::Person::at_the_terminal(place, *voice) {
            Ok(person) => Box::new(person),
            Err(why) => Box::new(nobody(why)),
        })
    }

    /// Nobody can be asked on this system yet.
    ///
    /// # Errors
    /// A flag names somebody.
    #[cfg(not(unix))]
    pub(crate) fn prompter(
        &self,
        ground: &Ground,
        voice: &Voice,
    ) -> Result<Box<dyn Prompter>, Complaint> {
        let _ = (ground, voice);
        match self.approval_command.is_some() || self.approval_socket.is_some() {
            true => Err(Complaint::usage(
                "--approval-command and --approval-socket are not there on this system yet",
            )),
            false => Ok(Box::new(nobody("not on this system yet"))),
        }
    }
}

/// What is said about where a yes would take a command, and where it would be kept.
#[cfg(unix)]
#[derive(Clone, Debug, Default)]
struct Place {
    /// Whether its policy confines it.
    confined: bool,
    /// The file of kept approvals.
    approvals: Option<PathBuf>,
    /// The file of kept grants.
    grants: Option<PathBuf>,
}

#[cfg(unix)]
impl Place {
    fn of(ground: &Ground) -> Self {
        let state = ground.paths.state.as_ref();
        Self {
            confined: ground.policy.confines(),
            approvals: state.map(|state| state.approvals().path()),
            grants: state.map(|state| state.grants().path()),
        }
    }
}

/// Nobody, and why.
fn nobody(why: &str) -> Nobody {
    Nobody {
        note: format!("{NOBODY}: {why}"),
    }
}

/// Nobody is there to be asked.
struct Nobody {
    note: String,
}

impl Prompter for Nobody {
    fn ask<'a>(&'a self, _: &'a Prompt) -> BoxFuture<'a, ReviewDecision> {
        let note = self.note.clone();
        Box::pin(std::future::ready(ReviewDecision::DeniedWithNote { note }))
    }

    fn answers_while_running(&self) -> bool {
        false
    }
}

/// A duration as people write it.
fn wait(text: &str) -> Result<Duration, String> {
    crate::say::span::seconds(text)
        .map(Duration::from_secs)
        .filter(|time| !time.is_zero() && *time <= LONGEST)
        .ok_or_else(|| "give a duration such as 30s, 5m or 1h, of 30 days at most".to_owned())
}
