//! Git for the wrapper: which one brings history back, and how the status descriptor tells what it brought.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::git_import::{Conflict, RefChange};
use crate::launch::GitImport;

/// Where git is if no search path leads to one.
const USUAL: [&str; 2] = ["/usr/bin/git", "/usr/local/bin/git"];

/// The host's git: the first in the absolute directories of a search path, or in a usual place. Whether a
/// session could write it is judged when one is started.
#[must_use]
pub fn find_git(search_path: Option<&OsStr>) -> Option<PathBuf> {
    let directories = search_path.map(std::env::split_paths);
    directories
        .into_iter()
        .flatten()
        .filter(|directory| directory.is_absolute())
        .map(|directory| directory.join("git"))
        .chain(USUAL.into_iter().map(PathBuf::from))
        .find(|program| is_program(program))
}

fn is_program(path: &Path) -> bool {
    std::fs::metadata(path)
        .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// The line about one repository.
pub(super) fn status(import: &GitImport) -> Value {
    let git_dir = import.git_dir.to_string_lossy();
    let report = match &import.outcome {
        Ok(report) => report,
        Err(error) => {
            return json!({ "git": { "git_dir": git_dir, "failed": error.to_string() } });
        }
    };
    let change =
        |change: &RefChange| json!({ "name": change.name, "old": change.old, "new": change.new });
    let conflict = |conflict: &Conflict| {
        json!({
            "what": conflict.what,
            "expected": conflict.expected,
            "found": conflict.found,
            "offered": conflict.offered,
        })
    };
    let dropped: Vec<Value> = report
        .notable()
        .map(|dropped| json!({ "path": dropped.path, "why": dropped.why.to_string() }))
        .collect();
    json!({ "git": {
        "git_dir": git_dir,
        "refs": report.refs.iter().map(change).collect::<Vec<_>>(),
        "head": report.head,
        "index_paths": report.index_paths,
        "conflicts": report.conflicts.iter().map(conflict).collect::<Vec<_>>(),
        "dropped": dropped,
        "dropped_unlisted": report.dropped_unlisted,
    } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_directories_are_not_searched() {
        let here = tempfile::tempdir().unwrap();
        let planted = here.path().join("git");
        std::fs::write(&planted, "#!/bin/sh\n").unwrap();
        // Not executable: not a program.
        assert_ne!(
            find_git(Some(here.path().as_os_str())),
            Some(planted.clone())
        );
        std::fs::set_permissions(&planted, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(
            find_git(Some(here.path().as_os_str())),
            Some(planted.clone())
        );
        let relative = pathdiff(here.path());
        assert_ne!(
            find_git(Some(relative.as_os_str())),
            Some(relative.join("git"))
        );
        assert_ne!(find_git(Some(OsStr::new("::."))), Some(planted));
    }

    /// The same directory from the working directory.
    fn pathdiff(path: &Path) -> PathBuf {
        let depth = std::env::current_dir().unwrap().components().count() - 1;
        let up: PathBuf = std::iter::repeat_n("..", depth).collect();
        up.join(path.strip_prefix("/").unwrap())
    }
}
