//! Step `escapes`: every probe in our own subjects, on this host and on weaker ones, as root and as an ordinary user.

use anyhow::Result;

use super::testing::skips;
use super::{Outcome, Strictness};
use crate::evidence;
use crate::workspace::Workspace;

pub(super) fn run(workspace: &Workspace) -> Result<Outcome> {
    let mut failures = String::new();
    let mut notes = Vec::new();
    // Most cases wait more than they compute.
    let arguments = ["--ours", "--jobs", "4"].map(str::to_owned);
    for captured in evidence::capture(workspace, "escapes", &arguments)? {
        let skipped = Strictness::from_environment() == Strictness::SkipsFail
            && skips(&captured.text).next().is_some();
        if !captured.success || skipped {
            failures.push_str(&captured.report());
        }
        let counts = captured.text.lines().find(|line| line.starts_with("as "));
        notes.extend(counts.and_then(|line| Some(line.split_once(" of them")?.0.to_owned())));
    }
    Ok(match failures.is_empty() {
        true => Outcome::passed_with(notes.join("; ")),
        false => Outcome::Failed(failures),
    })
}
