//! What people agreed to open for a project, beyond its policy.
//!
//! A file of its own: the approvals file answers questions of rules and belongs to the rule language, while a grant is
//! a part of a sandbox policy and is written as such.

use std::path::{Path, PathBuf};

use palisade_exec_policy::approvals::Moment;
use palisade_policy::{AbsolutePath, CanonicalSandboxPolicy, Grant};
use serde::{Deserialize, Serialize};

use super::error::ConfigError;
use super::kept::KeptFile;

const MAX: usize = 4 << 20;
const VERSION: u32 = 1;

/// The grants of one user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrantsFile {
    file: KeptFile,
}

/// A grant that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredGrant {
    /// The canonical root of the project for which it holds.
    pub project: AbsolutePath,
    /// What may be touched.
    pub grant: Grant,
    /// When somebody agreed.
    pub date: Moment,
    /// From when on it no longer holds; `None`: it does until it is removed.
    pub expires: Option<Moment>,
}

impl StoredGrant {
    /// A grant for a project, until it is removed.
    #[must_use]
    pub const fn new(project: AbsolutePath, grant: Grant, date: Moment) -> Self {
        Self {
            project,
            grant,
            date,
            expires: None,
        }
    }

    /// The same, but only until then.
    #[must_use]
    pub const fn until(mut self, expires: Moment) -> Self {
        self.expires = Some(expires);
        self
    }

    /// The same, but only until so many seconds after the start of 1970, as an answer to a question says it.
    ///
    /// # Errors
    /// The time is after 9999.
    pub fn until_unix(self, expires: Option<u64>) -> Result<Self, ConfigError> {
        let Some(expires) = expires else {
            return Ok(self);
        };
        let seconds = i64::try_from(expires).unwrap_or(i64::MAX);
        Ok(self.until(Moment::from_unix(seconds)?))
    }

    /// Whether it holds at this time: not before its date, and not from its expiry on.
    #[must_use]
    pub fn holds_at(&self, now: Moment) -> bool {
        self.date <= now && !self.is_over(now)
    }

    fn is_over(&self, now: Moment) -> bool {
        self.expires.is_some_and(|expires| expires <= now)
    }

    fn is_about_the_same(&self, other: &Self) -> bool {
        self.project == other.project && self.grant == other.grant
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    version: u32,
    grants: Vec<WrittenGrant>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenGrant {
    project: AbsolutePath,
    grant: Grant,
    date: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires: Option<String>,
}

impl GrantsFile {
    pub(super) fn new(directory: &Path) -> Self {
        Self {
            file: KeptFile::new(directory, "grants.json", MAX),
        }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.file.path()
    }

    /// Everything that is kept, in the order of the file.
    ///
    /// # Errors
    /// The file cannot be read, is not the user's own, or is not understood. It is left as it is.
    pub fn read(&self) -> Result<Vec<StoredGrant>, ConfigError> {
        self.parse(&self.file.read()?)
    }

    /// What holds for a project now.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn grants_for(
        &self,
        project: &AbsolutePath,
        now: Moment,
    ) -> Result<Vec<Grant>, ConfigError> {
        let all = self.read()?.into_iter();
        let here = all.filter(|stored| stored.project == *project && stored.holds_at(now));
        Ok(here.map(|stored| stored.grant).collect())
    }

    /// Keeps a grant, or renews the dates of the same one. What is over at its date is dropped. Says whether anything
    /// changed.
    ///
    /// # Errors
    /// As [`read`](Self::read); or no sandbox could ever give this grant, or the file cannot be written. Nothing was
    /// changed.
    pub fn keep(&self, grant: &StoredGrant) -> Result<bool, ConfigError> {
        let tried = CanonicalSandboxPolicy::read_only().with_grant(&grant.grant);
        tried.map_err(|source| ConfigError::Grant {
            grant: grant.grant.to_string(),
            source: Box::new(source),
        })?;
        self.file.update(|text| {
            let mut all = self.parse(text)?;
            if all.contains(grant) {
                return Ok(text.to_owned());
            }
            all.retain(|other| !other.is_about_the_same(grant) && !other.is_over(grant.date));
            all.push(grant.clone());
            self.write(all)
        })
    }

    /// Removes a grant from a project. Says whether it was there.
    ///
    /// # Errors
    /// As [`read`](Self::read); or the file cannot be written. Nothing was changed.
    pub fn remove(&self, project: &AbsolutePath, grant: &Grant) -> Result<bool, ConfigError> {
        self.file.update(|text| {
            let mut all = self.parse(text)?;
            let before = all.len();
            all.retain(|other| other.project != *project || other.grant != *grant);
            match all.len() == before {
                true => Ok(text.to_owned()),
                false => self.write(all),
            }
        })
    }

    fn parse(&self, text: &str) -> Result<Vec<StoredGrant>, ConfigError> {
        if text.is_empty() {
            return Ok(Vec::new());
        }
        let written: Written =
            serde_json::from_str(text).map_err(|error| self.file.corrupt(error))?;
        if written.version != VERSION {
            return Err(self.file.corrupt("another version wrote it"));
        }
        let moment = |text: &str| Moment::parse(text).map_err(|error| self.file.corrupt(error));
        let grants = written.grants.into_iter();
        let read = grants.map(|written| {
            Ok(StoredGrant {
                project: written.project,
                grant: written.grant,
                date: moment(&written.date)?,
                expires: written.expires.as_deref().map(moment).transpose()?,
            })
        });
        read.collect()
    }

    fn write(&self, all: Vec<StoredGrant>) -> Result<String, ConfigError> {
        let grants = all.into_iter().map(|stored| WrittenGrant {
            project: stored.project,
            grant: stored.grant,
            date: stored.date.to_string(),
            expires: stored.expires.map(|expires| expires.to_string()),
        });
        let written = Written {
            version: VERSION,
            grants: grants.collect(),
        };
        let text = serde_json::to_string_pretty(&written);
        text.map(|text| text + "\n")
            .map_err(|error| self.file.corrupt(error))
    }
}
