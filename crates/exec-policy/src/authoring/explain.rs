//! Why a command gets its verdict: how it was read, which rules spoke, and which nearly did.

use std::fmt;

use palisade_policy::SandboxPermissions;
use palisade_shell_analysis::{Analysis, Join, PlainCommand, hidden_points};

use super::near::why_not;
use super::words;
use super::workbench::{Workbench, analyze};
use crate::approvals::offer;
use crate::decision::ExecApprovalRequirement;
use crate::decision::Risk;
use crate::decision::{Command, Question};
use crate::decision::{Decision, decide};
use crate::decision::{DefaultEntry, RuleDecision, VerdictSource};
use crate::decision::{SandboxablePreference, WorkingBackend};
use crate::language::model::{Layer, Origin};
use crate::matching::{CommandFacts, Evaluation, Match, Segment, SegmentPlace};

/// Why a command gets its verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Explanation {
    /// The command as it was given.
    pub command: String,
    /// Characters that cannot be seen or that imitate others, with their places.
    pub hidden: Vec<String>,
    /// What keeps it from being read with certainty; `None`: it was read.
    pub opaque: Option<String>,
    /// Its segments, in order.
    pub segments: Vec<ExplainedSegment>,
    /// What the rules say about the whole.
    pub rules_say: RuleDecision,
    /// What says so.
    pub source: String,
    /// How risky it looks.
    pub risk: Risk,
    /// What is decided under the policy's approval settings, as a sentence.
    pub decision: String,
    /// The reasons that led to it, in the order in which they were found.
    pub reasons: Vec<String>,
    /// The prefix that an approval could keep.
    pub offer: Option<Vec<String>>,
}

/// One segment.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExplainedSegment {
    /// The operator in front of it; empty for the first.
    pub joined: &'static str,
    /// Its words, wrappers removed.
    pub command: String,
    /// The wrappers that were removed, outermost first.
    pub unwrapped: Vec<String>,
    /// Variables, redirects and directories that belong to it.
    pub around: Vec<String>,
    /// What the rules say about it.
    pub says: RuleDecision,
    /// What says so.
    pub source: String,
    /// Every rule that speaks about it.
    pub rules: Vec<ExplainedRule>,
    /// The rule that came closest, and why it does not speak.
    pub near: Option<(ExplainedRule, String)>,
    /// Why an allow does not hold.
    pub held_back: Option<String>,
    /// Why it is dangerous.
    pub dangers: Vec<String>,
    /// What the sandbox grants for it.
    pub grants: Vec<String>,
}

/// A rule, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExplainedRule {
    /// Its id.
    pub id: String,
    /// What it says here.
    pub decision: RuleDecision,
    /// Why it exists.
    pub why: Option<String>,
    /// Where it stands.
    pub origin: Origin,
}

/// Explains a command line under a policy.
///
/// `backend` is the sandbox that works on the host, if one does: the decision depends on it.
#[must_use]
pub fn explain(
    bench: &Workbench<'_>,
    command: &str,
    facts: &CommandFacts<'_>,
    backend: Option<WorkingBackend>,
) -> Explanation {
    let analysis = analyze(command);
    let evaluation = bench.ruleset().evaluate(&analysis, facts);
    let offer = offer(&evaluation, &analysis);
    let verdicts = evaluation.verdicts();
    let question = Question {
        approval: bench.policy().approval(),
        sandbox: bench.policy().sandbox_policy(),
        preference: SandboxablePreference::Auto,
        backend,
        command: Some(Command {
            segments: &verdicts,
            risk: evaluation.risk(),
            permissions: &SandboxPermissions::UseDefault,
            amendment: offer.as_ref(),
        }),
    };
    explain_decided(command, &analysis, &evaluation, &decide(&question))
}

/// The same about a command that was analysed, judged and decided about already, so that what is explained is what was
/// decided. `command` is how it is shown.
#[must_use]
pub fn explain_decided(
    command: &str,
    analysis: &Analysis,
    evaluation: &Evaluation<'_>,
    decision: &Decision<'_>,
) -> Explanation {
    let kept = match &decision.requirement {
        ExecApprovalRequirement::NeedsApproval {
            proposed_execpolicy_amendment: Some(amendment),
            ..
        } => Some(amendment.prefix().to_vec()),
        _ => None,
    };
    Explanation {
        command: command.to_owned(),
        hidden: hidden_points(command.as_bytes())
            .map(|point| format!("{point} at byte {}", point.at))
            .collect(),
        opaque: analysis.plain.as_ref().err().map(ToString::to_string),
        segments: evaluation
            .segments()
            .iter()
            .map(|segment| explained(segment, analysis))
            .collect(),
        rules_say: evaluation.rule_decision(),
        source: source(evaluation.source()),
        risk: evaluation.risk(),
        decision: decision.explain(),
        reasons: decision
            .reasons
            .iter()
            .map(|reason| reason.to_string())
            .collect(),
        offer: kept,
    }
}

fn explained(segment: &Segment<'_>, analysis: &Analysis) -> ExplainedSegment {
    let plain = analysis.plain.as_ref().ok();
    let command = match segment.place() {
        SegmentPlace::Command(index) => plain.and_then(|plain| plain.commands.get(index)),
        SegmentPlace::Mention(_) | SegmentPlace::Script => None,
    };
    let text = match (command, segment.place()) {
        (Some(command), _) => words::command(command),
        (None, SegmentPlace::Mention(index)) => analysis
            .mentions
            .commands
            .get(index)
            .map_or_else(String::new, |mention| format!("mentioned: {mention}")),
        _ => "the whole script".to_owned(),
    };
    let verdict = segment.verdict();
    ExplainedSegment {
        joined: command.map_or("", joined),
        command: text,
        unwrapped: command.map(unwrapped).unwrap_or_default(),
        around: command.map(around).unwrap_or_default(),
        says: verdict.rule_decision(),
        source: source(verdict.source()),
        rules: segment.matches().iter().map(ExplainedRule::of).collect(),
        near: segment.near().map(|rule| {
            let found = Match {
                rule,
                decision: rule.decision(),
            };
            (ExplainedRule::of(&found), why_not(rule, command))
        }),
        held_back: segment.held_back().map(|why| why.to_string()),
        dangers: segment
            .dangers()
            .iter()
            .map(|rule| rule.why().unwrap_or(rule.id()).to_owned())
            .collect(),
        grants: segment.grants().flat_map(words::grants).collect(),
    }
}

impl ExplainedRule {
    fn of(found: &Match<'_>) -> Self {
        Self {
            id: found.rule.id().to_owned(),
            decision: found.decision,
            why: found.rule.why().map(str::to_owned),
            origin: found.rule.origin().clone(),
        }
    }
}

fn joined(command: &PlainCommand) -> &'static str {
    match command.join {
        Join::Start => "",
        Join::And => "&&",
        Join::Or => "||",
        Join::Seq => ";",
        Join::Pipe => "|",
        Join::PipeBoth => "|&",
        _ => "?",
    }
}

fn unwrapped(command: &PlainCommand) -> Vec<String> {
    command
        .via
        .iter()
        .map(|step| {
            let words: Vec<String> = step.words.iter().map(|word| words::literal(word)).collect();
            format!("{} ({:?})", words.join(" "), step.kind)
        })
        .collect()
}

fn around(command: &PlainCommand) -> Vec<String> {
    use palisade_shell_analysis::{Cwd, RedirectTarget};
    let mut around = Vec::new();
    for assignment in &command.assignments {
        around.push(format!(
            "sets {}={}",
            words::bytes(&assignment.name),
            words::literal(&assignment.value)
        ));
    }
    for redirect in &command.redirects {
        let target = match &redirect.target {
            RedirectTarget::NullSink => "/dev/null".to_owned(),
            RedirectTarget::Fd(fd) => format!("descriptor {fd}"),
            RedirectTarget::Path(path) => words::literal(path),
            RedirectTarget::Body(body) => format!("{} bytes of text", body.len()),
            _ => "?".to_owned(),
        };
        around.push(format!(
            "redirect {:?} {} to {target}",
            redirect.kind, redirect.fd
        ));
    }
    match &command.cwd {
        Cwd::Start => {}
        Cwd::OneOf(directories) => {
            let names: Vec<String> = directories
                .iter()
                .map(|directory| match directory.as_slice() {
                    b"" => "the start".to_owned(),
                    directory => words::literal(directory),
                })
                .collect();
            around.push(format!("in {}", names.join(" or ")));
        }
        _ => around.push("in a directory that is not known".to_owned()),
    }
    if command.operands_unknown {
        around.push("more operands arrive when it runs".to_owned());
    }
    around.extend(command.tainted.as_ref().map(ToString::to_string));
    around
}

fn source(source: VerdictSource<'_>) -> String {
    match source {
        VerdictSource::Rule(rule) => format!("rule `{}`", words::shown(rule.id)),
        VerdictSource::Default(DefaultEntry::Unmatched) => "no rule matches".to_owned(),
        VerdictSource::Default(DefaultEntry::Opaque) => "it cannot be read".to_owned(),
        VerdictSource::Default(DefaultEntry::Danger) => "it is dangerous".to_owned(),
    }
}

pub(super) const fn layer(layer: Layer) -> &'static str {
    match layer {
        Layer::BuiltIn => "built-in",
        Layer::System => "system",
        Layer::User => "user",
        Layer::Project => "project",
        Layer::Session => "session",
    }
}

impl fmt::Display for ExplainedRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} by `{}` ({} layer, {})",
            words::decision(self.decision),
            words::shown(&self.id),
            layer(self.origin.layer),
            self.origin
        )?;
        match &self.why {
            Some(why) => write!(f, ": {}", words::shown(why)),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "command: {}", words::shown(&self.command))?;
        for hidden in &self.hidden {
            writeln!(f, "hidden: {hidden}")?;
        }
        if let Some(opaque) = &self.opaque {
            writeln!(f, "opaque: {}", words::shown(opaque))?;
        }
        for (number, segment) in self.segments.iter().enumerate() {
            write!(f, "{}. ", number.saturating_add(1))?;
            if !segment.joined.is_empty() {
                write!(f, "{} ", segment.joined)?;
            }
            writeln!(f, "{}", segment.command)?;
            segment.lines(f)?;
        }
        writeln!(
            f,
            "rules say: {} ({})",
            words::decision(self.rules_say),
            self.source
        )?;
        writeln!(f, "risk: {}", self.risk.name())?;
        writeln!(f, "decision: {}", self.decision)?;
        match &self.offer {
            Some(prefix) => writeln!(f, "an approval could keep: {}", prefix.join(" ")),
            None => Ok(()),
        }
    }
}

impl ExplainedSegment {
    fn lines(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for step in &self.unwrapped {
            writeln!(f, "     unwrapped: {step}")?;
        }
        for around in &self.around {
            writeln!(f, "     {around}")?;
        }
        writeln!(f, "   {} ({})", words::decision(self.says), self.source)?;
        for rule in &self.rules {
            writeln!(f, "     {rule}")?;
        }
        if let Some(why) = &self.held_back {
            writeln!(f, "     an allow does not hold: {why}")?;
        }
        for danger in &self.dangers {
            writeln!(f, "     dangerous: {}", words::shown(danger))?;
        }
        for grant in &self.grants {
            writeln!(f, "     grants: {grant}")?;
        }
        match &self.near {
            Some((rule, why)) => writeln!(f, "     nearly: {rule}\n       but {why}"),
            None => Ok(()),
        }
    }
}
