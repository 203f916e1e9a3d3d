//! The workspace as Cargo describes it: where it is, which packages it has, on which features and crates they depend.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::process;

pub(crate) struct Workspace {
    root: PathBuf,
    metadata: OnceCell<Metadata>,
}

impl Workspace {
    pub(crate) fn locate() -> Result<Self> {
        // At run time first: a binary from a shared target directory may have been built for another clone.
        let xtask = std::env::var_os("CARGO_MANIFEST_DIR")
            .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
        let root = xtask
            .parent()
            .context("xtask has no parent folder")?
            .to_path_buf();
        Ok(Self {
            root,
            metadata: OnceCell::new(),
        })
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn path(&self, relative: impl AsRef<Path>) -> PathBuf {
        self.root.join(relative)
    }

    /// The workspace and everything it depends on, on all platforms.
    pub(crate) fn metadata(&self) -> Result<&Metadata> {
        if let Some(metadata) = self.metadata.get() {
            return Ok(metadata);
        }
        let metadata = self.metadata_of("Cargo.toml")?;
        Ok(self.metadata.get_or_init(|| metadata))
    }

    /// The same for another manifest of the repository.
    pub(crate) fn metadata_of(&self, manifest: &str) -> Result<Metadata> {
        let arguments = [
            "metadata",
            "--format-version=1",
            "--all-features",
            "--manifest-path",
        ];
        let output = self
            .cargo(&arguments)
            .arg(manifest)
            .output()
            .context("cargo metadata")?;
        if !output.status.success() {
            bail!(
                "cargo metadata of {manifest}: {}",
                String::from_utf8_lossy(&output.stderr)
            );
        }
        serde_json::from_slice(&output.stdout)
            .with_context(|| format!("cargo metadata of {manifest}"))
    }

    /// The manifest of the fuzz targets, which are outside the workspace, if there are any.
    pub(crate) fn fuzz_manifest(&self) -> Option<&'static str> {
        let manifest = "fuzz/Cargo.toml";
        self.path(manifest).is_file().then_some(manifest)
    }

    pub(crate) fn cargo(&self, args: &[&str]) -> Command {
        let mut command = process::cargo();
        command.current_dir(&self.root).args(args);
        command
    }
}

#[derive(Deserialize)]
pub(crate) struct Metadata {
    pub(crate) packages: Vec<Package>,
    workspace_members: BTreeSet<String>,
    pub(crate) target_directory: PathBuf,
}

impl Metadata {
    pub(crate) fn members(&self) -> impl Iterator<Item = &Package> {
        self.packages
            .iter()
            .filter(|package| self.workspace_members.contains(&package.id))
    }
}

#[derive(Clone, Default, Deserialize)]
pub(crate) struct Package {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) license: Option<String>,
    /// Where Cargo downloads it from; nothing for a package in a folder.
    pub(crate) source: Option<String>,
    pub(crate) features: BTreeMap<String, Vec<String>>,
    pub(crate) targets: Vec<Target>,
    pub(crate) manifest_path: PathBuf,
    /// What the manifest keeps for other tools, under `[package.metadata]`.
    pub(crate) metadata: Option<serde_json::Value>,
}

#[derive(Clone, Deserialize)]
pub(crate) struct Target {
    pub(crate) name: String,
    pub(crate) kind: Vec<String>,
}

impl Target {
    pub(crate) fn is(&self, kind: &str) -> bool {
        self.kind.iter().any(|name| name == kind)
    }
}

impl Package {
    /// All features but `default`.
    pub(crate) fn named_features(&self) -> impl Iterator<Item = &str> {
        self.features
            .keys()
            .map(String::as_str)
            .filter(|&name| name != "default")
    }

    pub(crate) fn default_is_everything(&self) -> bool {
        let mut reached = BTreeSet::new();
        let mut pending = vec!["default"];
        while let Some(feature) = pending.pop() {
            if let Some(enables) = self.features.get(feature)
                && reached.insert(feature)
            {
                pending.extend(enables.iter().map(String::as_str));
            }
        }
        // What a package lists as only adding, such as a model for tests, changes nothing for those who go without.
        let additive = self.ci_list("additive");
        self.named_features()
            .all(|feature| reached.contains(feature) || additive.iter().any(|name| name == feature))
    }

    /// A list of names under `[package.metadata.ci]`.
    pub(crate) fn ci_list(&self, key: &str) -> Vec<String> {
        self.ci_array(key)
            .into_iter()
            .flatten()
            .filter_map(|name| Some(name.as_str()?.to_owned()))
            .collect()
    }

    /// Whether there is such a list, with names in it or without.
    pub(crate) fn has_ci_list(&self, key: &str) -> bool {
        self.ci_array(key).is_some()
    }

    fn ci_array(&self, key: &str) -> Option<&Vec<serde_json::Value>> {
        self.metadata.as_ref()?.get("ci")?.get(key)?.as_array()
    }

    /// Where its manifest is.
    pub(crate) fn folder(&self) -> &Path {
        self.manifest_path.parent().unwrap_or(&self.manifest_path)
    }

    pub(crate) fn library(&self) -> Option<&Target> {
        self.targets.iter().find(|target| target.is("lib"))
    }
}

#[cfg(test)]
pub(crate) mod fixtures {
    use super::*;

    /// A package with these features, each written as `name` or `name=enabled,enabled`.
    pub(crate) fn package(name: &str, features: &[&str]) -> Package {
        let features = features
            .iter()
            .map(|feature| {
                let (name, enables) = feature.split_once('=').unwrap_or((feature, ""));
                let enables = enables.split(',').filter(|name| !name.is_empty());
                (name.to_owned(), enables.map(str::to_owned).collect())
            })
            .collect();
        Package {
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            features,
            ..Package::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::fixtures::package;

    #[test]
    fn the_default_features_are_followed_to_the_end() {
        assert!(package("plain", &[]).default_is_everything());
        assert!(package("chain", &["default=a", "a=b", "b"]).default_is_everything());
        assert!(!package("partial", &["default=a", "a", "b"]).default_is_everything());
        assert!(!package("opt-in", &["a"]).default_is_everything());
    }
}
