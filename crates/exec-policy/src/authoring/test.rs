//! Whether the examples of a policy hold, and which of its rules they exercise.

use std::collections::BTreeSet;
use std::fmt;

use super::workbench::Workbench;
use crate::language::model::{Case, Layer, Origin};
use crate::matching::{CommandFacts, ExampleFailure, verify};

/// The result of a test run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[must_use = "a test that nobody looks at tests nothing"]
pub struct TestReport {
    /// How many examples and cases were checked.
    pub checked: usize,
    /// Those that do not hold.
    pub failures: Vec<ExampleFailure>,
    /// Which rules were exercised.
    pub coverage: Coverage,
}

/// Which rules some example or case exercises.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Coverage {
    /// How many rules there are, without built-in ones.
    pub rules: usize,
    /// Those that nothing exercises, by id and place.
    pub uncovered: Vec<(String, Origin)>,
}

impl Coverage {
    /// How many rules are exercised, in percent, rounded down. No rules are covered in full.
    #[must_use]
    pub fn percent(&self) -> usize {
        let covered = self.rules.saturating_sub(self.uncovered.len());
        covered
            .saturating_mul(100)
            .checked_div(self.rules)
            .unwrap_or(100)
    }
}

impl TestReport {
    /// Whether everything holds and at least so many percent of the rules are exercised.
    #[must_use]
    pub fn passes(&self, min_coverage: usize) -> bool {
        self.failures.is_empty() && self.coverage.percent() >= min_coverage
    }
}

/// Checks the examples of every rule, the cases of the policy and those of a corpus.
///
/// A corpus is a list of cases, such as those of a policy file that has nothing else. Built-in rules are checked too,
/// but their coverage is not the author's business.
pub fn test(bench: &Workbench<'_>, corpus: &[Case], facts: &CommandFacts<'_>) -> TestReport {
    let policy = bench.policy();
    let cases: Vec<Case> = policy.cases().iter().chain(corpus).cloned().collect();
    let failures = verify(bench.ruleset(), policy.rules(), &cases, facts);
    let examples = policy
        .rules()
        .iter()
        .map(|rule| rule.matches.len().saturating_add(rule.not_matches.len()));
    let checked = examples.sum::<usize>().saturating_add(cases.len());

    let mut exercised: BTreeSet<(&str, &Origin)> = BTreeSet::new();
    let commands = policy
        .rules()
        .iter()
        .flat_map(|rule| rule.matches.iter().chain(&rule.not_matches))
        .map(|example| example.command.as_str())
        .chain(cases.iter().map(|case| case.run.as_str()));
    let evaluations: Vec<_> = commands
        .map(|command| bench.evaluate(command, facts))
        .collect();
    for segment in evaluations
        .iter()
        .flat_map(|evaluation| evaluation.segments())
    {
        for found in segment.matches() {
            exercised.insert((found.rule.id(), found.rule.origin()));
        }
    }
    let own = || {
        policy
            .rules()
            .iter()
            .filter(|rule| rule.origin.layer != Layer::BuiltIn)
    };
    let uncovered = own()
        .filter(|rule| !exercised.contains(&(rule.id.as_str(), &rule.origin)))
        .map(|rule| (rule.id.clone(), rule.origin.clone()))
        .collect();
    TestReport {
        checked,
        failures,
        coverage: Coverage {
            rules: own().count(),
            uncovered,
        },
    }
}

impl fmt::Display for TestReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for failure in &self.failures {
            writeln!(f, "FAILED {failure}")?;
        }
        let held = self.checked.saturating_sub(self.failures.len());
        writeln!(f, "{held} of {} examples and cases hold", self.checked)?;
        let rules = self.coverage.rules;
        let covered = rules.saturating_sub(self.coverage.uncovered.len());
        writeln!(
            f,
            "{covered} of {rules} rules are exercised ({}%)",
            self.coverage.percent()
        )?;
        for (id, origin) in &self.coverage.uncovered {
            writeln!(
                f,
                "  not exercised: `{}` ({origin})",
                super::words::shown(id)
            )?;
        }
        Ok(())
    }
}
