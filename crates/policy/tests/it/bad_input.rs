//! Bad input: each error names the field and the value, and nothing panics.

use palisade_policy::{
    AbsolutePath, CanonicalSandboxPolicy, HomeRoot, HostFacts, Os, PathProblem, PolicyContext,
    PolicyProblem, ResourceLimits, SandboxPolicy, SyscallName,
};
use proptest::prelude::*;

use crate::support::{abs, context, facts, root, spec, workspace};

fn error(json: &str) -> String {
    serde_json::from_str::<CanonicalSandboxPolicy>(json)
        .unwrap_err()
        .to_string()
}

#[test]
fn unknown_fields_are_named() {
    for json in [
        r#"{"type":"read_only","netwerk":true}"#,
        r#"{"type":"workspace_write","netwerk":true}"#,
        r#"{"type":"danger_full_access","netwerk":true}"#,
        r#"{"type":"external_sandbox","description":"x","netwerk":true}"#,
        r#"{"type":"read_only","paths":{"netwerk":[]}}"#,
        r#"{"type":"read_only","local":{"netwerk":[]}}"#,
        r#"{"type":"workspace_write","resource_limits":{"netwerk":1}}"#,
        r#"{"type":"workspace_write","seccomp_profile":{"netwerk":1}}"#,
        r#"{"type":"workspace_write","sensitive_paths":[{"path":"/a","netwerk":1}]}"#,
    ] {
        assert!(error(json).contains("netwerk"), "{json}: {}", error(json));
    }
    let legacy = serde_json::from_str::<SandboxPolicy>(r#"{"mode":"read-only","netwerk":1}"#);
    assert!(legacy.unwrap_err().to_string().contains("netwerk"));
}

#[test]
fn bad_paths_name_the_field_and_the_value() {
    for (json, expected) in [
        (
            r#"{"type":"workspace_write","writable_roots":["/a",""]}"#,
            "`writable_roots[1]`: ``: the path is empty",
        ),
        (
            r#"{"type":"workspace_write","writable_roots":["a"]}"#,
            "`writable_roots[0]`: `a`: the path is relative",
        ),
        (
            r#"{"type":"workspace_write","writable_roots":["/a/../b"]}"#,
            "`writable_roots[0]`: `/a/../b`: the path contains `..`",
        ),
        (
            r#"{"type":"workspace_write","writable_roots":["/"]}"#,
            "`writable_roots[0]`: `/`: the root of the file system",
        ),
        (
            r#"{"type":"workspace_write","writable_roots":["/a\u0000"]}"#,
            "`writable_roots[0]`: `/a\\0`: the path contains a NUL",
        ),
        (
            r#"{"type":"read_only","paths":{"protected":["/a"]}}"#,
            "`paths.protected[0]`: `/a`: the path is absolute",
        ),
        (
            r#"{"type":"read_only","paths":{"deny_read":["x","~bob/y"]}}"#,
            "`paths.deny_read[1]`: `~bob/y`: only `~`",
        ),
        (
            r#"{"type":"read_only","paths":{"read_only":["../x"]}}"#,
            "`paths.read_only[0]`: `../x`: the path contains `..`",
        ),
        (
            r#"{"type":"read_only","paths":{"reopened":[{"path":"x"}]}}"#,
            "`paths.reopened[0].path`: `x`: the path is relative",
        ),
        (
            r#"{"type":"read_only","local":{"unix_paths":["x"]}}"#,
            "`local.unix_paths[0]`: `x`: the path is relative",
        ),
        (
            r#"{"type":"workspace_write","sensitive_paths":[{"path":"a/**b"}]}"#,
            "`sensitive_paths[0].path`: `a/**b`: `**` must stand alone",
        ),
        (
            r#"{"type":"read_only","network_allowlist":[{"domain":"a\u0000b"}]}"#,
            "`network_allowlist[0]`: `a\\0b`: the host contains a NUL",
        ),
        (
            r#"{"type":"workspace_write","seccomp_profile":{"blocked_syscalls":["Mount"]}}"#,
            "`blocked_syscalls`: `Mount` is not the name of a system call",
        ),
    ] {
        assert!(error(json).contains(expected), "{json}:\n{}", error(json));
    }
}

#[test]
fn contradictions_are_named() {
    for (json, expected) in [
        (
            r#"{"type":"read_only","network_access":false,"network_allowlist":[{"domain":"a.test"}]}"#,
            "`network_allowlist`: hosts are listed, but `network_access` is false",
        ),
        (
            r#"{"type":"workspace_write","network_access":true,"seccomp_profile":{}}"#,
            "`seccomp_profile.allow_network_sockets`: `network_access` is true without a list",
        ),
        (
            r#"{"type":"workspace_write","seccomp_profile":{"allow_network_sockets":true}}"#,
            "`seccomp_profile.allow_network_sockets`: `allow_network_sockets` is true, but",
        ),
    ] {
        assert!(error(json).contains(expected), "{json}:\n{}", error(json));
    }
}

#[test]
fn limits_that_cannot_be_counted_are_named() {
    let json =
        r#"{"type":"workspace_write","resource_limits":{"timeout_secs":18446744073709551615}}"#;
    assert!(error(json).contains("`timeout_secs`: 18446744073709551615 is more than"));
    assert!(error(r#"{"type":"read_only","limits_override":{"max_pids":-1}}"#).contains("-1"));
    let limits = ResourceLimits::default().with_memory_mb(u64::MAX >> 20);
    let error = CanonicalSandboxPolicy::workspace_write_with_limits([root("/srv/app")], limits)
        .resolve(&context())
        .unwrap_err();
    assert_eq!(error.field(), "max_memory_mb");
    assert!(matches!(error.problem(), PolicyProblem::Limit(_)));
}

#[test]
fn a_root_that_holds_the_home_is_refused_at_its_field_unless_allowed() {
    for (policy, cwd, field) in [
        (
            CanonicalSandboxPolicy::workspace_write([root("/data"), root("/home")]),
            "/srv/app",
            "writable_roots[1]",
        ),
        (
            CanonicalSandboxPolicy::workspace_write([]),
            "/home/dev",
            "cwd",
        ),
        (
            CanonicalSandboxPolicy::read_only().with_paths(
                palisade_policy::PathRules::default()
                    .with_reopened([palisade_policy::Reopened::write(abs("/home/dev"))]),
            ),
            "/srv/app",
            "paths.reopened[0]",
        ),
    ] {
        let context = PolicyContext::new(facts(), root(cwd));
        let error = policy.resolve(&context).unwrap_err();
        assert_eq!(error.field(), field);
        assert!(error.to_string().contains("/home/dev"), "{error}");
        assert!(
            policy
                .resolve(&context.with_home_root(HomeRoot::Allow))
                .is_ok()
        );
    }
    let tmpdir = facts().with_tmpdir(abs("/"));
    let error = workspace()
        .with_host_tmp(true, false)
        .resolve(&PolicyContext::new(tmpdir, root("/srv/app")))
        .unwrap_err();
    assert_eq!(error.field(), "TMPDIR");
}

#[test]
fn a_root_in_a_guarded_place_is_refused() {
    for path in ["/home/dev/.ssh/x", "/srv/app/.git/x"] {
        let error = CanonicalSandboxPolicy::workspace_write([root("/srv/app"), root(path)])
            .resolve(&context())
            .unwrap_err();
        let PolicyProblem::Path(problem) = error.problem() else {
            panic!("{error}");
        };
        assert!(
            matches!(problem.problem(), PathProblem::InsideGuarded { .. }),
            "{error}"
        );
    }
}

#[test]
fn an_unknown_home_is_not_a_missing_guard() {
    let context = PolicyContext::new(HostFacts::new(Os::Linux), root("/srv/app"));
    let error = workspace().resolve(&context).unwrap_err();
    assert_eq!(error.field(), "sensitive_paths[0]");
    assert!(error.to_string().contains("home directory is not known"));
    let rules = palisade_policy::PathRules::default().with_deny_read([spec("~/x")]);
    let policy = CanonicalSandboxPolicy::workspace_write_no_sensitive_blocking([root("/srv/app")]);
    assert!(policy.resolve(&context).is_ok());
    assert_eq!(
        policy
            .with_paths(rules)
            .resolve(&context)
            .unwrap_err()
            .field(),
        "paths.deny_read[0]"
    );
}

#[test]
fn left_out_fields_mean_the_constructors() {
    let read = |json: &str| serde_json::from_str::<CanonicalSandboxPolicy>(json).unwrap();
    assert_eq!(
        read(r#"{"type":"read_only"}"#),
        CanonicalSandboxPolicy::read_only()
    );
    assert_eq!(
        read(r#"{"type":"read_only","network_access":true}"#),
        CanonicalSandboxPolicy::read_only_with_full_network()
    );
    assert_eq!(
        read(r#"{"type":"workspace_write","writable_roots":["/srv/app","/srv/app/"]}"#),
        workspace()
    );
    assert!(read(r#"{"type":"workspace_write","network_access":true}"#).has_full_network());
    assert!(!read(r#"{"type":"workspace_write","network_allowlist":[]}"#).has_full_network());
    assert_eq!(
        read(r#"{"type":"danger_full_access"}"#),
        CanonicalSandboxPolicy::full_access()
    );
}

proptest! {
    #[test]
    fn no_json_panics(text in "[\\[\\]{}\":,a-z_/.~0-9 \\\\]{0,80}") {
        let _ = serde_json::from_str::<CanonicalSandboxPolicy>(&text);
        let _ = serde_json::from_str::<SandboxPolicy>(&text);
        let _ = serde_json::from_str::<AbsolutePath>(&text);
    }

    #[test]
    fn no_syscall_name_panics(text in any::<String>()) {
        let _ = SyscallName::new(text);
    }
}
