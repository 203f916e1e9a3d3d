//! A command that was asked for, and how it ends.

use std::fmt;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::error::LaunchError;
use super::session::Connection;
use crate::channel::retry;
use crate::plan::Limits;
use crate::step::Step;
use crate::wire::{Ended, Record, Request, STATUS_RECORD};

/// A command in a session.
///
/// Dropping it leaves the command running: the session's end is the command's end.
#[derive(Debug)]
pub struct Child {
    connection: Arc<Connection>,
    id: u32,
    status: OwnedFd,
    limits: Limits,
    pid: Option<i32>,
    outcome: Option<Outcome>,
    partial: Vec<u8>,
}

/// What is known for good. It is kept: a process whose setup failed also ends, and that is not the command's end.
#[derive(Clone, Copy, Debug)]
enum Outcome {
    Failed(Step, i32),
    Exited(Exit),
}

impl Child {
    pub(super) const fn new(
        connection: Arc<Connection>,
        id: u32,
        status: OwnedFd,
        limits: Limits,
    ) -> Self {
        Self {
            connection,
            id,
            status,
            limits,
            pid: None,
            outcome: None,
            partial: Vec::new(),
        }
    }

    /// Waits until the command has a process, and gives its id in the session's pid namespace.
    ///
    /// # Errors
    /// A step before that failed, or the session ended.
    pub fn pid(&mut self) -> Result<i32, LaunchError> {
        loop {
            match (self.outcome, self.pid) {
                (Some(Outcome::Failed(step, errno)), _) => {
                    return Err(LaunchError::step(step, errno));
                }
                (_, Some(pid)) => return Ok(pid),
                (Some(Outcome::Exited(_)), None) => return Err(LaunchError::SessionLost),
                (None, None) => self.learn()?,
            }
        }
    }

    /// Waits until the command ends. Asked again, it says the same again.
    ///
    /// # Errors
    /// A step before exec failed, so that nothing ran; or the session ended first.
    pub fn wait(&mut self) -> Result<Exit, LaunchError> {
        loop {
            match self.outcome {
                Some(Outcome::Failed(step, errno)) => return Err(LaunchError::step(step, errno)),
                Some(Outcome::Exited(exit)) => return Ok(exit),
                None => self.learn()?,
            }
        }
    }

    /// The same as [`Child::pid`] without waiting: `None` if there is no process yet.
    ///
    /// # Errors
    /// As [`Child::pid`].
    pub fn try_pid(&mut self) -> Result<Option<i32>, LaunchError> {
        while self.pid.is_none() && self.outcome.is_none() {
            if !self.is_news()? {
                return Ok(None);
            }
            self.learn()?;
        }
        self.pid().map(Some)
    }

    /// The same as [`Child::wait`] without waiting: `None` if the command has not ended.
    ///
    /// # Errors
    /// As [`Child::wait`].
    pub fn try_wait(&mut self) -> Result<Option<Exit>, LaunchError> {
        while self.outcome.is_none() {
            if !self.is_news()? {
                return Ok(None);
            }
            self.learn()?;
        }
        self.wait().map(Some)
    }

    /// Whether the next record is there, or never comes. Records arrive whole.
    fn is_news(&self) -> Result<bool, LaunchError> {
        let mut watched = [PollFd::new(&self.status, PollFlags::IN)];
        retry(|| poll(&mut watched, Some(&Timespec::default())))
            .map(|ready| ready > 0)
            .map_err(LaunchError::system)
    }

    /// Waits for the next record. The failure of a step comes before the end of its process.
    fn learn(&mut self) -> Result<(), LaunchError> {
        match self.next()? {
            Record::Started { pid } => self.pid = Some(pid),
            Record::Failed { step, errno } => self.outcome = Some(Outcome::Failed(step, errno)),
            Record::Exited(ended) => {
                self.outcome = Some(Outcome::Exited(Exit::of(&ended, &self.limits)));
            }
        }
        Ok(())
    }

    /// Sends a signal to the command's process group.
    ///
    /// # Errors
    /// The session ended.
    pub fn signal(&self, signal: i32) -> Result<(), LaunchError> {
        self.connection.send(
            &Request::Signal {
                id: self.id,
                signal,
            },
            &[],
        )
    }

    /// Ends everything in the session that belongs to no other command, and asks nobody twice: the command with all that
    /// it started, also what left its process group, its session or its environment behind. What descends from another
    /// command that runs is spared, and so is what carries the mark of another command, such as a server that an earlier
    /// one left running. It goes on until nothing is left; this does not wait for that.
    ///
    /// A process that forges the mark of another command lives until the session ends.
    ///
    /// # Errors
    /// The session ended, and so did everything in it.
    pub fn kill_tree(&self) -> Result<(), LaunchError> {
        self.connection
            .send(&Request::KillTree { id: self.id }, &[])
    }

    fn next(&mut self) -> Result<Record, LaunchError> {
        let mut record = [0; STATUS_RECORD];
        loop {
            if let Some(whole) = self.partial.get(..STATUS_RECORD) {
                record.copy_from_slice(whole);
                self.partial.drain(..STATUS_RECORD);
                return Record::from_array(&record).map_err(|_| LaunchError::SessionLost);
            }
            match retry(|| rustix::io::read(&self.status, &mut record)) {
                Ok(0) | Err(Errno::PIPE | Errno::CONNRESET) => {
                    return Err(LaunchError::SessionLost);
                }
                Ok(read) => self.partial.extend(record.get(..read).unwrap_or_default()),
                Err(errno) => return Err(LaunchError::system(errno)),
            }
        }
    }
}

/// Readable when there is something new about the command: for those who wait for many things at once.
impl AsFd for Child {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.status.as_fd()
    }
}

/// How a command ended, and what it used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Exit {
    /// How.
    pub cause: ExitCause,
    /// What it used, with the children that it waited for.
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
    Code(i32),
    /// By this signal.
    Signal(i32),
    /// Because the session used more memory than its limit.
    MemoryLimit,
    /// Because the session had more processes than its limit.
    ProcessLimit,
    /// Because it used more processor time than its limit.
    CpuLimit,
    /// Because it wrote a larger file than its limit allows.
    FileSizeLimit,
}

impl fmt::Display for ExitCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit code {code}"),
            Self::Signal(signal) => write!(f, "signal {signal}"),
            Self::MemoryLimit => f.write_str("ended: over the memory limit"),
            Self::ProcessLimit => f.write_str("ended: over the limit of processes"),
            Self::CpuLimit => f.write_str("ended: over the limit of processor time"),
            Self::FileSizeLimit => f.write_str("ended: over the limit of a file's size"),
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
    /// The most memory that one process held, in KiB.
    pub max_rss_kib: u64,
}

impl Usage {
    pub(super) const fn from_kernel(usage: crate::sys::reap::Usage) -> Self {
        Self {
            user: Duration::from_micros(usage.user_micros),
            system: Duration::from_micros(usage.system_micros),
            max_rss_kib: usage.max_rss_kib,
        }
    }
}

impl ExitCause {
    /// From what `waitpid` says. Two signals are the kernel's own words for a limit, where one was set.
    pub(super) const fn of(status: i32, limits: &Limits) -> Self {
        if !libc::WIFSIGNALED(status) {
            return Self::Code(libc::WEXITSTATUS(status));
        }
        match libc::WTERMSIG(status) {
            libc::SIGXCPU if limits.cpu_seconds > 0 => Self::CpuLimit,
            libc::SIGXFSZ if limits.file_size > 0 => Self::FileSizeLimit,
            signal => Self::Signal(signal),
        }
    }
}

impl Exit {
    fn of(ended: &Ended, limits: &Limits) -> Self {
        Self {
            cause: match ended.limit {
                1 => ExitCause::MemoryLimit,
                2 => ExitCause::ProcessLimit,
                _ => ExitCause::of(ended.status, limits),
            },
            usage: Usage::from_kernel(crate::sys::reap::Usage {
                user_micros: ended.user_micros,
                system_micros: ended.system_micros,
                max_rss_kib: ended.max_rss_kib,
            }),
        }
    }
}
