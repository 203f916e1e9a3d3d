//! What a tool says about itself, and what it needs of its host.

use std::fmt::Debug;
use std::future::{Future, ready};
use std::hash::Hash;
use std::path::Path;
use std::sync::Arc;

use palisade_exec_policy::{
    ApprovalPurpose, AskForApproval, ExecApprovalRequirement, ExecPolicyAmendment, GrantScope,
    PromptCategory, ReviewDecision, SandboxOverride, SandboxablePreference,
};
use palisade_policy::Grant;
use serde::Serialize;

use super::attempt::SandboxAttempt;
use super::error::ToolError;
use super::turn::TurnContext;
use crate::approve::{ApprovalStore, BoxFuture, Prompt, Prompter};
use crate::select::SandboxManager;

/// What a tool wants of the sandbox.
pub trait Sandboxable {
    /// Whether it wants one. A wish to go without is judged like any other.
    fn sandbox_preference(&self) -> SandboxablePreference {
        SandboxablePreference::Auto
    }

    /// Whether a denied attempt may be offered again.
    fn escalate_on_failure(&self) -> bool {
        true
    }
}

/// How the use of a tool is approved.
///
/// Nothing that a tool says here leaves the sandbox by itself: that takes a rule, or a person who was asked exactly that.
pub trait Approvable<Req>: Send + Sync {
    /// What tells one use from another.
    type ApprovalKey: Hash + Eq + Clone + Debug + Serialize + Send + Sync;

    /// The key of this use. Purpose, directory and policy are added to it: a key need not name them.
    fn approval_key(&self, req: &Req) -> Self::ApprovalKey;

    /// Where the tool wants its first attempt. To go without the sandbox, an approval of that is needed all the same.
    fn sandbox_mode_for_first_attempt(&self, _req: &Req) -> SandboxOverride {
        SandboxOverride::NoOverride
    }

    /// Whether nobody has to be asked.
    ///
    /// A tool that answers yes by itself has asked somebody elsewhere; that counts for a run where the policy says, and
    /// never for one without the sandbox, nor where nobody may be asked.
    fn should_bypass_approval(&self, policy: AskForApproval, already_approved: bool) -> bool {
        palisade_exec_policy::should_bypass_approval(policy, already_approved)
    }

    /// What has to happen before this use; `None` is what the approval policy says about a tool that runs no command.
    ///
    /// A tool that runs commands has them judged (`runner::judge`) and says here what came of it.
    fn exec_approval_requirement(&self, _req: &Req) -> Option<ExecApprovalRequirement> {
        None
    }

    /// Whether a denied attempt may be offered again without the sandbox. A tool can say no where the policy says yes,
    /// not the other way around.
    fn wants_no_sandbox_approval(&self, policy: AskForApproval) -> bool {
        palisade_exec_policy::wants_no_sandbox_approval(policy)
    }

    /// Asks a person. [`ApprovalCtx::ask`] does it for a tool that has nothing to add.
    ///
    /// What was approved for the session is not asked again. An asking that panics has been denied.
    fn start_approval_async<'a>(
        &'a mut self,
        req: &'a Req,
        ctx: ApprovalCtx<'a>,
    ) -> BoxFuture<'a, ReviewDecision>;
}

/// How a tool runs.
pub trait ToolRuntime<Req, Out>: Approvable<Req> + Sandboxable {
    /// Makes one attempt, in the sandbox that `attempt` names.
    ///
    /// [`ToolError::SandboxDenied`] is what makes another attempt possible.
    fn run(
        &mut self,
        req: &Req,
        attempt: &SandboxAttempt,
        ctx: &ToolCtx,
    ) -> impl Future<Output = Result<Out, ToolError>> + Send;
}

/// The host of a tool: the program that people see.
pub trait ToolSession: Send + Sync {
    /// Who asks people.
    fn prompter(&self) -> &dyn Prompter;

    /// What was answered in this session.
    fn approvals(&self) -> &ApprovalStore;

    /// Which sandbox works here.
    fn sandboxes(&self) -> &SandboxManager;

    /// Keeps a prefix that a person agreed to: in the approvals file, and in the rules that this session judges by, so
    /// that the next command that begins so is not asked about.
    fn keep_amendment<'a>(
        &'a self,
        amendment: &'a ExecPolicyAmendment,
    ) -> BoxFuture<'a, Result<(), KeepError>>;

    /// Keeps a grant for longer than one run, so that [`grants`](Self::grants) has it.
    fn keep_grant<'a>(
        &'a self,
        grant: &'a Grant,
        scope: GrantScope,
        expires: Option<u64>,
    ) -> BoxFuture<'a, Result<(), KeepError>>;

    /// The kept grants that still hold. They are added to the sandbox of every attempt.
    fn grants(&self) -> Vec<Grant> {
        Vec::new()
    }

    /// The shell of the user, if one is known.
    fn shell(&self) -> Option<&Path> {
        None
    }

    /// Something happened that somebody may want to see or record.
    fn report<'a>(&'a self, _call_id: &'a str, _event: ToolEvent<'a>) -> BoxFuture<'a, ()> {
        Box::pin(ready(()))
    }
}

/// Something could not be kept. What was approved runs all the same, and is asked again the next time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
#[expect(clippy::exhaustive_structs, reason = "it is a text for people")]
pub struct KeepError(pub String);

/// What happens while a tool is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolEvent<'a> {
    /// Something worth telling a person, such as that a command is tried again.
    Notice(&'a str),
    /// It was decided whether, or how, it runs.
    Decided {
        /// The tool.
        tool_name: &'a str,
        /// What was decided.
        decision: &'a ReviewDecision,
        /// By whom.
        source: DecisionSource,
        /// What it allows.
        purpose: ApprovalPurpose,
    },
    /// An answer was to be kept and was not.
    NotKept {
        /// Why.
        why: &'a str,
    },
}

/// Who decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a person now, or what people said before"
)]
pub enum DecisionSource {
    /// Rules, policies, or an approval for the session: nobody was asked.
    Config,
    /// A person.
    User,
}

/// What a tool knows while it asks.
#[derive(Clone)]
#[non_exhaustive]
pub struct ApprovalCtx<'a> {
    /// The host.
    pub session: &'a Arc<dyn ToolSession>,
    /// The turn.
    pub turn: &'a TurnContext,
    /// Which call of the tool this is.
    pub call_id: &'a str,
    /// What went wrong in the sandbox before, if this is about trying again.
    pub retry_reason: Option<String>,
    /// Why somebody is asked.
    pub reason: Option<String>,
    /// What a yes allows.
    pub purpose: ApprovalPurpose,
    /// The kinds of question that this is, as far as they are known.
    pub categories: Vec<PromptCategory>,
    /// The prefix that can be kept with a yes.
    pub proposed_amendment: Option<ExecPolicyAmendment>,
    /// The grant that a yes would add.
    pub proposed_grant: Option<Grant>,
}

impl<'a> ApprovalCtx<'a> {
    /// The question about this command.
    #[must_use]
    pub fn prompt<A: Into<std::ffi::OsString>>(
        &self,
        command: impl IntoIterator<Item = A>,
        cwd: &Path,
    ) -> Prompt {
        let prompt = Prompt::new(self.call_id, command, cwd)
            .with_purpose(self.purpose)
            .with_categories(self.categories.iter().copied())
            .with_proposed_amendment(self.proposed_amendment.clone())
            .with_proposed_grant(self.proposed_grant.clone())
            .with_retry_reason(self.retry_reason.as_deref());
        match &self.reason {
            Some(reason) => prompt.with_reason(reason),
            None => prompt,
        }
    }

    /// Asks whether this command may run.
    pub fn ask<A: Into<std::ffi::OsString>>(
        self,
        command: impl IntoIterator<Item = A>,
        cwd: &Path,
    ) -> BoxFuture<'a, ReviewDecision> {
        let prompt = self.prompt(command, cwd);
        self.ask_prompt(prompt)
    }

    /// Asks this.
    #[must_use]
    pub fn ask_prompt(self, prompt: Prompt) -> BoxFuture<'a, ReviewDecision> {
        let session = self.session;
        Box::pin(async move { crate::approve::ask(session.prompter(), &prompt).await })
    }
}

/// What a tool knows while it runs.
#[derive(Clone)]
#[non_exhaustive]
pub struct ToolCtx {
    /// The host.
    pub session: Arc<dyn ToolSession>,
    /// The turn.
    pub turn: Arc<TurnContext>,
    /// Which call of the tool this is.
    pub call_id: String,
    /// The tool.
    pub tool_name: String,
}

impl ToolCtx {
    /// The context of one call of a tool.
    pub fn new(
        session: Arc<dyn ToolSession>,
        turn: Arc<TurnContext>,
        call_id: impl Into<String>,
        tool_name: impl Into<String>,
    ) -> Self {
        Self {
            session,
            turn,
            call_id: call_id.into(),
            tool_name: tool_name.into(),
        }
    }
}
