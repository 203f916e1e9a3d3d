//! What comes back from a private `.git`: history, and nothing that git would execute.
//!
//! A session in git's `commit` mode works on an overlay of its own over the repository. When a command has ended,
//! [`import`] compares the session's view with what both sides had before ([`baseline`]) and carries over, by
//! allow-list: branches, tags, notes and the stash, the objects that these need, HEAD, and what is staged.
//!
//! # How it holds
//!
//! - The session's view is read without following links, regular files only, up to limits, and every file once.
//!   It may change meanwhile: what was read is what is judged.
//! - No file of the session is ever put in a file's place. Objects pass through git's own check for packs from
//!   strangers and get their names from their content; the index is the host's with single paths changed; refs, HEAD
//!   and log lines are written from parsed values.
//! - A ref moves only if the host has everything that its new value needs, and only if it still has its old value,
//!   under git's own locks. What the host changed meanwhile stays, and is reported as a conflict.
//! - Hooks, configuration, attributes, alternates, work-tree pointers, unfinished operations, symbolic and replacing
//!   refs never come back. What differs is reported.
//!
//! # Non-goals
//!
//! - Objects that nothing names do not come back.
//! - An operation that stops half-way (a rebase with conflicts) stays in the session, and the report says so.

mod apply;
mod baseline;
mod bring;
mod error;
mod git;
mod index;
mod index_file;
mod layout;
mod leftovers;
mod lock;
mod names;
mod objects;
mod reflog;
mod refs_read;
mod report;
mod session;
mod stash;
#[cfg(feature = "model")]
pub(crate) mod untrusted;
mod wanted;

use std::collections::BTreeSet;
use std::os::fd::BorrowedFd;

pub use baseline::{Baseline, baseline};
pub use error::ImportError;
pub use layout::{GitLayout, ImportOptions};
pub use report::{Conflict, DropReason, Dropped, ImportReport, RefChange};

use apply::Apply;
use git::Git;
use refs_read::{Head, parse_head};
use session::{Tree, path};
use wanted::Wanted;

/// Carries a session's history over to the host's repository.
///
/// `session` is the directory that the session sees in place of [`GitLayout::common_dir`]. What was imported becomes
/// the new baseline, so that the next import starts there; what was refused stays as it was.
///
/// # Errors
///
/// If the host's repository or git cannot be used, or the time is over. Every single step is atomic, so the
/// repository is sound then too, and calling again continues.
pub fn import(
    session: BorrowedFd<'_>,
    host: &GitLayout,
    baseline: &mut Baseline,
    options: &ImportOptions,
) -> Result<ImportReport, ImportError> {
    let git = Git::new(host, options);
    let kind = baseline::supported(&git)?;
    if kind != baseline.kind {
        return Err(ImportError::Unsupported("the object format has changed"));
    }
    let session = Tree::from_fd(session)
        .map_err(|why| ImportError::Session(refs_read::reason(&why).to_string()))?;
    let mut report = ImportReport::default();

    // Refs before objects: whoever still writes adds objects first.
    let mut wanted = Wanted::default();
    wanted::head(&session, host, baseline, &mut wanted, &mut report);
    let limit = options.max_refs.saturating_add(baseline.refs.len());
    let mut theirs = refs_read::of_session(&session, kind, limit, &mut report);
    // Without a HEAD it is no repository any more: then missing refs are debris, not wishes.
    theirs.complete &= wanted.head.is_some();
    // git rewrites the list of packed refs but never takes it away.
    if baseline.packed && session.kind(path(b"packed-refs")).is_none() {
        theirs.complete = false;
        report.drop(b"packed-refs", DropReason::Removed);
    }
    let ours = refs_read::of_host(&git, kind)?;
    let busy = busy_branches(host, kind)?;
    refs_read::report_unmanaged(&theirs, &ours, &mut report);
    wanted::refs(
        &session,
        &theirs,
        &ours,
        &busy,
        baseline,
        &mut wanted,
        &mut report,
    );
    wanted.limit_deletions(options.max_deletions, &mut report);
    wanted::stash(&session, &theirs, baseline, &mut wanted, &mut report);
    wanted::index(
        &session,
        host,
        options.max_index,
        baseline,
        &mut wanted,
        &mut report,
    );
    leftovers::report(&session, host, kind, &mut report)?;
    git.in_time()?;

    let sound = bring::bring(&session, &git, kind, &wanted, &ours, &mut report)?;
    let mut apply = Apply {
        git: &git,
        sound: &sound,
        baseline,
        report: &mut report,
        refused: BTreeSet::new(),
    };
    let head = apply.refs_and_head(&wanted, &busy)?;
    if let Some(stash) = &wanted.stash {
        apply.stash(stash)?;
    }
    if head {
        apply.index(&wanted)?;
    } else if !wanted.index.is_empty() {
        report.drop(b"index", DropReason::Follows);
    }
    Ok(report)
}

/// Branches that other work trees of the host have checked out: moving one would turn their files into changes.
fn busy_branches(host: &GitLayout, kind: names::HashKind) -> Result<BTreeSet<String>, ImportError> {
    let common = baseline::open(host.common_dir())?;
    let mut heads = vec![std::path::PathBuf::from("HEAD")];
    if let Ok(dir) = common.dir(path(b"worktrees")) {
        let (entries, _) = dir
            .list(10_000)
            .map_err(|_| ImportError::Unsupported("the list of work trees cannot be read"))?;
        heads.extend(
            entries
                .iter()
                .map(|entry| path(b"worktrees").join(path(&entry.name)).join("HEAD")),
        );
    }
    Ok(heads
        .iter()
        .filter(|at| **at != host.own("HEAD"))
        .filter_map(|at| parse_head(&common.read(at, 4096).ok()?, kind))
        .filter_map(|head| match head {
            Head::Branch(name) => Some(name),
            Head::Detached(_) => None,
        })
        .collect())
}
