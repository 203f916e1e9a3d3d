//! From a command to the one decision.
//!
//! A [`Judge`] holds the rules and what people agreed to keep. It analyses a command, lets the rules speak about each part
//! of it, and puts what they say to `palisade_exec_policy::decide`: nothing here has an opinion of its own. What comes
//! out is a [`Judgement`], which owns everything that the runner needs later: the requirement, the reasons, the grants
//! and limits of the rules, and the prefix that can be offered.
//!
//! ```
//! use palisade_exec_policy::{AskForApproval, ExecApprovalRequirement, SandboxablePreference, WorkingBackend};
//! use palisade_exec_policy::approvals::Moment;
//! use palisade_policy::{AbsolutePath, HostFacts, Os, SandboxPermissions, SandboxPolicy, SandboxType, WorkspaceRoot};
//! use palisade_runner::judge::{Case, Judge, RuleBook, Standing};
//!
//! # if cfg!(unix) {
//! let facts = HostFacts::new(Os::Linux).with_home(AbsolutePath::new("/home/dev")?);
//! let judge = Judge::new(RuleBook::builtin()?, WorkspaceRoot::new("/srv/app")?, facts)?;
//! let standing = Standing {
//!     approval: AskForApproval::OnRequest,
//!     sandbox: SandboxPolicy::default(),
//!     preference: SandboxablePreference::Auto,
//!     backend: WorkingBackend::new(SandboxType::LinuxLandlock),
//! };
//! let cwd = AbsolutePath::new("/srv/app")?;
//! let ask = |argv: &[&str]| {
//!     let argv: Vec<_> = argv.iter().map(|word| (*word).into()).collect();
//!     let case = Case { argv: &argv, cwd: &cwd, search_path: None, env: &[], permissions: &SandboxPermissions::UseDefault };
//!     judge.judge(&case, &standing, Moment::from_unix(0)?).map_err(Box::<dyn std::error::Error>::from)
//! };
//! assert!(matches!(ask(&["ls", "-l"])?.requirement, ExecApprovalRequirement::Skip { .. }));
//! assert!(matches!(ask(&["rm", "-rf", "build"])?.requirement, ExecApprovalRequirement::NeedsApproval { .. }));
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod book;
mod grants;
mod judgement;
mod view;

pub use book::{RuleBook, example_place};
pub(crate) use grants::lower;
pub(crate) use judgement::with_env;
pub use judgement::{Case, Judge, Judgement, Offer, Standing};
pub use view::sandbox_view;
