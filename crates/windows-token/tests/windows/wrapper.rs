//! The wrapper as a program: it runs a command confined, or not at all.

use std::process::{Command, Output};

use palisade_policy::Guarantee;

use super::{CHILD, WRAPPER, World, program};

/// What a wrapper ends with that ran nothing.
const NOT_RUN: Option<i32> = Some(125);

fn wrap(world: &World, options: &[&str], command: &[&str]) -> Output {
    let policy = serde_json::to_string(&world.policy()).unwrap();
    Command::new(program(WRAPPER))
        .arg("--sandbox-policy-cwd")
        .arg(&world.root)
        .args(["--sandbox-policy", &policy])
        .arg("--host-home")
        .arg(world.base.join("home"))
        .arg("--state-directory")
        .arg(world.base.join("state"))
        .args(options)
        .arg("--")
        .arg(program(CHILD))
        .args(command)
        .output()
        .unwrap()
}

fn all_losses() -> Vec<&'static str> {
    Guarantee::ALL
        .into_iter()
        .flat_map(|guarantee| ["--accept-loss", guarantee.name()])
        .collect()
}

#[test]
fn a_wrapped_command_runs_confined_or_not_at_all() {
    let world = World::new();
    let proof = world.base.join("proof");
    let output = wrap(&world, &all_losses(), &["write", proof.to_str().unwrap()]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!proof.exists(), "it was outside");
    match world.start() {
        Ok(_) => {
            assert_eq!(output.status.code(), Some(0), "{said}");
            assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "error 5");
        }
        Err(error) => {
            assert_eq!(output.status.code(), NOT_RUN, "{said}");
            assert_eq!(said.trim(), format!("palisade: {error}"));
            assert!(said.contains("cannot restrict"), "{said}");
            assert_eq!(output.stdout, b"");
        }
    }
    let journal = std::fs::read(world.base.join("state").join("journal")).unwrap();
    assert_eq!(journal, b"");
}

#[test]
fn a_wrapper_refuses_what_nobody_accepted_and_says_what_would_help() {
    let world = World::new();
    let output = wrap(&world, &[], &["exit", "0"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), NOT_RUN);
    for guarantee in [Guarantee::Network, Guarantee::SystemCalls] {
        assert!(
            said.contains(&format!("--accept-loss {guarantee}")),
            "{said}"
        );
    }
}

#[test]
fn a_wrapper_refuses_options_that_mean_nothing_here() {
    let world = World::new();
    for (options, expected) in [
        (vec!["--status-fd", "3"], "`--status-fd` is not an option"),
        (vec!["--no-sandbox"], "`--no-sandbox` is not an option"),
        (vec!["--seccomp-profile", "{}"], "--seccomp-profile"),
        (vec!["--accept-loss", "all"], "`all` is not a guarantee"),
    ] {
        let output = wrap(&world, &options, &["exit", "0"]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), NOT_RUN, "{said}");
        assert!(said.contains(expected), "{options:?}: {said}");
    }
}
