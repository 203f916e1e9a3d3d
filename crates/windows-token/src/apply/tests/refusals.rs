//! What is refused: above all, to run where nothing restricts.

use palisade_policy::{
    AcceptedLosses, CanonicalSandboxPolicy, Guarantee, LoweringProblem, PolicyContext,
    PolicyProblem, WorkspaceRoot,
};

use super::{World, everything};
use crate::apply::error::{SelfCheckFailure, StartError};
use crate::apply::start::prepare;
use crate::apply::{self_check, start, token};
use crate::sys::for_tests::is_wine;

#[test]
fn nothing_starts_where_a_token_does_not_restrict() {
    let world = World::new();
    let before = (world.list(""), world.list(".git"));
    let outcome = start(
        &world.policy(),
        &world.context(),
        &everything(),
        &world.options(),
    );
    match outcome {
        // A real Windows: the token was tried, and restricts.
        Ok(started) => {
            assert!(!is_wine(), "Wine does not restrict");
            started.session.end().unwrap();
        }
        Err(error) => {
            assert!(is_wine(), "{error}");
            assert!(
                matches!(
                    error,
                    StartError::SelfCheck(SelfCheckFailure::NotRestricted)
                ),
                "{error}"
            );
            let said = error.to_string();
            assert!(
                said.contains("cannot restrict") && said.contains("nothing was started"),
                "{said}"
            );
        }
    }
    assert_eq!(
        (world.list(""), world.list(".git")),
        before,
        "the edits are undone"
    );
    assert_eq!(world.journal(), "");
    assert_eq!(world.tmp_count(), 0);
    let left: Vec<_> = std::fs::read_dir(&world.state)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| {
            !["journal", "lock", "capabilities.json", "sessions"].contains(&name.as_str())
        })
        .collect();
    assert_eq!(left, [] as [&str; 0]);
}

#[test]
fn a_token_that_is_not_restricted_fails_every_part_of_the_check() {
    let world = World::new();
    let prepared = world.prepare().unwrap();
    let (plan, traces) = (&prepared.plan, &prepared.traces);
    let tmp = traces.tmp.as_path();
    // What a plan without restricting identifiers makes is no sandbox, also on a real Windows.
    let mut open = plan.token.clone();
    open.restricting.clear();
    open.write_restricted = false;
    let token = token::make(&open).unwrap();
    let refused = self_check::check(token, plan, &traces.state, traces.session, tmp);
    assert!(
        matches!(refused, Err(SelfCheckFailure::NotRestricted)),
        "{refused:?}"
    );
    // The trials by themselves: the user's own rights are what they find.
    let granted = self_check::try_token(
        &token::make(&open).unwrap(),
        plan,
        &traces.state,
        traces.session,
        tmp,
    );
    let failure = granted.unwrap_err();
    assert!(
        matches!(failure, SelfCheckFailure::Granted { .. }),
        "{failure}"
    );
    assert!(failure.to_string().contains("canary"), "{failure}");
}

#[test]
fn losses_must_be_accepted_by_name() {
    let world = World::new();
    let refused = prepare(
        &world.policy(),
        &world.context(),
        &AcceptedLosses::none(),
        &world.options(),
    );
    let error = refused.map(drop).unwrap_err();
    let StartError::Refused(refusal) = &error else {
        panic!("{error}");
    };
    for guarantee in [
        Guarantee::Network,
        Guarantee::ProcessIsolation,
        Guarantee::SystemCalls,
    ] {
        assert!(
            refusal
                .losses
                .iter()
                .any(|loss| loss.guarantee == guarantee)
        );
        assert!(
            error
                .to_string()
                .contains(&format!("--accept-loss {guarantee}"))
        );
    }
    assert_eq!(world.journal(), "");
    assert_eq!(world.tmp_count(), 0);
}

fn problem(world: &World, policy: &CanonicalSandboxPolicy, context: &PolicyContext) -> StartError {
    prepare(policy, context, &everything(), &world.options())
        .map(drop)
        .unwrap_err()
}

#[test]
fn a_root_that_is_missing_or_another_is_refused() {
    let world = World::new();
    let root = |name: &str| WorkspaceRoot::new(world.root.with_file_name(name)).unwrap();
    let missing = CanonicalSandboxPolicy::workspace_write([root("missing")]);
    let error = problem(&world, &missing, &world.context());
    let StartError::Policy(policy_error) = &error else {
        panic!("{error}");
    };
    assert!(matches!(
        policy_error.problem(),
        PolicyProblem::Lowering(LoweringProblem::MissingRoot { .. })
    ));
    std::fs::create_dir(world.root.with_file_name("Mixed")).unwrap();
    let other_case = CanonicalSandboxPolicy::workspace_write([root("mIXED")]);
    let error = problem(&world, &other_case, &world.context());
    assert!(error.to_string().contains("Mixed"), "{error}");
    let device = CanonicalSandboxPolicy::workspace_write([root("aux")]);
    let error = problem(&world, &device, &world.context());
    assert!(matches!(error, StartError::Survey(_)), "{error}");
    assert_eq!(world.journal(), "");
}

#[test]
fn a_policy_without_a_sandbox_starts_none() {
    let world = World::new();
    let error = problem(
        &world,
        &CanonicalSandboxPolicy::full_access(),
        &world.context(),
    );
    assert!(matches!(error, StartError::Policy(_)), "{error}");
    assert_eq!(world.journal(), "");
}

/// As the user, and under Wine as anybody, this process can be changed: a token that can is not used.
#[test]
fn a_token_that_may_change_another_process_is_refused() {
    let failure = self_check::refuse_this_process().unwrap_err();
    assert!(
        matches!(failure, SelfCheckFailure::ProcessGranted { .. }),
        "{failure}"
    );
}
