//! What is around a command: an allow holds only if that is harmless too.

use palisade_shell_analysis::{PlainCommand, UnwrapKind};

use super::args::Arg;
use super::evaluation::{HeldBack, Segment};
use super::facts::Names;
use super::judge::{Findings, Judge};
use super::paths::resolve;
use super::predicates::{self, View};
use super::program;
use super::redirect;
use super::rule::CompiledRule;
use super::trie::Skipped;
use crate::decision::RuleDecision;
use crate::language::model::ArgPredicate;

impl<'r> Judge<'r, '_> {
    /// Why an allow of `rule` does not hold, if it does not.
    pub(super) fn held_back(
        &self,
        command: &PlainCommand,
        view: &View<'_>,
        rule: Option<&CompiledRule>,
        findings: &Findings<'r>,
        skipped: &Skipped<'_>,
    ) -> Option<HeldBack> {
        let place = self.facts.place;
        let reader = rule.is_some_and(|rule| rule.reader);
        if command.via.iter().any(|step| {
            let clears = step.kind == UnwrapKind::Environment
                && step
                    .words
                    .iter()
                    .skip(1)
                    .any(|word| word.first() == Some(&b'-') && word != b"--");
            step.kind == UnwrapKind::Privilege || clears || !self.is_known_wrapper(step)
        }) {
            return Some(HeldBack::Wrapper);
        }
        let outside = |cwd: &Names| !cwd.starts_with(&place.project);
        if view.cwds.is_empty() || view.cwds.iter().any(outside) {
            return Some(HeldBack::Directory);
        }
        if !command
            .redirects
            .iter()
            .all(|redirect| redirect::is_harmless(redirect, command.program(), view.cwds, place))
        {
            return Some(HeldBack::Redirect);
        }
        let stays = |value: &Arg<'_>| {
            value.known().is_some_and(|value| {
                view.cwds
                    .iter()
                    .all(|cwd| resolve(cwd, place, value).is_in_project(place))
            })
        };
        if !skipped.values.iter().all(stays) {
            return Some(HeldBack::GlobalOption);
        }
        if findings.undecided {
            return Some(HeldBack::Glob);
        }
        let sources = command
            .via
            .iter()
            .filter(|step| step.kind == UnwrapKind::Runner);
        for step in sources {
            // `xargs -a FILE` reads what it hands on.
            let words: Vec<Arg<'_>> = step.words.iter().map(|word| Arg::Known(word)).collect();
            if !predicates::no_secrets(&words, view) {
                return Some(HeldBack::UnknownOperands);
            }
        }
        if command.operands_unknown {
            let open = rule.is_some_and(|rule| {
                rule.flags.is_none()
                    && rule.when_flags.is_empty()
                    && matches!(rule.args, None | Some(ArgPredicate::NoSecrets))
            });
            if !(reader && open) {
                return Some(HeldBack::UnknownOperands);
            }
        }
        for word in view.words {
            if let Arg::Pipe(plain) = word {
                let inner = self.plain(plain);
                if !reader || !inner.iter().all(Segment::is_reader) {
                    return Some(HeldBack::Substitution);
                }
            }
        }
        None
    }

    /// Wrappers are looked through only where the analysis trusts them; the search path must agree.
    fn is_known_wrapper(&self, step: &palisade_shell_analysis::UnwrapStep) -> bool {
        let Some(program) = step.words.first() else {
            return false;
        };
        let cwds = std::slice::from_ref(&self.facts.place.cwd);
        self.facts.programs.is_none()
            || program::exact_key(program, cwds, &self.rules.pins, self.facts).is_some()
    }

    /// `set -e` and exports of harmless variables change nothing that a verdict rests on.
    pub(super) fn is_harmless_change(&self, command: &PlainCommand) -> bool {
        let mut operands = command.words.iter().skip(1).map(|word| word.literal());
        match command.program() {
            b"set" => operands.all(|word| {
                word.is_some_and(|word| {
                    matches!(word, b"pipefail" | b"errexit" | b"nounset")
                        || (matches!(word, [b'-', _, ..])
                            && word.iter().skip(1).all(|b| matches!(b, b'e' | b'u' | b'o')))
                })
            }),
            b"export" => operands.all(|word| {
                word.and_then(|word| {
                    let equals = word.iter().position(|&b| b == b'=')?;
                    self.variable(word.get(..equals)?)
                })
                .is_some_and(|rule| rule.decision == RuleDecision::Allow)
            }),
            _ => false,
        }
    }
}

/// Whether the program that runs is the one that a rule names, or, without a rule, one that a bare name stands for.
pub(super) fn is_certain(key: Option<&[u8]>, program: &[u8], rule: Option<&CompiledRule>) -> bool {
    let Some(key) = key else {
        return false;
    };
    match rule.and_then(|rule| rule.prefix.first()) {
        None => !program::is_path(program) || !program::is_path(key),
        Some(names) => names.iter().any(|name| {
            name.as_bytes() == key
                || (program::is_path(name.as_bytes()) && program::rule_key(name) == key)
        }),
    }
}
