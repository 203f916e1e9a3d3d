//! Who the command is, what holds it together, and what it is given.

use palisade_policy::{
    CanonicalSandboxPolicy, LimitKind, LimitLevel, PathRules, Reopened, ResourceLimits,
};
use palisade_windows_token::Sid;
use palisade_windows_token::acl::{AceFlags, AceKind, Rights};
use palisade_windows_token::plan::{DesktopPlan, HandlePlan, Purpose, UiLimit};

use crate::world::{Node, TMP, World, abs, logon, root, user, with_rules, workspace};

#[test]
fn only_capabilities_and_the_logon_session_write() {
    let mut world = World::sample();
    world.add("/srv/more", Node::Directory);
    let rules = PathRules::default().with_reopened([Reopened::write(abs("/srv/more"))]);
    for policy in [
        workspace(),
        with_rules(rules),
        CanonicalSandboxPolicy::read_only(),
    ] {
        let token = world.plan(&policy).0.token;
        assert!(token.disable_max_privilege && token.lua_token && token.write_restricted);
        let (last, capabilities) = token.restricting.split_last().unwrap();
        assert_eq!(*last, logon());
        assert!(!capabilities.is_empty());
        for sid in capabilities {
            assert!(sid.looks_like_capability());
            assert_ne!(*sid, user());
        }
        for never in [
            Sid::everyone(),
            user(),
            Sid::administrators(),
            Sid::restricted_code(),
        ] {
            assert!(!token.restricting.contains(&never), "{never}");
        }
        assert_eq!(token.disable, [Sid::administrators()]);
        assert_eq!(
            token.delete_privileges,
            ["SeShutdownPrivilege", "SeBackupPrivilege"]
        );
    }
}

/// What the command makes must pass both checks, or the pipes of its children fail.
#[test]
fn what_the_command_makes_is_its_own() {
    let token = World::sample().plan(&workspace()).0.token;
    let named: Vec<&Sid> = token.default_dacl.iter().map(|ace| &ace.sid).collect();
    let [who, system, own] = named.as_slice() else {
        panic!("{named:?}");
    };
    assert_eq!((*who, *system), (&user(), &Sid::local_system()));
    assert!(token.restricting.contains(own), "or the second check fails");
    for ace in &token.default_dacl {
        assert_eq!(
            (ace.kind, ace.flags, ace.rights),
            (AceKind::Allow, AceFlags::NONE, Rights::GENERIC_ALL)
        );
    }
}

/// Its processes are among what a command makes, and every session of a logon has the same identifier for that: who could
/// change a process of another session would write what that one may write.
#[test]
fn what_the_command_makes_is_closed_to_other_sessions() {
    let (plan, _) = World::sample().plan(&workspace());
    let of_roots = plan
        .acl_edits
        .iter()
        .filter(|edit| edit.purpose == Purpose::WritableRoot)
        .flat_map(|edit| &edit.add)
        .map(|ace| ace.sid.clone());
    let shared: Vec<Sid> = of_roots.chain([logon(), Sid::everyone()]).collect();
    assert!(shared.len() > 2, "{plan}");
    for ace in &plan.token.default_dacl {
        assert!(!shared.contains(&ace.sid), "{}", ace.sid);
    }
}

/// The token is tried for everything that a protected path denies: with the last two anything could be opened.
#[test]
fn a_token_must_refuse_every_change() {
    let token = World::sample().plan(&workspace()).0.token;
    for right in [
        Rights::WRITE_DATA,
        Rights::APPEND_DATA,
        Rights::WRITE_EA,
        Rights::WRITE_ATTRIBUTES,
        Rights::DELETE,
        Rights::WRITE_DAC,
        Rights::WRITE_OWNER,
    ] {
        assert!(token.must_refuse.contains(right), "{right}");
    }
    // No Windows refuses this one, by what was published: it is a loss, not a reason to run nothing.
    assert!(!token.must_refuse.contains(Rights::DELETE_CHILD));
}

#[test]
fn limits_are_those_of_the_job() {
    let limits = ResourceLimits::unlimited()
        .with_memory_mb(3)
        .with_pids(5)
        .with_cpu_secs(7)
        .with_disk_mb(9)
        .with_timeout_secs(11);
    let policy = CanonicalSandboxPolicy::workspace_write_with_limits([root("/srv/app")], limits);
    let (plan, report) = World::sample().plan(&policy);
    assert!(plan.job.kill_on_close && plan.job.no_breakaway);
    assert_eq!(plan.job.job_memory, Some(3 << 20));
    assert_eq!(plan.job.active_processes, Some(5));
    assert_eq!(plan.job.cpu_seconds, Some(7));
    assert_eq!(plan.job.ui_limits, UiLimit::ALL);
    for (limit, level) in [
        (LimitKind::Memory, LimitLevel::Enforced),
        (LimitKind::Pids, LimitLevel::Enforced),
        (LimitKind::Cpu, LimitLevel::Enforced),
        (LimitKind::Wall, LimitLevel::Enforced),
        (LimitKind::Disk, LimitLevel::NotEnforced),
    ] {
        assert_eq!(report.limit(limit), level, "{limit:?}");
    }
    let refusal = World::sample()
        .lower(&CanonicalSandboxPolicy::workspace_write_with_limits(
            [root("/srv/app")],
            limits.required(),
        ))
        .unwrap()
        .admit(&palisade_policy::Guarantee::ALL.into_iter().collect())
        .unwrap_err();
    assert_eq!(refusal.limits, [LimitKind::Disk]);
    let (plan, _) = World::sample().plan(&CanonicalSandboxPolicy::workspace_write_with_limits(
        [root("/srv/app")],
        ResourceLimits::unlimited(),
    ));
    let job = plan.job;
    assert_eq!(
        (job.active_processes, job.job_memory, job.cpu_seconds),
        (None, None, None)
    );
}

#[test]
fn a_session_has_its_own_desktop_and_temporary_files() {
    let (plan, _) = World::sample().plan(&workspace());
    assert_eq!(plan.handles, HandlePlan::StandardOnly);
    assert_eq!(plan.desktop, DesktopPlan::Private);
    let set = ["TEMP", "TMP"].map(|name| (name.to_owned(), abs(TMP)));
    assert_eq!(plan.environment, set);
}
