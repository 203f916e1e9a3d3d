//! `Bash(...)`: patterns on command text, as prefixes of words.

use palisade_shell_analysis::{Limits, Shell, analyze_script};

use crate::approvals::is_wide;
use crate::decision::RuleDecision;
use crate::import::draft::{Draft, DraftRule, Position, covers};

/// The list that an entry stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    Allow,
    Ask,
    Deny,
}

impl Effect {
    fn decision(self) -> RuleDecision {
        match self {
            Self::Allow => RuleDecision::Allow,
            Self::Ask => RuleDecision::Prompt,
            Self::Deny => RuleDecision::Forbid,
        }
    }
}

/// How a pattern ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tail {
    /// These words and no others.
    Exact,
    /// Anything may follow, after a blank.
    Words,
    /// Anything may follow, also in the middle of the last word.
    Letters,
    /// A wildcard stands somewhere else.
    Middle,
}

/// One entry.
pub(super) fn bash(draft: &mut Draft, effect: Effect, line: usize, what: &str, pattern: &str) {
    let (head, tail) = split(pattern);
    let words = words(head);
    let whole = words.is_some();
    let words = words.unwrap_or_else(|| leading_words(head));
    // A wildcard inside a word leaves the word open.
    let cut = tail == Tail::Middle && !head.is_empty() && !head.ends_with(' ');
    let (known, partial) = match words.split_last() {
        Some((last, known)) if cut && whole => (known.to_vec(), last.clone()),
        _ => (words, String::new()),
    };
    let prefix: Vec<Position> = known.into_iter().map(|word| vec![word]).collect();
    if whole && tail != Tail::Middle && !prefix.is_empty() {
        return clear(draft, effect, line, what, prefix, tail);
    }
    if prefix.is_empty() {
        return headless(draft, effect, line, what, &partial);
    }
    let mut rule = DraftRule::new(line, what, prefix, RuleDecision::Prompt);
    rule.notes.push(
        "a wildcard or an operator in the middle cannot be carried over, so everything that begins like this asks"
            .to_owned(),
    );
    // An allow among them is settled when all entries are known.
    rule.from_allow = effect == Effect::Allow;
    if !rule.from_allow {
        rule.partial = partial;
    }
    draft.rules.push(rule);
}

/// A pattern that is a prefix of words.
fn clear(
    draft: &mut Draft,
    effect: Effect,
    line: usize,
    what: &str,
    prefix: Vec<Position>,
    tail: Tail,
) {
    let mut rule = DraftRule::new(line, what, prefix, effect.decision());
    match tail {
        Tail::Letters => {
            let program = rule.sample().join(" ");
            rule.notes
                .push("the last word counts as a whole".to_owned());
            // `rm*` also denies `rmdir`: whoever begins so is in doubt.
            if effect != Effect::Allow {
                if rule.prefix.len() == 1 {
                    draft.doubt(line, program);
                } else {
                    let mut wider = rule.clone();
                    let last = wider
                        .prefix
                        .pop()
                        .and_then(|position| position.into_iter().next());
                    wider.partial = last.unwrap_or_default();
                    wider.decision = RuleDecision::Prompt;
                    wider.notes = vec![
                        "other words may begin like the last one, so all of them ask".to_owned(),
                    ];
                    draft.rules.push(wider);
                }
            }
        }
        Tail::Exact if effect == Effect::Allow => exact(&mut rule),
        Tail::Exact | Tail::Words | Tail::Middle => {}
    }
    rule.flag_anywhere();
    draft.rules.push(rule);
}

/// An allow of exactly these words.
fn exact(rule: &mut DraftRule) {
    let flags = rule.sample().iter().any(|word| word.starts_with('-'));
    if let Some(wide) = is_wide(&rule.sample()) {
        rule.decision = RuleDecision::Prompt;
        rule.notes
            .push(format!("because more words may follow here: {wide}"));
    } else if flags {
        rule.notes.push("more words may follow".to_owned());
    } else {
        rule.exact = true;
        rule.notes
            .push("more words may follow, a further flag asks".to_owned());
    }
}

/// A pattern whose program is not known.
fn headless(draft: &mut Draft, effect: Effect, line: usize, what: &str, partial: &str) {
    let why = "a wildcard or an operator stands where the program belongs";
    match effect {
        Effect::Allow => draft.leave(line, what, why),
        Effect::Ask | Effect::Deny => {
            draft.leave_denial(line, what, why);
            draft.doubt(line, partial);
        }
    }
}

/// The text before the first wildcard, and how it goes on.
fn split(pattern: &str) -> (&str, Tail) {
    let pattern = pattern.trim_start();
    if let Some(head) = pattern.strip_suffix(":*")
        && !head.contains('*')
    {
        return (head.trim_end(), Tail::Words);
    }
    match pattern.split_once('*') {
        None => (pattern.trim_end(), Tail::Exact),
        Some((head, "")) if head.ends_with(' ') => (head.trim_end(), Tail::Words),
        Some((head, "")) => (head, Tail::Letters),
        Some((head, _)) => (head, Tail::Middle),
    }
}

/// The words of one plain command without anything around it; `None` if the text is more than that.
fn words(text: &str) -> Option<Vec<String>> {
    if text.trim().is_empty() {
        return Some(Vec::new());
    }
    let simple = |c: char| c.is_ascii_alphanumeric() || " _-./:@%+,=".contains(c);
    if text.chars().all(simple) {
        let words: Vec<String> = text.split_ascii_whitespace().map(str::to_owned).collect();
        let assigns = words.first().is_some_and(|word| word.contains('='));
        return (!assigns).then_some(words);
    }
    let plain = analyze_script(text, Shell::Bash, &Limits::default())
        .plain
        .ok()?;
    let [command] = plain.commands.as_slice() else {
        return None;
    };
    let bare =
        command.assignments.is_empty() && command.redirects.is_empty() && command.via.is_empty();
    let words = command
        .words
        .iter()
        .map(|word| String::from_utf8(word.literal()?.to_vec()).ok())
        .collect::<Option<Vec<String>>>();
    words.filter(|_| bare)
}

/// The words in front of the first character that a shell would not take literally; the last one is left off.
fn leading_words(text: &str) -> Vec<String> {
    let simple = |c: char| c.is_ascii_alphanumeric() || " _-./:@%+,".contains(c);
    let end = text.find(|c| !simple(c)).unwrap_or(text.len());
    let known = text.get(..end).unwrap_or_default();
    let mut words: Vec<String> = known.split_ascii_whitespace().map(str::to_owned).collect();
    if !known.ends_with(' ') {
        words.pop();
    }
    words
}

/// An allow with a wildcard in the middle asks, but not where another entry allows. A denial of everything leaves
/// nothing but denials.
pub(super) fn settle(draft: &mut Draft) {
    if draft.deny_all {
        for rule in std::mem::take(&mut draft.rules) {
            if rule.decision != RuleDecision::Forbid {
                draft.leave(rule.line, rule.what, "every command is denied");
            } else {
                draft.rules.push(rule);
            }
        }
    }
    let allows: Vec<Vec<Position>> = draft
        .rules
        .iter()
        .filter(|rule| rule.decision == RuleDecision::Allow)
        .map(|rule| rule.prefix.clone())
        .collect();
    for mut rule in std::mem::take(&mut draft.rules) {
        if rule.from_allow && allows.iter().any(|allow| covers(allow, &rule.prefix)) {
            draft.leave(
                rule.line,
                rule.what,
                "another entry allows all of it already",
            );
            continue;
        }
        if rule.from_allow || !rule.partial.is_empty() {
            rule.except = allows
                .iter()
                .filter(|allow| is_left_alone(&rule, allow))
                .cloned()
                .collect();
        }
        draft.rules.push(rule);
    }
}

/// Whether a question need not be asked about what another entry allows: the original never denied it.
fn is_left_alone(rule: &DraftRule, allow: &[Position]) -> bool {
    let next = allow.get(rule.prefix.len());
    let about_others = rule.partial.is_empty()
        || next.is_some_and(|words| !words.iter().any(|word| word.starts_with(&rule.partial)));
    next.is_some() && rule.covers(allow) && about_others
}
