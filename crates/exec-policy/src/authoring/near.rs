//! Why a rule that begins like a command does not speak about it.

use palisade_shell_analysis::PlainCommand;

use super::words;
use crate::matching::CompiledRule;

/// The first thing that keeps a rule from speaking, in words.
pub(super) fn why_not(rule: &CompiledRule, command: Option<&PlainCommand>) -> String {
    let Some(command) = command else {
        return "allows hold only for commands that can be read".to_owned();
    };
    for (position, alternatives) in rule.prefix().iter().enumerate() {
        let wanted = alternatives.join("` or `");
        match command.words.get(position) {
            None => return format!("the command ends before `{}`", words::shown(&wanted)),
            Some(word) => {
                let known = word.literal();
                let same = known.is_some_and(|known| {
                    alternatives
                        .iter()
                        .any(|word| is_same(position, word.as_bytes(), known))
                });
                if !same {
                    return format!(
                        "word {} is `{}`, not `{}`",
                        position.saturating_add(1),
                        words::word(word),
                        words::shown(&wanted)
                    );
                }
            }
        }
    }
    if !rule.when_flags.is_empty() && !has_flag(rule, command) {
        return format!("none of {} is there", rule.when_flags.join(", "));
    }
    if !rule.except.is_empty() {
        let except: Vec<String> = rule
            .except
            .iter()
            .map(|except| words::prefix(except))
            .collect();
        return format!("it makes an exception: {}", except.join("; "));
    }
    match rule.args {
        Some(predicate) => format!(
            "`{}` does not hold of its arguments",
            words::predicate(predicate)
        ),
        None => "a flag or an option in it is not one that the rule knows".to_owned(),
    }
}

/// The program may be written as a path.
fn is_same(position: usize, wanted: &[u8], known: &[u8]) -> bool {
    let last = known.rsplit(|byte| *byte == b'/').next().unwrap_or(known);
    wanted == known || (position == 0 && wanted == last)
}

/// Whether one of the flags seems to be there, in any spelling.
fn has_flag(rule: &CompiledRule, command: &PlainCommand) -> bool {
    let words = command
        .words
        .iter()
        .skip(1)
        .filter_map(|word| word.literal());
    words.into_iter().any(|word| {
        rule.when_flags.iter().any(|flag| {
            let flag = flag.as_bytes();
            let letter = match flag {
                [b'-', letter] if *letter != b'-' => Some(letter),
                _ => None,
            };
            let clustered = word.starts_with(b"-") && !word.starts_with(b"--");
            word.starts_with(flag)
                || letter.is_some_and(|letter| clustered && word.contains(letter))
        })
    })
}
