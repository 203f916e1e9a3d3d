//! The words of decisions and policies, from outside.

use palisade_runner::exec_policy::{
    AskForApproval, ExecApprovalRequirement, ExecPolicyAmendment, RejectConfig, ReviewDecision,
    SandboxOverride, SandboxablePreference,
};
use palisade_runner::policy::{
    CanonicalSandboxPolicy, NetworkAccess, ResourceLimits, SandboxMode, SandboxPolicy,
    SeccompProfile,
};

/// Whether a value can be copied and compared with itself.
fn is_a_value<T: Clone + Eq + std::fmt::Debug>(value: &T) {
    assert_eq!(value.clone(), *value);
}

#[test]
fn an_answer_is_one_of_these_and_a_value() {
    let amendment = ExecPolicyAmendment::new(["cargo", "test"]).unwrap();
    let kept = ReviewDecision::ApprovedExecpolicyAmendment {
        proposed_execpolicy_amendment: amendment.clone(),
    };
    let answers = [
        ReviewDecision::Approved,
        ReviewDecision::Denied,
        ReviewDecision::Abort,
        ReviewDecision::ApprovedForSession,
        kept.clone(),
    ];
    for (index, one) in answers.iter().enumerate() {
        is_a_value(one);
        assert_eq!(answers.iter().position(|other| other == one), Some(index));
    }
    let ReviewDecision::ApprovedExecpolicyAmendment {
        proposed_execpolicy_amendment,
    } = kept
    else {
        panic!("{kept:?}");
    };
    assert_eq!(proposed_execpolicy_amendment, amendment);
}

#[test]
fn wishes_of_a_tool_have_these_words() {
    for (one, other) in [
        (SandboxablePreference::Auto, SandboxablePreference::Require),
        (
            SandboxablePreference::Require,
            SandboxablePreference::Forbid,
        ),
    ] {
        assert_ne!(one, other);
    }
    assert_ne!(
        SandboxOverride::NoOverride,
        SandboxOverride::BypassSandboxFirstAttempt
    );
}

#[test]
fn a_persons_choice_is_a_mode_and_a_network() {
    let modes = [
        SandboxMode::ReadOnly,
        SandboxMode::WorkspaceWrite,
        SandboxMode::DangerFullAccess,
        SandboxMode::ExternalSandbox,
    ];
    let networks = [
        NetworkAccess::Restricted,
        NetworkAccess::Limited,
        NetworkAccess::Full,
    ];
    for mode in modes {
        for network in networks {
            let policy = SandboxPolicy::new(mode, network);
            assert_eq!((policy.mode, policy.network_access), (mode, network));
        }
    }
}

#[test]
fn a_canonical_policy_can_be_compared_matched_and_written() {
    let external = CanonicalSandboxPolicy::ExternalSandbox {
        description: "a container".to_owned(),
    };
    for policy in [
        CanonicalSandboxPolicy::read_only(),
        CanonicalSandboxPolicy::DangerFullAccess,
        external.clone(),
    ] {
        is_a_value(&policy);
        let text = serde_json::to_string(&policy).unwrap();
        assert_eq!(
            serde_json::from_str::<CanonicalSandboxPolicy>(&text).unwrap(),
            policy
        );
    }
    assert!(matches!(
        CanonicalSandboxPolicy::full_access(),
        CanonicalSandboxPolicy::DangerFullAccess
    ));
    let CanonicalSandboxPolicy::ExternalSandbox { description } = external else {
        panic!("{external:?}");
    };
    assert_eq!(description, "a container");
}

#[test]
fn limits_and_profiles_compare() {
    assert_eq!(ResourceLimits::default(), ResourceLimits::default());
    assert_ne!(ResourceLimits::default(), ResourceLimits::unlimited());
    let open = SeccompProfile::strict().with_network();
    assert_ne!(open, SeccompProfile::strict());
    assert_eq!(open, SeccompProfile::strict().with_network());
}

#[test]
fn requirements_have_these_shapes() {
    let amendment = ExecPolicyAmendment::new(["make"]).unwrap();
    let skip = ExecApprovalRequirement::Skip {
        bypass_sandbox: false,
        proposed_execpolicy_amendment: None,
    };
    let ask = ExecApprovalRequirement::NeedsApproval {
        reason: Some("a rule asks".to_owned()),
        proposed_execpolicy_amendment: Some(amendment),
        purpose: palisade_runner::exec_policy::ApprovalPurpose::Run,
    };
    let never = ExecApprovalRequirement::Forbidden {
        reason: "no".to_owned(),
    };
    is_a_value(&skip);
    is_a_value(&never);
    assert_ne!(ask, skip);
    let picky = AskForApproval::Reject(RejectConfig {
        sandbox_approval: true,
        rules: false,
        request_permissions: true,
        mcp_elicitations: false,
    });
    assert!(picky.rejects_sandbox_prompt());
    is_a_value(&picky);
}
