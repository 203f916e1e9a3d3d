//! A session: a token, a job and a desktop that are set up once, and the commands that run with them.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use palisade_policy::AbsolutePath;

use super::book::Book;
use super::child::{Child, ENDED_CODE};
use super::command::Command;
use super::error::{EditError, EndError, LaunchError};
use super::self_check::CheckedToken;
use super::state::StateDirectory;
use super::stdio::Stdio;
use crate::acl::{Ace, AceKind, Acl, Rights};
use crate::command_line::join;
use crate::journal::SessionId;
use crate::plan::Plan;
use crate::sid::Sid;
use crate::survey::plain;
use crate::sys::desktop::Desktop;
use crate::sys::job::Job;
use crate::sys::process::Launch;
use crate::sys::security::Descriptor;

/// Everything on a desktop but switching to it: reading and writing objects, windows, menus, hooks, journals, listing.
const ON_DESKTOP: Rights = Rights(0x00FF | Rights::READ_CONTROL.0);
/// The same and switching, with everything about the object itself.
const ALL_ON_DESKTOP: Rights = Rights(0x000F_01FF);

/// What a session changed on the host. Dropping it changes that back.
#[derive(Debug)]
pub(super) struct Traces {
    pub(super) state: StateDirectory,
    pub(super) session: SessionId,
    pub(super) tmp: AbsolutePath,
    /// What nobody removes or moves while the session lives: the places that it may write, and the state directory.
    pub(super) held: Vec<File>,
    pub(super) removed: bool,
}

impl Traces {
    /// Removes the entries, the temporary files, and the session from the journal.
    pub(super) fn remove(&mut self) -> Result<(), EditError> {
        if self.removed {
            return Ok(());
        }
        self.held.clear();
        let mut book = Book::open(&self.state)?;
        let released = match book.is_open(self.session) {
            true => book.release(self.session),
            false => Ok(()),
        };
        self.removed = released.is_ok();
        // What is still in use goes with the next start.
        let _ = std::fs::remove_dir_all(self.tmp.as_path());
        released
    }
}

impl Drop for Traces {
    fn drop(&mut self) {
        // The journal knows what is left.
        let _ = self.remove();
    }
}

/// A running session. Everything in it ends when this is dropped, or when the process that holds it dies; entries that it
/// added to access lists are removed when it is dropped, or at the next start.
#[derive(Debug)]
pub struct Session {
    /// Dropped before the traces are: what runs, ends first.
    job: Job,
    token: CheckedToken,
    desktop: Desktop,
    environment: Vec<(String, PathBuf)>,
    has_cpu_limit: bool,
    patience: Duration,
    traces: Traces,
}

impl Session {
    /// Puts the parts together. The token was seen to restrict.
    pub(super) fn new(
        plan: &Plan,
        user: &Sid,
        token: CheckedToken,
        traces: Traces,
        patience: Duration,
    ) -> io::Result<Self> {
        let allow = |rights, sid: &Sid| Ace::new(AceKind::Allow, rights, sid.clone());
        // For those who may use what the session makes: other sessions of the same logon may not.
        let own = plan.token.default_dacl.iter().map(|ace| &ace.sid);
        let list: Acl = own
            .filter(|sid| *sid != user)
            .map(|sid| allow(ON_DESKTOP, sid))
            .chain([allow(ALL_ON_DESKTOP, user)])
            .collect();
        let descriptor = Descriptor::new(&list.to_bytes().map_err(io::Error::other)?)?;
        let desktop = Desktop::create(&format!("palisade-{}", traces.session), &descriptor)?;
        Ok(Self {
            job: Job::new(&plan.job)?,
            token,
            desktop,
            environment: plan
                .environment
                .iter()
                .map(|(name, path)| (name.clone(), path.as_path().to_path_buf()))
                .collect(),
            has_cpu_limit: plan.job.cpu_seconds.is_some(),
            patience,
            traces,
        })
    }

    /// Starts a command.
    ///
    /// # Errors
    /// Nothing ran: the program, its arguments or a handle cannot be used, or the system refused.
    pub fn spawn(&self, command: &Command, stdio: &Stdio) -> Result<Child, LaunchError> {
        stdio.check()?;
        let (program, _held) = command.open_program()?;
        let command_line = join(&command.argv)?;
        let environment = command.environment(&self.environment)?;
        let directory = plain(&command.cwd)?;
        let job = Job::unlimited()?;
        let process = Launch {
            program: &program,
            command_line: &command_line,
            environment: &environment,
            directory: directory.as_path(),
            token: self.token.token(),
            jobs: &[&self.job, &job],
            desktop: &self.desktop,
            stdio: stdio.handles(),
        }
        .start()
        .map_err(|source| LaunchError::System {
            what: "starting",
            path: program.clone(),
            source,
        })?;
        Ok(Child::new(process, job, self.has_cpu_limit))
    }

    /// The directory for temporary files that the session has, and nobody else.
    #[must_use]
    pub fn tmpdir(&self) -> &Path {
        self.traces.tmp.as_path()
    }

    /// The ids of all processes of the session.
    ///
    /// # Errors
    /// The system refused.
    pub fn process_ids(&self) -> io::Result<Vec<u32>> {
        self.job.process_ids()
    }

    /// Ends everything in the session, waits until nothing of it runs, and removes what it added to the host.
    ///
    /// # Errors
    /// Says what is left. The next start tries again.
    pub fn end(mut self) -> Result<(), EndError> {
        self.end_processes()?;
        self.traces.remove()?;
        Ok(())
    }

    fn end_processes(&self) -> Result<(), EndError> {
        let failed = |error: io::Error| EndError::Processes(error.to_string());
        self.job.terminate(ENDED_CODE).map_err(failed)?;
        match self.job.wait_until_empty(self.patience).map_err(failed)? {
            true => Ok(()),
            false => {
                let left = self.job.process_ids().unwrap_or_default();
                Err(EndError::Processes(format!("{left:?}")))
            }
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Then the traces drop. Processes that do not come to their end in time can write no longer than that: the system
        // is ending them.
        let _ = self.end_processes();
    }
}
