//! What people read: the sentence, the requirement and the reasons of representative questions.

use std::fmt::Write as _;

use palisade_exec_policy::matrix::Request;
use palisade_exec_policy::{
    AskForApproval, Command, DefaultEntry, ExecApprovalRequirement, Question, RejectConfig, Risk,
    RuleRef, SandboxablePreference, SegmentVerdict, decide,
};
use palisade_policy::{NetworkAccess, SandboxMode, SandboxPolicy};

use crate::support::landlock;

/// A question that is usual in everything; each case changes what it is about.
struct Asked {
    approval: AskForApproval,
    mode: SandboxMode,
    preference: SandboxablePreference,
    works: bool,
    segments: Vec<SegmentVerdict<'static>>,
    risk: Risk,
    request: Request,
}

const READ: SegmentVerdict<'static> = SegmentVerdict::Allow {
    rule: RuleRef::new("git-read", Some("reads history")),
    unsandboxed: false,
};
const DOCKER: SegmentVerdict<'static> = SegmentVerdict::Allow {
    rule: RuleRef::new("docker", Some("talks to its daemon")),
    unsandboxed: true,
};
const PUSH: SegmentVerdict<'static> = SegmentVerdict::Prompt {
    rule: RuleRef::new("git-push", Some("pushes to a remote")),
    answered: false,
    unsandboxed: false,
};
const PUSHED: SegmentVerdict<'static> = SegmentVerdict::Prompt {
    rule: RuleRef::new("git-push", Some("pushes to a remote")),
    answered: true,
    unsandboxed: false,
};
const FORCE: SegmentVerdict<'static> = SegmentVerdict::Forbid {
    rule: RuleRef::new("no-force-push", Some("use --force-with-lease")),
};
const REJECT_SANDBOX: AskForApproval = AskForApproval::Reject(RejectConfig {
    sandbox_approval: true,
    rules: false,
    request_permissions: true,
    mcp_elicitations: false,
});
const REJECT_RULES: AskForApproval = AskForApproval::Reject(RejectConfig {
    sandbox_approval: false,
    rules: true,
    request_permissions: false,
    mcp_elicitations: false,
});

impl Default for Asked {
    fn default() -> Self {
        Self {
            approval: AskForApproval::OnRequest,
            mode: SandboxMode::WorkspaceWrite,
            preference: SandboxablePreference::Auto,
            works: true,
            segments: vec![SegmentVerdict::Unmatched],
            risk: Risk::Unknown,
            request: Request::Nothing,
        }
    }
}

fn explained(name: &str, asked: &Asked) -> String {
    let decision = decide(&Question {
        approval: asked.approval,
        sandbox: SandboxPolicy::new(asked.mode, NetworkAccess::Restricted),
        preference: asked.preference,
        backend: asked.works.then(landlock).flatten(),
        command: Some(Command {
            segments: &asked.segments,
            risk: asked.risk,
            permissions: asked.request.permissions(),
            amendment: None,
        }),
    });
    let mut text = format!("{name}:\n  {}\n", decision.explain());
    match &decision.requirement {
        ExecApprovalRequirement::Skip { .. } => {}
        ExecApprovalRequirement::NeedsApproval { reason, .. } => {
            let _ = writeln!(
                text,
                "  the person reads: {}",
                reason.as_deref().unwrap_or("-")
            );
        }
        ExecApprovalRequirement::Forbidden { reason } => {
            let _ = writeln!(text, "  the model reads: {reason}");
        }
    }
    text
}

#[test]
fn representative_questions() {
    use AskForApproval::{Never, OnFailure, UnlessTrusted};
    use SandboxablePreference::{Forbid, Require};
    let usual = Asked::default;
    let opaque = || vec![SegmentVerdict::Opaque { why: "`eval`" }];
    let by_default = || {
        vec![SegmentVerdict::PromptByDefault {
            entry: DefaultEntry::Unmatched,
        }]
    };
    let forbidden_by_default = || {
        vec![SegmentVerdict::ForbidByDefault {
            entry: DefaultEntry::Opaque,
        }]
    };
    let questions = [
        ("an unmatched command", usual()),
        (
            "an allowed command",
            Asked {
                segments: vec![READ],
                ..usual()
            },
        ),
        (
            "a command that may leave",
            Asked {
                segments: vec![DOCKER],
                ..usual()
            },
        ),
        (
            "one that may leave and one that may not",
            Asked {
                segments: vec![DOCKER, READ],
                ..usual()
            },
        ),
        (
            "a rule asks",
            Asked {
                segments: vec![READ, PUSH],
                ..usual()
            },
        ),
        (
            "a rule asks and no sandbox works",
            Asked {
                segments: vec![PUSH],
                works: false,
                ..usual()
            },
        ),
        (
            "a stored approval answers",
            Asked {
                segments: vec![PUSHED],
                ..usual()
            },
        ),
        (
            "a stored approval under never",
            Asked {
                segments: vec![PUSHED],
                approval: Never,
                ..usual()
            },
        ),
        (
            "an author's default asks",
            Asked {
                segments: by_default(),
                ..usual()
            },
        ),
        (
            "an author's default forbids",
            Asked {
                segments: forbidden_by_default(),
                ..usual()
            },
        ),
        (
            "a rule forbids",
            Asked {
                segments: vec![DOCKER, FORCE],
                ..usual()
            },
        ),
        (
            "a dangerous command",
            Asked {
                risk: Risk::Dangerous,
                ..usual()
            },
        ),
        (
            "a dangerous command under never",
            Asked {
                risk: Risk::Dangerous,
                approval: Never,
                ..usual()
            },
        ),
        (
            "a dangerous command that is allowed",
            Asked {
                risk: Risk::Dangerous,
                segments: vec![READ],
                ..usual()
            },
        ),
        (
            "an untrusted command",
            Asked {
                approval: UnlessTrusted,
                ..usual()
            },
        ),
        (
            "a known-safe command",
            Asked {
                approval: UnlessTrusted,
                risk: Risk::KnownSafe,
                ..usual()
            },
        ),
        (
            "an opaque command",
            Asked {
                approval: UnlessTrusted,
                segments: opaque(),
                ..usual()
            },
        ),
        (
            "nothing could be read",
            Asked {
                approval: UnlessTrusted,
                segments: vec![],
                ..usual()
            },
        ),
        (
            "escalation",
            Asked {
                request: Request::Escalation,
                ..usual()
            },
        ),
        (
            "escalation under on-failure",
            Asked {
                request: Request::Escalation,
                approval: OnFailure,
                ..usual()
            },
        ),
        (
            "bypass under on-failure",
            Asked {
                request: Request::Bypass,
                approval: OnFailure,
                ..usual()
            },
        ),
        (
            "escalation of a required sandbox",
            Asked {
                request: Request::Escalation,
                preference: Require,
                ..usual()
            },
        ),
        (
            "a required sandbox is missing",
            Asked {
                preference: Require,
                works: false,
                ..usual()
            },
        ),
        (
            "a tool without sandbox",
            Asked {
                preference: Forbid,
                works: false,
                ..usual()
            },
        ),
        (
            "a tool without sandbox under never",
            Asked {
                preference: Forbid,
                works: false,
                approval: Never,
                ..usual()
            },
        ),
        (
            "more permissions",
            Asked {
                request: Request::Permissions,
                ..usual()
            },
        ),
        (
            "more permissions under on-failure",
            Asked {
                request: Request::Permissions,
                approval: OnFailure,
                ..usual()
            },
        ),
        (
            "more permissions may not be asked for",
            Asked {
                request: Request::Permissions,
                approval: REJECT_SANDBOX,
                ..usual()
            },
        ),
        (
            "rules may not ask",
            Asked {
                segments: vec![PUSH],
                approval: REJECT_RULES,
                ..usual()
            },
        ),
        (
            "two categories, one rejected",
            Asked {
                segments: vec![PUSH],
                risk: Risk::Dangerous,
                approval: REJECT_SANDBOX,
                ..usual()
            },
        ),
        (
            "full access",
            Asked {
                mode: SandboxMode::DangerFullAccess,
                request: Request::Escalation,
                ..usual()
            },
        ),
    ];
    let text: Vec<String> = questions
        .iter()
        .map(|(name, asked)| explained(name, asked))
        .collect();
    insta::assert_snapshot!(text.join("\n"));
}

#[test]
fn tools_without_a_command() {
    let question = |approval| Question {
        approval,
        sandbox: SandboxPolicy::default(),
        preference: SandboxablePreference::Auto,
        backend: landlock(),
        command: None,
    };
    let mut text = String::new();
    for approval in [
        AskForApproval::Never,
        AskForApproval::OnRequest,
        REJECT_SANDBOX,
    ] {
        let _ = writeln!(text, "{}", decide(&question(approval)).explain());
    }
    insta::assert_snapshot!(text);
}

#[test]
fn reasons_are_data() {
    let segments = [READ, PUSH];
    let decision = decide(&Question {
        approval: AskForApproval::OnRequest,
        sandbox: SandboxPolicy::default(),
        preference: SandboxablePreference::Auto,
        backend: None,
        command: Some(Command {
            segments: &segments,
            risk: Risk::Dangerous,
            permissions: Request::Escalation.permissions(),
            amendment: None,
        }),
    });
    insta::assert_json_snapshot!(decision);
}
