//! One view on every end of a run, for events and messages.

use std::borrow::Cow;

use super::error::{ExecError, get_error_message_ui};
use super::output::ExecToolCallOutput;

/// The output of a run: its own, or one made from its error.
///
/// It always has one of the two, so there is no third case to handle.
#[derive(Clone, Debug)]
pub struct NormalizedExecOutput<'a>(Cow<'a, ExecToolCallOutput>);

impl NormalizedExecOutput<'_> {
    /// The output to show: that of the run where it has one, else the synthetic one.
    #[must_use]
    pub fn event_output(&self) -> &ExecToolCallOutput {
        &self.0
    }

    /// Whether no process ran, so that the output was made from a message.
    #[must_use]
    pub const fn is_synthetic(&self) -> bool {
        matches!(self.0, Cow::Owned(_))
    }
}

/// The output of a run, however it ended.
///
/// Whatever a process wrote is borrowed, also from an error that carries it; an error without output becomes code -1,
/// with its message as error output.
#[must_use]
pub fn normalize_exec_result(
    result: &Result<ExecToolCallOutput, ExecError>,
) -> NormalizedExecOutput<'_> {
    NormalizedExecOutput(match result {
        Ok(output) => Cow::Borrowed(output),
        Err(ExecError::Function(error)) => {
            Cow::Owned(ExecToolCallOutput::synthetic(error.to_string()))
        }
        Err(ExecError::Run(error)) => match error.output() {
            Some(output) => Cow::Borrowed(output),
            None => Cow::Owned(ExecToolCallOutput::synthetic(get_error_message_ui(error))),
        },
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::error::{EnvVarError, RunError, SandboxErr};
    use super::*;

    fn output(code: i32) -> ExecToolCallOutput {
        let mut output = ExecToolCallOutput::synthetic("written");
        output.exit_code = code;
        output
    }

    #[test]
    fn normalize_ok_borrows_the_output() {
        let result = Ok(output(3));
        let normalized = normalize_exec_result(&result);
        assert!(std::ptr::eq(
            normalized.event_output(),
            result.as_ref().unwrap()
        ));
        assert!(!normalized.is_synthetic());
    }

    #[test]
    fn normalize_timeout_borrows_the_embedded_output() {
        let embedded = Box::new(output(124));
        let address: *const ExecToolCallOutput = &raw const *embedded;
        let result = Err(ExecError::from(SandboxErr::Timeout { output: embedded }));
        let normalized = normalize_exec_result(&result);
        assert!(std::ptr::eq(normalized.event_output(), address));
    }

    #[test]
    fn normalize_of_a_signal_or_a_denial_keeps_the_code_of_the_process() {
        let signal = SandboxErr::Signal {
            signal: 9,
            output: Box::new(output(137)),
        };
        let denied = SandboxErr::Denied {
            output: Box::new(output(2)),
        };
        for (error, code) in [(signal, 137), (denied, 2)] {
            let result = Err(ExecError::from(error));
            let normalized = normalize_exec_result(&result);
            assert_eq!(normalized.event_output().exit_code, code);
            assert!(!normalized.is_synthetic());
        }
    }

    #[test]
    fn normalize_respond_to_model_synthesises_minus_one_with_the_message_in_stderr_and_aggregated()
    {
        let result = Err(ExecError::rejection("not allowed"));
        let normalized = normalize_exec_result(&result);
        let output = normalized.event_output();
        assert_eq!(output.exit_code, -1);
        assert_eq!(output.stdout.text, "");
        assert_eq!(output.stderr.text, "not allowed");
        assert_eq!(output.aggregated_output.text, "not allowed");
        assert_eq!(output.duration, Duration::ZERO);
        assert!(!output.timed_out);
        assert!(normalized.is_synthetic());
    }

    #[test]
    fn normalize_of_a_missing_variable_names_it() {
        let error = EnvVarError {
            var: "FOO".to_owned(),
            instructions: None,
        };
        let result = Err(ExecError::Run(RunError::EnvVar(error)));
        let normalized = normalize_exec_result(&result);
        let output = normalized.event_output();
        assert_eq!(output.exit_code, -1);
        assert_eq!(output.stderr.text, "Missing environment variable: `FOO`");
        assert_eq!(output.aggregated_output, output.stderr);
    }
}
