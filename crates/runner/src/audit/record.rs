//! One record, and who takes it.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use palisade_egress_proxy::{Approval, ConnectionRecord, Decision};
use palisade_policy::{CanonicalSandboxPolicy, Grant, SandboxType};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::redact;
use super::time::Timestamp;
use crate::environment::sandbox_name;
use crate::outcome::{Evidence, Finished, Outcome};

/// The version of the form of records. Fields are only added; a reader skips those that it does not know.
pub const RECORD_VERSION: u32 = 1;

/// Who keeps records.
///
/// A sink never fails a run: it keeps what it can, reports once through `tracing` that it cannot, and counts.
pub trait AuditSink: Send + Sync {
    /// Keeps a record, or counts it as lost.
    fn record(&self, record: &AuditRecord);

    /// How many records were lost so far.
    fn lost(&self) -> u64 {
        0
    }

    /// The file that records are kept in, if it is one: no command may be able to write it. A session refuses to start, or
    /// to be given more, where one could.
    fn path(&self) -> Option<&Path> {
        None
    }
}

/// What the rules made of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(clippy::exhaustive_enums, reason = "the three words of a decision")]
pub enum DecisionWord {
    /// It may run.
    Allow,
    /// Somebody is asked.
    Ask,
    /// It must not run.
    Forbid,
}

/// Who gave an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum AnswerSource {
    /// Configuration: a rule, a kept approval, the approval policy.
    Config,
    /// A person.
    User,
}

/// What says that the sandbox is why a command failed, in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
#[non_exhaustive]
pub enum EvidenceRecord {
    /// The filter of system calls.
    SystemCall,
    /// A resource that the policy denies.
    Likely {
        /// What it wanted.
        resource: String,
        /// The clause that denies it.
        clause: String,
        /// The smallest grant that would allow it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        grant: Option<Grant>,
    },
}

impl From<&Evidence> for EvidenceRecord {
    fn from(evidence: &Evidence) -> Self {
        match evidence {
            Evidence::SystemCall => Self::SystemCall,
            Evidence::Likely {
                resource,
                clause,
                smallest_grant,
            } => Self::Likely {
                resource: redact::text(resource),
                clause: clause.to_string(),
                grant: smallest_grant.clone(),
            },
        }
    }
}

/// One connection of a command to a host, through the proxy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ConnectionAudit {
    /// The host as it was asked for, if that far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The port, likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// The address that was connected to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// What the client spoke: `connect`, `http`, `socks5` or `unknown`.
    pub spoken: String,
    /// Bytes from the command to the host.
    pub sent: u64,
    /// Bytes from the host to the command.
    pub received: u64,
    /// Whether a secret was added that the command does not know.
    #[serde(default)]
    pub credential: bool,
    /// The calls that may have made it, where it is not known which. It may be none of them: something that an earlier call
    /// left running can have made it as well.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub perhaps_by: Vec<String>,
}

/// One call: what was asked, what was decided, and how it ended. Secrets are not in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AuditRecord {
    /// [`RECORD_VERSION`] of whoever wrote it.
    pub v: u32,
    /// When the call was made.
    pub time: Timestamp,
    /// Which call.
    pub call_id: String,
    /// The tool that made it, such as `shell` or `apply-patch`.
    pub tool: String,
    /// The command, redacted and bounded. For people: what is not Unicode is escaped.
    pub argv: Vec<String>,
    /// Where it ran.
    pub cwd: String,
    /// What the rules said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<DecisionWord>,
    /// The rule that said so, or what spoke in its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The answer, if somebody was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// Who gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer_source: Option<AnswerSource>,
    /// The sandbox, as in `PALISADE_SANDBOX`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<String>,
    /// [`policy_fingerprint`] of what was enforced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
    /// How it ended: `exited`, `signaled`, `timed-out`, `cancelled`, `limit-exceeded`, `denied`, `setup-failed`,
    /// `lost`; `refused` if it never ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// What a shell would say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// How many bytes it wrote.
    #[serde(default)]
    pub bytes_out: u64,
    /// How long it ran.
    #[serde(default)]
    pub duration_ms: u64,
    /// What it was granted beyond the policy.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub grants: Vec<Grant>,
    /// What says that the sandbox is why it failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<EvidenceRecord>,
    /// What became of trying again after a denial: `declined`, `narrower` or `unsandboxed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub escalation: Option<String>,
    /// Why it did not run, or was not let through, where the outcome is `refused`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
    /// The connection that this is about, where it is about none of a command's runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection: Option<ConnectionAudit>,
}

impl AuditRecord {
    /// A call of a tool, at a time. The caller has the clock.
    pub fn new(time: Timestamp, call_id: impl Into<String>, tool: impl Into<String>) -> Self {
        Self {
            v: RECORD_VERSION,
            time,
            call_id: call_id.into(),
            tool: tool.into(),
            argv: Vec::new(),
            cwd: String::new(),
            decision: None,
            rule: None,
            answer: None,
            answer_source: None,
            sandbox: None,
            policy: None,
            outcome: None,
            exit_code: None,
            bytes_out: 0,
            duration_ms: 0,
            grants: Vec::new(),
            evidence: Vec::new(),
            escalation: None,
            refusal: None,
            connection: None,
        }
    }

    /// With a command and its directory; secrets are taken out here.
    #[must_use]
    pub fn with_command(mut self, argv: &[OsString], cwd: &Path) -> Self {
        self.argv = redact::bounded(redact::argv(argv));
        self.cwd = redact::text(&redact::readable(cwd.as_os_str()));
        self
    }

    /// With what the rules said.
    #[must_use]
    pub fn with_decision(mut self, decision: DecisionWord, rule: Option<&str>) -> Self {
        self.decision = Some(decision);
        self.rule = rule.map(redact::text);
        self
    }

    /// With the answer to a question.
    #[must_use]
    pub fn with_answer(mut self, answer: &str, source: AnswerSource) -> Self {
        self.answer = Some(redact::text(answer));
        self.answer_source = Some(source);
        self
    }

    /// With what was enforced, by what.
    #[must_use]
    pub fn with_policy(mut self, sandbox: SandboxType, policy: &CanonicalSandboxPolicy) -> Self {
        self.sandbox = Some(sandbox_name(sandbox).to_owned());
        self.policy = policy_fingerprint(policy);
        self
    }

    /// With how it ended.
    #[must_use]
    pub fn with_outcome(mut self, outcome: &Outcome, bytes_out: u64, duration: Duration) -> Self {
        self.outcome = Some(outcome_name(outcome).to_owned());
        self.exit_code = Some(outcome.exit_code());
        self.bytes_out = bytes_out;
        self.duration_ms = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        if let Outcome::Denied { evidence, .. } = outcome {
            self.evidence = evidence.iter().map(EvidenceRecord::from).collect();
        }
        self
    }

    /// It did not run: the rules or a person refused, or nothing could be decided.
    #[must_use]
    pub fn with_refusal(mut self, why: &str) -> Self {
        self.outcome = Some("refused".to_owned());
        self.refusal = Some(redact::text(why));
        self
    }

    /// With a connection through the proxy: what was asked for, what was decided and by what, and how it ended.
    #[must_use]
    pub fn with_connection(mut self, connection: &ConnectionRecord) -> Self {
        let (decision, rule) = match &connection.decision {
            Decision::Listed { entry } => (Some(DecisionWord::Allow), Some(entry.clone())),
            Decision::Approved { approval } => {
                let answer = match approval {
                    Approval::Once => "approved",
                    Approval::Session => "approved-for-session",
                    Approval::Project => "approved-with-grant",
                };
                self = self.with_answer(answer, AnswerSource::User);
                (Some(DecisionWord::Ask), None)
            }
            Decision::Refused { why } => {
                self = self.with_refusal(&why.to_string());
                (Some(DecisionWord::Forbid), None)
            }
            _ => (None, None),
        };
        self.decision = decision;
        self.rule = rule;
        self.outcome
            .get_or_insert_with(|| connection.ending.to_string());
        self.bytes_out = connection.sent;
        self.duration_ms = u64::try_from(connection.duration.as_millis()).unwrap_or(u64::MAX);
        self.connection = Some(ConnectionAudit {
            host: connection.host.as_deref().map(redact::text),
            port: connection.port,
            address: connection.address.map(|address| address.to_string()),
            spoken: connection.spoken.to_string(),
            sent: connection.sent,
            received: connection.received,
            credential: connection.credential,
            perhaps_by: Vec::new(),
        });
        self
    }

    /// With the calls that may have made its connection, where that is not known for sure.
    #[must_use]
    pub fn perhaps_by(mut self, calls: Vec<String>) -> Self {
        if let Some(connection) = &mut self.connection {
            connection.perhaps_by = calls;
        }
        self
    }

    /// With everything that a run reported.
    #[must_use]
    pub fn with_finished(self, finished: &Finished) -> Self {
        let written = |stream: &crate::capture::Captured| {
            let kept = stream.head.len().saturating_add(stream.tail.len());
            u64::try_from(kept)
                .unwrap_or(u64::MAX)
                .saturating_add(stream.omitted)
        };
        let bytes = written(&finished.output.stdout) + written(&finished.output.stderr);
        let mut record = self.with_outcome(&finished.outcome, bytes, finished.duration);
        record.sandbox = Some(sandbox_name(finished.sandbox).to_owned());
        record
    }

    /// With what was granted beyond the policy, and why it ran again.
    #[must_use]
    pub fn with_escalation(mut self, escalation: &str, grants: &[Grant]) -> Self {
        self.escalation = Some(redact::text(escalation));
        self.grants.extend_from_slice(grants);
        self
    }

    /// With what was granted beyond the policy from the beginning.
    #[must_use]
    pub fn with_grants(mut self, grants: &[Grant]) -> Self {
        self.grants = grants.to_vec();
        self
    }
}

/// The name of an outcome in records and traces. It stays the same.
pub(super) const fn outcome_name(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Exited { .. } => "exited",
        Outcome::Signaled { .. } => "signaled",
        Outcome::TimedOut { .. } => "timed-out",
        Outcome::Cancelled => "cancelled",
        Outcome::LimitExceeded { .. } => "limit-exceeded",
        Outcome::Denied { .. } => "denied",
        Outcome::SetupFailed(_) => "setup-failed",
        Outcome::Lost { .. } => "lost",
    }
}

/// What tells two policies apart: the SHA-256 of the canonical form, shortened to 16 hexadecimal digits. `None` for a
/// policy that has no JSON form.
#[must_use]
pub fn policy_fingerprint(policy: &CanonicalSandboxPolicy) -> Option<String> {
    use std::fmt::Write as _;
    let json = serde_json::to_vec(policy).ok()?;
    let digest = Sha256::digest(&json);
    Some(digest.iter().take(8).fold(String::new(), |mut hex, byte| {
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    }))
}
