//! What is kept of a run for those who look later: spans of `tracing`, and a record in the audit.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use palisade_exec_policy::ReviewDecision;

use super::context::{ExecCommandContext, ToolDecisionSource};
use super::error::RunError;
use super::output::ExecToolCallOutput;
use super::plan::{ExecPlan, Planned};
use crate::attempt::{Attempted, Retry};
use crate::audit::{AnswerSource, AuditRecord, AuditSink, DecisionWord, Timestamp};
use crate::outcome::Outcome;

/// The record of one call, which is complete when the call is.
pub(super) struct Record<'a> {
    sink: Option<&'a dyn AuditSink>,
    record: AuditRecord,
}

impl<'a> Record<'a> {
    /// A call, before anything is known about it.
    fn begin(sink: Option<&'a dyn AuditSink>, context: &ExecCommandContext) -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let millis = since.map_or(0, |since| since.as_millis());
        let time = Timestamp::from_millis(u64::try_from(millis).unwrap_or(u64::MAX));
        Self {
            sink,
            record: AuditRecord::new(time, &context.call_id, &context.tool_name),
        }
    }

    /// A call that was planned.
    pub(super) fn of(
        sink: Option<&'a dyn AuditSink>,
        context: &ExecCommandContext,
        plan: &ExecPlan,
    ) -> Self {
        let word = match &plan.step {
            Planned::Run { .. } => DecisionWord::Allow,
            Planned::Ask { .. } => DecisionWord::Ask,
        };
        let sandbox = plan.initial_sandbox();
        let mut begun = Self::begin(sink, context);
        begun.change(|record| {
            let record = record
                .with_command(plan.command(), plan.cwd())
                .with_decision(word, plan.source.as_deref())
                .with_grants(&plan.grants);
            match sandbox {
                Some(sandbox) => record.with_policy(sandbox, plan.policy()),
                None => record,
            }
        });
        begun
    }

    /// Keeps a call that was refused before it was planned.
    pub(super) fn refused(
        sink: Option<&'a dyn AuditSink>,
        context: &ExecCommandContext,
        command: &[std::ffi::OsString],
        cwd: &std::path::Path,
        why: &str,
    ) {
        let mut begun = Self::begin(sink, context);
        begun.change(|record| {
            record
                .with_command(command, cwd)
                .with_decision(DecisionWord::Forbid, None)
                .with_refusal(why)
        });
        begun.keep();
    }

    /// It was planned and did not run: a person said no, or nothing could be decided.
    pub(super) fn refused_later(&mut self, why: &str) {
        if self.record.outcome.is_none() {
            self.change(|record| record.with_refusal(why));
        }
    }

    pub(super) fn answered(&mut self, answer: &ReviewDecision, source: ToolDecisionSource) {
        self.change(|record| record.with_answer(word(answer), audit_source(source)));
    }

    pub(super) fn ended(&mut self, attempted: &Attempted<Result<ExecToolCallOutput, RunError>>) {
        let placed = &attempted.placed;
        let escalation = match &attempted.retry {
            Retry::NotNeeded | Retry::NotOffered => None,
            Retry::Declined(_) => Some("declined"),
            Retry::Narrower => Some("narrower"),
            Retry::Unsandboxed { .. } => Some("unsandboxed"),
        };
        self.change(|record| {
            let record = record.with_policy(placed.sandbox, &placed.policy);
            let record = match &attempted.value {
                Err(RunError::Setup(failure)) => {
                    let outcome = Outcome::SetupFailed(failure.clone());
                    record.with_outcome(&outcome, 0, Duration::ZERO)
                }
                value => match output_of(value).and_then(|output| output.finished.as_deref()) {
                    Some(finished) => record.with_finished(finished),
                    None => record,
                },
            };
            match escalation {
                Some(escalation) => record.with_escalation(escalation, &attempted.granted),
                None => record,
            }
        });
    }

    fn change(&mut self, change: impl FnOnce(AuditRecord) -> AuditRecord) {
        // Records are made of copies and redacted, which nobody pays for who keeps none.
        if self.sink.is_some() {
            self.record = change(self.record.clone());
        }
    }

    /// Keeps the record.
    pub(super) fn keep(self) {
        if let Some(sink) = self.sink {
            sink.record(&self.record);
        }
    }
}

fn output_of(value: &Result<ExecToolCallOutput, RunError>) -> Option<&ExecToolCallOutput> {
    match value {
        Ok(output) => Some(output),
        Err(error) => error.output(),
    }
}

pub(super) const fn audit_source(source: ToolDecisionSource) -> AnswerSource {
    match source {
        ToolDecisionSource::Config => AnswerSource::Config,
        ToolDecisionSource::User => AnswerSource::User,
    }
}

/// An answer, in a word.
pub(super) const fn word(answer: &ReviewDecision) -> &'static str {
    match answer {
        ReviewDecision::Approved => "approved",
        ReviewDecision::Denied | ReviewDecision::DeniedWithNote { .. } => "denied",
        ReviewDecision::Abort => "abort",
        ReviewDecision::ApprovedForSession => "approved-for-session",
        ReviewDecision::ApprovedExecpolicyAmendment { .. } => "approved-amendment",
        ReviewDecision::ApprovedWithGrant { .. } => "approved-with-grant",
    }
}
