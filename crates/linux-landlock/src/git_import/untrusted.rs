//! The readers of a session's git directory, for `crate::untrusted`.

use super::names::{HashKind, is_safe_ref_name};
use super::refs_read::{self, SessionRefs};
use super::report::ImportReport;
use super::{index_file, parse_head, reflog as log};

/// The paths and stages of an index, in the order of git; `None` if it is refused.
#[must_use]
pub fn index_paths(bytes: &[u8], sha256: bool) -> Option<Vec<(Vec<u8>, u8)>> {
    let entries = index_file::parse(bytes, kind(sha256)).ok()?;
    Some(entries.into_keys().collect())
}

/// A reflog as it would be written; `None` if it is refused.
#[must_use]
pub fn reflog(bytes: &[u8], sha256: bool) -> Option<String> {
    let entries = log::parse(bytes, kind(sha256))?;
    Some(
        entries
            .iter()
            .map(|entry| entry.line(kind(sha256)))
            .collect(),
    )
}

/// What HEAD says; `None` if nothing that counts.
#[must_use]
pub fn head(bytes: &[u8], sha256: bool) -> Option<String> {
    parse_head(bytes, kind(sha256)).map(|head| head.to_string())
}

/// The names in a file of packed refs, at most so many, and whether all of it was understood.
#[must_use]
pub fn packed_refs(bytes: &[u8], sha256: bool, limit: usize) -> (Vec<String>, bool) {
    let mut refs = SessionRefs {
        complete: true,
        ..SessionRefs::default()
    };
    let mut report = ImportReport::default();
    refs_read::packed(bytes, kind(sha256), limit, &mut refs, &mut report);
    (refs.refs.into_keys().collect(), refs.complete)
}

/// Whether a session may make a ref of this name.
#[must_use]
pub fn may_make_ref(name: &str) -> bool {
    is_safe_ref_name(name)
}

const fn kind(sha256: bool) -> HashKind {
    if sha256 {
        HashKind::Sha256
    } else {
        HashKind::Sha1
    }
}
