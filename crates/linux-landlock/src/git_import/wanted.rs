//! What the session wants changed: its side, compared with what both had in the beginning.

use std::collections::{BTreeMap, BTreeSet};

use super::GitLayout;
use super::baseline::{Baseline, MAX_STASH_LOG};
use super::index_file::{self, Entries, IndexFault, Staged};
use super::names::{HashKind, Oid, STASH, is_managed_ref, is_safe_ref_name};
use super::reflog::{self, LogEntry};
use super::refs_read::{Head, RefValue, Refs, SessionRefs, parse_head, reason};
use super::report::{DropReason, ImportReport};
use super::session::{Tree, Unread, path};

/// A ref that the session made, moved or deleted.
#[derive(Clone, Debug)]
pub(super) struct Change {
    pub(super) name: String,
    pub(super) old: Option<Oid>,
    pub(super) new: Option<Oid>,
    /// How the session's log leads from the old to the new value; empty if it does not.
    pub(super) steps: Vec<LogEntry>,
}

/// Everything that the session wants changed.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    pub(super) changes: Vec<Change>,
    /// Refs that were refused before anything was tried.
    pub(super) refused: BTreeSet<String>,
    /// What HEAD says in the session; `None` if nothing that may come back.
    pub(super) head: Option<Head>,
    /// The new lines of HEAD's log, and its whole length.
    pub(super) head_log: (Vec<LogEntry>, u64),
    /// The whole stash, if it differs.
    pub(super) stash: Option<Vec<LogEntry>>,
    /// Paths of the index that differ; `None` stands for an entry that is gone.
    pub(super) index: BTreeMap<(Vec<u8>, u8), Option<Staged>>,
}

impl Wanted {
    /// Keeps every ref if more than a few are gone: that is debris, or malice.
    pub(super) fn limit_deletions(&mut self, limit: usize, report: &mut ImportReport) {
        let gone = |change: &Change| change.new.is_none();
        if self.changes.iter().filter(|change| gone(change)).count() <= limit {
            return;
        }
        for change in self.changes.extract_if(.., |change| gone(change)) {
            report.drop(change.name.as_bytes(), DropReason::TooLarge);
            self.refused.insert(change.name);
        }
    }
}

/// How much of the end of a log is read.
const MAX_TAIL: u64 = 256 << 10;

/// The most refs that one import changes.
const MAX_CHANGES: usize = 5000;

/// The longest run of log entries that is replayed.
const MAX_STEPS: usize = 64;

/// The most entries of a stash.
const MAX_STASH: usize = 1000;

/// The longest run of HEAD's log that is taken over.
pub(super) const MAX_HEAD_STEPS: usize = 1000;

/// Compares the refs.
pub(super) fn refs(
    session: &Tree,
    theirs: &SessionRefs,
    host: &Refs,
    busy: &BTreeSet<String>,
    baseline: &mut Baseline,
    wanted: &mut Wanted,
    report: &mut ImportReport,
) {
    let names: BTreeSet<&String> = theirs.refs.keys().chain(baseline.refs.keys()).collect();
    let names: Vec<String> = names.into_iter().cloned().collect();
    for name in names {
        if !is_managed_ref(&name) || name == STASH {
            continue;
        }
        let (base, new, now) = (
            baseline.refs.get(&name).cloned(),
            theirs.refs.get(&name).cloned(),
            host.get(&name).cloned(),
        );
        if theirs.unusable.contains(&name) {
            wanted.refused.insert(name);
            continue;
        }
        if base == new || (new.is_none() && !theirs.complete) {
            continue;
        }
        if now == new {
            // Both came to the same value, or the session sees the host's.
            set(&mut baseline.refs, &name, new);
            continue;
        }
        let known = base.is_some();
        let verdict = match (&base, &new) {
            (Some(RefValue::Symbolic(_)), _) | (_, Some(RefValue::Symbolic(_))) => {
                Some(DropReason::RefKind)
            }
            _ if !known && !is_safe_ref_name(&name) => Some(DropReason::Name),
            _ if busy.contains(&name) => Some(DropReason::InUse),
            _ => None,
        };
        if let Some(why) = verdict {
            report.drop(name.as_bytes(), why);
            wanted.refused.insert(name);
            continue;
        }
        if now != base {
            report.conflict(&name, shown(&base), shown(&now), shown(&new));
            wanted.refused.insert(name);
            continue;
        }
        if wanted.changes.len() >= MAX_CHANGES {
            report.drop(name.as_bytes(), DropReason::TooLarge);
            wanted.refused.insert(name);
            continue;
        }
        let old = base.and_then(|value| value.id().cloned());
        let new = new.and_then(|value| value.id().cloned());
        let steps = steps(session, &name, old.as_ref(), new.as_ref(), baseline.kind);
        wanted.changes.push(Change {
            name,
            old,
            new,
            steps,
        });
    }
}

fn set(refs: &mut Refs, name: &str, value: Option<RefValue>) {
    match value {
        Some(value) => {
            refs.insert(name.to_owned(), value);
        }
        None => {
            refs.remove(name);
        }
    }
}

/// A ref's value for a report.
pub(super) fn shown(value: &Option<RefValue>) -> Option<String> {
    value.as_ref().map(|value| match value {
        RefValue::Id(oid) => oid.to_string(),
        RefValue::Symbolic(target) => {
            format!("ref: {}", super::names::escaped(target.as_bytes()))
        }
    })
}

fn steps(
    session: &Tree,
    name: &str,
    old: Option<&Oid>,
    new: Option<&Oid>,
    kind: HashKind,
) -> Vec<LogEntry> {
    let Some(new) = new else {
        return Vec::new();
    };
    let log = format!("logs/{name}");
    session
        .tail(path(log.as_bytes()), MAX_TAIL)
        .ok()
        .map(|(bytes, size)| whole_lines(bytes, size))
        .and_then(|bytes| reflog::parse(&bytes, kind))
        .map(|log| reflog::chain(&log, old, new, MAX_STEPS, false).to_vec())
        .unwrap_or_default()
}

/// The end of a log, from its first whole line.
fn whole_lines(bytes: Vec<u8>, size: u64) -> Vec<u8> {
    if u64::try_from(bytes.len()).is_ok_and(|length| length >= size) {
        return bytes;
    }
    let start = bytes.iter().position(|b| *b == b'\n');
    let rest = start.and_then(|start| bytes.get(start + 1..));
    rest.unwrap_or_default().to_vec()
}

/// Reads HEAD and what is new in its log.
pub(super) fn head(
    session: &Tree,
    layout: &GitLayout,
    baseline: &Baseline,
    wanted: &mut Wanted,
    report: &mut ImportReport,
) {
    let at = layout.own("HEAD");
    let shown = at.as_os_str().as_encoded_bytes();
    match session.read(&at, 4096) {
        Ok(bytes) => match parse_head(&bytes, baseline.kind) {
            Some(Head::Branch(name))
                if !baseline.refs.contains_key(&name)
                    && baseline.head != Some(Head::Branch(name.clone()))
                    && !is_safe_ref_name(&name) =>
            {
                report.drop(shown, DropReason::Name);
            }
            Some(head) => wanted.head = Some(head),
            None => report.drop(shown, DropReason::Malformed),
        },
        Err(why) => report.drop(shown, reason(&why)),
    }
    if let Ok((bytes, size)) = session.tail(&layout.own("logs/HEAD"), MAX_TAIL) {
        let fresh = size.saturating_sub(baseline.head_log);
        let bytes = match usize::try_from(fresh) {
            Ok(fresh) if fresh <= bytes.len() => {
                bytes.get(bytes.len() - fresh..).map(<[u8]>::to_vec)
            }
            _ => Some(whole_lines(bytes, size)),
        };
        let bytes = bytes.unwrap_or_default();
        wanted.head_log.0 = reflog::parse(&bytes, baseline.kind).unwrap_or_default();
        wanted.head_log.1 = size;
    }
}

/// Compares the stash, whose log is its content.
pub(super) fn stash(
    session: &Tree,
    theirs: &SessionRefs,
    baseline: &Baseline,
    wanted: &mut Wanted,
    report: &mut ImportReport,
) {
    if theirs.unusable.contains(STASH) {
        return;
    }
    let log = match session.read(path(b"logs/refs/stash"), MAX_STASH_LOG) {
        Ok(bytes) => reflog::parse(&bytes, baseline.kind),
        Err(Unread::Missing) => Some(Vec::new()),
        Err(why) => {
            report.drop(b"logs/refs/stash", reason(&why));
            return;
        }
    };
    let tip = theirs.refs.get(STASH);
    let log = match (log, tip) {
        (Some(log), Some(RefValue::Id(tip)))
            if log.len() <= MAX_STASH
                && log.iter().all(|entry| entry.new.is_some())
                && log.last().and_then(|entry| entry.new.as_ref()) == Some(tip) =>
        {
            log
        }
        // A log without its ref is what a deleted stash may leave.
        (_, None) if theirs.complete => Vec::new(),
        (_, None) => return,
        _ => {
            report.drop(STASH.as_bytes(), DropReason::Malformed);
            return;
        }
    };
    if log != baseline.stash {
        wanted.stash = Some(log);
    }
}

/// Compares the index.
pub(super) fn index(
    session: &Tree,
    layout: &GitLayout,
    limit: u64,
    baseline: &Baseline,
    wanted: &mut Wanted,
    report: &mut ImportReport,
) {
    let at = layout.own("index");
    let shown = at.as_os_str().as_encoded_bytes();
    let theirs = match session.read(&at, limit) {
        Ok(bytes) => index_file::parse(&bytes, baseline.kind),
        Err(Unread::Missing) => Ok(Entries::new()),
        Err(why) => {
            report.drop(shown, reason(&why));
            return;
        }
    };
    let (theirs, ours) = match (theirs, &baseline.index) {
        (Ok(theirs), Ok(ours)) => (theirs, ours),
        (Err(IndexFault::Malformed), _) => {
            report.drop(shown, DropReason::Malformed);
            return;
        }
        (Err(IndexFault::Unsupported), _) | (_, Err(_)) => {
            let why = "a split, sparse or unknown index".to_owned();
            report.drop(shown, DropReason::Refused(why));
            return;
        }
    };
    for key in ours.keys() {
        if !theirs.contains_key(key) {
            wanted.index.insert(key.clone(), None);
        }
    }
    for (key, staged) in theirs {
        if ours.get(&key) != Some(&staged) {
            wanted.index.insert(key, Some(staged));
        }
    }
}
