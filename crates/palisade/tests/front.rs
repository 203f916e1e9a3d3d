//! The front stays small: every name of it is listed here.

/// All names of the crate. A new one belongs in `runner`, unless nobody can embed Palisade without it.
const NAMES: [&str; 17] = [
    "AskForApproval",
    "Child",
    "Command",
    "Error",
    "Evidence",
    "Finished",
    "Grant",
    "Outcome",
    "Policy",
    "Prompt",
    "Prompter",
    "ReviewDecision",
    "Rules",
    "Sandbox",
    "Session",
    "dispatch",
    "runner",
];

#[expect(unused_imports, reason = "that each can be named is the test")]
use palisade::{
    AskForApproval, Child, Command, Error, Evidence, Finished, Grant, Outcome, Policy, Prompt,
    Prompter, ReviewDecision, Rules, Sandbox, Session, dispatch, runner,
};

/// The names that the crate's front page makes public, by the last word of each.
fn public_names(source: &str) -> Vec<String> {
    let code: String = source
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect::<Vec<_>>()
        .join(" ");
    let mut names: Vec<String> = code
        .split(';')
        .filter_map(|item| item.split_once("pub ").map(|(_, item)| item.trim()))
        .flat_map(|item| {
            let list = match item.split_once('{') {
                Some((_, list)) => list.trim_end_matches('}'),
                None => item,
            };
            list.split(',')
                .filter_map(|name| name.rsplit([' ', ':']).find(|word| !word.is_empty()))
                .map(str::to_owned)
                .collect::<Vec<_>>()
        })
        .collect();
    names.sort();
    names
}

#[test]
fn the_front_has_these_names_and_no_others() {
    assert_eq!(public_names(include_str!("../src/lib.rs")), NAMES);
}

#[test]
fn a_new_name_would_be_noticed() {
    let source = "pub use a::{B, C as D};\n/// Doc.\npub use e as f;\npub mod g;\nuse h::I;\n";
    assert_eq!(public_names(source), ["B", "D", "f", "g"]);
}
