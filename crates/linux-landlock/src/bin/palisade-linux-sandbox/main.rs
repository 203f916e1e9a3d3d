//! The sandbox helper as an executable of its own: the helper of a session, or a wrapper around one command.
//!
//! ```text
//! palisade-linux-sandbox --sandbox-policy-cwd DIR --sandbox-policy JSON [--seccomp-profile JSON]
//!     [--resource-limits JSON] [--accept-loss NAME]... [--status-fd N]
//!     [--host-home DIR] [--host-tmpdir DIR] -- COMMAND...
//! ```
#![expect(
    clippy::print_stderr,
    reason = "a program speaks to the person who ran it"
)]

use std::process::ExitCode;

/// What a wrapper ends with when the command was not run; the reason is on standard error and the status descriptor.
#[cfg(target_os = "linux")]
const NOT_RUN: u8 = 125;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    if let Some(code) = palisade_linux_landlock::dispatch(std::env::args_os()) {
        return code;
    }
    match wrap() {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("palisade: {error}");
            ExitCode::from(NOT_RUN)
        }
    }
}

#[cfg(target_os = "linux")]
fn wrap() -> Result<u8, Box<dyn std::error::Error>> {
    use std::path::PathBuf;

    use palisade_linux_landlock::git_import::ImportOptions;
    use palisade_linux_landlock::{Helper, wrapper};
    use palisade_policy::{AbsolutePath, HostFacts, Os};

    let wrapped = wrapper::Wrapped::parse(std::env::args_os().skip(1))?;
    let absolute = |told: &Option<PathBuf>, name: &str| {
        let path = match told {
            Some(told) => told.clone(),
            None => PathBuf::from(std::env::var_os(name)?),
        };
        // Paths of the host are judged without links.
        AbsolutePath::new(std::fs::canonicalize(path).ok()?).ok()
    };
    let mut facts = HostFacts::new(Os::Linux).with_uid(rustix::process::geteuid().as_raw());
    facts.home = absolute(&wrapped.host_home, "HOME");
    facts.tmpdir = absolute(&wrapped.host_tmpdir, "TMPDIR");
    let cwd = std::env::current_dir()?;
    let mut helper = Helper::current_program();
    if let Some(git) = wrapper::find_git(std::env::var_os("PATH").as_deref()) {
        helper = helper.with_git(ImportOptions::new(git));
    }
    let env = std::env::vars_os().collect();
    let outcome = wrapper::run(&wrapped, facts, env, cwd, &helper)?;
    for import in &outcome.git {
        let of = import.git_dir.display().to_string();
        let of = of.escape_debug();
        match &import.outcome {
            Ok(report) => {
                for line in report.to_string().lines() {
                    eprintln!("palisade: git: {of}: {line}");
                }
            }
            Err(error) => eprintln!("palisade: git: {of}: nothing came back: {error}"),
        }
    }
    Ok(outcome.code)
}

#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    eprintln!("palisade: the Linux sandbox works on Linux only");
    ExitCode::FAILURE
}
