//! The files of the repository, without what tools leave in it.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// All files below a folder, sorted, without Git's own, build output and what fuzzing leaves behind.
pub(crate) fn all(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    collect(folder, &mut found)?;
    found.sort();
    Ok(found)
}

pub(crate) fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

/// A path as messages and registries write it: from the root, with forward slashes.
pub(crate) fn relative(root: &Path, path: &Path) -> String {
    let path = path.strip_prefix(root).unwrap_or(path);
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    parts.join("/")
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    let reading = || format!("cannot read {}", folder.display());
    for entry in fs::read_dir(folder).with_context(reading)? {
        let entry = entry.with_context(reading)?;
        let path = entry.path();
        // Links are not followed: what they point to is either visited anyway or not ours.
        let kind = entry.file_type().with_context(reading)?;
        if is_left_by_tools(folder, &entry.file_name().to_string_lossy()) {
            continue;
        }
        if kind.is_file() {
            found.push(path);
        } else if kind.is_dir() {
            collect(&path, found)?;
        }
    }
    Ok(())
}

fn is_left_by_tools(folder: &Path, name: &str) -> bool {
    match name {
        // A file, not a folder, in a linked worktree.
        ".git" => true,
        "target" => folder.join("Cargo.toml").is_file(),
        "artifacts" | "corpus" | "coverage" => folder.ends_with("fuzz"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn build_output_is_skipped_only_beside_a_manifest() {
        let package = Path::new(env!("CARGO_MANIFEST_DIR"));
        assert!(is_left_by_tools(package, ".git"));
        assert!(is_left_by_tools(package, "target"));
        assert!(!is_left_by_tools(&package.join("src"), "target"));
        assert!(is_left_by_tools(Path::new("fuzz"), "corpus"));
        assert!(!is_left_by_tools(package, "corpus"));
    }

    #[test]
    fn paths_in_messages_start_at_the_root() {
        let root = Path::new("root");
        assert_eq!(
            relative(root, &root.join("docs").join("page.md")),
            "docs/page.md"
        );
    }
}
