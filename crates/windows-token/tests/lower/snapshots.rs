//! What policies become, as policy authors read it: the plan and the report of each preset on a sample host.

use palisade_policy::{
    AcceptedLosses, CanonicalSandboxPolicy, GitAccess, NetworkAllowlistEntry, PathRules, Reopened,
    ResourceLimits, SeccompProfile,
};

use crate::world::{World, abs, root, spec, with_rules, workspace};

fn shown(policy: &CanonicalSandboxPolicy) -> String {
    let lowered = World::sample().lower(policy).unwrap();
    format!("{}\n{}", lowered.preview(), lowered.enforcement())
}

#[test]
fn presets() {
    insta::assert_snapshot!("read_only", shown(&CanonicalSandboxPolicy::read_only()));
    insta::assert_snapshot!(
        "read_only_full_network",
        shown(&CanonicalSandboxPolicy::read_only_with_full_network())
    );
    insta::assert_snapshot!("workspace_write", shown(&workspace()));
    let open_network = CanonicalSandboxPolicy::workspace_write_full(
        [root("/srv/app")],
        [],
        None,
        ResourceLimits::moderate(),
        SeccompProfile::strict().with_network(),
    );
    insta::assert_snapshot!("workspace_write_full_network", shown(&open_network));
    let listed = NetworkAllowlistEntry::with_port("crates.io", 443).unwrap();
    insta::assert_snapshot!(
        "workspace_write_listed_hosts",
        shown(&CanonicalSandboxPolicy::workspace_write_with_network(
            [root("/srv/app")],
            [listed]
        ))
    );
}

#[test]
fn particular_paths() {
    let commit = PathRules::default().with_git(GitAccess::Commit);
    insta::assert_snapshot!("git_commit", shown(&with_rules(commit)));
    let custom = PathRules::default()
        .with_deny_read([spec("**/.env"), spec("/etc/passwd")])
        .with_read_only([spec("src")])
        .with_reopened([
            Reopened::write(abs("/srv/app/src/main.rs")),
            Reopened::read(abs("/home/dev/.ssh")),
        ]);
    insta::assert_snapshot!("custom_paths", shown(&with_rules(custom)));
}

/// A workspace as it usually is: no agent has left its directory there.
#[test]
fn the_refusal_of_the_default_preset() {
    let mut world = World::sample();
    for name in PathRules::DEFAULT_PROTECTED.iter().skip(1) {
        world.remove(&format!("/srv/app/{name}"));
    }
    let refusal = world
        .lower(&workspace())
        .unwrap()
        .admit(&AcceptedLosses::none())
        .unwrap_err();
    insta::assert_snapshot!("default_preset_refused", refusal.to_string());
}
