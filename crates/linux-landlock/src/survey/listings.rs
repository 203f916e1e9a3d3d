//! The entries of the root and of the directories above denied paths, for a tier that can only grant.

use std::collections::BTreeSet;

use palisade_policy::{AbsolutePath, Access, ResolvedPolicy};

use super::locate::child;
use crate::host::{Entry, Places};

/// What is not listed is not granted, so a huge directory costs access, never secrecy.
const MAX_ENTRIES: usize = 4096;

/// Lists the directories above each existing path that the policy does not let anybody read.
pub(super) fn list(places: &mut Places, policy: &ResolvedPolicy) {
    let matches = places
        .globs
        .values()
        .flat_map(|expansion| &expansion.matches)
        .map(|(path, entry)| (path, path, entry));
    let entries = places
        .entries
        .iter()
        .map(|(name, located)| (name, &located.real, &located.entry));
    // Devices are never granted as a whole, so the root is always taken apart.
    let mut above: BTreeSet<AbsolutePath> = AbsolutePath::new("/").into_iter().collect();
    for (name, real, entry) in entries.chain(matches) {
        if *entry == Entry::Missing || policy.place(&Access::Read(name.clone())).is_some() {
            continue;
        }
        let target = match entry {
            Entry::Symlink {
                target: Some(target),
            } => Some(target),
            _ => None,
        };
        for path in [Some(real), target].into_iter().flatten() {
            let directories = path.as_path().ancestors().skip(1);
            above.extend(directories.filter_map(|directory| AbsolutePath::new(directory).ok()));
        }
    }
    let aliases = places.aliases.iter();
    for alias in aliases.filter(|alias| policy.place(&Access::Read(alias.of.clone())).is_none()) {
        let directories = alias.path.as_path().ancestors().skip(1);
        above.extend(directories.filter_map(|directory| AbsolutePath::new(directory).ok()));
    }
    for directory in above {
        let children = children(&directory);
        places.listings.insert(directory, children);
    }
}

/// What a directory holds, links left out: a rule for one would open what it leads to.
fn children(directory: &AbsolutePath) -> Vec<AbsolutePath> {
    let Ok(entries) = std::fs::read_dir(directory.as_path()) else {
        return Vec::new();
    };
    let mut children: Vec<AbsolutePath> = entries
        .flatten()
        .take(MAX_ENTRIES)
        .filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink()))
        .filter_map(|entry| child(directory, &entry.file_name()))
        .collect();
    children.sort();
    children
}
