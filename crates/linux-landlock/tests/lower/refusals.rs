//! What cannot be lowered, whatever is accepted: each error names the field and what would help.

use palisade_linux_landlock::{LinuxLandlock, private_places};
use palisade_policy::{
    Availability, Backend as _, CanonicalSandboxPolicy, LoweringProblem, PathRules, PolicyProblem,
    PrivatePlaces, Reopened,
};

use crate::files::{Files, Node, abs};
use crate::policies::{context, lower, prepare, root, with_rules, workspace};

fn problem(policy: &CanonicalSandboxPolicy, files: &Files) -> (String, LoweringProblem) {
    let error = lower(policy, files).map(|_| ()).unwrap_err();
    let problem = match error.problem() {
        PolicyProblem::Lowering(problem) => Some(problem.clone()),
        _ => None,
    };
    (error.field().to_owned(), problem.unwrap())
}

#[test]
fn without_any_mechanism_everything_is_refused() {
    let files = Files::sample();
    for abi in [0, 1, 2] {
        let host = files.kernel(abi, false);
        assert!(matches!(
            LinuxLandlock.availability(&host),
            Availability::Missing { cure: Some(_), .. }
        ));
        for policy in [CanonicalSandboxPolicy::read_only(), workspace()] {
            let (policy, host) = prepare(&policy, &context(1000), &files, host.clone()).unwrap();
            let error = LinuxLandlock.lower(&policy, &host).map(|_| ()).unwrap_err();
            assert!(
                matches!(
                    error.problem(),
                    PolicyProblem::Lowering(LoweringProblem::NoMechanism { .. })
                ),
                "{error}"
            );
        }
    }
    assert_eq!(
        LinuxLandlock.availability(&files.kernel(3, false)),
        Availability::Works
    );
    assert_eq!(
        LinuxLandlock.availability(&files.kernel(0, true)),
        Availability::Works
    );
}

#[test]
fn a_policy_that_confines_nothing_has_no_plan() {
    let host = Files::sample().kernel(7, true);
    for policy in [
        CanonicalSandboxPolicy::full_access(),
        CanonicalSandboxPolicy::external("a container"),
    ] {
        let context = context(1000).with_private(private_places(&host));
        let resolved = policy.resolve(&context).unwrap();
        let error = LinuxLandlock
            .lower(&resolved, &host)
            .map(|_| ())
            .unwrap_err();
        assert_eq!(
            *error.problem(),
            PolicyProblem::Lowering(LoweringProblem::NothingToEnforce)
        );
    }
}

#[test]
fn a_policy_for_another_tier_is_refused() {
    let files = Files::sample();
    let mut host = files.kernel(7, true);
    let resolved = workspace()
        .resolve(&context(1000).with_private(PrivatePlaces::default()))
        .unwrap();
    files.look(&mut host, &resolved);
    let error = LinuxLandlock
        .lower(&resolved, &host)
        .map(|_| ())
        .unwrap_err();
    assert_eq!(
        *error.problem(),
        PolicyProblem::Lowering(LoweringProblem::OtherPrivatePlaces)
    );
}

#[test]
fn a_path_that_nobody_looked_at_is_not_taken_for_missing() {
    let files = Files::sample();
    let (policy, mut host) =
        prepare(&workspace(), &context(1000), &files, files.kernel(7, true)).unwrap();
    host.places.entries.remove(&abs("/home/dev/.ssh"));
    let error = LinuxLandlock.lower(&policy, &host).map(|_| ()).unwrap_err();
    assert_eq!(
        *error.problem(),
        PolicyProblem::Lowering(LoweringProblem::NotSurveyed {
            path: "/home/dev/.ssh".to_owned()
        })
    );
}

#[test]
fn a_root_must_exist_and_be_what_it_is_called() {
    let mut files = Files::sample();
    files.add("/srv/link", Node::Link("/srv/other".into()));
    files.add("/srv/pipe", Node::Socket);
    let with_root = |path: &str| CanonicalSandboxPolicy::workspace_write([root(path)]);
    assert_eq!(
        problem(&with_root("/srv/none"), &files),
        (
            "writable_roots[0]".to_owned(),
            LoweringProblem::MissingRoot {
                path: abs("/srv/none")
            }
        )
    );
    assert_eq!(
        problem(&with_root("/srv/link"), &files).1,
        LoweringProblem::LinkedRoot {
            path: abs("/srv/link"),
            real: Some(abs("/srv/other"))
        }
    );
    files.add("/srv/other/deep", Node::Directory);
    assert_eq!(
        problem(&with_root("/srv/link/deep"), &files).1,
        LoweringProblem::LinkedRoot {
            path: abs("/srv/link/deep"),
            real: Some(abs("/srv/other/deep"))
        }
    );
    assert_eq!(
        problem(&with_root("/srv/pipe"), &files).1,
        LoweringProblem::UnusableRoot {
            path: abs("/srv/pipe")
        }
    );
    let grant = PathRules::default().with_reopened([Reopened::write(abs("/srv/none"))]);
    assert_eq!(
        problem(&with_rules(grant), &files),
        (
            "paths.reopened[0]".to_owned(),
            LoweringProblem::MissingRoot {
                path: abs("/srv/none")
            }
        )
    );
}
