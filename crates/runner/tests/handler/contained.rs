//! Commands that were wrapped are really contained, by whoever spawns them.

use std::process::{Command, Output};

use palisade_policy::{Availability, CanonicalSandboxPolicy, CommandSpec, ExecEnv, SandboxType};
use palisade_runner::select::SandboxManager;

use crate::stage::{SECRET, Stage, helper};

fn spawn(env: ExecEnv) -> Output {
    Command::new(env.program)
        .args(env.args)
        .current_dir(env.cwd)
        .env_clear()
        .envs(env.env)
        .output()
        .unwrap()
}

/// Writes inside and outside, and reads a secret.
fn probing(stage: &Stage) -> CommandSpec {
    let script = "echo in > inside; echo out > \"$1\"; cat \"$2\"; echo \"pid $$\"";
    CommandSpec::new("/bin/sh")
        .with_args(["-c", script, "sh"])
        .with_cwd(stage.path("workspace"))
        .with_env(stage.environment())
}

fn spec(stage: &Stage) -> CommandSpec {
    let mut spec = probing(stage);
    spec.args.push(stage.path("outside/file").into());
    spec.args.push(stage.path("home/.ssh/id_ed25519").into());
    spec
}

#[test]
fn a_transformed_command_is_contained_whatever_its_own_environment_says() {
    let Some(helper) = helper() else { return };
    let stage = Stage::new();
    let manager = SandboxManager::new(&stage.host());
    assert_eq!(manager.availability(), &Availability::Works);
    // The policy lets `$TMPDIR` be written: that is the host's, not the one that the command brings.
    let root = stage.workspace();
    let policy = CanonicalSandboxPolicy::workspace_write([root.clone()]).with_host_tmp(true, false);
    let env = manager
        .transform(
            spec(&stage),
            &policy,
            SandboxType::LinuxLandlock,
            &root,
            Some(helper),
        )
        .unwrap();
    assert!(env.sandbox_active);
    let output = spawn(env);
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stdout.contains("pid "), "it ran: {stdout}{stderr}");
    assert!(stage.path("workspace/inside").exists(), "{stderr}");
    assert!(!stage.path("outside/file").exists(), "{stderr}");
    assert!(!stdout.contains(SECRET), "{stdout}");
}

#[test]
fn without_a_sandbox_the_same_command_does_all_of_it() {
    let stage = Stage::new();
    let manager = SandboxManager::new(&stage.host());
    let env = manager
        .transform(
            spec(&stage),
            &CanonicalSandboxPolicy::full_access(),
            SandboxType::None,
            &stage.workspace(),
            None,
        )
        .unwrap();
    assert!(!env.sandbox_active);
    let output = spawn(env);
    assert!(stage.path("workspace/inside").exists());
    assert!(stage.path("outside/file").exists());
    assert!(String::from_utf8_lossy(&output.stdout).contains(SECRET));
}

#[test]
fn the_home_of_the_user_database_is_guarded_as_well() {
    let Some(helper) = helper() else { return };
    let stage = Stage::new();
    std::fs::create_dir(stage.path("other-home/.ssh")).unwrap();
    std::fs::write(stage.path("other-home/.ssh/id_ed25519"), SECRET).unwrap();
    let mut host = stage.host();
    host.other_home = Some(stage.absolute("other-home"));
    let mut spec = probing(&stage);
    spec.args.push(stage.path("workspace/out").into());
    spec.args
        .push(stage.path("other-home/.ssh/id_ed25519").into());
    for policy in [
        CanonicalSandboxPolicy::read_only(),
        CanonicalSandboxPolicy::workspace_write([stage.workspace()]),
    ] {
        let env = SandboxManager::new(&host)
            .transform(
                spec.clone(),
                &policy,
                SandboxType::LinuxLandlock,
                &stage.workspace(),
                Some(helper),
            )
            .unwrap();
        let output = spawn(env);
        let stdout = String::from_utf8_lossy(&output.stdout);
        assert!(
            stdout.contains("pid ") && !stdout.contains(SECRET),
            "{stdout}"
        );
    }
}

#[test]
fn wrapped_words_are_contained_too() {
    let Some(helper) = helper() else { return };
    let stage = Stage::new();
    let manager = SandboxManager::new(&stage.host());
    let argv = ["/bin/sh", "-c", "echo x > inside; echo ran"];
    let policy = CanonicalSandboxPolicy::read_only();
    let words = manager
        .wrap(argv, &policy, &stage.workspace(), Some(helper))
        .unwrap();
    let output = Command::new(&words[0])
        .args(&words[1..])
        .current_dir(stage.path("workspace"))
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "ran\n");
    assert!(!stage.path("workspace/inside").exists());
}
