//! Writes the pages that examples of the workspace's crates print.
//!
//! A crate lists its pages in its manifest, each with the example whose output it is:
//!
//! ```toml
//! [package.metadata.generated]
//! "docs/page.md" = "print-page"
//! ```
//!
//! The examples run as programs of their own, and xtask depends on no crate of the workspace: if it did, a crate that
//! does not compile would take the command with it that is to report so.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::workspace::{Package, Workspace};

pub(super) fn pages(workspace: &Workspace) -> Result<Vec<super::Page>> {
    let mut pages = Vec::new();
    for package in workspace.metadata()?.members() {
        for (page, example) in listed(package)? {
            let text = output_of(workspace, &package.name, &example)?;
            pages.push((PathBuf::from(page), text));
        }
    }
    Ok(pages)
}

/// The pages in a package's manifest, each with its example.
fn listed(package: &Package) -> Result<BTreeMap<String, String>> {
    let list = package
        .metadata
        .as_ref()
        .and_then(|metadata| metadata.get("generated"));
    serde_json::from_value(list.cloned().unwrap_or(Value::Object(Default::default())))
        .with_context(|| format!("[package.metadata.generated] of {}", package.name))
}

fn output_of(workspace: &Workspace, package: &str, example: &str) -> Result<String> {
    let mut command = workspace.cargo(&[
        "run",
        "--quiet",
        "--all-features",
        "--package",
        package,
        "--example",
        example,
    ]);
    // Standard output alone: the page must not depend on what Cargo has to say.
    let output = command
        .output()
        .with_context(|| format!("example {example} of {package}"))?;
    if !output.status.success() {
        let complaint = String::from_utf8_lossy(&output.stderr);
        bail!("example {example} of {package} failed:\n{complaint}");
    }
    String::from_utf8(output.stdout)
        .with_context(|| format!("output of example {example} of {package}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::workspace::fixtures::package;

    #[track_caller]
    fn list(metadata: Value) -> Result<BTreeMap<String, String>> {
        listed(&Package {
            metadata: Some(metadata),
            ..package("demo", &[])
        })
    }

    #[test]
    fn pages_are_listed_in_the_manifest() {
        let pages = list(json!({ "generated": { "docs/page.md": "print-page" } })).unwrap();
        assert_eq!(
            pages,
            BTreeMap::from([("docs/page.md".to_owned(), "print-page".to_owned())])
        );
        assert!(list(json!({ "other-tool": 1 })).unwrap().is_empty());
        assert!(listed(&package("plain", &[])).unwrap().is_empty());
    }

    #[test]
    fn a_list_of_another_form_is_an_error() {
        let error = list(json!({ "generated": ["docs/page.md"] })).unwrap_err();
        assert_eq!(error.to_string(), "[package.metadata.generated] of demo");
    }
}
