//! The judge, and what it says about a command.

use std::ffi::{OsStr, OsString};
use std::sync::{Arc, PoisonError, RwLock};

use palisade_exec_policy::approvals::{
    AmendmentSource, ApprovalEdit, ApprovalsAt, EditError, Keep, Moment, StoredApprovals, apply,
    edit_for, offer,
};
use palisade_exec_policy::authoring::{Explanation, explain_decided};
use palisade_exec_policy::language::{Anchors, LoadedPolicy, PolicyErrors};
use palisade_exec_policy::matching::{Approvals, CommandFacts, Evaluation, PlaceFacts, Programs};
use palisade_exec_policy::{
    AskForApproval, Command, Decision, ExecApprovalRequirement, ExecPolicyAmendment,
    PromptCategory, Question, Risk, RuleDecision, Rules, RulesError, SandboxablePreference,
    SegmentVerdict, VerdictSource, WorkingBackend, decide,
};
use palisade_policy::{
    AbsolutePath, CanonicalSandboxPolicy, Grant, HostFacts, PathRules, ResourceLimits,
    SandboxPermissions, SandboxPolicy, WorkspaceRoot,
};
use palisade_shell_analysis::{Analysis, Limits, analyze_argv};

use super::{RuleBook, grants};
use crate::program::PathPrograms;

/// A command that somebody wants to run.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "whoever asks must fill in every part"
)]
pub struct Case<'a> {
    /// The program and its arguments.
    pub argv: &'a [OsString],
    /// Where it would run.
    pub cwd: &'a AbsolutePath,
    /// The `PATH` that it would have, where programs are to be looked up.
    pub search_path: Option<&'a OsStr>,
    /// Variables that it asked for by itself. They are judged as if they stood before the command.
    pub env: &'a [(OsString, OsString)],
    /// What it asks for beyond the policy.
    pub permissions: &'a SandboxPermissions,
}

/// What the decision depends on besides the command.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "whoever asks must fill in every part"
)]
pub struct Standing {
    /// When a person is asked.
    pub approval: AskForApproval,
    /// The sandbox that a person picked.
    pub sandbox: SandboxPolicy,
    /// What the tool wants of the sandbox.
    pub preference: SandboxablePreference,
    /// The sandbox that works on this host, if one does.
    pub backend: Option<WorkingBackend>,
}

/// What the rules and the approval policy make of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a judgement that nobody looks at protects nothing"]
#[non_exhaustive]
pub struct Judgement {
    /// What has to happen before it runs.
    pub requirement: ExecApprovalRequirement,
    /// Why, as one sentence.
    pub explanation: String,
    /// What would be asked, by kind.
    pub categories: Vec<PromptCategory>,
    /// What the rules alone say.
    pub rule_decision: RuleDecision,
    /// Where that comes from: the id of a rule, or `unmatched`, `opaque`, `danger`.
    pub source: String,
    /// How risky it looks.
    pub risk: Risk,
    /// What its rules add to the sandbox.
    pub grants: Vec<Grant>,
    /// The limits that its rules set.
    pub limits: Option<ResourceLimits>,
    /// The limits that the files of these rules set for every command.
    pub usual_limits: ResourceLimits,
    /// What can be kept with an approval.
    pub offer: Option<Offer>,
}

impl Judgement {
    /// The limits of the command under a policy with these: those of its rules where the policy's are the ones that the rules
    /// were written for, and otherwise the lower of each. A host that sets limits of its own is not overruled by a file.
    #[must_use]
    pub fn limits_under(&self, policy: &ResourceLimits) -> ResourceLimits {
        match &self.limits {
            None => *policy,
            Some(rules) if *policy == self.usual_limits => *rules,
            Some(rules) => grants::lower(policy, rules),
        }
    }
}

/// A prefix that can be kept with an approval, and what it answers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Offer {
    /// The prefix.
    pub amendment: ExecPolicyAmendment,
    /// The rule whose question it answers; `None` if no rule spoke, and it becomes a rule itself.
    pub rule: Option<String>,
}

/// Judges the commands of one project.
#[derive(Debug)]
pub struct Judge {
    book: RuleBook,
    project: WorkspaceRoot,
    facts: HostFacts,
    place: PlaceFacts,
    state: RwLock<State>,
}

#[derive(Debug)]
struct State {
    rules: Arc<Rules>,
    kept: Kept,
    /// The allow rules that are part of `rules`.
    allowed: [String; 2],
}

/// What people agreed to keep: what a file says, and what was agreed to since and is in no file.
#[derive(Clone, Debug, Default)]
struct Kept {
    stored: Arc<StoredApprovals>,
    since: Arc<StoredApprovals>,
    since_text: String,
}

impl Kept {
    fn allow_rules(&self, project: &AbsolutePath, now: Moment) -> [String; 2] {
        [&self.stored, &self.since].map(|kept| kept.allow_rules(project, now))
    }
}

/// Both, in a project at a time.
struct KeptAt<'a>([ApprovalsAt<'a>; 2]);

impl Approvals for KeptAt<'_> {
    fn answers(&self, rule: &str, argv: &[&[u8]]) -> bool {
        self.0.iter().any(|kept| kept.answers(rule, argv))
    }
}

impl Judge {
    /// A judge with nothing kept.
    ///
    /// # Errors
    /// The rules do not load, or their examples do not hold.
    pub fn new(
        book: RuleBook,
        project: WorkspaceRoot,
        facts: HostFacts,
    ) -> Result<Self, RulesError> {
        let place = PlaceFacts::new(project.path(), &facts);
        let rules = book.rules(&[])?;
        let protected: Vec<_> = rules.policy().settings().protected.value.clone();
        let place = match protected == PathRules::DEFAULT_PROTECTED {
            true => place,
            false => place.with_protected(protected.iter().map(std::path::Path::new)),
        };
        Ok(Self {
            book,
            project,
            facts,
            place,
            state: RwLock::new(State {
                rules,
                kept: Kept::default(),
                allowed: Default::default(),
            }),
        })
    }

    /// Judges with what a file of approvals says from now on. What was accepted since is expected to be in it.
    pub fn set_stored(&self, stored: StoredApprovals) {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        state.kept = Kept {
            stored: Arc::new(stored),
            ..Kept::default()
        };
    }

    /// Keeps an accepted offer, so that the next command like it is not asked about. Returns the edit for the file, for
    /// whoever writes it.
    ///
    /// # Errors
    /// It may not be kept; nothing changed.
    pub fn accept(&self, offer: &Offer, now: Moment) -> Result<ApprovalEdit, EditError> {
        let source = match &offer.rule {
            Some(rule) => AmendmentSource::RulePrompt(rule),
            None => AmendmentSource::Unmatched,
        };
        let keep = Keep::for_project(self.project.path().clone(), now);
        let edit = edit_for(&offer.amendment, source, &keep)?;
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        let text = apply(&state.kept.since_text, &edit)?;
        if let Ok(since) = StoredApprovals::parse(&text) {
            state.kept.since_text = text;
            state.kept.since = Arc::new(since);
        }
        Ok(edit)
    }

    /// What the files say together.
    #[must_use]
    pub fn rules(&self) -> Arc<Rules> {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&state.rules)
    }

    /// The project.
    #[must_use]
    pub const fn project(&self) -> &WorkspaceRoot {
        &self.project
    }

    /// Judges a command.
    ///
    /// # Errors
    /// The rules that people agreed to no longer load together with the others, or a grant of a rule is below a home
    /// that nobody knows. Nothing may run.
    pub fn judge(
        &self,
        case: &Case<'_>,
        standing: &Standing,
        now: Moment,
    ) -> Result<Judgement, RulesError> {
        self.judge_under(case, standing, None, now)
    }

    /// The same, where commands run under this policy: a rule about a name is not about a file that they can write.
    ///
    /// # Errors
    /// As [`judge`](Self::judge).
    pub fn judge_under(
        &self,
        case: &Case<'_>,
        standing: &Standing,
        policy: Option<&CanonicalSandboxPolicy>,
        now: Moment,
    ) -> Result<Judgement, RulesError> {
        self.evaluated(case, policy, now, |rules, analysis, evaluation| {
            let offered = offer(evaluation, analysis);
            let segments = evaluation.verdicts();
            let decision = decide(&question(
                case,
                standing,
                evaluation.risk(),
                &segments,
                offered.as_ref(),
            ));
            self.put(decision, rules.policy(), analysis, evaluation)
        })?
        .map_err(RulesError::Load)
    }

    /// The same, and how it came to that.
    ///
    /// # Errors
    /// As [`judge`](Self::judge).
    pub fn explain_under(
        &self,
        case: &Case<'_>,
        standing: &Standing,
        policy: Option<&CanonicalSandboxPolicy>,
        now: Moment,
    ) -> Result<Explanation, RulesError> {
        self.evaluated(case, policy, now, |_, analysis, evaluation| {
            let offered = offer(evaluation, analysis);
            let segments = evaluation.verdicts();
            let decision = decide(&question(
                case,
                standing,
                evaluation.risk(),
                &segments,
                offered.as_ref(),
            ));
            let words = with_env(case.env, case.argv);
            let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
            explain_decided(&words.join(" "), analysis, evaluation, &decision)
        })
    }

    /// What the rules that hold now say about a command, handed to whoever asks.
    fn evaluated<T>(
        &self,
        case: &Case<'_>,
        policy: Option<&CanonicalSandboxPolicy>,
        now: Moment,
        then: impl FnOnce(&Rules, &Analysis, &Evaluation<'_>) -> T,
    ) -> Result<T, RulesError> {
        let (rules, kept) = self.current(now)?;
        let writable = policy.map(|policy| self.writable(policy));
        let writable = writable.unwrap_or_default();
        let place = self.place.clone().starting_in(case.cwd);
        let place = place.with_writable(&writable);
        let programs = case.search_path.map(|path| {
            PathPrograms::new(Some(path))
                .with_writable(writable.iter().chain([self.project.path()]))
        });
        let project = self.project.path();
        let answers = KeptAt([kept.stored.at(project, now), kept.since.at(project, now)]);
        let mut facts = CommandFacts::new(&place).with_approvals(&answers);
        if let Some(programs) = &programs {
            facts = facts.with_programs(programs as &dyn Programs);
        }
        let analysis = match case.env.is_empty() {
            true => analyze_argv(case.argv, &Limits::default()),
            false => analyze_argv(&with_env(case.env, case.argv), &Limits::default()),
        };
        let evaluation = rules.evaluate(&analysis, &facts);
        Ok(then(&rules, &analysis, &evaluation))
    }

    /// What commands can write under a policy, its grants included.
    fn writable(&self, policy: &CanonicalSandboxPolicy) -> Vec<AbsolutePath> {
        let mut writable = policy.writable_roots(&self.project, &self.facts);
        if let Some((paths, _)) = policy.rules() {
            let reopened = paths.reopened.iter().filter(|open| open.write);
            writable.extend(reopened.map(|open| open.path.clone()));
        }
        writable
    }

    /// The rules and approvals that hold now: an approval that has expired takes its rule with it.
    fn current(&self, now: Moment) -> Result<(Arc<Rules>, Kept), RulesError> {
        let project = self.project.path();
        {
            let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
            if state.kept.allow_rules(project, now) == state.allowed {
                return Ok((Arc::clone(&state.rules), state.kept.clone()));
            }
        }
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        let allowed = state.kept.allow_rules(project, now);
        if allowed != state.allowed {
            state.rules = self.book.rules(&allowed)?;
            state.allowed = allowed;
        }
        Ok((Arc::clone(&state.rules), state.kept.clone()))
    }

    fn put(
        &self,
        decision: Decision<'_>,
        policy: &LoadedPolicy,
        analysis: &Analysis,
        evaluation: &Evaluation<'_>,
    ) -> Result<Judgement, PolicyErrors> {
        let anchors = Anchors {
            project: &self.project,
            home: self.facts.home.as_ref(),
        };
        let offer = match &decision.requirement {
            ExecApprovalRequirement::NeedsApproval {
                proposed_execpolicy_amendment: Some(amendment),
                ..
            } => offer_of(amendment, evaluation),
            _ => None,
        };
        Ok(Judgement {
            explanation: decision.explain(),
            categories: decision.reasons.categories().collect(),
            rule_decision: evaluation.rule_decision(),
            source: match evaluation.source() {
                VerdictSource::Rule(rule) => rule.id.to_owned(),
                VerdictSource::Default(entry) => entry.name().to_owned(),
            },
            risk: evaluation.risk(),
            grants: grants::of_rules(evaluation, analysis, policy, &anchors)?,
            limits: grants::limits(evaluation, policy),
            usual_limits: policy.settings().limits.limits(),
            offer,
            requirement: decision.requirement,
        })
    }
}

/// What is asked of the one decision.
const fn question<'a>(
    case: &Case<'a>,
    standing: &Standing,
    risk: Risk,
    segments: &'a [SegmentVerdict<'a>],
    amendment: Option<&'a ExecPolicyAmendment>,
) -> Question<'a> {
    Question {
        approval: standing.approval,
        sandbox: standing.sandbox,
        preference: standing.preference,
        backend: standing.backend,
        command: Some(Command {
            segments,
            risk,
            permissions: case.permissions,
            amendment,
        }),
    }
}

/// The command as `env` would start it: a variable such as `LD_PRELOAD` makes another command of it.
/// This is what is judged, shown to people, and what their approvals are kept under.
pub(crate) fn with_env(env: &[(OsString, OsString)], argv: &[OsString]) -> Vec<OsString> {
    if env.is_empty() {
        return argv.to_vec();
    }
    let variables = env.iter().map(|(name, value)| {
        let mut both = name.clone();
        both.push("=");
        both.push(value);
        both
    });
    [OsString::from("env")]
        .into_iter()
        .chain(variables)
        .chain(argv.iter().cloned())
        .collect()
}

/// The offer, with the rule that asked. Two rules that ask cannot be answered by one approval.
fn offer_of(amendment: &ExecPolicyAmendment, evaluation: &Evaluation<'_>) -> Option<Offer> {
    let mut asking = Vec::new();
    for segment in evaluation.segments() {
        let verdict = segment.verdict();
        if matches!(
            verdict,
            SegmentVerdict::Allow { .. } | SegmentVerdict::Prompt { answered: true, .. }
        ) {
            continue;
        }
        let rule = match AmendmentSource::of(&verdict).ok()? {
            AmendmentSource::RulePrompt(id) => Some(id.to_owned()),
            AmendmentSource::Unmatched => None,
        };
        if !asking.contains(&rule) {
            asking.push(rule);
        }
    }
    match <[Option<String>; 1]>::try_from(asking) {
        Ok([rule]) => Some(Offer {
            amendment: amendment.clone(),
            rule,
        }),
        Err(_) => None,
    }
}

// The paths in it are those of Unix.
#[cfg(test)]
#[cfg(unix)]
#[path = "judgement_tests.rs"]
mod tests;
