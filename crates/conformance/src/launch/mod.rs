//! The library as a program: `palisade-conformance launch OPTIONS -- COMMAND...` runs one command in a session.
//!
//! So the library is judged as every other subject is: by what a process does that was started in front of a command line.

use std::ffi::OsString;
use std::io;
use std::os::fd::AsFd as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use palisade::runner::policy::{
    AbsolutePath, AcceptedLosses, CanonicalSandboxPolicy, Guarantee, HostFacts, Os, PolicyContext,
    WorkspaceRoot,
};
use palisade_linux_landlock::host::NamespaceSupport;
use palisade_linux_landlock::{Command, ExitCause, Helper, Stdio, start_on, survey};

use crate::options::Options;
use crate::subject::environment::core_of;

/// Runs the command and ends as it ended: with its code, or with 128 and the signal.
///
/// # Errors
/// The options make no sense, or nothing ran.
pub fn main(arguments: impl Iterator<Item = OsString>) -> Result<ExitCode> {
    let options = Options::parse(
        arguments,
        &[
            "--tier",
            "--policy",
            "--workspace",
            "--home",
            "--helper",
            "--accept-loss",
            "--report",
        ],
        &[],
    )?;
    let policy: CanonicalSandboxPolicy =
        serde_json::from_str(options.text("--policy")?).context("--policy")?;
    let home = AbsolutePath::new(options.path("--home")?).context("--home")?;
    let workspace = options.path("--workspace")?;
    let facts = HostFacts::new(Os::Linux)
        .with_uid(rustix::process::geteuid().as_raw())
        .with_home(home);
    let context = PolicyContext::new(
        facts.clone(),
        WorkspaceRoot::new(&workspace).context("--workspace")?,
    );
    let mut kernel = survey::kernel(&facts);
    match options.text("--tier")? {
        "full" => {}
        "landlock" => {
            kernel.namespaces = NamespaceSupport::Refused {
                why: "emulated".to_owned(),
                cure: None,
            };
        }
        other => bail!("--tier is full or landlock, not `{other}`"),
    }
    let accepted: AcceptedLosses = options
        .texts("--accept-loss")?
        .into_iter()
        .map(str::parse::<Guarantee>)
        .collect::<Result<_, _>>()?;
    let helper = Helper::new(options.path("--helper")?);
    let started = start_on(kernel, &policy, &context, &accepted, &helper)
        // It tells what it is caused by.
        .map_err(|error| anyhow::anyhow!("{error}"))?;
    if let Some(report) = options.last("--report") {
        let text = serde_json::to_vec(&started.enforcement)?;
        std::fs::write(PathBuf::from(report), text).context("--report")?;
    }
    let command = Command::new(options.rest.iter().cloned(), std::env::current_dir()?)
        .with_env(core_of(std::env::vars_os()).collect());
    let exit = started.session.spawn(&command, &own_stdio()?)?.wait()?;
    started.session.end();
    let code = match exit.cause {
        ExitCause::Code(code) => code,
        ExitCause::Signal(signal) => 128 + signal,
        // A limit that the session was over.
        _ => 128 + libc::SIGKILL,
    };
    Ok(ExitCode::from(u8::try_from(code & 0xff).unwrap_or(u8::MAX)))
}

fn own_stdio() -> io::Result<Stdio> {
    Ok(Stdio::new(
        io::stdin().as_fd().try_clone_to_owned()?,
        io::stdout().as_fd().try_clone_to_owned()?,
        io::stderr().as_fd().try_clone_to_owned()?,
    ))
}
