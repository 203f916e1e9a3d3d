//! The unified log, read with the system's own program.

use std::ffi::OsString;
use std::io::{self, Read as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::LogSource;

/// What reads the log. Never another of the same name: shells have a builtin that is called so.
pub const LOG: &str = "/usr/bin/log";

/// How long reading the log may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// Only what the sandbox in the kernel wrote. The program logs its own arguments, which hold these words too.
const PREDICATE: &str =
    "processID == 0 AND senderImagePath ENDSWITH \"/Sandbox\" AND eventMessage CONTAINS \"deny(\"";

/// The arguments that show the denials of the last so many seconds.
#[must_use]
pub fn arguments(seconds: Duration) -> Vec<OsString> {
    // Rounded up: one second too many is sorted out by the tag.
    let last = format!("{}s", seconds.as_secs().saturating_add(1));
    [
        "show",
        "--style",
        "ndjson",
        "--last",
        &last,
        "--predicate",
        PREDICATE,
    ]
    .into_iter()
    .map(OsString::from)
    .collect()
}

/// The log of this Mac.
#[derive(Clone, Debug)]
pub struct SystemLog {
    program: PathBuf,
    patience: Duration,
}

impl Default for SystemLog {
    fn default() -> Self {
        Self {
            program: LOG.into(),
            patience: PATIENCE,
        }
    }
}

impl SystemLog {
    /// Read by another program, which must be absolute, in so much time: for tests.
    #[must_use]
    pub fn with(program: &Path, patience: Duration) -> Self {
        Self {
            program: program.to_owned(),
            patience,
        }
    }
}

/// A child that does not outlive its reader.
struct Reading(Child);

impl Drop for Reading {
    fn drop(&mut self) {
        // One that has ended is only reaped.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl LogSource for SystemLog {
    fn last(&mut self, seconds: Duration, max_bytes: usize) -> io::Result<Vec<u8>> {
        if !self.program.is_absolute() {
            return Err(io::Error::from(io::ErrorKind::InvalidInput));
        }
        let until = Instant::now() + self.patience;
        let mut child = Reading(
            Command::new(&self.program)
                .args(arguments(seconds))
                .env_clear()
                .current_dir("/")
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()?,
        );
        let Some(stdout) = child.0.stdout.take() else {
            return Err(io::Error::from(io::ErrorKind::BrokenPipe));
        };
        let lines = read_until(stdout.into(), until, max_bytes)?;
        // It has closed its output: the rest does not take long, and is not waited for longer.
        loop {
            match child.0.try_wait()? {
                Some(status) if status.success() || lines.len() == max_bytes => return Ok(lines),
                Some(status) => {
                    let why = format!("{} ended with {status}", self.program.display());
                    return Err(io::Error::other(why));
                }
                None if lines.len() == max_bytes => return Ok(lines),
                None if Instant::now() >= until => {
                    return Err(io::Error::from(io::ErrorKind::TimedOut));
                }
                None => std::thread::sleep(Duration::from_millis(1)),
            }
        }
    }
}

/// What comes until the end, the time or the size. What the last line lacks makes it no event.
fn read_until(stdout: OwnedFd, until: Instant, max_bytes: usize) -> io::Result<Vec<u8>> {
    let mut stdout = std::fs::File::from(stdout);
    let mut lines = Vec::new();
    let mut buffer = vec![0; 64 * 1024];
    while lines.len() < max_bytes {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::Error::from(io::ErrorKind::TimedOut));
        }
        let timeout = Timespec::try_from(left).ok();
        let mut polled = [PollFd::from_borrowed_fd(stdout.as_fd(), PollFlags::IN)];
        match poll(&mut polled, timeout.as_ref()) {
            Ok(0) | Err(rustix::io::Errno::INTR) => continue,
            Ok(_) => {}
            Err(errno) => return Err(errno.into()),
        }
        let read = stdout.read(&mut buffer)?;
        if read == 0 {
            break;
        }
        lines.extend(buffer.iter().take(read).take(max_bytes - lines.len()));
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::denials::{Collector, collect};

    /// A program in the place of `log`.
    fn program(directory: &Path, script: &str) -> PathBuf {
        let path = directory.join("log");
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    fn read(script: &str, patience: Duration, max_bytes: usize) -> io::Result<Vec<u8>> {
        let directory = tempfile::tempdir().unwrap();
        let program = program(directory.path(), script);
        // A test beside this one may be between fork and exec with the script still open for writing.
        loop {
            let read = SystemLog::with(&program, patience).last(Duration::from_secs(3), max_bytes);
            match read {
                Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy => {}
                other => return other,
            }
        }
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn lines_are_read_with_a_clean_environment_and_become_denials() {
        let line = r#"{"processID":0,"senderImagePath":"/k/Sandbox","eventMessage":"Sandbox: cat(5) deny(1) file-read-data \/a\ntag"}"#;
        let script =
            format!("[ -z \"$HOME\" ] || exit 9\n[ \"$5\" = 4s ] || exit 8\ncat <<'E'\n{line}\nE");
        let lines = read(&script, LONG, 1 << 20).unwrap();
        let found = collect(&lines, &Collector::tagged("tag", 10));
        assert_eq!(
            found.denials.len(),
            1,
            "{}",
            String::from_utf8_lossy(&lines)
        );
    }

    #[test]
    fn one_that_fails_hangs_or_floods_is_an_error_or_cut() {
        // What `log` says in a sandbox.
        let refused = read("echo 'Cannot run while sandboxed' >&2; exit 64", LONG, 100);
        assert!(refused.unwrap_err().to_string().contains("64"));
        let slow = read("exec sleep 600", Duration::from_millis(50), 100);
        assert_eq!(slow.unwrap_err().kind(), io::ErrorKind::TimedOut);
        let closed = read("exec >&-; exec sleep 600", Duration::from_millis(50), 100);
        assert_eq!(closed.unwrap_err().kind(), io::ErrorKind::TimedOut);
        let flood = read("while :; do echo xxxxxxxxxxxxxxxx; done", LONG, 1000);
        assert_eq!(flood.unwrap().len(), 1000);
        let mut relative = SystemLog::with(Path::new("log"), LONG);
        assert!(relative.last(LONG, 10).is_err());
    }
}
