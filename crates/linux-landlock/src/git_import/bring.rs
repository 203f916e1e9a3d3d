//! Brings over the objects that the wanted changes need, and says which of them the host now has in full.

use std::collections::{BTreeMap, BTreeSet};

use super::ImportError;
use super::git::Git;
use super::names::{HashKind, Oid};
use super::objects::{self, Staging};
use super::refs_read::{Head, Refs};
use super::report::{DropReason, ImportReport};
use super::session::Tree;
use super::wanted::Wanted;

/// Objects that the host has, with everything that they need.
#[derive(Debug, Default)]
pub(super) struct Sound {
    types: BTreeMap<Oid, String>,
    connected: BTreeSet<Oid>,
}

impl Sound {
    /// Whether the host has this object in full.
    pub(super) fn has(&self, oid: &Oid) -> bool {
        self.connected.contains(oid)
    }

    /// Whether the host has this commit in full.
    pub(super) fn has_commit(&self, oid: &Oid) -> bool {
        self.has(oid) && self.types.get(oid).is_some_and(|kind| kind == "commit")
    }

    /// Whether the host has this file content.
    pub(super) fn has_blob(&self, oid: &Oid) -> bool {
        self.types.get(oid).is_some_and(|kind| kind == "blob")
    }
}

const GITLINK: u32 = 0o160_000;

/// Brings them over.
pub(super) fn bring(
    session: &Tree,
    git: &Git<'_>,
    kind: HashKind,
    wanted: &Wanted,
    host: &Refs,
    report: &mut ImportReport,
) -> Result<Sound, ImportError> {
    let (groups, blobs) = groups(wanted);
    let all: BTreeSet<Oid> = groups.iter().flatten().chain(&blobs).cloned().collect();
    if all.is_empty() {
        return Ok(Sound::default());
    }
    let present = objects::types(git, None, kind, &all)?;
    let missing: BTreeSet<Oid> = all
        .iter()
        .filter(|oid| !present.contains_key(*oid))
        .cloned()
        .collect();
    if !missing.is_empty() {
        let staging = objects::stage(session, git, kind, report)?;
        let staged = objects::types(git, Some(&staging), kind, &missing)?;
        let found: BTreeSet<Oid> = staged.into_keys().collect();
        fetch(git, &staging, kind, &found, &groups, &blobs, host, report)?;
    }
    let types = objects::types(git, None, kind, &all)?;
    let tips = |group: &BTreeSet<Oid>| -> BTreeSet<Oid> {
        group
            .iter()
            .filter(|oid| types.contains_key(*oid))
            .cloned()
            .collect()
    };
    let everything: BTreeSet<Oid> = groups.iter().flat_map(&tips).collect();
    let mut connected = BTreeSet::new();
    if objects::connected(git, &everything)? {
        connected = everything;
    } else {
        for oid in everything {
            if objects::connected(git, [&oid])? {
                connected.insert(oid);
            }
        }
    }
    Ok(Sound { types, connected })
}

/// The tips that belong together, and the file contents that the index needs.
fn groups(wanted: &Wanted) -> (Vec<BTreeSet<Oid>>, BTreeSet<Oid>) {
    let mut groups: Vec<BTreeSet<Oid>> = Vec::new();
    for change in &wanted.changes {
        // The value alone, so that a broken step in the log does not cost the ref.
        groups.push(change.new.iter().cloned().collect());
        groups.push(change.steps.iter().filter_map(|e| e.new.clone()).collect());
    }
    if let Some(stash) = &wanted.stash {
        groups.push(stash.iter().filter_map(|e| e.new.clone()).collect());
    }
    if let Some(Head::Detached(oid)) = &wanted.head {
        groups.push(BTreeSet::from([oid.clone()]));
    }
    let blobs = wanted
        .index
        .values()
        .flatten()
        .filter(|staged| staged.mode != GITLINK)
        .map(|staged| staged.oid.clone())
        .collect();
    (groups, blobs)
}

#[expect(clippy::too_many_arguments, reason = "one step of one caller")]
fn fetch(
    git: &Git<'_>,
    staging: &Staging,
    kind: HashKind,
    found: &BTreeSet<Oid>,
    groups: &[BTreeSet<Oid>],
    blobs: &BTreeSet<Oid>,
    host: &Refs,
    report: &mut ImportReport,
) -> Result<(), ImportError> {
    let ids: BTreeSet<Oid> = host.values().filter_map(|v| v.id().cloned()).collect();
    let have: BTreeSet<Oid> = objects::types(git, None, kind, &ids)?.into_keys().collect();
    let together = objects::transfer(git, staging, found, &have)?;
    if let Ok(count) = together {
        report.objects = count;
        return Ok(());
    }
    // Something is broken: what does not need it still comes over.
    for group in groups.iter().chain([blobs]) {
        let tips: BTreeSet<Oid> = group.intersection(found).cloned().collect();
        match objects::transfer(git, staging, &tips, &have)? {
            Ok(count) => report.objects = report.objects.saturating_add(count),
            Err(message) => report.drop(b"objects", DropReason::Refused(message)),
        }
    }
    Ok(())
}
