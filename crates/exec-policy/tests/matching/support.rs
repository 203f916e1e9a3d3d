//! Policies and places for the tests.

use palisade_exec_policy::RuleDecision;
use palisade_exec_policy::language::model::{Case, Rule};
use palisade_exec_policy::language::{Layer, PolicyFile, Source, parse};
use palisade_exec_policy::matching::{CommandFacts, PlaceFacts, Ruleset, RulesetInput, builtin};
use palisade_policy::{AbsolutePath, HostFacts, Os};
use palisade_shell_analysis::{Analysis, Limits, Shell, analyze_script};

pub(crate) fn place() -> PlaceFacts {
    let home = AbsolutePath::new("/home/dev").unwrap();
    let host = HostFacts::new(Os::Linux).with_home(home).with_uid(1000);
    PlaceFacts::new(&AbsolutePath::new("/srv/app").unwrap(), &host)
}

pub(crate) fn analyze(command: &str) -> Analysis {
    analyze_script(command, Shell::Bash, &Limits::default())
}

fn read(layer: Layer, name: &str, text: &str) -> PolicyFile {
    parse(&Source::new(layer, name, text)).unwrap_or_else(|errors| panic!("{errors}"))
}

/// The built-in files, then one of the user's.
pub(crate) struct Policy {
    pub(crate) rules: Vec<Rule>,
    pub(crate) cases: Vec<Case>,
    pub(crate) ruleset: Ruleset,
    pub(crate) place: PlaceFacts,
}

impl Policy {
    pub(crate) fn built_in() -> Self {
        Self::with_user("version = 1\n")
    }

    pub(crate) fn with_user(text: &str) -> Self {
        let mut files: Vec<PolicyFile> = builtin::SOURCES
            .iter()
            .map(|(name, text)| read(Layer::BuiltIn, name, text))
            .collect();
        files.push(read(Layer::User, "user.toml", text));
        Self::of(files)
    }

    /// Only the user's file.
    pub(crate) fn only(text: &str) -> Self {
        Self::of(vec![read(Layer::User, "user.toml", text)])
    }

    fn of(files: Vec<PolicyFile>) -> Self {
        let (mut rules, mut cases) = (Vec::new(), Vec::new());
        let mut env = files[0].env.clone();
        let mut programs = files[0].programs.clone();
        let mut options = files[0].options.clone();
        let mut defaults = files[0].defaults.clone();
        for file in files {
            rules.extend(file.rules);
            cases.extend(file.cases);
            env.prefix.extend(file.env.prefix);
            programs.extend(file.programs);
            options.extend(file.options);
            defaults.unmatched = file.defaults.unmatched.or(defaults.unmatched);
            defaults.opaque = file.defaults.opaque.or(defaults.opaque);
            defaults.danger = file.defaults.danger.or(defaults.danger);
        }
        let input = RulesetInput::new(&rules)
            .with_programs(&programs)
            .with_options(&options)
            .with_env(&env)
            .with_defaults(&defaults);
        let ruleset = Ruleset::compile(&input);
        Self {
            rules,
            cases,
            ruleset,
            place: place(),
        }
    }

    pub(crate) fn says(&self, command: &str) -> RuleDecision {
        let facts = CommandFacts::new(&self.place);
        self.ruleset
            .evaluate(&analyze(command), &facts)
            .rule_decision()
    }

    #[track_caller]
    pub(crate) fn check(&self, expected: RuleDecision, commands: &[&str]) {
        let wrong: Vec<String> = commands
            .iter()
            .filter(|command| self.says(command) != expected)
            .map(|command| format!("{command:?}: {:?}", self.says(command)))
            .collect();
        assert!(
            wrong.is_empty(),
            "expected {expected:?}:\n{}",
            wrong.join("\n")
        );
    }

    #[track_caller]
    pub(crate) fn never_allows(&self, commands: &[&str]) {
        let wrong: Vec<&&str> = commands
            .iter()
            .filter(|command| self.says(command) == RuleDecision::Allow)
            .collect();
        assert!(wrong.is_empty(), "allowed: {wrong:#?}");
    }
}
