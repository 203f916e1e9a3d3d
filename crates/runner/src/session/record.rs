//! What a session keeps: approvals, grants, and a record of every run.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use palisade_exec_policy::approvals::Moment;
use palisade_exec_policy::{ExecApprovalRequirement, GrantScope, Refusal, ReviewDecision};
use palisade_policy::Grant;

use super::admit::{Admitted, now};
use super::command::Command;
use super::error::Error;
use super::state::Shared;
use crate::attempt::{Attempted, Retry};
use crate::audit::{AnswerSource, AuditRecord, DecisionWord, Timestamp};
use crate::config::StoredGrant;
use crate::judge::Offer;
use crate::outcome::Finished;

/// What runs of a session are called in records.
const TOOL: &str = "session";

impl Shared {
    /// Keeps an accepted prefix: at once for this session, and in the file if there is one.
    pub(super) fn keep_offer(&self, offer: &Offer) {
        let now = now();
        let kept = self.judge.accept(offer, now);
        let edit = match kept {
            Ok(edit) => edit,
            Err(error) => {
                tracing::warn!(%error, "the prefix may not be kept; it approves once");
                return;
            }
        };
        let Some(state) = &self.options.state else {
            return;
        };
        let file = state.approvals();
        match file.store(&edit).and_then(|_| file.read()) {
            Ok(stored) => self.judge.set_stored(stored),
            Err(error) => {
                tracing::warn!(%error, "the approval lasts as long as this session");
            }
        }
    }

    /// Keeps a grant beyond its run.
    pub(super) fn keep_grant(&self, grant: &Grant, scope: GrantScope, expires: Option<u64>) {
        if scope == GrantScope::Run {
            return;
        }
        {
            let mut granted = self
                .granted
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner);
            granted.retain(|(kept, _)| kept != grant);
            granted.push((grant.clone(), expires.map(Moment::of_clock)));
        }
        let project = self.sandbox.workspace().path().clone();
        let stored = StoredGrant::new(project, grant.clone(), now());
        let stored = match expires {
            Some(expires) => stored.until(Moment::of_clock(expires)),
            None => stored,
        };
        if scope == GrantScope::Project
            && let Some(state) = &self.options.state
            && let Err(error) = state.grants().keep(&stored)
        {
            tracing::warn!(%error, "the grant lasts as long as this session");
        }
    }

    /// Records a run and everything that led to it.
    pub(super) fn record(&self, admitted: &Admitted, attempted: &Attempted<Finished>) {
        let Some(sink) = &self.options.audit else {
            return;
        };
        let mut record = self
            .begin(admitted)
            .with_policy(attempted.placed.sandbox, &attempted.placed.policy)
            .with_finished(&attempted.value);
        let escalation = match &attempted.retry {
            Retry::NotNeeded | Retry::NotOffered => None,
            Retry::Declined(_) => Some("declined"),
            Retry::Narrower => Some("narrower"),
            Retry::Unsandboxed { .. } => Some("unsandboxed"),
        };
        if let Some(escalation) = escalation {
            record = record.with_escalation(escalation, &attempted.granted);
        }
        sink.record(&record);
    }

    /// Records what may not run, and hands on what may.
    pub(super) fn or_record(
        &self,
        command: &Command,
        admitted: Result<Admitted, Error>,
    ) -> Result<Admitted, Error> {
        if let (Err(error), Some(sink)) = (&admitted, &self.options.audit) {
            let argv: Vec<_> = [&command.program]
                .into_iter()
                .chain(&command.args)
                .cloned()
                .collect();
            let root = self.sandbox.workspace().path().as_path();
            let cwd = root.join(command.cwd.as_deref().unwrap_or(Path::new("")));
            let id = command.call_id.clone().unwrap_or_else(|| self.next_call());
            let mut record = AuditRecord::new(clock(), id, TOOL)
                .with_command(&argv, &cwd)
                .with_decision(DecisionWord::Forbid, None);
            record.outcome = Some("refused".to_owned());
            if let Error::Refused(Refusal::Denied { .. } | Refusal::Aborted) = error {
                record = record.with_answer("denied", AnswerSource::User);
            }
            sink.record(&record);
        }
        admitted
    }

    /// Records a run that was tried once.
    pub(super) fn record_once(&self, admitted: &Admitted, finished: &Finished) {
        if let Some(sink) = &self.options.audit {
            let record = self
                .begin(admitted)
                .with_policy(finished.sandbox, &admitted.attempts.policy)
                .with_finished(finished);
            sink.record(&record);
        }
    }

    /// What is known about a run before it runs.
    fn begin(&self, admitted: &Admitted) -> AuditRecord {
        let word = match &admitted.judgement.requirement {
            ExecApprovalRequirement::Skip { .. } => DecisionWord::Allow,
            ExecApprovalRequirement::NeedsApproval { .. } => DecisionWord::Ask,
            ExecApprovalRequirement::Forbidden { .. } => DecisionWord::Forbid,
        };
        let record = AuditRecord::new(clock(), &admitted.call_id, TOOL)
            .with_command(&admitted.argv(), &admitted.spec.cwd)
            .with_decision(word, Some(&admitted.judgement.source))
            .with_grants(&admitted.attempts.grants);
        match &admitted.answer {
            Some(answer) => record.with_answer(word_of(answer), admitted.answered_by),
            None => record,
        }
    }
}

/// Now, for records.
fn clock() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    Timestamp::from_millis(since.map_or(0, |since| {
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }))
}

/// An answer, in a word.
pub(super) const fn word_of(answer: &ReviewDecision) -> &'static str {
    match answer {
        ReviewDecision::Approved => "approved",
        ReviewDecision::Denied | ReviewDecision::DeniedWithNote { .. } => "denied",
        ReviewDecision::Abort => "abort",
        ReviewDecision::ApprovedForSession => "approved-for-session",
        ReviewDecision::ApprovedExecpolicyAmendment { .. } => "approved-amendment",
        ReviewDecision::ApprovedWithGrant { .. } => "approved-with-grant",
    }
}
