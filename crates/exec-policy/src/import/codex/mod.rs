//! `.rules` files: literal calls of `prefix_rule`, `network_rule` and `host_executable`.
//!
//! Such a file is a program, of which only literal calls are read. What would have to be run to be known is listed in
//! the report and not guessed; if it may have denied something, the allows become questions.

mod calls;
mod lexer;

use self::calls::{Call, Statement, Value, statements};
use super::draft::{Draft, DraftRule, Position};
use super::hosts::{self, Listed};
use super::render::reads_back;
use super::report::{Import, ImportError};
use super::{MAX_ENTRIES, text_of};
use crate::authoring::toml_text::{list, shell_words, string};
use crate::decision::RuleDecision;

/// Imports a `.rules` file.
///
/// # Errors
/// The file is no text, too large, or not balanced: the tool that it belongs to would refuse it too.
pub fn codex_rules(bytes: &[u8]) -> Result<Import, ImportError> {
    let mut draft = Draft::default();
    let mut network = Network::default();
    let mut redefined = None;
    let statements = statements(text_of(bytes)?)?;
    if statements.len() > MAX_ENTRIES {
        return Err(ImportError::TooMany { limit: MAX_ENTRIES });
    }
    for statement in statements {
        match statement {
            Statement::Call(call) => match call.name.as_str() {
                "prefix_rule" => prefix_rule(&mut draft, &call),
                "network_rule" => network.rule(&mut draft, &call),
                "host_executable" => host_executable(&mut draft, &call),
                name => {
                    draft.leave_denial(call.line, format!("`{name}`"), "an unknown call, not run");
                    draft.doubt(call.line, "");
                }
            },
            Statement::Definition { line, what } => {
                draft.leave(line, what, "a definition; only literal calls are read");
            }
            Statement::Redefinition { line, what } => {
                draft.leave_denial(
                    line,
                    what,
                    "gets another meaning, so no allow of the file holds",
                );
                draft.doubt(line, "");
                redefined = redefined.or(Some(line));
            }
            Statement::Opaque { line, what } => {
                draft.leave_denial(line, what, "would have to be run to be known");
                draft.doubt(line, "");
            }
        }
    }
    if let Some(line) = redefined {
        network.doubt(&mut draft, line);
    }
    if !network.allowed.is_empty() || !network.denied.is_empty() {
        let note = "allowed inside the sandbox; the port is that of its protocol";
        hosts::add(&mut draft, network.allowed, &network.denied, note);
    }
    draft.finish("a .rules file")
}

/// What the rule says; `None` if that is computed. An unknown word is refused by the tool, so it denies.
fn decision(call: &Call, position: usize) -> Option<RuleDecision> {
    // `*words` and `**values` could say anything.
    let spread =
        |(key, value): &(Option<String>, Value)| key.is_none() && *value == Value::Computed;
    if call.arguments.iter().any(spread) {
        return None;
    }
    match call.argument("decision", position) {
        None | Some(Value::None) => Some(RuleDecision::Allow),
        Some(Value::Text(word)) => match word.as_str() {
            "allow" => Some(RuleDecision::Allow),
            "prompt" => Some(RuleDecision::Prompt),
            "forbidden" | "forbid" | "deny" => Some(RuleDecision::Forbid),
            _ => None,
        },
        Some(_) => None,
    }
}

fn prefix_rule(draft: &mut Draft, call: &Call) {
    let decision = decision(call, 1);
    let (head, whole) = pattern(call.argument("pattern", 0));
    let what = shown(&head, whole);
    if decision == Some(RuleDecision::Allow) && !whole {
        draft.leave(
            call.line,
            what,
            "part of the pattern would have to be run to be known",
        );
        return;
    }
    let (Some(decision), true) = (decision, whole) else {
        unclear(draft, call, what, head, decision);
        return;
    };
    let mut rule = DraftRule::new(call.line, what, head, decision);
    if let Some(Value::Text(why)) = call.argument("justification", usize::MAX) {
        rule.why = Some(why.clone());
    }
    for (key, into) in [
        ("match", &mut rule.matches),
        ("not_match", &mut rule.not_matches),
    ] {
        examples(draft, call, key, into);
    }
    if rule.decision == RuleDecision::Allow {
        rule.notes.push("there it ran without a sandbox".to_owned());
    }
    rule.flag_anywhere();
    draft.rules.push(rule);
}

/// A rule of which only the beginning is known: a question for all that begins so.
fn unclear(
    draft: &mut Draft,
    call: &Call,
    what: String,
    head: Vec<Position>,
    decision: Option<RuleDecision>,
) {
    let why = match decision {
        Some(_) => "part of the pattern would have to be run to be known",
        None => "what it decides would have to be run to be known",
    };
    if head.is_empty() {
        draft.leave_denial(call.line, what, why);
        draft.doubt(call.line, "");
        return;
    }
    let mut rule = DraftRule::new(call.line, what, head, RuleDecision::Prompt);
    rule.notes
        .push(format!("{why}, so everything that begins like this asks"));
    draft.rules.push(rule);
}

/// The literal positions at the beginning of a pattern, and whether they are all of it.
fn pattern(value: Option<&Value>) -> (Vec<Position>, bool) {
    let Some(Value::List(items)) = value else {
        return (Vec::new(), false);
    };
    let mut head = Vec::new();
    for item in items {
        let position = match item {
            Value::Text(word) => Some(vec![word.clone()]),
            Value::List(words) => words
                .iter()
                .map(|word| match word {
                    Value::Text(word) => Some(word.clone()),
                    _ => None,
                })
                .collect::<Option<Position>>()
                .filter(|words| !words.is_empty()),
            Value::None | Value::Computed => None,
        };
        match position {
            Some(mut position) => {
                let mut seen = std::collections::BTreeSet::new();
                position.retain(|word| seen.insert(word.clone()));
                head.push(position);
            }
            None => return (head, false),
        }
    }
    let whole = !head.is_empty();
    (head, whole)
}

fn examples(draft: &mut Draft, call: &Call, key: &str, into: &mut Vec<String>) {
    let Some(value) = call.argument(key, usize::MAX) else {
        return;
    };
    let items = match value {
        Value::List(items) if value.is_literal() => items.as_slice(),
        Value::None => &[],
        _ => {
            draft.leave(
                call.line,
                format!("`{key}`"),
                "the examples would have to be run to be known",
            );
            return;
        }
    };
    for item in items {
        let example = match item {
            Value::Text(text) => Some(text.clone()),
            Value::List(words) => words
                .iter()
                .map(|word| match word {
                    Value::Text(word) => Some(word.as_str()),
                    _ => None,
                })
                .collect::<Option<Vec<&str>>>()
                .and_then(|words| shell_words(&words)),
            Value::None | Value::Computed => None,
        };
        match example {
            Some(example) => into.push(example),
            None => draft.leave(
                call.line,
                format!("an example of `{key}`"),
                "cannot be written as a command line",
            ),
        }
    }
}

/// Hosts that are spoken about.
#[derive(Default)]
struct Network {
    allowed: Vec<Listed>,
    denied: Vec<Listed>,
}

impl Network {
    /// No question can be asked about a host while a command runs, so those in doubt are not listed.
    fn doubt(&mut self, draft: &mut Draft, line: usize) {
        for entry in std::mem::take(&mut self.allowed) {
            let why = format!("a call of the file gets another meaning in line {line}");
            draft.leave(entry.line, entry.what, why);
        }
    }

    fn rule(&mut self, draft: &mut Draft, call: &Call) {
        let decision = decision(call, 2);
        let Some(Value::Text(host)) = call.argument("host", 0) else {
            draft.leave_denial(
                call.line,
                "`network_rule`",
                "the host would have to be run to be known",
            );
            return;
        };
        let what = format!("network {host}");
        if decision != Some(RuleDecision::Allow) {
            self.denied.push(Listed {
                line: call.line,
                what,
                host: host.clone(),
            });
            return;
        }
        let port = match call.argument("protocol", 1) {
            Some(Value::Text(protocol)) if protocol == "http" => ":80",
            Some(Value::Text(protocol)) if protocol == "https" => "",
            None | Some(Value::None) => "",
            _ => {
                draft.leave(
                    call.line,
                    what,
                    "only http and https have a port that is known",
                );
                return;
            }
        };
        self.allowed.push(Listed {
            line: call.line,
            what,
            host: format!("{host}{port}"),
        });
    }
}

fn host_executable(draft: &mut Draft, call: &Call) {
    let name = match call.argument("name", 0) {
        Some(Value::Text(name)) => name.clone(),
        _ => {
            draft.leave_denial(
                call.line,
                "`host_executable`",
                "the name would have to be run to be known",
            );
            draft.doubt(call.line, "");
            return;
        }
    };
    let what = format!("executable {name}");
    let paths: Option<Vec<String>> = match call.argument("paths", 1) {
        Some(Value::List(items)) => items
            .iter()
            .map(|item| match item {
                Value::Text(path) => Some(path.clone()),
                _ => None,
            })
            .collect(),
        _ => None,
    };
    let Some(paths) = paths else {
        draft.leave_denial(
            call.line,
            what,
            "the paths would have to be run to be known",
        );
        draft.doubt(call.line, name);
        return;
    };
    if paths.is_empty() {
        let why = "no path is left for the name, which cannot be said here";
        draft.leave_denial(call.line, what, why);
        draft.doubt(call.line, name);
        return;
    }
    let piece = format!("[programs.{}]\npaths = {}\n", string(&name), list(&paths));
    match reads_back(&piece) {
        Ok(()) if draft.programs.iter().any(|(other, _)| *other == name) => {
            draft.leave_denial(
                call.line,
                what,
                "the name is pinned twice; the first one stands",
            );
        }
        Ok(()) => {
            draft.carry(call.line, what, "the bare name stands for these paths only");
            draft.programs.push((name, paths));
        }
        Err(why) => {
            draft.leave_denial(call.line, what, why);
            draft.doubt(call.line, name);
        }
    }
}

fn shown(head: &[Position], whole: bool) -> String {
    let mut words: Vec<String> = head.iter().map(|position| position.join("|")).collect();
    if !whole {
        words.push("...".to_owned());
    }
    words.join(" ")
}
