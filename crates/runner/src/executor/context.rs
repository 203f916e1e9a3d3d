//! Who asks for a run, and who writes down what was decided about it.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use palisade_exec_policy::ReviewDecision;

use crate::supervise::Cancellation;

/// Who made a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(
    clippy::exhaustive_enums,
    reason = "the configuration or a person: there is no third"
)]
pub enum ToolDecisionSource {
    /// Rules and settings.
    Config,
    /// A person.
    User,
}

/// Writes down decisions.
pub trait DecisionRecorder: Send + Sync {
    /// One decision about a call of a tool.
    fn record(
        &self,
        tool: &str,
        call_id: &str,
        decision: &ReviewDecision,
        source: ToolDecisionSource,
    );
}

/// A recorder for those who keep no records.
#[derive(Clone, Copy, Debug, Default)]
#[expect(
    clippy::exhaustive_structs,
    reason = "there is nothing to add to nothing"
)]
pub struct NoRecorder;

impl DecisionRecorder for NoRecorder {
    fn record(&self, _: &str, _: &str, _: &ReviewDecision, _: ToolDecisionSource) {}
}

/// The call that a run belongs to.
#[derive(Clone)]
#[non_exhaustive]
pub struct ExecCommandContext {
    /// The turn.
    pub sub_id: String,
    /// The call.
    pub call_id: String,
    /// The tool.
    pub tool_name: String,
    /// Who writes down what is decided.
    pub recorder: Arc<dyn DecisionRecorder>,
    /// The command as people see it, for events.
    pub command_for_display: Vec<OsString>,
    /// Where it runs, for events.
    pub cwd: PathBuf,
    /// The patch that the call applies, if it does, for events.
    pub patch: Option<String>,
    /// Who can end the run.
    pub cancel: Cancellation,
}

impl ExecCommandContext {
    /// A call of a tool in a turn, with nothing to show yet.
    pub fn new(
        sub_id: impl Into<String>,
        call_id: impl Into<String>,
        tool_name: impl Into<String>,
        recorder: Arc<dyn DecisionRecorder>,
    ) -> Self {
        Self {
            sub_id: sub_id.into(),
            call_id: call_id.into(),
            tool_name: tool_name.into(),
            recorder,
            command_for_display: Vec::new(),
            cwd: PathBuf::new(),
            patch: None,
            cancel: Cancellation::new(),
        }
    }

    /// Shown as this command in this directory.
    #[must_use]
    pub fn showing(self, command: Vec<OsString>, cwd: impl Into<PathBuf>) -> Self {
        Self {
            command_for_display: command,
            cwd: cwd.into(),
            ..self
        }
    }

    /// With the patch that is applied.
    #[must_use]
    pub fn with_patch(self, patch: impl Into<String>) -> Self {
        Self {
            patch: Some(patch.into()),
            ..self
        }
    }

    /// Ended by this wish.
    #[must_use]
    pub fn cancelled_by(self, cancel: Cancellation) -> Self {
        Self { cancel, ..self }
    }

    /// Writes down a decision about this call.
    pub(super) fn record(&self, decision: &ReviewDecision, source: ToolDecisionSource) {
        self.recorder
            .record(&self.tool_name, &self.call_id, decision, source);
    }
}

impl fmt::Debug for ExecCommandContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExecCommandContext")
            .field("sub_id", &self.sub_id)
            .field("call_id", &self.call_id)
            .field("tool_name", &self.tool_name)
            .field("command_for_display", &self.command_for_display)
            .field("cwd", &self.cwd)
            .finish_non_exhaustive()
    }
}
