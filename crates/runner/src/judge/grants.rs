//! What the rules of a command add to its sandbox.

use palisade_exec_policy::language::{Anchors, LoadedPolicy, PolicyErrors};
use palisade_exec_policy::matching::{Evaluation, Segment, SegmentPlace};
use palisade_exec_policy::{RuleDecision, SegmentVerdict};
use palisade_policy::{Grant, ResourceLimits};
use palisade_shell_analysis::Analysis;

/// What the sandbox of the whole command grants: only what the rules grant to **each** of its parts.
///
/// The parts of a script share one sandbox, so what one part is granted would be open to all. Parts that only read, such
/// as `cd`, are left out of account: they could not use it.
///
/// # Errors
/// A path of a rule is below a home that nobody knows.
pub(super) fn of_rules(
    evaluation: &Evaluation<'_>,
    analysis: &Analysis,
    policy: &LoadedPolicy,
    anchors: &Anchors<'_>,
) -> Result<Vec<Grant>, PolicyErrors> {
    let mut common: Option<Vec<Grant>> = None;
    for segment in evaluation.segments() {
        if only_reads(segment) || changes_directory(segment, analysis) {
            continue;
        }
        let own = of_segment(segment, policy, anchors)?;
        common = Some(match common {
            None => own,
            Some(before) => before
                .into_iter()
                .filter(|grant| own.contains(grant))
                .collect(),
        });
    }
    Ok(common.unwrap_or_default())
}

fn of_segment(
    segment: &Segment<'_>,
    policy: &LoadedPolicy,
    anchors: &Anchors<'_>,
) -> Result<Vec<Grant>, PolicyErrors> {
    let decision = match segment.verdict() {
        SegmentVerdict::Allow { .. } => RuleDecision::Allow,
        SegmentVerdict::Prompt { .. } => RuleDecision::Prompt,
        _ => return Ok(Vec::new()),
    };
    let mut grants: Vec<Grant> = Vec::new();
    for found in segment.matches() {
        if found.decision != decision {
            continue;
        }
        let rule = policy.rules().iter().find(|one| one.id == found.rule.id());
        for grant in rule
            .map(|rule| policy.grants_for(rule, anchors))
            .transpose()?
            .unwrap_or_default()
        {
            if !grants.contains(&grant) {
                grants.push(grant);
            }
        }
    }
    Ok(grants)
}

fn only_reads(segment: &Segment<'_>) -> bool {
    matches!(segment.verdict(), SegmentVerdict::Allow { .. })
        && segment.matches().iter().all(|found| found.rule.is_reader())
}

/// The shell does that by itself: there is no program that could use a grant.
fn changes_directory(segment: &Segment<'_>, analysis: &Analysis) -> bool {
    let (SegmentPlace::Command(index), Ok(plain)) = (segment.place(), &analysis.plain) else {
        return false;
    };
    let program = plain
        .commands
        .get(index)
        .and_then(|command| command.words.first())
        .and_then(|word| word.literal());
    matches!(segment.verdict(), SegmentVerdict::Allow { .. }) && program == Some(b"cd".as_slice())
}

/// The limits that the rules of the command set, the lowest of each; `None` if none of them sets any.
pub(super) fn limits(evaluation: &Evaluation<'_>, policy: &LoadedPolicy) -> Option<ResourceLimits> {
    let mut lowest: Option<ResourceLimits> = None;
    let matches = evaluation.segments().iter().flat_map(Segment::matches);
    for found in matches {
        let rule = policy.rules().iter().find(|one| one.id == found.rule.id());
        let Some(rule) = rule.filter(|rule| rule.sandbox.limits.is_some()) else {
            continue;
        };
        let own = policy.limits_for(rule);
        lowest = Some(lowest.map_or(own, |before| lower(&before, &own)));
    }
    lowest
}

/// The lower of each; 0 is unlimited.
pub(crate) fn lower(left: &ResourceLimits, right: &ResourceLimits) -> ResourceLimits {
    fn least<T: Ord + From<u8> + Copy>(left: T, right: T) -> T {
        let unlimited = T::from(0);
        match (left == unlimited, right == unlimited) {
            (true, _) => right,
            (_, true) => left,
            _ => left.min(right),
        }
    }
    left.with_timeout_secs(least(left.timeout_secs, right.timeout_secs))
        .with_cpu_secs(least(left.cpu_time_secs, right.cpu_time_secs))
        .with_memory_mb(least(left.max_memory_mb, right.max_memory_mb))
        .with_disk_mb(least(left.max_disk_mb, right.max_disk_mb))
        .with_pids(least(left.max_pids, right.max_pids))
}
