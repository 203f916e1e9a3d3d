//! What policies become, as policy authors read it: the plan and the report of each preset on a sample host.

use palisade_linux_landlock::LinuxLandlock;
use palisade_policy::{
    Backend as _, CanonicalSandboxPolicy, GitAccess, LocalAccess, NetworkAllowlistEntry, PathRules,
    Reopened, ResourceLimits, SeccompProfile,
};

use crate::files::{Files, Node, abs};
use crate::policies::{context, prepare, root, spec, with_rules, workspace};

/// The plan and the report of a policy.
fn shown(policy: &CanonicalSandboxPolicy, uid: u32, abi: u32, namespaces: bool) -> String {
    let files = Files::sample();
    let (policy, host) =
        prepare(policy, &context(uid), &files, files.kernel(abi, namespaces)).unwrap();
    let lowered = LinuxLandlock.lower(&policy, &host).unwrap();
    format!("{}\n{}", lowered.preview(), lowered.enforcement())
}

fn full(policy: &CanonicalSandboxPolicy) -> String {
    shown(policy, 1000, 7, true)
}

fn open_network() -> CanonicalSandboxPolicy {
    CanonicalSandboxPolicy::workspace_write_full(
        [root("/srv/app")],
        [],
        None,
        ResourceLimits::moderate(),
        SeccompProfile::strict().with_network(),
    )
}

#[test]
fn presets_in_the_full_tier() {
    insta::assert_snapshot!(
        "full__read_only",
        full(&CanonicalSandboxPolicy::read_only())
    );
    insta::assert_snapshot!(
        "full__read_only_full_network",
        full(&CanonicalSandboxPolicy::read_only_with_full_network())
    );
    insta::assert_snapshot!("full__workspace_write", full(&workspace()));
    insta::assert_snapshot!(
        "full__workspace_write_as_root",
        shown(&workspace(), 0, 7, true)
    );
    insta::assert_snapshot!("full__workspace_write_full_network", full(&open_network()));
    let listed = NetworkAllowlistEntry::with_port("crates.io", 443).unwrap();
    insta::assert_snapshot!(
        "full__workspace_write_listed_hosts",
        full(&CanonicalSandboxPolicy::workspace_write_with_network(
            [root("/srv/app")],
            [listed]
        ))
    );
    insta::assert_snapshot!("full__without_landlock", shown(&workspace(), 1000, 0, true));
}

#[test]
fn particular_paths_in_the_full_tier() {
    let commit = PathRules::default().with_git(GitAccess::Commit);
    insta::assert_snapshot!("full__git_commit", full(&with_rules(commit)));
    let custom = PathRules::default()
        .with_deny_read([spec("**/.env"), spec("/etc/passwd")])
        .with_read_only([spec("src")])
        .with_reopened([
            Reopened::write(abs("/srv/app/src/main.rs")),
            Reopened::read(abs("/home/dev/.ssh")),
        ]);
    insta::assert_snapshot!("full__custom_paths", full(&with_rules(custom)));
    let sockets = LocalAccess::default().with_unix_paths([abs("/run/docker.sock")]);
    insta::assert_snapshot!(
        "full__granted_socket",
        full(&workspace().with_local(sockets))
    );
}

#[test]
fn presets_in_the_landlock_tier() {
    insta::assert_snapshot!(
        "landlock__read_only",
        shown(&CanonicalSandboxPolicy::read_only(), 1000, 7, false)
    );
    insta::assert_snapshot!(
        "landlock__workspace_write",
        shown(&workspace(), 1000, 7, false)
    );
    insta::assert_snapshot!(
        "landlock__workspace_write_full_network",
        shown(&open_network(), 1000, 7, false)
    );
}

/// What cannot be kept without namespaces, for each version of Landlock.
#[test]
fn losses_by_version_of_landlock() {
    let files = Files::sample();
    for abi in [1, 3, 4, 6, 7] {
        let (policy, host) = prepare(
            &workspace(),
            &context(1000),
            &files,
            files.kernel(abi, false),
        )
        .unwrap();
        let text = match LinuxLandlock.lower(&policy, &host) {
            Ok(lowered) => lowered
                .admit(&palisade_policy::AcceptedLosses::none())
                .map(|_| "nothing is lost".to_owned())
                .unwrap_or_else(|refusal| refusal.to_string()),
            Err(error) => error.to_string(),
        };
        insta::assert_snapshot!(format!("losses__landlock_abi_{abi}"), text);
    }
}

/// A work tree that was made by `git worktree add`, whose repository lies outside the roots.
#[test]
fn a_linked_work_tree() {
    let mut files = Files::sample().with_git(
        "/srv/app",
        "/srv/other/.git/worktrees/app",
        "/srv/other/.git",
    );
    files.remove("/srv/app/.git");
    files.add("/srv/app/.git", Node::File);
    files.add("/srv/other/.git/worktrees/app", Node::Directory);
    let commit = with_rules(PathRules::default().with_git(GitAccess::Commit));
    let (policy, host) = prepare(&commit, &context(1000), &files, files.kernel(7, true)).unwrap();
    let lowered = LinuxLandlock.lower(&policy, &host).unwrap();
    insta::assert_snapshot!("full__linked_work_tree", lowered.preview());
}
