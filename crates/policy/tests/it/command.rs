//! Commands and their time.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::time::Duration;

use palisade_policy::{
    CommandSpec, Environment, ExecExpiration, ResourceLimits, SandboxPermissions,
    SandboxTransformError, SandboxType,
};

#[test]
fn a_new_command_has_nothing_but_a_program() {
    let spec = CommandSpec::new("git");
    assert_eq!(spec.program, "git");
    assert!(spec.args.is_empty() && spec.env.is_empty() && spec.justification.is_none());
    assert_eq!(spec.cwd.as_os_str(), "");
    assert_eq!(spec.expiration, ExecExpiration::DefaultTimeout);
    assert_eq!(spec.sandbox_permissions, SandboxPermissions::UseDefault);
}

#[test]
fn setters_replace() {
    let env = |name: &str| Environment::from([(name.into(), "1".into())]);
    let spec = CommandSpec::new("git")
        .with_args(["a", "b"])
        .with_args(["status"])
        .with_env(env("A"))
        .with_env(env("B"))
        .with_cwd("/a")
        .with_cwd("/b")
        .with_expiration(ExecExpiration::Timeout(1))
        .with_expiration(ExecExpiration::Cancellation)
        .with_sandbox_permissions(SandboxPermissions::RequireEscalated)
        .with_justification("because");
    assert_eq!(spec.args, ["status"]);
    assert_eq!(spec.env, env("B"));
    assert_eq!(spec.cwd.to_str(), Some("/b"));
    assert_eq!(spec.expiration, ExecExpiration::Cancellation);
    assert_eq!(
        spec.sandbox_permissions,
        SandboxPermissions::RequireEscalated
    );
    assert_eq!(spec.justification.as_deref(), Some("because"));
}

#[test]
fn what_is_not_unicode_stays_as_it_is() {
    let raw = OsString::from_vec(vec![b'a', 0xff, b'b']);
    let spec = CommandSpec::new(raw.clone()).with_args([raw.clone()]);
    assert_eq!(spec.program, raw);
    assert_eq!(spec.args, [raw]);
}

#[test]
fn expirations_convert_and_count() {
    assert_eq!(ExecExpiration::from(Some(5)), ExecExpiration::Timeout(5));
    assert_eq!(ExecExpiration::from(None), ExecExpiration::DefaultTimeout);
    assert_eq!(ExecExpiration::Timeout(5).timeout_ms(), Some(5));
    assert_eq!(ExecExpiration::DefaultTimeout.timeout_ms(), Some(30_000));
    assert_eq!(ExecExpiration::Cancellation.timeout_ms(), None);
}

#[test]
fn the_smaller_of_request_and_policy_counts_and_the_default_only_without_both() {
    let default = Duration::from_secs(30);
    let policy = |secs| ResourceLimits::unlimited().with_timeout_secs(secs);
    let wall = |expiration: ExecExpiration, secs| {
        expiration
            .effective_wall(&policy(secs), default)
            .map(|wall| wall.as_secs())
    };
    assert_eq!(wall(ExecExpiration::Timeout(10_000), 60), Some(10));
    assert_eq!(wall(ExecExpiration::Timeout(90_000), 60), Some(60));
    assert_eq!(wall(ExecExpiration::Timeout(90_000), 0), Some(90));
    assert_eq!(wall(ExecExpiration::DefaultTimeout, 300), Some(300));
    assert_eq!(wall(ExecExpiration::DefaultTimeout, 0), Some(30));
    assert_eq!(wall(ExecExpiration::Cancellation, 60), Some(60));
    assert_eq!(wall(ExecExpiration::Cancellation, 0), None);
}

#[test]
fn errors_of_wrapping_say_what_is_missing() {
    let texts = [
        SandboxTransformError::MissingSandboxExecutable.to_string(),
        SandboxTransformError::UnavailableSandboxType(SandboxType::LinuxLandlock).to_string(),
        SandboxTransformError::CreationFailed("fork: EAGAIN".into()).to_string(),
    ];
    assert_eq!(
        texts,
        [
            "the sandbox helper executable is missing",
            "Landlock is not available on this host",
            "the sandbox could not be created: fork: EAGAIN",
        ]
    );
}
