//! Commands that tell two policies apart: one for every node of their rules, and one for every flag.

use std::collections::{BTreeMap, BTreeSet};

use super::toml_text::shell_words;
use crate::language::model::Rule;

/// The most spellings of one rule that are tried.
const MAX_SPELLINGS: usize = 256;
/// The most flags that are tried with one prefix.
const MAX_FLAGS: usize = 512;

/// Every witness of these rules, by command; the value is the prefix that it stands for.
///
/// A prefix is tried with every flag that a rule above or below it names: another rule may speak only then.
pub(super) fn witnesses<'r>(
    rules: impl Iterator<Item = &'r Rule>,
) -> BTreeMap<String, Vec<String>> {
    let mut found = BTreeMap::new();
    let mut examples = Vec::new();
    let mut nodes: BTreeMap<String, BTreeSet<Vec<String>>> = BTreeMap::new();
    let mut flags: BTreeMap<String, BTreeSet<(Vec<String>, &str)>> = BTreeMap::new();
    for rule in rules {
        for prefix in std::iter::once(&rule.prefix)
            .chain(&rule.except)
            .flat_map(|positions| spellings(positions))
        {
            let Some(program) = prefix.first().cloned() else {
                continue;
            };
            for flag in flags_of(rule) {
                let of_program = flags.entry(program.clone()).or_default();
                of_program.insert((prefix.clone(), flag));
            }
            nodes.entry(program).or_default().insert(prefix);
        }
        examples.extend(
            rule.matches
                .iter()
                .chain(&rule.not_matches)
                .map(|example| (rule, example)),
        );
    }
    for (program, prefixes) in &nodes {
        let flags = flags.get(program);
        for prefix in prefixes {
            add(&mut found, prefix, None);
            // A word that nobody lists: what is said about the rest.
            add(&mut found, prefix, Some("operand"));
            let related = flags
                .into_iter()
                .flatten()
                .filter(|(other, _)| prefix.starts_with(other) || other.starts_with(prefix));
            for (_, flag) in related.take(MAX_FLAGS) {
                add(&mut found, prefix, Some(flag));
            }
        }
    }
    for (rule, example) in examples {
        let spelled = spellings(&rule.prefix);
        let command = &example.command;
        let begins = |prefix: &&Vec<String>| {
            shell_words(prefix).is_some_and(|text| command.starts_with(&text))
        };
        let prefix = spelled.iter().find(begins).or(spelled.first());
        let prefix = prefix.cloned().unwrap_or_default();
        found.entry(command.clone()).or_insert(prefix);
    }
    found
}

fn add(found: &mut BTreeMap<String, Vec<String>>, prefix: &[String], further: Option<&str>) {
    let mut words: Vec<&str> = prefix.iter().map(String::as_str).collect();
    words.extend(further);
    if let Some(command) = shell_words(&words) {
        found.entry(command).or_insert_with(|| prefix.to_vec());
    }
}

/// Every flag that a rule names, and one that nobody does.
fn flags_of(rule: &Rule) -> impl Iterator<Item = &str> {
    let listed = rule
        .flags
        .iter()
        .flat_map(|flags| flags.allow.iter().flatten().chain(&flags.forbid));
    let conditional = rule.flags.is_some() || !rule.when_flags.is_empty();
    let other = conditional.then_some("--some-other-option");
    rule.when_flags
        .iter()
        .chain(listed)
        .map(String::as_str)
        .chain(other)
}

/// The combinations of the alternatives of each position: all of them, or the first ones of a very long list.
fn spellings(positions: &[Vec<String>]) -> Vec<Vec<String>> {
    let mut all: Vec<Vec<String>> = vec![Vec::new()];
    for position in positions {
        let room = MAX_SPELLINGS.checked_div(all.len()).unwrap_or(1).max(1);
        let mut longer = Vec::new();
        for prefix in &all {
            for word in position.iter().take(room) {
                let mut prefix = prefix.clone();
                prefix.push(word.clone());
                longer.push(prefix);
            }
        }
        all = longer;
    }
    all
}

/// Whether every spelling of a prefix is among its witnesses.
pub(super) fn is_exhaustive(positions: &[Vec<String>]) -> bool {
    positions
        .iter()
        .try_fold(1usize, |count, position| count.checked_mul(position.len()))
        .is_some_and(|count| count <= MAX_SPELLINGS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn positions(text: &[&[&str]]) -> Vec<Vec<String>> {
        text.iter()
            .map(|position| position.iter().map(|word| (*word).to_owned()).collect())
            .collect()
    }

    #[test]
    fn every_combination_is_spelled() {
        let spelled = spellings(&positions(&[&["git"], &["log", "diff"], &["a", "b"]]));
        let joined: Vec<String> = spelled.iter().map(|words| words.join(" ")).collect();
        assert_eq!(
            joined,
            ["git log a", "git log b", "git diff a", "git diff b"]
        );
    }

    #[test]
    fn a_very_long_list_is_cut_and_said_to_be() {
        let many: Vec<String> = (0..10_000).map(|number| format!("w{number}")).collect();
        let prefix = vec![many.clone(), many.clone(), many];
        assert!(spellings(&prefix).len() <= MAX_SPELLINGS);
        assert!(!is_exhaustive(&prefix));
        assert!(is_exhaustive(&positions(&[&["git"], &["log", "diff"]])));
    }
}
