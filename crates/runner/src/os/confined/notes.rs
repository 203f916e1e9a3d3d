//! What git brought back, in words.

use palisade_linux_landlock::GitImport;
use palisade_linux_landlock::git_import::ImportReport;

/// A line for each thing that came back, and for each that did not.
pub(super) fn of_import(import: &GitImport) -> Vec<String> {
    let place = import.git_dir.display();
    match &import.outcome {
        Ok(report) => of_report(report)
            .into_iter()
            .map(|line| format!("git: {place}: {line}"))
            .collect(),
        Err(error) => vec![format!(
            "git: {place}: what was done in the sandbox did not come back: {error}"
        )],
    }
}

fn of_report(report: &ImportReport) -> Vec<String> {
    let mut lines = Vec::new();
    let value = |value: &Option<String>| value.as_deref().unwrap_or("nothing").to_owned();
    for change in &report.refs {
        let (old, new) = (value(&change.old), value(&change.new));
        lines.push(format!("{} was {old} and is {new}", change.name));
    }
    if let Some(head) = &report.head {
        lines.push(format!("HEAD is {head}"));
    }
    if report.index_paths > 0 {
        lines.push(format!("{} paths of the index changed", report.index_paths));
    }
    for conflict in &report.conflicts {
        let (expected, found, offered) = (
            value(&conflict.expected),
            value(&conflict.found),
            value(&conflict.offered),
        );
        lines.push(format!(
            "{} stays {found}: it was {expected} when the sandbox, which offers {offered}, began",
            conflict.what
        ));
    }
    for dropped in report.notable() {
        lines.push(format!("left behind: {}: {}", dropped.path, dropped.why));
    }
    if report.dropped_unlisted > 0 {
        lines.push(format!("left behind: {} more", report.dropped_unlisted));
    }
    lines
}
