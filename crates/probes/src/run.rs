//! Runs a probe in whatever the caller puts it, and judges what came of it.
//!
//! A run needs a stage and a way to run a command line in the subject. Without a sandbox that is [`bare`]; in one, ask
//! [`Verdict::deviation`] instead, and leave out what is not applicable in its tier:
//!
//! ```no_run
//! use std::path::Path;
//!
//! use palisade_probes::run::{bare, launch};
//! use palisade_probes::stage::{Setup, Stage};
//! use palisade_probes::{Mode, all};
//!
//! for probe in all().filter(|probe| probe.is_built() && probe.suits(Mode::Write)) {
//!     let stage = Stage::prepare(&Setup {
//!         base: Path::new("/var/tmp"),
//!         program: Path::new("/srv/app/palisade-probe"),
//!         owner: None,
//!         mode: Mode::Write,
//!     })?;
//!     let verdict = launch(probe, &stage, &mut |line| bare(&stage, None, line))?;
//!     assert_eq!(verdict.deviation_alone(probe.control.root), None);
//! }
//! # Ok::<(), std::io::Error>(())
//! ```

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::probe::Probe;
use crate::report::Report;
use crate::stage::Stage;
use crate::verdict::Verdict;

/// How long a run may take.
pub const TIMEOUT: Duration = Duration::from_secs(10);

/// How a probe ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "callers make these")]
pub enum Ended {
    /// With this code.
    Exited(i32),
    /// By this signal.
    Signalled(i32),
    /// Not in time.
    TimedOut,
}

/// What a run gave.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "callers make these")]
pub struct Ran {
    /// What the probe printed.
    pub stdout: Vec<u8>,
    /// How it ended.
    pub ended: Ended,
}

/// Runs a probe on a stage and judges what came of it.
///
/// `spawn` runs a command line in the subject, with [`Stage::environment`] as the environment of its caller, until the
/// whole subject has ended: what still runs then has escaped.
///
/// # Errors
/// The command line could not be run.
pub fn launch(
    probe: &Probe,
    stage: &Stage,
    spawn: &mut dyn FnMut(&[OsString]) -> io::Result<Ran>,
) -> io::Result<Verdict> {
    let before = stage.look();
    stage.cue(probe);
    let ran = spawn(&stage.command_line(probe))?;
    stage.close(probe)?;
    let evidence = stage.evidence(&before);
    let stdout = String::from_utf8_lossy(&ran.stdout);
    Ok(Verdict::new(
        probe,
        &report(&stdout, ran.ended),
        evidence,
        stage.tells_secret(&stdout),
    ))
}

/// What the probe said, or what its end says.
fn report(stdout: &str, ended: Ended) -> Report {
    match (ended, Report::parse(stdout)) {
        (Ended::Exited(0), Some(report)) => report,
        (Ended::Exited(code), _) => Report::Broken(format!("exit code {code}, output {stdout:?}")),
        // Ways in which a kernel or a supervisor says no. Any other signal is a fault of the probe.
        (
            Ended::Signalled(
                signal @ (libc::SIGSYS | libc::SIGKILL | libc::SIGXCPU | libc::SIGXFSZ),
            ),
            _,
        ) => Report::Refused {
            by: format!("signal-{signal}"),
            detail: "ended it".to_owned(),
        },
        (Ended::Signalled(signal), _) => Report::Broken(format!("ended by signal {signal}")),
        (Ended::TimedOut, _) => Report::Broken("not in time".to_owned()),
    }
}

/// Runs a command line without a sandbox, as another user if one is given: for controls.
///
/// # Errors
/// It could not be run.
pub fn bare(stage: &Stage, owner: Option<(u32, u32)>, line: &[OsString]) -> io::Result<Ran> {
    let (program, arguments) = line
        .split_first()
        .ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    // A file, not a pipe: a process that is left behind must not keep the reader waiting.
    let path = stage.root().join("output");
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env_clear()
        .envs(stage.environment())
        .current_dir(&stage.site().workspace)
        .stdin(Stdio::null())
        .stdout(File::create(&path)?)
        .stderr(Stdio::null());
    if let Some((user, group)) = owner {
        command.uid(user).gid(group);
    }
    let mut child = command.spawn()?;
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break Some(status);
        }
        if start.elapsed() > TIMEOUT {
            child.kill()?;
            child.wait()?;
            break None;
        }
        thread::sleep(Duration::from_millis(2));
    };
    let ended = match status {
        None => Ended::TimedOut,
        Some(status) => status.code().map_or_else(
            || Ended::Signalled(status.signal().unwrap_or_default()),
            Ended::Exited,
        ),
    };
    Ok(Ran {
        stdout: std::fs::read(path)?,
        ended,
    })
}

#[cfg(test)]
mod tests {
    use super::{Ended, report};
    use crate::report::Report;

    #[test]
    fn only_some_signals_are_refusals() {
        let of = |signal| report("", Ended::Signalled(signal));
        assert!(matches!(of(libc::SIGSYS), Report::Refused { .. }));
        for signal in [libc::SIGSEGV, libc::SIGALRM, libc::SIGABRT] {
            assert!(matches!(of(signal), Report::Broken(_)), "{signal}");
        }
    }

    #[test]
    fn silence_and_failure_are_no_containment() {
        assert!(matches!(report("", Ended::Exited(0)), Report::Broken(_)));
        let said = "refused: EPERM x";
        assert!(matches!(report(said, Ended::Exited(2)), Report::Broken(_)));
        assert!(matches!(report(said, Ended::TimedOut), Report::Broken(_)));
    }
}
