//! From a request to what would happen: everything that is decided before anybody is asked.

use std::ffi::OsString;
use std::path::Path;

use palisade_exec_policy::executor::{Ask, ShellCommand, Step, Surroundings, patch, shell};
use palisade_exec_policy::{
    ApprovalPurpose, AskForApproval, PromptCategory, Refusal, ReviewDecision, Risk,
    SandboxDecision, SandboxablePreference,
};
use palisade_policy::{AbsolutePath, CanonicalSandboxPolicy, Grant, SandboxType};

use super::backend::Prepared;
use super::config::{ExecutorConfig, Foundation};
use super::context::ToolDecisionSource;
use super::error::ExecError;
use super::stream::StdoutStream;
use crate::approve::ApprovalKey;
use crate::host::real_path;
use crate::judge::{Offer, sandbox_view};

/// What a request comes to. It holds the configuration of the moment when it was made: a later one does not change it.
#[derive(Debug)]
#[must_use = "a plan that nobody runs does nothing"]
pub struct ExecPlan {
    pub(super) prepared: Prepared,
    pub(super) shown: Vec<OsString>,
    pub(super) stream: Option<StdoutStream>,
    pub(super) config: ExecutorConfig,
    pub(super) approval: AskForApproval,
    pub(super) key: ApprovalKey,
    pub(super) step: Planned,
    pub(super) offer: Option<Offer>,
    pub(super) grants: Vec<Grant>,
    pub(super) may_leave: bool,
    pub(super) explanation: String,
    /// Where the verdict of the rules comes from.
    pub(super) source: Option<String>,
}

/// What happens next.
#[derive(Debug)]
pub(super) enum Planned {
    /// It runs.
    Run {
        decision: SandboxDecision,
        /// What is recorded: a person's approval of earlier, or that nobody has to be asked.
        because: (ReviewDecision, ToolDecisionSource),
    },
    /// A person is asked first.
    Ask {
        how: Asking,
        reason: Option<String>,
        purpose: ApprovalPurpose,
    },
}

/// What an answer is given to.
#[derive(Debug)]
pub(super) enum Asking {
    /// The table asks, and says what an answer means.
    Table(Ask, Tables),
    /// Rules ask about a command that the table would run: where it runs is decided already.
    Rules(SandboxDecision),
}

impl ExecPlan {
    /// The command that would run, after it was rewritten and prepared.
    #[must_use]
    pub fn command(&self) -> &[OsString] {
        &self.prepared.params.command
    }

    /// Where it would run.
    #[must_use]
    pub fn cwd(&self) -> &Path {
        &self.prepared.params.cwd
    }

    /// The policy that it would run under.
    #[must_use]
    pub const fn policy(&self) -> &CanonicalSandboxPolicy {
        &self.config.sandbox_policy
    }

    /// The sandbox of the first attempt; `None` while a person has to answer first.
    #[must_use]
    pub const fn initial_sandbox(&self) -> Option<SandboxType> {
        match &self.step {
            Planned::Run { decision, .. } => Some(decision.initial_sandbox),
            Planned::Ask { .. } => None,
        }
    }

    /// What a person is asked to approve; `None` if nobody is asked.
    #[must_use]
    pub const fn asks(&self) -> Option<ApprovalPurpose> {
        match &self.step {
            Planned::Run { .. } => None,
            Planned::Ask { purpose, .. } => Some(*purpose),
        }
    }

    /// Whether a denial by the sandbox would be offered again, where that is decided already.
    #[must_use]
    pub const fn escalates_on_failure(&self) -> Option<bool> {
        match &self.step {
            Planned::Run { decision, .. } => Some(decision.escalate_on_failure),
            Planned::Ask { .. } => None,
        }
    }

    /// Why, as one sentence.
    #[must_use]
    pub fn explanation(&self) -> &str {
        &self.explanation
    }
}

/// What the tables are asked about.
#[derive(Clone, Copy, Debug)]
pub(super) enum Subject {
    Shell {
        risk: Risk,
        escalation_requested: bool,
    },
    Patch {
        explicitly_approved: bool,
        is_empty: bool,
        every_path_writable: bool,
    },
}

/// The tables of the `executor` preset, for one request. Every answer about a sandbox is theirs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tables {
    surroundings: Surroundings,
    subject: Subject,
    forbids_leaving: bool,
}

impl Tables {
    pub(super) fn new(
        foundation: &Foundation,
        policy: &CanonicalSandboxPolicy,
        approval: AskForApproval,
        subject: Subject,
    ) -> Self {
        Self {
            surroundings: Surroundings {
                approval,
                sandbox: sandbox_view(policy),
                preference: SandboxablePreference::Auto,
                backend: foundation.backend,
            },
            subject,
            forbids_leaving: foundation.forbids_leaving(),
        }
    }

    /// What a yes to a question of the tables allows: to run without the sandbox, unless nobody may leave it.
    pub(super) const fn purpose(&self) -> ApprovalPurpose {
        if self.forbids_leaving && self.surroundings.sandbox.uses_runtime_sandbox() {
            ApprovalPurpose::Run
        } else {
            ApprovalPurpose::RunUnsandboxed
        }
    }

    /// What happens to the request, if it was approved for the session or not.
    pub(super) fn step(&self, session_approved: bool) -> Result<Step, ExecError> {
        match self.ask_table(&self.surroundings, session_approved) {
            Step::Reject(refusal) => Err(ExecError::rejection(refusal.to_string())),
            Step::Run(decision) => Ok(Step::Run(self.kept_inside(decision)?)),
            Step::Ask(_) if self.no_answer_could_help() => {
                let refusal = Refusal::MayNotAsk(PromptCategory::SandboxApproval);
                Err(ExecError::rejection(refusal.to_string()))
            }
            ask @ Step::Ask(_) => Ok(ask),
        }
    }

    /// Whether the question is about leaving the sandbox, which nobody may allow.
    fn no_answer_could_help(&self) -> bool {
        let asks_to_leave = match self.subject {
            Subject::Shell {
                escalation_requested,
                ..
            } => escalation_requested,
            Subject::Patch { .. } => false,
        };
        let leaves = asks_to_leave || self.surroundings.backend.is_none();
        self.purpose() == ApprovalPurpose::Run && leaves
    }

    /// The decision, in the sandbox where the floor lets nobody leave it, whoever agreed.
    pub(super) fn kept_inside(
        &self,
        decision: SandboxDecision,
    ) -> Result<SandboxDecision, ExecError> {
        let expected = self.surroundings.sandbox.uses_runtime_sandbox();
        if !self.forbids_leaving || !expected || decision.initial_sandbox != SandboxType::None {
            return Ok(decision);
        }
        let required = Surroundings {
            preference: SandboxablePreference::Require,
            ..self.surroundings
        };
        match self.ask_table(&required, true) {
            Step::Run(inside) => Ok(inside),
            Step::Reject(refusal) => Err(ExecError::rejection(refusal.to_string())),
            Step::Ask(_) => Err(ExecError::rejection(
                "the system's policy lets no command run without a sandbox",
            )),
        }
    }

    fn ask_table(&self, surroundings: &Surroundings, approved: bool) -> Step {
        match self.subject {
            Subject::Shell {
                risk,
                escalation_requested,
            } => shell(
                surroundings,
                &ShellCommand {
                    risk,
                    session_approved: approved,
                    escalation_requested,
                },
            ),
            Subject::Patch {
                explicitly_approved,
                is_empty,
                every_path_writable,
            } => patch(
                surroundings,
                &palisade_exec_policy::executor::Patch {
                    // An empty patch stays empty, whoever approved it.
                    explicitly_approved: (explicitly_approved || approved) && !is_empty,
                    is_empty,
                    every_path_writable,
                },
            ),
        }
    }
}

/// The directory of a command, as rules and keys see it.
pub(super) fn absolute(cwd: &Path) -> Result<AbsolutePath, ExecError> {
    let written = AbsolutePath::new(cwd).map_err(|error| {
        ExecError::rejection(format!(
            "the working directory cannot be used: {error}; give an absolute path"
        ))
    })?;
    // Where a command runs is judged without links, as everything is.
    let real = real_path(cwd).ok();
    Ok(real
        .and_then(|real| AbsolutePath::new(real).ok())
        .unwrap_or(written))
}
