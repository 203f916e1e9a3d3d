//! A command to its end: admitted, attempted, recorded.

use std::sync::{Arc, PoisonError};

use palisade_exec_policy::{ApprovalPurpose, GrantScope, ReviewDecision};
use palisade_policy::{CanonicalSandboxPolicy, Grant};

use super::admit::{Admitted, admit, environment};
use super::command::{Command, LiveOutput};
use super::error::Error;
use super::state::Shared;
use crate::approve::{BoxFuture, Prompt, ask};
use crate::attempt::{self, Attempted, Attempting, Notice, Retry, RetryKind, RetryQuestion, Tried};
use crate::launch::{self, Driver, Ground, Launch, Live, OutputMode, Placed, Stdin};
use crate::outcome::{Finished, Outcome, SetupFailure};

/// Runs a command to its end.
pub(super) async fn to_the_end(command: Command, driver: Driver) -> Result<Finished, Error> {
    let admitted = command.shared.or_record(&command, admit(&command).await)?;
    let mut run = Run {
        command: &command,
        admitted: &admitted,
        driver,
    };
    let attempted = attempt::run(&admitted.attempts, &mut run).await?;
    let shared = &command.shared;
    if let Retry::Unsandboxed { for_session: true } = attempted.retry {
        let key = admitted.key(ApprovalPurpose::RunUnsandboxed);
        shared.approved.insert(key);
    }
    shared.record(&admitted, &attempted);
    Ok(finished(attempted))
}

/// What the caller gets: the last attempt, and what became of trying again.
fn finished(attempted: Attempted<Finished>) -> Finished {
    let mut finished = attempted.value;
    match &attempted.retry {
        Retry::Declined(refusal) => finished
            .notes
            .push(format!("it was not tried again: {refusal}")),
        Retry::Unsandboxed { .. } => finished
            .notes
            .push("it ran again without the sandbox, because a person approved that".to_owned()),
        Retry::Narrower => finished.notes.extend(
            attempted
                .granted
                .iter()
                .map(|grant| format!("it ran again with a grant to {grant}")),
        ),
        _ => {}
    }
    finished
}

struct Run<'a> {
    command: &'a Command,
    admitted: &'a Admitted,
    driver: Driver,
}

impl Run<'_> {
    fn launch(&self, placed: &Placed) -> Result<Launch, SetupFailure> {
        let mut spec = self.admitted.spec.clone();
        spec.env = environment(self.command, placed.sandbox, &placed.policy)
            .map_err(|error| SetupFailure::new("environment", None, error.to_string()))?;
        let mut launch = Launch::new(spec);
        launch.stdin = match &self.command.stdin {
            Some(bytes) => Stdin::Bytes(bytes.clone()),
            None => Stdin::Null,
        };
        launch.output = output_mode(self.command);
        launch.live = match &self.command.live {
            LiveOutput::Nobody => Live::Nobody,
            LiveOutput::Call(listener) => {
                let listener = Arc::clone(listener);
                Live::Call(Box::new(move |chunk| {
                    let mut listener = listener.lock().unwrap_or_else(PoisonError::into_inner);
                    listener(chunk);
                }))
            }
        };
        launch.wall = self.admitted.wall;
        launch.timing = self.command.shared.options.timing;
        launch.cancel = self.command.cancel.clone();
        launch.wait_for_others = self.command.shared.options.wait();
        launch.seen = Some(self.admitted.asked.seen().clone());
        Ok(launch)
    }
}

pub(super) fn output_mode(command: &Command) -> OutputMode {
    match command.terminal {
        Some(size) => OutputMode::Terminal {
            size,
            caps: command.caps,
        },
        None => OutputMode::Capture(command.caps),
    }
}

/// The sandbox for an attempt.
pub(super) async fn ground(
    shared: &Arc<Shared>,
    placed: &Placed,
    session_policy: &CanonicalSandboxPolicy,
    driver: Driver,
) -> Result<Ground, SetupFailure> {
    let find = {
        let (shared, placed) = (Arc::clone(shared), placed.clone());
        let session_policy = session_policy.clone();
        move || {
            let sandbox = &shared.sandbox;
            let base = &sandbox.placed.policy;
            shared
                .grounds
                .ground(&sandbox.host, &placed, &session_policy, base)
        }
    };
    launch::off_the_runtime(find, driver).await
}

impl Attempting for Run<'_> {
    type Value = Finished;

    fn attempt<'a>(&'a mut self, placed: &'a Placed) -> BoxFuture<'a, Tried<Finished>> {
        Box::pin(async move {
            let shared = &self.command.shared;
            let own = &self.admitted.session_policy;
            let ready = match ground(shared, placed, own, self.driver).await {
                Ok(ground) => self.launch(placed).map(|launch| (ground, launch)),
                Err(failure) => Err(failure),
            };
            let finished = match ready {
                Ok((ground, launch)) => {
                    launch::on(&shared.sandbox.host, ground, placed, launch, self.driver).await
                }
                Err(failure) => Finished::new(Outcome::SetupFailed(failure), placed.sandbox),
            };
            match &finished.outcome {
                Outcome::Denied { evidence, .. } => Tried::Denied {
                    evidence: evidence.clone(),
                    value: finished,
                },
                _ => Tried::Done(finished),
            }
        })
    }

    fn ask<'a>(&'a mut self, question: &'a RetryQuestion) -> BoxFuture<'a, ReviewDecision> {
        Box::pin(async move {
            let shared = &self.command.shared;
            let purpose = question.kind.purpose();
            if question.kind == RetryKind::Unsandboxed
                && shared.approved.contains(&self.admitted.key(purpose))
            {
                return ReviewDecision::Approved;
            }
            let grant = match &question.kind {
                RetryKind::Narrower(grant) => Some(grant.clone()),
                RetryKind::Unsandboxed => None,
            };
            let reason = Notice::Failed(question.evidence.clone()).to_string();
            let prompt = Prompt::new(
                &self.admitted.call_id,
                self.admitted.asked.words().iter().cloned(),
                &self.admitted.spec.cwd,
            )
            .with_purpose(purpose)
            .with_reason(question.text())
            .with_retry_reason(Some(&reason))
            .with_proposed_grant(grant);
            let answer = ask(shared.prompter.as_ref(), &prompt).await;
            if let ReviewDecision::ApprovedWithGrant { grant, .. } = &answer {
                let policy = self.admitted.session_policy.clone();
                if let Err(error) = shared.with_grant(policy, grant) {
                    let note = format!("{grant} cannot be granted: {error}");
                    return ReviewDecision::DeniedWithNote { note };
                }
            }
            answer
        })
    }

    fn notice<'a>(&'a mut self, notice: &'a Notice) -> BoxFuture<'a, ()> {
        tracing::info!(call_id = %self.admitted.call_id, "{notice}");
        Box::pin(async {})
    }

    fn keep<'a>(
        &'a mut self,
        grant: &'a Grant,
        scope: GrantScope,
        expires: Option<u64>,
    ) -> BoxFuture<'a, ()> {
        self.command.shared.keep_grant(grant, scope, expires);
        Box::pin(async {})
    }
}
