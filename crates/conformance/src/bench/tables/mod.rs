//! The tables, each in a file of its own.

mod calls;
mod crowd;
mod decisions;
mod launch;
mod parents;
mod paths;
mod steps;
mod work;

use anyhow::Result;

use super::Bench;
use super::result::Table;

pub(super) use calls::main as calls_main;
pub(super) use launch::{NAME as LAUNCH, TRUE};
pub(super) use parents::serve as parents_main;

/// A table that can be asked for.
pub(super) struct Kind {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) measure: fn(&Bench<'_>) -> Result<Table>,
}

/// All of them, in the order of the page.
pub(super) const ALL: [Kind; 8] = [
    Kind {
        name: launch::NAME,
        about: "one launch, in every way there is",
        measure: launch::measure,
    },
    Kind {
        name: steps::NAME,
        about: "a launch of the full tier, with one step after another left out",
        measure: steps::measure,
    },
    Kind {
        name: parents::NAME,
        about: "launches from small and large processes",
        measure: parents::measure,
    },
    Kind {
        name: paths::NAME,
        about: "launches with few and many paths in the policy",
        measure: paths::measure,
    },
    Kind {
        name: crowd::NAME,
        about: "launches in a second, 1, 8 and 64 at a time",
        measure: crowd::measure,
    },
    Kind {
        name: calls::NAME,
        about: "system calls inside",
        measure: calls::measure,
    },
    Kind {
        name: work::NAME,
        about: "compilers, searches and package managers inside",
        measure: work::measure,
    },
    Kind {
        name: decisions::NAME,
        about: "may this command run? with few and many rules",
        measure: decisions::measure,
    },
];
