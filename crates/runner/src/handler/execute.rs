//! Runs a command that is ready to be started, and shows its output as text.

use std::time::Duration;

use palisade_policy::{CanonicalSandboxPolicy, SandboxType, WorkspaceRoot};

use super::error::{Denial, ToolError};
use super::views::ExecEnv;
use crate::host::Host;
use crate::launch::{Driver, Launch, Placed};
use crate::outcome::{Finished, Outcome, SetupFailure};

/// How long a command may run that says nothing about it.
pub const DEFAULT_EXECUTE_TIMEOUT: Duration = Duration::from_secs(300);

/// What a command wrote, as text, and how it ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "the simple view: handlers write it as a literal"
)]
pub struct ExecToolCallOutput {
    /// Standard output; what is not Unicode reads as U+FFFD.
    pub stdout: String,
    /// Standard error, likewise.
    pub stderr: String,
    /// Its code; 128 and the signal if it died of one.
    pub exit_code: i32,
}

impl ExecToolCallOutput {
    /// Whether it ended with 0.
    #[must_use]
    pub const fn success(&self) -> bool {
        self.exit_code == 0
    }

    /// Both streams: the one that is not empty, or standard output, a line break and standard error.
    #[must_use]
    pub fn combined_output(&self) -> String {
        match (self.stdout.is_empty(), self.stderr.is_empty()) {
            (_, true) => self.stdout.clone(),
            (true, false) => self.stderr.clone(),
            (false, false) => format!("{}\n{}", self.stdout, self.stderr),
        }
    }

    /// The simple view of a run.
    ///
    /// # Errors
    /// It took too long, the sandbox was in the way, or nothing ran.
    pub fn of(finished: Finished) -> Result<Self, ToolError> {
        let exit_code = finished.outcome.exit_code();
        match finished.outcome {
            Outcome::TimedOut { after } => Err(ToolError::Timeout(
                u64::try_from(after.as_millis()).unwrap_or(u64::MAX),
            )),
            Outcome::Denied { evidence, .. } => Err(ToolError::denied(Denial::proven(evidence))),
            Outcome::SetupFailed(failure) => Err(ToolError::internal(failure)),
            Outcome::Lost { why } => Err(ToolError::internal(why)),
            Outcome::Exited { .. }
            | Outcome::Signaled { .. }
            | Outcome::Cancelled
            | Outcome::LimitExceeded { .. } => Ok(Self {
                stdout: finished.output.stdout.text().into_owned(),
                stderr: finished.output.stderr.text().into_owned(),
                exit_code,
            }),
        }
    }
}

/// Runs a command that is ready to be started, as [`env_for`](super::SandboxAttempt::env_for) made it, and captures what
/// it writes. Without a time of its own it has 300 seconds.
///
/// Where a sandbox is wrapped around it, the wrapper is what is started. A wrapper that cannot keep its policy runs nothing
/// and ends with 125, its reason on standard error.
///
/// # Errors
/// It took too long, or it was not started.
pub async fn execute_env(
    host: &Host,
    env: ExecEnv,
    driver: Driver,
) -> Result<ExecToolCallOutput, ToolError> {
    ExecToolCallOutput::of(launch_env(host, env, driver).await)
}

/// The same, with the bytes as they were written.
pub async fn launch_env(host: &Host, env: ExecEnv, driver: Driver) -> Finished {
    // The sandbox, if there is one, is in the words already: what is started here is started as it is. Without a sandbox
    // nothing is resolved against this directory.
    let cwd = WorkspaceRoot::new(&env.cwd).or_else(|_| WorkspaceRoot::new("/tmp"));
    let Ok(cwd) = cwd else {
        let failure =
            SetupFailure::new("cwd", None, "the directory of the command is not absolute");
        return Finished::new(Outcome::SetupFailed(failure), SandboxType::None);
    };
    let placed = Placed::new(
        SandboxType::None,
        CanonicalSandboxPolicy::full_access(),
        cwd,
    );
    let wall = wall(&env);
    let command = palisade_policy::CommandSpec::new(env.program)
        .with_args(env.args)
        .with_cwd(env.cwd)
        .with_env(env.env);
    let mut launch = Launch::new(command);
    launch.wall = Some(wall);
    crate::launch::run(host, &placed, launch, driver).await
}

fn wall(env: &ExecEnv) -> Duration {
    env.timeout_ms
        .map_or(DEFAULT_EXECUTE_TIMEOUT, Duration::from_millis)
}

#[cfg(test)]
mod tests {
    use palisade_policy::{Environment, ExecExpiration};

    use super::*;
    use crate::outcome::Evidence;

    fn output(stdout: &str, stderr: &str, exit_code: i32) -> ExecToolCallOutput {
        ExecToolCallOutput {
            stdout: stdout.to_owned(),
            stderr: stderr.to_owned(),
            exit_code,
        }
    }

    #[test]
    fn success_is_exit_code_zero_and_nothing_else() {
        assert!(output("", "warning", 0).success());
        assert!(ExecToolCallOutput::default().success());
        for code in [1, -1, 124, 125, 137, 256] {
            assert!(!output("fine", "", code).success(), "{code}");
        }
    }

    #[test]
    fn the_default_output_is_empty_with_code_zero() {
        assert_eq!(ExecToolCallOutput::default(), output("", "", 0));
    }

    #[test]
    fn combined_output_is_the_non_empty_side_or_both_with_a_line_break() {
        assert_eq!(output("a", "", 0).combined_output(), "a");
        assert_eq!(output("", "b", 0).combined_output(), "b");
        assert_eq!(output("a", "b", 0).combined_output(), "a\nb");
        assert_eq!(output("", "", 0).combined_output(), "");
    }

    fn finished(outcome: Outcome) -> Finished {
        let mut finished = Finished::new(outcome, SandboxType::None);
        finished.output.stdout.head = b"caf\xe9".to_vec();
        finished.output.stderr.head = b"start".to_vec();
        finished.output.stderr.omitted = 7;
        finished.output.stderr.tail = b"end".to_vec();
        finished
    }

    #[test]
    fn a_signal_is_128_and_its_number_and_text_is_lossy_only_in_the_view() {
        let view = ExecToolCallOutput::of(finished(Outcome::Signaled { signal: 9 })).unwrap();
        assert_eq!(
            view,
            output("caf\u{fffd}", "start\n[... 7 bytes omitted ...]\nend", 137)
        );
    }

    #[test]
    fn a_command_has_its_own_time_or_300_seconds() {
        let mut env = ExecEnv::try_from(palisade_policy::ExecEnv {
            program: "true".into(),
            args: Vec::new(),
            cwd: "/srv/app".into(),
            env: Environment::new(),
            expiration: ExecExpiration::Timeout(7),
            sandbox_active: false,
            sandbox_type: SandboxType::None,
        })
        .unwrap();
        assert_eq!(wall(&env), Duration::from_millis(7));
        env.timeout_ms = None;
        assert_eq!(wall(&env), Duration::from_secs(300));
    }

    #[test]
    fn a_timeout_a_denial_and_a_failed_start_are_errors() {
        let after = Duration::from_millis(1500);
        let timeout = ExecToolCallOutput::of(finished(Outcome::TimedOut { after }));
        assert!(matches!(timeout, Err(ToolError::Timeout(1500))));
        let denied = ExecToolCallOutput::of(finished(Outcome::Denied {
            evidence: vec![Evidence::SystemCall],
            exit_code: 1,
        }));
        let Err(ToolError::SandboxDenied(denial)) = denied else {
            panic!("{denied:?}");
        };
        assert_eq!(denial.evidence, [Evidence::SystemCall]);
        let failure = SetupFailure::new("exec", Some(2), "there is no such program");
        let failed = ExecToolCallOutput::of(finished(Outcome::SetupFailed(failure)));
        assert_eq!(
            failed.unwrap_err().to_string(),
            "Internal error: there is no such program"
        );
    }
}
