//! What the executor needs of its host: a shell, notices, and answers.

use std::ffi::OsString;
use std::path::PathBuf;

use palisade_exec_policy::approvals::ApprovalEdit;
use palisade_exec_policy::{ApprovalPurpose, ExecPolicyAmendment, GrantScope, ReviewDecision};
use palisade_policy::Grant;

use super::shell::UserShell;
use crate::approve::BoxFuture;

/// A question about a command, for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CommandApproval {
    /// The turn.
    pub sub_id: String,
    /// The call.
    pub call_id: String,
    /// The command, as it is shown.
    pub command: Vec<OsString>,
    /// Where it would run.
    pub cwd: PathBuf,
    /// Why it is asked.
    pub reason: Option<String>,
    /// Why the command wants it, in the words of whoever asked for it.
    pub justification: Option<String>,
    /// What a yes allows. Where it says so, the command runs without a sandbox.
    pub purpose: ApprovalPurpose,
    /// The prefix that can be kept with the answer.
    pub proposed_execpolicy_amendment: Option<ExecPolicyAmendment>,
    /// The grant that a yes gives, if the question is about one.
    pub proposed_grant: Option<Grant>,
}

/// The host of an executor.
pub trait ExecutorSession: Send + Sync {
    /// The shell of the user, if it is known.
    fn user_shell(&self) -> Option<UserShell> {
        None
    }

    /// Tells the person what happens meanwhile.
    fn notify_background_event<'a>(&'a self, sub_id: &'a str, message: String)
    -> BoxFuture<'a, ()>;

    /// Asks the person. `None` is a question that was dropped, which means no.
    fn request_command_approval(
        &self,
        question: CommandApproval,
    ) -> BoxFuture<'_, Option<ReviewDecision>>;

    /// Writes a prefix that the person wants kept to the file of approvals. The executor knows it already.
    ///
    /// # Errors
    /// It could not be written, and why.
    fn persist_amendment(&self, edit: ApprovalEdit) -> BoxFuture<'_, Result<(), String>>;

    /// Keeps a grant that the person gave for longer than this session. The executor keeps it for this session by
    /// itself.
    ///
    /// # Errors
    /// It could not be kept, and why.
    fn persist_grant(
        &self,
        grant: Grant,
        scope: GrantScope,
        expires: Option<u64>,
    ) -> BoxFuture<'_, Result<(), String>> {
        let _ = (grant, scope, expires);
        Box::pin(async { Err("this host keeps no grants".to_owned()) })
    }
}
