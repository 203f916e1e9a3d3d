//! From everything that was found to the few seeds that are committed: a part of those that reach as much together.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::build::Built;
use super::run::Folders;
use crate::process;
use crate::workspace::Workspace;

/// The most bytes of found seeds for one target. Those with a name are not counted.
const MOST_BYTES: u64 = 24 * 1024;
/// The most found seeds for one target.
const MOST_SEEDS: usize = 120;

pub(super) fn all(workspace: &Workspace, built: &Built, targets: &[String]) -> Result<()> {
    for target in targets {
        let folders = Folders::of(workspace, target)?;
        let (kept, bytes) = one(&built.program(target), &folders)
            .with_context(|| format!("cannot minimise the seeds of {target}"))?;
        folders.clean();
        println!("{target}: {kept} seeds, {bytes} bytes");
    }
    Ok(())
}

/// Rewrites the seeds of a target. Those to which somebody gave a name stay.
fn one(program: &Path, folders: &Folders) -> Result<(usize, u64)> {
    let merged = folders.corpus.with_extension("merged");
    let _ = fs::remove_dir_all(&merged);
    fs::create_dir_all(&merged)?;
    fs::create_dir_all(&folders.seeds)?;
    for seed in files(&folders.seeds)?.iter().filter(|seed| is_named(seed)) {
        fs::copy(
            seed,
            merged.join(seed.file_name().context("a seed has a name")?),
        )?;
    }
    let mut command = folders.command(program);
    command
        .arg("-merge=1")
        .arg(&merged)
        .arg(&folders.corpus)
        .arg(&folders.seeds);
    let captured = process::capture(command)?;
    if !captured.success {
        bail!("{}", captured.report());
    }
    for seed in files(&folders.seeds)? {
        if !is_named(&seed) {
            fs::remove_file(seed)?;
        }
    }
    let mut found: Vec<(u64, PathBuf)> = Vec::new();
    for seed in files(&merged)?.into_iter().filter(|seed| !is_named(seed)) {
        found.push((seed.metadata()?.len(), seed));
    }
    found.sort();
    for seed in thinned(found) {
        let name = seed.file_name().context("a seed has a name")?;
        fs::copy(&seed, folders.seeds.join(name))?;
    }
    fs::remove_dir_all(&merged)?;
    let kept = files(&folders.seeds)?;
    let mut bytes = 0;
    for seed in &kept {
        bytes += seed.metadata()?.len();
    }
    Ok((kept.len(), bytes))
}

/// A part of what was found, which is in the order of its sizes: small and large, because what is large reaches deep, and
/// what is small is read by people.
fn thinned(found: Vec<(u64, PathBuf)>) -> Vec<PathBuf> {
    let step = found.len().div_ceil(MOST_SEEDS).max(1);
    let mut room = MOST_BYTES;
    found
        .into_iter()
        .step_by(step)
        .map_while(|(size, seed)| {
            room = room.checked_sub(size)?;
            Some(seed)
        })
        .collect()
}

/// Whether somebody gave it a name: libFuzzer names an input by the digest of its content.
fn is_named(seed: &Path) -> bool {
    let name = seed.file_name().unwrap_or_default().to_string_lossy();
    name.len() != 40 || !name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let listing =
        fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    listing.map(|entry| Ok(entry?.path())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_little_and_of_every_size() {
        let found = |count: u64, factor: u64| -> Vec<(u64, PathBuf)> {
            (0..count)
                .map(|size| (size * factor, PathBuf::from(size.to_string())))
                .collect()
        };
        assert_eq!(thinned(found(3, 1)).len(), 3);
        let kept = thinned(found(300, 1));
        assert_eq!(kept.len(), 100);
        assert_eq!(kept.last(), Some(&PathBuf::from("297")));
        assert_eq!(thinned(found(100, 10_000)).len(), 2);
        assert!(thinned(Vec::new()).is_empty());
    }

    #[test]
    fn only_digests_are_no_names() {
        assert!(is_named(Path::new("seeds/everything.json")));
        assert!(is_named(Path::new("seeds/crash-of-a-glob")));
        assert!(!is_named(Path::new(
            "seeds/da39a3ee5e6b4b0d3255bfef95601890afd80709"
        )));
    }
}
