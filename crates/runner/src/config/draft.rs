//! Policy files that are looked at, and decide nothing: for tools that test, check and compare policies.

use std::path::Path;

use palisade_exec_policy::RulesError;
use palisade_exec_policy::language::{
    Layer, LoadContext, LoadedPolicy, PolicyErrors, PolicyFile, Trust, load,
};
use palisade_exec_policy::matching::builtin;

use super::configuration::{Reading, UsedSource};
use super::error::{ConfigError, FileProblem};
use super::layer::{Access, collect};
use super::paths::ConfigPaths;
use super::trust::canonical;

/// Policy files that were read and understood, each by itself. Nobody has held them to their examples yet, so that a tool
/// can say which do not hold.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DraftPolicy {
    /// The files, the built-in ones first.
    pub files: Vec<PolicyFile>,
    /// What their includes stand for.
    pub context: LoadContext,
    /// Where they are, without the built-in ones.
    pub sources: Vec<UsedSource>,
}

impl DraftPolicy {
    /// The files combined.
    ///
    /// # Errors
    /// They do not load together.
    pub fn combined(&self) -> Result<LoadedPolicy, PolicyErrors> {
        load(self.files.clone(), &self.context)
    }

    /// With the built-in files, examples and all.
    fn of(reading: Reading) -> Result<Self, ConfigError> {
        let mut files = builtin::files().map_err(RulesError::Load)?;
        files.extend(reading.files);
        Ok(Self {
            files,
            context: reading.context,
            sources: reading.sources,
        })
    }
}

/// The files of every layer that a project runs under, but the session's.
///
/// # Errors
/// A file cannot be read or is not understood, or could be changed by others.
pub fn drafts_in_force(paths: &ConfigPaths, project: &Path) -> Result<DraftPolicy, ConfigError> {
    let root = canonical(project)?;
    let (reading, _) = Reading::layers(paths, &root)?;
    DraftPolicy::of(reading)
}

/// One file with what it includes, as if it were a file of this layer that somebody agreed to, and the built-in rules.
///
/// It is not in force, so whose it is and who can write it does not matter.
///
/// # Errors
/// The file is not there, cannot be read or is not understood.
pub fn draft(layer: Layer, file: &Path) -> Result<DraftPolicy, ConfigError> {
    let mut reading = Reading::default();
    let Some(files) = collect(layer, file, &Access::Anywhere)? else {
        let missing = std::io::ErrorKind::NotFound;
        let missing = std::io::Error::new(missing, "there is no such file");
        return Err(ConfigError::file(file, FileProblem::Io(missing)));
    };
    reading.add_layer(layer, files, Trust::Trusted);
    DraftPolicy::of(reading)
}
