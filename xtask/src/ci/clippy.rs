//! Step `clippy`: no warnings, in any combination of features that differs from the ones already seen.

use anyhow::Result;

use super::Outcome;
use crate::process;
use crate::workspace::{Package, Workspace};

pub(super) fn run(workspace: &Workspace) -> Result<Outcome> {
    let members: Vec<_> = workspace.metadata()?.members().collect();
    let commands = plan(&members).into_iter().map(|selection| {
        let mut command = workspace.cargo(&["clippy", "--quiet"]);
        command.args(selection).args(["--", "-D", "warnings"]);
        command
    });
    process::run_each(commands)
}

/// The package and feature arguments of each run.
fn plan(members: &[&Package]) -> Vec<Vec<String>> {
    let mut runs = vec![words("--workspace --all-features --all-targets")];
    if members.iter().any(|package| !package.features.is_empty()) {
        runs.push(words("--workspace --no-default-features --all-targets"));
    }
    for package in members {
        let features: Vec<_> = package.named_features().collect();
        // A single feature alone is all features, and those were the first run. Tests are for all features or for none.
        if features.len() > 1 {
            for feature in features {
                let name = &package.name;
                runs.push(words(&format!(
                    "--package {name} --no-default-features --features {feature}"
                )));
            }
        }
    }
    runs
}

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::fixtures::package;

    #[track_caller]
    fn check(members: &[Package], expected: &[&str]) {
        let members: Vec<_> = members.iter().collect();
        let runs: Vec<_> = plan(&members).iter().map(|run| run.join(" ")).collect();
        assert_eq!(runs, expected);
    }

    #[test]
    fn without_features_one_run_is_enough() {
        check(
            &[package("a", &[]), package("b", &[])],
            &["--workspace --all-features --all-targets"],
        );
    }

    #[test]
    fn a_single_feature_alone_is_all_features() {
        check(
            &[package("a", &["default=x", "x"])],
            &[
                "--workspace --all-features --all-targets",
                "--workspace --no-default-features --all-targets",
            ],
        );
    }

    #[test]
    fn several_features_are_each_tried_alone() {
        check(
            &[package("a", &[]), package("b", &["default", "x", "y"])],
            &[
                "--workspace --all-features --all-targets",
                "--workspace --no-default-features --all-targets",
                "--package b --no-default-features --features x",
                "--package b --no-default-features --features y",
            ],
        );
    }
}
