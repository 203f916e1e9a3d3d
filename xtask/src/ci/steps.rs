//! The registry of steps. `docs/ci-steps.md` is generated from it.

use anyhow::Result;

use super::{
    bench, clippy, docs, escapes, fmt, fuzz, generated, licences, public_api, snapshots, testing,
    unprivileged, useful,
};
use crate::cross;
use crate::tidy;
use crate::workspace::Workspace;

pub(crate) struct Step {
    pub(crate) name: &'static str,
    /// What must hold, in one line.
    pub(crate) checks: &'static str,
    /// A change that makes the step fail, in one line.
    pub(crate) broken_by: &'static str,
    /// An error means the same as a failed outcome: what could not be checked did not pass.
    pub(crate) run: fn(&Workspace) -> Result<Outcome>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Passed { note: Option<String> },
    Failed(String),
    Skipped(String),
}

impl Outcome {
    pub(crate) fn passed() -> Self {
        Self::Passed { note: None }
    }

    pub(crate) fn passed_with(note: String) -> Self {
        Self::Passed { note: Some(note) }
    }

    /// Passed, unless the text of the failures has something to say.
    pub(crate) fn failed_if_any(failures: String) -> Self {
        if failures.is_empty() {
            Self::passed()
        } else {
            Self::Failed(failures)
        }
    }
}

pub(crate) const STEPS: &[Step] = &[
    Step {
        name: "fmt",
        checks: "rustfmt would change nothing, in the workspace and in `fuzz/`",
        broken_by: "an unformatted line",
        run: fmt::run,
    },
    Step {
        name: "clippy",
        checks: "no warning of rustc or clippy with all features, with none, and with each alone",
        broken_by: "a needless `return`, or a call that the pure crates ban",
        run: clippy::run,
    },
    Step {
        name: "test",
        checks: "unit and integration tests pass, snapshots match, and at least one test ran",
        broken_by: "a wrong assertion, or an edited snapshot",
        run: testing::run,
    },
    Step {
        name: "unprivileged",
        checks: "tests that need the kernel pass for an ordinary user as well as for root",
        broken_by: "a test that only root can pass",
        run: unprivileged::run,
    },
    Step {
        name: "escapes",
        checks: "every probe in the library, the helper and the command, on this host and on weaker ones, as root and as \
                 an ordinary user: what is promised is contained, and what gets through is known",
        broken_by: "a mount that stays writable, a system call that is let through, a residue that is none",
        run: escapes::run,
    },
    Step {
        name: "useful",
        checks: "everyday commands of thirteen ecosystems do in the sandbox what they do outside, as root and as an ordinary \
                 user, in the full tier; what is said not to work does not",
        broken_by: "a placeholder that git trips over, a command that is wrongly said not to work",
        run: useful::run,
    },
    Step {
        name: "cross",
        checks: "macOS and Windows: what ships builds and lints for both, and its tests pass under Wine",
        broken_by: "a warning that only Windows sees, a failing test under Wine",
        run: cross::step,
    },
    Step {
        name: "doctest",
        checks: "the examples in the documentation run",
        broken_by: "an example whose assertion is wrong",
        run: testing::run_doctests,
    },
    Step {
        name: "docs",
        checks: "rustdoc builds without a warning",
        broken_by: "a link to an item that does not exist",
        run: docs::run,
    },
    Step {
        name: "generated",
        checks: "every generated file is what its generator writes (`cargo xtask codegen`)",
        broken_by: "an edit of a generated page by hand",
        run: generated::run,
    },
    Step {
        name: "snapshots",
        checks: "no snapshot awaits review, and each belongs to a source file that exists",
        broken_by: "a `.snap.new` file, or deleting a test but not its snapshots",
        run: snapshots::run,
    },
    Step {
        name: "licences",
        checks: "dependencies come from the registry under the licences that `deny.toml` allows",
        broken_by: "a dependency under another licence, or from a Git repository",
        run: licences::run,
    },
    Step {
        name: "tidy",
        checks: "what no compiler checks: module docs, file sizes, unsafe only in `sys`, pure crates pure, the checklist",
        broken_by: "`todo!`, `std::fs` in a pure crate, a file without a module doc",
        run: tidy::run,
    },
    Step {
        name: "public-api",
        checks: "no public signature names a third-party type, except serde's traits",
        broken_by: "a public function that takes a `serde_json::Value`",
        run: public_api::run,
    },
    Step {
        name: "fuzz",
        checks: "the fuzz targets compile, and every seed in `fuzz/seeds` keeps their laws",
        broken_by: "renaming what a fuzz target calls, or a reader that panics on a seed",
        run: fuzz::run,
    },
    Step {
        name: "bench",
        checks: "the benchmarks compile",
        broken_by: "renaming what a benchmark calls",
        run: bench::run,
    },
];
