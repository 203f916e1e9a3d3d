//! What libFuzzer says about a run, in one line.

use std::fmt;
use std::path::PathBuf;

/// What came of a run.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Report {
    /// How many inputs were tried.
    pub(super) executions: Option<u64>,
    /// How many edges and how often, as libFuzzer counts them.
    pub(super) features: Option<u64>,
    /// How many inputs reach something that no other does.
    pub(super) corpus: Option<u64>,
    /// The input that broke a law, hung or took too much memory.
    pub(super) broken_by: Option<PathBuf>,
    /// What was said about it.
    pub(super) why: Option<String>,
}

impl Report {
    /// Reads the log of a run.
    pub(super) fn read(log: &str) -> Self {
        let mut report = Self::default();
        for line in log.lines() {
            if let Some(number) = line.strip_prefix("stat::number_of_executed_units:") {
                report.executions = number.trim().parse().ok();
            } else if line.starts_with('#') {
                report.features = after(line, "ft:").or(report.features);
                report.corpus = after(line, "corp:").or(report.corpus);
            } else if let Some((_, path)) = line.split_once("Test unit written to ") {
                report.broken_by = Some(PathBuf::from(path.trim()));
            } else if report.why.is_none() && explains(line) {
                report.why = Some(line.trim().to_owned());
            }
        }
        report
    }
}

/// The number after a word in a line of progress: `#12 NEW cov: 34 ft: 56 corp: 7/89b`.
fn after(line: &str, word: &str) -> Option<u64> {
    let mut words = line.split_whitespace();
    words.find(|found| *found == word)?;
    let number = words.next()?;
    number.split('/').next()?.parse().ok()
}

/// Whether a line says why a run ended early: the place of a panic, or what libFuzzer or the sanitizer saw.
fn explains(line: &str) -> bool {
    (line.starts_with("thread ") && line.contains("panicked at"))
        || line.contains("ERROR: libFuzzer: timeout")
        || line.contains("ERROR: libFuzzer: out-of-memory")
        || line.contains("ERROR: AddressSanitizer")
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |number: Option<u64>| number.map_or_else(|| "?".to_owned(), |n| n.to_string());
        write!(
            f,
            "{:>10} executions {:>7} features {:>6} inputs",
            shown(self.executions),
            shown(self.features),
            shown(self.corpus)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "INFO: Seed: 1\n\
        #2\tINITED cov: 12 ft: 20 corp: 1/1b exec/s: 0 rss: 40Mb\n\
        #512\tNEW    cov: 120 ft: 345 corp: 67/8901b lim: 4 exec/s: 0 rss: 41Mb\n\
        thread '<unnamed>' (1) panicked at src/oracle.rs:30:9:\n\
        assertion failed\n\
        ==1== ERROR: libFuzzer: deadly signal\n\
        artifact_prefix='x/'; Test unit written to x/crash-ab\n\
        stat::number_of_executed_units: 600\n";

    #[test]
    fn the_numbers_and_the_input_are_found() {
        let report = Report::read(LOG);
        assert_eq!(report.executions, Some(600));
        assert_eq!((report.features, report.corpus), (Some(345), Some(67)));
        assert_eq!(report.broken_by, Some(PathBuf::from("x/crash-ab")));
        let why = report.why.unwrap();
        assert!(why.ends_with("panicked at src/oracle.rs:30:9:"), "{why}");
    }

    #[test]
    fn a_run_that_found_nothing_has_no_input() {
        let report = Report::read("#9\tDONE   cov: 1 ft: 2 corp: 3/4b\n");
        assert_eq!(report.broken_by, None);
        assert_eq!(report.executions, None);
        assert!(report.to_string().contains("? executions"));
    }
}
