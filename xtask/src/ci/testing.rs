//! Steps `test` and `doctest`: the tests pass, and there are some.

use std::process::Command;

use anyhow::Result;

use super::Outcome;
use crate::process;
use crate::workspace::Workspace;

pub(super) fn run(workspace: &Workspace) -> Result<Outcome> {
    let all_features = test_command(workspace, &["--all-features", "--tests", "--examples"]);
    let mut commands = vec![all_features];
    // Dependents that name no features get the defaults, so those are tested too if they are something else.
    if !workspace
        .metadata()?
        .members()
        .all(|package| package.default_is_everything())
    {
        commands.push(test_command(workspace, &["--tests", "--examples"]));
    }
    run_and_count(commands)
}

pub(super) fn run_doctests(workspace: &Workspace) -> Result<Outcome> {
    run_and_count([test_command(workspace, &["--all-features", "--doc"])])
}

fn test_command(workspace: &Workspace, args: &[&str]) -> Command {
    let mut command = workspace.cargo(&["test", "--workspace", "--no-fail-fast"]);
    command
        .args(args)
        // A stale snapshot fails, and leaves no `.snap.new` behind.
        .env("INSTA_UPDATE", "no")
        .env_remove("INSTA_FORCE_PASS");
    // The same cases on every machine: a build that turns red on its own tells nobody what broke it.
    if std::env::var_os("PROPTEST_RNG_SEED").is_none() {
        command.env("PROPTEST_RNG_SEED", "20261116");
    }
    command
}

fn run_and_count(commands: impl IntoIterator<Item = Command>) -> Result<Outcome> {
    let mut passed = 0;
    let mut failures = String::new();
    for command in commands {
        let captured = process::capture(command)?;
        let count = passed_tests(&captured.text);
        if !captured.success || count == 0 {
            failures.push_str(&captured.report());
        }
        if captured.success && count == 0 {
            failures.push_str("no test ran, which proves nothing\n");
        }
        passed += count;
    }
    if failures.is_empty() {
        Ok(Outcome::passed_with(format!("{passed} tests")))
    } else {
        Ok(Outcome::Failed(failures))
    }
}

/// The sum over the lines `test result: ok. 12 passed; 0 failed; ...`, one per test binary.
pub(super) fn passed_tests(output: &str) -> usize {
    output
        .lines()
        .filter_map(|line| line.strip_prefix("test result: ")?.split_once(". "))
        .filter_map(|(_, counts)| counts.split_once(" passed")?.0.parse::<usize>().ok())
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_of_all_binaries_are_added() {
        let output = "\
running 2 tests
test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
test result: FAILED. 40 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
";
        assert_eq!(passed_tests(output), 42);
        assert_eq!(passed_tests("running 0 tests\n"), 0);
    }
}
