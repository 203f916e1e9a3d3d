//! A command without a sandbox: a process in a job, which holds all that it starts.

use std::io;
use std::os::windows::io::{AsHandle as _, OwnedHandle};
use std::path::Path;

use super::command_line::{is_batch, join};
use super::environment::block;
use super::sys::job::Job;
use super::sys::spawn::{Failed, Launch, exit_code};
use crate::launch::BorrowedDescriptor;
use crate::os::order::Order;
use crate::os::stdio::Stdio;
use crate::outcome::SetupFailure;
use crate::program::{HeldDirectory, HeldProgram, resolve_for};
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

/// The signals that end a command; Windows knows none of them, and others mean nothing here.
const ENDING: [i32; 6] = [1, 2, 3, 6, KILL, 15];
const KILL: i32 = 9;

/// Errors of Windows that have a remedy.
const SHARING_VIOLATION: i32 = 32;
const BAD_FORMAT: i32 = 193;
const NAME_TOO_LONG: i32 = 206;
const NEEDS_ELEVATION: i32 = 740;

impl BareProcess {
    pub(in crate::os) fn spawn(order: &Order, stdio: &Stdio) -> Result<Self, SetupFailure> {
        let nonsense = |why: &str| {
            let message = format!("the command cannot be started: {why}");
            SetupFailure::new("reading a request", None, message)
        };
        let command_line = join(&order.argv).map_err(nonsense)?;
        let environment = block(&order.env).map_err(nonsense)?;
        // Neither can be replaced until it is let go, after the start.
        let program = program(order)?;
        let directory = directory(order)?;
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

/// Opens the program so that nobody can change it or put another in its place, and makes sure that it is the judged one.
fn program(order: &Order) -> Result<HeldProgram, SetupFailure> {
    let path = match &order.program {
        Some(judged) => judged.path.clone(),
        None => {
            resolve_for(&order.argv, &order.env, &order.cwd)
                .map_err(|error| {
                    let step = "starting the program";
                    SetupFailure::new(step, error.errno(), format!("{step} failed: {error}"))
                })?
                .path
        }
    };
    let step = "checking that the program is the judged one";
    let held = HeldProgram::open(&path)
        .map_err(|error| failure(step, &path.display().to_string(), &error))?;
    if let Some(judged) = &order.program
        && held.identity() != (judged.device, judged.inode)
    {
        let message = format!(
            "{step} {} failed: another file is at its path than when the command was judged; judge it again",
            path.display()
        );
        return Err(SetupFailure::new(step, None, message));
    }
    for name in [path.as_path(), held.real()] {
        if is_batch(name.as_os_str()) {
            return Err(batch(name));
        }
    }
    Ok(held)
}

/// Opens the directory so that nobody can move it away, and makes sure that it is the judged one.
fn directory(order: &Order) -> Result<HeldDirectory, SetupFailure> {
    let step = "entering the working directory";
    let about = order.cwd.display().to_string();
    let held = HeldDirectory::open(&order.cwd).map_err(|error| failure(step, &about, &error))?;
    match order.directory {
        Some(judged) if judged != held.identity() => {
            let message = format!(
                "{step} {about} failed: another directory is at its path than when the command was judged; judge it again"
            );
            Err(SetupFailure::new(step, None, message))
        }
        _ => Ok(held),
    }
}

fn batch(path: &Path) -> SetupFailure {
    let message = format!(
        "starting the program {} failed: it is a batch file, and cmd.exe would read its arguments as commands; run cmd.exe \
         with a line that you wrote for it, or the program that the batch file starts",
        path.display()
    );
    SetupFailure::new("starting the program", None, message)
}

fn failure(step: &str, about: &str, error: &io::Error) -> SetupFailure {
    let hint = match error.raw_os_error() {
        Some(SHARING_VIOLATION) => ": somebody has it open for writing; wait until they are done",
        Some(BAD_FORMAT) => ": it is no program of this system; a script needs its interpreter",
        Some(NAME_TOO_LONG) => ": the arguments or a path are too long",
        Some(NEEDS_ELEVATION) => {
            ": it wants to be started as an administrator, which nothing here does"
        }
        _ => "",
    };
    let about = match about {
        "" => String::new(),
        about => format!(" {about}"),
    };
    let message = format!("{step}{about} failed: {error}{hint}");
    SetupFailure::new(step, error.raw_os_error(), message)
}
