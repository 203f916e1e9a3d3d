//! What cannot be lowered, whatever is accepted: each error names the field and what would help.

use palisade_policy::{
    Availability, Backend as _, CanonicalSandboxPolicy, LoweringProblem, PathRules, PolicyError,
    PolicyProblem, PrivatePlaces, Reopened, SandboxType,
};
use palisade_windows_token::{Sid, WindowsToken, private_places};

use crate::world::{
    Node, TMP, World, abs, context, native, root, spec, user, with_rules, workspace,
};

fn problem(error: &PolicyError) -> LoweringProblem {
    match error.problem() {
        PolicyProblem::Lowering(problem) => Some(problem.clone()),
        _ => None,
    }
    .unwrap()
}

fn refused(world: &World, policy: &CanonicalSandboxPolicy) -> PolicyError {
    world.lower(policy).map(|_| ()).unwrap_err()
}

#[test]
fn it_is_the_backend_of_windows() {
    assert_eq!(
        WindowsToken.sandbox_type(),
        SandboxType::WindowsRestrictedToken
    );
    let host = World::sample().host();
    assert_eq!(WindowsToken.availability(&host), Availability::Works);
    assert_eq!(private_places(&host).overlays, [abs(TMP)]);
}

#[test]
fn a_policy_that_confines_nothing_has_no_plan() {
    let host = World::sample().host();
    for policy in [
        CanonicalSandboxPolicy::full_access(),
        CanonicalSandboxPolicy::external("a container"),
    ] {
        let resolved = policy
            .resolve(&context().with_private(private_places(&host)))
            .unwrap();
        let error = WindowsToken
            .lower(&resolved, &host)
            .map(|_| ())
            .unwrap_err();
        assert_eq!(problem(&error), LoweringProblem::NothingToEnforce);
    }
}

#[test]
fn a_policy_for_another_session_is_refused() {
    let world = World::sample();
    let mut host = world.host();
    for private in [PrivatePlaces::default(), PrivatePlaces::all()] {
        let resolved = workspace()
            .resolve(&context().with_private(private))
            .unwrap();
        world.look(&mut host, &resolved);
        let error = WindowsToken
            .lower(&resolved, &host)
            .map(|_| ())
            .unwrap_err();
        assert_eq!(problem(&error), LoweringProblem::OtherPrivatePlaces);
    }
}

#[test]
fn a_path_that_nobody_looked_at_is_not_taken_for_missing() {
    let rules = PathRules::default().with_deny_read([spec("**/.env")]);
    let world = World::sample();
    let (policy, host) = world.prepare(&with_rules(rules), world.host()).unwrap();
    for path in [
        "/home/dev/.ssh",
        "/srv/app/.git",
        "/srv/app",
        "/srv/app/.env",
        TMP,
    ] {
        let mut host = host.clone();
        host.places.remove(&abs(path)).unwrap();
        let error = WindowsToken.lower(&policy, &host).map(|_| ()).unwrap_err();
        let path = native(path);
        assert_eq!(problem(&error), LoweringProblem::NotSurveyed { path });
    }
    let mut unmatched = host.clone();
    unmatched.matches.clear();
    let error = WindowsToken
        .lower(&policy, &unmatched)
        .map(|_| ())
        .unwrap_err();
    assert!(
        matches!(problem(&error), LoweringProblem::NotSurveyed { path } if path.contains("**"))
    );
    let mut without = host;
    without.capabilities.remove(&abs("/srv/app"));
    let error = WindowsToken
        .lower(&policy, &without)
        .map(|_| ())
        .unwrap_err();
    assert!(
        matches!(problem(&error), LoweringProblem::NotSurveyed { path } if path.contains("capability"))
    );
}

#[test]
fn a_root_must_exist_and_be_what_it_is_called() {
    let mut world = World::sample();
    world.add("/srv/link", Node::Link("/srv/other"));
    world.add("/srv/foreign", Node::Foreign);
    let with_root = |path: &str| CanonicalSandboxPolicy::workspace_write([root(path)]);
    let error = refused(&world, &with_root("/srv/none"));
    assert_eq!(error.field(), "writable_roots[0]");
    let path = abs("/srv/none");
    assert_eq!(problem(&error), LoweringProblem::MissingRoot { path });
    let error = refused(&world, &with_root("/srv/link"));
    let (path, real) = (abs("/srv/link"), Some(abs("/srv/other")));
    assert_eq!(problem(&error), LoweringProblem::LinkedRoot { path, real });
    let error = refused(&world, &with_root("/srv/foreign"));
    let path = abs("/srv/foreign");
    assert_eq!(problem(&error), LoweringProblem::ForeignAccessList { path });
    assert!(
        error.to_string().contains("let its owner grant that"),
        "{error}"
    );
    let grant = PathRules::default().with_reopened([Reopened::write(abs("/srv/none"))]);
    let error = refused(&world, &with_rules(grant));
    assert_eq!(error.field(), "paths.reopened[0]");
}

/// The file that keeps the capabilities could have been written by somebody else.
#[test]
fn an_identifier_that_somebody_has_is_no_capability() {
    let world = World::sample();
    let (policy, host) = world.prepare(&workspace(), world.host()).unwrap();
    let other = host.capabilities[&abs(TMP)].clone();
    for sid in [
        user(),
        other,
        Sid::everyone(),
        Sid::administrators(),
        host.logon.clone(),
    ] {
        let mut host = host.clone();
        host.capabilities.insert(abs("/srv/app"), sid.clone());
        let error = WindowsToken.lower(&policy, &host).map(|_| ()).unwrap_err();
        assert!(
            matches!(problem(&error), LoweringProblem::NoMechanism { .. }),
            "{sid}"
        );
    }
}
