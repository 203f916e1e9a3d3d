//! Examples and cases: a policy file tests itself.

use std::fmt;

use palisade_shell_analysis::{Analysis, Limits, Shell, analyze_script};

use super::evaluation::Evaluation;
use super::facts::CommandFacts;
use super::rule::CompiledRule;
use super::ruleset::{Ruleset, RulesetInput};
use crate::decision::RuleDecision;
use crate::language::LoadedPolicy;
use crate::language::model::{Case, Example, Origin, Rule};

/// An example or case that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExampleFailure {
    origin: Origin,
    command: String,
    problem: ExampleProblem,
}

/// What is wrong with an example.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExampleProblem {
    /// A rule does not match what it says it matches.
    NotMatched {
        /// The rule.
        rule: String,
    },
    /// A rule matches what it says it does not.
    Matched {
        /// The rule.
        rule: String,
    },
    /// The whole policy is stricter about an example of an allow rule than the rule says.
    Stricter {
        /// The rule.
        rule: String,
        /// What the policy says.
        found: RuleDecision,
        /// What says so.
        because: String,
    },
    /// The whole policy says something else than the case expects.
    Case {
        /// What the case expects.
        expected: RuleDecision,
        /// What the policy says.
        found: RuleDecision,
        /// What says so.
        because: String,
    },
}

impl ExampleFailure {
    /// Where the example stands.
    #[must_use]
    pub const fn origin(&self) -> &Origin {
        &self.origin
    }

    /// The command of the example.
    #[must_use]
    pub fn command(&self) -> &str {
        &self.command
    }

    /// What is wrong.
    #[must_use]
    pub const fn problem(&self) -> &ExampleProblem {
        &self.problem
    }
}

impl fmt::Display for ExampleFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let command = self.command.escape_debug();
        write!(f, "{}: ", self.origin)?;
        match &self.problem {
            ExampleProblem::NotMatched { rule } => {
                write!(f, "rule `{rule}` does not match `{command}`")
            }
            ExampleProblem::Matched { rule } => {
                write!(
                    f,
                    "rule `{rule}` matches `{command}`, which it says it does not"
                )
            }
            ExampleProblem::Stricter {
                rule,
                found,
                because,
            } => write!(
                f,
                "rule `{rule}` allows `{command}`, but the policy says {}: {because}",
                name(*found)
            ),
            ExampleProblem::Case {
                expected,
                found,
                because,
            } => write!(
                f,
                "`{command}` should be {}, but the policy says {}: {because}",
                name(*expected),
                name(*found)
            ),
        }
    }
}

const fn name(decision: RuleDecision) -> &'static str {
    match decision {
        RuleDecision::Allow => "allow",
        RuleDecision::Prompt => "prompt",
        RuleDecision::Forbid => "forbid",
    }
}

/// Checks every example of these rules and every case against the compiled policy.
///
/// - A `match` example is one that the rule speaks about with its own decision, a `not_match` example one where it
///   does not (another decision, its `else`, counts as not matching).
/// - The whole policy must not be stricter about a `match` example of an allow rule than the rule: an allow that is
///   really forbidden is an error of the author.
/// - A case names the verdict of the whole policy.
#[must_use]
pub fn verify(
    ruleset: &Ruleset,
    rules: &[Rule],
    cases: &[Case],
    facts: &CommandFacts<'_>,
) -> Vec<ExampleFailure> {
    let mut failures = Vec::new();
    let mut fail = |command: &str, origin: &Origin, problem| {
        failures.push(ExampleFailure {
            origin: origin.clone(),
            command: command.to_owned(),
            problem,
        });
    };
    for rule in rules {
        let is_rule =
            |compiled: &CompiledRule| compiled.id == rule.id && compiled.origin == rule.origin;
        for Example {
            command, origin, ..
        } in &rule.matches
        {
            let analysis = analyze(command);
            let evaluation = ruleset.evaluate(&analysis, facts);
            let id = rule.id.clone();
            if !speaks(&evaluation, is_rule, rule.decision) {
                fail(command, origin, ExampleProblem::NotMatched { rule: id });
            } else if rule.decision == RuleDecision::Allow
                && evaluation.rule_decision() != RuleDecision::Allow
            {
                let found = evaluation.rule_decision();
                let because = because(&evaluation);
                fail(
                    command,
                    origin,
                    ExampleProblem::Stricter {
                        rule: id,
                        found,
                        because,
                    },
                );
            }
        }
        for Example {
            command, origin, ..
        } in &rule.not_matches
        {
            let analysis = analyze(command);
            let evaluation = ruleset.evaluate(&analysis, facts);
            let allowed_anyway = rule.decision != RuleDecision::Allow
                || evaluation.segments().iter().any(|segment| {
                    segment.is_allowed() && segment.matches.iter().any(|found| is_rule(found.rule))
                });
            if speaks(&evaluation, is_rule, rule.decision) && allowed_anyway {
                fail(
                    command,
                    origin,
                    ExampleProblem::Matched {
                        rule: rule.id.clone(),
                    },
                );
            }
        }
    }
    for case in cases {
        let analysis = analyze(&case.run);
        let evaluation = ruleset.evaluate(&analysis, facts);
        let found = evaluation.rule_decision();
        if found != case.expect {
            let problem = ExampleProblem::Case {
                expected: case.expect,
                found,
                because: because(&evaluation),
            };
            fail(&case.run, &case.origin, problem);
        }
    }
    failures
}

/// [`verify`] for a loaded policy: any failure refuses the policy.
#[must_use]
pub fn verify_policy(policy: &LoadedPolicy, facts: &CommandFacts<'_>) -> Vec<ExampleFailure> {
    let ruleset = Ruleset::compile(&RulesetInput::from(policy));
    verify(&ruleset, policy.rules(), policy.cases(), facts)
}

fn analyze(command: &str) -> Analysis {
    analyze_script(command, Shell::Bash, &Limits::default())
}

fn speaks(
    evaluation: &Evaluation<'_>,
    is_rule: impl Fn(&CompiledRule) -> bool,
    decision: RuleDecision,
) -> bool {
    evaluation
        .segments()
        .iter()
        .flat_map(|segment| &segment.matches)
        .any(|found| found.decision == decision && is_rule(found.rule))
}

/// The rule, the default or the obstacle behind the decision on the whole.
fn because(evaluation: &Evaluation<'_>) -> String {
    let decision = evaluation.rule_decision();
    let segment = evaluation
        .segments()
        .iter()
        .find(|segment| segment.verdict().rule_decision() == decision);
    let Some(segment) = segment else {
        return "nothing could be read".to_owned();
    };
    let strictest = segment
        .matches
        .iter()
        .find(|found| found.decision == decision);
    match (strictest, segment.held_back, segment.verdict()) {
        (Some(found), None, _) => format!("rule `{}` ({})", found.rule.id, found.rule.origin),
        (_, Some(why), _) => why.to_string(),
        (None, None, crate::SegmentVerdict::Opaque { why }) => why.to_owned(),
        (None, None, _) => "no rule matches".to_owned(),
    }
}
