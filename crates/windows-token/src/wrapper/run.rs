//! Runs a wrapped command: a session with one command, and the outcome as an exit code.

use std::fs::File;
use std::io;
use std::os::windows::io::{AsHandle as _, OwnedHandle};
use std::path::PathBuf;

use palisade_policy::{
    AbsolutePath, Access, CanonicalSandboxPolicy, Environment, Guarantee, HostFacts, PathError,
    PathSpec, Place, PolicyContext, PolicyError, WorkspaceRoot,
};

use super::arguments::Wrapped;
use crate::apply::{
    Command, EndError, LaunchError, StartError, StartOptions, Stdio, default_state_directory, start,
};
use crate::survey::{LocateError, plain};

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
    /// A filter for system calls was asked for.
    #[error(
        "--seccomp-profile: Windows has no filter for the system calls of any program; to accept the loss: --accept-loss {}",
        Guarantee::SystemCalls
    )]
    SystemCalls,
    /// Nobody knows where the state belongs.
    #[error("the profile of the user cannot be found: {0}; give --state-directory")]
    StateDirectory(io::Error),
    /// The session was not started.
    #[error("{0}")]
    Start(#[from] StartError),
    /// The command was not started.
    #[error("{0}")]
    Launch(#[from] LaunchError),
    /// The command ran, and something of the session is left.
    #[error("{error}; the command itself ended with {code}")]
    End {
        /// The code that it ended with.
        code: u32,
        /// What is left.
        error: EndError,
    },
}

/// Runs a command under its policy, and gives the code that it ended with.
///
/// # Errors
/// Nothing ran; or, for [`WrapError::End`], something of the session is left.
pub fn run(
    wrapped: &Wrapped,
    facts: HostFacts,
    env: Environment,
    cwd: PathBuf,
) -> Result<u32, WrapError> {
    if wrapped.narrower.is_some() && !wrapped.accepted.contains(Guarantee::SystemCalls) {
        return Err(WrapError::SystemCalls);
    }
    let context = PolicyContext::new(facts, policy_root(wrapped)?);
    let state = match &wrapped.state_directory {
        Some(directory) => directory.clone(),
        None => default_state_directory().map_err(WrapError::StateDirectory)?,
    };
    let policy = without_ourselves(&wrapped.policy, &context).map_err(StartError::from)?;
    let options = StartOptions::new(state);
    let started = start(&policy, &context, &wrapped.accepted, &options)?;
    let command = Command::new(wrapped.argv.iter().cloned(), cwd).with_env(env);
    let exit = started
        .session
        .spawn(&command, &own_stdio()?)
        .and_then(|child| child.wait())?;
    let code = exit.cause.code();
    started
        .session
        .end()
        .map_err(|error| WrapError::End { code, error })?;
    Ok(code)
}

/// The directory of the policy, where it really is.
fn policy_root(wrapped: &Wrapped) -> Result<WorkspaceRoot, WrapError> {
    let path = &wrapped.policy_cwd;
    let bad = |why: String| WrapError::PolicyCwd {
        path: path.clone(),
        why,
    };
    let real = std::fs::canonicalize(path).map_err(|error| bad(error.to_string()))?;
    let real = plain(&real).map_err(|error: LocateError| bad(error.to_string()))?;
    WorkspaceRoot::from_absolute(real).map_err(|error: PathError| bad(error.to_string()))
}

/// The policy, with this program read-only if it lies in a writable root: otherwise a command could replace it, and the
/// next one would be run by what it put there.
fn without_ourselves(
    policy: &CanonicalSandboxPolicy,
    context: &PolicyContext,
) -> Result<CanonicalSandboxPolicy, PolicyError> {
    let program = std::env::current_exe().and_then(std::fs::canonicalize);
    let program: Option<AbsolutePath> = program.ok().and_then(|path| plain(&path).ok());
    let (Some(program), Some((rules, _))) = (program, policy.rules()) else {
        return Ok(policy.clone());
    };
    let resolved = policy.resolve(context)?;
    if resolved.place(&Access::Write(program.clone())) != Some(Place::Host) {
        return Ok(policy.clone());
    }
    let read_only = rules
        .read_only
        .iter()
        .cloned()
        .chain([PathSpec::from(program)]);
    let rules = rules.clone().with_read_only(read_only);
    Ok(policy.clone().with_paths(rules))
}

/// This process's own handles; one that is closed is the null device for the command.
fn own_stdio() -> Result<Stdio, LaunchError> {
    let copy = |own: io::Result<OwnedHandle>| match own {
        Ok(own) => Ok(own),
        Err(_) => File::options()
            .read(true)
            .write(true)
            .open("NUL")
            .map(OwnedHandle::from),
    };
    Ok(Stdio::new(
        copy(io::stdin().as_handle().try_clone_to_owned())?,
        copy(io::stdout().as_handle().try_clone_to_owned())?,
        copy(io::stderr().as_handle().try_clone_to_owned())?,
    ))
}
