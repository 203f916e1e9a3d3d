//! The laws of the decision, each on every combination of the finite inputs.

use palisade_exec_policy::matrix::{Case, Outcome, Request, VerdictKind, cases};
use palisade_exec_policy::{
    AskForApproval, ExecApprovalRequirement, PromptCategory, Reason, Risk, SandboxablePreference,
    SegmentVerdict,
};
use palisade_policy::NetworkAccess;

use crate::support::{Strictness, asks_to_leave, contained, strictness};

#[test]
fn a_stricter_verdict_never_yields_a_looser_requirement() {
    use VerdictKind::{
        Allow, AllowAndAllowUnsandboxed, AllowAndPrompt, AllowAndUnmatched, AllowUnsandboxed,
        AllowUnsandboxedAndForbid, AllowUnsandboxedAndPromptUnsandboxed,
        AllowUnsandboxedAndUnmatched, Answered, AnsweredUnsandboxed, Forbid, Nothing, Opaque,
        Prompt, PromptByDefault, PromptUnsandboxed, Unmatched,
    };
    let stricter = [
        (AllowUnsandboxed, AllowAndAllowUnsandboxed),
        (AllowAndAllowUnsandboxed, Allow),
        (AllowUnsandboxed, AnsweredUnsandboxed),
        (Allow, Answered),
        (AnsweredUnsandboxed, Answered),
        (Answered, Prompt),
        (AnsweredUnsandboxed, PromptUnsandboxed),
        (Allow, AllowAndUnmatched),
        (AllowUnsandboxed, AllowUnsandboxedAndUnmatched),
        (AllowAndUnmatched, Unmatched),
        (AllowUnsandboxedAndUnmatched, Unmatched),
        (Unmatched, Opaque),
        (Unmatched, Nothing),
        (Unmatched, PromptByDefault),
        (Opaque, Prompt),
        (Nothing, Prompt),
        (Allow, AllowAndPrompt),
        (AllowUnsandboxed, AllowUnsandboxedAndPromptUnsandboxed),
        (AllowUnsandboxedAndPromptUnsandboxed, PromptUnsandboxed),
        (AllowAndPrompt, Prompt),
        (PromptUnsandboxed, Prompt),
        (Prompt, Forbid),
        (PromptByDefault, Forbid),
        (
            AllowUnsandboxedAndPromptUnsandboxed,
            AllowUnsandboxedAndForbid,
        ),
    ];
    for loose in cases() {
        let decided = strictness(&loose.decide());
        for (_, verdict) in stricter.iter().filter(|(kind, _)| *kind == loose.verdict) {
            let strict = Case {
                verdict: *verdict,
                ..loose
            };
            assert!(
                strictness(&strict.decide()) >= decided,
                "{loose:?} and {strict:?}"
            );
        }
    }
}

#[test]
fn a_higher_risk_never_yields_a_looser_requirement() {
    for case in cases() {
        let riskier = match case.risk {
            Risk::KnownSafe => Risk::Unknown,
            Risk::Unknown => Risk::Dangerous,
            Risk::Dangerous => continue,
        };
        let riskier = Case {
            risk: riskier,
            ..case
        };
        assert!(
            strictness(&riskier.decide()) >= strictness(&case.decide()),
            "{case:?}"
        );
    }
}

#[test]
fn losing_the_sandbox_never_yields_a_looser_requirement() {
    for case in cases().filter(|case| case.backend_works) {
        let without = Case {
            backend_works: false,
            ..case
        };
        assert!(
            strictness(&without.decide()) >= strictness(&case.decide()),
            "{case:?}"
        );
    }
}

#[test]
fn forbidden_absorbs() {
    for case in cases() {
        let forbids = matches!(
            case.verdict,
            VerdictKind::Forbid | VerdictKind::AllowUnsandboxedAndForbid
        );
        let outcome = Outcome::of(&case.decide());
        assert_eq!(forbids, outcome == Outcome::ForbiddenByRule, "{case:?}");
    }
}

#[test]
fn a_forbidding_rule_gives_its_justification() {
    for case in cases().filter(|case| case.verdict == VerdictKind::Forbid) {
        let reason = "a reason".to_owned();
        assert_eq!(
            case.decide().requirement,
            ExecApprovalRequirement::Forbidden { reason },
            "{case:?}"
        );
    }
}

#[test]
fn never_never_asks() {
    for case in cases().filter(|case| case.approval == AskForApproval::Never) {
        assert_ne!(strictness(&case.decide()), Strictness::Asks, "{case:?}");
    }
}

#[test]
fn a_rejected_category_is_never_asked_and_is_named() {
    let mut refused = 0;
    for case in cases() {
        let decision = case.decide();
        let rejected = |category: &PromptCategory| case.approval.rejects(*category);
        match &decision.requirement {
            ExecApprovalRequirement::NeedsApproval { .. } => {
                assert!(
                    !decision.reasons.categories().any(|c| rejected(&c)),
                    "{case:?}"
                );
            }
            ExecApprovalRequirement::Forbidden { reason } => {
                if let Outcome::ForbiddenCategory(category) = Outcome::of(&decision) {
                    assert_eq!(reason, category.rejection(), "{case:?}");
                    refused += 1;
                }
            }
            ExecApprovalRequirement::Skip { .. } => {}
        }
    }
    assert!(refused > 10_000);
    let text = PromptCategory::SandboxApproval.rejection();
    assert_eq!(text, "approval policy rejected sandbox approval prompt");
    for category in [PromptCategory::Rules, PromptCategory::RequestPermissions] {
        assert!(category.rejection().contains(category.name()));
    }
}

/// What would have to be asked, written down a second time from the inputs alone.
fn categories(case: &Case) -> Vec<PromptCategory> {
    let dropped = matches!(
        case.approval,
        AskForApproval::Never | AskForApproval::OnFailure
    );
    let segments = case.verdict.segments();
    let allowed = !segments.is_empty()
        && segments
            .iter()
            .all(|segment| matches!(segment, SegmentVerdict::Allow { .. }));
    let unread = matches!(case.verdict, VerdictKind::Opaque | VerdictKind::Nothing);
    let known_safe = case.risk == Risk::KnownSafe && !unread;
    let dangerous = case.risk == Risk::Dangerous && !allowed;
    let untrusted = case.approval == AskForApproval::UnlessTrusted && !allowed && !known_safe;
    let escalates = matches!(case.request, Request::Escalation | Request::Bypass)
        || case.preference == SandboxablePreference::Forbid;
    let leaves = contained(case) && (!case.backend_works || (escalates && !dropped));
    let rule_asks = segments.iter().any(|segment| {
        matches!(
            segment,
            SegmentVerdict::Prompt {
                answered: false,
                ..
            } | SegmentVerdict::PromptByDefault { .. }
        )
    });
    let wants_more = contained(case) && case.request == Request::Permissions && !dropped;
    [
        (
            PromptCategory::SandboxApproval,
            dangerous || untrusted || leaves,
        ),
        (PromptCategory::Rules, rule_asks),
        (PromptCategory::RequestPermissions, wants_more),
    ]
    .into_iter()
    .filter_map(|(category, asked)| asked.then_some(category))
    .collect()
}

#[test]
fn what_is_asked_is_what_the_inputs_call_for() {
    for case in cases() {
        let decision = case.decide();
        let refused_at_once = decision.reasons.iter().any(|reason| {
            matches!(
                reason,
                Reason::Forbidden(_)
                    | Reason::RequiredSandboxMissing
                    | Reason::RequiredSandboxContradicted(_)
                    | Reason::BypassUnderPolicy(_)
            )
        });
        if refused_at_once {
            assert_eq!(strictness(&decision), Strictness::Forbids, "{case:?}");
            continue;
        }
        let expected = categories(&case);
        let asked: Vec<PromptCategory> = decision.reasons.categories().collect();
        assert_eq!(asked, expected, "{case:?}");
        let rejected = expected
            .iter()
            .any(|category| case.approval.rejects(*category));
        let strict = match (expected.is_empty(), rejected) {
            (true, _) => strictness(&decision) <= Strictness::Runs,
            (false, false) => strictness(&decision) == Strictness::Asks,
            (false, true) => strictness(&decision) == Strictness::Forbids,
        };
        assert!(strict, "{case:?}");
    }
}

#[test]
fn a_required_sandbox_that_is_missing_or_to_be_left_forbids_at_once() {
    for case in cases() {
        let forbidden = matches!(
            case.verdict,
            VerdictKind::Forbid | VerdictKind::AllowUnsandboxedAndForbid
        );
        let drops = matches!(
            case.approval,
            AskForApproval::Never | AskForApproval::OnFailure
        );
        let to_be_left = matches!(case.request, Request::Escalation | Request::Bypass) && !drops;
        let expected = !forbidden
            && case.preference == SandboxablePreference::Require
            && (!case.backend_works || to_be_left);
        let outcome = Outcome::of(&case.decide());
        assert_eq!(outcome == Outcome::ForbiddenRequired, expected, "{case:?}");
    }
}

#[test]
fn bypass_only_from_an_explicit_allow_of_every_segment_that_says_so() {
    let mut seen = 0;
    for case in cases() {
        if Outcome::of(&case.decide()) == Outcome::SkipBypass {
            assert_eq!(case.verdict, VerdictKind::AllowUnsandboxed, "{case:?}");
            assert_ne!(case.preference, SandboxablePreference::Require, "{case:?}");
            assert!(contained(&case) && case.backend_works, "{case:?}");
            seen += 1;
        }
    }
    assert!(seen > 100);
}

#[test]
fn without_a_working_sandbox_nothing_contained_runs_unasked() {
    for case in cases().filter(|case| contained(case) && !case.backend_works) {
        let decision = case.decide();
        let forbidden = strictness(&decision) == Strictness::Forbids;
        assert!(forbidden || asks_to_leave(&decision), "{case:?}");
        if case.preference == SandboxablePreference::Require {
            assert!(forbidden, "{case:?}");
        }
    }
}

#[test]
fn under_require_nobody_is_asked_to_leave() {
    for case in cases().filter(|case| case.preference == SandboxablePreference::Require) {
        let decision = case.decide();
        assert!(!asks_to_leave(&decision), "{case:?}");
        assert_ne!(
            strictness(&decision),
            Strictness::RunsUnsandboxed,
            "{case:?}"
        );
    }
}

#[test]
fn what_is_not_contained_is_never_about_leaving() {
    for case in cases().filter(|case| !contained(case)) {
        let decision = case.decide();
        assert!(!asks_to_leave(&decision), "{case:?}");
        let plain = Case {
            request: Request::Nothing,
            preference: SandboxablePreference::Auto,
            backend_works: true,
            ..case
        };
        assert_eq!(decision.requirement, plain.decide().requirement, "{case:?}");
    }
}

#[test]
fn an_approval_leaves_only_for_a_missing_sandbox_a_request_or_rules_that_all_say_so() {
    for case in cases() {
        let decision = case.decide();
        if strictness(&decision) != Strictness::Asks {
            continue;
        }
        let dropped = case.approval == AskForApproval::OnFailure;
        let requested = matches!(case.request, Request::Escalation | Request::Bypass)
            || case.preference == SandboxablePreference::Forbid;
        let rules_say_so = matches!(
            case.verdict,
            VerdictKind::AllowUnsandboxed
                | VerdictKind::AnsweredUnsandboxed
                | VerdictKind::PromptUnsandboxed
                | VerdictKind::AllowUnsandboxedAndPromptUnsandboxed
        );
        let leaves = contained(&case)
            && case.preference != SandboxablePreference::Require
            && (!case.backend_works || (requested && !dropped) || rules_say_so);
        assert_eq!(asks_to_leave(&decision), leaves, "{case:?}");
    }
}

#[test]
fn requests_are_dropped_where_nobody_is_asked_before_a_run() {
    let policies = [AskForApproval::Never, AskForApproval::OnFailure];
    for case in cases().filter(|case| policies.contains(&case.approval)) {
        let plain = Case {
            request: Request::Nothing,
            preference: match case.preference {
                SandboxablePreference::Forbid => SandboxablePreference::Auto,
                kept => kept,
            },
            ..case
        };
        let decided = Outcome::of(&case.decide());
        if case.request == Request::Bypass && contained(&case) {
            assert_eq!(strictness(&case.decide()), Strictness::Forbids, "{case:?}");
        } else {
            assert_eq!(decided, Outcome::of(&plain.decide()), "{case:?}");
        }
    }
}

#[test]
fn the_network_does_not_change_the_decision() {
    for case in cases() {
        let network = NetworkAccess::Restricted;
        assert_eq!(case.decide(), Case { network, ..case }.decide(), "{case:?}");
    }
}

#[test]
fn a_decision_is_the_same_twice() {
    for case in cases() {
        assert_eq!(case.decide(), case.decide(), "{case:?}");
    }
}

#[test]
fn every_explanation_says_why_and_names_what_decided() {
    for case in cases() {
        let decision = case.decide();
        let text = decision.explain();
        let (what, why) = text.split_once(", because ").expect("a reason");
        assert!(!why.is_empty(), "{case:?}");
        let said = match Outcome::of(&decision) {
            Outcome::Skip => what == "runs without asking",
            Outcome::SkipBypass => what == "runs without asking and without a sandbox",
            Outcome::AskRun | Outcome::AskUnsandboxed => {
                let leaves = what.contains("without a sandbox");
                let mut categories = decision.reasons.categories();
                leaves == asks_to_leave(&decision)
                    && categories.all(|category| what.contains(category.name()))
            }
            Outcome::ForbiddenByRule => why == "rule `rule` forbids this (a reason)",
            Outcome::ForbiddenRequired => why.starts_with("the tool requires a sandbox"),
            Outcome::ForbiddenCategory(category) => why.contains(category.name()),
        };
        assert!(said, "{text}: {case:?}");
        let mut kinds: Vec<_> = decision.reasons.iter().map(kind).collect();
        kinds.sort_unstable();
        kinds.dedup();
        assert_eq!(kinds.len(), decision.reasons.iter().count(), "{case:?}");
    }
}

fn kind(reason: Reason<'_>) -> String {
    let text = format!("{reason:?}");
    text.split('(').next().unwrap_or_default().to_owned()
}
