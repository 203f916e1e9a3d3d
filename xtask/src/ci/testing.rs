//! Steps `test` and `doctest`: the tests pass, and there are some.

use std::process::Command;

use anyhow::Result;

use super::Outcome;
use crate::process;
use crate::workspace::Workspace;

pub(super) fn run(workspace: &Workspace) -> Result<Outcome> {
    let everything = ["--workspace", "--all-features", "--tests", "--examples"];
    let all_features = test_command(workspace, &everything);
    let mut commands = vec![all_features];
    // Dependents that name no features get the defaults, so those are tested too if they are something else.
    if !workspace
        .metadata()?
        .members()
        .all(|package| package.default_is_everything())
    {
        commands.push(test_command(
            workspace,
            &["--workspace", "--tests", "--examples"],
        ));
    }
    run_and_count(commands)
}

pub(super) fn run_doctests(workspace: &Workspace) -> Result<Outcome> {
    run_and_count([test_command(
        workspace,
        &["--workspace", "--all-features", "--doc"],
    )])
}

/// `cargo test` with the environment that makes its result depend on the code alone.
pub(crate) fn test_command(workspace: &Workspace, args: &[&str]) -> Command {
    let mut command = workspace.cargo(&["test", "--no-fail-fast"]);
    command
        .args(args)
        // A stale snapshot fails, and leaves no `.snap.new` behind.
        .env("INSTA_UPDATE", "no")
        .env_remove("INSTA_FORCE_PASS");
    // The same cases on every machine: a build that turns red on its own tells nobody what broke it.
    if std::env::var_os("PROPTEST_RNG_SEED").is_none() {
        command.env("PROPTEST_RNG_SEED", "20261116");
    }
    // What leaks with every command shows after thousands; twenty thousand, the default, are for those who have the time.
    if std::env::var_os("PALISADE_TEST_LOAD_SEQUENCE").is_none() {
        command.env("PALISADE_TEST_LOAD_SEQUENCE", "4000");
    }
    command
}

fn run_and_count(commands: impl IntoIterator<Item = Command>) -> Result<Outcome> {
    let mut passed = 0;
    let mut failures = String::new();
    let mut slowest = Vec::new();
    for command in commands {
        let captured = process::capture(command)?;
        slowest.extend(slow_programs(&captured.text));
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
        slowest.sort_by(|one, other| other.1.total_cmp(&one.1));
        slowest.truncate(5);
        let slowest: Vec<_> = slowest
            .iter()
            .map(|(name, seconds)| format!("; {name} {seconds:.0}s"))
            .collect();
        Ok(Outcome::passed_with(format!(
            "{passed} tests{}",
            slowest.concat()
        )))
    } else {
        Ok(Outcome::Failed(failures))
    }
}

/// The sum over the lines `test result: ok. 12 passed; 0 failed; ...`, one per test binary.
pub(crate) fn passed_tests(output: &str) -> usize {
    output
        .lines()
        .filter_map(|line| line.strip_prefix("test result: ")?.split_once(". "))
        .filter_map(|(_, counts)| counts.split_once(" passed")?.0.parse::<usize>().ok())
        .sum()
}

/// The test programs that ran for ten seconds or longer, with how long: where time can be won.
fn slow_programs(output: &str) -> Vec<(String, f64)> {
    let mut running = "";
    let mut slow = Vec::new();
    for line in output.lines() {
        if let Some(program) = line.trim_start().strip_prefix("Running ") {
            running = program;
        } else if let Some((_, rest)) = line.split_once("; finished in ")
            && let Some(seconds) = rest.trim_end_matches('s').parse::<f64>().ok()
            && seconds >= 10.0
        {
            slow.push((short_name(running), seconds));
        }
    }
    slow
}

/// `runner-1a2b` of `tests/session/main.rs (target/debug/deps/session-1a2b)` is nobody's name; `session` is.
fn short_name(running: &str) -> String {
    let file = running.rsplit_once('/').map_or(running, |(_, file)| file);
    let name = file.trim_end_matches(')');
    name.rsplit_once('-')
        .map_or(name, |(name, _)| name)
        .to_owned()
}

/// Why tests did not run although they passed: what they say in lines `skipped: why`.
pub(crate) fn skips(output: &str) -> impl Iterator<Item = &str> {
    output.lines().filter_map(|line| {
        // A harness that runs one test after another has begun the line.
        let begun = line
            .strip_prefix("test ")
            .and_then(|rest| rest.split_once(" ... "));
        let said = begun.map_or(line, |(_, said)| said);
        Some(said.trim_start().strip_prefix("skipped: ")?.trim_end())
    })
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

    #[test]
    fn slow_programs_are_named() {
        let output = "\
     Running unittests src/lib.rs (target/debug/deps/palisade_runner-0a1b)
test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 9.99s
     Running tests/session/main.rs (target/debug/deps/session-2c3d)
test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 71.50s
";
        assert_eq!(slow_programs(output), [("session".to_owned(), 71.5)]);
    }

    #[test]
    fn a_skip_is_found_where_the_harness_puts_it() {
        let output = "\
running 3 tests
skipped: no such kernel
test a ... skipped: no shell
ok
  skipped: no network
test says_skipped ... ok
it was not skipped: it ran
";
        let found: Vec<_> = skips(output).collect();
        assert_eq!(found, ["no such kernel", "no shell", "no network"]);
    }
}
