//! The refs of both sides: the host's through git, the session's by reading its files with suspicion.

use std::collections::{BTreeMap, BTreeSet};

use super::ImportError;
use super::git::{Git, Run};
use super::names::{HashKind, Oid, is_managed_ref};
use super::report::{DropReason, ImportReport};
use super::session::{Tree, Unread, path};

/// What a ref says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RefValue {
    /// An object.
    Id(Oid),
    /// Another ref.
    Symbolic(String),
}

impl RefValue {
    /// The object, if it says so itself.
    pub(super) const fn id(&self) -> Option<&Oid> {
        match self {
            Self::Id(oid) => Some(oid),
            Self::Symbolic(_) => None,
        }
    }
}

/// Refs by name.
pub(super) type Refs = BTreeMap<String, RefValue>;

/// The refs of a session.
#[derive(Debug, Default)]
pub(super) struct SessionRefs {
    /// Those that could be read.
    pub(super) refs: Refs,
    /// Names that are there and say nothing usable: neither moved nor deleted.
    pub(super) unusable: BTreeSet<String>,
    /// Whether everything was seen; if not, a missing name does not mean a deleted ref.
    pub(super) complete: bool,
}

/// What HEAD says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Head {
    /// A branch, by its whole name.
    Branch(String),
    /// A commit.
    Detached(Oid),
}

impl std::fmt::Display for Head {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Branch(name) => write!(f, "ref: {name}"),
            Self::Detached(oid) => oid.fmt(f),
        }
    }
}

/// Reads what a HEAD file says; only `ref: refs/heads/NAME` and an object id count.
pub(super) fn parse_head(bytes: &[u8], kind: HashKind) -> Option<Head> {
    let line = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    if let Some(target) = line.strip_prefix(b"ref: ") {
        let target = std::str::from_utf8(target).ok()?;
        let plain = target.starts_with("refs/heads/")
            && !target.chars().any(|c| c.is_whitespace() || c.is_control());
        return plain.then(|| Head::Branch(target.to_owned()));
    }
    Oid::parse(line, kind).map(Head::Detached)
}

/// The host's refs. Names that are not UTF-8 are left out, and so never touched.
pub(super) fn of_host(git: &Git<'_>, kind: HashKind) -> Result<Refs, ImportError> {
    let run = Run::new("for-each-ref").args(["--format=%(objectname)%00%(symref)%00%(refname)"]);
    let out = git.run(run)?.must()?;
    let mut refs = Refs::new();
    for line in out.split(|b| *b == b'\n') {
        let mut fields = line.split(|b| *b == 0);
        let (Some(id), Some(symref), Some(name)) = (fields.next(), fields.next(), fields.next())
        else {
            continue;
        };
        let Ok(name) = std::str::from_utf8(name) else {
            continue;
        };
        let value = if symref.is_empty() {
            Oid::parse(id, kind).map(RefValue::Id)
        } else {
            Some(RefValue::Symbolic(
                String::from_utf8_lossy(symref).into_owned(),
            ))
        };
        if let Some(value) = value {
            refs.insert(name.to_owned(), value);
        }
    }
    Ok(refs)
}

/// The value of one ref of the host.
pub(super) fn one_of_host(
    git: &Git<'_>,
    kind: HashKind,
    name: &str,
) -> Result<Option<RefValue>, ImportError> {
    // A pattern also matches what is below the name, so the name is looked up in the answer.
    let run = Run::new("for-each-ref")
        .args(["--format=%(objectname)%00%(symref)%00%(refname)"])
        .args([name]);
    let out = git.run(run)?.must()?;
    for line in out.split(|b| *b == b'\n') {
        let mut fields = line.split(|b| *b == 0);
        if let (Some(id), Some(symref), Some(found)) = (fields.next(), fields.next(), fields.next())
            && found == name.as_bytes()
        {
            return Ok(if symref.is_empty() {
                Oid::parse(id, kind).map(RefValue::Id)
            } else {
                Some(RefValue::Symbolic(
                    String::from_utf8_lossy(symref).into_owned(),
                ))
            });
        }
    }
    Ok(None)
}

const MAX_REF_FILE: u64 = 4096;
const MAX_PACKED: u64 = 64 << 20;
const MAX_DEPTH: usize = 20;

/// The session's refs: loose ones first, as git does, because packing moves them the other way.
pub(super) fn of_session(
    session: &Tree,
    kind: HashKind,
    limit: usize,
    report: &mut ImportReport,
) -> SessionRefs {
    let mut out = SessionRefs {
        complete: true,
        ..SessionRefs::default()
    };
    match session.dir(path(b"refs")) {
        Ok(dir) => loose(&dir, "refs", kind, limit, 0, &mut out, report),
        Err(why) => {
            out.complete = false;
            report.drop(b"refs", reason(&why));
        }
    }
    match session.read(path(b"packed-refs"), MAX_PACKED) {
        Ok(bytes) => packed(&bytes, kind, limit, &mut out, report),
        Err(Unread::Missing) => {}
        Err(why) => {
            out.complete = false;
            report.drop(b"packed-refs", reason(&why));
        }
    }
    out
}

fn loose(
    dir: &Tree,
    prefix: &str,
    kind: HashKind,
    limit: usize,
    depth: usize,
    out: &mut SessionRefs,
    report: &mut ImportReport,
) {
    let listed = dir.list(limit);
    let (entries, all) = match listed {
        Ok(listed) => listed,
        Err(why) => {
            out.complete = false;
            report.drop(prefix.as_bytes(), reason(&why));
            return;
        }
    };
    if !all || depth > MAX_DEPTH {
        out.complete = false;
        report.drop(prefix.as_bytes(), DropReason::TooLarge);
        return;
    }
    for entry in entries {
        let shown = [prefix.as_bytes(), b"/", &entry.name].concat();
        let Ok(name) = String::from_utf8(shown.clone()) else {
            report.drop(&shown, DropReason::Name);
            continue;
        };
        if name.ends_with(".lock") {
            report.drop(&shown, DropReason::Lock);
            continue;
        }
        if out.refs.len().saturating_add(out.unusable.len()) >= limit {
            out.complete = false;
            report.drop(prefix.as_bytes(), DropReason::TooLarge);
            return;
        }
        match dir.dir(path(&entry.name)) {
            Ok(below) => {
                loose(&below, &name, kind, limit, depth + 1, out, report);
                continue;
            }
            Err(Unread::NotRegular | Unread::Missing) => {}
            Err(why) => {
                out.complete = false;
                report.drop(&shown, reason(&why));
                continue;
            }
        }
        match dir.read(path(&entry.name), MAX_REF_FILE) {
            Ok(bytes) => match parse_ref(&bytes, kind) {
                Some(value) => {
                    out.refs.insert(name, value);
                }
                None => {
                    report.drop(&shown, DropReason::Malformed);
                    out.unusable.insert(name);
                }
            },
            // Packed or deleted since it was listed: the packed refs, read later, say which.
            Err(Unread::Missing) => {}
            Err(why) => {
                report.drop(&shown, reason(&why));
                // It might have been a directory: what was below it is not known.
                out.complete = false;
                out.unusable.insert(name);
            }
        }
    }
}

fn parse_ref(bytes: &[u8], kind: HashKind) -> Option<RefValue> {
    let line = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    if let Some(target) = line.strip_prefix(b"ref: ") {
        let target = std::str::from_utf8(target).ok()?;
        return Some(RefValue::Symbolic(target.to_owned()));
    }
    Oid::parse(line, kind).map(RefValue::Id)
}

pub(super) fn packed(
    bytes: &[u8],
    kind: HashKind,
    limit: usize,
    out: &mut SessionRefs,
    report: &mut ImportReport,
) {
    for line in bytes.split(|b| *b == b'\n') {
        // Comments, and what a tag points to.
        if line.is_empty() || line.starts_with(b"#") || line.starts_with(b"^") {
            continue;
        }
        let parsed = line.split_at_checked(kind.digits()).and_then(|(id, rest)| {
            let name = std::str::from_utf8(rest.strip_prefix(b" ")?).ok()?;
            Some((Oid::parse(id, kind)?, name.to_owned()))
        });
        let Some((oid, name)) = parsed else {
            out.complete = false;
            report.drop(b"packed-refs", DropReason::Malformed);
            return;
        };
        if out.refs.len() >= limit {
            out.complete = false;
            report.drop(b"packed-refs", DropReason::TooLarge);
            return;
        }
        if name.starts_with("refs/") && !out.unusable.contains(&name) {
            out.refs.entry(name).or_insert(RefValue::Id(oid));
        }
    }
}

/// Why something of a session that could not be read is dropped.
pub(super) fn reason(why: &Unread) -> DropReason {
    match why {
        Unread::Missing => DropReason::Removed,
        Unread::NotRegular => DropReason::NotRegular,
        Unread::TooLarge => DropReason::TooLarge,
        Unread::Failed(source) => DropReason::Refused(source.to_string()),
    }
}

/// Reports refs that differ and are not of a kind that comes back.
pub(super) fn report_unmanaged(session: &SessionRefs, host: &Refs, report: &mut ImportReport) {
    for (name, value) in &session.refs {
        if !is_managed_ref(name) && host.get(name) != Some(value) {
            report.drop(name.as_bytes(), DropReason::RefKind);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_branches_and_ids_are_heads() {
        let kind = HashKind::Sha1;
        let id = "a".repeat(40);
        assert_eq!(
            parse_head(b"ref: refs/heads/main\n", kind),
            Some(Head::Branch("refs/heads/main".to_owned()))
        );
        assert!(matches!(
            parse_head(id.as_bytes(), kind),
            Some(Head::Detached(_))
        ));
        for bad in [
            &b""[..],
            b"ref: ../../x\n",
            b"ref: refs/remotes/origin/main\n",
            b"ref: refs/heads/a\nref: refs/heads/b\n",
            b"ref: refs/heads/a b\n",
            b"ref:refs/heads/a\n",
            b"refs/heads/a\n",
            b"ref: refs/heads/\xff\n",
        ] {
            assert_eq!(parse_head(bad, kind), None);
        }
    }
}
