//! Where the host's repository is, and what bounds an import.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::plan::GitOverlay;

use super::ImportError;

/// Where the host's repository is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitLayout {
    common_dir: PathBuf,
    git_dir: PathBuf,
    /// `worktrees/NAME`, or empty.
    below: PathBuf,
}

impl GitLayout {
    /// The directory that holds objects and refs, and the git directory of the work tree: the same, or
    /// `worktrees/NAME` below it.
    ///
    /// # Errors
    ///
    /// [`ImportError::Layout`] if they are related in another way, or not absolute.
    pub fn new(
        common_dir: impl Into<PathBuf>,
        git_dir: impl Into<PathBuf>,
    ) -> Result<Self, ImportError> {
        let (common_dir, git_dir) = (common_dir.into(), git_dir.into());
        let below = git_dir
            .strip_prefix(&common_dir)
            .ok()
            .filter(|below| is_below(below))
            .map(Path::to_path_buf);
        let plain = common_dir.is_absolute()
            // The list of alternates is kept by lines.
            && !common_dir.as_os_str().as_encoded_bytes().contains(&b'\n');
        match below {
            Some(below) if plain => Ok(Self {
                common_dir,
                git_dir,
                below,
            }),
            _ => Err(ImportError::Layout {
                common_dir,
                git_dir,
            }),
        }
    }

    /// As the plan says.
    ///
    /// # Errors
    ///
    /// As [`GitLayout::new`].
    pub fn from_overlay(overlay: &GitOverlay) -> Result<Self, ImportError> {
        Self::new(overlay.common_dir.as_path(), overlay.git_dir.as_path())
    }

    /// The directory that holds objects and refs.
    #[must_use]
    pub fn common_dir(&self) -> &Path {
        &self.common_dir
    }

    /// The git directory of the work tree.
    #[must_use]
    pub fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    /// A path of the work tree's own, from the common directory.
    pub(super) fn own(&self, name: &str) -> PathBuf {
        self.below.join(name)
    }
}

fn is_below(below: &Path) -> bool {
    use std::path::Component;
    let mut parts = below.components();
    match (parts.next(), parts.next(), parts.next()) {
        (None, ..) => true,
        (Some(Component::Normal(first)), Some(Component::Normal(_)), None) => first == "worktrees",
        _ => false,
    }
}

/// What bounds an import, and which git does the work.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ImportOptions {
    /// The git program of the host, by an absolute path that no session can write.
    pub git: PathBuf,
    /// How long one run of git may take.
    pub command_time: Duration,
    /// How long everything may take.
    pub total_time: Duration,
    /// Bytes of new objects that are read from a session.
    pub max_bytes: u64,
    /// New loose objects and packs that are read from a session.
    pub max_objects: usize,
    /// Refs that are read from a session, beyond those that the host has.
    pub max_refs: usize,
    /// Refs that one import deletes; if a session deleted more, none is.
    pub max_deletions: usize,
    /// Bytes of an index.
    pub max_index: u64,
}

impl ImportOptions {
    /// Bounds for ordinary work.
    #[must_use]
    pub fn new(git: impl Into<PathBuf>) -> Self {
        Self {
            git: git.into(),
            command_time: Duration::from_secs(60),
            total_time: Duration::from_secs(300),
            max_bytes: 2 << 30,
            max_objects: 200_000,
            max_refs: 20_000,
            max_deletions: 50,
            max_index: 64 << 20,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_directory_or_a_work_tree_of_it() {
        assert!(GitLayout::new("/srv/app/.git", "/srv/app/.git").is_ok());
        assert!(GitLayout::new("/srv/app/.git", "/srv/app/.git/worktrees/x").is_ok());
        for bad in [
            "/srv/app",
            "/srv/app/.git/modules/x",
            "/srv/app/.git/worktrees",
            "/srv/app/.git/worktrees/x/y",
            "/srv/app/.git/worktrees/..",
            "/srv/b/.git",
        ] {
            assert!(GitLayout::new("/srv/app/.git", bad).is_err(), "{bad}");
        }
        assert!(GitLayout::new(".git", ".git").is_err());
    }
}
