//! The `executor` preset: what a person approved runs without a sandbox.
//!
//! A host picks it by name; the default is [`orchestrator`](crate::orchestrator). It has tables of its own, one for
//! shell commands and one for patches. An [`Ask`] is the only thing that an answer can be given to, and it remembers
//! whether a sandbox is required: under [`Require`](SandboxablePreference::Require) even what a person approved runs
//! in the sandbox.
//!
//! The tables know nothing of rules. Whoever picks this preset asks [`decide`](crate::decide()) first, and does not come
//! here with what it forbids.
#![expect(
    clippy::exhaustive_enums,
    reason = "every caller must decide what a new step means to it"
)]

use palisade_policy::{SandboxPolicy, SandboxType};

use crate::decision::approval::{AskForApproval, PromptCategory, ReviewDecision};
use crate::decision::containment::{Containment, SandboxablePreference, WorkingBackend};
use crate::decision::placement::{
    Refusal, SandboxDecision, approves_leaving, confined, may_escalate, refuse_denial,
};
use crate::decision::risk::Risk;

/// What both tables depend on.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "whoever asks must fill in every part"
)]
pub struct Surroundings {
    /// When a person is asked.
    pub approval: AskForApproval,
    /// The sandbox that a person picked.
    pub sandbox: SandboxPolicy,
    /// What the tool wants of the sandbox.
    pub preference: SandboxablePreference,
    /// The sandbox that works on this host, if one does.
    pub backend: Option<WorkingBackend>,
}

/// A shell command, as its table sees it.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "whoever asks must fill in every part"
)]
pub struct ShellCommand {
    /// How risky it looks.
    pub risk: Risk,
    /// Whether a person approved it earlier in this session.
    pub session_approved: bool,
    /// Whether it asks to run without the sandbox. Preference `Forbid` asks the same.
    pub escalation_requested: bool,
}

/// A patch, as its table sees it.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "whoever asks must fill in every part"
)]
pub struct Patch {
    /// Whether a person approved this very patch.
    pub explicitly_approved: bool,
    /// Whether it changes nothing.
    pub is_empty: bool,
    /// Whether the policy lets every path that it changes be written.
    pub every_path_writable: bool,
}

/// What happens next.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a step that nobody looks at protects nothing"]
pub enum Step {
    /// It runs.
    Run(SandboxDecision),
    /// A person has to approve it.
    Ask(Ask),
    /// It does not run.
    Reject(Refusal),
}

/// A question that is waiting for its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a question that nobody asks is a refusal"]
pub struct Ask {
    place: Place,
}

impl Ask {
    /// Where the command runs after this answer.
    ///
    /// # Errors
    /// The answer is no, or a grant for a sandbox that does not work here.
    pub fn answered(self, answer: &ReviewDecision) -> Result<SandboxDecision, Refusal> {
        refuse_denial(answer)?;
        let decision = if approves_leaving(answer) {
            self.place.approved()?
        } else {
            self.place.contained()?
        };
        Ok(SandboxDecision {
            record_session_approval: *answer == ReviewDecision::ApprovedForSession,
            ..decision
        })
    }
}

/// Places a shell command under the `executor` preset.
///
/// ```
/// use palisade_exec_policy::executor::{ShellCommand, Step, Surroundings, shell};
/// use palisade_exec_policy::{AskForApproval, ReviewDecision, Risk, SandboxablePreference, WorkingBackend};
/// use palisade_policy::{SandboxPolicy, SandboxType};
///
/// let surroundings = Surroundings {
///     approval: AskForApproval::UnlessTrusted,
///     sandbox: SandboxPolicy::default(),
///     preference: SandboxablePreference::Auto,
///     backend: WorkingBackend::new(SandboxType::LinuxLandlock),
/// };
/// let unknown = ShellCommand { risk: Risk::Unknown, session_approved: false, escalation_requested: false };
/// let Step::Ask(ask) = shell(&surroundings, &unknown) else { panic!("it asks") };
/// assert_eq!(ask.answered(&ReviewDecision::Approved)?.initial_sandbox, SandboxType::None);
/// # Ok::<(), palisade_exec_policy::Refusal>(())
/// ```
pub fn shell(surroundings: &Surroundings, command: &ShellCommand) -> Step {
    let place = Place::of(surroundings);
    if place.lacks_required_sandbox() {
        return Step::Reject(Refusal::NoWorkingSandbox);
    }
    let escalation_requested =
        command.escalation_requested || surroundings.preference == SandboxablePreference::Forbid;
    if command.session_approved {
        return place.run_approved();
    }
    match command.risk {
        Risk::Dangerous => return place.ask(),
        Risk::KnownSafe => return place.run_contained_or_ask(),
        Risk::Unknown => {}
    }
    match surroundings.approval {
        AskForApproval::UnlessTrusted => place.ask(),
        AskForApproval::OnRequest | AskForApproval::Reject(_) if escalation_requested => {
            place.leave_or_ask()
        }
        AskForApproval::OnFailure
        | AskForApproval::OnRequest
        | AskForApproval::Reject(_)
        | AskForApproval::Never => place.run_contained_or_ask(),
    }
}

/// Places a patch under the `executor` preset.
pub fn patch(surroundings: &Surroundings, patch: &Patch) -> Step {
    let place = Place::of(surroundings);
    if place.lacks_required_sandbox() {
        return Step::Reject(Refusal::NoWorkingSandbox);
    }
    if patch.explicitly_approved {
        return place.run_approved();
    }
    if patch.is_empty {
        return Step::Reject(Refusal::EmptyPatch);
    }
    match surroundings.approval {
        AskForApproval::UnlessTrusted => place.ask(),
        AskForApproval::OnFailure => place.run_contained_or_ask(),
        AskForApproval::OnRequest | AskForApproval::Reject(_) | AskForApproval::Never => {
            if patch.every_path_writable {
                place.run_contained_or_ask()
            } else {
                place.ask()
            }
        }
    }
}

/// The columns of the tables: what there is to run in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    approval: AskForApproval,
    containment: Containment,
    backend: Option<WorkingBackend>,
}

impl Place {
    const fn of(surroundings: &Surroundings) -> Self {
        Self {
            approval: surroundings.approval,
            containment: Containment::of(&surroundings.sandbox, surroundings.preference),
            backend: surroundings.backend,
        }
    }

    fn lacks_required_sandbox(self) -> bool {
        self.containment == Containment::Required && self.backend.is_none()
    }

    /// Asks, if that may be asked.
    const fn ask(self) -> Step {
        if self.approval.rejects_sandbox_prompt() {
            Step::Reject(Refusal::MayNotAsk(PromptCategory::SandboxApproval))
        } else {
            Step::Ask(Ask { place: self })
        }
    }

    /// A request to leave the sandbox: nothing to leave, a question, or a contradiction.
    fn leave_or_ask(self) -> Step {
        match self.containment {
            Containment::NotOurs => self.run_contained_or_ask(),
            Containment::Expected => self.ask(),
            Containment::Required => Step::Reject(Refusal::Contradiction),
        }
    }

    /// Runs in the sandbox, or asks where none works.
    fn run_contained_or_ask(self) -> Step {
        self.contained().map_or_else(|_| self.ask(), Step::Run)
    }

    fn run_approved(self) -> Step {
        self.approved().map_or_else(Step::Reject, Step::Run)
    }

    /// In the sandbox; without one only where none of ours is expected.
    fn contained(self) -> Result<SandboxDecision, Refusal> {
        match self.containment {
            Containment::NotOurs => Ok(self.run(SandboxType::None)),
            Containment::Expected | Containment::Required => {
                confined(self.backend).map(|sandbox| self.run(sandbox))
            }
        }
    }

    /// Without a sandbox, because a person approved it; in it where it is required.
    fn approved(self) -> Result<SandboxDecision, Refusal> {
        match self.containment {
            Containment::NotOurs | Containment::Expected => Ok(self.run(SandboxType::None)),
            Containment::Required => self.contained(),
        }
    }

    fn run(self, initial_sandbox: SandboxType) -> SandboxDecision {
        let offers_retry = match self.approval {
            AskForApproval::UnlessTrusted | AskForApproval::OnFailure => true,
            AskForApproval::Never | AskForApproval::OnRequest | AskForApproval::Reject(_) => false,
        };
        SandboxDecision {
            initial_sandbox,
            escalate_on_failure: offers_retry && may_escalate(initial_sandbox, self.containment),
            record_session_approval: false,
        }
    }
}
