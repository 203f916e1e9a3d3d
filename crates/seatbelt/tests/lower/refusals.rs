//! What cannot be lowered is refused, with the field and what would help.

use palisade_policy::{
    Backend as _, CanonicalSandboxPolicy, LocalAccess, LoweringProblem, PathRules, PolicyProblem,
    Reopened,
};
use palisade_seatbelt::host::{Entry, Located, SandboxExec};
use palisade_seatbelt::{MacHost, Seatbelt};

use crate::support::{abs, context, mac, plan, prepare, root, spec};

fn workspace() -> CanonicalSandboxPolicy {
    CanonicalSandboxPolicy::workspace_write_no_sensitive_blocking([root("/Users/dev/app")])
}

/// The refusal of a policy on a host where something is otherwise.
fn refused(policy: &CanonicalSandboxPolicy, change: impl FnOnce(MacHost) -> MacHost) -> String {
    let (policy, host) = prepare(policy, context(), mac()).unwrap();
    Seatbelt
        .lower(&policy, &change(host))
        .unwrap_err()
        .to_string()
}

#[test]
fn a_policy_that_confines_nothing_has_no_profile() {
    let error = refused(&CanonicalSandboxPolicy::full_access(), |host| host);
    assert_eq!(
        error,
        "`type`: a policy that confines nothing cannot be lowered"
    );
}

#[test]
fn nothing_is_lowered_where_nothing_can_be_applied() {
    for (state, why) in [
        (SandboxExec::Missing, "/usr/bin/sandbox-exec is not there"),
        (SandboxExec::Nested, "this process is in a sandbox"),
        (SandboxExec::NotMacos, "this is not macOS"),
    ] {
        let error = refused(&workspace(), |mut host| {
            host.sandbox_exec = state;
            host
        });
        assert!(error.contains(why), "{error}");
    }
}

#[test]
fn a_policy_for_another_session_is_refused() {
    let error = refused(&workspace(), |host| {
        host.with_session_tmp(abs("/private/tmp/other"))
    });
    assert!(error.contains("other private places"), "{error}");
}

#[test]
fn a_root_is_what_it_is_called() {
    let at = abs("/Users/dev/app");
    let elsewhere = Located::new(abs("/Volumes/data/app"), Entry::Directory);
    let cases = [
        (
            Located::missing(abs("/Users/dev"), ["app"]),
            "`cwd`: /Users/dev/app does not exist; create it first",
        ),
        (
            elsewhere,
            "`cwd`: /Users/dev/app leads through a symbolic link; name what it leads to: /Volumes/data/app",
        ),
        (
            Located::new(at.clone(), Entry::DeadLink),
            "`cwd`: /Users/dev/app leads through a symbolic link; name what it leads to",
        ),
    ];
    for (located, expected) in cases {
        let place = |host: MacHost| host.with_place(at.clone(), located);
        let policy = CanonicalSandboxPolicy::workspace_write_no_sensitive_blocking([]);
        assert_eq!(refused(&policy, place), expected);
    }
    // Another case is no other place.
    let spelled = Located::new(abs("/Users/Dev/App"), Entry::Directory);
    let (policy, host) = prepare(&workspace(), context(), mac()).unwrap();
    assert!(
        Seatbelt
            .lower(&policy, &host.with_place(at, spelled))
            .is_ok()
    );
}

#[test]
fn devices_are_no_place_for_files() {
    let rules = PathRules::default().with_reopened([Reopened::write(abs("/dev/disk0"))]);
    let error = refused(&workspace().with_paths(rules), |host| {
        let disk = abs("/dev/disk0");
        host.with_place(disk.clone(), Located::new(disk, Entry::Other))
    });
    assert!(error.starts_with("`paths.reopened[0]`: "), "{error}");
}

#[test]
fn what_nobody_looked_at_is_refused() {
    let error = refused(&workspace(), |mut host| {
        host.places.remove(&abs("/Users/dev/app/.git"));
        host
    });
    assert_eq!(
        error,
        "`paths`: nobody looked at /Users/dev/app/.git on this host"
    );
}

#[test]
fn what_a_profile_cannot_hold_is_refused_by_name() {
    for hostile in ["a\nb", "a\rb"] {
        let rules = PathRules::default().with_deny_read([spec(hostile)]);
        let policy = workspace().with_paths(rules);
        let (policy, host) = prepare(&policy, context(), mac()).unwrap();
        let error = Seatbelt.lower(&policy, &host).unwrap_err();
        assert!(matches!(
            error.problem(),
            PolicyProblem::Lowering(LoweringProblem::UnspeakablePath {
                why: "contains a line break",
                ..
            })
        ));
        assert!(!error.to_string().contains(['\n', '\r']), "{error}");
    }
    let bytes = {
        use std::os::unix::ffi::OsStringExt as _;
        std::ffi::OsString::from_vec(b"/Users/dev/\xff".to_vec())
    };
    let rules = PathRules::default().with_deny_read([abs(bytes).into()]);
    let error = refused(&workspace().with_paths(rules), |host| host);
    assert!(error.contains("is not Unicode"), "{error}");
}

#[test]
fn a_link_that_leads_nowhere_is_guarded_and_reported() {
    let link = abs("/Users/dev/app/.vscode");
    let (policy, host) = prepare(&workspace(), context(), mac()).unwrap();
    let dead = Located::new(link.clone(), Entry::DeadLink);
    let lowered = Seatbelt
        .lower(&policy, &host.with_place(link, dead))
        .unwrap();
    let report = lowered.enforcement().to_string();
    let line = "protected-paths: detected only (Seatbelt, with what holds them kept in place): /Users/dev/app/.vscode is a link";
    assert!(report.contains(line), "{report}");
    assert!(lowered.preview().contains("= /Users/dev/app/.vscode\n"));
}

#[test]
fn what_the_session_is_told_about_temporary_files() {
    let plan = plan(&workspace(), mac());
    let tmp = abs("/private/var/folders/ab/T/palisade-1");
    assert_eq!(plan.session_tmp.as_ref(), Some(&tmp));
    let names: Vec<&str> = plan.environment.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["TMPDIR", "TEMP", "TMP"]);
    assert!(plan.environment.iter().all(|(_, value)| *value == tmp));
}

#[test]
fn a_socket_is_named_by_what_its_path_leads_to() {
    let local = LocalAccess::default().with_unix_paths([abs("/var/run/docker.sock")]);
    let error = refused(&workspace().with_local(local), |host| host);
    assert_eq!(
        error,
        "`local.unix_paths[0]`: /var/run/docker.sock leads through a symbolic link; name what it leads to: \
         /private/var/run/docker.sock"
    );
}

#[test]
fn another_name_of_a_root_takes_nothing_from_it() {
    let link = abs("/Users/dev/link");
    let rules = PathRules::default().with_reopened([Reopened::read(link.clone())]);
    let (policy, host) = prepare(&workspace().with_paths(rules), context(), mac()).unwrap();
    let app = Located::new(abs("/Users/dev/app"), Entry::Directory).through(vec![link.clone()]);
    let lowered = Seatbelt
        .lower(&policy, &host.with_place(link, app))
        .unwrap();
    let text = lowered.preview();
    let allow = "(allow file-write*\n  (require-all\n    (subpath (param \"ROOT_0\"))";
    assert!(text.contains(allow), "{text}");
}

#[test]
fn what_a_guarded_link_leads_to_is_guarded() {
    let link = abs("/Users/dev/link");
    let rules = PathRules::default().with_deny_read([link.clone().into()]);
    let (policy, host) = prepare(&workspace().with_paths(rules), context(), mac()).unwrap();
    let src = Located::new(abs("/Users/dev/app/src"), Entry::Directory).through(vec![link.clone()]);
    let lowered = Seatbelt
        .lower(&policy, &host.with_place(link, src))
        .unwrap();
    let text = lowered.preview();
    assert!(text.contains("DENIED_0 = /Users/dev/app/src"), "{text}");
    assert!(text.contains("(deny file-read*"), "{text}");
}
