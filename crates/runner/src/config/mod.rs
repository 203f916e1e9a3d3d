//! Every file of the pure crates: layers, includes, trust, approvals.
//!
//! ```text
//! ConfigPaths                where the layers of a policy and the state are
//!   | load                   reads each file once, through one descriptor that was checked
//! Configuration              rules, sandbox policy, approval policy, what was ignored, where it all comes from
//!
//! State                      a directory of the user, out of reach of every command
//!   | approvals()            answers and allow rules that people agreed to keep
//!   | grants()               what people agreed to open for a project
//!   | trust()                whose policy files people agreed to, by content
//! ```
//!
//! Nothing here is forgiving: a file that cannot be read, that others can write, or that says something nobody
//! understands refuses everything, with its name and what would help. Only a file that is not there is no file.

mod approvals;
mod configuration;
#[cfg(unix)]
mod disk;
#[cfg(not(unix))]
#[path = "disk_elsewhere.rs"]
mod disk;
mod draft;
mod error;
mod grants;
mod hash;
mod kept;
mod layer;
mod own;
mod paths;
mod pattern;
mod reach;
mod state;
mod trust;
mod ways;

pub use approvals::ApprovalsFile;
pub(crate) use configuration::above_floor;
pub use configuration::{Configuration, ProjectTrust, UsedSource, load, load_with};
pub use draft::{DraftPolicy, draft, drafts_in_force};
pub use error::{ConfigError, FileProblem};
pub use grants::{GrantsFile, StoredGrant};
pub use hash::ContentHash;
pub use layer::{MAX_FILES, MAX_LAYER_BYTES};
pub(crate) use own::Own;
pub use paths::ConfigPaths;
pub(crate) use paths::{POLICY_FILE, PROJECT_DIRECTORY};
pub(crate) use reach::Reach;
pub use state::State;
pub use trust::{ProjectLayer, TrustFile, project_layer};
pub(crate) use ways::Look;
