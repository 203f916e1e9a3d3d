//! What a run of the executor returns.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::capture::Captured;
use crate::outcome::{Finished, Outcome};

/// The text of one stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StreamOutput<T = String> {
    /// The text. What is missing in the middle is counted where it is missing.
    pub text: T,
    /// How many lines stand before the first missing byte, if any is missing.
    pub truncated_after_lines: Option<u32>,
}

impl<T> StreamOutput<T> {
    /// A text of which nothing is missing.
    pub const fn new(text: T) -> Self {
        Self {
            text,
            truncated_after_lines: None,
        }
    }
}

impl StreamOutput<String> {
    /// The text of captured bytes. Decoding is presentation: the bytes themselves stay with the run.
    #[must_use]
    pub fn of(captured: &Captured) -> Self {
        let newlines = captured.head.iter().filter(|byte| **byte == b'\n');
        let lines = u32::try_from(newlines.count()).unwrap_or(u32::MAX);
        Self {
            text: captured.text().into_owned(),
            truncated_after_lines: (!captured.is_whole()).then_some(lines),
        }
    }
}

/// What a command wrote and how it ended.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct ExecToolCallOutput {
    /// What a shell would say: the code, 128 and the signal, 124 for a timeout; -1 if no process ran.
    pub exit_code: i32,
    /// Standard output.
    pub stdout: StreamOutput,
    /// Standard error.
    pub stderr: StreamOutput,
    /// Both, in the order of arrival.
    pub aggregated_output: StreamOutput,
    /// How long it ran.
    pub duration: Duration,
    /// Whether it took too long.
    pub timed_out: bool,
    /// The run itself: raw bytes, sandbox, and what was enforced. `None` if no process ran.
    pub finished: Option<Arc<Finished>>,
}

impl ExecToolCallOutput {
    /// Whether the command ended with code 0.
    #[must_use]
    pub const fn success(&self) -> bool {
        self.exit_code == 0
    }

    /// The output of no process: a message in place of error output.
    #[must_use]
    pub fn synthetic(message: impl Into<String>) -> Self {
        let message = StreamOutput::new(message.into());
        Self {
            exit_code: -1,
            stderr: message.clone(),
            aggregated_output: message,
            ..Self::default()
        }
    }
}

impl From<Finished> for ExecToolCallOutput {
    fn from(finished: Finished) -> Self {
        Self {
            exit_code: finished.outcome.exit_code(),
            stdout: StreamOutput::of(&finished.output.stdout),
            stderr: StreamOutput::of(&finished.output.stderr),
            aggregated_output: StreamOutput::of(&finished.output.aggregated),
            duration: finished.duration,
            timed_out: matches!(finished.outcome, Outcome::TimedOut { .. }),
            finished: Some(Arc::new(finished)),
        }
    }
}

/// How much of a text a debug view shows: it ends up in messages to a model.
const SHOWN: usize = 2_000;

impl fmt::Debug for ExecToolCallOutput {
    /// The ends of both texts; never the raw bytes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExecToolCallOutput")
            .field("exit_code", &self.exit_code)
            .field("stdout", &end_of(&self.stdout.text))
            .field("stderr", &end_of(&self.stderr.text))
            .field("duration", &self.duration)
            .field("timed_out", &self.timed_out)
            .finish_non_exhaustive()
    }
}

/// The last part of a text, cut at a character.
fn end_of(text: &str) -> &str {
    let mut from = text.len().saturating_sub(SHOWN);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    text.get(from..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use palisade_policy::SandboxType;

    use super::*;

    #[test]
    fn stream_output_new_holds_its_text_and_nothing_is_truncated() {
        let output = StreamOutput::new("text".to_owned());
        assert_eq!(output.text, "text");
        assert_eq!(output.truncated_after_lines, None);
    }

    #[test]
    fn missing_bytes_are_counted_where_they_are_missing_with_the_lines_before_them() {
        let captured = Captured {
            head: b"one\ntwo\nthr".to_vec(),
            omitted: 7,
            tail: b"end\n".to_vec(),
        };
        let output = StreamOutput::of(&captured);
        assert_eq!(
            output.text,
            "one\ntwo\nthr\n[... 7 bytes omitted ...]\nend\n"
        );
        assert_eq!(output.truncated_after_lines, Some(2));
    }

    #[test]
    fn a_character_that_was_kept_whole_is_not_split_between_head_and_tail() {
        let bytes = "é".as_bytes();
        let captured = Captured {
            head: bytes[..1].to_vec(),
            omitted: 0,
            tail: bytes[1..].to_vec(),
        };
        assert_eq!(StreamOutput::of(&captured).text, "é");
    }

    #[test]
    fn rich_output_of_a_run_keeps_code_texts_duration_and_the_run_itself() {
        let mut finished = Finished::new(Outcome::Signaled { signal: 9 }, SandboxType::None);
        finished.output.stdout.head = b"a\xff".to_vec();
        finished.output.stderr.head = b"b".to_vec();
        finished.output.aggregated.head = b"ba\xff".to_vec();
        finished.duration = Duration::from_millis(5);
        let output = ExecToolCallOutput::from(finished);
        assert_eq!(output.exit_code, 137);
        assert_eq!(output.stdout.text, "a\u{fffd}");
        assert_eq!(output.stderr.text, "b");
        assert_eq!(output.aggregated_output.text, "ba\u{fffd}");
        assert_eq!(output.duration, Duration::from_millis(5));
        assert!(!output.timed_out);
        let raw = output.finished.unwrap();
        assert_eq!(raw.output.stdout.head, b"a\xff", "raw bytes are kept");
    }

    #[test]
    fn a_timed_out_run_says_so_and_its_code_is_124() {
        let outcome = Outcome::TimedOut {
            after: Duration::from_millis(10),
        };
        let output = ExecToolCallOutput::from(Finished::new(outcome, SandboxType::None));
        assert!(output.timed_out);
        assert_eq!(output.exit_code, 124);
    }

    #[test]
    fn a_debug_view_of_much_output_stays_short() {
        let mut output = ExecToolCallOutput::synthetic("ö".repeat(100_000));
        output.stdout.text = "x".repeat(100_000);
        let shown = format!("{output:?}");
        assert!(shown.len() < 3 * SHOWN, "{} bytes", shown.len());
    }
}
