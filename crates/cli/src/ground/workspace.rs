//! Which directory is the project.

use std::path::{Path, PathBuf};

use palisade::runner::host::Host;

use super::flags::PolicyFlags;
use super::named;
use crate::complaint::Complaint;
use crate::say::shown;

/// The project: what a flag says, or the enclosing git repository if the user owns it and it is not the home directory or
/// above it, or else the current directory.
///
/// # Errors
/// It would be the home directory or above it, and nobody said that it may.
pub(super) fn choose(flags: &PolicyFlags, host: &Host, cwd: &Path) -> Result<PathBuf, Complaint> {
    let real = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let home = host.facts.home.as_ref().map(|home| real(home.as_path()));
    let holds_home = |path: &Path| {
        let real = real(path);
        home.as_ref().is_some_and(|home| home.starts_with(real))
    };
    let chosen = match &flags.workspace {
        Some(directory) => match std::fs::canonicalize(cwd.join(directory)) {
            Ok(found) if found.is_dir() => named::absolute("--workspace", directory, cwd)?,
            Ok(_) => {
                return Err(Complaint::usage(format!(
                    "--workspace {}: it is no directory",
                    shown(directory)
                )));
            }
            Err(error) => {
                return Err(Complaint::usage(format!(
                    "--workspace {}: {error}",
                    shown(directory)
                )));
            }
        },
        None => git_top_level(cwd)
            .filter(|top| is_own(top) && !holds_home(top))
            .unwrap_or_else(|| cwd.to_owned()),
    };
    if holds_home(&chosen) && !flags.allow_home_root {
        return Err(Complaint::refused(format!(
            "{} is your home directory or holds it: a command could write everything that is yours",
            shown(&chosen)
        ))
        .help("change to a project, or name one with --workspace DIR")
        .help("--allow-home-root lets it be the workspace all the same; secrets stay hidden"));
    }
    Ok(chosen)
}

/// The directory around this one that has a `.git`, be it a directory or the file of a worktree.
fn git_top_level(cwd: &Path) -> Option<PathBuf> {
    let found = cwd
        .ancestors()
        .find(|path| path.join(".git").symlink_metadata().is_ok());
    found.map(Path::to_owned)
}

#[cfg(unix)]
fn is_own(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let uid = rustix::process::geteuid().as_raw();
    path.metadata().is_ok_and(|found| found.uid() == uid)
}

#[cfg(not(unix))]
fn is_own(path: &Path) -> bool {
    path.is_dir()
}
