//! The index: the host's own, with the session's changes put in path by path, each only if the host has not changed
//! the same path.
//!
//! The session's file never takes its place: it could hide changes from the user (`skip-worktree`), point to other
//! files, or name what is not there.

use std::collections::BTreeSet;

use super::ImportError;
use super::apply::Apply;
use super::baseline::open;
use super::git::Run;
use super::index_file::{self, Entries, Staged};
use super::lock::Lock;
use super::objects::Staging;
use super::report::DropReason;
use super::session::{Unread, path};
use super::wanted::Wanted;

impl Apply<'_> {
    /// Puts the session's changes into the host's index.
    pub(super) fn index(&mut self, wanted: &Wanted) -> Result<(), ImportError> {
        if wanted.index.is_empty() {
            return Ok(());
        }
        let missing = wanted
            .index
            .values()
            .flatten()
            .any(|staged| staged.mode != 0o160_000 && !self.sound.has_blob(&staged.oid));
        if missing {
            self.report.drop(b"index", DropReason::Objects);
            return Ok(());
        }
        let at = self.git.layout().git_dir().to_path_buf();
        let own = open(&at)?;
        let lock = match Lock::take(&own, "index") {
            Ok(lock) => lock,
            Err(source) => {
                self.report
                    .drop(b"index", DropReason::Refused(source.to_string()));
                return Ok(());
            }
        };
        let bytes = match own.read(path(b"index"), self.git.options().max_index) {
            Ok(bytes) => Some(bytes),
            Err(Unread::Missing) => None,
            Err(_) => {
                let why = "the host's index cannot be read".to_owned();
                self.report.drop(b"index", DropReason::Refused(why));
                return Ok(());
            }
        };
        let kind = self.baseline.kind;
        let host = match &bytes {
            Some(bytes) => index_file::parse(bytes, kind),
            None => Ok(Entries::new()),
        };
        let Ok(host) = host else {
            let why = "the host's index is of a kind that is not supported".to_owned();
            self.report.drop(b"index", DropReason::Refused(why));
            return Ok(());
        };
        let edit = self.edit(&host, wanted);
        if edit.paths == 0 {
            self.agree(edit.agreed);
            return Ok(());
        }
        let scratch = Staging::new(&self.git.layout().common_dir().join("objects"))?;
        let file = scratch.dir().join("index");
        if let Some(bytes) = &bytes {
            std::fs::write(&file, bytes).map_err(|source| ImportError::host(&file, source))?;
        }
        let run = Run::new("update-index")
            .args(["-z", "--index-info"])
            .env("GIT_INDEX_FILE", &file)
            .input(edit.input);
        let answer = self.git.run(run)?;
        if !answer.ok {
            self.report
                .drop(b"index", DropReason::Refused(answer.message));
            return Ok(());
        }
        let made = std::fs::read(&file).map_err(|source| ImportError::host(&file, source))?;
        lock.commit(&made)
            .map_err(|source| ImportError::host(at.join("index"), source))?;
        self.report.index_paths = edit.paths;
        self.agree(edit.agreed);
        Ok(())
    }

    /// What git is told, path by path.
    fn edit(&mut self, host: &Entries, wanted: &Wanted) -> Edit {
        let Ok(base) = &self.baseline.index else {
            return Edit::default();
        };
        let paths: BTreeSet<&Vec<u8>> = wanted.index.keys().map(|(name, _)| name).collect();
        let null = "0".repeat(self.baseline.kind.digits());
        let mut edit = Edit::default();
        let mut adds = Vec::new();
        for name in paths {
            // All stages of a path belong together.
            let stages = |entries: &Entries| -> Stages {
                (0..=3)
                    .map(|stage| entries.get(&(name.clone(), stage)).cloned())
                    .collect()
            };
            let (was, now) = (stages(base), stages(host));
            let new: Stages = (0..=3)
                .zip(&was)
                .map(|(stage, was)| {
                    let change = wanted.index.get(&(name.clone(), stage));
                    change.cloned().unwrap_or_else(|| was.clone())
                })
                .collect();
            if now != new && now != was {
                let text = |stages: &Stages| {
                    stages
                        .iter()
                        .flatten()
                        .next()
                        .map(|staged| staged.oid.to_string())
                };
                let what = format!("index:{}", String::from_utf8_lossy(name));
                self.report
                    .conflict(&what, text(&was), text(&now), text(&new));
                continue;
            }
            if now != new {
                // Takes every stage away; those that stay are added again.
                line(&mut edit.input, 0, &null, 0, name);
                for (stage, staged) in (0_u8..).zip(&new) {
                    if let Some(staged) = staged {
                        line(&mut adds, staged.mode, staged.oid.as_str(), stage, name);
                    }
                }
                edit.paths += 1;
            }
            for (stage, staged) in (0_u8..).zip(new) {
                edit.agreed.push(((name.clone(), stage), staged));
            }
        }
        edit.input.extend(adds);
        edit
    }

    fn agree(&mut self, agreed: Agreed) {
        if let Ok(entries) = &mut self.baseline.index {
            for (key, staged) in agreed {
                match staged {
                    Some(staged) => entries.insert(key, staged),
                    None => entries.remove(&key),
                };
            }
        }
    }
}

/// Entries, and what both sides have there.
type Agreed = Vec<((Vec<u8>, u8), Option<Staged>)>;

/// What is staged for one path, by stage.
type Stages = Vec<Option<Staged>>;

#[derive(Default)]
struct Edit {
    /// Lines for git.
    input: Vec<u8>,
    /// How many paths they change.
    paths: usize,
    /// What both sides have when that is done.
    agreed: Agreed,
}

fn line(out: &mut Vec<u8>, mode: u32, oid: &str, stage: u8, name: &[u8]) {
    out.extend(format!("{mode:06o} {oid} {stage}\t").into_bytes());
    out.extend_from_slice(name);
    out.push(0);
}
