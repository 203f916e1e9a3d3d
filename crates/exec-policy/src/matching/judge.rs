//! From rules and an analysed command to an evaluation.

use std::borrow::Cow;

use palisade_shell_analysis::{Analysis, Cwd, Plain, PlainCommand, RedirectTarget, ShellEffect};

use super::args::{self, Arg};
use super::download;
use super::evaluation::{Evaluation, HeldBack, Match, Outcome, Segment, SegmentPlace};
use super::facts::{CommandFacts, Names};
use super::paths::resolve;
use super::predicates::{Download, View};
use super::program::{self, folded_base};
use super::redirect;
use super::rule::CompiledRule;
use super::ruleset::Ruleset;
use super::surroundings;
use super::trie::{Skipped, Trie, Visit};
use crate::decision::Risk;
use crate::decision::{DefaultEntry, RuleDecision};
use crate::language::model::DefaultDecision;

/// Judges one command. Holds nothing that outlives it.
pub(crate) struct Judge<'r, 'f> {
    pub(super) rules: &'r Ruleset,
    pub(super) facts: &'f CommandFacts<'f>,
}

/// What the walks found about one reading of a command.
#[derive(Default)]
pub(super) struct Findings<'r> {
    pub(super) matches: Vec<Match<'r>>,
    pub(super) dangers: Vec<&'r CompiledRule>,
    near: Option<&'r CompiledRule>,
    /// A word that is not known may be one that a strict rule looks for.
    pub(super) undecided: bool,
}

impl<'r> Findings<'r> {
    pub(super) fn add(&mut self, rule: &'r CompiledRule, decision: RuleDecision) {
        if rule.danger {
            self.dangers.push(rule);
        } else if !self
            .matches
            .iter()
            .any(|found| std::ptr::eq(found.rule, rule) && found.decision == decision)
        {
            self.matches.push(Match { rule, decision });
        }
    }

    pub(super) fn strictest(&self) -> Option<RuleDecision> {
        self.matches.iter().map(|found| found.decision).max()
    }

    /// The rule that is named: of the strictest, the most specific, and of these the closest to the command.
    pub(super) fn named(&self, decision: RuleDecision) -> Option<&'r CompiledRule> {
        self.matches
            .iter()
            .filter(|found| found.decision == decision)
            .map(|found| found.rule)
            .max_by_key(|rule| {
                (
                    rule.prefix.len(),
                    rule.decision == decision,
                    rule.origin.layer,
                )
            })
    }
}

impl<'r, 'f> Judge<'r, 'f> {
    pub(crate) const fn new(rules: &'r Ruleset, facts: &'f CommandFacts<'f>) -> Self {
        Self { rules, facts }
    }

    pub(crate) fn evaluate(&self, analysis: &Analysis) -> Evaluation<'r> {
        let mut segments = match &analysis.plain {
            Ok(plain) => self.plain(plain),
            Err(why) => vec![Segment::opaque(why, self.rules.defaults.opaque)],
        };
        let plain_commands = analysis
            .plain
            .as_ref()
            .map_or(0, |plain| plain.commands.len());
        // Every plain command is mentioned once; where nothing else is, the mentions add nothing.
        if analysis.mentions.commands.len() != plain_commands {
            self.mentions(
                &analysis.mentions.commands,
                analysis.plain.is_err(),
                &mut segments,
            );
        }
        let risk = if segments.iter().any(|segment| !segment.dangers.is_empty()) {
            Risk::Dangerous
        } else if analysis.plain.is_ok()
            && !segments.is_empty()
            && segments.iter().all(Segment::is_reader)
        {
            Risk::KnownSafe
        } else {
            Risk::Unknown
        };
        Evaluation { segments, risk }
    }

    pub(super) fn plain(&self, plain: &Plain) -> Vec<Segment<'r>> {
        let mut segments = Vec::with_capacity(plain.commands.len());
        // Whether a change of the shell so far was one that changes nothing that matters here.
        let mut excused = true;
        for (index, command) in plain.commands.iter().enumerate() {
            let fed = download::feeds(&plain.commands, index);
            segments.push(self.command(index, command, excused, fed));
            if command.effect == Some(ShellEffect::ChangesState) {
                excused &= self.is_harmless_change(command);
            }
        }
        segments
    }

    pub(super) fn variable(&self, name: &[u8]) -> Option<&'r CompiledRule> {
        self.rules.env.get(name).and_then(|id| self.rules.rule(id))
    }

    fn cwds(&self, cwd: &Cwd) -> Cow<'f, [Names]> {
        let place = self.facts.place;
        match cwd {
            Cwd::Start => Cow::Borrowed(std::slice::from_ref(&place.cwd)),
            Cwd::OneOf(paths) => paths
                .iter()
                .map(|path| {
                    let path = resolve(&place.cwd, place, path);
                    path.names.iter().map(|name| name.to_vec()).collect()
                })
                .collect(),
            _ => Cow::Borrowed(&[]),
        }
    }

    fn command(
        &self,
        index: usize,
        command: &PlainCommand,
        excused: bool,
        fed: bool,
    ) -> Segment<'r> {
        let mut words = Vec::with_capacity(command.words.len());
        args::of_plain(command, &mut words);
        let cwds = self.cwds(&command.cwd);
        let view = View {
            words: &words,
            cwds: &cwds,
            place: self.facts.place,
            harmless_change: command.effect == Some(ShellEffect::ChangesState)
                && self.is_harmless_change(command),
            download: Download {
                piped: fed,
                substituted: false,
            },
        };
        let mut findings = Findings::default();
        let mut skipped = Skipped::default();
        self.strict(&view, &mut findings);
        let key = program::exact_key(command.program(), &cwds, &self.rules.pins, self.facts);
        if let Some(key) = &key {
            self.exact(key, &view, &mut findings, &mut skipped);
        }
        // What a variable or a redirect asks is no rule about the command: where nothing else may run, it stays so.
        let refused = findings.matches.is_empty()
            && self.rules.defaults.unmatched == Some(DefaultDecision::Forbid);
        for redirect in &command.redirects {
            if let (RedirectTarget::Path(path), Some(program)) =
                (&redirect.target, redirect::pseudo_program(redirect.kind))
            {
                let words = [Arg::Known(program), Arg::Known(path)];
                self.strict(
                    &View {
                        words: &words,
                        ..view
                    },
                    &mut findings,
                );
            }
        }
        let mut variables = true;
        for assignment in &command.assignments {
            match self.variable(&assignment.name) {
                // A harmless name with a value that a program could expand once more is not harmless.
                Some(rule) if rule.decision == RuleDecision::Allow => {
                    variables &= !assignment.value.iter().any(|byte| b"$`".contains(byte));
                }
                Some(rule) => findings.add(rule, rule.decision),
                None => variables = false,
            }
        }
        let decision = findings.strictest();
        let named = decision.and_then(|decision| findings.named(decision));
        let held_back = || {
            if !surroundings::is_certain(key.as_deref(), command.program(), named) {
                return Some(HeldBack::Program);
            }
            if !variables {
                return Some(HeldBack::Variable);
            }
            if command.tainted.is_some() && !excused {
                return Some(HeldBack::Tainted);
            }
            self.held_back(command, &view, named, &findings, &skipped)
        };
        let (outcome, held_back) = match (decision, named) {
            (Some(RuleDecision::Forbid), Some(rule)) => (Outcome::Forbid { rule }, None),
            _ if refused => (self.unmatched(&findings), None),
            (Some(RuleDecision::Prompt), Some(_)) => self.prompt(&words, &findings, held_back()),
            (Some(RuleDecision::Allow), Some(rule)) => match held_back() {
                None => (Outcome::Allow { rule }, None),
                why => (self.unmatched(&findings), why),
            },
            _ => (self.unmatched(&findings), held_back()),
        };
        let outcome = self.with_danger(outcome, &findings);
        Segment {
            place: SegmentPlace::Command(index),
            outcome,
            matches: findings.matches,
            near: findings.near,
            held_back,
            dangers: findings.dangers,
        }
    }

    fn prompt(
        &self,
        words: &[Arg<'_>],
        findings: &Findings<'r>,
        held_back: Option<HeldBack>,
    ) -> (Outcome<'r>, Option<HeldBack>) {
        let asking = || {
            findings
                .matches
                .iter()
                .filter(|found| found.decision == RuleDecision::Prompt)
                .map(|found| found.rule)
        };
        let argv: Option<Vec<&[u8]>> = words.iter().map(|word| word.known()).collect();
        let is_answered = |rule: &CompiledRule| {
            held_back.is_none()
                && argv.as_ref().is_some_and(|argv| {
                    self.facts
                        .approvals
                        .is_some_and(|approvals| approvals.answers(&rule.id, argv))
                })
        };
        // Every rule that asks must have been answered; the one that was not is named.
        let open = asking()
            .filter(|rule| !is_answered(rule))
            .max_by_key(|rule| (rule.prefix.len(), rule.origin.layer));
        let Some(rule) = open.or_else(|| findings.named(RuleDecision::Prompt)) else {
            return (self.unmatched(findings), held_back);
        };
        let outcome = Outcome::Prompt {
            rule,
            answered: open.is_none(),
            unsandboxed: rule.unsandboxed && held_back.is_none(),
        };
        (outcome, held_back)
    }

    /// A default about dangers speaks beside a rule that asks: it may forbid, and no stored approval answers it.
    fn with_danger(&self, outcome: Outcome<'r>, findings: &Findings<'r>) -> Outcome<'r> {
        let decision = self
            .rules
            .defaults
            .danger
            .filter(|_| !findings.dangers.is_empty());
        match (&outcome, decision) {
            (Outcome::Prompt { .. }, Some(DefaultDecision::Forbid))
            | (Outcome::Prompt { answered: true, .. }, Some(DefaultDecision::Prompt)) => {
                Outcome::Default {
                    entry: DefaultEntry::Danger,
                    decision,
                    why: String::new(),
                }
            }
            _ => outcome,
        }
    }

    fn unmatched(&self, findings: &Findings<'r>) -> Outcome<'r> {
        let defaults = &self.rules.defaults;
        let danger = defaults.danger.filter(|_| !findings.dangers.is_empty());
        let (entry, decision) = match (danger, defaults.unmatched) {
            (Some(DefaultDecision::Forbid), _) => (DefaultEntry::Danger, danger),
            (_, Some(DefaultDecision::Forbid)) => (DefaultEntry::Unmatched, defaults.unmatched),
            (Some(_), _) => (DefaultEntry::Danger, danger),
            (None, unmatched) => (DefaultEntry::Unmatched, unmatched),
        };
        Outcome::Default {
            entry,
            decision,
            why: String::new(),
        }
    }

    /// Rules that forbid or ask, and the danger table.
    pub(super) fn strict(&self, view: &View<'_>, findings: &mut Findings<'r>) {
        let Some(program) = view.words.first().and_then(|word| word.known()) else {
            return;
        };
        let Some(trie) = self.rules.strict(&folded_base(program)) else {
            return;
        };
        let mut visits = Vec::new();
        findings.undecided |= trie.walk_generous(view.words, &mut visits);
        let globs = view
            .words
            .iter()
            .any(|word| matches!(word, Arg::Pattern { .. }) && word.may_be_option());
        for (visit, entry, rule) in self.candidates(trie, &visits) {
            // A rule about a path means that path; one about a name means every file of that name.
            let about = rule.prefix.first().into_iter().flatten().any(|wanted| {
                !program::is_path(wanted.as_bytes())
                    || program::exact_key(program, view.cwds, &self.rules.pins, self.facts)
                        .is_some_and(|key| *key == *program::rule_key(wanted))
                    || wanted.as_bytes() == program
            });
            if !about {
                continue;
            }
            findings.undecided |= globs && !rule.danger && !rule.when_flags.is_empty();
            let table = trie.node(visit.node).and_then(|node| node.table.as_deref());
            match rule.judge(table, visit.rest, entry, view, false) {
                Some(RuleDecision::Allow) | None => {
                    findings.near = findings.near.or((!rule.danger).then_some(rule))
                }
                Some(decision) => findings.add(rule, decision),
            }
        }
    }

    /// Rules that allow.
    fn exact<'w>(
        &'w self,
        key: &[u8],
        view: &View<'w>,
        findings: &mut Findings<'r>,
        skipped: &mut Skipped<'w>,
    ) {
        let Some(trie) = self.rules.exact(key) else {
            return;
        };
        let mut visits = Vec::new();
        trie.walk_exact(view.words, &mut visits, skipped);
        for (visit, entry, rule) in self.candidates(trie, &visits) {
            let extra = skipped.extra.get(..visit.extra).unwrap_or_default();
            let table = trie.node(visit.node).and_then(|node| node.table.as_deref());
            let decision = if rule.knows(extra, view.words) {
                rule.judge(table, visit.rest, entry, view, true)
            } else {
                None
            };
            match decision {
                Some(decision) => findings.add(rule, decision),
                None => findings.near = Some(rule),
            }
        }
    }

    fn candidates<'v>(
        &self,
        trie: &'v Trie,
        visits: &'v [Visit],
    ) -> impl Iterator<Item = (&'v Visit, usize, &'r CompiledRule)> {
        let rules = self.rules;
        visits.iter().flat_map(move |visit| {
            trie.node(visit.node)
                .into_iter()
                .flat_map(|node| &node.rules)
                .filter_map(move |entry| {
                    let checked = usize::try_from(entry.checked).ok()?;
                    Some((visit, checked, rules.rule(entry.rule)?))
                })
        })
    }
}
