//! Rules for manifests: the root says what each member is for, every member takes the workspace's lints, and xtask
//! depends on none of those it judges.

use std::path::Path;

use anyhow::{Context, Result};
use toml::{Table, Value};

use super::Finding;
use crate::files;

pub(super) fn check(root: &Path) -> Result<Vec<Finding>> {
    let manifest = files::read(&root.join("Cargo.toml"))?;
    let mut findings = check_member_comments(&manifest);
    for member in members(&manifest)? {
        let path = format!("{member}/Cargo.toml");
        let manifest: Table = files::read(&root.join(&path))?
            .parse()
            .with_context(|| path.clone())?;
        if !inherits_lints(&manifest) {
            findings.push(Finding::new(&path, 1, "lacks `[lints] workspace = true`"));
        }
        if member == "xtask" {
            findings.extend(check_independence(&path, &manifest));
        }
    }
    Ok(findings)
}

/// The list of members is the map of the repository, so each line of it explains itself.
fn check_member_comments(manifest: &str) -> Vec<Finding> {
    let lines = (1..).zip(manifest.lines().map(str::trim));
    let list = lines
        .skip_while(|(_, line)| !line.starts_with("members"))
        .take_while(|(_, line)| *line != "]");
    let undocumented = list.filter(|(_, line)| line.contains('"') && !has_comment(line));
    undocumented
        .map(|(line, _)| {
            Finding::new(
                "Cargo.toml",
                line,
                "a member without a comment: say what it is for",
            )
        })
        .collect()
}

fn has_comment(line: &str) -> bool {
    line.split_once('#')
        .is_some_and(|(_, comment)| !comment.trim().is_empty())
}

fn members(manifest: &str) -> Result<Vec<String>> {
    let manifest: Table = manifest.parse().context("Cargo.toml")?;
    let members = manifest
        .get("workspace")
        .and_then(|workspace| workspace.get("members")?.as_array());
    let members = members.context("Cargo.toml lists no members")?;
    Ok(members
        .iter()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect())
}

/// If xtask needed a crate of ours, a mistake in that crate would keep xtask from running and naming the mistake.
fn check_independence(path: &str, manifest: &Table) -> Vec<Finding> {
    let dependencies = manifest.get("dependencies").and_then(Value::as_table);
    let names = dependencies.into_iter().flat_map(Table::keys);
    names
        .filter(|name| name.starts_with("palisade"))
        .map(|name| {
            Finding::new(
                path,
                1,
                format!("depends on `{name}`, and could not run to report that it is broken"),
            )
        })
        .collect()
}

fn inherits_lints(manifest: &Table) -> bool {
    let inherited = manifest
        .get("lints")
        .and_then(|lints| lints.get("workspace")?.as_bool());
    inherited == Some(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str = r#"
[workspace]
members = [
    "crates/policy", # what a command may touch
    "crates/runner",
    "xtask",         #
]
exclude = ["fuzz"]
"#;

    #[test]
    fn every_member_is_explained() {
        let lines: Vec<_> = check_member_comments(MANIFEST)
            .iter()
            .map(|finding| finding.line)
            .collect();
        assert_eq!(lines, [5, 6]);
    }

    #[test]
    fn members_are_read_from_the_manifest() {
        assert_eq!(
            members(MANIFEST).unwrap(),
            ["crates/policy", "crates/runner", "xtask"]
        );
    }

    #[test]
    fn lints_are_inherited_or_not() {
        assert!(inherits_lints(
            &"[lints]\nworkspace = true".parse().unwrap()
        ));
        assert!(!inherits_lints(
            &"[lints.clippy]\nall = 'allow'".parse().unwrap()
        ));
    }

    #[test]
    fn xtask_depends_on_none_of_ours() {
        let found =
            |text: &str| check_independence("xtask/Cargo.toml", &text.parse().unwrap()).len();
        assert_eq!(found("[dependencies]\nanyhow.workspace = true"), 0);
        assert_eq!(found("[dependencies]\npalisade-policy.workspace = true"), 1);
    }
}
