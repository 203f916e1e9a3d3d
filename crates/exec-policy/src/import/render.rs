//! From a draft to the text of a policy and its report.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::draft::{Draft, DraftRule, Position, Write};
use super::report::{Import, ImportError, ImportReport};
use super::{MAX_ENTRIES, examples};
use crate::approvals::is_wide;
use crate::authoring::toml_text::{comment, list, string};
use crate::decision::RuleDecision;
use crate::language::model::DefaultDecision;
use crate::language::{Layer, Source, parse};

/// Whether a piece of a policy file is one, or what is wrong with it.
pub(crate) fn reads_back(piece: &str) -> Result<(), String> {
    let text = format!("version = 1\n{piece}");
    match parse(&Source::new(Layer::User, "", &text)) {
        Ok(_) => Ok(()),
        Err(errors) => {
            let text = errors.to_string();
            let first = text.lines().next().unwrap_or_default();
            // The place is in our piece, which nobody sees.
            let problem = first.splitn(4, ':').nth(3).unwrap_or(first);
            Err(problem.trim().to_owned())
        }
    }
}

impl Draft {
    /// The policy, with a comment at its top.
    pub(crate) fn finish(mut self, from: &str) -> Result<Import, ImportError> {
        if self.rules.len() > MAX_ENTRIES {
            return Err(ImportError::TooMany { limit: MAX_ENTRIES });
        }
        self.settle_places();
        self.drop_unreadable();
        self.settle_doubts();
        self.merge_equal();
        for rule in &mut self.rules {
            rule.generated = examples::add(rule);
            note_width(rule);
        }
        let text = self.text(from);
        let file = parse(&Source::new(Layer::User, "imported", &text)).map_err(unfaithful)?;
        let failing = examples::failing(&file);
        let dropped = !failing.is_empty();
        self.drop_examples(failing);
        let text = if dropped { self.text(from) } else { text };
        parse(&Source::new(Layer::User, "imported", &text)).map_err(unfaithful)?;
        for rule in std::mem::take(&mut self.rules) {
            let note = note(&rule);
            self.carry(rule.line, rule.what, note);
        }
        self.carried.sort_by_key(|entry| entry.line);
        self.not_carried.sort_by_key(|entry| entry.line);
        Ok(Import {
            text,
            report: ImportReport {
                carried: self.carried,
                not_carried: self.not_carried,
            },
        })
    }

    fn text(&self, from: &str) -> String {
        let mut text = format!(
            "# Imported from {from}. Read the report before you rely on it.\nversion = 1\n"
        );
        self.settings(&mut text);
        self.write_rules(&mut text);
        text
    }

    /// One rule for those that say the same.
    fn merge_equal(&mut self) {
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        for rule in std::mem::take(&mut self.rules) {
            let body = body(&rule);
            match seen.get(&body) {
                Some(line) => {
                    let note = format!("the same rule as that of line {line}");
                    self.carry(rule.line, rule.what, note);
                }
                None => {
                    seen.insert(body, rule.line);
                    self.rules.push(rule);
                }
            }
        }
    }

    fn drop_examples(&mut self, failing: Vec<examples::Failing>) {
        for failing in failing {
            let Some(rule) = self.rules.get_mut(failing.rule) else {
                continue;
            };
            rule.matches.retain(|example| *example != failing.command);
            rule.not_matches
                .retain(|example| *example != failing.command);
            if rule.generated {
                rule.notes.push(failing.why);
            } else {
                let line = rule.line;
                self.leave(line, format!("example: {}", failing.command), failing.why);
            }
        }
    }

    /// Every place once, however it is spelled; what is guarded is not writable.
    fn settle_places(&mut self) {
        self.deny = once("deny", std::mem::take(&mut self.deny));
        self.read_only = once("read_only", std::mem::take(&mut self.read_only));
        let Write::Only(paths) = std::mem::take(&mut self.write) else {
            return;
        };
        let guards = format!(
            "[filesystem]\ndeny = {}\nread_only = {}\n",
            list(&self.deny),
            list(&self.read_only)
        );
        let mut kept: Vec<String> = Vec::new();
        for path in paths {
            kept.push(path);
            if let Err(why) = reads_back(&format!("{guards}write = {}\n", list(&kept))) {
                let path = kept.pop().unwrap_or_default();
                let line = self.write_lines.get(&path).copied().unwrap_or(1);
                self.leave(line, path, why);
            }
        }
        self.write = Write::Only(kept);
    }

    fn settings(&self, text: &mut String) {
        if let Some(decision) = self.unmatched {
            let word = match decision {
                DefaultDecision::Prompt => "prompt",
                DefaultDecision::Forbid => "forbid",
            };
            let _ = write!(
                text,
                "\n[defaults]\nunmatched = \"{word}\"\nopaque = \"{word}\"\n"
            );
        }
        let write = match &self.write {
            Write::Unsaid => None,
            Write::Only(paths) => Some(paths),
        };
        if write.is_some() || !self.deny.is_empty() || !self.read_only.is_empty() {
            text.push_str("\n[filesystem]\n");
            if let Some(paths) = write {
                let _ = writeln!(text, "write = {}", list(paths));
            }
            if !self.deny.is_empty() {
                let _ = writeln!(text, "deny = {}", list(&self.deny));
            }
            if !self.read_only.is_empty() {
                let _ = writeln!(text, "read_only = {}", list(&self.read_only));
            }
        }
        if let Some(hosts) = &self.hosts {
            let _ = write!(text, "\n[network]\nallow = {}\n", list(hosts));
        }
        for (name, paths) in &self.programs {
            let _ = write!(
                text,
                "\n[programs.{}]\npaths = {}\n",
                string(name),
                list(paths)
            );
        }
    }

    fn write_rules(&self, text: &mut String) {
        let mut ids = BTreeMap::new();
        for rule in &self.rules {
            let _ = write!(
                text,
                "\n{}\n[[rule]]\nid = {}\n{}{}",
                comment(&format!("Line {}: {}", rule.line, clip(&rule.what))),
                string(&id(&mut ids, rule)),
                body(rule),
                examples_of(rule)
            );
        }
    }

    /// Leaves out rules that cannot be written here; what a denial among them could touch is in doubt.
    fn drop_unreadable(&mut self) {
        for rule in std::mem::take(&mut self.rules) {
            match reads_back(&format!("[[rule]]\nid = \"x\"\n{}", body(&rule))) {
                Ok(()) => self.rules.push(rule),
                Err(why) if rule.decision == RuleDecision::Allow => {
                    self.leave(rule.line, rule.what, why);
                }
                Err(why) => {
                    self.doubt(rule.line, "");
                    self.leave_denial(rule.line, rule.what, why);
                }
            }
        }
    }
}

/// The entries of a list of places without those that say the same in another spelling.
fn once(key: &str, places: Vec<String>) -> Vec<String> {
    let mut kept = Vec::new();
    for place in places {
        kept.push(place);
        if reads_back(&format!("[filesystem]\n{key} = {}\n", list(&kept))).is_err() {
            kept.pop();
        }
    }
    kept
}

fn unfaithful(errors: crate::language::PolicyErrors) -> ImportError {
    ImportError::NotFaithful(errors.to_string())
}

fn note_width(rule: &mut DraftRule) {
    if rule.decision == RuleDecision::Allow
        && let Some(wide) = is_wide(&rule.sample())
    {
        rule.notes.push(format!("wide: {wide}"));
    }
}

/// What the rule became.
fn note(rule: &DraftRule) -> String {
    let decision = match rule.decision {
        RuleDecision::Allow => "allows, inside the sandbox",
        RuleDecision::Prompt => "asks",
        RuleDecision::Forbid => "forbids",
    };
    let mut note = decision.to_owned();
    for further in &rule.notes {
        note.push_str("; ");
        note.push_str(further);
    }
    note
}

/// Everything but the id and the examples.
fn body(rule: &DraftRule) -> String {
    let mut text = format!("prefix = {}\n", prefix(&rule.prefix));
    let decision = match rule.decision {
        RuleDecision::Allow => "allow",
        RuleDecision::Prompt => "prompt",
        RuleDecision::Forbid => "forbid",
    };
    if !rule.when_flags.is_empty() {
        let _ = writeln!(text, "when.flags = {}", list(&rule.when_flags));
    }
    let _ = writeln!(text, "decision = \"{decision}\"");
    if rule.exact && rule.decision == RuleDecision::Allow {
        text.push_str("flags.allow = []\nflags.else = \"prompt\"\n");
    }
    if !rule.except.is_empty() {
        let except: Vec<String> = rule.except.iter().map(|except| prefix(except)).collect();
        let _ = writeln!(text, "except = [{}]", except.join(", "));
    }
    if let Some(why) = &rule.why {
        let _ = writeln!(text, "why = {}", string(why));
    }
    text
}

fn examples_of(rule: &DraftRule) -> String {
    let mut text = String::new();
    if !rule.matches.is_empty() {
        let _ = writeln!(text, "match = {}", list(&rule.matches));
    }
    if !rule.not_matches.is_empty() {
        let _ = writeln!(text, "not_match = {}", list(&rule.not_matches));
    }
    text
}

fn prefix(positions: &[Position]) -> String {
    let positions: Vec<String> = positions
        .iter()
        .map(|position| match position.as_slice() {
            [word] => string(word),
            words => list(words),
        })
        .collect();
    format!("[{}]", positions.join(", "))
}

/// An id that says what the rule is about and is there once.
fn id(ids: &mut BTreeMap<String, usize>, rule: &DraftRule) -> String {
    const MOST: usize = 40;
    let mut slug = String::new();
    let words = rule.sample();
    for c in words
        .iter()
        .flat_map(|word| word.chars().chain(['-']))
        .chain(
            rule.when_flags
                .first()
                .into_iter()
                .flat_map(|flag| flag.chars()),
        )
    {
        if c.is_ascii_alphanumeric() {
            slug.push(c.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.truncate(MOST);
    let slug = slug.trim_matches('-');
    let slug = if slug.is_empty() { "rule" } else { slug };
    let verb = match rule.decision {
        RuleDecision::Allow => "allow",
        RuleDecision::Prompt => "ask",
        RuleDecision::Forbid => "forbid",
    };
    let base = format!("{verb}-{slug}");
    let count = ids.entry(base.clone()).or_insert(0);
    *count = count.saturating_add(1);
    match count {
        1 => base,
        // A slash is in no slug, so this is nobody else's.
        count => format!("{base}/{count}"),
    }
}

fn clip(what: &str) -> String {
    const MOST: usize = 90;
    let mut text: String = what.chars().take(MOST).collect();
    if what.chars().nth(MOST).is_some() {
        text.push_str("...");
    }
    text
}
