//! The wrapper as a program: what it is told by its environment, and what it says on standard error.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::PathBuf;

use palisade_policy::{AbsolutePath, HostFacts, Os};

use super::{WrapError, Wrapped, run};
use crate::survey::plain;

/// What a wrapper ends with when the command was not run; the reason is on standard error.
const NOT_RUN: u32 = 125;

/// Runs a command line of the wrapper, the program's own name not among the arguments, and gives the code to end with: that
/// of the command, all of its bits.
///
/// Like the `main` that it stands for, it takes the environment, the working directory and the standard handles from the
/// process.
pub fn main_of_wrapper(arguments: impl IntoIterator<Item = OsString>) -> u32 {
    let error: Box<dyn std::error::Error> = match wrap(arguments) {
        Ok(code) => return code,
        Err(error) => error,
    };
    // If standard error is gone, there is nobody to tell.
    let _ = writeln!(std::io::stderr(), "palisade: {error}");
    match error.downcast_ref::<WrapError>() {
        Some(WrapError::End { code, .. }) => *code,
        _ => NOT_RUN,
    }
}

fn wrap(arguments: impl IntoIterator<Item = OsString>) -> Result<u32, Box<dyn std::error::Error>> {
    let wrapped = Wrapped::parse(arguments)?;
    // What the caller said about the host counts: the environment is the command's.
    let absolute = |told: &Option<PathBuf>, name: &str| -> Option<AbsolutePath> {
        let path = match told {
            Some(told) => told.clone(),
            None => PathBuf::from(std::env::var_os(name).filter(|path| !path.is_empty())?),
        };
        // Paths of the host are judged without links.
        plain(&std::fs::canonicalize(path).ok()?).ok()
    };
    let mut facts = HostFacts::new(Os::Windows);
    facts.home = absolute(&wrapped.host_home, "USERPROFILE");
    facts.tmpdir = absolute(&wrapped.host_tmpdir, "TEMP");
    let cwd = std::env::current_dir()?;
    let env = std::env::vars_os().collect();
    Ok(run(&wrapped, facts, env, cwd)?)
}
