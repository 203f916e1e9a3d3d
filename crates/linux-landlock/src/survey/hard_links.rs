//! Files in writable roots that have a second name: writing one changes what the other name shows.

use std::os::unix::fs::MetadataExt as _;

use palisade_policy::{AbsolutePath, ResolvedPolicy};

use crate::host::HardLinks;

const MAX_EXAMPLES: usize = 10;

/// Looks at the files of every root, up to a number of entries.
pub(super) fn find(policy: &ResolvedPolicy, mut budget: usize) -> HardLinks {
    let mut found = HardLinks::default();
    let roots = policy.roots().iter();
    let mut pending: Vec<std::path::PathBuf> = roots
        .map(|root| root.root.as_path().to_path_buf())
        .collect();
    while let Some(directory) = pending.pop() {
        let Ok(entries) = std::fs::read_dir(&directory) else {
            continue;
        };
        for entry in entries.flatten() {
            if budget == 0 {
                found.truncated = true;
                return found;
            }
            budget -= 1;
            let Ok(metadata) = entry.metadata() else {
                continue;
            };
            if metadata.is_dir() {
                pending.push(entry.path());
            } else if metadata.is_file() && metadata.nlink() > 1 {
                found.count += 1;
                if found.examples.len() < MAX_EXAMPLES {
                    found.examples.extend(AbsolutePath::new(entry.path()).ok());
                }
            }
        }
    }
    found
}
