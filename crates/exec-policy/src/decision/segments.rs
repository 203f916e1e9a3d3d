//! What the verdicts of all segments come to.
//!
//! No segment at all is never "every segment": an empty list satisfies nothing here.

use crate::decision::verdict::{RuleRef, SegmentVerdict, VerdictSource};

/// Where the first verdict comes from that forbids a segment.
pub(crate) fn forbidden_by<'a>(segments: &[SegmentVerdict<'a>]) -> Option<VerdictSource<'a>> {
    segments
        .iter()
        .find(|segment| {
            matches!(
                segment,
                SegmentVerdict::Forbid { .. } | SegmentVerdict::ForbidByDefault { .. }
            )
        })
        .map(SegmentVerdict::source)
}

/// The rule of the first segment, if a rule allows every one.
pub(crate) fn every_allow<'a>(segments: &[SegmentVerdict<'a>]) -> Option<RuleRef<'a>> {
    let allows = |segment: &SegmentVerdict<'_>| matches!(segment, SegmentVerdict::Allow { .. });
    first_rule_if(segments, allows)
}

/// The rule of the first segment, if a rule allows every one and lets it leave the sandbox.
pub(crate) fn every_allow_unsandboxed<'a>(segments: &[SegmentVerdict<'a>]) -> Option<RuleRef<'a>> {
    first_rule_if(segments, |segment| {
        matches!(
            segment,
            SegmentVerdict::Allow {
                unsandboxed: true,
                ..
            }
        )
    })
}

/// Whether every segment has a rule that says `unsandboxed`, whether it allows or asks.
pub(crate) fn every_rule_unsandboxed(segments: &[SegmentVerdict<'_>]) -> bool {
    first_rule_if(segments, |segment| match segment {
        SegmentVerdict::Allow { unsandboxed, .. } | SegmentVerdict::Prompt { unsandboxed, .. } => {
            *unsandboxed
        }
        SegmentVerdict::PromptByDefault { .. }
        | SegmentVerdict::Forbid { .. }
        | SegmentVerdict::ForbidByDefault { .. }
        | SegmentVerdict::Unmatched
        | SegmentVerdict::Opaque { .. } => false,
    })
    .is_some()
}

/// Whether the whole command could be read.
pub(crate) fn is_plain(segments: &[SegmentVerdict<'_>]) -> bool {
    !segments.is_empty() && !segments.iter().any(SegmentVerdict::is_opaque)
}

/// Whether a rule asks about a segment, answered or not.
pub(crate) fn any_rule_prompt(segments: &[SegmentVerdict<'_>]) -> bool {
    segments
        .iter()
        .any(|segment| matches!(segment, SegmentVerdict::Prompt { .. }))
}

fn first_rule_if<'a>(
    segments: &[SegmentVerdict<'a>],
    holds: impl Fn(&SegmentVerdict<'a>) -> bool,
) -> Option<RuleRef<'a>> {
    let first = segments.first().filter(|_| segments.iter().all(&holds))?;
    match first.source() {
        VerdictSource::Rule(rule) => Some(rule),
        VerdictSource::Default(_) => None,
    }
}
