//! May a command run, must somebody be asked, and in which sandbox does it start?
//!
//! A coding agent wants to run a command. What the rules say about it, how risky it looks, when a person wants to be
//! asked, what the command requests and which sandbox works here all have a say in what happens. This crate is the one
//! place where they become an answer: [`decide`](decide()) takes them as values and says whether the command runs, asks
//! or is refused, and why. A second step, [`orchestrator`], takes the person's answer and says in which sandbox the
//! first attempt runs.
//!
//! ```
//! use palisade_exec_policy::{
//!     AskForApproval, Command, Placement, Question, ReviewDecision, Risk, RuleRef, SandboxOverride,
//!     SandboxablePreference, SegmentVerdict, WorkingBackend, decide, orchestrator,
//! };
//! use palisade_policy::{SandboxPermissions, SandboxPolicy, SandboxType};
//!
//! // What the rules say about `git status && git push`.
//! let status = RuleRef::new("git-read", Some("reads history"));
//! let push = RuleRef::new("git-push", Some("pushes to a remote"));
//! let segments = [
//!     SegmentVerdict::Allow { rule: status, unsandboxed: false },
//!     SegmentVerdict::Prompt { rule: push, answered: false, unsandboxed: false },
//! ];
//! let question = Question {
//!     approval: AskForApproval::OnRequest,
//!     sandbox: SandboxPolicy::default(),
//!     preference: SandboxablePreference::Auto,
//!     backend: WorkingBackend::new(SandboxType::LinuxLandlock),
//!     command: Some(Command {
//!         segments: &segments,
//!         risk: Risk::Unknown,
//!         permissions: &SandboxPermissions::UseDefault,
//!         amendment: None,
//!     }),
//! };
//! let decision = decide(&question);
//! assert_eq!(
//!     decision.explain(),
//!     "asks before running (rules), because rule `git-push` asks (pushes to a remote)",
//! );
//!
//! // Somebody says yes. That is an approval to run it, not to run it without the sandbox.
//! let placed = orchestrator(&Placement {
//!     requirement: &decision.requirement,
//!     answer: Some(&ReviewDecision::Approved),
//!     first_attempt: SandboxOverride::NoOverride,
//!     preference: question.preference,
//!     sandbox: question.sandbox,
//!     backend: question.backend,
//!     escalate_on_failure: true,
//!     approval: question.approval,
//! })?;
//! assert_eq!(placed.initial_sandbox, SandboxType::LinuxLandlock);
//! # Ok::<(), palisade_exec_policy::Refusal>(())
//! ```
//!
//! # Terms
//!
//! - **Segment**: one command of a script. A plain command line is one segment, `a && b` is two.
//! - **Verdict**: what the rules say about a segment, a [`SegmentVerdict`].
//! - **Requirement**: what has to happen before something runs, an [`ExecApprovalRequirement`].
//! - **Category**: the kind of a question, a [`PromptCategory`]. An approval policy can refuse one kind and ask another.
//! - **Purpose**: what an approval allows, an [`ApprovalPurpose`]. Approving a run never approves an unsandboxed run.
//! - **Contained**: a sandbox of ours is expected around the command, because the mode uses one or the tool requires
//!   one.
//! - **Escalation**: a request to leave that sandbox, of the command, the host program or the tool.
//! - **Placement**: the sandbox of the first attempt, and whether a denial may be offered again.
//! - **Preset**: a way to place. [`orchestrator`] is the default; [`executor`] is picked by name.
//!
//! # From a command line to a decision
//!
//! ```
//! use palisade_exec_policy::language::{Layer, Source};
//! use palisade_exec_policy::matching::{CommandFacts, PlaceFacts};
//! use palisade_exec_policy::{AskForApproval, Command, Question, Rules, SandboxablePreference, WorkingBackend, decide};
//! use palisade_policy::{AbsolutePath, HostFacts, Os, SandboxPermissions, SandboxPolicy, SandboxType};
//! use palisade_shell_analysis::{Limits, Shell, analyze_script};
//!
//! let mine = r#"
//! version = 1
//! [[rule]]
//! id = "no-release"
//! prefix = ["cargo", "publish"]
//! decision = "forbid"
//! why = "Releases are made by people"
//! match = ["cargo publish --dry-run"]
//! "#;
//! # if cfg!(unix) {
//! let host = HostFacts::new(Os::Linux).with_home(AbsolutePath::new("/home/dev")?);
//! let place = PlaceFacts::new(&AbsolutePath::new("/srv/app")?, &host);
//! let rules = Rules::with_builtin([Source::new(Layer::User, "rules.toml", mine)], &place)?;
//!
//! let ask = |script: &str| {
//!     let analysis = analyze_script(script, Shell::Bash, &Limits::default());
//!     let evaluation = rules.evaluate(&analysis, &CommandFacts::new(&place));
//!     let segments = evaluation.verdicts();
//!     let question = Question {
//!         approval: AskForApproval::OnRequest,
//!         sandbox: SandboxPolicy::default(),
//!         preference: SandboxablePreference::Auto,
//!         backend: WorkingBackend::new(SandboxType::LinuxLandlock),
//!         command: Some(Command {
//!             segments: &segments,
//!             risk: evaluation.risk(),
//!             permissions: &SandboxPermissions::UseDefault,
//!             amendment: None,
//!         }),
//!     };
//!     decide(&question).explain()
//! };
//! assert!(ask("cargo test 2>&1 | tail -40").starts_with("runs"));
//! assert!(ask("timeout 60 cargo publish").starts_with("refuses to run"));
//! assert!(ask("echo $(cargo publish)").starts_with("refuses to run"), "also where nobody can read the whole script");
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Folders
//!
//! - [`decision`]: the one decision, placement, and the matrix of both.
//! - [`language`]: policy files (TOML), layers, trust, floor, presets.
//! - [`matching`]: rules and an analysed command to verdicts, risk and grants; the built-in rules.
//! - [`approvals`]: what people agreed to keep.
//! - [`authoring`]: explain, test, lint, diff, matrix, report, suggest.
//! - [`import`]: rules and settings of other tools.
//!
//! [`Rules`] is the door: it loads, compiles and holds a policy to its own examples.
//!
//! # The matrix
//!
//! [`matrix`] enumerates every combination of the finite inputs. The laws of this crate are tested on all of them, and
//! `docs/decision-matrix.md` is the table that they merge into.
//!
//! # Non-goals
//!
//! - Reading files, the environment or the clock, asking a person, or running anything: facts and answers arrive as
//!   values.
//! - Remembering approvals. Whether a stored approval answers a rule is part of the verdict; session approvals are
//!   looked up by the runner, after the decision.
//! - Saying what a command may touch while it runs. That is [`palisade_policy`].
#![forbid(unsafe_code)]

pub mod approvals;
pub mod authoring;
pub mod decision;
pub mod import;
pub mod language;
pub mod matching;
mod rules;

pub use decision::{
    AmendmentError, ApprovalPurpose, AskForApproval, Command, Decision, DefaultEntry, Escalation,
    ExecApprovalRequirement, ExecPolicyAmendment, GrantScope, Placement, PromptCategory, Question,
    Reason, Reasons, Refusal, RejectConfig, ReviewDecision, Risk, RuleDecision, RuleRef,
    SandboxDecision, SandboxOverride, SandboxablePreference, SegmentVerdict, UnknownApprovalPolicy,
    VerdictSource, WorkingBackend, decide, default_exec_approval_requirement, executor, matrix,
    orchestrator, should_bypass_approval, wants_no_sandbox_approval,
};
pub use rules::{Rules, RulesError};
