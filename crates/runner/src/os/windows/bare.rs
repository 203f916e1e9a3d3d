//! A command without a sandbox: a process in a job, which holds all that it starts.

use std::io;
use std::os::windows::io::{AsHandle as _, OwnedHandle};

use palisade_windows_token::command_line::{CommandLineError, environment_block, join, wide};

use super::hold::{failure, held_directory, held_program};
use super::signals::{ENDING, KILL};
use super::sys::job::Job;
use super::sys::spawn::{Failed, Launch, exit_code};
use crate::launch::BorrowedDescriptor;
use crate::os::order::Order;
use crate::os::stdio::Stdio;
use crate::outcome::SetupFailure;
use crate::supervise::{Ended, How, NoEnd};

/// A command without a sandbox.
#[derive(Debug)]
pub(crate) struct BareProcess {
    process: OwnedHandle,
    job: Job,
    ended: Option<Ended>,
    /// What ended it, if it was somebody here.
    killed_by: Option<i32>,
}

impl BareProcess {
    pub(in crate::os) fn spawn(order: &Order, stdio: &Stdio) -> Result<Self, SetupFailure> {
        // Neither can be replaced until it is let go, after the start.
        let program = held_program(order)?;
        let directory = held_directory(order)?;
        let command_line = join(&order.argv).map_err(|error| nonsense(&error))?;
        let variables: Result<Vec<_>, _> = order
            .env
            .iter()
            .map(|(name, value)| Ok((wide(name)?, wide(value)?)))
            .collect();
        let variables = variables.map_err(|error: CommandLineError| nonsense(&error))?;
        let environment = environment_block(variables).map_err(|error| nonsense(&error))?;
        let making = |error: &io::Error| failure("making a process", "", error);
        let job = Job::new().map_err(|error| making(&error))?;
        let launch = Launch {
            // Without links: one on the way could lead elsewhere by now.
            program: program.real(),
            command_line: &command_line,
            environment: &environment,
            directory: directory.path(),
            job: &job,
            stdio: stdio.each(),
        };
        let process = launch.start().map_err(|failed| match failed {
            Failed::Handles(error) => failure("passing descriptors", "", &error),
            Failed::Start(error) => failure("starting the program", &order.name(), &error),
        })?;
        Ok(Self {
            process,
            job,
            ended: None,
            killed_by: None,
        })
    }

    pub(in crate::os) fn status(&self) -> BorrowedDescriptor<'_> {
        self.process.as_handle()
    }

    pub(in crate::os) fn try_end(&mut self) -> Result<Option<Ended>, NoEnd> {
        if self.ended.is_none() {
            let code = exit_code(self.process.as_handle()).map_err(|error| {
                NoEnd::Lost(format!("how the command ended is not known: {error}"))
            })?;
            self.ended = code.map(|code| Ended {
                how: self.how(code),
                usage: self.job.usage().unwrap_or_default(),
            });
        }
        Ok(self.ended)
    }

    /// What an exit code means: ours, if it is the one that it was ended with. Otherwise the program's own, whatever it is:
    /// that of a crash is negative, and is written as 0xC0000005 and the like.
    fn how(&self, code: u32) -> How {
        match self.killed_by {
            Some(signal) if code == exit_code_of(signal) => How::Signal(signal),
            _ => How::Code(code.cast_signed()),
        }
    }

    pub(in crate::os) fn signal(&mut self, signal: i32) {
        if ENDING.contains(&signal) && matches!(self.try_end(), Ok(None)) {
            self.end(signal);
        }
    }

    pub(in crate::os) fn kill_tree(&mut self) {
        self.end(KILL);
    }

    fn end(&mut self, signal: i32) {
        if self.killed_by.is_none() {
            self.killed_by = Some(signal);
        }
        // It fails only where the job is gone, and everything in it with it.
        let _ = self.job.terminate(exit_code_of(signal));
    }
}

impl Drop for BareProcess {
    fn drop(&mut self) {
        match self.try_end() {
            // What a command leaves behind on purpose goes on, as everywhere. Where that cannot be said, it ends.
            Ok(Some(_)) if self.killed_by.is_none() => drop(self.job.release()),
            _ => self.kill_tree(),
        }
    }
}

/// What shells make of a signal.
fn exit_code_of(signal: i32) -> u32 {
    signal.unsigned_abs().saturating_add(128)
}

fn nonsense(why: &dyn std::fmt::Display) -> SetupFailure {
    let message = format!("the command cannot be started: {why}");
    SetupFailure::new("reading a request", None, message)
}
