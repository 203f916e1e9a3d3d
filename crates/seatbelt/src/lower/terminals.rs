//! Terminals of other programs. Who may read all files may open the terminal that somebody types into elsewhere, and read
//! what is typed: a password, say. So only a terminal that was opened in here is opened again.

use palisade_policy::{AbsolutePath, PathCase};

use super::files::{all, not};
use crate::profile::{Filter, Operation, Pattern};

/// Where terminals are.
const DIRECTORY: &str = "/dev";

/// The class of the extension that whoever opens a terminal is given for it.
const OPENED_IN_HERE: &str = "com.apple.sandbox.pty";

/// What every program asks about the terminal that it is started from.
pub(super) const LOOKING_AT: [Operation; 2] = [
    Operation::FILE_READ_METADATA,
    Operation::FILE_TEST_EXISTENCE,
];

/// Whether all terminals are below a path.
pub(super) fn are_below(path: &AbsolutePath) -> bool {
    directory().is_none_or(|directory| path.covers(&directory, PathCase::Insensitive))
}

/// Whether a path could name terminals, or something that holds them.
pub(super) fn may_be_at(path: &AbsolutePath) -> bool {
    let below = directory().is_none_or(|directory| directory.covers(path, PathCase::Insensitive));
    below || are_below(path)
}

fn directory() -> Option<AbsolutePath> {
    AbsolutePath::new(DIRECTORY).ok()
}

/// Every terminal.
pub(super) fn every() -> Filter {
    Filter::Regex(Pattern::terminals())
}

/// Those that other programs opened.
pub(super) fn of_others() -> Filter {
    all(vec![
        every(),
        not(Filter::Extension(OPENED_IN_HERE.to_owned())),
    ])
}
