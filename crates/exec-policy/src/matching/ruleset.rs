//! Rules of all layers, compiled.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use palisade_shell_analysis::Analysis;

use super::builtin;
use super::env::EnvTable;
use super::evaluation::Evaluation;
use super::facts::CommandFacts;
use super::judge::Judge;
use super::options::Tables;
use super::program::{self, Pins};
use super::rule::CompiledRule;
use super::trie::{RuleId, Trie};
use crate::decision::RuleDecision;
use crate::language::LoadedPolicy;
use crate::language::model::{
    Defaults, EnvRules, Layer, OptionTable, Origin, ProgramPins, Rule, SandboxGrants,
};

/// What a ruleset is compiled from: the parts of a loaded policy that speak about commands.
#[derive(Clone, Copy, Debug)]
pub struct RulesetInput<'a> {
    rules: &'a [Rule],
    programs: Option<&'a BTreeMap<String, ProgramPins>>,
    options: Option<&'a BTreeMap<String, OptionTable>>,
    env: Option<&'a EnvRules>,
    defaults: Option<&'a Defaults>,
}

impl<'a> RulesetInput<'a> {
    /// These rules, of all layers.
    #[must_use]
    pub const fn new(rules: &'a [Rule]) -> Self {
        Self {
            rules,
            programs: None,
            options: None,
            env: None,
            defaults: None,
        }
    }

    /// With `[programs]`.
    #[must_use]
    pub const fn with_programs(mut self, programs: &'a BTreeMap<String, ProgramPins>) -> Self {
        self.programs = Some(programs);
        self
    }

    /// With `[options]`, in addition to the built-in tables.
    #[must_use]
    pub const fn with_options(mut self, options: &'a BTreeMap<String, OptionTable>) -> Self {
        self.options = Some(options);
        self
    }

    /// With `[env]`.
    #[must_use]
    pub const fn with_env(mut self, env: &'a EnvRules) -> Self {
        self.env = Some(env);
        self
    }

    /// With `[defaults]`.
    #[must_use]
    pub const fn with_defaults(mut self, defaults: &'a Defaults) -> Self {
        self.defaults = Some(defaults);
        self
    }
}

impl<'a> From<&'a LoadedPolicy> for RulesetInput<'a> {
    fn from(policy: &'a LoadedPolicy) -> Self {
        Self::new(policy.rules())
            .with_programs(policy.programs())
            .with_options(policy.options())
            .with_env(policy.env())
            .with_defaults(policy.defaults())
    }
}

/// Compiled rules: one step per word, however many there are.
#[derive(Clone, Debug)]
pub struct Ruleset {
    pub(crate) rules: Vec<CompiledRule>,
    /// Rules that may allow, by the program that really runs.
    pub(crate) exact: Trie,
    /// Rules that may forbid or ask, and the danger table, by the folded last name of the program.
    pub(crate) strict: Trie,
    pub(crate) pins: Pins,
    pub(crate) env: EnvTable,
    pub(crate) defaults: Defaults,
}

impl Ruleset {
    /// Compiles the rules of a policy.
    #[must_use]
    pub fn compile(input: &RulesetInput<'_>) -> Self {
        let mut own;
        let tables = match input.options.filter(|options| !options.is_empty()) {
            None => builtin::tables(),
            Some(options) => {
                own = builtin::tables().clone();
                for (path, table) in options {
                    own.add_authored(path, &Arc::new(table.clone()));
                }
                &own
            }
        };
        let mut set = Self {
            rules: Vec::with_capacity(input.rules.len().saturating_add(64)),
            exact: Trie::default(),
            strict: Trie::default(),
            pins: HashMap::new(),
            env: EnvTable::default(),
            defaults: input.defaults.cloned().unwrap_or_default(),
        };
        for rule in input.rules {
            set.add(
                CompiledRule::new(rule, builtin::is_reader(rule), false),
                rule,
                tables,
            );
        }
        for rule in builtin::dangers() {
            set.add(CompiledRule::new(rule, false, true), rule, tables);
        }
        for (name, pins) in input.programs.into_iter().flatten() {
            let paths = pins
                .paths
                .iter()
                .map(|path| path.as_bytes().to_vec())
                .collect();
            set.pins.insert(name.as_bytes().to_vec(), paths);
        }
        for (name, decision) in input.env.into_iter().flat_map(|env| &env.prefix) {
            set.add_variable(name, *decision);
        }
        set
    }

    fn add(&mut self, compiled: CompiledRule, rule: &Rule, tables: &Tables) {
        let id = RuleId::try_from(self.rules.len()).unwrap_or(RuleId::MAX);
        let positions = rule.prefix.get(1..).unwrap_or_default();
        for program in rule.prefix.first().into_iter().flatten() {
            let exact = rule.decision == RuleDecision::Allow;
            if exact {
                let key = program::rule_key(program);
                self.exact
                    .insert(&key, program, positions, id, &rule.globals, tables);
            }
            if compiled.may_be_strict() {
                let base = program::folded_base(program.as_bytes());
                // Tables that authors write explain options to rules that allow. A rule that forbids or asks goes by the
                // built-in ones, so that no later layer can explain the word away that it looks for.
                let tables = builtin::tables();
                self.strict
                    .insert(&base, program, positions, id, &rule.globals, tables);
            }
        }
        self.rules.push(compiled);
    }

    fn add_variable(&mut self, name: &str, decision: RuleDecision) {
        let id = RuleId::try_from(self.rules.len()).unwrap_or(RuleId::MAX);
        self.env.insert(name, id);
        self.rules.push(CompiledRule {
            id: format!("env.prefix.{name}"),
            why: Some(format!("sets the variable {name}")),
            prefix: vec![vec![format!("{name}=")]],
            decision,
            when_flags: Vec::new(),
            flags: None,
            except: Vec::new(),
            args: None,
            unsandboxed: false,
            sandbox: SandboxGrants::default(),
            origin: Origin::new(Layer::BuiltIn, "[env]", 1, 1),
            globals: None,
            reader: false,
            danger: false,
        });
    }

    pub(crate) fn rule(&self, id: RuleId) -> Option<&CompiledRule> {
        self.rules.get(usize::try_from(id).ok()?)
    }

    /// The rules, in the order in which they were given; entries of `[env]` and of the danger table come after them.
    pub fn rules(&self) -> impl Iterator<Item = &CompiledRule> {
        self.rules.iter().filter(|rule| !rule.danger)
    }

    /// What the rules say about an analysed command.
    #[must_use]
    pub fn evaluate(&self, analysis: &Analysis, facts: &CommandFacts<'_>) -> Evaluation<'_> {
        Judge::new(self, facts).evaluate(analysis)
    }
}
