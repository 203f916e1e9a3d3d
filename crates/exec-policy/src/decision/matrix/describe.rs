//! Sets of inputs in words.

use palisade_policy::SandboxMode;

use super::cases::{Request, VerdictKind, approvals};
use super::merge::{bit, members, merge};
use super::outcome::Outcome;
use crate::decision::approval::{AskForApproval, PromptCategory, RejectConfig};

/// The kinds of verdict that the page names together, what it calls them, and what that means.
pub(super) const GROUPS: [(&str, &str, &[VerdictKind]); 8] = [
    (
        "let out",
        "every segment is allowed by a rule that says `unsandboxed`",
        &[VerdictKind::AllowUnsandboxed],
    ),
    (
        "allowed",
        "every segment is allowed by a rule, and not every rule says `unsandboxed`",
        &[VerdictKind::Allow, VerdictKind::AllowAndAllowUnsandboxed],
    ),
    (
        "answered, unsandboxed",
        "a rule that says `unsandboxed` asks, and a stored approval answers",
        &[VerdictKind::AnsweredUnsandboxed],
    ),
    (
        "unmatched",
        "a segment that no rule matches, or about which a rule asks and a stored approval answers; others may be allowed",
        &[
            VerdictKind::Answered,
            VerdictKind::Unmatched,
            VerdictKind::AllowAndUnmatched,
            VerdictKind::AllowUnsandboxedAndUnmatched,
        ],
    ),
    (
        "opaque",
        "a segment that cannot be read with certainty, or nothing that could be read at all",
        &[VerdictKind::Opaque, VerdictKind::Nothing],
    ),
    (
        "prompt, unsandboxed",
        "a rule asks, and the rules of every segment say `unsandboxed`",
        &[
            VerdictKind::PromptUnsandboxed,
            VerdictKind::AllowUnsandboxedAndPromptUnsandboxed,
        ],
    ),
    (
        "prompt",
        "a rule asks, or a default that the policy's author wrote; others may be allowed",
        &[
            VerdictKind::Prompt,
            VerdictKind::PromptByDefault,
            VerdictKind::AllowAndPrompt,
        ],
    ),
    (
        "forbidden",
        "a rule forbids a segment; others may be allowed",
        &[VerdictKind::Forbid, VerdictKind::AllowUnsandboxedAndForbid],
    ),
];

/// Kinds of verdict, by the names of their groups where a whole group is there.
pub(super) fn verdicts(kinds: &[VerdictKind]) -> String {
    let whole = |group: &[VerdictKind]| group.iter().all(|kind| kinds.contains(kind));
    let groups: Vec<&str> = GROUPS
        .iter()
        .filter(|(_, _, group)| whole(group))
        .map(|(name, _, _)| *name)
        .collect();
    let alone = kinds.iter().filter(|kind| {
        !GROUPS
            .iter()
            .any(|(_, _, group)| group.contains(kind) && whole(group))
    });
    let mut names: Vec<String> = alone.map(|kind| format!("{kind:?}")).collect();
    if names.is_empty() {
        return names_of(&groups, &GROUPS.map(|(name, _, _)| name));
    }
    names.extend(groups.into_iter().map(str::to_owned));
    names.join("; ")
}

/// Names, or how they differ from all there are, whichever is shorter.
pub(super) fn names_of(names: &[&str], all: &[&str]) -> String {
    let others: Vec<&str> = all
        .iter()
        .copied()
        .filter(|name| !names.contains(name))
        .collect();
    match others.as_slice() {
        [] => "any".to_owned(),
        [other] if names.len() > 2 => format!("any but {other}"),
        [one, other] if names.len() > 4 => format!("any but {one}; {other}"),
        _ => names.join("; "),
    }
}

pub(super) const fn mode(mode: SandboxMode) -> &'static str {
    mode.name()
}

pub(super) const fn request(request: Request) -> &'static str {
    match request {
        Request::Nothing => "nothing",
        Request::Permissions => "permissions",
        Request::Escalation => "escalation",
        Request::Bypass => "bypass",
    }
}

pub(super) fn outcome(outcome: Outcome) -> String {
    match outcome {
        Outcome::Skip => "**runs**".to_owned(),
        Outcome::SkipBypass => "**runs unsandboxed**".to_owned(),
        Outcome::AskRun => "asks: run".to_owned(),
        Outcome::AskUnsandboxed => "asks: run unsandboxed".to_owned(),
        Outcome::ForbiddenByRule => "forbidden: rule".to_owned(),
        Outcome::ForbiddenRequired => "forbidden: sandbox required".to_owned(),
        Outcome::ForbiddenCategory(category) => format!("forbidden: {}", category.name()),
    }
}

/// Approval policies: the simple ones by name, the rejecting ones by what their flags have in common.
pub(super) fn approval_set(policies: &[AskForApproval]) -> String {
    let missing: Vec<AskForApproval> = approvals()
        .filter(|policy| !policies.contains(policy))
        .collect();
    let is_simple = |policy: &AskForApproval| !matches!(policy, AskForApproval::Reject(_));
    if missing.is_empty() {
        return "any".to_owned();
    }
    if missing.len() <= 2 && missing.iter().all(is_simple) {
        return format!("any but {}", simple_names(&missing).join("; "));
    }
    let mut parts: Vec<String> = Vec::new();
    parts.extend(simple_names(policies).into_iter().map(str::to_owned));
    parts.extend(rejecting(policies));
    parts.join("; ")
}

fn simple_names(policies: &[AskForApproval]) -> Vec<&'static str> {
    AskForApproval::SIMPLE
        .into_iter()
        .filter(|policy| policies.contains(policy))
        .map(AskForApproval::name)
        .collect()
}

/// What the rejecting policies among these have in common, as few descriptions as merging gives.
fn rejecting(policies: &[AskForApproval]) -> Vec<String> {
    let flags = [false, true];
    let configs = policies.iter().filter_map(|policy| match policy {
        AskForApproval::Reject(config) => Some(config),
        AskForApproval::Never
        | AskForApproval::OnRequest
        | AskForApproval::UnlessTrusted
        | AskForApproval::OnFailure => None,
    });
    let boxes = configs.map(|config: &RejectConfig| {
        let sets = PromptCategory::ALL.map(|category| bit(flags, config.rejects(category)));
        (sets, ())
    });
    let merged = merge(boxes.collect(), [3, 2, 1, 0]).into_iter();
    merged
        .map(|(sets, ())| {
            let fixed = PromptCategory::ALL.into_iter().zip(sets);
            let words = fixed.filter_map(|(category, set)| match members(flags, set).as_slice() {
                [true] => Some(category.name().to_owned()),
                [false] => Some(format!("no {}", category.name())),
                _ => None,
            });
            let words: Vec<String> = words.collect();
            if words.is_empty() {
                "reject".to_owned()
            } else {
                format!("reject({})", words.join(", "))
            }
        })
        .collect()
}
