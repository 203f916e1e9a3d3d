//! The prefix to offer with an approval.

use palisade_shell_analysis::{Analysis, Word};

use super::offering::may_offer;
use super::programs::{Kind, base, kind};
use crate::decision::ExecPolicyAmendment;
use crate::decision::{RuleDecision, SegmentVerdict};
use crate::matching::{Evaluation, SegmentPlace};

/// No subcommand is deeper than this: `gcloud compute instances list`.
const MAX_DEPTH: usize = 5;
const MAX_WORD: usize = 32;

/// The shortest sensible prefix of a command that may be kept and would settle it.
///
/// The words are those of one command with its wrappers removed. A prefix is the program and the subcommands behind
/// it, never an option, a path, an address or another value. `would_allow` says whether the whole command would need
/// no question if this prefix were kept; it knows the rules and the rest of the script.
///
/// ```
/// use palisade_exec_policy::approvals::propose;
///
/// let prefix = propose(&["cargo", "add", "serde"], |_| true).expect("says what runs");
/// assert_eq!(prefix.prefix(), ["cargo", "add"]);
/// assert!(propose(&["python3", "-c", "print(1)"], |_| true).is_none());
/// ```
#[must_use]
pub fn propose<T: AsRef<str>>(
    words: &[T],
    would_allow: impl Fn(&[&str]) -> bool,
) -> Option<ExecPolicyAmendment> {
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    let (shortest, longest) = lengths(&words)?;
    (shortest..=longest).find_map(|length| {
        let prefix = words.get(..length)?;
        let kept = may_offer(prefix).is_ok() && would_allow(prefix);
        kept.then(|| ExecPolicyAmendment::new(prefix.iter().copied()).ok())?
    })
}

/// The prefix to offer with a question about an evaluated command.
///
/// There is one only if keeping it settles every part of the command that is not allowed yet, and if it may be kept.
#[must_use]
pub fn offer(evaluation: &Evaluation<'_>, analysis: &Analysis) -> Option<ExecPolicyAmendment> {
    evaluation.amendment_candidate(analysis)?;
    let commands = &analysis.plain.as_ref().ok()?.commands;
    let mut open: Vec<Vec<&str>> = Vec::new();
    let mut shortest = 1;
    for segment in evaluation.segments() {
        let verdict = segment.verdict();
        let settled = matches!(verdict, SegmentVerdict::Prompt { answered: true, .. });
        if verdict.rule_decision() == RuleDecision::Allow || settled {
            continue;
        }
        let SegmentPlace::Command(index) = segment.place() else {
            return None;
        };
        let words: Option<Vec<&str>> = commands.get(index)?.words.iter().map(text).collect();
        open.push(words?);
        // What a rule asks about is at least as long as its prefix: less would answer other questions of it.
        let asking = segment
            .matches()
            .iter()
            .filter(|found| found.decision == RuleDecision::Prompt);
        shortest = asking
            .map(|found| found.rule.prefix().len())
            .fold(shortest, usize::max);
    }
    propose(open.first()?, |prefix| {
        prefix.len() >= shortest && open.iter().all(|words| words.starts_with(prefix))
    })
}

fn text(word: &Word) -> Option<&str> {
    std::str::from_utf8(word.literal()?).ok()
}

/// How long the shortest and the longest prefix are that say something.
fn lengths(words: &[&str]) -> Option<(usize, usize)> {
    let (&program, rest) = words.split_first()?;
    if let ["-m", _, ..] = rest
        && kind(program) == Some(Kind::Interpreter)
        && base(program).starts_with("py")
    {
        return Some((3, 3));
    }
    let subcommands = rest
        .iter()
        .take(MAX_DEPTH)
        .take_while(|word| is_subcommand(word))
        .count();
    match kind(program) {
        Some(Kind::Flat) => Some((1, 1)),
        // Nothing is known: words that look like subcommands are taken for some, and without one there is no prefix.
        Some(Kind::Subcommands(_) | Kind::Runner) | None => {
            (subcommands > 0).then_some((2, subcommands.saturating_add(1)))
        }
        Some(_) => None,
    }
}

/// A word that looks like the name of a subcommand or script, not like a value.
fn is_subcommand(word: &str) -> bool {
    let mut chars = word.chars();
    word.len() <= MAX_WORD
        && chars.next().is_some_and(|c| c.is_ascii_lowercase())
        && chars.all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_:".contains(c))
        && !looks_like_a_value(word)
}

/// Hexadecimal digits are a commit, and a long run of digits is an identifier.
fn looks_like_a_value(word: &str) -> bool {
    let digits = word.chars().filter(char::is_ascii_digit).count();
    let hexadecimal = word.len() >= 7 && word.chars().all(|c| c.is_ascii_hexdigit());
    hexadecimal && digits > 0 || digits >= 4
}
