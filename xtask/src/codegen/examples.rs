//! Writes the pages that examples of the workspace's crates print.
//!
//! A crate lists its pages in its manifest, each with the example whose output it is:
//!
//! ```toml
//! [package.metadata.generated]
//! "docs/page.md" = "print-page"
//! ```
//!
//! A page that people write has places for what examples print. A place is named after the page, and two comments mark it:
//!
//! ```toml
//! "docs/page.md#place" = "print-table"
//! ```
//! ```md
//! <!-- generated: place -->
//! <!-- end of place -->
//! ```
//!
//! The examples run as programs of their own, and xtask depends on no crate of the workspace: if it did, a crate that
//! does not compile would take the command with it that is to report so.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::files;
use crate::workspace::{Package, Workspace};

pub(super) fn pages(workspace: &Workspace) -> Result<Vec<super::Page>> {
    // Several examples may print parts of one page.
    let mut pages: BTreeMap<PathBuf, String> = BTreeMap::new();
    for package in workspace.metadata()?.members() {
        for (page, example) in listed(package)? {
            let text = output_of(workspace, &package.name, &example)?;
            let Some((page, place)) = page.split_once('#') else {
                pages.insert(PathBuf::from(page), text);
                continue;
            };
            let before = match pages.get(Path::new(page)) {
                Some(before) => before.clone(),
                None => files::read(&workspace.path(page))?,
            };
            let after = filled(&before, place, &text).with_context(|| page.to_owned())?;
            pages.insert(PathBuf::from(page), after);
        }
    }
    Ok(pages.into_iter().collect())
}

/// The page with this text in one of its places.
fn filled(page: &str, place: &str, text: &str) -> Result<String> {
    let start = format!("<!-- generated: {place} -->\n");
    let end = format!("<!-- end of {place} -->\n");
    let (before, rest) = page
        .split_once(&start)
        .with_context(|| format!("there is no `{}`", start.trim_end()))?;
    let (_, after) = rest
        .split_once(&end)
        .with_context(|| format!("there is no `{}`", end.trim_end()))?;
    Ok(format!("{before}{start}{text}{end}{after}"))
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

    #[test]
    fn a_place_is_filled_and_the_rest_is_left_alone() {
        let page = "a\n<!-- generated: b -->\nold\n<!-- end of b -->\nc\n";
        let filled_once = filled(page, "b", "| new |\n").unwrap();
        assert_eq!(
            filled_once,
            "a\n<!-- generated: b -->\n| new |\n<!-- end of b -->\nc\n"
        );
        assert_eq!(filled(&filled_once, "b", "| new |\n").unwrap(), filled_once);
        let error = filled(page, "d", "").unwrap_err();
        assert_eq!(error.to_string(), "there is no `<!-- generated: d -->`");
        let error = filled("<!-- generated: d -->\n", "d", "").unwrap_err();
        assert_eq!(error.to_string(), "there is no `<!-- end of d -->`");
    }
}
