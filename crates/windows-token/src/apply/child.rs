//! A command that was started, and how it ends.

use std::fmt;
use std::io;
use std::os::windows::io::{AsHandle, BorrowedHandle};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::error::LaunchError;
use crate::sys::job::Job;
use crate::sys::process::Process;

/// What a command ends with that somebody ended. Never zero: a command that was ended has not succeeded.
pub(super) const ENDED_CODE: u32 = 137;

/// What a process of a job ends with that has used up its processor time (`ERROR_NOT_ENOUGH_QUOTA`).
const OVER_QUOTA: u32 = 1816;

/// A command in a session.
///
/// Dropping it leaves the command running: the session's end is the command's end.
#[derive(Debug)]
pub struct Child {
    process: Process,
    job: Job,
    has_cpu_limit: bool,
    ended: AtomicBool,
}

impl Child {
    pub(super) const fn new(process: Process, job: Job, has_cpu_limit: bool) -> Self {
        Self {
            process,
            job,
            has_cpu_limit,
            ended: AtomicBool::new(false),
        }
    }

    /// The id of its process. While this lives, no other process gets it.
    #[must_use]
    pub const fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Waits until the command ends. Asked again, it says the same again.
    ///
    /// # Errors
    /// The system refused.
    pub fn wait(&self) -> Result<Exit, LaunchError> {
        loop {
            if let Some(exit) = self.wait_for(None)? {
                return Ok(exit);
            }
        }
    }

    /// The same without waiting: `None` if the command has not ended.
    ///
    /// # Errors
    /// As [`Child::wait`].
    pub fn try_wait(&self) -> Result<Option<Exit>, LaunchError> {
        self.wait_for(Some(Duration::ZERO))
    }

    /// The same, waiting for so long at most.
    ///
    /// # Errors
    /// As [`Child::wait`].
    pub fn wait_timeout(&self, patience: Duration) -> Result<Option<Exit>, LaunchError> {
        self.wait_for(Some(patience))
    }

    fn wait_for(&self, patience: Option<Duration>) -> Result<Option<Exit>, LaunchError> {
        let Some(code) = self.process.wait(patience)? else {
            return Ok(None);
        };
        let cause = match code {
            ENDED_CODE if self.ended.load(Ordering::SeqCst) => ExitCause::Ended,
            OVER_QUOTA if self.has_cpu_limit => ExitCause::CpuLimit,
            // What the system itself ends a process with.
            code if code >> 30 == 0b11 => ExitCause::Exception(code),
            code => ExitCause::Code(code),
        };
        let used = self.job.accounting()?;
        Ok(Some(Exit {
            cause,
            usage: Usage {
                user: used.user,
                system: used.kernel,
            },
        }))
    }

    /// Ends the command and everything that it started, with an exit code that is not zero, and waits for so long at most
    /// until nothing of it is left; says whether that came to be.
    ///
    /// # Errors
    /// The system refused.
    pub fn kill_tree(&self, patience: Duration) -> io::Result<bool> {
        self.ended.store(true, Ordering::SeqCst);
        self.job.terminate(ENDED_CODE)?;
        self.job.wait_until_empty(patience)
    }

    /// The ids of its processes that still run: those that it started included.
    ///
    /// # Errors
    /// The system refused.
    pub fn process_ids(&self) -> io::Result<Vec<u32>> {
        self.job.process_ids()
    }
}

/// Signalled when the command has ended: for those who wait for many things at once.
impl AsHandle for Child {
    fn as_handle(&self) -> BorrowedHandle<'_> {
        self.process.handle()
    }
}

/// How a command ended, and what it used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Exit {
    /// How.
    pub cause: ExitCause,
    /// What it used, with everything that it started, until now.
    pub usage: Usage,
}

impl Exit {
    /// Whether it ended by itself with code 0.
    #[must_use]
    pub const fn success(&self) -> bool {
        matches!(self.cause, ExitCause::Code(0))
    }
}

/// Why a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExitCause {
    /// By itself, with this code.
    Code(u32),
    /// By this exception, such as `0xC0000005` for a bad address and `0xC000013A` for Ctrl-C.
    Exception(u32),
    /// Because somebody ended it.
    Ended,
    /// Because the session used more processor time than its limit.
    CpuLimit,
}

impl ExitCause {
    /// The code that the process ended with.
    #[must_use]
    pub const fn code(self) -> u32 {
        match self {
            Self::Code(code) | Self::Exception(code) => code,
            Self::Ended => ENDED_CODE,
            Self::CpuLimit => OVER_QUOTA,
        }
    }
}

impl fmt::Display for ExitCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit code {code}"),
            Self::Exception(code) => write!(f, "exception {code:#010x}"),
            Self::Ended => f.write_str("ended"),
            Self::CpuLimit => f.write_str("ended: over the limit of processor time"),
        }
    }
}

/// What a command used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Usage {
    /// Processor time of its own code.
    pub user: Duration,
    /// Processor time of the kernel for it.
    pub system: Duration,
}
