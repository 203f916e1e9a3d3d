//! What both sides had in the beginning: the old values of every compare-and-swap.

use std::path::Path;

use super::git::{Git, Run};
use super::index_file::{self, Entries, IndexFault};
use super::names::HashKind;
use super::reflog::{self, LogEntry};
use super::refs_read::{self, Head, Refs, parse_head};
use super::session::{Tree, Unread, path};
use super::{GitLayout, ImportError, ImportOptions};

/// What the host's repository was when the session began, or after the last import.
#[derive(Clone, Debug)]
pub struct Baseline {
    pub(super) kind: HashKind,
    pub(super) refs: Refs,
    /// Whether some of them are packed.
    pub(super) packed: bool,
    pub(super) head: Option<Head>,
    /// How long the log of HEAD is, as the session sees it.
    pub(super) head_log: u64,
    pub(super) stash: Vec<LogEntry>,
    pub(super) index: Result<Entries, IndexFault>,
}

/// The largest log of a stash.
pub(super) const MAX_STASH_LOG: u64 = 4 << 20;

/// Notes what the host's repository is. Call it before the session can work on it.
///
/// # Errors
///
/// [`ImportError::Unsupported`] if refs are kept in a way that cannot be imported; others if git or a file of the
/// repository cannot be used.
pub fn baseline(host: &GitLayout, options: &ImportOptions) -> Result<Baseline, ImportError> {
    let git = Git::new(host, options);
    let kind = supported(&git)?;
    let own = open(host.git_dir())?;
    let head_log = match own.file(path(b"logs/HEAD")) {
        Ok((_, size)) => size,
        Err(_) => 0,
    };
    Ok(Baseline {
        kind,
        refs: refs_read::of_host(&git, kind)?,
        packed: open(host.common_dir())?
            .kind(path(b"packed-refs"))
            .is_some(),
        head: host_head(&own, kind),
        head_log,
        stash: host_stash(host, kind)?,
        index: host_index(&own, kind, options.max_index),
    })
}

/// The hash of a repository that can be imported to.
pub(super) fn supported(git: &Git<'_>) -> Result<HashKind, ImportError> {
    let common = open(git.layout().common_dir())?;
    if common.kind(path(b"reftable")).is_some() {
        return Err(ImportError::Unsupported("refs are kept in reftables"));
    }
    let run = Run::new("rev-parse").args(["--show-object-format"]);
    match git.run(run)?.must()?.as_slice() {
        b"sha1\n" => Ok(HashKind::Sha1),
        b"sha256\n" => Ok(HashKind::Sha256),
        _ => Err(ImportError::Unsupported("the object format is not known")),
    }
}

/// A directory of the host.
pub(super) fn open(at: &Path) -> Result<Tree, ImportError> {
    Tree::at(at).map_err(|why| match why {
        Unread::Failed(source) => ImportError::host(at, source),
        _ => ImportError::host(at, std::io::Error::from(std::io::ErrorKind::NotADirectory)),
    })
}

/// What the host's HEAD says; `None` if nothing that we would write.
pub(super) fn host_head(own: &Tree, kind: HashKind) -> Option<Head> {
    parse_head(&own.read(path(b"HEAD"), 4096).ok()?, kind)
}

/// The host's stash, oldest first.
pub(super) fn host_stash(host: &GitLayout, kind: HashKind) -> Result<Vec<LogEntry>, ImportError> {
    let common = open(host.common_dir())?;
    match common.read(path(b"logs/refs/stash"), MAX_STASH_LOG) {
        Ok(bytes) => {
            reflog::parse(&bytes, kind).ok_or(ImportError::Unsupported("the stash's log is broken"))
        }
        Err(Unread::Missing) => Ok(Vec::new()),
        Err(_) => Err(ImportError::Unsupported("the stash's log cannot be read")),
    }
}

/// What the host has staged.
pub(super) fn host_index(own: &Tree, kind: HashKind, limit: u64) -> Result<Entries, IndexFault> {
    match own.read(path(b"index"), limit) {
        Ok(bytes) => index_file::parse(&bytes, kind),
        Err(Unread::Missing) => Ok(Entries::new()),
        Err(_) => Err(IndexFault::Unsupported),
    }
}
