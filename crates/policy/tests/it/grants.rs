//! Remedies, and what a grant opens.

use palisade_policy::{
    Access, CanonicalSandboxPolicy, GitAccess, Grant, NetworkAllowlistEntry, PathRules, Reopened,
};

use crate::oracle::{DENIED, HOST, check};
use crate::support::{abs, connect, context, private_context, resolved, workspace};

#[test]
fn remedies_are_the_smallest_that_help() {
    let remedy = |access: &Access| resolved(&workspace()).permits(access).remedy;
    assert_eq!(
        remedy(&Access::Read(abs("/home/dev/.ssh/config"))),
        Some(Grant::Read(abs("/home/dev/.ssh/config")))
    );
    assert_eq!(
        remedy(&Access::Write(abs("/etc/x"))),
        Some(Grant::Write(abs("/etc/x")))
    );
    assert_eq!(
        remedy(&Access::Create(abs("/data/out/x"))),
        Some(Grant::Write(abs("/data/out")))
    );
    assert_eq!(
        remedy(&Access::Write(abs("/srv/app/.vscode/x"))),
        Some(Grant::Write(abs("/srv/app/.vscode/x")))
    );
    assert_eq!(
        remedy(&Access::Create(abs("/srv/app/.vscode"))),
        Some(Grant::Write(abs("/srv/app/.vscode")))
    );
    assert_eq!(
        remedy(&connect("docs.example", 443)),
        Some(Grant::Host(
            NetworkAllowlistEntry::https("docs.example").unwrap()
        ))
    );
    assert_eq!(remedy(&connect("localhost", 80)), Some(Grant::HostLoopback));
    // Nothing that a policy can say makes the root of the file system or the home directory writable.
    assert_eq!(remedy(&Access::Create(abs("/new"))), None);
    assert_eq!(remedy(&Access::Create(abs("/home/dev/new"))), None);
    let commit = Access::Create(abs("/srv/app/.git/x"));
    assert_eq!(remedy(&commit), Some(Grant::Git(GitAccess::Full)));
    let private = workspace().resolve(&private_context()).unwrap();
    assert_eq!(
        private.permits(&commit).remedy,
        Some(Grant::Git(GitAccess::Commit))
    );
}

#[test]
fn a_grant_protects_what_it_opens_and_opens_what_it_names() {
    let policy = CanonicalSandboxPolicy::read_only()
        .with_grant(&Grant::Write(abs("/data")))
        .unwrap();
    check(&policy, &context(), &Access::Write(abs("/data/x")), HOST);
    check(
        &policy,
        &context(),
        &Access::Create(abs("/data/.git/x")),
        DENIED,
    );
    check(
        &policy,
        &context(),
        &Access::Write(abs("/srv/app/x")),
        DENIED,
    );
    let named = policy
        .with_grant(&Grant::Write(abs("/data/.git/info")))
        .unwrap();
    check(
        &named,
        &context(),
        &Access::Write(abs("/data/.git/info/exclude")),
        HOST,
    );
    check(
        &named,
        &context(),
        &Access::Write(abs("/data/.git/config")),
        DENIED,
    );
    assert!(
        CanonicalSandboxPolicy::full_access()
            .with_grant(&Grant::HostLoopback)
            .is_err()
    );
    assert!(workspace().with_grant(&Grant::Write(abs("/"))).is_err());
    let git = workspace()
        .with_grant(&Grant::Git(GitAccess::Full))
        .and_then(|policy| policy.with_grant(&Grant::Git(GitAccess::Commit)))
        .unwrap();
    assert_eq!(
        git,
        workspace().with_paths(PathRules::default().with_git(GitAccess::Full))
    );
    let twice = workspace()
        .with_grant(&Grant::Write(abs("/a")))
        .and_then(|policy| policy.with_grant(&Grant::Read(abs("/a"))))
        .unwrap();
    let rules = PathRules::default().with_reopened([Reopened::write(abs("/a"))]);
    assert_eq!(twice, workspace().with_paths(rules));
}
