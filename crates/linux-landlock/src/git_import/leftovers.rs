//! Says what else the session changed in the git directory, none of which comes back.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Stat};

use super::names::{HashKind, is_hex, pack_stem};
use super::refs_read::reason;
use super::report::{DropReason, ImportReport};
use super::session::{Tree, Unread, path};
use super::{GitLayout, ImportError};
use crate::init::is_only_longer;

const MAX_ENTRIES: usize = 20_000;
const MAX_DEPTH: usize = 12;
const MAX_COMPARED: u64 = 4 << 20;
const MAX_ALL_COMPARED: u64 = 256 << 20;

/// Reports every file that differs from the host's and is not read by another part of the import.
pub(super) fn report(
    session: &Tree,
    layout: &GitLayout,
    kind: HashKind,
    report: &mut ImportReport,
) -> Result<(), ImportError> {
    let host = super::baseline::open(layout.common_dir())?;
    let mut walk = Walk {
        session,
        host: &host,
        layout,
        kind,
        left: MAX_ENTRIES,
        bytes: MAX_ALL_COMPARED,
        report,
    };
    walk.directory(Path::new(""), 0);
    walk.removed();
    Ok(())
}

struct Walk<'a> {
    session: &'a Tree,
    host: &'a Tree,
    layout: &'a GitLayout,
    kind: HashKind,
    left: usize,
    bytes: u64,
    report: &'a mut ImportReport,
}

impl Walk<'_> {
    fn directory(&mut self, at: &Path, depth: usize) {
        let here = if at.as_os_str().is_empty() {
            Tree::from_fd(self.session.fd())
        } else {
            self.session.dir(at)
        };
        let listed = here.and_then(|here| here.list(self.left));
        let (entries, all) = match listed {
            Ok(listed) => listed,
            Err(Unread::Missing) => return,
            Err(why) => return self.report.drop(bytes(at), reason(&why)),
        };
        if !all || depth > MAX_DEPTH {
            return self.report.drop(bytes(at), DropReason::TooLarge);
        }
        self.left = self.left.saturating_sub(entries.len());
        for entry in entries {
            let below = at.join(path(&entry.name));
            if self.read_elsewhere(&below) {
                continue;
            }
            match self.session.kind(&below) {
                Some(FileType::Directory) => self.directory(&below, depth + 1),
                Some(_) if self.is_the_hosts(&below) || self.is_told_of_placeholders(&below) => {}
                Some(FileType::RegularFile) => {
                    let why = classify(&below);
                    self.report.drop(bytes(&below), why);
                }
                Some(_) => self.report.drop(bytes(&below), DropReason::NotRegular),
                None => {}
            }
        }
    }

    /// Whether another part reads this, and reports what is wrong with it.
    fn read_elsewhere(&self, at: &Path) -> bool {
        let text = bytes(at);
        let own = |name: &str| at == self.layout.own(name);
        let fan = text.strip_prefix(b"objects/");
        let pack = text.strip_prefix(b"objects/pack/");
        text == b"refs"
            || text == b"packed-refs"
            || text.starts_with(b"logs/refs/")
            || own("HEAD")
            || own("index")
            || own("logs")
            || own("refs")
            || fan.is_some_and(|fan| fan.len() == 2 && is_hex(fan))
            // Our own, seen through the overlay.
            || fan.is_some_and(|name| name.starts_with(b"tmp_objdir-"))
            || pack.is_some_and(|name| pack_stem(name, self.kind).is_some())
    }

    fn is_the_hosts(&mut self, at: &Path) -> bool {
        let both = (self.session.kind(at), self.host.kind(at));
        match both {
            (Some(FileType::RegularFile), Some(FileType::RegularFile)) => {
                same_file(self.session, self.host, at, &mut self.bytes).unwrap_or(false)
            }
            (Some(FileType::Symlink), Some(FileType::Symlink)) => {
                let theirs = self.session.link(at);
                theirs.is_some() && theirs == self.host.link(at)
            }
            _ => false,
        }
    }

    /// Whether this is the host's list of names to ignore, with those added that the session itself was told.
    fn is_told_of_placeholders(&self, at: &Path) -> bool {
        if at != Path::new("info/exclude") {
            return false;
        }
        let theirs = self.session.regular(at).ok();
        let theirs = theirs.and_then(|(mut file, _)| all_of(&mut file));
        let ours = match self.host.regular(at) {
            Ok((mut file, _)) => all_of(&mut file),
            Err(Unread::Missing) => Some(Vec::new()),
            Err(_) => None,
        };
        theirs
            .zip(ours)
            .is_some_and(|(theirs, ours)| is_only_longer(&theirs, &ours))
    }

    /// Names at the top, and hooks, that the session took away.
    fn removed(&mut self) {
        for at in ["", "hooks", "info"] {
            let here = if at.is_empty() {
                Tree::from_fd(self.host.fd())
            } else {
                self.host.dir(Path::new(at))
            };
            let Ok((entries, _)) = here.and_then(|here| here.list(MAX_ENTRIES)) else {
                continue;
            };
            for entry in entries {
                let below = PathBuf::from(at).join(path(&entry.name));
                let gone = self.session.kind(&below).is_none();
                if gone && !self.read_elsewhere(&below) && classify(&below) != DropReason::Scratch {
                    self.report.drop(bytes(&below), DropReason::Removed);
                }
            }
        }
    }
}

fn same_file(session: &Tree, host: &Tree, at: &Path, budget: &mut u64) -> Option<bool> {
    let (mut theirs, a) = session.regular(at).ok()?;
    let (mut ours, b) = host.regular(at).ok()?;
    if a.st_size != b.st_size || a.st_mode != b.st_mode {
        return Some(false);
    }
    // A session cannot set the time of change, so the same one is the same file: an overlay shows the host's own.
    let changed = |stat: &Stat| (stat.st_ino, stat.st_ctime, stat.st_ctime_nsec);
    if changed(&a) == changed(&b) {
        return Some(true);
    }
    let size = u64::try_from(a.st_size).ok()?;
    match (size <= MAX_COMPARED)
        .then(|| budget.checked_sub(size))
        .flatten()
    {
        Some(left) => *budget = left,
        None => return Some(a.st_mtime == b.st_mtime && a.st_mtime_nsec == b.st_mtime_nsec),
    }
    Some(all_of(&mut theirs)? == all_of(&mut ours)?)
}

/// What a file holds, as far as files are compared.
fn all_of(file: &mut std::fs::File) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(MAX_COMPARED + 1).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// What a file of this name is to git.
fn classify(at: &Path) -> DropReason {
    let text = bytes(at);
    // What a work tree has of its own is judged as at the top.
    let own = match text.strip_prefix(b"worktrees/") {
        Some(rest) => rest
            .iter()
            .position(|b| *b == b'/')
            .and_then(|slash| rest.get(slash + 1..))
            .unwrap_or(rest),
        None => text,
    };
    if own.ends_with(b".lock") {
        return DropReason::Lock;
    }
    let first = own.split(|b| *b == b'/').next().unwrap_or(own);
    match first {
        b"hooks" | b"config" | b"config.worktree" | b"commondir" | b"gitdir" | b"modules"
        | b"remotes" | b"branches" | b"fsmonitor--daemon" | b"shallow" | b"worktrees" => {
            return DropReason::Steers;
        }
        b"rebase-merge" | b"rebase-apply" | b"sequencer" | b"MERGE_HEAD" | b"MERGE_MODE"
        | b"MERGE_MSG" | b"MERGE_RR" | b"CHERRY_PICK_HEAD" | b"REVERT_HEAD" | b"REBASE_HEAD"
        | b"BISECT_LOG" | b"BISECT_START" | b"BISECT_TERMS" | b"BISECT_NAMES" | b"BISECT_RUN"
        | b"MERGE_AUTOSTASH" | b"SQUASH_MSG" => return DropReason::Unfinished,
        b"AUTO_MERGE" | b"COMMIT_EDITMSG" | b"TAG_EDITMSG" | b"NOTES_EDITMSG"
        | b"EDIT_DESCRIPTION" | b"FETCH_HEAD" | b"ORIG_HEAD" | b"gc.log" | b"gc.pid"
        | b"description" | b"rr-cache" | b"logs" => return DropReason::Scratch,
        _ => {}
    }
    match own {
        b"info/refs" | b"objects/info/packs" | b"objects/info/commit-graph" => DropReason::Scratch,
        _ if own.starts_with(b"objects/info/commit-graphs/") => DropReason::Scratch,
        _ if own.starts_with(b"info/") || own.starts_with(b"objects/info/") => DropReason::Steers,
        _ if own.starts_with(b"objects/pack/") => DropReason::Scratch,
        _ => DropReason::Unknown,
    }
}

fn bytes(at: &Path) -> &[u8] {
    at.as_os_str().as_encoded_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_is_called_so() {
        for (at, why) in [
            ("hooks/pre-commit", DropReason::Steers),
            ("config", DropReason::Steers),
            ("worktrees/x/gitdir", DropReason::Steers),
            (
                "worktrees/x/rebase-merge/git-rebase-todo",
                DropReason::Unfinished,
            ),
            ("objects/info/alternates", DropReason::Steers),
            ("objects/info/commit-graph", DropReason::Scratch),
            ("info/attributes", DropReason::Steers),
            ("COMMIT_EDITMSG", DropReason::Scratch),
            ("index.lock", DropReason::Lock),
            ("sharedindex.0", DropReason::Unknown),
        ] {
            assert_eq!(classify(Path::new(at)), why, "{at}");
        }
    }
}
