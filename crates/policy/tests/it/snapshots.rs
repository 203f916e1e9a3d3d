//! What policies mean, as text for policy authors to review.

use std::fmt::Write as _;

use palisade_policy::{
    Access, CanonicalSandboxPolicy, GitAccess, HostFacts, LocalAccess, LoopbackAccess,
    NetworkAccess, NetworkAllowlistEntry, Os, PathRules, PolicyContext, ResolvedPolicy,
    ResourceLimits, SandboxMode, SandboxPolicy, SeccompProfile, SensitivePath,
};

use crate::support::{abs, connect, context, facts, private_context, root, spec, workspace};

#[test]
fn every_mode_and_network_as_json() {
    for mode in SandboxMode::ALL {
        for network in NetworkAccess::ALL {
            let canonical =
                SandboxPolicy::new(mode, network).to_canonical_policy(&root("/srv/app"));
            let name = format!("mapping__{}__{}", mode.name(), network.name());
            insta::assert_json_snapshot!(name, canonical);
        }
    }
}

#[test]
fn every_preset_as_json() {
    let roots = || [root("/srv/app")];
    let list = || [NetworkAllowlistEntry::https("docs.example").unwrap()];
    let presets = [
        (
            "read_only_with_network",
            CanonicalSandboxPolicy::read_only_with_network(list()),
        ),
        (
            "workspace_write_with_network",
            CanonicalSandboxPolicy::workspace_write_with_network(roots(), list()),
        ),
        (
            "workspace_write_with_sensitive_paths",
            CanonicalSandboxPolicy::workspace_write_with_sensitive_paths(
                roots(),
                [SensitivePath::write_only("~/.config").unwrap()],
            ),
        ),
        (
            "workspace_write_no_sensitive_blocking",
            CanonicalSandboxPolicy::workspace_write_no_sensitive_blocking(roots()),
        ),
        (
            "workspace_write_with_limits",
            CanonicalSandboxPolicy::workspace_write_with_limits(
                roots(),
                ResourceLimits::conservative(),
            ),
        ),
    ];
    for (name, policy) in presets {
        insta::assert_json_snapshot!(format!("preset__{name}"), policy, {
            ".seccomp_profile.blocked_syscalls" => "[as in strict]",
        });
    }
    insta::assert_json_snapshot!("preset__seccomp_permissive", SeccompProfile::permissive());
    let limits = [
        ("default", ResourceLimits::default()),
        ("unlimited", ResourceLimits::unlimited()),
        ("conservative", ResourceLimits::conservative()),
        ("moderate", ResourceLimits::moderate()),
        ("generous", ResourceLimits::generous()),
    ];
    insta::assert_json_snapshot!("preset__limits", limits);
}

#[test]
fn the_default_secrets_of_every_system() {
    let mut text = String::new();
    for (os, uid) in [
        (Os::Linux, 1000),
        (Os::Linux, 0),
        (Os::Macos, 501),
        (Os::Windows, 1000),
    ] {
        let facts = HostFacts::new(os).with_uid(uid);
        writeln!(text, "{os:?}, uid {uid}").unwrap();
        for secret in SensitivePath::defaults(&facts) {
            writeln!(text, "  {}", secret.path).unwrap();
        }
    }
    insta::assert_snapshot!("default_secrets", text);
}

/// A readable summary of what the facts made of a policy.
fn describe(policy: &ResolvedPolicy) -> String {
    let mut text = String::new();
    for root in policy.roots() {
        writeln!(text, "writes {}", root.root).unwrap();
        for path in &root.protected {
            writeln!(text, "  but not {path}").unwrap();
        }
    }
    for path in policy.read_only() {
        writeln!(text, "never writes {path}").unwrap();
    }
    for path in policy.private() {
        writeln!(text, "has its own {path}").unwrap();
    }
    writeln!(text, "guards {} paths", policy.guards().len()).unwrap();
    let names: Vec<&str> = policy.guarantees().into_iter().map(|g| g.name()).collect();
    writeln!(text, "guarantees {}", names.join(", ")).unwrap();
    for access in accesses() {
        let verdict = policy.permits(&access);
        writeln!(text, "{access}\n    {verdict}").unwrap();
    }
    text
}

fn accesses() -> Vec<Access> {
    vec![
        Access::Read(abs("/etc/hosts")),
        Access::Read(abs("/home/dev/.ssh/id_ed25519")),
        Access::Read(abs("/srv/app/.env")),
        Access::Write(abs("/srv/app/src/lib.rs")),
        Access::Create(abs("/srv/app/.git/hooks/pre-commit")),
        Access::Create(abs("/srv/app/.vscode")),
        Access::Create(abs("/home/dev/.bashrc")),
        Access::Create(abs("/tmp/out")),
        Access::Delete(abs("/srv/app")),
        Access::Rename {
            from: abs("/srv/app/a"),
            to: abs("/srv/app/b"),
        },
        Access::Execute(abs("/usr/bin/git")),
        connect("docs.example", 443),
        connect("localhost", 8080),
    ]
}

#[test]
fn what_a_policy_means_on_a_host() {
    let list = [NetworkAllowlistEntry::https("docs.example").unwrap()];
    let custom = CanonicalSandboxPolicy::workspace_write_with_network([root("/data")], list)
        .with_paths(
            PathRules::default()
                .with_deny_read([spec("**/.env*")])
                .with_read_only([spec("vendor")])
                .with_git(GitAccess::Commit),
        )
        .with_local(LocalAccess::default().with_loopback(LoopbackAccess::Host))
        .with_host_tmp(true, false);
    let tmpdir = PolicyContext::new(facts().with_tmpdir(abs("/var/tmp/dev")), root("/srv/app"));
    for (name, policy, context) in [
        (
            "read_only",
            CanonicalSandboxPolicy::read_only(),
            private_context(),
        ),
        ("workspace_write", workspace(), private_context()),
        (
            "workspace_write_without_private_places",
            workspace(),
            context(),
        ),
        ("custom", custom, tmpdir),
    ] {
        insta::assert_snapshot!(
            format!("meaning__{name}"),
            describe(&policy.resolve(&context).unwrap())
        );
    }
}
