//! Every approval policy, mode, requirement and answer: the orchestrator does what `decide` and `orchestrator` of the
//! pure crate say, and nothing else.

use std::sync::Arc;

use palisade_exec_policy::{
    ApprovalPurpose, AskForApproval, ExecApprovalRequirement, ExecPolicyAmendment, GrantScope,
    Placement, Question, RejectConfig, ReviewDecision, SandboxOverride, SandboxablePreference,
    WorkingBackend, decide, orchestrator,
};
use palisade_policy::{
    AbsolutePath, Grant, NetworkAccess, SandboxMode, SandboxPolicy, SandboxType, WorkspaceRoot,
};
use palisade_runner::approve::BoxFuture;
use palisade_runner::handler::{
    Approvable, ApprovalCtx, Constrained, SandboxAttempt, Sandboxable, ToolCtx, ToolError,
    ToolRuntime, TurnContext,
};

use crate::host::FakeHost;

/// A tool that does what the row says and remembers where it ran.
#[derive(Clone)]
pub(crate) struct Scripted {
    pub(crate) requirement: Option<ExecApprovalRequirement>,
    pub(crate) preference: SandboxablePreference,
    pub(crate) first_attempt: SandboxOverride,
    pub(crate) escalates: bool,
    pub(crate) denied: bool,
    pub(crate) ran: Vec<(SandboxType, bool)>,
}

impl Scripted {
    pub(crate) fn new(denied: bool) -> Self {
        Self {
            requirement: None,
            preference: SandboxablePreference::Auto,
            first_attempt: SandboxOverride::NoOverride,
            escalates: true,
            denied,
            ran: Vec::new(),
        }
    }
}

impl Sandboxable for Scripted {
    fn sandbox_preference(&self) -> SandboxablePreference {
        self.preference
    }

    fn escalate_on_failure(&self) -> bool {
        self.escalates
    }
}

impl Approvable<&'static str> for Scripted {
    type ApprovalKey = &'static str;

    fn approval_key(&self, req: &&'static str) -> &'static str {
        req
    }

    fn sandbox_mode_for_first_attempt(&self, _: &&'static str) -> SandboxOverride {
        self.first_attempt
    }

    fn exec_approval_requirement(&self, _: &&'static str) -> Option<ExecApprovalRequirement> {
        self.requirement.clone()
    }

    fn start_approval_async<'a>(
        &'a mut self,
        req: &'a &'static str,
        ctx: ApprovalCtx<'a>,
    ) -> BoxFuture<'a, ReviewDecision> {
        let cwd = ctx.turn.cwd.path().as_path();
        ctx.ask(["sh", "-c", req], cwd)
    }
}

impl ToolRuntime<&'static str, usize> for Scripted {
    async fn run(
        &mut self,
        _: &&'static str,
        attempt: &SandboxAttempt,
        _: &ToolCtx,
    ) -> Result<usize, ToolError> {
        let helper = attempt.linux_sandbox_exe.is_some();
        self.ran.push((attempt.sandbox, helper));
        if self.denied && attempt.sandbox != SandboxType::None {
            return Err(ToolError::denied("write /etc/hosts"));
        }
        Ok(self.ran.len())
    }
}

pub(crate) fn policies() -> Vec<AskForApproval> {
    let mut policies = AskForApproval::SIMPLE.to_vec();
    for bits in 0..4_u8 {
        policies.push(AskForApproval::Reject(RejectConfig {
            sandbox_approval: bits & 1 != 0,
            request_permissions: bits & 2 != 0,
            ..RejectConfig::default()
        }));
    }
    policies
}

fn answers() -> Vec<ReviewDecision> {
    vec![
        ReviewDecision::Approved,
        ReviewDecision::Denied,
        ReviewDecision::DeniedWithNote {
            note: "use make".to_owned(),
        },
        ReviewDecision::Abort,
        ReviewDecision::ApprovedForSession,
        ReviewDecision::ApprovedExecpolicyAmendment {
            proposed_execpolicy_amendment: ExecPolicyAmendment::new(["cargo", "add"]).unwrap(),
        },
        ReviewDecision::ApprovedWithGrant {
            grant: Grant::Write(AbsolutePath::new("/srv/data").unwrap()),
            scope: GrantScope::Run,
            expires: None,
        },
    ]
}

fn requirements() -> Vec<Option<ExecApprovalRequirement>> {
    let needs = |purpose| {
        Some(ExecApprovalRequirement::NeedsApproval {
            reason: Some("rule `x` asks".to_owned()),
            proposed_execpolicy_amendment: None,
            purpose,
        })
    };
    let skip = |bypass_sandbox| {
        Some(ExecApprovalRequirement::Skip {
            bypass_sandbox,
            proposed_execpolicy_amendment: None,
        })
    };
    vec![
        None,
        skip(false),
        skip(true),
        needs(ApprovalPurpose::Run),
        needs(ApprovalPurpose::RunUnsandboxed),
        Some(ExecApprovalRequirement::Forbidden {
            reason: "releases are made by people".to_owned(),
        }),
    ]
}

pub(crate) fn turn(mode: SandboxMode) -> Arc<TurnContext> {
    let policy = SandboxPolicy::new(mode, NetworkAccess::Restricted);
    let turn = TurnContext::new(WorkspaceRoot::new("/srv/app").unwrap())
        .with_sandbox_policy(Constrained::any(policy))
        .with_linux_sandbox_exe("/usr/libexec/palisade-linux-sandbox");
    Arc::new(turn)
}

struct Row<'a> {
    approval: AskForApproval,
    mode: SandboxMode,
    works: bool,
    answer: &'a ReviewDecision,
    tool: Scripted,
}

#[derive(Debug, PartialEq)]
struct Seen {
    result: Result<usize, String>,
    ran: Vec<(SandboxType, bool)>,
    asked: Vec<(ApprovalPurpose, bool)>,
}

/// What the pure crate says must happen.
fn expected(row: &Row<'_>) -> Seen {
    let sandbox = SandboxPolicy::new(row.mode, NetworkAccess::Restricted);
    let backend = WorkingBackend::new(SandboxType::LinuxLandlock).filter(|_| row.works);
    let preference = row.tool.preference;
    let requirement = row.tool.requirement.clone().unwrap_or_else(|| {
        decide(&Question {
            approval: row.approval,
            sandbox,
            preference,
            backend,
            command: None,
        })
        .requirement
    });
    let mut seen = Seen {
        result: Ok(0),
        ran: Vec::new(),
        asked: Vec::new(),
    };
    let mut answer = None;
    if let ExecApprovalRequirement::NeedsApproval { purpose, .. } = &requirement
        && row.approval != AskForApproval::Never
    {
        seen.asked.push((*purpose, false));
        answer = Some(row.answer);
    }
    let placed = orchestrator(&Placement {
        requirement: &requirement,
        answer,
        first_attempt: row.tool.first_attempt,
        preference,
        sandbox,
        backend,
        escalate_on_failure: row.tool.escalates,
        approval: row.approval,
    });
    let decision = match placed {
        Ok(decision) => decision,
        Err(refusal) => {
            seen.result = Err(format!("Tool rejected: {refusal}"));
            return seen;
        }
    };
    let first = decision.initial_sandbox;
    seen.ran.push((first, first != SandboxType::None));
    if first == SandboxType::None || !row.tool.denied {
        seen.result = Ok(1);
        return seen;
    }
    seen.result = Err("Sandbox denied: write /etc/hosts".to_owned());
    if !decision.escalate_on_failure {
        return seen;
    }
    seen.asked.push((ApprovalPurpose::RunUnsandboxed, true));
    let denial = "; the sandbox had denied it: write /etc/hosts";
    match row.answer {
        ReviewDecision::Denied => {
            seen.result = Err(format!("Tool rejected: rejected by the user{denial}"));
        }
        ReviewDecision::DeniedWithNote { .. } => {
            let text = format!("Tool rejected: rejected by the user: use make{denial}");
            seen.result = Err(text);
        }
        ReviewDecision::Abort => {
            seen.result = Err(format!("Tool rejected: aborted by the user{denial}"));
        }
        ReviewDecision::ApprovedWithGrant { .. } => {
            // The narrower answer: once more inside. If the run had the grant from the start, it adds nothing.
            let had_it = matches!(answer, Some(ReviewDecision::ApprovedWithGrant { .. }));
            if !had_it {
                seen.ran.push((first, true));
                seen.asked.push((ApprovalPurpose::RunUnsandboxed, true));
            }
        }
        _ => {
            seen.ran.push((SandboxType::None, false));
            seen.result = Ok(2);
        }
    }
    seen
}

async fn played(row: &Row<'_>) -> Seen {
    // The same answer to every question.
    let host = FakeHost::told(row.works, &vec![row.answer.clone(); 8]);
    let turn = turn(row.mode);
    let ctx = ToolCtx::new(host.clone(), Arc::clone(&turn), "call-1", "shell");
    let mut tool = row.tool.clone();
    let result = palisade_runner::handler::run(&mut tool, &"make", &ctx, &turn, row.approval).await;
    Seen {
        result: result.map_err(|error| error.to_string()),
        ran: tool.ran,
        asked: host
            .asked()
            .iter()
            .map(|prompt| (prompt.purpose, prompt.retry_reason.is_some()))
            .collect(),
    }
}

#[tokio::test]
async fn the_orchestrator_does_what_decide_and_orchestrator_say_for_every_row() {
    let mut rows = 0;
    for approval in policies() {
        for mode in SandboxMode::ALL {
            for works in [true, false] {
                for answer in &answers() {
                    for requirement in requirements() {
                        for preference in SandboxablePreference::ALL {
                            for (denied, escalates, first_attempt) in [
                                (false, true, SandboxOverride::NoOverride),
                                (true, true, SandboxOverride::NoOverride),
                                (true, false, SandboxOverride::NoOverride),
                                (true, true, SandboxOverride::BypassSandboxFirstAttempt),
                            ] {
                                let row = Row {
                                    approval,
                                    mode,
                                    works,
                                    answer,
                                    tool: Scripted {
                                        requirement: requirement.clone(),
                                        preference,
                                        first_attempt,
                                        escalates,
                                        ..Scripted::new(denied)
                                    },
                                };
                                let seen = played(&row).await;
                                let name = format!(
                                    "{approval} {mode:?} works={works} {answer:?} {requirement:?} {preference:?} \
                                     denied={denied} escalates={escalates} {first_attempt:?}"
                                );
                                assert_eq!(seen, expected(&row), "{name}");
                                never_out_by_accident(&row, &seen, &name);
                                rows += 1;
                            }
                        }
                    }
                }
            }
        }
    }
    assert_eq!(rows, 8 * 4 * 2 * 7 * 6 * 3 * 4);
}

/// Said once more without the pure crate: who left the sandbox was let out by rules or by an answer to exactly that.
fn never_out_by_accident(row: &Row<'_>, seen: &Seen, name: &str) {
    let contained = matches!(
        row.mode,
        SandboxMode::ReadOnly | SandboxMode::WorkspaceWrite
    ) || row.tool.preference == SandboxablePreference::Require;
    let out = seen
        .ran
        .iter()
        .any(|(sandbox, _)| *sandbox == SandboxType::None);
    if !contained || !out {
        return;
    }
    let by_rules = matches!(
        row.tool.requirement,
        Some(ExecApprovalRequirement::Skip {
            bypass_sandbox: true,
            ..
        })
    );
    let asked = seen
        .asked
        .iter()
        .any(|(purpose, _)| *purpose == ApprovalPurpose::RunUnsandboxed);
    let agreed =
        row.answer.is_approval() && !matches!(row.answer, ReviewDecision::ApprovedWithGrant { .. });
    assert!(by_rules || (asked && agreed), "{name}: {seen:?}");
    assert_ne!(
        row.tool.preference,
        SandboxablePreference::Require,
        "{name}"
    );
    assert!(row.approval != AskForApproval::Never || by_rules, "{name}");
}
