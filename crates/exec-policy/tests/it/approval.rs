//! The values: names, serde, defaults, and the two small questions.

use palisade_exec_policy::{
    AskForApproval, ExecPolicyAmendment, PromptCategory, RejectConfig, ReviewDecision, Risk,
    SandboxOverride, SandboxablePreference, WorkingBackend, should_bypass_approval,
    wants_no_sandbox_approval,
};
use palisade_policy::SandboxType;
use serde_json::json;

use crate::support::{answers, approvals};

#[test]
fn defaults() {
    assert_eq!(AskForApproval::default(), AskForApproval::UnlessTrusted);
    assert_eq!(ReviewDecision::default(), ReviewDecision::Denied);
    assert_eq!(
        SandboxablePreference::default(),
        SandboxablePreference::Auto
    );
    assert_eq!(SandboxOverride::default(), SandboxOverride::NoOverride);
    assert_eq!(Risk::default(), Risk::Unknown);
    let none = RejectConfig::default();
    assert!(
        PromptCategory::ALL
            .into_iter()
            .all(|category| !none.rejects(category))
    );
}

#[test]
fn simple_names_are_read_and_written() {
    let names = ["never", "on-request", "unless-trusted", "on-failure"];
    for (policy, name) in AskForApproval::SIMPLE.into_iter().zip(names) {
        assert_eq!(policy.name(), name);
        assert_eq!(policy.to_string(), name);
        assert_eq!(name.parse(), Ok(policy));
        assert_eq!(serde_json::to_value(policy).unwrap(), json!(name));
        assert_eq!(
            serde_json::from_value::<AskForApproval>(json!(name)).unwrap(),
            policy
        );
    }
}

#[test]
fn untrusted_is_another_spelling() {
    let policy: AskForApproval = serde_json::from_value(json!("untrusted")).unwrap();
    assert_eq!(policy, AskForApproval::UnlessTrusted);
    assert_eq!("untrusted".parse(), Ok(AskForApproval::UnlessTrusted));
}

#[test]
fn an_unknown_name_is_an_error_that_names_it_and_the_possible_ones() {
    for name in ["", "Never", "on_request", "reject", "always\n"] {
        let error = name.parse::<AskForApproval>().unwrap_err();
        assert_eq!(error.value(), name);
        let text = error.to_string();
        assert!(
            text.contains(&format!("`{}`", name.escape_debug())),
            "{text}"
        );
        assert!(
            text.contains("`never`, `on-request`, `unless-trusted`, `on-failure`"),
            "{text}"
        );
    }
    assert!(serde_json::from_value::<AskForApproval>(json!("always")).is_err());
}

#[test]
fn reject_is_an_object_of_flags() {
    let policy: AskForApproval =
        serde_json::from_value(json!({"reject": {"rules": true}})).unwrap();
    let expected = RejectConfig {
        rules: true,
        ..RejectConfig::default()
    };
    assert_eq!(policy, AskForApproval::Reject(expected));
    assert_eq!(policy.to_string(), "reject(rules)");
    for policy in approvals() {
        let value = serde_json::to_value(policy).unwrap();
        assert_eq!(
            serde_json::from_value::<AskForApproval>(value).unwrap(),
            policy
        );
    }
}

#[test]
fn an_unknown_flag_is_an_error_that_names_it() {
    let value = json!({"reject": {"sandbox": true}});
    let error = serde_json::from_value::<AskForApproval>(value).unwrap_err();
    assert!(error.to_string().contains("`sandbox`"), "{error}");
}

#[test]
fn what_is_rejected() {
    for policy in approvals() {
        let expected = match policy {
            AskForApproval::Never => [true; 4],
            AskForApproval::Reject(config) => [
                config.sandbox_approval,
                config.rules,
                config.request_permissions,
                config.mcp_elicitations,
            ],
            AskForApproval::OnRequest
            | AskForApproval::UnlessTrusted
            | AskForApproval::OnFailure => [false; 4],
        };
        let rejected = [
            policy.rejects_sandbox_prompt(),
            policy.rejects_rules_prompt(),
            policy.rejects_permission_prompt(),
            policy.rejects_mcp_elicitations(),
        ];
        assert_eq!(rejected, expected, "{policy}");
    }
}

#[test]
fn approval_is_bypassed_if_given_already_or_never_asked_for() {
    for policy in approvals() {
        assert!(should_bypass_approval(policy, true), "{policy}");
        assert_eq!(
            should_bypass_approval(policy, false),
            policy == AskForApproval::Never,
            "{policy}"
        );
    }
}

#[test]
fn who_may_be_offered_a_run_without_sandbox() {
    for policy in approvals() {
        let expected = match policy {
            AskForApproval::OnFailure | AskForApproval::UnlessTrusted => true,
            AskForApproval::Never | AskForApproval::OnRequest => false,
            AskForApproval::Reject(config) => !config.sandbox_approval,
        };
        assert_eq!(wants_no_sandbox_approval(policy), expected, "{policy}");
    }
}

#[test]
fn an_answer_is_an_approval_or_a_denial() {
    let approvals: Vec<bool> = answers().iter().map(ReviewDecision::is_approval).collect();
    assert_eq!(approvals, [true, false, false, false, true, true, true]);
    for answer in answers() {
        assert_ne!(answer.is_approval(), answer.is_denial(), "{answer:?}");
        assert_eq!(answer.clone(), answer);
    }
}

#[test]
fn no_sandbox_is_no_working_backend() {
    assert_eq!(WorkingBackend::new(SandboxType::None), None);
    for sandbox in [
        SandboxType::MacosSeatbelt,
        SandboxType::LinuxLandlock,
        SandboxType::WindowsRestrictedToken,
    ] {
        let backend = WorkingBackend::new(sandbox).unwrap();
        assert_eq!(backend.sandbox_type(), sandbox);
    }
}

#[test]
fn an_amendment_needs_a_program() {
    for tokens in [
        json!([]),
        json!([""]),
        json!(["", "x"]),
        json!(["a\0b"]),
        json!(["a", "\0"]),
    ] {
        assert!(
            serde_json::from_value::<ExecPolicyAmendment>(tokens.clone()).is_err(),
            "{tokens}"
        );
    }
    let error = ExecPolicyAmendment::new(["git", "\0"]).unwrap_err();
    assert_eq!(error.to_string(), "token 1 of the prefix contains a NUL");
    let amendment: ExecPolicyAmendment = serde_json::from_value(json!(["cargo", "add"])).unwrap();
    assert_eq!(
        serde_json::to_value(&amendment).unwrap(),
        json!(["cargo", "add"])
    );
}
