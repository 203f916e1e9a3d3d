//! A command to its end: admitted, attempted, recorded.

use std::sync::{Arc, PoisonError};

use palisade_exec_policy::{ApprovalPurpose, GrantScope, Refusal, ReviewDecision};
use palisade_policy::{CanonicalSandboxPolicy, Grant, SandboxType};

use super::admit::{Admitted, admit, environment, unless_cancelled};
use super::command::{Command, LiveOutput};
use super::error::Error;
use super::hosts::Registered;
use super::progress::Progress;
use super::record::word_of;
use super::state::Shared;
use crate::approve::{BoxFuture, Prompt, ask};
use crate::attempt::{self, Attempted, Attempting, Notice, Retry, RetryKind, RetryQuestion, Tried};
use crate::audit::{AnswerSource, trace};
use crate::launch::{self, Driver, Ground, Launch, Live, OutputMode, Placed, Stdin};
use crate::outcome::{Finished, Outcome, SetupFailure};

/// Runs a command to its end.
pub(super) async fn to_the_end(command: Command, driver: Driver) -> Result<Finished, Error> {
    let admitted = match admit(&command).await {
        Ok(admitted) => admitted,
        Err(Error::Cancelled) => {
            let sandbox = command.shared.sandbox.placed.sandbox;
            return Ok(Finished::new(Outcome::Cancelled, sandbox));
        }
        Err(error) => return Err(error),
    };
    let mut run = Run {
        command: &command,
        admitted: &admitted,
        driver,
        escalating: None,
    };
    let attempted = attempt::run(&admitted.attempts, &mut run).await?;
    let shared = &command.shared;
    if let Retry::Unsandboxed { for_session: true } = attempted.retry {
        let key = admitted.key(ApprovalPurpose::RunUnsandboxed);
        shared.approved.insert(key);
    }
    if command.last {
        shared.grounds.begin_end();
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
    /// What began with a question about another attempt, and ends with that attempt.
    escalating: Option<trace::Step>,
}

impl Run<'_> {
    /// One attempt, from its sandbox to its end.
    async fn once(&self, placed: &Placed) -> Finished {
        let (shared, id) = (&self.command.shared, &self.admitted.call.id);
        self.command.watcher.tell(&Progress::Starting {
            sandbox: placed.sandbox,
            policy: &placed.policy,
        });
        let running = Registered::new(shared, self.admitted, &self.command.cancel);
        let starting = async {
            let own = &self.admitted.session_policy;
            let ground = ground(shared, placed, own, self.driver).await?;
            let mut launch = self.launch(placed)?;
            launch.alone = running.enter(&ground);
            let host = &shared.sandbox.host;
            launch::start(host, ground, placed.sandbox, launch, self.driver).await
        };
        let cancel = &self.command.cancel;
        attempt::traced(id, placed.sandbox, cancel, self.driver, starting).await
    }

    fn launch(&self, placed: &Placed) -> Result<Launch, SetupFailure> {
        let mut spec = self.admitted.spec.clone();
        spec.env = environment(self.command, placed.sandbox, &placed.policy)
            .map_err(|error| SetupFailure::new("environment", None, error.to_string()))?;
        let mut launch = Launch::new(spec);
        launch.stdin = match &self.command.stdin {
            Some(bytes) => Stdin::Bytes(bytes.clone()),
            None => Stdin::Null,
        };
        launch.output = output_mode(self.command)?;
        if let Some((bell, attendant)) = &self.command.attendant.0 {
            let bell = bell.try_clone().map_err(|error| copying(&error))?;
            launch.attendant = Some((bell, Arc::clone(attendant)));
        }
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
        launch.last = self.command.last;
        Ok(launch)
    }
}

pub(super) fn output_mode(command: &Command) -> Result<OutputMode, SetupFailure> {
    let caps = command.caps;
    Ok(match (&command.streams, command.terminal) {
        (Some(streams), _) => OutputMode::Host {
            streams: streams.copy().map_err(|error| copying(&error))?,
            caps,
        },
        (None, Some(size)) => OutputMode::Terminal { size, caps },
        (None, None) => OutputMode::Capture(caps),
    })
}

fn copying(error: &std::io::Error) -> SetupFailure {
    SetupFailure::new(
        "passing descriptors",
        error.raw_os_error(),
        format!("a stream of this program cannot be passed on: {error}"),
    )
}

/// The sandbox for an attempt.
pub(super) async fn ground(
    shared: &Arc<Shared>,
    placed: &Placed,
    session_policy: &CanonicalSandboxPolicy,
    driver: Driver,
) -> Result<Ground, SetupFailure> {
    if let Some(ground) = shared.grounds.at_once(placed, session_policy) {
        return Ok(ground);
    }
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
            let finished = match self.escalating.take() {
                Some(step) => {
                    let finished = step.wait(self.once(placed)).await;
                    step.ended(&finished.outcome);
                    finished
                }
                None => self.once(placed).await,
            };
            let streams = self.command.streams.as_ref();
            match &finished.outcome {
                Outcome::Denied { .. } if streams.is_some_and(|host| !host.can_be_read_again()) => {
                    Tried::Done(finished)
                }
                Outcome::Denied { evidence, .. } => Tried::Denied {
                    evidence: evidence.clone(),
                    value: finished,
                },
                _ => Tried::Done(finished),
            }
        })
    }

    fn forbids(&self, grant: &Grant, widened: &CanonicalSandboxPolicy) -> Option<Refusal> {
        let shared = &self.command.shared;
        shared.bounds.forbid(grant).or_else(|| {
            let within = shared.bounds.check(&shared.sandbox, widened);
            let reason = within.err()?.to_string();
            Some(Refusal::Forbidden { reason })
        })
    }

    fn ask<'a>(&'a mut self, question: &'a RetryQuestion) -> BoxFuture<'a, ReviewDecision> {
        Box::pin(async move {
            let shared = &self.command.shared;
            let call = &self.admitted.call;
            let purpose = question.kind.purpose();
            let next = match question.kind {
                RetryKind::Narrower(_) => question.sandbox,
                RetryKind::Unsandboxed => SandboxType::None,
            };
            let step = trace::escalate(&call.id, next);
            if question.kind == RetryKind::Unsandboxed
                && shared.approved.contains(&self.admitted.key(purpose))
            {
                let approved = ReviewDecision::Approved;
                step.answered(word_of(&approved), AnswerSource::Config);
                self.escalating = Some(step);
                return approved;
            }
            let grant = match &question.kind {
                RetryKind::Narrower(grant) => Some(grant.clone()),
                RetryKind::Unsandboxed => None,
            };
            if grant
                .as_ref()
                .is_some_and(|grant| shared.hosts.was_denied(grant))
            {
                // Whoever was asked while it ran need not say so twice.
                step.answered(word_of(&ReviewDecision::Denied), AnswerSource::Config);
                return ReviewDecision::Denied;
            }
            let reason = Notice::Failed(question.evidence.clone()).to_string();
            let prompt = Prompt::new(&call.id, call.argv.iter().cloned(), &self.admitted.spec.cwd)
                .with_purpose(purpose)
                .with_reason(question.text())
                .with_retry_reason(Some(&reason))
                .with_proposed_grant(grant);
            let asking = ask(shared.prompter.as_ref(), &prompt);
            let asking = unless_cancelled(&self.command.cancel, asking);
            // Nobody wants it again who has cancelled it.
            let answer = step.wait(asking).await.unwrap_or(ReviewDecision::Denied);
            step.answered(word_of(&answer), AnswerSource::User);
            if answer.is_approval() {
                self.escalating = Some(step);
            }
            answer
        })
    }

    fn notice<'a>(&'a mut self, notice: &'a Notice) -> BoxFuture<'a, ()> {
        tracing::info!(target: trace::TARGET, call_id = %self.admitted.call.id, "{notice}");
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
