//! The wrapper as a program: what it is told by its environment, and what it says on standard error.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use palisade_policy::{AbsolutePath, HostFacts, Os};

use super::{Wrapped, find_git, run};
use crate::git_import::ImportOptions;
use crate::launch::Helper;

/// What a wrapper ends with when the command was not run; the reason is on standard error and the status descriptor.
const NOT_RUN: u8 = 125;

/// Runs as the wrapper, if the first of these arguments, the program's own name not among them, is one of its options;
/// otherwise `None` at once.
///
/// Like the `main` that it stands for, it takes the environment, the working directory and the standard streams from the
/// process. The program that is running becomes the helper, so it must call [`dispatch`](crate::dispatch) first.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    let mut arguments = arguments.into_iter().peekable();
    let first = arguments.peek()?;
    if !super::arguments::is_option(first) {
        return None;
    }
    let code = wrap(arguments).unwrap_or_else(|error| {
        say(&error.to_string());
        NOT_RUN
    });
    Some(ExitCode::from(code))
}

/// Runs a command line of the wrapper, whatever it says; for a program that is nothing else.
pub fn main_of_wrapper(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    match wrap(arguments) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            say(&error.to_string());
            ExitCode::from(NOT_RUN)
        }
    }
}

fn wrap(arguments: impl IntoIterator<Item = OsString>) -> Result<u8, Box<dyn std::error::Error>> {
    let wrapped = Wrapped::parse(arguments)?;
    // What the caller said about the host counts: the environment is the command's.
    let absolute = |told: &Option<PathBuf>, name: &str| {
        let path = match told {
            Some(told) => told.clone(),
            None => PathBuf::from(std::env::var_os(name).filter(|path| !path.is_empty())?),
        };
        // Paths of the host are judged without links.
        AbsolutePath::new(std::fs::canonicalize(path).ok()?).ok()
    };
    let mut facts = HostFacts::new(Os::Linux).with_uid(rustix::process::geteuid().as_raw());
    facts.home = absolute(&wrapped.host_home, "HOME");
    facts.tmpdir = absolute(&wrapped.host_tmpdir, "TMPDIR");
    let cwd = std::env::current_dir()?;
    let mut helper = Helper::current_program();
    if let Some(git) = find_git(std::env::var_os("PATH").as_deref()) {
        helper = helper.with_git(ImportOptions::new(git));
    }
    let env = std::env::vars_os().collect();
    let outcome = run(&wrapped, facts, env, cwd, &helper)?;
    for import in &outcome.git {
        let of = import.git_dir.display().to_string();
        let of = of.escape_debug();
        match &import.outcome {
            Ok(report) => {
                for line in report.to_string().lines() {
                    say(&format!("git: {of}: {line}"));
                }
            }
            Err(error) => say(&format!("git: {of}: nothing came back: {error}")),
        }
    }
    Ok(outcome.code)
}

/// Says something to the person. If standard error is gone, there is nobody to tell.
fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "palisade: {line}");
}
