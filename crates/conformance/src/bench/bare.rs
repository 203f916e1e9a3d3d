//! A process that is started as every program starts one, and that is ended when it takes too long.

use std::ffi::OsStr;
use std::io::Read as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};

/// The least that starting a program can cost: `posix_spawn` with an empty environment and our own descriptors.
pub(super) fn spawn(program: &Path) -> Result<()> {
    let status = Command::new(program).env_clear().status();
    well(&status.with_context(|| program.display().to_string())?)
}

/// The same by `fork` and `exec`, which copies the caller's page tables: the standard library does that where it is told
/// to become a user in between.
pub(super) fn fork(program: &Path) -> Result<()> {
    let us = rustix::process::geteuid().as_raw();
    let status = Command::new(program).env_clear().uid(us).status();
    well(&status.with_context(|| program.display().to_string())?)
}

/// A command with nothing from our environment and nothing to read, whose output nobody reads.
pub(super) fn quiet(program: impl AsRef<OsStr>, directory: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .env_clear()
        .current_dir(directory)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

/// Runs it to a good end.
pub(super) fn run(command: &mut Command, patience: Duration) -> Result<()> {
    match attempt(command, patience)? {
        Some(status) => well(&status),
        None => bail!("not done after {} s", patience.as_secs()),
    }
}

/// Runs it once more to hear what it says when it fails.
pub(super) fn complaint(command: &mut Command, patience: Duration) -> Result<()> {
    command.stderr(Stdio::piped());
    let mut child = command.process_group(0).spawn()?;
    let said = child.stderr.take();
    let status = wait(&mut child, patience)?;
    let mut text = Vec::new();
    if let Some(said) = said {
        // Bounded, and not to the end: somebody who was left behind may keep it open.
        let _ = rustix::io::ioctl_fionbio(&said, true);
        let _ = said.take(1 << 16).read_to_end(&mut text);
    }
    let text = String::from_utf8_lossy(&text).trim().to_owned();
    match status {
        Some(status) if status.success() => Ok(()),
        Some(status) => bail!("{status}: {text}"),
        None => bail!("not done after {} s: {text}", patience.as_secs()),
    }
}

/// How it ended, or nothing if it had to be ended.
fn attempt(command: &mut Command, patience: Duration) -> Result<Option<ExitStatus>> {
    let mut child = command
        .process_group(0)
        .spawn()
        .with_context(|| command.get_program().to_string_lossy().into_owned())?;
    wait(&mut child, patience)
}

/// Waits as long as that; then ends it, with whoever is in its process group.
fn wait(child: &mut Child, patience: Duration) -> Result<Option<ExitStatus>> {
    let pid = Pid::from_child(child);
    let handle = pidfd_open(pid, PidfdFlags::empty())?;
    let limit = Timespec::try_from(patience)?;
    let mut ends = [PollFd::new(&handle, PollFlags::IN)];
    let over = loop {
        match poll(&mut ends, Some(&limit)) {
            Err(rustix::io::Errno::INTR) => {}
            ready => break ready? == 0,
        }
    };
    if over {
        // Nobody may be left in it.
        let _ = kill_process_group(pid, Signal::KILL);
        child.wait()?;
        return Ok(None);
    }
    Ok(Some(child.wait()?))
}

fn well(status: &ExitStatus) -> Result<()> {
    anyhow::ensure!(status.success(), "{status}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = quiet("/bin/sh", Path::new("/"));
        command.args(["-c", script]);
        command
    }

    #[test]
    fn what_takes_too_long_is_ended() {
        let short = Duration::from_millis(200);
        let begun = std::time::Instant::now();
        let error = run(&mut shell("sleep 60 & wait"), short).unwrap_err();
        assert!(begun.elapsed() < Duration::from_secs(20));
        assert_eq!(error.to_string(), "not done after 0 s");
    }

    #[test]
    fn what_fails_says_why() {
        let long = Duration::from_secs(20);
        assert!(run(&mut shell("exit 0"), long).is_ok());
        let mut failing = shell("echo no such luck >&2; exit 3");
        let error = run(&mut failing, long).unwrap_err();
        assert_eq!(error.to_string(), "exit status: 3");
        let error = complaint(&mut failing, long).unwrap_err();
        assert_eq!(error.to_string(), "exit status: 3: no such luck");
    }
}
