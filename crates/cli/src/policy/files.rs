//! Which policy files a command is about: those in force, or one that is named.

use std::path::{Path, PathBuf};

use palisade::runner::config::{self, DraftPolicy};
use palisade::runner::exec_policy::language::{Layer, LoadedPolicy};
use palisade::runner::exec_policy::matching::PlaceFacts;
use palisade::runner::judge::example_place;

use super::LayerName;
use crate::complaint::Complaint;
use crate::ground::{PolicyFlags, Site, config_complaint, errors_complaint, file_complaint};

/// The files of every layer here, or one file with the built-in rules.
pub(super) fn find(
    file: Option<&Path>,
    layer: Option<LayerName>,
) -> Result<DraftPolicy, Complaint> {
    match file {
        Some(file) => one(file, layer),
        None => {
            let site = Site::find(&PolicyFlags::default())?;
            config::drafts_in_force(&site.paths, &site.root)
                .map_err(|error| config_complaint(&error))
        }
    }
}

/// One file with what it includes and the built-in rules, whatever else is in force here.
pub(super) fn one(file: &Path, layer: Option<LayerName>) -> Result<DraftPolicy, Complaint> {
    let site = Site::here()?;
    let path = site.cwd.join(file);
    let layer = layer.map_or_else(|| layer_of(&path, &site), Layer::from);
    config::draft(layer, &path).map_err(|error| file_complaint(&error))
}

/// The files combined to a policy.
pub(super) fn combined(draft: &DraftPolicy) -> Result<LoadedPolicy, Complaint> {
    draft.combined().map_err(|errors| errors_complaint(&errors))
}

/// Whose file one is, by its place: a `[floor]` is understood in the administrator's only.
pub(super) fn layer_of(path: &Path, site: &Site) -> Layer {
    let in_project = path
        .parent()
        .and_then(Path::file_name)
        .is_some_and(|name| name == PROJECT_DIRECTORY);
    if site.paths.system.as_deref() == Some(path) {
        Layer::System
    } else if in_project {
        Layer::Project
    } else {
        Layer::User
    }
}

/// Where examples are judged: the same place that a policy is loaded with, so that both say the same.
pub(super) fn place() -> Result<PlaceFacts, Complaint> {
    example_place().map_err(Complaint::failed)
}

/// The directory of a project's policy.
pub(super) const PROJECT_DIRECTORY: &str = ".palisade";
/// What a layer's file is called.
pub(super) const POLICY_FILE: &str = "policy.toml";

/// The file of a project's policy.
pub(super) fn project_file(root: &Path) -> PathBuf {
    root.join(PROJECT_DIRECTORY).join(POLICY_FILE)
}
