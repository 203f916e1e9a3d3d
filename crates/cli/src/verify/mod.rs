//! `verify`: every promise of the policy, tried live on this host.
//!
//! Attempts to escape and useful acts run in throw-away sandboxes, each set up as `run` would set it up, on a throw-away
//! stage: a workspace, a home with secrets, servers and a process to attack, none of them the user's. What an attempt
//! says about itself is not believed where the stage, looked at from outside, says otherwise.

#[cfg(target_os = "linux")]
mod attempts;
#[cfg(target_os = "linux")]
mod commits;
#[cfg(target_os = "linux")]
mod denied;
#[cfg(target_os = "linux")]
mod guarantees;
#[cfg(target_os = "linux")]
mod report;
#[cfg(target_os = "linux")]
mod subject;

use std::ffi::OsString;
use std::process::ExitCode;

use crate::complaint::Complaint;
use crate::ground::PolicyFlags;
use crate::say::Voice;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Exit codes: 0 everything that the policy promises was tried and holds, else 1.
Nothing of yours is touched: it all happens on a stage below /var/tmp, which is
removed again. What the policy denies is opened for reading, in a sandbox.")]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    flags: PolicyFlags,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// What this program is called where it is the attempt itself: the stage runs a copy of it in the sandbox.
#[cfg(target_os = "linux")]
const PROBE_NAME: &str = "palisade-probe";

/// Runs one attempt, if this program was called as one.
#[cfg(target_os = "linux")]
pub(crate) fn as_probe(arguments: &[OsString]) -> Option<ExitCode> {
    use std::io::Write as _;

    let (name, rest) = arguments.split_first()?;
    let name = std::path::Path::new(name).file_name()?;
    if name != PROBE_NAME {
        return None;
    }
    let (line, code) = match palisade_probes::main_of_program(rest) {
        Ok(line) => (line, ExitCode::SUCCESS),
        Err(error) => (format!("broken: {error}"), ExitCode::from(2)),
    };
    // Whoever reads it may be gone; then nobody misses it.
    let _ = writeln!(std::io::stdout(), "{line}");
    Some(code)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn as_probe(_: &[OsString]) -> Option<ExitCode> {
    None
}

#[cfg(target_os = "linux")]
pub(crate) fn verify(args: &VerifyArgs, voice: &Voice) -> Result<ExitCode, Complaint> {
    use crate::exit::Code;
    use crate::ground::Ground;

    let ground = Ground::find(&args.flags)?;
    let subject = subject::Subject::of(&ground)?;
    voice.note("tries to break out of throw-away sandboxes; this takes a while");
    let tried = attempts::all(&subject)?;
    let report = report::Report::new(&subject, &tried);
    match args.json {
        true => voice.answer_json(&report.json()?),
        false => voice.answer(&report.text(voice)),
    }
    Ok(match report.is_kept() {
        true => Code::Fine,
        false => Code::No,
    }
    .into())
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn verify(args: &VerifyArgs, _: &Voice) -> Result<ExitCode, Complaint> {
    let _ = (&args.flags, args.json);
    Err(
        Complaint::refused("there are no attempts for this system yet, so nothing was tried")
            .help("palisade doctor says what it promises to enforce"),
    )
}
