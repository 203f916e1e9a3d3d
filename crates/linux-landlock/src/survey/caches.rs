//! The directories below home in which tools keep what they have downloaded and built.

use palisade_policy::{AbsolutePath, HostFacts, RelativePath};

use super::locate::Locator;
use crate::host::Entry;

/// Only what tools write while they work: toolchains are not among them, because nobody should get a changed one.
const CACHES: [&str; 10] = [
    ".cache",
    ".cargo",
    ".npm",
    ".gradle",
    ".m2",
    ".yarn",
    ".bun",
    ".local/share/pnpm",
    ".local/share/uv",
    "go",
];

/// Those that exist, and are what they are called.
pub(super) fn find(facts: &HostFacts) -> Vec<AbsolutePath> {
    let Some(home) = &facts.home else {
        return Vec::new();
    };
    let mut locator = Locator::default();
    CACHES
        .iter()
        .filter_map(|below| Some(home.join(&RelativePath::new(below).ok()?)))
        .filter(|path| {
            let located = locator.locate(path);
            located.real == *path && located.entry == Entry::Directory
        })
        .collect()
}
