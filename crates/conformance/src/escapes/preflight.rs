//! Before the probes: whether a subject starts here, how, and whether it refuses what it must refuse.

use std::ffi::OsString;
use std::io;

use palisade::runner::policy::Guarantee;
use palisade_probes::Mode;

use super::case::{Case, Manner, complaint, is_fine};
use super::hosts::{Host, TOO_WEAK};
use super::promise::Promises;
use crate::subject::{Kind, Programs, Subject, find};

/// How a subject is started, or why it cannot be.
pub(super) fn manner(
    programs: &Programs,
    subject: &'static Subject,
    host: Option<&Host>,
) -> io::Result<Result<Manner, String>> {
    if !subject.is_installed(programs) {
        return Ok(Err("absent".to_owned()));
    }
    let mut case = Case {
        programs,
        subject: Some(subject),
        host,
        mode: Mode::Write,
        manner: Manner::default(),
    };
    let stage = case.stage()?;
    let prefix = case.prefix(subject, &stage, case.losses())?;
    // What the subject does by itself is looked at as if a probe had done it.
    let before = stage.look();
    let (ran, said) = case.words(&stage, &prefix, &["/bin/true".into()])?;
    if !is_fine(&ran) {
        return Ok(Err(format!("does not start: {}", complaint(&said))));
    }
    let warm_up = !stage.evidence(&before).is_empty();
    drop(stage);
    for (program_in_workspace, elsewhere) in [(false, false), (true, false), (false, true)] {
        case.manner = Manner {
            warm_up,
            program_in_workspace,
            elsewhere,
        };
        // Where an ordinary user cannot make a stage, there is none.
        if says_who(&case, subject).is_ok_and(|says| says) {
            return Ok(Ok(case.manner));
        }
    }
    Ok(Err("does not run the probe".to_owned()))
}

/// Whether the probe can be run at all.
fn says_who(case: &Case<'_>, subject: &Subject) -> io::Result<bool> {
    let stage = case.stage()?;
    let prefix = case.prefix(subject, &stage, case.losses())?;
    let mut program = stage.root().join("palisade-probe");
    if case.manner.program_in_workspace {
        program = stage.site().workspace.join("palisade-probe");
    }
    let line: [OsString; 2] = [program.into(), "whoami".into()];
    let (ran, _) = case.words(&stage, &prefix, &line)?;
    Ok(is_fine(&ran) && !ran.stdout.is_empty())
}

/// What our own report says about the sandbox on a host.
pub(super) fn promises(programs: &Programs, host: &Host) -> io::Result<Promises> {
    let library = find("library").ok_or_else(|| io::Error::other("there is no library"))?;
    let case = Case {
        programs,
        subject: Some(library),
        host: Some(host),
        mode: Mode::Write,
        manner: Manner::default(),
    };
    let stage = case.stage()?;
    let report = stage.root().join("report.json");
    let mut prefix = case.prefix(library, &stage, host.losses())?;
    let end = prefix.line.pop();
    prefix
        .line
        .extend(["--report".into(), report.clone().into()]);
    prefix.line.extend(end);
    let (ran, said) = case.words(&stage, &prefix, &["/bin/true".into()])?;
    if !is_fine(&ran) {
        return Err(io::Error::other(complaint(&said)));
    }
    serde_json::from_slice(&std::fs::read(report)?).map_err(io::Error::other)
}

/// What of ours must refuse: hosts whose losses nobody accepted, and hosts that are too weak for anything. Gives how many
/// did, and which did not.
pub(super) fn refusals(
    programs: &Programs,
    subjects: &[&'static Subject],
    hosts: &[&'static Host],
) -> io::Result<(usize, Vec<String>)> {
    let everything = Guarantee::ALL.map(Guarantee::name);
    let (mut refused, mut ran) = (0, Vec::new());
    for subject in subjects.iter().filter(|subject| subject.kind == Kind::Ours) {
        let lossy = hosts.iter().copied();
        let lossy = lossy.filter(|host| host.cannot_be_made().is_none());
        let lossy = lossy.flat_map(|host| {
            // All but one is not enough.
            let each = (0..host.losses().len()).map(move |without| {
                let mut accepted = host.losses().to_vec();
                accepted.remove(without);
                (host, accepted)
            });
            each.filter(|_| host.for_all || subject.name == "library")
        });
        let too_weak = TOO_WEAK
            .iter()
            .filter(|host| host.cannot_be_made().is_none());
        let too_weak = too_weak.map(|host| (host, everything.to_vec()));
        for (host, accepted) in lossy.chain(too_weak) {
            if runs(programs, subject, host, &accepted)? {
                ran.push(format!(
                    "{} on {} with no loss accepted but {}: it runs",
                    subject.name,
                    host.name,
                    accepted.join(", ")
                ));
            } else {
                refused += 1;
            }
        }
    }
    Ok((refused, ran))
}

/// Whether a command runs there with these losses accepted.
fn runs(
    programs: &Programs,
    subject: &'static Subject,
    host: &Host,
    accepted: &[&str],
) -> io::Result<bool> {
    let case = Case {
        programs,
        subject: Some(subject),
        host: Some(host),
        mode: Mode::Write,
        manner: Manner::default(),
    };
    let stage = case.stage()?;
    let prefix = case.prefix(subject, &stage, accepted)?;
    let line: [OsString; 2] = ["/bin/echo".into(), "it ran".into()];
    let (ran, _) = case.words(&stage, &prefix, &line)?;
    Ok(!ran.stdout.is_empty() || is_fine(&ran))
}
