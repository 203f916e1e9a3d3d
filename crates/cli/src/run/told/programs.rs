//! What happens to a run, as events.

use std::ffi::OsString;
use std::path::Path;

use palisade::runner::approve::Prompt;
use palisade::runner::audit::policy_fingerprint;
use palisade::runner::environment::sandbox_name;
use palisade::runner::exec_policy::{
    ApprovalPurpose, ExecApprovalRequirement, PromptCategory, ReviewDecision,
};
use palisade::runner::judge::Judgement;
use palisade::runner::policy::{CanonicalSandboxPolicy, LimitKind, SandboxType};
use palisade::{Error, Evidence, Finished, Outcome, Sandbox};

use crate::events::{Bytes, Ending, Event, Grant, Kept, Loss, Place, Written};
use crate::exit::Code;
use crate::run::code;

pub(super) fn start(argv: &[OsString], cwd: &Path, sandbox: &Sandbox) -> Event {
    let policy = sandbox.policy();
    Event::Start {
        argv: Bytes::words(argv),
        cwd: Bytes::path(cwd),
        workspace: Bytes::path(sandbox.workspace().path().as_path()),
        policy: policy_fingerprint(policy),
        sandbox: match policy.uses_runtime_sandbox() {
            true => THIS_SYSTEM,
            false => sandbox_name(SandboxType::None),
        },
        enforcement: Kept::all(sandbox.enforcement()),
    }
}

/// The sandbox of this system.
const THIS_SYSTEM: &str = sandbox_name(if cfg!(target_os = "macos") {
    SandboxType::MacosSeatbelt
} else if cfg!(windows) {
    SandboxType::WindowsRestrictedToken
} else {
    SandboxType::LinuxLandlock
});

pub(super) fn decision(judgement: &Judgement, rule: Option<Place>) -> Event {
    Event::Decision {
        requirement: match &judgement.requirement {
            ExecApprovalRequirement::Skip { .. } => "allow",
            ExecApprovalRequirement::NeedsApproval { .. } => "ask",
            ExecApprovalRequirement::Forbidden { .. } => "forbid",
        },
        explanation: judgement.explanation.clone(),
        source: judgement.source.clone(),
        rule,
        categories: judgement
            .categories
            .iter()
            .copied()
            .map(PromptCategory::name)
            .collect(),
        grants: judgement.grants.iter().map(Grant::of).collect(),
    }
}

pub(super) fn attempt(number: u64, sandbox: SandboxType, policy: &CanonicalSandboxPolicy) -> Event {
    Event::Attempt {
        number,
        sandbox: sandbox_name(sandbox),
        policy: policy_fingerprint(policy),
    }
}

pub(super) fn question(prompt: &Prompt) -> Event {
    Event::Question {
        command: Bytes::words(&prompt.command),
        cwd: Bytes::path(&prompt.cwd),
        reasons: prompt
            .retry_reason
            .iter()
            .chain(&prompt.reasons)
            .cloned()
            .collect(),
        purpose: match prompt.purpose {
            ApprovalPurpose::Run => "run",
            ApprovalPurpose::RunUnsandboxed => "run-unsandboxed",
        },
        grant: prompt.proposed_grant.as_ref().map(Grant::of),
    }
}

pub(super) fn answer(answer: &ReviewDecision) -> Event {
    let (word, note) = match answer {
        ReviewDecision::Approved => ("approved", None),
        ReviewDecision::ApprovedForSession => ("approved-for-session", None),
        ReviewDecision::ApprovedExecpolicyAmendment { .. } => ("approved-amendment", None),
        ReviewDecision::ApprovedWithGrant { .. } => ("approved-with-grant", None),
        ReviewDecision::Denied => ("denied", None),
        ReviewDecision::DeniedWithNote { note } => ("denied", Some(note.clone())),
        ReviewDecision::Abort => ("abort", None),
    };
    Event::Answer { answer: word, note }
}

pub(super) fn denied(evidence: &Evidence, rerun: &dyn Fn(&palisade::Grant) -> String) -> Event {
    match evidence {
        Evidence::Likely {
            resource,
            clause,
            smallest_grant,
        } => Event::Denied {
            evidence: "likely",
            resource: Some(resource.clone()),
            clause: Some(clause.to_string()),
            grant: smallest_grant.as_ref().map(Grant::of),
            rerun: smallest_grant.as_ref().map(rerun),
        },
        _ => Event::Denied {
            evidence: "system-call",
            resource: None,
            clause: None,
            grant: None,
            rerun: None,
        },
    }
}

pub(super) fn end(finished: &Finished) -> Event {
    let milliseconds =
        |time: std::time::Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let mut ending = Ending {
        exit_code: code::number(&finished.outcome),
        sandbox: sandbox_name(finished.sandbox),
        duration_ms: milliseconds(finished.duration),
        user_ms: milliseconds(finished.usage.user),
        system_ms: milliseconds(finished.usage.system),
        max_rss_kib: finished.usage.max_rss_kib,
        bytes: Written {
            stdout: finished.output.stdout.total(),
            stderr: finished.output.stderr.total(),
        },
        notes: finished.notes.clone(),
        ..Ending::default()
    };
    ending.outcome = match &finished.outcome {
        Outcome::Exited { code } => {
            ending.code = Some(*code);
            "exited"
        }
        Outcome::Signaled { signal } => {
            ending.signal = Some(*signal);
            "signaled"
        }
        Outcome::TimedOut { .. } => "timed-out",
        Outcome::Cancelled => "cancelled",
        Outcome::LimitExceeded { which } => {
            ending.limit = Some(limit(*which));
            "limit-exceeded"
        }
        Outcome::Denied { exit_code, .. } => {
            ending.code = Some(*exit_code);
            "denied"
        }
        Outcome::SetupFailed(failure) => {
            ending.reason = Some(failure.message.clone());
            "setup-failed"
        }
        Outcome::Lost { why } => {
            ending.reason = Some(why.clone());
            "lost"
        }
        // One that is newer than this: how it ended is not known here.
        _ => "lost",
    };
    Event::End(ending)
}

pub(super) fn unusable(error: &Error, code: Code) -> Event {
    let (reason, exit_code) = (error.to_string(), code.number());
    let losses = match error {
        Error::Sandbox(failure) => failure.refused.iter().flat_map(|refusal| &refusal.losses),
        _ => return Event::Failed { reason, exit_code },
    };
    let losses: Vec<Loss> = losses
        .map(|loss| Loss {
            guarantee: loss.guarantee.name(),
            why: loss.why.clone(),
            cure: loss.cure.clone(),
        })
        .collect();
    match losses.is_empty() {
        true => Event::Failed { reason, exit_code },
        false => Event::Refused {
            reason,
            exit_code,
            rule: None,
            losses,
        },
    }
}

const fn limit(which: LimitKind) -> &'static str {
    match which {
        LimitKind::Memory => "memory",
        LimitKind::Pids => "pids",
        LimitKind::Disk => "disk",
        LimitKind::Cpu => "cpu",
        LimitKind::Wall => "wall",
    }
}
