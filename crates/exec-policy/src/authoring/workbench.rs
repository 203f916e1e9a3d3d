//! A policy with its rules compiled, which the tools look at.

use palisade_shell_analysis::{Analysis, Limits, Shell, analyze_script};

use crate::language::LoadedPolicy;
use crate::matching::{CommandFacts, Evaluation, Ruleset, RulesetInput};

/// A policy on the bench: loaded, compiled, and asked about commands.
#[derive(Clone, Debug)]
pub struct Workbench<'p> {
    policy: &'p LoadedPolicy,
    ruleset: Ruleset,
}

impl<'p> Workbench<'p> {
    /// Compiles a policy.
    #[must_use]
    pub fn new(policy: &'p LoadedPolicy) -> Self {
        Self {
            policy,
            ruleset: Ruleset::compile(&RulesetInput::from(policy)),
        }
    }

    /// The policy.
    #[must_use]
    pub const fn policy(&self) -> &'p LoadedPolicy {
        self.policy
    }

    /// Its rules, compiled.
    #[must_use]
    pub const fn ruleset(&self) -> &Ruleset {
        &self.ruleset
    }

    /// What the rules say about a command line.
    #[must_use]
    pub fn evaluate(&self, command: &str, facts: &CommandFacts<'_>) -> Evaluation<'_> {
        self.ruleset.evaluate(&analyze(command), facts)
    }
}

/// A command line as bash would read it.
pub(super) fn analyze(command: &str) -> Analysis {
    analyze_script(command, Shell::Bash, &Limits::default())
}
