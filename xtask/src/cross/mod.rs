//! `cargo xtask cross`: everything that needs a foreign target, or stands in for one.
//!
//! The backends for macOS and Windows are built and linted for their systems, run under Wine as far as Wine is honest,
//! and judged by their models here. It installs nothing: what is missing is said with the line that gets it.

mod lint;
mod models;
mod toolchain;
mod tools;
mod wine;

use anyhow::Result;

use crate::ci::{self, Outcome, Step};
use crate::workspace::Workspace;

/// The parts, each a step of its own here and all of them together the step `cross` of CI.
pub(crate) const PARTS: &[Step] = &[
    Step {
        name: "models",
        checks: "the tests of both backends pass here, their properties against the oracle among them",
        broken_by: "a deny left out of a profile, an entry left out of a plan",
        run: models::run,
    },
    Step {
        name: "windows",
        checks: "clippy has nothing to say about what ships, for Windows",
        broken_by: "a warning that only Windows sees",
        run: lint::windows,
    },
    Step {
        name: "macos",
        checks: "clippy has nothing to say about what ships, for macOS",
        broken_by: "a warning that only macOS sees",
        run: lint::macos,
    },
    Step {
        name: "msvc",
        checks: "what ships compiles for Windows as its users have it",
        broken_by: "code that only one of the two kinds of Windows knows",
        run: lint::msvc,
    },
    Step {
        name: "wine",
        checks: "tests for Windows pass under Wine for an ordinary user, and none is skipped that Wine could run",
        broken_by: "a test that fails, or that begins to skip",
        run: wine::run,
    },
];

pub(crate) fn list() {
    ci::list_of(PARTS);
}

/// Runs the named parts, or all if none is named, and says whether all is well.
pub(crate) fn run(workspace: &Workspace, only: &[String]) -> Result<bool> {
    ci::run_of(PARTS, workspace, only)
}

/// The parts as one step of CI, but for the models: the step `test` has run all tests of this machine by then.
pub(crate) fn step(workspace: &Workspace) -> Result<Outcome> {
    let foreign = PARTS.iter().filter(|part| part.name != "models");
    let outcomes = foreign.map(|part| {
        let outcome =
            (part.run)(workspace).unwrap_or_else(|error| Outcome::Failed(format!("{error:#}")));
        (part.name, outcome)
    });
    Ok(together(outcomes))
}

/// Failed if any part has failed, else skipped if any was.
fn together<'a>(outcomes: impl IntoIterator<Item = (&'a str, Outcome)>) -> Outcome {
    let (mut failures, mut skips, mut notes) = (String::new(), Vec::new(), Vec::new());
    for (name, outcome) in outcomes {
        match outcome {
            Outcome::Failed(text) => failures.push_str(&format!("{name}:\n{text}\n")),
            Outcome::Skipped(why) => skips.push(format!("{name}: {why}")),
            Outcome::Passed { note } => notes.push(note.unwrap_or_else(|| name.to_owned())),
        }
    }
    if !failures.is_empty() {
        Outcome::Failed(failures)
    } else if !skips.is_empty() {
        Outcome::Skipped(skips.join("; "))
    } else {
        Outcome::passed_with(notes.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcomes(last: Outcome) -> Outcome {
        together([
            ("a", Outcome::passed_with("1 test".to_owned())),
            ("b", Outcome::passed()),
            ("c", last),
        ])
    }

    #[test]
    fn the_step_is_as_good_as_its_worst_part() {
        assert_eq!(
            outcomes(Outcome::passed()),
            Outcome::passed_with("1 test; b; c".to_owned())
        );
        assert_eq!(
            outcomes(Outcome::Skipped("no wine".to_owned())),
            Outcome::Skipped("c: no wine".to_owned())
        );
        assert_eq!(
            outcomes(Outcome::Failed("wrong".to_owned())),
            Outcome::Failed("c:\nwrong\n".to_owned())
        );
    }
}
