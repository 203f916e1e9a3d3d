//! `doctor` and `setup`: what this host can enforce, and what would mend the rest.

mod directories;
mod finding;
mod git;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
mod profile;
mod promised;
mod report;
mod setup;
mod trial;

use std::process::ExitCode;

use palisade::runner::host::Host;

use self::finding::Finding;
use self::report::Report;
use self::trial::Trial;
use crate::complaint::Complaint;
use crate::exit::Code;
use crate::ground::inside;
use crate::say::{Voice, shown};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Exit codes: 0 the default policy is fully enforced here, 1 it is not.
What `doctor` reads and sets up once, `palisade verify` tries to break.")]
pub(crate) struct DoctorArgs {
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Without --apply nothing is written: the file is printed as it would be.")]
pub(crate) struct SetupArgs {
    /// Install it; needs root
    #[arg(long)]
    apply: bool,
}

pub(crate) fn doctor(args: &DoctorArgs, voice: &Voice) -> Result<ExitCode, Complaint> {
    let host = Host::look();
    let trial = Trial::on(&host)?;
    let mut findings = vec![nested()];
    #[cfg(target_os = "linux")]
    findings.extend(linux::findings(&host, &trial));
    findings.push(helper(&host));
    findings.extend(git::findings(&host));
    findings.extend(directories::findings(&host));
    let report = Report::new(trial, findings.into_iter().flatten().collect());
    match args.json {
        true => voice.answer_json(&report.json()?),
        false => voice.answer(&report.text(voice)),
    }
    Ok(match report.is_full() {
        true => Code::Fine,
        false => Code::No,
    }
    .into())
}

pub(crate) fn setup(args: &SetupArgs, voice: &Voice) -> Result<ExitCode, Complaint> {
    inside::refuse_inside("setup")?;
    setup::setup(args.apply, voice)
}

/// Whether this runs in a sandbox already: then everything below is about that one.
fn nested() -> Option<Finding> {
    let around = inside::sandbox()?;
    Some(
        Finding::gap(
            "nesting",
            format!("this runs inside a sandbox of Palisade's ({around})"),
        )
        .costs("what follows is about the sandbox, not about the machine")
        .mended_by("palisade doctor, in a terminal of your own"),
    )
}

/// The program that sets sandboxes up: nobody else may be able to put another in its place.
fn helper(host: &Host) -> Option<Finding> {
    let Some(helper) = &host.helper else {
        return Some(
            Finding::gap("helper", "no program is known that sets sandboxes up")
                .costs("nothing can run"),
        );
    };
    let place = shown(helper);
    Some(match directories::others_write(helper) {
        Some(open) => {
            let open = shown(&open);
            Finding::gap("helper", format!("others can write {open}"))
                .costs("whoever can write there decides what runs outside every sandbox")
                .mended_by(format!("chmod go-w {open}"))
        }
        None => Finding::fine("helper", place),
    })
}
