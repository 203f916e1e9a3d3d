//! Whose policy files people agreed to, by content: one byte more, and nobody has agreed.

use std::path::{Path, PathBuf};

use palisade_exec_policy::approvals::Moment;
use palisade_exec_policy::language::Layer;
use palisade_policy::AbsolutePath;
use serde::{Deserialize, Serialize};

use super::disk::Directory;
use super::error::{ConfigError, FileProblem};
use super::hash::ContentHash;
use super::kept::KeptFile;
use super::layer::{Access, LayerFiles, collect};
use super::paths::{POLICY_FILE, PROJECT_DIRECTORY};
use crate::host::real_path;

const MAX: usize = 4 << 20;
const VERSION: u32 = 1;

/// The policy files of a project, as somebody sees them who is asked to trust them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProjectLayer {
    /// The canonical root of the project.
    pub root: AbsolutePath,
    /// The files, the first of them the one that includes the others.
    pub files: Vec<PathBuf>,
    /// What trust is about: the names and contents of all of them.
    pub hash: ContentHash,
}

/// The policy files of a project; `None` if it has none.
///
/// # Errors
/// They cannot be read or are not understood, or lead out of the project's `.palisade`.
pub fn project_layer(project: &Path) -> Result<Option<ProjectLayer>, ConfigError> {
    let root = canonical(project)?;
    let layer = collect_project(&root)?;
    Ok(layer.map(|layer| ProjectLayer {
        root,
        files: layer.files.into_iter().map(|file| file.path).collect(),
        hash: layer.hash,
    }))
}

/// The root of a project, links resolved.
pub(super) fn canonical(project: &Path) -> Result<AbsolutePath, ConfigError> {
    let real = real_path(project);
    let real = real.map_err(|error| ConfigError::file(project, error))?;
    if !real.is_dir() {
        return Err(ConfigError::file(project, FileProblem::NotADirectory));
    }
    Ok(AbsolutePath::new(real)?)
}

/// The files of the project layer. They lie in a directory that commands cannot write, and none of them is a link to
/// somewhere that they can.
pub(super) fn collect_project(root: &AbsolutePath) -> Result<Option<LayerFiles>, ConfigError> {
    let Some(project) = Directory::open(root.as_path())? else {
        return Ok(None);
    };
    let Some(directory) = project.below(PROJECT_DIRECTORY)? else {
        return Ok(None);
    };
    let file = directory.path.join(POLICY_FILE);
    collect(Layer::Project, &file, &Access::Beneath(directory))
}

/// Which projects one user trusts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustFile {
    file: KeptFile,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    version: u32,
    projects: Vec<WrittenTrust>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenTrust {
    root: AbsolutePath,
    sha256: String,
    date: String,
}

impl TrustFile {
    pub(super) fn new(directory: &Path) -> Self {
        Self {
            file: KeptFile::new(directory, "trust.json", MAX),
        }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.file.path()
    }

    /// What the user agreed to for a project, whatever is there now.
    ///
    /// # Errors
    /// The file cannot be read, is not the user's own, or is not understood. It is left as it is.
    pub fn trusted(&self, root: &AbsolutePath) -> Result<Option<ContentHash>, ConfigError> {
        let all = self.parse(&self.file.read()?)?;
        let found = all.projects.iter().find(|trust| trust.root == *root);
        found.map(|trust| self.hash(&trust.sha256)).transpose()
    }

    /// Trusts the policy files of a project with the content that somebody saw. Says whether that is news.
    ///
    /// # Errors
    /// As [`trusted`](Self::trusted); or the project's files are no longer those, or the file cannot be written.
    pub fn trust(&self, seen: &ProjectLayer, now: Moment) -> Result<bool, ConfigError> {
        let project = seen.root.as_path().to_owned();
        match project_layer(&project)? {
            None => return Err(ConfigError::NothingToTrust { project }),
            Some(there) if there.hash != seen.hash => {
                return Err(ConfigError::ChangedSinceShown { project });
            }
            Some(_) => {}
        }
        self.file.update(|text| {
            let mut all = self.parse(text)?;
            let sha256 = seen.hash.to_string();
            let known = |trust: &WrittenTrust| trust.root == seen.root && trust.sha256 == sha256;
            if all.projects.iter().any(known) {
                return Ok(text.to_owned());
            }
            all.projects.retain(|trust| trust.root != seen.root);
            all.projects.push(WrittenTrust {
                root: seen.root.clone(),
                sha256,
                date: now.to_string(),
            });
            self.write(&all)
        })
    }

    /// Trusts a project no longer. Says whether it was trusted.
    ///
    /// # Errors
    /// As [`trusted`](Self::trusted); or the file cannot be written.
    pub fn untrust(&self, root: &AbsolutePath) -> Result<bool, ConfigError> {
        self.file.update(|text| {
            let mut all = self.parse(text)?;
            let before = all.projects.len();
            all.projects.retain(|trust| trust.root != *root);
            match all.projects.len() == before {
                true => Ok(text.to_owned()),
                false => self.write(&all),
            }
        })
    }

    fn hash(&self, text: &str) -> Result<ContentHash, ConfigError> {
        ContentHash::parse(text).ok_or_else(|| self.file.corrupt("a `sha256` that is none"))
    }

    fn parse(&self, text: &str) -> Result<Written, ConfigError> {
        if text.is_empty() {
            let version = VERSION;
            return Ok(Written {
                version,
                ..Written::default()
            });
        }
        let written: Written =
            serde_json::from_str(text).map_err(|error| self.file.corrupt(error))?;
        if written.version != VERSION {
            return Err(self.file.corrupt("another version wrote it"));
        }
        for trust in &written.projects {
            self.hash(&trust.sha256)?;
        }
        Ok(written)
    }

    fn write(&self, all: &Written) -> Result<String, ConfigError> {
        let text = serde_json::to_string_pretty(all);
        text.map(|text| text + "\n")
            .map_err(|error| self.file.corrupt(error))
    }
}
