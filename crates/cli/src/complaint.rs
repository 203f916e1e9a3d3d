//! Why something did not happen, as a person is told it.

use crate::exit::Code;

/// Why something did not happen: what is wrong, what would help, and what the program exits with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Complaint {
    /// What is wrong: one sentence, more lines for details.
    pub(crate) what: String,
    /// What would help, a line each: a sentence, or a command to copy.
    pub(crate) help: Vec<String>,
    pub(crate) code: Code,
}

impl Complaint {
    pub(crate) fn new(code: Code, what: impl ToString) -> Self {
        Self {
            what: what.to_string(),
            help: Vec::new(),
            code,
        }
    }

    /// Bad arguments, or a policy that cannot be read.
    pub(crate) fn usage(what: impl ToString) -> Self {
        Self::new(Code::Usage, what)
    }

    /// Something of ours failed.
    pub(crate) fn failed(what: impl ToString) -> Self {
        Self::new(Code::Failed, what)
    }

    /// Somebody or something said no.
    pub(crate) fn refused(what: impl ToString) -> Self {
        Self::new(Code::Refused, what)
    }

    /// With something that would help.
    pub(crate) fn help(mut self, line: impl ToString) -> Self {
        self.help.push(line.to_string());
        self
    }
}
