//! Everything that the decision depends on, as values.

use palisade_policy::{SandboxPermissions, SandboxPolicy};

use crate::decision::amendment::ExecPolicyAmendment;
use crate::decision::approval::AskForApproval;
use crate::decision::containment::{SandboxablePreference, WorkingBackend};
use crate::decision::risk::Risk;
use crate::decision::verdict::SegmentVerdict;

/// May this run? Everything that the answer depends on.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "whoever asks must fill in every part"
)]
pub struct Question<'a> {
    /// When a person is asked.
    pub approval: AskForApproval,
    /// The sandbox that a person picked.
    pub sandbox: SandboxPolicy,
    /// What the tool wants of the sandbox.
    pub preference: SandboxablePreference,
    /// The sandbox that works on this host, if one does.
    pub backend: Option<WorkingBackend>,
    /// The command; `None` for a tool that runs none.
    pub command: Option<Command<'a>>,
}

/// A command, as the decision sees it.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "whoever asks must fill in every part"
)]
pub struct Command<'a> {
    /// What the rules say about each segment. No segment at all means that nothing could be read: an empty list is
    /// judged like an opaque one, never like one of which every part is allowed.
    pub segments: &'a [SegmentVerdict<'a>],
    /// How risky it looks. An opaque command is never known to be safe, whatever this says.
    pub risk: Risk,
    /// What it asks for beyond the policy.
    pub permissions: &'a SandboxPermissions,
    /// The prefix that would make the rules allow the whole command, if there is one that may be offered.
    pub amendment: Option<&'a ExecPolicyAmendment>,
}
