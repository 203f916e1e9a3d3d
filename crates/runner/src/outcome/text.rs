//! A run in words, for a person or a model.

use std::fmt;

use palisade_policy::LimitKind;

use super::{Finished, Outcome};

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // That of a crash on Windows, which is known by its hexadecimal name.
            Self::Exited { code } if *code < 0 => write!(f, "exit code {code} ({code:#010X})"),
            Self::Exited { code } => write!(f, "exit code {code}"),
            Self::Signaled { signal } => write!(f, "ended by signal {signal}"),
            Self::TimedOut { after } => write!(f, "ended after {} ms", after.as_millis()),
            Self::Cancelled => f.write_str("cancelled"),
            Self::LimitExceeded { which } => f.write_str(match which {
                LimitKind::Memory => "over its limit: memory",
                LimitKind::Pids => "over its limit: processes",
                LimitKind::Disk => "over its limit: disk",
                LimitKind::Cpu => "over its limit: processor time",
                LimitKind::Wall => "over its limit: time",
            }),
            Self::Denied {
                evidence,
                exit_code,
            } => {
                write!(f, "exit code {exit_code}")?;
                evidence.iter().try_for_each(|one| write!(f, "; {one}"))
            }
            Self::SetupFailed(failure) => write!(f, "not started: {failure}"),
            Self::Lost { why } => write!(f, "lost: {why}"),
        }
    }
}

impl fmt::Display for Finished {
    /// What a model is told: everything that was kept of the output, in the order of arrival; how it ended, unless well;
    /// and the notes. What the command wrote is not changed, so a terminal would obey it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let output = self.output.aggregated.text();
        f.write_str(&output)?;
        let mut own_line = output.is_empty() || output.ends_with('\n');
        let ended = (!self.outcome.success()).then(|| self.outcome.to_string());
        for line in ended.iter().chain(&self.notes) {
            if !own_line {
                f.write_str("\n")?;
            }
            write!(f, "[{line}]")?;
            own_line = false;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use palisade_policy::SandboxType;

    use super::*;
    use crate::capture::Captured;
    use crate::outcome::{Evidence, SetupFailure};

    fn finished(outcome: Outcome, output: &str) -> Finished {
        let mut finished = Finished::new(outcome, SandboxType::None);
        finished.output.aggregated = Captured {
            head: output.into(),
            ..Captured::default()
        };
        finished
    }

    #[test]
    fn a_good_run_is_its_output() {
        let run = finished(Outcome::Exited { code: 0 }, "done\n");
        assert_eq!(run.to_string(), "done\n");
    }

    #[test]
    fn another_end_is_told_on_a_line_of_its_own() {
        for output in ["half", "half\n"] {
            let mut run = finished(Outcome::Exited { code: 3 }, output);
            run.notes.push("a note".to_owned());
            assert_eq!(run.to_string(), "half\n[exit code 3]\n[a note]");
        }
        let run = finished(Outcome::Cancelled, "");
        assert_eq!(run.to_string(), "[cancelled]");
    }

    #[test]
    fn every_end_has_its_words() {
        let denied = Outcome::Denied {
            evidence: vec![Evidence::SystemCall],
            exit_code: 159,
        };
        let failure = SetupFailure::new("exec", Some(2), "no such program");
        for (outcome, words) in [
            (
                Outcome::Exited {
                    code: -1_073_741_819,
                },
                "exit code -1073741819 (0xC0000005)",
            ),
            (Outcome::Signaled { signal: 9 }, "ended by signal 9"),
            (
                Outcome::TimedOut {
                    after: Duration::from_secs(2),
                },
                "ended after 2000 ms",
            ),
            (
                Outcome::LimitExceeded {
                    which: LimitKind::Memory,
                },
                "over its limit: memory",
            ),
            (
                denied,
                "exit code 159; the sandbox forbids a system call that it made",
            ),
            (
                Outcome::Lost {
                    why: "the session is gone".to_owned(),
                },
                "lost: the session is gone",
            ),
            (
                Outcome::SetupFailed(failure),
                "not started: no such program",
            ),
        ] {
            assert_eq!(outcome.to_string(), words);
        }
    }
}
