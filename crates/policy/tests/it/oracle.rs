//! What the oracle says, case by case.

use palisade_policy::{
    Access, CanonicalSandboxPolicy, Clause, GitAccess, LocalAccess, LoopbackAccess,
    NetworkAllowlistEntry, PathCase, PathRules, Peer, Permission, Place, PolicyContext,
    PrivatePlaces, Protocol, SensitivePath, UnixAddress,
};

use crate::support::{
    abs, connect, context, facts, host, private_context, resolved, root, spec, workspace,
};

pub(crate) const HOST: Permission = Permission::Allowed(Place::Host);
pub(crate) const PRIVATE: Permission = Permission::Allowed(Place::Private);
pub(crate) const DENIED: Permission = Permission::Denied;

/// Checks one access and prints the whole verdict where it is another.
pub(crate) fn check(
    policy: &CanonicalSandboxPolicy,
    context: &PolicyContext,
    access: &Access,
    expected: Permission,
) {
    let verdict = policy.resolve(context).unwrap().permits(access);
    assert_eq!(verdict.permission, expected, "{access:?}: {verdict}");
}

fn rename(from: &str, to: &str) -> Access {
    Access::Rename {
        from: abs(from),
        to: abs(to),
    }
}

#[test]
fn a_workspace_is_written_and_nothing_else() {
    let policy = workspace();
    for (access, expected) in [
        (Access::Write(abs("/srv/app/src/lib.rs")), HOST),
        (Access::Create(abs("/srv/app/new")), HOST),
        (Access::Delete(abs("/srv/app/old")), HOST),
        (rename("/srv/app/a", "/srv/app/b"), HOST),
        (Access::Read(abs("/etc/passwd")), HOST),
        (Access::Execute(abs("/usr/bin/git")), HOST),
        (Access::Write(abs("/dev/null")), HOST),
        (Access::Write(abs("/etc/passwd")), DENIED),
        (Access::Create(abs("/srv/other")), DENIED),
        (Access::Delete(abs("/dev/null")), DENIED),
        (Access::Delete(abs("/srv/app")), DENIED),
        (rename("/srv/app", "/srv/app2"), DENIED),
        (rename("/srv/app/a", "/srv/a"), DENIED),
        (rename("/srv/a", "/srv/app/a"), DENIED),
        (Access::Write(abs("/tmp/x")), DENIED),
        (Access::Write(abs("/srv/application")), DENIED),
    ] {
        check(&policy, &context(), &access, expected);
    }
}

#[test]
fn protected_paths_hold_while_missing_and_against_moves_of_what_holds_them() {
    let rules = PathRules::default().with_protected(
        [".git", "conf/agents"].map(|path| palisade_policy::RelativePath::new(path).unwrap()),
    );
    let policy = workspace().with_paths(rules);
    for access in [
        Access::Write(abs("/srv/app/.git/config")),
        Access::Create(abs("/srv/app/.git")),
        Access::Delete(abs("/srv/app/.git")),
        rename("/srv/app/.git", "/srv/app/git"),
        rename("/srv/app/evil", "/srv/app/.git"),
        Access::Create(abs("/srv/app/conf/agents/x")),
        rename("/srv/app/conf", "/srv/app/conf2"),
        rename("/srv/app/evil", "/srv/app/conf"),
        Access::Delete(abs("/srv/app/conf")),
        Access::Create(abs("/srv/app/conf")),
    ] {
        check(&policy, &context(), &access, DENIED);
    }
    check(
        &policy,
        &context(),
        &Access::Read(abs("/srv/app/.git/config")),
        HOST,
    );
    check(
        &policy,
        &context(),
        &Access::Create(abs("/srv/app/conf/other")),
        HOST,
    );
    check(
        &policy,
        &context(),
        &Access::Write(abs("/srv/app/.github/x")),
        HOST,
    );
}

#[test]
fn secrets_are_neither_read_nor_written_nor_moved() {
    let policy = workspace();
    for access in [
        Access::Read(abs("/home/dev/.ssh/id_ed25519")),
        Access::Write(abs("/home/dev/.netrc")),
        Access::Execute(abs("/home/dev/.aws/x")),
    ] {
        check(&policy, &context(), &access, DENIED);
    }
    let secrets = [SensitivePath::new("/srv/app/vault/key").unwrap()];
    let policy =
        CanonicalSandboxPolicy::workspace_write_with_sensitive_paths([root("/srv/app")], secrets);
    for access in [
        Access::Read(abs("/srv/app/vault/key")),
        rename("/srv/app/vault/key", "/srv/app/key"),
        rename("/srv/app/vault", "/srv/app/open"),
    ] {
        check(&policy, &context(), &access, DENIED);
    }
}

#[test]
fn what_may_be_written_but_not_read_cannot_be_moved_to_where_it_is_read() {
    let mut secret = SensitivePath::new("/srv/app/key").unwrap();
    secret.block_write = false;
    let policy =
        CanonicalSandboxPolicy::workspace_write_with_sensitive_paths([root("/srv/app")], [secret]);
    check(
        &policy,
        &context(),
        &Access::Write(abs("/srv/app/key")),
        HOST,
    );
    check(
        &policy,
        &context(),
        &rename("/srv/app/key", "/srv/app/open"),
        DENIED,
    );
}

#[test]
fn a_secret_that_is_named_and_not_blocked_is_reopened() {
    let secrets =
        ["/srv/app/s", "/srv/app/s/deep/worse"].map(|path| SensitivePath::new(path).unwrap());
    let open = SensitivePath::write_only("/srv/app/s/deep").unwrap();
    let policy = CanonicalSandboxPolicy::workspace_write_with_sensitive_paths(
        [root("/srv/app")],
        secrets.into_iter().chain([open]),
    );
    check(
        &policy,
        &context(),
        &Access::Read(abs("/srv/app/s/x")),
        DENIED,
    );
    check(
        &policy,
        &context(),
        &Access::Read(abs("/srv/app/s/deep/x")),
        HOST,
    );
    check(
        &policy,
        &context(),
        &Access::Write(abs("/srv/app/s/deep/x")),
        DENIED,
    );
    check(
        &policy,
        &context(),
        &Access::Read(abs("/srv/app/s/deep/worse")),
        DENIED,
    );
}

#[test]
fn at_equal_specificity_a_denial_wins() {
    let both = [
        SensitivePath::write_only("/srv/app/s").unwrap(),
        SensitivePath::new("/srv/app/s").unwrap(),
    ];
    for secrets in [both.clone(), [both[1].clone(), both[0].clone()]] {
        let policy = CanonicalSandboxPolicy::workspace_write_with_sensitive_paths(
            [root("/srv/app")],
            secrets,
        );
        check(
            &policy,
            &context(),
            &Access::Read(abs("/srv/app/s")),
            DENIED,
        );
    }
    let read_only = PathRules::default().with_read_only([spec("/data")]);
    let policy = CanonicalSandboxPolicy::workspace_write([root("/data")]).with_paths(read_only);
    check(&policy, &context(), &Access::Write(abs("/data/x")), DENIED);
}

#[test]
fn a_root_reopens_a_read_only_path_above_it_but_never_a_guard() {
    let rules = PathRules::default().with_read_only([spec("vendor")]);
    let policy =
        CanonicalSandboxPolicy::workspace_write([root("/srv/app"), root("/srv/app/vendor/mine")])
            .with_paths(rules);
    check(
        &policy,
        &context(),
        &Access::Write(abs("/srv/app/vendor/x")),
        DENIED,
    );
    check(
        &policy,
        &context(),
        &Access::Write(abs("/srv/app/vendor/mine/x")),
        HOST,
    );
    check(
        &policy,
        &context(),
        &Access::Delete(abs("/srv/app/vendor")),
        DENIED,
    );
}

#[test]
fn globs_guard_what_they_match_and_what_is_below() {
    let rules = PathRules::default().with_deny_read([spec("**/.env*")]);
    let policy = workspace().with_paths(rules);
    for (path, expected) in [
        ("/srv/app/.env", DENIED),
        ("/srv/app/a/b/.env.local", DENIED),
        ("/srv/app/.envs/x", DENIED),
        ("/srv/app/env", HOST),
        ("/srv/.env", HOST),
    ] {
        check(&policy, &context(), &Access::Read(abs(path)), expected);
    }
}

#[test]
fn a_move_does_not_take_what_a_glob_guards_out_of_its_sight() {
    let rules = PathRules::default()
        .with_deny_read([spec("secrets/*.key"), spec("**/.env*")])
        .with_read_only([spec("gen/*.rs")]);
    let policy = workspace().with_paths(rules);
    for access in [
        rename("/srv/app/secrets", "/srv/app/open"),
        rename("/srv/app/gen", "/srv/app/old"),
        rename("/srv/app/mine", "/srv/app/gen"),
    ] {
        check(&policy, &context(), &access, DENIED);
    }
    for access in [
        rename("/srv/app/a", "/srv/app/b"),
        rename("/srv/app/secrets/note.txt", "/srv/app/note.txt"),
        rename("/srv/app/a/b", "/srv/app/c/d"),
    ] {
        check(&policy, &context(), &access, HOST);
    }
}

#[test]
fn git_is_guarded_whether_or_not_it_is_listed() {
    let hook = Access::Create(abs("/srv/app/.git/hooks/pre-commit"));
    let none = PathRules::default().with_protected([]);
    let policy = |git| workspace().with_paths(none.clone().with_git(git));
    check(&policy(GitAccess::ReadOnly), &context(), &hook, DENIED);
    check(&policy(GitAccess::Commit), &context(), &hook, DENIED);
    check(
        &policy(GitAccess::Commit),
        &private_context(),
        &hook,
        PRIVATE,
    );
    check(&policy(GitAccess::Full), &context(), &hook, HOST);
    check(
        &policy(GitAccess::Full),
        &context(),
        &Access::Create(abs("/srv/app/.vscode/x")),
        HOST,
    );
}

#[test]
fn root_does_not_read_the_shadow_file() {
    let shadow = Access::Read(abs("/etc/shadow-"));
    check(&workspace(), &context(), &shadow, HOST);
    let root_user = PolicyContext::new(facts().with_uid(0), root("/srv/app"));
    check(&workspace(), &root_user, &shadow, DENIED);
}

#[test]
fn case_counts_as_the_file_system_says() {
    let git = Access::Write(abs("/srv/app/.GIT/config"));
    check(&workspace(), &context(), &git, HOST);
    let folding = PolicyContext::new(facts().with_case(PathCase::Insensitive), root("/srv/app"));
    check(&workspace(), &folding, &git, DENIED);
    let rules = PathRules::default().with_deny_read([spec("**/SECRETÄ*")]);
    let policy = workspace().with_paths(rules);
    check(
        &policy,
        &folding,
        &Access::Read(abs("/srv/app/secretä.txt")),
        DENIED,
    );
}

#[test]
fn private_places_never_reach_the_host() {
    let context = private_context();
    for policy in [workspace(), CanonicalSandboxPolicy::read_only()] {
        for (path, expected) in [
            ("/tmp/x", PRIVATE),
            ("/dev/shm/x", PRIVATE),
            ("/home/dev/.cargo/registry/x", PRIVATE),
            ("/home/dev/.cargo/credentials.toml", DENIED),
            ("/var/tmp/x", DENIED),
        ] {
            check(&policy, &context, &Access::Create(abs(path)), expected);
        }
        check(&policy, &context, &Access::Read(abs("/tmp/x")), PRIVATE);
        check(&policy, &context, &Access::Delete(abs("/tmp")), DENIED);
    }
    let host_tmp = workspace().with_host_tmp(false, true);
    check(&host_tmp, &context, &Access::Create(abs("/tmp/x")), HOST);
}

#[test]
fn a_workspace_below_tmp_is_the_hosts() {
    let context =
        PolicyContext::new(facts(), root("/tmp/a/proj")).with_private(PrivatePlaces::all());
    let policy = CanonicalSandboxPolicy::workspace_write([]);
    check(
        &policy,
        &context,
        &Access::Create(abs("/tmp/a/proj/x")),
        HOST,
    );
    check(&policy, &context, &Access::Create(abs("/tmp/a/x")), PRIVATE);
    check(&policy, &context, &rename("/tmp/a", "/tmp/b"), DENIED);
    check(
        &policy,
        &context,
        &Access::Delete(abs("/tmp/a/proj")),
        DENIED,
    );
    check(
        &policy,
        &context,
        &Access::Create(abs("/tmp/a/proj/.git/x")),
        DENIED,
    );
    let read_only = CanonicalSandboxPolicy::read_only();
    check(
        &read_only,
        &context,
        &Access::Read(abs("/tmp/a/proj/x")),
        HOST,
    );
    check(
        &read_only,
        &context,
        &Access::Delete(abs("/tmp/a/proj")),
        DENIED,
    );
    // The directory of a read-only policy is bound as well, and nothing of the host changes.
    check(
        &read_only,
        &context,
        &Access::Create(abs("/tmp/a/proj/x")),
        DENIED,
    );
}

#[test]
fn git_is_written_as_its_setting_says() {
    let commit = Access::Create(abs("/srv/app/.git/objects/x"));
    let with = |git| workspace().with_paths(PathRules::default().with_git(git));
    check(
        &with(GitAccess::ReadOnly),
        &private_context(),
        &commit,
        DENIED,
    );
    check(
        &with(GitAccess::Commit),
        &private_context(),
        &commit,
        PRIVATE,
    );
    check(&with(GitAccess::Commit), &context(), &commit, DENIED);
    check(&with(GitAccess::Full), &context(), &commit, HOST);
    let git = Access::Delete(abs("/srv/app/.git"));
    check(&with(GitAccess::Commit), &private_context(), &git, DENIED);
}

#[test]
fn the_network_is_what_the_list_says() {
    let list = [NetworkAllowlistEntry::https("docs.example").unwrap()];
    let limited = CanonicalSandboxPolicy::workspace_write_with_network([root("/srv/app")], list);
    check(&limited, &context(), &connect("docs.example", 443), HOST);
    check(&limited, &context(), &connect("docs.example", 80), DENIED);
    check(&limited, &context(), &connect("other.example", 443), DENIED);
    check(
        &workspace(),
        &context(),
        &connect("docs.example", 443),
        DENIED,
    );
    let full = CanonicalSandboxPolicy::read_only_with_full_network();
    check(&full, &context(), &connect("other.example", 1), HOST);
    let udp = Access::Connect {
        host: host("docs.example"),
        port: 443,
        protocol: Protocol::Udp,
    };
    check(&limited, &context(), &udp, DENIED);
}

#[test]
fn own_loopback_is_not_the_hosts() {
    let loopback = |access| workspace().with_local(LocalAccess::default().with_loopback(access));
    let bind = |name| Access::Bind {
        host: host(name),
        port: 8080,
    };
    for access in [
        connect("localhost", 8080),
        connect("::1", 1),
        bind("127.0.0.1"),
        bind("0.0.0.0"),
    ] {
        check(&workspace(), &private_context(), &access, PRIVATE);
        check(&workspace(), &context(), &access, DENIED);
        check(
            &loopback(LoopbackAccess::Off),
            &private_context(),
            &access,
            DENIED,
        );
    }
    check(
        &loopback(LoopbackAccess::Host),
        &context(),
        &connect("localhost", 8080),
        HOST,
    );
    check(
        &loopback(LoopbackAccess::Host),
        &context(),
        &bind("127.0.0.1"),
        HOST,
    );
    check(
        &loopback(LoopbackAccess::Host),
        &context(),
        &bind("0.0.0.0"),
        DENIED,
    );
    check(&workspace(), &private_context(), &bind("192.0.2.1"), DENIED);
    let full = CanonicalSandboxPolicy::read_only_with_full_network();
    check(&full, &private_context(), &connect("localhost", 1), HOST);
    check(&full, &private_context(), &bind("0.0.0.0"), HOST);
}

#[test]
fn sockets_of_the_host_must_be_named() {
    let unix = |path: &str, peer| Access::Unix {
        address: UnixAddress::Path(abs(path)),
        peer,
    };
    let policy = workspace()
        .with_local(LocalAccess::default().with_unix_paths([abs("/run/x"), abs("/home/dev")]));
    check(&policy, &context(), &unix("/run/x/sock", Peer::Host), HOST);
    check(
        &policy,
        &context(),
        &unix("/run/docker.sock", Peer::Host),
        DENIED,
    );
    check(
        &policy,
        &context(),
        &unix("/srv/app/host.sock", Peer::Host),
        DENIED,
    );
    check(
        &policy,
        &context(),
        &unix("/srv/app/own.sock", Peer::Session),
        PRIVATE,
    );
    check(
        &policy,
        &context(),
        &unix("/home/dev/.gnupg/S.agent", Peer::Host),
        DENIED,
    );
    let named = |name: &[u8], peer| Access::Unix {
        address: UnixAddress::Abstract(name.to_vec()),
        peer,
    };
    check(&policy, &context(), &named(b"x", Peer::Host), DENIED);
    check(&policy, &context(), &named(b"x", Peer::Session), PRIVATE);
    let pair = Access::Unix {
        address: UnixAddress::Unnamed,
        peer: Peer::Session,
    };
    check(&policy, &context(), &pair, PRIVATE);
}

#[test]
fn without_a_sandbox_everything_is_allowed_and_says_why() {
    for (policy, clause) in [
        (CanonicalSandboxPolicy::full_access(), Clause::FullAccess),
        (
            CanonicalSandboxPolicy::external("x"),
            Clause::ExternalSandbox,
        ),
    ] {
        let verdict = resolved(&policy).permits(&Access::Write(abs("/etc/passwd")));
        assert_eq!((verdict.permission, verdict.clause), (HOST, clause));
    }
}
