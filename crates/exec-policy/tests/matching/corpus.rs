//! The scored corpus: the development set and rows of our own, with the same bars.

use std::collections::BTreeMap;

use palisade_exec_policy::RuleDecision;
use palisade_exec_policy::matching::CommandFacts;
use palisade_shell_analysis::{Limits, Shell, analyze_script};
use serde::Deserialize;

use crate::support::Policy;

#[derive(Deserialize)]
struct Corpus {
    row: Vec<Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    section: String,
    command: String,
    ideal: Word,
    also: Option<Word>,
    #[serde(default)]
    shell: Option<String>,
}

#[derive(Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
enum Word {
    Allow,
    Prompt,
    Forbid,
}

impl Word {
    fn decision(self) -> RuleDecision {
        match self {
            Self::Allow => RuleDecision::Allow,
            Self::Prompt => RuleDecision::Prompt,
            Self::Forbid => RuleDecision::Forbid,
        }
    }
}

#[derive(Default)]
struct Score {
    rows: usize,
    exact: usize,
    acceptable: usize,
    unsafe_allows: usize,
    over_blocks: usize,
}

#[expect(clippy::print_stdout, reason = "the score is printed")]
fn score(name: &str, text: &str, least: usize) {
    let corpus: Corpus = toml::from_str(text).unwrap();
    assert!(corpus.row.len() >= least, "{} rows", corpus.row.len());
    let policy = Policy::built_in();
    let facts = CommandFacts::new(&policy.place);
    let mut sections: BTreeMap<&str, Score> = BTreeMap::new();
    let mut misses = Vec::new();
    for row in &corpus.row {
        let shell = match row.shell.as_deref() {
            Some("pwsh") => Shell::PowerShell,
            Some("cmd") => Shell::Cmd,
            _ => Shell::Bash,
        };
        let analysis = analyze_script(&row.command, shell, &Limits::default());
        let evaluation = policy.ruleset.evaluate(&analysis, &facts);
        let verdict = evaluation.rule_decision();
        let (ideal, also) = (row.ideal.decision(), row.also.map(Word::decision));
        let score = sections.entry(&row.section).or_default();
        let acceptable = verdict == ideal || also == Some(verdict);
        let over_block = ideal == RuleDecision::Allow && verdict != RuleDecision::Allow;
        score.rows += 1;
        score.exact += usize::from(verdict == ideal);
        score.acceptable += usize::from(acceptable);
        score.unsafe_allows += usize::from(verdict == RuleDecision::Allow && !acceptable);
        score.over_blocks += usize::from(over_block);
        if !acceptable || over_block {
            misses.push(format!(
                "  {} {:?}: {verdict:?} by {:?}",
                row.section,
                row.command,
                evaluation.source()
            ));
        }
    }
    println!("{name}: section  rows  exact  acceptable  unsafe allows  over-blocks");
    for (section, score) in &sections {
        println!(
            "{name}: {section:>7}  {:>4}  {:>5}  {:>10}  {:>13}  {:>11}",
            score.rows, score.exact, score.acceptable, score.unsafe_allows, score.over_blocks
        );
    }
    for miss in &misses {
        println!("{miss}");
    }
    let total = |count: fn(&Score) -> usize| sections.values().map(count).sum::<usize>();
    let (rows, acceptable) = (total(|s| s.rows), total(|s| s.acceptable));
    println!(
        "{name}: {acceptable} of {rows} acceptable, {} exact",
        total(|s| s.exact)
    );
    assert_eq!(total(|s| s.unsafe_allows), 0, "unsafe allows");
    let everyday = &sections["A"];
    assert!(
        everyday.over_blocks * 20 < everyday.rows,
        "over-blocks 5 % of everyday work"
    );
    assert!(acceptable * 100 >= rows * 95, "less than 95 % acceptable");
}

#[test]
fn development_set() {
    score("development", include_str!("development.toml"), 110);
}

#[test]
fn held_out_set() {
    score("held-out", include_str!("held_out.toml"), 150);
}
