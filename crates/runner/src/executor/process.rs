//! One process: launched, captured, classified.

use std::future::{Future, poll_fn};
use std::path::PathBuf;
use std::pin::pin;
use std::time::Duration;

use palisade_policy::{CommandSpec, Environment, ExecExpiration, ResourceLimits};

use super::apply_patch::request_for;
use super::backend::Prepared;
use super::error::{RunError, SandboxErr};
use super::output::ExecToolCallOutput;
use super::request::ExecParams;
use super::stream::StdoutStream;
use crate::attempt;
use crate::environment::{EnvironmentPolicy, Markers};
use crate::host::Host;
use crate::launch::{self, Driver, Launch, Placed, Stdin};
use crate::outcome::{Finished, Outcome, SetupFailure};
use crate::supervise::Cancellation;

/// How long a queue is waited for after the command has ended. What it has not taken by then is in the capture.
const LAST_DELTAS: Duration = Duration::from_millis(250);

/// Runs a command in a place and says what became of it: its output, or why there is more to it than that.
///
/// `linux_sandbox_exe` is the helper of the Linux sandbox; without it, that of the host. Who calls this has decided
/// already: nothing is asked.
///
/// # Errors
/// It timed out, was denied, ended by a signal, cancelled, over a limit, or not started.
pub async fn process_exec_tool_call(
    host: &Host,
    params: ExecParams,
    placed: &Placed,
    linux_sandbox_exe: Option<PathBuf>,
    stream: Option<&StdoutStream>,
    cancel: Cancellation,
) -> Result<ExecToolCallOutput, RunError> {
    let host = with_helper(host, linux_sandbox_exe);
    let prepared = Prepared {
        params,
        patch: None,
        seen: None,
    };
    let how = How {
        call_id: "",
        limits: placed.policy.resource_limits(),
        stream,
        cancel,
    };
    classify(spawn(&host, &prepared, placed, how).await?)
}

/// The host, with this helper in place of its own.
pub(super) fn with_helper(host: &Host, helper: Option<PathBuf>) -> Host {
    Host {
        helper: helper.or_else(|| host.helper.clone()),
        ..host.clone()
    }
}

/// How a command is watched.
pub(super) struct How<'a> {
    /// Which call it is, in traces.
    pub(super) call_id: &'a str,
    /// The limits of the policy that it was decided under. Its time holds without a sandbox, too.
    pub(super) limits: ResourceLimits,
    /// Who gets its output meanwhile.
    pub(super) stream: Option<&'a StdoutStream>,
    /// Who can end it.
    pub(super) cancel: Cancellation,
}

/// Launches a prepared command and waits for its end.
pub(super) async fn spawn(
    host: &Host,
    prepared: &Prepared,
    placed: &Placed,
    how: How<'_>,
) -> Result<Finished, RunError> {
    let params = &prepared.params;
    let (program, args) = params.command.split_first().ok_or(RunError::EmptyCommand)?;
    let expiration = ExecExpiration::from(params.timeout_ms);
    let command = CommandSpec::new(program)
        .with_args(args)
        .with_cwd(&params.cwd)
        .with_env(environment(prepared, placed)?)
        .with_expiration(expiration);
    let mut launch = Launch::new(command);
    launch.cancel = how.cancel.clone();
    launch.seen = prepared.seen.clone();
    launch.wall = expiration.effective_wall(
        &how.limits,
        Duration::from_millis(ExecExpiration::DEFAULT_TIMEOUT_MS),
    );
    if let Some(patch) = &prepared.patch {
        launch.stdin = Stdin::Bytes(request_for(patch, &params.cwd, host, placed)?);
    }
    let forward = how.stream.and_then(|stream| {
        let (live, forward) = stream.attach();
        launch.live = live;
        forward
    });
    let starting = launch::begin(host, placed, launch, Driver::Tokio);
    let run = attempt::traced(
        how.call_id,
        placed.sandbox,
        &how.cancel,
        Driver::Tokio,
        starting,
    );
    Ok(match forward {
        None => run.await,
        Some(forward) => beside(run, forward.run()).await,
    })
}

/// The environment of the command, with the markers that say where it runs. A program of ours gets none of that.
fn environment(prepared: &Prepared, placed: &Placed) -> Result<Environment, RunError> {
    if prepared.patch.is_some() {
        return Ok(Environment::new());
    }
    let policy = EnvironmentPolicy {
        set: prepared.params.env.clone(),
        ..EnvironmentPolicy::empty()
    };
    let markers = Markers::for_policy(placed.sandbox, &placed.policy);
    match policy.build(&Environment::new(), &markers) {
        Ok(built) => Ok(built.env),
        Err(error) => Err(SetupFailure::new("environment", None, error.to_string()).into()),
    }
}

/// Drives `second` beside `first`, and for a little longer if `first` ends before it.
async fn beside<T>(first: impl Future<Output = T>, second: impl Future<Output = ()>) -> T {
    let (mut first, mut second) = (pin!(first), pin!(second));
    let mut forwarding = true;
    let value = poll_fn(|context| {
        if forwarding && second.as_mut().poll(context).is_ready() {
            forwarding = false;
        }
        first.as_mut().poll(context)
    })
    .await;
    if forwarding {
        let rest = poll_fn(|context| second.as_mut().poll(context));
        // A reader who does not read must not keep the result of a command that has ended.
        let _late = tokio::time::timeout(LAST_DELTAS, rest).await;
    }
    value
}

/// What a finished run means to the executor.
///
/// # Errors
/// It did not end by itself, or the sandbox is why it failed.
pub fn classify(finished: Finished) -> Result<ExecToolCallOutput, RunError> {
    let outcome = finished.outcome.clone();
    let output = |finished| Box::new(ExecToolCallOutput::from(finished));
    Err(match outcome {
        Outcome::Exited { .. } => return Ok(finished.into()),
        Outcome::TimedOut { .. } => RunError::Sandbox(SandboxErr::Timeout {
            output: output(finished),
        }),
        Outcome::Denied { .. } => RunError::Sandbox(SandboxErr::Denied {
            output: output(finished),
        }),
        Outcome::Signaled { signal } => RunError::Sandbox(SandboxErr::Signal {
            signal,
            output: output(finished),
        }),
        Outcome::Cancelled => RunError::Cancelled {
            output: output(finished),
        },
        Outcome::LimitExceeded { which } => RunError::LimitExceeded {
            which,
            output: output(finished),
        },
        Outcome::SetupFailed(failure) => RunError::Setup(failure),
        Outcome::Lost { why } => RunError::Lost {
            why,
            output: output(finished),
        },
    })
}

#[cfg(test)]
mod tests {
    use palisade_policy::{LimitKind, SandboxType};

    use super::*;
    use crate::outcome::Evidence;

    fn classified(outcome: Outcome) -> Result<ExecToolCallOutput, RunError> {
        let mut finished = Finished::new(outcome, SandboxType::None);
        finished.output.stdout.head = b"kept".to_vec();
        classify(finished)
    }

    #[test]
    fn an_exit_is_output_whatever_its_code() {
        for code in [0, 1, 127] {
            let output = classified(Outcome::Exited { code }).unwrap();
            assert_eq!(output.exit_code, code);
            assert_eq!(output.stdout.text, "kept");
        }
    }

    #[test]
    fn every_other_end_of_a_process_is_an_error_that_keeps_the_output() {
        let denied = Outcome::Denied {
            evidence: vec![Evidence::SystemCall],
            exit_code: 159,
        };
        let after = Duration::from_secs(1);
        for (outcome, code, timed_out) in [
            (denied, 159, false),
            (Outcome::TimedOut { after }, 124, true),
            (Outcome::Signaled { signal: 11 }, 139, false),
            (Outcome::Cancelled, 130, false),
            (
                Outcome::LimitExceeded {
                    which: LimitKind::Memory,
                },
                137,
                false,
            ),
        ] {
            let error = classified(outcome).unwrap_err();
            let output = error.output().unwrap();
            assert_eq!(output.exit_code, code, "{error:?}");
            assert_eq!(output.timed_out, timed_out, "{error:?}");
            assert_eq!(output.stdout.text, "kept");
        }
    }

    #[test]
    fn denial_timeout_and_signal_are_sandbox_errors_and_a_setup_failure_has_no_output() {
        let is_sandbox = |outcome| matches!(classified(outcome).unwrap_err(), RunError::Sandbox(_));
        assert!(is_sandbox(Outcome::Signaled { signal: 9 }));
        assert!(is_sandbox(Outcome::TimedOut {
            after: Duration::ZERO
        }));
        assert!(!is_sandbox(Outcome::Cancelled));
        let failure = SetupFailure::new("exec", Some(2), "no such program");
        let error = classified(Outcome::SetupFailed(failure)).unwrap_err();
        assert!(matches!(&error, RunError::Setup(failure) if failure.errno == Some(2)));
        assert!(error.output().is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn what_runs_beside_a_command_is_driven_with_it_but_never_waited_for_without_end() {
        let (sender, mut receiver) = tokio::sync::mpsc::channel::<u32>(1);
        let forward = async move {
            while let Some(number) = receiver.recv().await {
                if number == 3 {
                    std::future::pending::<()>().await;
                }
            }
        };
        let feed = async move {
            for number in 0..=3 {
                sender.send(number).await.unwrap();
            }
            7
        };
        assert_eq!(beside(feed, forward).await, 7);
    }
}
