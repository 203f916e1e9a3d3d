//! A rule as it is compiled: what it says about one reading of a command.

use std::sync::Arc;

use super::args::Arg;
use super::options::{self, Item, Table, Written};
use super::predicates::{self, View};
use crate::decision::{RuleDecision, RuleRef};
use crate::language::model::{ArgPredicate, FlagRule, Origin, Rule, SandboxGrants};

/// A rule of the ruleset.
#[derive(Clone, Debug)]
pub struct CompiledRule {
    pub(crate) id: String,
    pub(crate) why: Option<String>,
    pub(crate) prefix: Vec<Vec<String>>,
    pub(crate) decision: RuleDecision,
    pub(crate) when_flags: Vec<String>,
    pub(crate) flags: Option<FlagRule>,
    pub(crate) except: Vec<Vec<Vec<String>>>,
    pub(crate) args: Option<ArgPredicate>,
    pub(crate) unsandboxed: bool,
    pub(crate) sandbox: SandboxGrants,
    pub(crate) origin: Origin,
    /// Its own `globals`, if it has some.
    pub(crate) globals: Option<Table>,
    /// Only reads: of the built-in readers.
    pub(crate) reader: bool,
    /// Not a rule but an entry of the danger table.
    pub(crate) danger: bool,
}

impl CompiledRule {
    pub(crate) fn new(rule: &Rule, reader: bool, danger: bool) -> Self {
        let globals = &rule.globals;
        let none =
            globals.flag.is_empty() && globals.value.is_empty() && globals.optional.is_empty();
        let globals = (!none).then(|| {
            let mut table = Table::default();
            table.add(Written::Read(Arc::new(globals.clone())));
            table
        });
        Self {
            globals,
            id: rule.id.clone(),
            why: rule.why.clone(),
            prefix: rule.prefix.clone(),
            decision: rule.decision,
            when_flags: rule.when_flags.clone(),
            flags: rule.flags.clone(),
            except: rule.except.clone(),
            args: rule.args,
            unsandboxed: rule.unsandboxed,
            sandbox: rule.sandbox.clone(),
            origin: rule.origin.clone(),
            reader,
            danger,
        }
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Why it exists.
    #[must_use]
    pub fn why(&self) -> Option<&str> {
        self.why.as_deref()
    }

    /// Where it stands.
    #[must_use]
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// What it says where none of its flags turns that around.
    #[must_use]
    pub fn decision(&self) -> RuleDecision {
        self.decision
    }

    /// How its commands begin, with the alternatives of each position.
    #[must_use]
    pub fn prefix(&self) -> &[Vec<String>] {
        &self.prefix
    }

    /// What the sandbox grants for what it matches.
    #[must_use]
    pub fn grants(&self) -> &SandboxGrants {
        &self.sandbox
    }

    /// Whether it is one of the built-in rules for commands that only read.
    #[must_use]
    pub fn is_reader(&self) -> bool {
        self.reader
    }

    /// The rule as a verdict names it.
    #[must_use]
    pub fn as_ref(&self) -> RuleRef<'_> {
        RuleRef::new(&self.id, self.why.as_deref())
    }

    /// Whether any outcome of it may be stricter than an allow.
    pub(crate) fn may_be_strict(&self) -> bool {
        self.decision != RuleDecision::Allow
            || self
                .flags
                .as_ref()
                .is_some_and(|flags| flags.otherwise == RuleDecision::Forbid)
    }

    /// Whether it looks at anything but the prefix.
    fn is_unconditional(&self) -> bool {
        self.when_flags.is_empty()
            && self.flags.is_none()
            && self.args.is_none()
            && self.except.is_empty()
    }

    /// What it says about a command whose prefix it matches. `rest` is what follows the prefix.
    ///
    /// With `exact`, an unknown option is the worst it could be and the result may be an allow. Without, the words
    /// are what was mentioned: what is known of them must be enough.
    pub(crate) fn judge(
        &self,
        table: Option<&Table>,
        rest: usize,
        checked: usize,
        view: &View<'_>,
        exact: bool,
    ) -> Option<RuleDecision> {
        if checked == self.prefix.len() && self.is_unconditional() {
            return Some(self.decision);
        }
        let rest = self.residual(rest, checked, view.words, exact)?;
        let words = view.words.get(rest..).unwrap_or_default();
        if self.is_excepted(view.words) {
            return None;
        }
        if !self.when_flags.is_empty() && !self.has_when_flag(table, words, exact) {
            return None;
        }
        // Checked first: where it fails, the flags are another rule's business.
        if let Some(predicate) = self.args
            && !predicates::holds(predicate, table, words, view)
        {
            return None;
        }
        let mut decision = self.decision;
        if let Some(flags) = &self.flags {
            let (listed, unknown) = read_flags(flags, table, words);
            if listed {
                decision = flags.otherwise;
            }
            if unknown && (exact || listed) {
                decision = decision.max(self.decision).max(flags.otherwise);
            }
        }
        Some(decision)
    }

    /// Whether its `globals` know every option that was skipped on their account.
    pub(crate) fn knows(&self, extra: &[(usize, usize)], words: &[Arg<'_>]) -> bool {
        extra.iter().all(|(at, used)| {
            self.globals.as_ref().is_some_and(|globals| {
                let from = words.get(*at..).unwrap_or_default();
                matches!(options::skip(globals, from), options::Skip::Known(known, _) if known == *used)
            })
        })
    }

    /// Compares the positions that the tree left out.
    fn residual(
        &self,
        rest: usize,
        checked: usize,
        words: &[Arg<'_>],
        exact: bool,
    ) -> Option<usize> {
        let mut at = rest;
        for alternatives in self.prefix.iter().skip(checked) {
            if !exact {
                while words.get(at).is_some_and(|word| word.may_be_option()) {
                    at = at.saturating_add(1);
                }
            }
            let word = words.get(at)?.known()?;
            if !alternatives.iter().any(|token| token.as_bytes() == word) {
                return None;
            }
            at = at.saturating_add(1);
        }
        Some(at)
    }

    /// Whether one of the prefixes that it does not speak about matches. Options in between do not hide one: a rule
    /// that allows must not lose its exception, so any order-preserving match of the words counts.
    fn is_excepted(&self, words: &[Arg<'_>]) -> bool {
        self.except.iter().any(|prefix| {
            let mut positions = prefix.iter().skip(1);
            let mut wanted = positions.next();
            for word in words.iter().skip(1) {
                let Some(alternatives) = wanted else {
                    return true;
                };
                let matches = match word.known() {
                    Some(word) => alternatives.iter().any(|token| token.as_bytes() == word),
                    // A glob may turn out to be the word.
                    None => self.decision == RuleDecision::Allow,
                };
                if matches {
                    wanted = positions.next();
                } else if self.decision != RuleDecision::Allow && !word.may_be_option() {
                    // An exception from a forbid or prompt must match to the letter.
                    return false;
                }
            }
            wanted.is_none()
        })
    }

    fn has_when_flag(&self, table: Option<&Table>, words: &[Arg<'_>], exact: bool) -> bool {
        let strict = self.decision != RuleDecision::Allow;
        let (mut present, mut unknown) = (false, false);
        let listed = |name: &[u8]| self.when_flags.iter().any(|flag| flag.as_bytes() == name);
        options::scan(table, words, |item| match item {
            Item::Option { name, .. } => present |= listed(name),
            Item::End => present |= listed(b"--"),
            Item::Unknown(raw) => {
                unknown = true;
                present |= strict
                    && self
                        .when_flags
                        .iter()
                        .any(|flag| options::may_be(raw, flag.as_bytes()));
            }
            Item::Operand(_) => {}
        });
        present && (strict || !(exact && unknown))
    }
}

/// Whether a flag is there that turns the decision around, and whether one is there that nobody knows.
fn read_flags(flags: &FlagRule, table: Option<&Table>, words: &[Arg<'_>]) -> (bool, bool) {
    let (mut listed, mut unknown) = (false, false);
    let has = |list: &[String], name: &[u8]| list.iter().any(|flag| flag.as_bytes() == name);
    options::scan(table, words, |item| match item {
        Item::Option { name, .. } => {
            listed |= has(&flags.forbid, name)
                || flags.allow.as_ref().is_some_and(|allow| !has(allow, name));
        }
        Item::Unknown(raw) => {
            unknown = true;
            listed |= flags
                .forbid
                .iter()
                .any(|flag| options::may_be(raw, flag.as_bytes()));
        }
        Item::End | Item::Operand(_) => {}
    });
    (listed, unknown)
}
