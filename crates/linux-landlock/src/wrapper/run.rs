//! Runs a wrapped command: a session with one command, signals passed on, and the outcome as an exit code.

use std::io::Write as _;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;

use palisade_policy::{Environment, HostFacts, PathError, PolicyContext, WorkspaceRoot};
use rustix::event::{PollFd, PollFlags, poll};

use super::arguments::Wrapped;
use super::git;
use crate::channel::retry;
use crate::launch::{
    Child, Command, Exit, ExitCause, GitImport, Helper, LaunchError, StartError, Stdio, start,
};
use crate::plan::{NetworkNamespace, Plan, Tier};
use crate::seccomp::{self, Filter, Namespaces, Sockets};
use crate::sys::signals::{next_signal, signal_descriptor};

/// Signals that are for the command.
const PASSED_ON: [i32; 7] = [
    libc::SIGINT,
    libc::SIGTERM,
    libc::SIGHUP,
    libc::SIGQUIT,
    libc::SIGUSR1,
    libc::SIGUSR2,
    libc::SIGWINCH,
];

/// Why a wrapped command was not run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WrapError {
    /// The directory of the policy is not one.
    #[error("--sandbox-policy-cwd {}: {why}", path.display())]
    PolicyCwd {
        /// Which.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// The session was not started.
    #[error("{0}")]
    Start(#[from] StartError),
    /// The command was not started.
    #[error("{0}")]
    Launch(#[from] LaunchError),
    /// The status descriptor cannot be written.
    #[error("--status-fd: {0}")]
    StatusFd(std::io::Error),
}

/// How a wrapped command ended.
#[derive(Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// The exit code to end with: the command's own, or 128 and the signal.
    pub code: u8,
    /// What came back of what git did, for each repository with a private layer.
    pub git: Vec<GitImport>,
}

/// Runs a command under its policy, and brings back what git did when it has ended.
///
/// Where a status descriptor was given, a failure is reported there as `{"failed":{"step","errno","why"}}`, and an end
/// as `{"ended":{"cause","code"}}`, after a line for each repository that git worked on:
/// `{"git":{"git_dir","refs","head","index_paths","conflicts","dropped"}}`, or `{"git":{"git_dir","failed"}}`.
///
/// # Errors
/// Nothing ran.
pub fn run(
    wrapped: &Wrapped,
    facts: HostFacts,
    env: Environment,
    cwd: PathBuf,
    helper: &Helper,
) -> Result<Outcome, WrapError> {
    let status = wrapped.status_fd.map(crate::sys::adopt).transpose();
    let status = status.map_err(|errno| WrapError::StatusFd(errno.into()))?;
    let outcome = run_reported(wrapped, facts, env, cwd, helper);
    if let Some(status) = status {
        let mut lines = String::new();
        for import in outcome.iter().flat_map(|(_, git)| git) {
            lines.push_str(&format!("{}\n", git::status(import)));
        }
        lines.push_str(&format!("{}\n", report(&outcome)));
        // Whoever asked for the report and does not read it has the exit code.
        let _ = std::fs::File::from(status).write_all(lines.as_bytes());
    }
    outcome.map(|(exit, git)| Outcome {
        code: code(exit.cause),
        git,
    })
}

fn run_reported(
    wrapped: &Wrapped,
    facts: HostFacts,
    env: Environment,
    cwd: PathBuf,
    helper: &Helper,
) -> Result<(Exit, Vec<GitImport>), WrapError> {
    let bad_cwd = |why: String| WrapError::PolicyCwd {
        path: wrapped.policy_cwd.clone(),
        why,
    };
    let real =
        std::fs::canonicalize(&wrapped.policy_cwd).map_err(|error| bad_cwd(error.to_string()))?;
    let root = WorkspaceRoot::new(real).map_err(|error: PathError| bad_cwd(error.to_string()))?;
    let context = PolicyContext::new(facts, root);
    let signals = signal_descriptor(&PASSED_ON).map_err(LaunchError::system)?;
    let mut started = start(&wrapped.policy, &context, &wrapped.accepted, helper)?;
    let mut command = Command::new(wrapped.argv.iter().cloned(), cwd).with_env(env);
    if let Some(profile) = &wrapped.narrower {
        command.narrower_filter = Some(narrower(profile, &started.plan).map_err(StartError::from)?);
    }
    let stdio = own_stdio()?;
    let mut child = started.session.spawn(&command, &stdio)?;
    drop(stdio);
    let exit = wait(&mut child, &signals)?;
    Ok((exit, started.import_git()))
}

/// A further filter. The plan's own still holds, so this one need not know more than which tier it is for.
fn narrower(
    profile: &palisade_policy::SeccompProfile,
    plan: &Plan,
) -> Result<Filter, palisade_policy::PolicyError> {
    let namespaces = match plan.tier {
        Tier::Full => Namespaces::Own,
        Tier::Landlock => Namespaces::Host,
    };
    let sockets = match (plan.tier, plan.network) {
        (Tier::Landlock, _) => Sockets::PairsOnly,
        (Tier::Full, NetworkNamespace::Host) => Sockets::HostNetwork,
        (Tier::Full, _) => Sockets::OwnNetwork,
    };
    seccomp::compile_for(profile, sockets, namespaces, crate::survey::ARCH)
}

/// This process's own descriptors; one that is closed is `/dev/null` for the command.
fn own_stdio() -> Result<Stdio, LaunchError> {
    let copy = |own: Result<OwnedFd, std::io::Error>| match own {
        Ok(own) => Ok(own),
        Err(_) => std::fs::File::options()
            .read(true)
            .write(true)
            .open("/dev/null")
            .map(OwnedFd::from),
    };
    Ok(Stdio::new(
        copy(std::io::stdin().as_fd().try_clone_to_owned())?,
        copy(std::io::stdout().as_fd().try_clone_to_owned())?,
        copy(std::io::stderr().as_fd().try_clone_to_owned())?,
    ))
}

fn wait(child: &mut Child, signals: &OwnedFd) -> Result<Exit, WrapError> {
    child.pid()?;
    loop {
        let mut watched = [
            PollFd::new(&*child, PollFlags::IN),
            PollFd::new(signals, PollFlags::IN),
        ];
        retry(|| poll(&mut watched, None)).map_err(LaunchError::system)?;
        let [ended, _] = watched.map(|watched| !watched.revents().is_empty());
        while let Some(signal) = next_signal(signals) {
            child.signal(signal)?;
        }
        if ended {
            return Ok(child.wait()?);
        }
    }
}

fn code(cause: ExitCause) -> u8 {
    let number = match cause {
        ExitCause::Code(code) => code,
        ExitCause::Signal(signal) => 128 + signal,
        _ => 128 + libc::SIGKILL,
    };
    u8::try_from(number & 0xff).unwrap_or(u8::MAX)
}

fn report(outcome: &Result<(Exit, Vec<GitImport>), WrapError>) -> serde_json::Value {
    match outcome {
        Ok((exit, _)) => serde_json::json!({
            "ended": { "cause": exit.cause.to_string(), "code": code(exit.cause) }
        }),
        Err(error) => {
            let launch = match error {
                WrapError::Launch(error) | WrapError::Start(StartError::Launch { error }) => {
                    Some(error)
                }
                _ => None,
            };
            let (step, errno) = match launch {
                Some(LaunchError::Step { step, source, .. }) => {
                    (Some(step.to_string()), source.raw_os_error())
                }
                _ => (None, None),
            };
            serde_json::json!({ "failed": { "step": step, "errno": errno, "why": error.to_string() } })
        }
    }
}
