//! The caller's side: from a plan to a session, and from a command to a child.

mod child;
mod direct;
mod error;
mod explain;
mod helper;
mod history;
mod occupants;
mod session;
mod start;
mod stdio;

pub use child::{Child, Exit, ExitCause, Usage};
pub use direct::{DirectChild, DirectLauncher};
pub use error::LaunchError;
pub use explain::Explanation;
pub use helper::Helper;
pub use history::{GitHistory, GitImport};
pub use session::{Command, JudgedProgram, Session};
pub use start::{StartError, Started, Starting, begin_on, start, start_on};
pub use stdio::Stdio;
