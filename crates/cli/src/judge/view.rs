//! What is known about a command, and its form for programs.

use std::path::PathBuf;

use palisade::runner::exec_policy::authoring::{ExplainedRule, ExplainedSegment};
use palisade::runner::exec_policy::{
    ApprovalPurpose, ExecApprovalRequirement, PromptCategory, RuleDecision,
};
use palisade::runner::session::{Preview, Previewed, SessionOptions};
use serde::Serialize;

use super::asked::Asked;
use super::place::Place;
use crate::complaint::Complaint;
use crate::events::Bytes;
use crate::ground::{Ground, PolicyFlags, Tried};

/// The version of the JSON form. Fields are only added.
const VERSION: u32 = 1;

/// What is known about a command.
#[derive(Debug)]
pub(super) struct View {
    pub(super) asked: Asked,
    pub(super) previewed: Previewed,
    /// Where it would run, if it would.
    pub(super) place: Option<Place>,
    approval: String,
    cwd: PathBuf,
}

/// What the approval policy makes of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Becomes {
    /// It runs, and nobody is asked.
    Runs,
    /// A person is asked; without one it does not run.
    Asks,
    /// It does not run, whatever anybody answers.
    Refused,
}

impl View {
    /// What would become of it under these flags, here.
    pub(super) fn of(flags: &PolicyFlags, asked: Asked) -> Result<Self, Complaint> {
        let ground = Ground::find(flags)?;
        let tried = Tried::on(&ground)?;
        let mut options = SessionOptions::default();
        if let Some(state) = &ground.paths.state {
            options = options.with_state(state.clone());
        }
        let book = ground.configuration.book.clone();
        let preview = Preview::on(ground.host.clone(), ground.policy.clone(), book, options)
            .map_err(Complaint::usage)?;
        let previewed = match &asked {
            Asked::Command(words) => preview.command(words, &ground.cwd),
            Asked::Script(text) => preview.script(text.clone(), &ground.cwd),
        };
        let previewed = previewed.map_err(Complaint::usage)?;
        let place = previewed.place.as_ref().ok();
        Ok(Self {
            place: place.map(|place| Place::of(place, &tried)),
            previewed,
            asked,
            approval: ground.configuration.approval.to_string(),
            cwd: ground.cwd,
        })
    }

    /// What the rules say, in a word.
    pub(super) const fn decision(&self) -> &'static str {
        word(self.previewed.judgement.rule_decision)
    }

    /// Where that comes from: `rule`, `unmatched`, `opaque` or `danger`.
    pub(super) fn source(&self) -> &str {
        match self.rule() {
            Some(_) => "rule",
            None => &self.previewed.judgement.source,
        }
    }

    /// The rule that says so.
    pub(super) fn rule(&self) -> Option<&ExplainedRule> {
        let judgement = &self.previewed.judgement;
        let explanation = &self.previewed.explanation;
        explanation.source.starts_with("rule ").then_some(())?;
        let rules = explanation.segments.iter().flat_map(|one| &one.rules);
        rules
            .filter(|rule| rule.decision == judgement.rule_decision)
            .find(|rule| rule.id == judgement.source)
    }

    /// What the approval policy makes of it, and whether a sandbox is around it then.
    pub(super) fn becomes(&self) -> (Becomes, bool) {
        let requirement = &self.previewed.judgement.requirement;
        if self
            .place
            .as_ref()
            .is_some_and(|place| place.refusal().is_some())
        {
            return (Becomes::Refused, true);
        }
        let confines = self.place.as_ref().is_none_or(Place::confines);
        match (requirement, &self.previewed.place) {
            (ExecApprovalRequirement::Forbidden { .. }, _) | (_, Err(_)) => {
                (Becomes::Refused, true)
            }
            (ExecApprovalRequirement::Skip { bypass_sandbox, .. }, _) => {
                (Becomes::Runs, confines && !bypass_sandbox)
            }
            (ExecApprovalRequirement::NeedsApproval { purpose, .. }, _) => {
                (Becomes::Asks, confines && *purpose == ApprovalPurpose::Run)
            }
        }
    }

    /// Why it does not run: the rules, the approval policy, the floor, or what this host can keep.
    pub(super) fn refusal(&self) -> Option<String> {
        match (&self.previewed.judgement.requirement, &self.previewed.place) {
            (ExecApprovalRequirement::Forbidden { reason }, _) => Some(reason.clone()),
            (_, Err(error)) => Some(error.to_string()),
            (_, Ok(_)) => {
                let here = self.place.as_ref().and_then(Place::refusal);
                here.map(str::to_owned)
            }
        }
    }

    /// When a person is asked.
    pub(super) fn approval(&self) -> &str {
        &self.approval
    }

    /// One object.
    pub(super) fn json(&self) -> Result<String, Complaint> {
        let judgement = &self.previewed.judgement;
        let explanation = &self.previewed.explanation;
        let (becomes, contained) = self.becomes();
        let object = Json {
            v: VERSION,
            decision: self.decision(),
            source: self.source(),
            rule: self.rule().map(RuleJson::of),
            command: match &self.asked {
                Asked::Command(words) => Some(Bytes::words(words)),
                Asked::Script(_) => None,
            },
            script: match &self.asked {
                Asked::Command(_) => None,
                Asked::Script(text) => Some(Bytes::of(text)),
            },
            cwd: Bytes::path(&self.cwd),
            risk: judgement.risk.name(),
            requirement: RequirementJson {
                becomes,
                contained,
                approval: &self.approval,
                why: &judgement.explanation,
                asks: &judgement.categories,
                refusal: self.refusal(),
                offer: explanation.offer.as_deref(),
            },
            reasons: &explanation.reasons,
            opaque: explanation.opaque.as_deref(),
            hidden: &explanation.hidden,
            segments: explanation.segments.iter().map(SegmentJson::of).collect(),
            sandbox: self.place.as_ref(),
        };
        let text = serde_json::to_string_pretty(&object).map_err(Complaint::failed)?;
        Ok(text + "\n")
    }
}

pub(super) const fn word(decision: RuleDecision) -> &'static str {
    match decision {
        RuleDecision::Allow => "allow",
        RuleDecision::Prompt => "prompt",
        RuleDecision::Forbid => "forbid",
    }
}

/// The object that `check --json` prints.
#[derive(Debug, Serialize)]
struct Json<'a> {
    v: u32,
    /// What the rules say: `allow`, `prompt` or `forbid`.
    decision: &'static str,
    /// Where that comes from: `rule`, `unmatched`, `opaque` or `danger`.
    source: &'a str,
    /// The rule, where it is one.
    rule: Option<RuleJson<'a>>,
    /// The command, bit for bit: what is not UTF-8 is `{"base64": ...}`, as in events.
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<Vec<Bytes>>,
    /// The script, in the same form.
    #[serde(skip_serializing_if = "Option::is_none")]
    script: Option<Bytes>,
    cwd: Bytes,
    risk: &'static str,
    requirement: RequirementJson<'a>,
    /// The reasons behind the requirement, in the order in which they were found.
    reasons: &'a [String],
    /// Why the script cannot be read with certainty.
    opaque: Option<&'a str>,
    /// Characters in the command that cannot be seen.
    hidden: &'a [String],
    segments: Vec<SegmentJson<'a>>,
    /// The sandbox that it would get; none if it is refused.
    sandbox: Option<&'a Place>,
}

/// What the approval policy makes of it.
#[derive(Debug, Serialize)]
struct RequirementJson<'a> {
    becomes: Becomes,
    /// Whether a sandbox would be around it.
    contained: bool,
    /// The approval policy.
    approval: &'a str,
    /// Why, as one sentence.
    why: &'a str,
    /// What would be asked, by kind.
    asks: &'a [PromptCategory],
    #[serde(skip_serializing_if = "Option::is_none")]
    refusal: Option<String>,
    /// The prefix that an approval could keep.
    #[serde(skip_serializing_if = "Option::is_none")]
    offer: Option<&'a [String]>,
}

#[derive(Debug, Serialize)]
struct RuleJson<'a> {
    id: &'a str,
    decision: &'static str,
    why: Option<&'a str>,
    layer: &'static str,
    file: &'a str,
    line: usize,
    column: usize,
}

impl<'a> RuleJson<'a> {
    fn of(rule: &'a ExplainedRule) -> Self {
        Self {
            id: &rule.id,
            decision: word(rule.decision),
            why: rule.why.as_deref(),
            layer: rule.origin.layer.name(),
            file: &rule.origin.source,
            line: rule.origin.line,
            column: rule.origin.column,
        }
    }
}

#[derive(Debug, Serialize)]
struct SegmentJson<'a> {
    command: &'a str,
    /// The operator in front of it.
    joined: &'static str,
    /// The wrappers that were removed, outermost first.
    unwrapped: &'a [String],
    /// Variables, redirects and directories that belong to it.
    around: &'a [String],
    decision: &'static str,
    /// Every rule that speaks about it.
    rules: Vec<RuleJson<'a>>,
    /// Why an allow does not hold.
    held_back: Option<&'a str>,
    dangers: &'a [String],
    grants: &'a [String],
    /// The rule that came closest, and why it does not speak.
    near: Option<NearJson<'a>>,
}

#[derive(Debug, Serialize)]
struct NearJson<'a> {
    rule: RuleJson<'a>,
    but: &'a str,
}

impl<'a> SegmentJson<'a> {
    fn of(segment: &'a ExplainedSegment) -> Self {
        Self {
            command: &segment.command,
            joined: segment.joined,
            unwrapped: &segment.unwrapped,
            around: &segment.around,
            decision: word(segment.says),
            rules: segment.rules.iter().map(RuleJson::of).collect(),
            held_back: segment.held_back.as_deref(),
            dangers: &segment.dangers,
            grants: &segment.grants,
            near: segment.near.as_ref().map(|(rule, but)| NearJson {
                rule: RuleJson::of(rule),
                but,
            }),
        }
    }
}
