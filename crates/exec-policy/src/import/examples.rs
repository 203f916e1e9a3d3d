//! Examples of imported rules: those that hold here too, and one for each rule that has none.

use palisade_policy::{AbsolutePath, HostFacts, Os};

use super::draft::DraftRule;
use crate::authoring::toml_text::shell_words;
use crate::language::model::PolicyFile;
use crate::matching::{CommandFacts, PlaceFacts, Ruleset, RulesetInput, verify};

/// An example that does not hold here.
pub(crate) struct Failing {
    /// The index of its rule.
    pub(crate) rule: usize,
    pub(crate) command: String,
    pub(crate) why: String,
}

/// Gives a rule without examples one; `false` if it has some of its own.
pub(crate) fn add(rule: &mut DraftRule) -> bool {
    if !rule.matches.is_empty() {
        return false;
    }
    let mut words = rule.sample();
    words.extend(rule.when_flags.first().map(String::as_str));
    rule.matches.extend(shell_words(&words));
    true
}

/// The examples that do not hold under the rules of this file.
pub(crate) fn failing(file: &PolicyFile) -> Vec<Failing> {
    // Any place will do: the rules of an import speak about no path.
    let place = ["/srv/app", "C:\\app"]
        .iter()
        .find_map(|path| AbsolutePath::new(path).ok());
    let Some(place) = place else {
        return Vec::new();
    };
    let place = PlaceFacts::new(&place, &HostFacts::new(Os::Linux));
    let facts = CommandFacts::new(&place);
    let input = RulesetInput::new(&file.rules).with_env(&file.env);
    let ruleset = Ruleset::compile(&input);
    let mut failing = Vec::new();
    for (index, rule) in file.rules.iter().enumerate() {
        for failure in verify(&ruleset, std::slice::from_ref(rule), &[], &facts) {
            failing.push(Failing {
                rule: index,
                command: failure.command().to_owned(),
                why: problem(failure.problem()),
            });
        }
    }
    failing
}

fn problem(problem: &crate::matching::ExampleProblem) -> String {
    use crate::matching::ExampleProblem::{Matched, Stricter};
    match problem {
        Matched { .. } => {
            "the rule speaks about it here, because options are looked through".to_owned()
        }
        Stricter { because, .. } => format!("not allowed in full here: {because}"),
        _ => "the rule does not speak about it here".to_owned(),
    }
}
