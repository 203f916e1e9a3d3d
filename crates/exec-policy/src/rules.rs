//! The one door from policy files to rules that judge: loaded, compiled, and held to their own examples.

use std::fmt;
use std::sync::OnceLock;

use palisade_shell_analysis::Analysis;

use crate::language::{
    LoadContext, LoadedPolicy, PolicyErrors, PolicyFile, Source, load, load_sources,
};
use crate::matching::{
    CommandFacts, Evaluation, ExampleFailure, PlaceFacts, Ruleset, RulesetInput, builtin, verify,
};

/// A policy that judges commands. There is no way to one whose files do not load or whose examples do not hold.
#[derive(Clone, Debug)]
pub struct Rules {
    policy: LoadedPolicy,
    /// Made when the first command is judged, unless examples had to be judged before.
    ruleset: OnceLock<Ruleset>,
}

impl Rules {
    /// The built-in rules together with these sources. Includes must be among the sources already.
    ///
    /// # Errors
    /// A file does not load, or an example or case does not hold. Nothing runs under a policy that half-loads.
    pub fn with_builtin<'t>(
        sources: impl IntoIterator<Item = Source<'t>>,
        place: &PlaceFacts,
    ) -> Result<Self, RulesError> {
        Self::load(builtin::sources().into_iter().chain(sources), place)
    }

    /// The rules of these sources and no others.
    ///
    /// # Errors
    /// As [`with_builtin`](Self::with_builtin).
    pub fn load<'t>(
        sources: impl IntoIterator<Item = Source<'t>>,
        place: &PlaceFacts,
    ) -> Result<Self, RulesError> {
        let policy = load_sources(sources).map_err(RulesError::Load)?;
        Self::verified(policy, place)
    }

    /// The rules of files that are parsed already, with their includes.
    ///
    /// # Errors
    /// As [`with_builtin`](Self::with_builtin).
    pub fn from_files(
        files: Vec<PolicyFile>,
        context: &LoadContext,
        place: &PlaceFacts,
    ) -> Result<Self, RulesError> {
        let policy = load(files, context).map_err(RulesError::Load)?;
        Self::verified(policy, place)
    }

    /// The built-in rules together with these files, which are parsed already, with their includes.
    ///
    /// Where the files say nothing about rules, those that are built in are read when somebody asks for them, and nobody is
    /// asked where examples are judged.
    ///
    /// # Errors
    /// As [`with_builtin`](Self::with_builtin).
    pub fn from_files_with_builtin(
        files: Vec<PolicyFile>,
        context: &LoadContext,
        place: impl FnOnce() -> Result<PlaceFacts, RulesError>,
    ) -> Result<Self, RulesError> {
        let silent = |file: &PolicyFile| {
            file.rules.is_empty() && file.cases.is_empty() && file.floor.is_none()
        };
        let unread = files.iter().all(silent);
        let mut all = match unread {
            true => builtin::settings(),
            false => builtin::files_to_judge(),
        }
        .map_err(RulesError::Load)?;
        all.extend(files);
        let mut policy = load(all, context).map_err(RulesError::Load)?;
        if unread {
            policy = policy.with_builtin_rules();
            let ruleset = OnceLock::new();
            return Ok(Self { policy, ruleset });
        }
        Self::verified(policy, &place()?)
    }

    fn verified(policy: LoadedPolicy, place: &PlaceFacts) -> Result<Self, RulesError> {
        // The built-in examples are about a sample project, and this crate's own tests hold the rules to them. A later
        // layer may well be stricter than a built-in allow.
        let rules = policy.authored_rules();
        let ruleset = OnceLock::new();
        if !rules.is_empty() || !policy.cases().is_empty() {
            let compiled = ruleset.get_or_init(|| compiled(&policy));
            let facts = CommandFacts::new(place);
            let failures = verify(compiled, rules, policy.cases(), &facts);
            if !failures.is_empty() {
                return Err(RulesError::Examples(failures));
            }
        }
        Ok(Self { policy, ruleset })
    }

    /// What the files say together.
    #[must_use]
    pub const fn policy(&self) -> &LoadedPolicy {
        &self.policy
    }

    /// The rules, compiled. The first to ask waits until they are.
    #[must_use]
    pub fn ruleset(&self) -> &Ruleset {
        self.ruleset.get_or_init(|| compiled(&self.policy))
    }

    /// What the rules say about an analysed command.
    #[must_use]
    pub fn evaluate(&self, analysis: &Analysis, facts: &CommandFacts<'_>) -> Evaluation<'_> {
        self.ruleset().evaluate(analysis, facts)
    }
}

fn compiled(policy: &LoadedPolicy) -> Ruleset {
    // Whoever judges looks into them.
    let _ = builtin::tables();
    Ruleset::compile(&RulesetInput::from(policy))
}

/// Why a policy cannot be used. Execution is refused until it is mended.
#[derive(Clone, Debug)]
#[expect(
    clippy::exhaustive_enums,
    reason = "whoever shows the error must show every part of it"
)]
pub enum RulesError {
    /// A file does not load.
    Load(PolicyErrors),
    /// Examples or cases do not hold.
    Examples(Vec<ExampleFailure>),
}

impl std::error::Error for RulesError {}

impl fmt::Display for RulesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Load(errors) => errors.fmt(f),
            Self::Examples(failures) => {
                for (i, failure) in failures.iter().enumerate() {
                    if i > 0 {
                        writeln!(f)?;
                    }
                    failure.fmt(f)?;
                }
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use palisade_policy::{AbsolutePath, HostFacts, Os};
    use palisade_shell_analysis::{Limits, Shell, analyze_script};

    use super::*;
    use crate::RuleDecision;
    use crate::language::{Layer, parse};

    fn place() -> PlaceFacts {
        let home = AbsolutePath::new("/home/dev").unwrap();
        let host = HostFacts::new(Os::Linux).with_home(home);
        PlaceFacts::new(&AbsolutePath::new("/srv/app").unwrap(), &host)
    }

    fn load(text: &str) -> Result<Rules, RulesError> {
        Rules::with_builtin([Source::new(Layer::User, "rules.toml", text)], &place())
    }

    /// What layers without the built-in ones say about a command.
    fn judge(layers: &[(Layer, &str)], command: &str) -> RuleDecision {
        let text = |body: &str| format!("version = 1\n{body}");
        let texts: Vec<String> = layers.iter().map(|(_, body)| text(body)).collect();
        let sources = layers
            .iter()
            .zip(&texts)
            .map(|((layer, _), text)| Source::new(*layer, layer.name(), text));
        let rules = Rules::load(sources, &place()).unwrap();
        let analysis = analyze_script(command, Shell::Bash, &Limits::default());
        rules
            .evaluate(&analysis, &CommandFacts::new(&place()))
            .rule_decision()
    }

    #[test]
    fn where_only_listed_commands_run_a_variable_or_a_redirect_opens_nothing() {
        let closed = (Layer::User, "[defaults]\nunmatched = \"forbid\"\n");
        let project = (
            Layer::Project,
            "[env.prefix]\nFOO = \"prompt\"\n\"Z*\" = \"prompt\"\n",
        );
        for command in [
            "evil",
            "PATH=/x evil",
            "LD_PRELOAD=x evil",
            "FOO=1 evil",
            "ZED=1 evil",
            "evil > /etc/hosts",
            "evil > out.txt",
        ] {
            let verdict = judge(&[closed, project], command);
            assert_eq!(verdict, RuleDecision::Forbid, "{command}");
        }
    }

    #[test]
    fn a_later_layer_cannot_explain_a_forbidden_word_away() {
        let system = (
            Layer::System,
            "[[rule]]\nid = \"a\"\nprefix = [\"tool\", \"push\"]\nwhen.flags = [\"--force\", \"-f\"]\n\
             decision = \"forbid\"\nwhy = \"x\"\n",
        );
        let user = (
            Layer::User,
            "[options.tool]\nvalue = [\"--x\"]\n[options.\"tool push\"]\nvalue = [\"-q\"]\n",
        );
        for command in ["tool push -f", "tool --x push --force", "tool push -qf"] {
            let verdict = judge(&[system, user], command);
            assert_eq!(verdict, RuleDecision::Forbid, "{command}");
        }
    }

    #[test]
    fn options_of_a_program_without_subcommands_are_not_looked_past() {
        let allow = (
            Layer::User,
            "[[rule]]\nid = \"a\"\nprefix = [\"rm\", \"build\"]\ndecision = \"allow\"\nwhy = \"x\"\n",
        );
        assert_eq!(judge(&[allow], "rm build"), RuleDecision::Allow);
        assert_eq!(judge(&[allow], "rm -rf build"), RuleDecision::Prompt);
    }

    #[test]
    fn an_id_of_an_earlier_layer_cannot_be_taken() {
        let rule = |id: &str| {
            format!(
                "version = 1\n[[rule]]\nid = \"{id}\"\nprefix = [\"x\"]\ndecision = \"prompt\"\nwhy = \"y\"\n"
            )
        };
        let (system, project) = (rule("push"), rule("push"));
        let rules = Rules::load(
            [
                Source::new(Layer::System, "system", &system),
                Source::new(Layer::Project, "project", &project),
            ],
            &place(),
        )
        .unwrap();
        let ids: Vec<&str> = rules
            .policy()
            .rules()
            .iter()
            .map(|rule| rule.id.as_str())
            .collect();
        assert_eq!(ids, ["push", "project/push"]);
        assert!(!rules.policy().notices().is_empty());
    }

    #[test]
    fn the_built_in_rules_load_in_every_project_and_under_every_stricter_rule() {
        let home = AbsolutePath::new("/home/dev").unwrap();
        let host = HostFacts::new(Os::Linux).with_home(home);
        for project in ["/srv/app", "/home/dev/work", "/var/tmp/x"] {
            let place = PlaceFacts::new(&AbsolutePath::new(project).unwrap(), &host);
            let strict = RULE.replace("frob", "cargo");
            let source = Source::new(Layer::User, "rules.toml", &strict);
            let rules = Rules::with_builtin([source], &place).unwrap();
            let analysis = analyze_script("cargo test", Shell::Bash, &Limits::default());
            let decision = rules
                .evaluate(&analysis, &CommandFacts::new(&place))
                .rule_decision();
            assert_eq!(decision, RuleDecision::Forbid, "{project}");
        }
    }

    #[test]
    fn built_in_rules_that_are_read_later_are_the_same() {
        let files = |text: &str| {
            let text = format!("version = 1\n{text}");
            vec![parse(&Source::new(Layer::User, "rules.toml", &text)).unwrap()]
        };
        let silent = "preset = \"read-only\"\n[limits]\nwall = \"5m\"\n";
        let forbids =
            "[[rule]]\nid = \"a\"\nprefix = [\"ls\"]\ndecision = \"forbid\"\nwhy = \"x\"\n";
        for text in [silent, forbids] {
            let context = LoadContext::new();
            let later =
                Rules::from_files_with_builtin(files(text), &context, || Ok(place())).unwrap();
            let mut all = builtin::files_to_judge().unwrap();
            all.extend(files(text));
            let at_once = Rules::from_files(all, &context, &place()).unwrap();
            assert_eq!(later.policy(), at_once.policy());
            assert_eq!(
                later.policy().clone().into_rules(),
                at_once.policy().rules()
            );
            for command in ["ls", "rm -rf /", "git push --force", "cargo test"] {
                let analysis = analyze_script(command, Shell::Bash, &Limits::default());
                let place = place();
                let facts = CommandFacts::new(&place);
                let [later, at_once] = [&later, &at_once]
                    .map(|rules| rules.evaluate(&analysis, &facts).rule_decision());
                assert_eq!(later, at_once, "{command}");
            }
        }
    }

    const RULE: &str = "version = 1\n[[rule]]\nid = \"a\"\nprefix = [\"frob\"]\ndecision = \"forbid\"\nwhy = \"x\"\n";

    #[test]
    fn a_policy_that_holds_its_examples_is_admitted() {
        assert!(
            load(&format!(
                "{RULE}match = [\"frob x\"]\nnot_match = [\"ls\"]\n"
            ))
            .is_ok()
        );
    }

    #[test]
    fn an_example_that_fails_refuses_the_policy() {
        for (line, names) in [
            ("match = [\"ls\"]", "ls"),
            ("not_match = [\"frob x\"]", "frob x"),
            ("[[case]]\nrun = \"frob\"\nexpect = \"allow\"", "frob"),
        ] {
            let error = load(&format!("{RULE}{line}\n")).unwrap_err();
            assert!(matches!(error, RulesError::Examples(_)), "{error}");
            assert!(error.to_string().contains("rules.toml:"), "{error}");
            assert!(error.to_string().contains(names), "{error}");
        }
    }

    #[test]
    fn a_file_that_does_not_load_refuses_the_policy() {
        let error = load("version = 1\nrools = []\n").unwrap_err();
        assert!(matches!(error, RulesError::Load(_)), "{error}");
    }
}
