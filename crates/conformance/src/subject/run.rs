//! Runs a command line in a subject: a process of its own, a hard timeout, and a reader that does not wait for whoever is
//! left behind.

use std::ffi::OsString;
use std::io::{self, PipeReader, PipeWriter, Read as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use palisade_probes::run::{Ended, Ran};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};

use super::Prefix;

/// A command line, and where it runs.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "callers make these")]
pub struct Run<'a> {
    /// What stands before it.
    pub prefix: &'a Prefix,
    /// The words.
    pub line: &'a [OsString],
    /// The environment of the subject's caller, all of it.
    pub environment: &'a [(OsString, OsString)],
    /// The directory of the subject's caller.
    pub directory: &'a Path,
    /// How long it may take.
    pub timeout: Duration,
}

/// What a run gave, and what was said on standard error.
///
/// An exit code that stands for a signal which a kernel or a supervisor ends programs with counts as that signal: whoever
/// waits for somebody else's child can say it in no other way.
///
/// # Errors
/// It could not be started.
pub fn run(run: &Run<'_>) -> io::Result<(Ran, String)> {
    let mut words = run.prefix.line.iter().chain(run.line);
    let program = words
        .next()
        .ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    let (stdout, stderr) = (Reader::new()?, Reader::new()?);
    let mut command = Command::new(program);
    command
        .args(words)
        .env_clear()
        .envs(run.environment.iter().cloned())
        .envs(run.prefix.environment.iter().cloned())
        .current_dir(run.directory)
        .stdin(Stdio::null())
        .stdout(stdout.1)
        .stderr(stderr.1)
        .process_group(0);
    let mut child = command.spawn()?;
    // It still holds the writing ends.
    drop(command);
    let (mut stdout, mut stderr) = (stdout.0, stderr.0);
    let ended = wait(&mut child, run.timeout, &mut [&mut stdout, &mut stderr])?;
    let said = String::from_utf8_lossy(&stderr.bytes).into_owned();
    let ran = Ran {
        stdout: stdout.bytes,
        ended,
    };
    Ok((ran, said))
}

/// The reading end of a pipe, and what came out of it.
#[derive(Debug)]
struct Reader {
    pipe: PipeReader,
    bytes: Vec<u8>,
    open: bool,
}

/// What is kept of an output; the rest is read and dropped.
const MOST: usize = 1 << 20;

impl Reader {
    fn new() -> io::Result<(Self, PipeWriter)> {
        let (pipe, writer) = io::pipe()?;
        rustix::io::ioctl_fionbio(&pipe, true)?;
        let reader = Self {
            pipe,
            bytes: Vec::new(),
            open: true,
        };
        Ok((reader, writer))
    }

    /// Reads what is there now.
    fn drain(&mut self) {
        let mut buffer = [0_u8; 8192];
        while self.open {
            match self.pipe.read(&mut buffer) {
                Ok(0) => self.open = false,
                Ok(count) => {
                    let room = MOST.saturating_sub(self.bytes.len());
                    self.bytes.extend(buffer.iter().take(count.min(room)));
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(_) => self.open = false,
            }
        }
    }
}

/// Reads until the subject has ended. When time is up, ends it and whoever is in its process group.
fn wait(child: &mut Child, timeout: Duration, readers: &mut [&mut Reader]) -> io::Result<Ended> {
    let start = Instant::now();
    let group = Pid::from_child(child);
    let over = pidfd_open(group, PidfdFlags::empty())?;
    loop {
        let left = timeout.saturating_sub(start.elapsed());
        let open = readers.iter().filter(|reader| reader.open);
        let mut watched: Vec<PollFd<'_>> = open
            .map(|reader| PollFd::new(&reader.pipe, PollFlags::IN))
            .chain([PollFd::new(&over, PollFlags::IN)])
            .collect();
        let ready = match poll(
            &mut watched,
            Some(&Timespec::try_from(left).map_err(io::Error::other)?),
        ) {
            Err(rustix::io::Errno::INTR) => continue,
            ready => ready?,
        };
        let ended = watched
            .last()
            .is_some_and(|last| !last.revents().is_empty());
        drop(watched);
        readers.iter_mut().for_each(|reader| reader.drain());
        if ended {
            return child.wait().map(self::ended);
        }
        if ready == 0 {
            // Nobody may be left in it.
            let _ = kill_process_group(group, Signal::KILL);
            child.wait()?;
            return Ok(Ended::TimedOut);
        }
    }
}

fn ended(status: ExitStatus) -> Ended {
    const SIGNALS: [i32; 4] = [libc::SIGKILL, libc::SIGSYS, libc::SIGXCPU, libc::SIGXFSZ];
    match status.code() {
        None => Ended::Signalled(status.signal().unwrap_or_default()),
        Some(code) if SIGNALS.contains(&(code - 128)) => Ended::Signalled(code - 128),
        Some(code) => Ended::Exited(code),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Longer than anything here takes on a busy machine.
    const LONG: Duration = Duration::from_secs(60);

    fn shell(script: &str, timeout: Duration) -> (Ran, String) {
        let line = ["/bin/sh", "-c", script].map(OsString::from);
        run(&Run {
            prefix: &Prefix::default(),
            line: &line,
            environment: &[],
            directory: Path::new("/"),
            timeout,
        })
        .unwrap()
    }

    #[test]
    fn a_code_that_stands_for_a_signal_counts_as_one() {
        let ended = |script| shell(script, LONG).0.ended;
        assert_eq!(ended("exit 137"), Ended::Signalled(9));
        assert_eq!(ended("kill -9 $$"), Ended::Signalled(9));
        assert_eq!(ended("exit 139"), Ended::Exited(139));
        assert_eq!(ended("exit 2"), Ended::Exited(2));
    }

    #[test]
    fn who_is_left_behind_keeps_nobody_waiting() {
        let (ran, _) = shell("sleep 100 & echo $!", LONG);
        assert_eq!(ran.ended, Ended::Exited(0));
        let left = String::from_utf8(ran.stdout).unwrap();
        // It still holds the pipes.
        let end = Command::new("kill").arg(left.trim()).status().unwrap();
        assert!(end.success());
    }

    #[test]
    fn what_does_not_end_is_ended() {
        let (ran, said) = shell(
            "echo out; echo err >&2; sleep 60 & sleep 60",
            Duration::from_secs(2),
        );
        assert_eq!(ran.ended, Ended::TimedOut);
        assert_eq!(
            (ran.stdout.as_slice(), said.as_str()),
            (b"out\n".as_slice(), "err\n")
        );
    }
}
