//! `cargo xtask ci`: every check of the project, each a step with a name.
//!
//! All steps run, also after one has failed, so that one run tells everything that is wrong.

mod bench;
mod clippy;
mod docs;
mod escapes;
mod fmt;
mod fuzz;
mod generated;
mod licences;
mod public_api;
mod report;
mod snapshots;
mod steps;
pub(crate) mod testing;
mod unprivileged;
mod useful;

use std::time::Instant;

use anyhow::{Result, bail};

pub(crate) use self::report::Strictness;
use self::report::Tally;
pub(crate) use self::steps::{Outcome, STEPS, Step};
use crate::workspace::Workspace;

pub(crate) fn list() {
    list_of(STEPS);
}

/// Runs the named steps, or all if none is named, and says whether all is well.
pub(crate) fn run(workspace: &Workspace, only: &[String]) -> Result<bool> {
    run_of(STEPS, workspace, only)
}

/// Lists the steps of this registry.
pub(crate) fn list_of(registry: &[Step]) {
    for step in registry {
        println!("{:<12}{}", step.name, step.checks);
    }
}

/// Runs the named steps of this registry.
pub(crate) fn run_of(registry: &[Step], workspace: &Workspace, only: &[String]) -> Result<bool> {
    let strictness = Strictness::from_environment();
    let start = Instant::now();
    let mut tally = Tally::default();
    for step in select(registry, only)? {
        let start = Instant::now();
        let outcome =
            (step.run)(workspace).unwrap_or_else(|error| Outcome::Failed(format!("{error:#}")));
        tally.count(&outcome, strictness);
        println!(
            "{}",
            report::line(step.name, &outcome, start.elapsed(), strictness)
        );
        if let Outcome::Failed(text) = &outcome {
            println!("{}", report::indented(text));
        }
    }
    println!("\n{}", report::summary(&tally, start.elapsed()));
    Ok(tally.is_clean())
}

/// The named steps in the order of the registry, whatever the order of the names.
fn select<'a>(registry: &'a [Step], only: &[String]) -> Result<Vec<&'a Step>> {
    if let Some(unknown) = only
        .iter()
        .find(|name| registry.iter().all(|step| step.name != **name))
    {
        let names: Vec<_> = registry.iter().map(|step| step.name).collect();
        bail!(
            "unknown step `{unknown}`; the steps are {}",
            names.join(", ")
        );
    }
    let wanted = |step: &&Step| only.is_empty() || only.iter().any(|name| name == step.name);
    Ok(registry.iter().filter(wanted).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(only: &[&str]) -> Result<Vec<&'static str>> {
        let only: Vec<_> = only.iter().map(|&name| name.to_owned()).collect();
        Ok(select(STEPS, &only)?.iter().map(|step| step.name).collect())
    }

    #[test]
    fn steps_keep_their_order() {
        assert_eq!(names(&["tidy", "fmt", "fmt"]).unwrap(), ["fmt", "tidy"]);
        assert_eq!(names(&[]).unwrap().len(), STEPS.len());
    }

    #[test]
    fn an_unknown_step_is_refused_with_the_known_ones() {
        let message = names(&["fmt", "lint"]).unwrap_err().to_string();
        assert!(
            message.starts_with("unknown step `lint`; the steps are fmt, clippy, "),
            "{message}"
        );
    }
}
