//! What a session keeps: approvals, grants, and a record of every run.

use std::time::{SystemTime, UNIX_EPOCH};

use palisade_exec_policy::approvals::Moment;
use palisade_exec_policy::{GrantScope, ReviewDecision};
use palisade_policy::Grant;

use super::admit::{Admitted, Call, now, word};
use super::error::Error;
use super::state::{Kept, Shared};
use crate::attempt::{Attempted, Retry};
use crate::audit::{AuditRecord, Timestamp};
use crate::config::StoredGrant;
use crate::judge::Offer;
use crate::launch::Placed;
use crate::outcome::{Finished, Outcome};

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
        let expires = expires.map(Moment::of_clock);
        let project = self.sandbox.workspace().path().clone();
        let mut stored = StoredGrant::new(project, grant.clone(), now());
        stored.expires = expires;
        let in_file = match (scope, &self.options.state) {
            (GrantScope::Project, Some(state)) => match state.grants().keep(&stored) {
                Ok(_) => true,
                Err(error) => {
                    tracing::warn!(%error, "the grant lasts as long as this session");
                    false
                }
            },
            _ => false,
        };
        let mut granted = self
            .granted
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        // The same one given again is renewed.
        granted.retain(|kept| kept.grant != *grant);
        granted.push(Kept {
            grant: grant.clone(),
            expires,
            stored: in_file,
        });
    }

    /// Records a run and everything that led to it.
    pub(super) fn record(&self, admitted: &Admitted, attempted: &Attempted<Finished>) {
        let Some(sink) = &self.options.audit else {
            return;
        };
        let mut record = begin(&admitted.call)
            .with_grants(&admitted.attempts.grants)
            .with_policy(attempted.placed.sandbox, &attempted.placed.policy)
            .with_finished(&attempted.value);
        let escalation = match &attempted.retry {
            Retry::NotNeeded | Retry::NotOffered => None,
            Retry::Declined(_) => Some("declined"),
            Retry::Narrower => Some("narrower"),
            Retry::Unsandboxed { .. } => Some("unsandboxed"),
        };
        if let Some(escalation) = escalation {
            let granted = admitted.attempts.grants.iter().chain(&attempted.granted);
            let granted: Vec<Grant> = granted.cloned().collect();
            record = record.with_escalation(escalation, &granted);
        }
        sink.record(&record);
    }

    /// Records a run that was tried once.
    pub(super) fn record_once(&self, admitted: &Admitted, placed: &Placed, finished: &Finished) {
        if let Some(sink) = &self.options.audit {
            let record = begin(&admitted.call)
                .with_grants(&admitted.attempts.grants)
                .with_policy(placed.sandbox, &placed.policy)
                .with_finished(finished);
            sink.record(&record);
        }
    }

    /// Records a call that did not run.
    pub(super) fn record_refused(&self, call: &Call, error: &Error) {
        if let Some(sink) = &self.options.audit {
            let record = begin(call);
            sink.record(&match error {
                Error::Cancelled => {
                    record.with_outcome(&Outcome::Cancelled, 0, std::time::Duration::ZERO)
                }
                error => record.with_refusal(&error.to_string()),
            });
        }
    }
}

/// Now, for a record.
fn timestamp() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    Timestamp::from_millis(since.map_or(0, |since| {
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }))
}

/// What is known about a call before it runs.
fn begin(call: &Call) -> AuditRecord {
    let mut record =
        AuditRecord::new(timestamp(), &call.id, TOOL).with_command(&call.argv, &call.cwd);
    if let Some(judgement) = &call.judgement {
        record = record.with_decision(word(&judgement.requirement), Some(&judgement.source));
    }
    match &call.answer {
        Some(answer) => record.with_answer(word_of(answer), call.answered_by),
        None => record,
    }
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
