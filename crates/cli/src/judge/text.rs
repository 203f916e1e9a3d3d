//! What is known about a command, for people.

use palisade::runner::exec_policy::RuleDecision;

use super::view::{Becomes, View};
use crate::say::{Tone, Voice};

/// The short answer: the verdict first, what to type next last.
pub(super) fn check(view: &View, voice: &Voice) -> String {
    let judgement = &view.previewed.judgement;
    let tone = match judgement.rule_decision {
        RuleDecision::Allow => Tone::Good,
        RuleDecision::Prompt => Tone::Careful,
        RuleDecision::Forbid => Tone::Bad,
    };
    let word = voice.out_tone(tone, view.decision());
    let mut text = format!("{word}: {}\n", view.asked.line());
    let mut line = |name: &str, said: &str| {
        let name = voice.out_tone(Tone::Faint, &format!("{name:<9}"));
        text.push_str(&format!("  {name} {said}\n"));
    };
    line("rules", &says(view));
    if let Some(why) = &view.previewed.explanation.opaque {
        line("", why);
    }
    line("approval", &approval(view));
    for (name, said) in view.place.iter().flat_map(super::place::Place::lines) {
        line(name, &said);
    }
    if !voice.quiet {
        line("more", &view.asked.next("explain"));
    }
    text
}

/// The long answer: how the rules came to it.
pub(super) fn explain(view: &View, voice: &Voice) -> String {
    let mut text = view.previewed.explanation.to_string();
    text.push_str(&format!("approval: {}\n", approval(view)));
    for (name, said) in view.place.iter().flat_map(super::place::Place::lines) {
        text.push_str(&format!("{name}: {said}\n"));
    }
    if !voice.quiet {
        text.push_str(&format!("short answer: {}\n", view.asked.next("check")));
    }
    text
}

/// What says so.
fn says(view: &View) -> String {
    match view.rule() {
        Some(rule) => rule.to_string(),
        None => match view.source() {
            "danger" => {
                let dangers = &view.previewed.explanation.segments;
                let why = dangers.iter().find_map(|one| one.dangers.first());
                let why = why.map_or("it is in the danger table", String::as_str);
                format!("danger: {why}")
            }
            "opaque" => "opaque: it cannot be read with certainty".to_owned(),
            source if held_back(view).is_some() => {
                let why = held_back(view).unwrap_or_default();
                format!("{source}: a rule would allow it, but {why}")
            }
            source => format!("{source}: no rule speaks about it"),
        },
    }
}

/// Why a rule that would allow it does not.
fn held_back(view: &View) -> Option<&str> {
    let mut segments = view.previewed.explanation.segments.iter();
    segments.find_map(|segment| segment.held_back.as_deref())
}

/// What the approval policy makes of it.
fn approval(view: &View) -> String {
    let policy = view.approval();
    let said = match view.becomes() {
        (Becomes::Runs, true) => "runs in its sandbox, nobody is asked",
        (Becomes::Runs, false) => "runs without a sandbox, nobody is asked",
        (Becomes::Asks, true) => "asks, then runs in its sandbox",
        (Becomes::Asks, false) => "asks, then runs without a sandbox",
        (Becomes::Refused, _) => {
            let why = view.refusal().unwrap_or_default();
            return format!(
                "refused: {} ({policy})",
                why.replace('\n', "\n            ")
            );
        }
    };
    let reasons = view.previewed.explanation.reasons.join(", ");
    format!("{said}: {reasons} ({policy})")
}
