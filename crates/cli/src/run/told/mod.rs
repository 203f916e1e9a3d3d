//! What is said about a run: before it begins, and after it ended; to people on standard error, to programs by events.

mod after;
mod denied;
mod heard;
mod line;
mod named;
mod page;
mod programs;
mod refused;
mod status;
// The paths in them are those of Unix.
#[cfg(test)]
#[cfg(unix)]
mod tests;
mod weak;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use palisade::runner::approve::{Prompter, visible};
use palisade::runner::host::Host;
use palisade::runner::session::Progress;
use palisade::{Command, Error, Evidence, Finished, Outcome, Session};

use self::heard::{Heard, Overheard};
use self::line::Line;
use self::page::Page;
use self::weak::Asker;
use super::start::Run;
use super::{HowFlags, code};
use crate::complaint::Complaint;
use crate::events::{Event, Events};
use crate::exit::Code;
use crate::ground::Ground;
use crate::ground::inside;
use crate::lasting::{Files, Lasting, listed, words};
use crate::say::Voice;

/// Who tells about a run.
#[derive(Debug)]
pub(super) struct Told {
    voice: Voice,
    line: Line,
    events: Events,
    heard: Arc<Heard>,
}

impl Told {
    /// Before anything is looked at, so that whoever is to be told is told about everything that goes wrong.
    ///
    /// # Errors
    /// Whoever is to be told cannot be reached.
    pub(super) fn new(how: &HowFlags, voice: &Voice) -> Result<Self, Complaint> {
        // Where it is called does not matter to a descriptor, and a directory that is gone is told as an event.
        let cwd = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
        Ok(Self {
            voice: *voice,
            line: Line::of(std::env::args_os().collect()),
            events: Events::open(how.events.as_deref(), &cwd)?,
            heard: Arc::default(),
        })
    }

    /// The host, on which no command may write what is told.
    pub(super) fn guard(&self, host: Host) -> Host {
        match self.events.path() {
            Some(path) => host.guarding(path),
            None => host,
        }
    }

    /// Refuses a pipe for events that the command could write as well.
    ///
    /// # Errors
    /// It could.
    #[cfg(unix)]
    pub(super) fn out_of_reach(&self, ground: &Ground) -> Result<(), Complaint> {
        match self.events.pipe() {
            Some(pipe) => crate::ask::refuse_writable("--events", pipe, ground),
            None => Ok(()),
        }
    }

    /// Pipes have no names here.
    #[cfg(not(unix))]
    #[expect(
        clippy::unnecessary_wraps,
        clippy::unused_self,
        reason = "elsewhere it may be refused"
    )]
    pub(super) fn out_of_reach(&self, _: &Ground) -> Result<(), Complaint> {
        Ok(())
    }

    /// Who is asked, overheard.
    pub(super) fn prompter(&self, prompter: Box<dyn Prompter>) -> Overheard {
        Overheard::new(prompter, self.events.clone())
    }

    /// The command, watched.
    pub(super) fn watched(&self, command: Command) -> Command {
        let (heard, events) = (Arc::clone(&self.heard), self.events.clone());
        command.watched_by(move |progress| match progress {
            Progress::Judged(judgement) => {
                heard.judged(judgement);
                events.tell_of(|| programs::decision(judgement, heard.place(judgement)));
            }
            Progress::Starting { sandbox, policy } => {
                let number = heard.count();
                events.tell_of(|| programs::attempt(number, *sandbox, policy));
            }
            _ => {}
        })
    }

    /// The sandbox or the session could not be set up: nothing was judged and nothing ran.
    pub(super) fn unusable(&self, run: &Run<'_>, error: &Error) -> ExitCode {
        let code = match error {
            Error::Sandbox(failure) if failure.refused.is_some() => Code::Refused,
            other => code::of_error(other),
        };
        self.events.tell(&programs::unusable(error, code));
        let page = match error {
            Error::Sandbox(failure) => match &failure.refused {
                Some(refusal) => weak::page(refusal, &self.line, asker(run)),
                None => after::not_started(failure, &program(run.argv)),
            },
            other => Page::new("error", crate::say::Tone::Bad, shown(other)),
        };
        self.say(&page);
        code.into()
    }

    /// The sandbox holds; the command is judged next.
    pub(super) fn begins(&self, run: &Run<'_>, session: &Session) {
        let sandbox = session.sandbox();
        self.heard.rules(run.rules);
        self.events
            .tell_of(|| programs::start(run.argv, run.cwd, sandbox));
        if self.voice.err_is_terminal && !self.voice.quiet {
            let line = status::line(&status::Holds {
                host: sandbox.host(),
                policy: sandbox.policy(),
                workspace: sandbox.workspace(),
                enforcement: sandbox.enforcement(),
                cwd: run.cwd,
            });
            self.voice
                .note(&self.voice.err_tone(crate::say::Tone::Faint, &line));
            if run.paths.state.is_none() {
                self.voice.note(
                    "this run is not recorded: inside a sandbox nobody can write what was recorded",
                );
            }
        }
    }

    /// The run is over, or did not begin.
    pub(super) fn ended(
        &self,
        run: &Run<'_>,
        session: &Session,
        result: Result<Finished, Error>,
    ) -> ExitCode {
        match result {
            Ok(finished) => {
                let code = code::of_outcome(&finished.outcome);
                self.tell_end(run, session, &finished);
                code
            }
            Err(Error::Refused(refusal)) => {
                let judgement = self.heard.judgement();
                let place = judgement
                    .as_ref()
                    .and_then(|judgement| self.heard.place(judgement));
                let why = refused::Why {
                    denied: named::denied(run.argv, run.cwd, session.sandbox()),
                    somebody: !heard::nobody(&refusal),
                    explain: self.line.explain(run.argv),
                    place: place
                        .as_ref()
                        .map(|place| format!("{}:{}", place.file, place.line)),
                    judgement,
                };
                self.events.tell(&Event::Refused {
                    reason: refusal.to_string(),
                    exit_code: Code::Refused.number(),
                    rule: place,
                    losses: Vec::new(),
                });
                self.say(&refused::page(&refusal, &why));
                Code::Refused.into()
            }
            Err(error) => self.unusable(run, &error),
        }
    }

    fn tell_end(&self, run: &Run<'_>, session: &Session, finished: &Finished) {
        let outcome = &finished.outcome;
        if let Outcome::Denied { evidence, .. } = outcome {
            for one in evidence {
                let rerun = |grant: &palisade::Grant| self.line.with(&words(grant));
                self.events.tell(&programs::denied(one, &rerun));
            }
        }
        self.events.tell_of(|| programs::end(finished));
        match outcome {
            Outcome::Denied { evidence, .. } => self.tell_denied(run, session, evidence),
            other => {
                if let Some(page) = after::page(other, &self.line, &program(run.argv)) {
                    self.say(&page);
                }
            }
        }
        self.tell_notes(finished);
    }

    fn tell_denied(&self, run: &Run<'_>, session: &Session, evidence: &[Evidence]) {
        let files = Files {
            paths: run.paths,
            host: session.sandbox().host(),
            project: run.project,
        };
        let lasting = Lasting {
            file: run.paths.user.as_deref(),
            write: &run.rules.policy().settings().write.value,
            hosts: &listed(&run.rules.policy().settings().network.value),
            argv: Some(run.argv),
            helps: &|text, grant| files.open(text, grant),
        };
        self.say(&denied::page(evidence, &self.line, &lasting));
    }

    /// What is worth knowing besides. Where nobody sits, only what did not come out as it was meant.
    fn tell_notes(&self, finished: &Finished) {
        if self.voice.quiet {
            return;
        }
        let grave = |note: &&String| {
            [
                "did not come back",
                "left behind",
                " stays ",
                "it ran again",
                " was refused: ",
            ]
            .iter()
            .any(|words| note.contains(words))
        };
        let shown = finished
            .notes
            .iter()
            .filter(|note| self.voice.err_is_terminal || grave(note));
        for note in shown {
            self.voice.note(&visible(note));
        }
    }

    /// The end of it all: what was not told yet is told.
    pub(super) fn over(&self, result: Result<ExitCode, Complaint>) -> Result<ExitCode, Complaint> {
        if let Err(complaint) = &result {
            let (reason, exit_code) = (complaint.what.clone(), complaint.code.number());
            self.events.tell(&match complaint.code {
                Code::Refused => Event::Refused {
                    reason,
                    exit_code,
                    rule: None,
                    losses: Vec::new(),
                },
                _ => Event::Failed { reason, exit_code },
            });
        }
        if let Some(why) = self.events.broken() {
            self.voice
                .tell(&format!("--events: {why}; what came after is lost"));
        }
        result
    }

    fn say(&self, page: &Page) {
        // Nobody is left to be told if that cannot be written.
        crate::say::to_stderr(&page.text(&self.voice));
    }
}

/// Who asked for a sandbox that this machine cannot keep.
fn asker<'a>(run: &Run<'a>) -> Asker<'a> {
    match (inside::sandbox(), run.floor.no_accepted_losses) {
        (Some(_), _) => Asker::Inside { argv: run.argv },
        (None, true) => Asker::BoundByFloor,
        (None, false) => Asker::MayAccept,
    }
}

fn program(argv: &[OsString]) -> OsString {
    argv.first().cloned().unwrap_or_default()
}

/// An error that may quote what others wrote, on as many lines as it has.
fn shown(error: &Error) -> String {
    let lines: Vec<String> = error.to_string().lines().map(visible).collect();
    lines.join("\n")
}
