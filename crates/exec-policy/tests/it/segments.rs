//! Commands of several segments, and inputs that nobody enumerated.

use palisade_exec_policy::matrix::{Outcome, Request};
use palisade_exec_policy::{
    AskForApproval, Command, DefaultEntry, ExecApprovalRequirement, ExecPolicyAmendment, Question,
    Risk, RuleDecision, RuleRef, SandboxablePreference, SegmentVerdict, VerdictSource, decide,
};
use palisade_policy::{NetworkAccess, SandboxMode, SandboxPermissions, SandboxPolicy};
use proptest::prelude::*;
use proptest::sample::select;

use crate::support::{Strictness, approvals, backends, landlock, strictness};

const RULE: RuleRef<'static> = RuleRef::new("rule", Some("a reason"));

/// Every verdict, the loosest first; a later one is at least as strict as an earlier one.
fn verdicts() -> Vec<SegmentVerdict<'static>> {
    let allow = |unsandboxed| SegmentVerdict::Allow {
        rule: RULE,
        unsandboxed,
    };
    let prompt = |answered, unsandboxed| SegmentVerdict::Prompt {
        rule: RULE,
        answered,
        unsandboxed,
    };
    vec![
        allow(true),
        allow(false),
        prompt(true, true),
        prompt(true, false),
        SegmentVerdict::Unmatched,
        SegmentVerdict::Opaque { why: "a pipe" },
        prompt(false, true),
        prompt(false, false),
        SegmentVerdict::PromptByDefault {
            entry: DefaultEntry::Danger,
        },
        SegmentVerdict::PromptByDefault {
            entry: DefaultEntry::Opaque,
        },
        SegmentVerdict::Forbid { rule: RULE },
        SegmentVerdict::ForbidByDefault {
            entry: DefaultEntry::Opaque,
        },
    ]
}

fn scripts() -> impl Strategy<Value = Vec<SegmentVerdict<'static>>> {
    prop::collection::vec(select(verdicts()), 1..6)
}

/// Everything but the segments.
fn surroundings() -> impl Strategy<Value = Question<'static>> {
    (
        select(approvals()),
        select(SandboxMode::ALL.to_vec()),
        select(NetworkAccess::ALL.to_vec()),
        select(SandboxablePreference::ALL.to_vec()),
        select(backends().to_vec()),
        select(Risk::ALL.to_vec()),
        select(Request::ALL.to_vec()),
    )
        .prop_map(
            |(approval, mode, network, preference, backend, risk, request)| Question {
                approval,
                sandbox: SandboxPolicy::new(mode, network),
                preference,
                backend,
                command: Some(Command {
                    segments: &[],
                    risk,
                    permissions: request.permissions(),
                    amendment: None,
                }),
            },
        )
}

fn with<'a>(question: &Question<'a>, segments: &'a [SegmentVerdict<'a>]) -> Question<'a> {
    let command = question.command.map(|command| Command {
        segments,
        ..command
    });
    Question {
        command,
        ..*question
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn adding_a_segment_never_loosens(
        question in surroundings(),
        script in scripts(),
        added in select(verdicts()),
        at in any::<prop::sample::Index>(),
    ) {
        let before = strictness(&decide(&with(&question, &script)));
        let mut longer = script.clone();
        longer.insert(at.index(script.len() + 1), added);
        prop_assert!(strictness(&decide(&with(&question, &longer))) >= before);
    }

    #[test]
    fn adding_a_forbidden_segment_forbids(
        question in surroundings(),
        script in scripts(),
        at in any::<prop::sample::Index>(),
    ) {
        let mut longer = script.clone();
        longer.insert(at.index(script.len() + 1), SegmentVerdict::Forbid { rule: RULE });
        let decision = decide(&with(&question, &longer));
        prop_assert_eq!(Outcome::of(&decision), Outcome::ForbiddenByRule);
    }

    #[test]
    fn a_stricter_verdict_never_loosens_a_script(
        question in surroundings(),
        script in scripts(),
        stricter in any::<prop::sample::Index>(),
        at in any::<prop::sample::Index>(),
    ) {
        let at = at.index(script.len());
        let order = verdicts();
        let present = order.iter().position(|verdict| *verdict == script[at]).unwrap();
        let mut changed = script.clone();
        changed[at] = order[present + stricter.index(order.len() - present)];
        let before = strictness(&decide(&with(&question, &script)));
        prop_assert!(strictness(&decide(&with(&question, &changed))) >= before);
    }

    #[test]
    fn bypass_needs_every_segment(question in surroundings(), script in scripts()) {
        let decision = decide(&with(&question, &script));
        let every = script.iter().all(|segment| matches!(
            segment,
            SegmentVerdict::Allow { unsandboxed: true, .. }
        ));
        if strictness(&decision) == Strictness::RunsUnsandboxed {
            prop_assert!(every);
        }
    }

    #[test]
    fn the_order_of_segments_does_not_matter(question in surroundings(), script in scripts()) {
        let mut reversed = script.clone();
        reversed.reverse();
        prop_assert_eq!(
            Outcome::of(&decide(&with(&question, &script))),
            Outcome::of(&decide(&with(&question, &reversed)))
        );
    }

    #[test]
    fn whatever_a_rule_is_called_the_explanation_is_one_line(
        question in surroundings(),
        id in any::<String>(),
        why in proptest::option::of(any::<String>()),
        kind in 0..4_u8,
    ) {
        let rule = RuleRef::new(&id, why.as_deref());
        let verdict = match kind {
            0 => SegmentVerdict::Forbid { rule },
            1 => SegmentVerdict::Prompt { rule, answered: false, unsandboxed: false },
            2 => SegmentVerdict::Prompt { rule, answered: true, unsandboxed: true },
            _ => SegmentVerdict::Allow { rule, unsandboxed: true },
        };
        let segments = [verdict];
        let text = decide(&with(&question, &segments)).explain();
        prop_assert!(!text.chars().any(char::is_control), "{}", text);
    }

    #[test]
    fn no_segment_at_all_is_judged_like_an_opaque_one(question in surroundings()) {
        let opaque = [SegmentVerdict::Opaque { why: "" }];
        prop_assert_eq!(
            decide(&with(&question, &[])).requirement,
            decide(&with(&question, &opaque)).requirement
        );
    }
}

fn on_request(risk: Risk) -> Question<'static> {
    Question {
        approval: AskForApproval::OnRequest,
        sandbox: SandboxPolicy::default(),
        preference: SandboxablePreference::Auto,
        backend: landlock(),
        command: Some(Command {
            segments: &[],
            risk,
            permissions: &SandboxPermissions::UseDefault,
            amendment: None,
        }),
    }
}

#[test]
fn no_segment_at_all_is_not_allowed_by_anything() {
    let never = Question {
        approval: AskForApproval::Never,
        ..on_request(Risk::Dangerous)
    };
    assert_eq!(strictness(&decide(&never)), Strictness::Forbids);
    let trusting = Question {
        approval: AskForApproval::UnlessTrusted,
        ..on_request(Risk::KnownSafe)
    };
    assert_eq!(strictness(&decide(&trusting)), Strictness::Asks);
}

#[test]
fn an_opaque_command_is_not_known_to_be_safe() {
    let opaque = [SegmentVerdict::Opaque { why: "`eval`" }];
    let question = Question {
        approval: AskForApproval::UnlessTrusted,
        ..on_request(Risk::KnownSafe)
    };
    assert_eq!(
        strictness(&decide(&with(&question, &opaque))),
        Strictness::Asks
    );
    let plain = [SegmentVerdict::Unmatched];
    assert_eq!(
        strictness(&decide(&with(&question, &plain))),
        Strictness::Runs
    );
}

/// The amendment that is offered for this command.
fn offered(question: &Question<'_>, segments: &[SegmentVerdict<'_>]) -> bool {
    let amendment = ExecPolicyAmendment::new(["cargo", "add"]).ok();
    let mut question = with(question, segments);
    if let Some(command) = &mut question.command {
        command.amendment = amendment.as_ref();
    }
    match decide(&question).requirement {
        ExecApprovalRequirement::NeedsApproval {
            proposed_execpolicy_amendment,
            ..
        } => proposed_execpolicy_amendment == amendment,
        ExecApprovalRequirement::Skip {
            proposed_execpolicy_amendment,
            ..
        } => proposed_execpolicy_amendment.is_some(),
        ExecApprovalRequirement::Forbidden { .. } => false,
    }
}

#[test]
fn an_amendment_is_offered_where_it_settles_every_question() {
    let prompt = [SegmentVerdict::Prompt {
        rule: RULE,
        answered: false,
        unsandboxed: false,
    }];
    let by_default = [SegmentVerdict::PromptByDefault {
        entry: DefaultEntry::Unmatched,
    }];
    assert!(offered(&on_request(Risk::Unknown), &prompt));
    assert!(offered(&on_request(Risk::Unknown), &by_default));
    assert!(offered(
        &on_request(Risk::Dangerous),
        &[SegmentVerdict::Unmatched]
    ));
    assert!(offered(&on_request(Risk::Dangerous), &by_default));
    assert!(
        !offered(&on_request(Risk::Unknown), &[SegmentVerdict::Unmatched]),
        "it runs"
    );
}

#[test]
fn an_amendment_is_not_offered_where_a_question_would_remain() {
    let prompt = [SegmentVerdict::Prompt {
        rule: RULE,
        answered: false,
        unsandboxed: false,
    }];
    // A stored approval of the rule would leave the danger.
    assert!(!offered(&on_request(Risk::Dangerous), &prompt));
    let no_sandbox = Question {
        backend: None,
        ..on_request(Risk::Unknown)
    };
    assert!(!offered(&no_sandbox, &prompt));
    for request in [Request::Permissions, Request::Escalation, Request::Bypass] {
        let mut question = on_request(Risk::Unknown);
        if let Some(command) = &mut question.command {
            command.permissions = request.permissions();
        }
        assert!(!offered(&question, &prompt), "{request:?}");
    }
}

#[test]
fn asked_without_an_approval_policy_rules_allow_prompt_or_forbid() {
    let said: Vec<RuleDecision> = verdicts()
        .iter()
        .map(SegmentVerdict::rule_decision)
        .collect();
    let mut expected = vec![RuleDecision::Prompt; 12];
    expected[..2].fill(RuleDecision::Allow);
    expected[10..].fill(RuleDecision::Forbid);
    assert_eq!(said, expected);
    assert_eq!(
        SegmentVerdict::Unmatched.source(),
        VerdictSource::Default(DefaultEntry::Unmatched)
    );
}

#[test]
fn a_forbidding_rule_without_a_justification_is_named() {
    let rule = RuleRef::new("no-force", None);
    let segments = [SegmentVerdict::Forbid { rule }];
    assert_eq!(
        decide(&with(&on_request(Risk::Unknown), &segments)).requirement,
        ExecApprovalRequirement::Forbidden {
            reason: "rule `no-force` forbids this".to_owned()
        }
    );
}
