//! What happens to a run, as `docs/events.schema.json` describes it.

use std::collections::BTreeMap;

use palisade::runner::evidence::grant_words;
use palisade::runner::policy::{Enforcement, Guarantee, Level};
use serde::Serialize;

use super::bytes::Bytes;

/// Something that happened.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub(crate) enum Event {
    /// The sandbox holds; the command is judged next.
    Start {
        /// The command as it is judged and run.
        argv: Vec<Bytes>,
        cwd: Bytes,
        workspace: Bytes,
        /// The fingerprint of the policy, as records have it.
        #[serde(skip_serializing_if = "Option::is_none")]
        policy: Option<String>,
        sandbox: &'static str,
        enforcement: BTreeMap<&'static str, Kept>,
    },
    /// The rules and the approval policy have spoken.
    Decision {
        /// `allow`, `ask` or `forbid`.
        requirement: &'static str,
        /// Why, as one sentence.
        explanation: String,
        /// The id of a rule, or `unmatched`, `opaque`, `danger`.
        source: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        rule: Option<Place>,
        /// What would be asked, by kind.
        categories: Vec<&'static str>,
        /// What its rules add to the sandbox.
        grants: Vec<Grant>,
    },
    /// Somebody is asked.
    Question {
        command: Vec<Bytes>,
        cwd: Bytes,
        reasons: Vec<String>,
        /// `run` or `run-unsandboxed`.
        purpose: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        grant: Option<Grant>,
    },
    /// And answered.
    Answer {
        answer: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// It is about to be started.
    Attempt {
        /// From 1.
        number: u64,
        sandbox: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        policy: Option<String>,
    },
    /// The sandbox is why it failed; one for each thing that says so.
    Denied {
        /// `system-call` or `likely`.
        evidence: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        resource: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        clause: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        grant: Option<Grant>,
        /// The line of a shell that runs it again with that grant.
        #[serde(skip_serializing_if = "Option::is_none")]
        rerun: Option<String>,
    },
    /// The run is over. The last line.
    End(Ending),
    /// The rules or a person refused, or this machine cannot keep the policy. The last line; nothing ran.
    Refused {
        reason: String,
        exit_code: u8,
        #[serde(skip_serializing_if = "Option::is_none")]
        rule: Option<Place>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        losses: Vec<Loss>,
    },
    /// Something else went wrong. The last line; nothing ran.
    Failed { reason: String, exit_code: u8 },
}

impl Event {
    /// Whether nothing comes after it.
    pub(super) const fn is_last(&self) -> bool {
        matches!(
            self,
            Self::End(_) | Self::Refused { .. } | Self::Failed { .. }
        )
    }
}

/// How a run ended.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Ending {
    /// `exited`, `signaled`, `timed-out`, `cancelled`, `limit-exceeded`, `denied`, `setup-failed` or `lost`.
    pub(crate) outcome: &'static str,
    /// What this program exits with.
    pub(crate) exit_code: u8,
    /// What the command itself ended with, where it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) code: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) signal: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) limit: Option<&'static str>,
    /// Why, where it was not started or was lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    /// The sandbox of the last attempt.
    pub(crate) sandbox: &'static str,
    pub(crate) duration_ms: u64,
    pub(crate) user_ms: u64,
    pub(crate) system_ms: u64,
    pub(crate) max_rss_kib: u64,
    pub(crate) bytes: Written,
    pub(crate) notes: Vec<String>,
}

/// How much of its output went through this program. A stream that was handed over counts as 0.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Written {
    pub(crate) stdout: u64,
    pub(crate) stderr: u64,
}

/// How a guarantee is kept.
#[derive(Debug, Serialize)]
pub(crate) struct Kept {
    level: &'static str,
    mechanism: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

impl Kept {
    /// Every guarantee that the sandbox said anything about.
    pub(crate) fn all(enforcement: &Enforcement) -> BTreeMap<&'static str, Self> {
        Guarantee::ALL
            .into_iter()
            .filter_map(|guarantee| {
                let measure = enforcement.measure(guarantee)?;
                let kept = Self {
                    level: match measure.level {
                        Level::Enforced => "enforced",
                        Level::DetectedOnly => "detected-only",
                        Level::NotEnforced => "not-enforced",
                    },
                    mechanism: measure.mechanism.clone(),
                    why: measure.why.clone(),
                };
                Some((guarantee.name(), kept))
            })
            .collect()
    }
}

/// A rule, and where it stands.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Place {
    pub(crate) id: String,
    pub(crate) file: String,
    pub(crate) line: usize,
}

/// A grant: in words, and as options of `palisade run`.
#[derive(Debug, Serialize)]
pub(crate) struct Grant {
    text: String,
    options: Vec<Bytes>,
}

impl Grant {
    pub(crate) fn of(grant: &palisade::Grant) -> Self {
        Self {
            text: grant.to_string(),
            options: Bytes::words(&grant_words(grant)),
        }
    }
}

/// A guarantee that this machine cannot keep.
#[derive(Debug, Serialize)]
pub(crate) struct Loss {
    pub(crate) guarantee: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) why: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cure: Option<String>,
}
