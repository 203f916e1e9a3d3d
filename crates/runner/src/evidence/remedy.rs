//! The grant that is offered for a denial: the oracle's smallest, where that really helps on this host.

use std::path::Path;

use palisade_policy::{AbsolutePath, Access, Clause, GitAccess, Grant, Verdict};

use super::listening;

/// What in a git directory steers git on the host, and so does not come back from a session that may commit.
const STEERING: [&str; 4] = ["config", "config.worktree", "hooks", "info"];

/// The grant that is offered. One for something that does not exist is offered for what holds it, and none if that is not
/// there either: nothing can be opened before it exists.
pub(super) fn that_works(access: &Access, verdict: &Verdict) -> Option<Grant> {
    match verdict.remedy.clone()? {
        Grant::Git(GitAccess::Commit) if path(access).is_some_and(steers) => {
            Some(Grant::Git(GitAccess::Full))
        }
        Grant::Write(granted) => match &verdict.clause {
            Clause::Protected(guarded) => existing(granted, guarded.as_path()).map(Grant::Write),
            _ => Some(Grant::Write(granted)),
        },
        grant => Some(grant),
    }
}

/// A server of this host that the command did not find, because the loopback of a session is its own.
pub(super) fn of_own_loopback(access: &Access, verdict: &Verdict) -> Option<(Clause, Grant)> {
    match (access, &verdict.clause) {
        (Access::Connect { port, .. }, Clause::OwnLoopback) if listening::on_loopback(*port) => {
            Some((Clause::NoHostLoopback, Grant::HostLoopback))
        }
        _ => None,
    }
}

fn path(access: &Access) -> Option<&Path> {
    match access {
        Access::Write(path) | Access::Create(path) | Access::Delete(path) => Some(path.as_path()),
        _ => None,
    }
}

fn steers(path: &Path) -> bool {
    let mut parts = path.components().map(|part| part.as_os_str());
    parts.any(|part| part == ".git")
        && parts
            .next()
            .is_some_and(|part| STEERING.iter().any(|name| part == *name))
}

/// A path, or what holds it, as far as it exists and is guarded.
fn existing(path: AbsolutePath, guarded: &Path) -> Option<AbsolutePath> {
    std::iter::successors(Some(path), AbsolutePath::parent)
        .find(|path| path.as_path().exists())
        .filter(|path| path.as_path().starts_with(guarded))
        // What stands for a guarded name that does not exist is an empty directory while a session lasts.
        .filter(|path| path.as_path() != guarded || !is_empty(path.as_path()))
}

fn is_empty(directory: &Path) -> bool {
    std::fs::read_dir(directory).is_ok_and(|mut entries| entries.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_git_is_told_from_history() {
        for (path, expected) in [
            ("/p/.git/config", true),
            ("/p/.git/hooks/pre-commit", true),
            ("/p/.git/index.lock", false),
            ("/p/.git/refs/heads/config", false),
            ("/p/config", false),
        ] {
            assert_eq!(steers(Path::new(path)), expected, "{path}");
        }
    }
}
