//! Step `public-api`: public signatures name only our own types, the standard library's and serde's traits.
//!
//! A third-party type in a signature makes every upgrade of that crate a breaking change of ours. What a signature
//! names is read from rustdoc's JSON, which the pinned compiler writes only when told that it may use unstable
//! options; the format is versioned, and a version that is not known here is refused rather than guessed at.

mod document;
mod walk;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use anyhow::Result;

use self::document::Document;
use super::Outcome;
use crate::files;
use crate::process;
use crate::workspace::{Package, Workspace};

/// Crates whose types anyone may name.
const EVERYWHERE: &[&str] = &["std", "core", "alloc", "serde", "serde_core"];

/// Crates whose types one package may name. Nothing depends on the crate of evidence but its own program.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("palisade-runner", "tokio"),
    ("palisade-conformance", "anyhow"),
];

pub(super) fn run(workspace: &Workspace) -> Result<Outcome> {
    let metadata = workspace.metadata()?;
    let ours = library_crates(metadata.members());
    // A folder of its own: the variable below makes build scripts of dependencies run again.
    let target = metadata.target_directory.join("public-api");
    let mut failures = String::new();
    let mut checked = 0;
    for package in metadata.members() {
        let Some(library) = package.library() else {
            continue;
        };
        let captured = process::capture(rustdoc(workspace, package, &ours, &target))?;
        if !captured.success {
            failures.push_str(&captured.report());
            continue;
        }
        let file = format!("{}.json", library.name.replace('-', "_"));
        let document = Document::parse(&files::read(&target.join("doc").join(file))?)?;
        for leak in walk::leaks(&document, &allowed(package, &ours)) {
            failures.push_str(&format!("{}: {leak}\n", package.name));
        }
        checked += 1;
    }
    if failures.is_empty() {
        Ok(Outcome::passed_with(format!("{checked} libraries")))
    } else {
        Ok(Outcome::Failed(failures))
    }
}

fn rustdoc(
    workspace: &Workspace,
    package: &Package,
    ours: &BTreeSet<String>,
    target: &Path,
) -> Command {
    let mut command = workspace.cargo(&[
        "rustdoc",
        "--quiet",
        "--package",
        &package.name,
        "--lib",
        "--all-features",
    ]);
    command
        .arg("--target-dir")
        .arg(target)
        .args(["--", "-Zunstable-options", "--output-format", "json"])
        // Unstable options for our crates alone; always the same list, so that nothing is built again.
        .env(
            "RUSTC_BOOTSTRAP",
            ours.iter().cloned().collect::<Vec<_>>().join(","),
        );
    command
}

fn library_crates<'a>(members: impl Iterator<Item = &'a Package>) -> BTreeSet<String> {
    let libraries = members.filter_map(|package| package.library());
    libraries
        .map(|library| library.name.replace('-', "_"))
        .collect()
}

fn allowed(package: &Package, ours: &BTreeSet<String>) -> BTreeSet<String> {
    let exceptions = EXCEPTIONS.iter().filter(|(name, _)| *name == package.name);
    let foreign = EVERYWHERE
        .iter()
        .chain(exceptions.map(|(_, allowed)| allowed));
    foreign
        .map(|&name| name.to_owned())
        .chain(ours.iter().cloned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::fixtures::package;

    #[test]
    fn tokio_is_for_the_runner_alone() {
        let ours = BTreeSet::from(["palisade_policy".to_owned()]);
        assert!(allowed(&package("palisade-runner", &[]), &ours).contains("tokio"));
        let policy = allowed(&package("palisade-policy", &[]), &ours);
        assert!(!policy.contains("tokio"));
        assert!(policy.contains("palisade_policy"));
        assert!(policy.contains("serde"));
    }
}
