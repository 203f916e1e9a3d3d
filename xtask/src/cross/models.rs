//! Part `models`: the tests of both backends on this machine. What they lower is judged by models of the systems they
//! are for, so that the answers of those systems can be compared with the oracle's without a Mac or a Windows.

use anyhow::Result;

use crate::ci::Outcome;
use crate::ci::testing::{passed_tests, test_command};
use crate::process;
use crate::workspace::Workspace;

const BACKENDS: &[&str] = &["palisade-seatbelt", "palisade-windows-token"];

pub(super) fn run(workspace: &Workspace) -> Result<Outcome> {
    let mut failures = String::new();
    let mut notes = Vec::new();
    for package in BACKENDS {
        let captured = process::capture(test_command(
            workspace,
            &["--package", package, "--all-features"],
        ))?;
        let passed = passed_tests(&captured.text);
        if !captured.success || passed == 0 {
            failures.push_str(&captured.report());
        }
        notes.push(format!("{passed} tests of {package} on Linux"));
    }
    Ok(match failures.as_str() {
        "" => Outcome::passed_with(notes.join(", ")),
        _ => Outcome::Failed(failures),
    })
}
