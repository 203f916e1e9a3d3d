//! Which variables a careful caller hands on: those that every program needs, and none that may hold a secret.

use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result};

/// What every program needs. The command has the same list.
const CORE: &[&str] = &["PATH", "HOME", "USER", "LANG", "TERM", "TZ", "SHELL"];

/// Whether a careful caller hands this variable on.
#[must_use]
pub fn is_core(name: &OsStr) -> bool {
    CORE.iter().any(|core| name == *core) || name.as_encoded_bytes().starts_with(b"LC_")
}

/// What a careful caller hands on of these.
pub fn core_of(
    variables: impl IntoIterator<Item = (OsString, OsString)>,
) -> impl Iterator<Item = (OsString, OsString)> {
    variables.into_iter().filter(|(name, _)| is_core(name))
}

/// `core-environment -- COMMAND...`: becomes the command, with nothing else in its environment.
///
/// # Errors
/// There is no command, or it cannot be started.
pub fn main(arguments: impl Iterator<Item = OsString>) -> Result<ExitCode> {
    let options = crate::options::Options::parse(arguments, &[], &[])?;
    let (program, rest) = options
        .rest
        .split_first()
        .context("-- COMMAND is missing")?;
    let error = Command::new(program)
        .args(rest)
        .env_clear()
        .envs(core_of(std::env::vars_os()))
        .exec();
    Err(error).with_context(|| program.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::is_core;

    #[test]
    fn secrets_are_not_handed_on() {
        assert!(is_core("PATH".as_ref()) && is_core("LC_ALL".as_ref()));
        assert!(!is_core("AWS_SECRET_ACCESS_KEY".as_ref()));
        assert!(!is_core("SSH_AUTH_SOCK".as_ref()));
        assert!(!is_core("TMPDIR".as_ref()));
    }
}
