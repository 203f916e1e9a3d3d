//! Rules of all layers, compiled.

use std::collections::{BTreeMap, HashMap};

use palisade_shell_analysis::Analysis;

use super::builtin;
use super::env::EnvTable;
use super::evaluation::Evaluation;
use super::facts::CommandFacts;
use super::judge::Judge;
use super::options::Tables;
use super::program::{self, Pins};
use super::rule::CompiledRule;
use super::trie::{Forest, RuleId, Trie};
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
    exact: Forest,
    /// Rules that may forbid or ask, and the danger table, by the folded last name of the program.
    strict: Forest,
    /// The built-in tables together with those that authors wrote, if somebody did.
    tables: Option<Tables>,
    pub(crate) pins: Pins,
    pub(crate) env: EnvTable,
    pub(crate) defaults: Defaults,
}

impl Ruleset {
    /// Compiles the rules of a policy.
    #[must_use]
    pub fn compile(input: &RulesetInput<'_>) -> Self {
        let tables = input.options.filter(|options| !options.is_empty());
        let tables = tables.map(|options| {
            let mut tables = builtin::tables().clone();
            for (path, table) in options {
                tables.add_authored(path, table.clone());
            }
            tables
        });
        let mut set = Self {
            rules: Vec::with_capacity(input.rules.len().saturating_add(64)),
            exact: Forest::default(),
            strict: Forest::default(),
            tables,
            pins: HashMap::new(),
            env: EnvTable::default(),
            defaults: input.defaults.cloned().unwrap_or_default(),
        };
        for rule in input.rules {
            set.add(CompiledRule::new(rule, builtin::is_reader(rule), false));
        }
        for rule in builtin::dangers() {
            set.add(CompiledRule::new(rule, false, true));
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

    fn add(&mut self, rule: CompiledRule) {
        let id = RuleId::try_from(self.rules.len()).unwrap_or(RuleId::MAX);
        for program in rule.prefix.first().into_iter().flatten() {
            if rule.decision == RuleDecision::Allow {
                self.exact.add(&program::rule_key(program), program, id);
            }
            if rule.may_be_strict() {
                let base = program::folded_base(program.as_bytes());
                self.strict.add(&base, program, id);
            }
        }
        self.rules.push(rule);
    }

    /// Rules that may allow the program with this key.
    pub(crate) fn exact(&self, key: &[u8]) -> Option<&Trie> {
        let tables = self.tables.as_ref().unwrap_or_else(|| builtin::tables());
        self.exact.of(key, &self.rules, tables)
    }

    /// Rules that may forbid the program with this key or ask about it.
    ///
    /// Tables that authors write explain options to rules that allow. A rule that forbids or asks goes by the built-in
    /// ones, so that no later layer can explain the word away that it looks for.
    pub(crate) fn strict(&self, key: &[u8]) -> Option<&Trie> {
        self.strict.of(key, &self.rules, builtin::tables())
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
