//! What people agreed to: which prefixes may be kept with an approval, and the file that keeps them.
//!
//! An answer can be kept for the next time. [`propose`] finds the prefix to keep, [`may_offer`] refuses those that
//! would grant everything, [`offer`] does both for an
//! evaluated command, [`edit_for`] says what to store, and [`apply`] edits the text of the user's approvals file.
//! [`StoredApprovals`] reads that file back: it answers the question of the rule it names and nothing else, and lists
//! the allow rules that stand for commands no rule spoke about.
//!
//! ```
//! use palisade_exec_policy::ExecPolicyAmendment;
//! use palisade_exec_policy::approvals::{
//!     AmendmentSource, Keep, Moment, Scope, StoredApprovals, apply, edit_for,
//! };
//! use palisade_policy::AbsolutePath;
//!
//! let project = AbsolutePath::new("/srv/app")?;
//! let now = Moment::parse("2026-03-01T12:00:00Z")?;
//! let edit = edit_for(
//!     &ExecPolicyAmendment::new(["cargo", "add"])?,
//!     AmendmentSource::RulePrompt("registry"),
//!     &Keep::for_project(project.clone(), now),
//! )?;
//! let text = apply("", &edit)?;
//! assert_eq!(apply(&text, &edit)?, text, "keeping twice is keeping once");
//!
//! let stored = StoredApprovals::parse(&text)?;
//! assert!(stored.answers("registry", &["cargo", "add", "serde"], &project, now));
//! assert!(!stored.answers("other-rule", &["cargo", "add", "serde"], &project, now));
//! assert!(!stored.answers("registry", &["cargo", "install", "x"], &project, now));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The file belongs to the user and lies outside every workspace; who reads and writes it is the runner.

mod edit;
mod error;
mod file;
mod moment;
mod offering;
mod program_table;
mod programs;
mod propose;
mod stored;

pub use edit::{AmendmentSource, ApprovalEdit, Keep, apply, edit_for};
pub use error::{ApprovalError, ApprovalProblem, EditError, MomentError};
pub use file::MAX_FILE_BYTES;
pub use moment::Moment;
pub use offering::{Refused, Token, may_offer};
pub use propose::{offer, propose};
pub use stored::{ApprovalsAt, Ignored, Scope, StoredApproval, StoredApprovals};

pub(crate) use offering::is_wide;
