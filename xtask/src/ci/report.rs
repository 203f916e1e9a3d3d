//! What `cargo xtask ci` prints: a line per step and a summary.

use std::time::Duration;

use super::Outcome;

/// Whether a step that could not run counts as a failure.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strictness {
    SkipsAreFine,
    SkipsFail,
}

impl Strictness {
    pub(crate) fn from_environment() -> Self {
        match std::env::var("PALISADE_CI_STRICT").as_deref() {
            Ok("1") => Self::SkipsFail,
            _ => Self::SkipsAreFine,
        }
    }
}

#[derive(Default)]
pub(crate) struct Tally {
    passed: usize,
    failed: usize,
    skipped: usize,
}

impl Tally {
    pub(crate) fn count(&mut self, outcome: &Outcome, strictness: Strictness) {
        match (outcome, strictness) {
            (Outcome::Passed { .. }, _) => self.passed += 1,
            (Outcome::Skipped(_), Strictness::SkipsAreFine) => self.skipped += 1,
            (Outcome::Failed(_), _) | (Outcome::Skipped(_), Strictness::SkipsFail) => {
                self.failed += 1
            }
        }
    }

    pub(crate) fn is_clean(&self) -> bool {
        self.failed == 0
    }
}

pub(crate) fn line(
    name: &str,
    outcome: &Outcome,
    elapsed: Duration,
    strictness: Strictness,
) -> String {
    let (verdict, detail) = match (outcome, strictness) {
        (Outcome::Passed { note: None }, _) => ("passed", String::new()),
        (Outcome::Passed { note: Some(note) }, _) => ("passed", format!("  ({note})")),
        (Outcome::Failed(_), _) => ("FAILED", String::new()),
        (Outcome::Skipped(why), Strictness::SkipsAreFine) => ("--", format!("  skipped: {why}")),
        (Outcome::Skipped(why), Strictness::SkipsFail) => {
            let rule = "PALISADE_CI_STRICT=1 counts a skip as a failure";
            ("FAILED", format!("  skipped: {why} ({rule})"))
        }
    };
    format!(
        "{verdict:<8}{name:<12}{:>8.1}s{detail}",
        elapsed.as_secs_f64()
    )
}

pub(crate) fn indented(text: &str) -> String {
    let lines: Vec<_> = text
        .trim_end()
        .lines()
        .map(|line| format!("    {line}"))
        .collect();
    lines.join("\n")
}

/// The last line is for machines and keeps its form.
pub(crate) fn summary(tally: &Tally, elapsed: Duration) -> String {
    let Tally {
        passed,
        failed,
        skipped,
    } = tally;
    let seconds = elapsed.as_secs_f64();
    format!("total {seconds:.1}s\n{passed} passed, {failed} failed, {skipped} skipped")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIME: Duration = Duration::from_millis(12_340);

    fn outcomes() -> [Outcome; 4] {
        [
            Outcome::passed(),
            Outcome::passed_with("212 tests".to_owned()),
            Outcome::Failed("error\n\nmore\n".to_owned()),
            Outcome::Skipped("no compiler".to_owned()),
        ]
    }

    fn lines(strictness: Strictness) -> Vec<String> {
        let lines = outcomes().map(|outcome| line("clippy", &outcome, TIME, strictness));
        lines.to_vec()
    }

    fn last_line(strictness: Strictness) -> String {
        let mut tally = Tally::default();
        for outcome in outcomes() {
            tally.count(&outcome, strictness);
        }
        assert!(!tally.is_clean());
        let summary = summary(&tally, TIME);
        summary.lines().next_back().unwrap().to_owned()
    }

    #[test]
    fn a_line_per_step() {
        assert_eq!(
            lines(Strictness::SkipsAreFine),
            [
                "passed  clippy          12.3s",
                "passed  clippy          12.3s  (212 tests)",
                "FAILED  clippy          12.3s",
                "--      clippy          12.3s  skipped: no compiler",
            ]
        );
    }

    #[test]
    fn a_strict_run_fails_what_was_skipped_and_says_why() {
        assert_eq!(
            lines(Strictness::SkipsFail).last().unwrap(),
            "FAILED  clippy          12.3s  skipped: no compiler (PALISADE_CI_STRICT=1 counts a skip as a failure)"
        );
    }

    #[test]
    fn the_last_line_counts() {
        assert_eq!(
            last_line(Strictness::SkipsAreFine),
            "2 passed, 1 failed, 1 skipped"
        );
        assert_eq!(
            last_line(Strictness::SkipsFail),
            "2 passed, 2 failed, 0 skipped"
        );
    }

    #[test]
    fn captured_output_is_set_off() {
        assert_eq!(
            indented("error\n  at line 1\n\n"),
            "    error\n      at line 1"
        );
    }
}
