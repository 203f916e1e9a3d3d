//! Step `useful`: everyday commands do in our sandbox what they do outside, as root and as an ordinary user.

use anyhow::Result;

use super::Outcome;
use crate::evidence;
use crate::workspace::Workspace;

pub(super) fn run(workspace: &Workspace) -> Result<Outcome> {
    let mut failures = String::new();
    let mut notes = Vec::new();
    // The tier that people get; the other one is for `cargo xtask useful`. Many commands wait more than they compute.
    let arguments = ["--tier", "full", "--jobs", "3"].map(str::to_owned);
    for captured in evidence::capture(workspace, "useful", &arguments)? {
        if !captured.success {
            failures.push_str(&captured.report());
        }
        let mut lines = captured.text.lines();
        let rate = lines.find(|line| line.starts_with("command (full, "));
        notes.extend(
            rate.and_then(|line| Some(line.split_once(')')?.1.to_owned()))
                .map(|rest| {
                    let works = rest.trim_start_matches([':', ' ']);
                    works.split(',').next().unwrap_or(works).to_owned()
                }),
        );
    }
    Ok(match failures.is_empty() {
        true => Outcome::passed_with(notes.join("; ")),
        false => Outcome::Failed(failures),
    })
}
