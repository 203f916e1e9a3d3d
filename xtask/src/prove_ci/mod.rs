//! `cargo xtask prove-ci`: shows that CI can fail.
//!
//! A check that never fails looks the same as a check that finds nothing. So a clone of `HEAD` is broken in every way
//! that CI promises to notice, one at a time, and each time the step in question must fail and say why. At the end
//! the clone, with everything taken back, must pass.

mod breaks;
mod specimen;

use std::collections::BTreeSet;
use std::time::Instant;

use anyhow::{Result, bail};

use self::breaks::{BREAKS, Break};
use self::specimen::Specimen;
use crate::ci::Strictness;
use crate::workspace::Workspace;

pub(crate) fn list() {
    for attempt in BREAKS {
        println!("{:<26}{}", attempt.name, attempt.step);
    }
}

/// Tries the named breaks, or all if none is named, and says whether CI noticed every one.
pub(crate) fn run(workspace: &Workspace, only: &[String]) -> Result<bool> {
    let attempts = select(only)?;
    let specimen = Specimen::make(workspace)?;
    let strictness = Strictness::from_environment();
    let mut unproven = 0;
    for attempt in &attempts {
        let start = Instant::now();
        let verdict = prove(&specimen, attempt)?;
        if !verdict.is_fine(strictness) {
            unproven += 1;
        }
        print_row(attempt.name, attempt.step, start, &verdict);
    }
    let start = Instant::now();
    let steps: BTreeSet<_> = attempts.iter().map(|attempt| attempt.step()).collect();
    let verdict = prove_unbroken(&specimen, &steps.into_iter().collect::<Vec<_>>())?;
    if !verdict.is_fine(strictness) {
        unproven += 1;
    }
    print_row("(nothing broken)", "all of them", start, &verdict);
    println!("\n{} breaks, {unproven} not proven", attempts.len());
    Ok(unproven == 0)
}

enum Verdict {
    /// CI behaved as it should.
    Proven,
    /// CI missed the break, or failed for another reason.
    Disproven { why: String, output: String },
    /// The tree has nothing to break in this way.
    Inapplicable(String),
}

impl Verdict {
    fn is_fine(&self, strictness: Strictness) -> bool {
        match self {
            Self::Proven => true,
            Self::Disproven { .. } => false,
            Self::Inapplicable(_) => strictness == Strictness::SkipsAreFine,
        }
    }
}

impl Break {
    /// The step of CI, whichever part of it is meant.
    fn step(&self) -> &'static str {
        self.step
            .split_once(':')
            .map_or(self.step, |(step, _)| step)
    }
}

fn select(only: &[String]) -> Result<Vec<&'static Break>> {
    if let Some(unknown) = only
        .iter()
        .find(|name| BREAKS.iter().all(|attempt| attempt.name != **name))
    {
        bail!("unknown break `{unknown}`; `cargo xtask prove-ci --list` names them");
    }
    let wanted = |attempt: &&Break| only.is_empty() || only.iter().any(|name| name == attempt.name);
    Ok(BREAKS.iter().filter(wanted).collect())
}

fn prove(specimen: &Specimen, attempt: &Break) -> Result<Verdict> {
    if let Err(error) = (attempt.edit)(specimen) {
        specimen.restore()?;
        return Ok(Verdict::Inapplicable(format!("{error:#}")));
    }
    let (run, name) = match attempt.step.split_once(':') {
        Some((step, part)) => (specimen.part_of(step, part)?, part),
        None => (specimen.ci(&[attempt.step])?, attempt.step),
    };
    specimen.restore()?;
    let failure = format!("FAILED  {name} ");
    let why = if run.success {
        "CI passed".to_owned()
    } else if !run.text.contains(&failure) {
        format!("CI failed without naming `{name}`")
    } else if !run.text.contains(attempt.evidence) {
        format!("CI failed without saying `{}`", attempt.evidence)
    } else {
        return Ok(Verdict::Proven);
    };
    Ok(Verdict::Disproven {
        why,
        output: run.text,
    })
}

fn prove_unbroken(specimen: &Specimen, steps: &[&str]) -> Result<Verdict> {
    let run = specimen.ci(steps)?;
    Ok(if run.success {
        Verdict::Proven
    } else {
        Verdict::Disproven {
            why: "CI failed although nothing was broken".to_owned(),
            output: run.text,
        }
    })
}

fn print_row(name: &str, step: &str, start: Instant, verdict: &Verdict) {
    let (word, detail) = match verdict {
        Verdict::Proven => ("proven", String::new()),
        Verdict::Disproven { why, .. } => ("MISSED", format!("  {why}")),
        Verdict::Inapplicable(why) => ("--", format!("  skipped: {why}")),
    };
    let seconds = start.elapsed().as_secs_f64();
    println!("{word:<8}{name:<26}{step:<12}{seconds:>8.1}s{detail}");
    if let Verdict::Disproven { output, .. } = verdict {
        println!("{}", output.trim_end());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ci::STEPS;
    use crate::cross::PARTS;

    #[test]
    fn every_step_has_a_break_and_every_break_a_step() {
        let steps: BTreeSet<_> = STEPS.iter().map(|step| step.name).collect();
        let broken: BTreeSet<_> = BREAKS.iter().map(Break::step).collect();
        assert_eq!(steps, broken);
    }

    #[test]
    fn every_part_of_cross_has_a_break_of_its_own() {
        let parts: BTreeSet<_> = PARTS.iter().map(|part| part.name).collect();
        let broken: BTreeSet<_> = BREAKS
            .iter()
            .filter_map(|attempt| attempt.step.strip_prefix("cross:"))
            .collect();
        assert_eq!(parts, broken);
    }

    #[test]
    fn names_are_unique() {
        let names: BTreeSet<_> = BREAKS.iter().map(|attempt| attempt.name).collect();
        assert_eq!(names.len(), BREAKS.len());
    }

    #[test]
    fn an_unknown_break_is_refused() {
        assert!(select(&["no such thing".to_owned()]).is_err());
        assert_eq!(select(&["unformatted-line".to_owned()]).unwrap().len(), 1);
    }
}
