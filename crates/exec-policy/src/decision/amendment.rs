//! The prefix that an approval can keep for the next time.

use serde::{Deserialize, Serialize};

use crate::decision::error::AmendmentError;

/// How the commands begin for which an approval is kept: one token for each word, at least the program.
///
/// Whether a prefix may be *offered* is decided where the rules are known; this type only says that there is one.
///
/// ```
/// use palisade_exec_policy::ExecPolicyAmendment;
///
/// let amendment = ExecPolicyAmendment::new(["cargo", "add"])?;
/// assert_eq!(amendment.prefix(), ["cargo", "add"]);
/// assert!(ExecPolicyAmendment::new::<String>([]).is_err(), "it would match every command");
/// # Ok::<(), palisade_exec_policy::AmendmentError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
pub struct ExecPolicyAmendment {
    prefix: Vec<String>,
}

impl ExecPolicyAmendment {
    /// A prefix of these tokens.
    ///
    /// # Errors
    /// There is no token, the program is empty, or a token holds a NUL.
    pub fn new<T: Into<String>>(
        prefix: impl IntoIterator<Item = T>,
    ) -> Result<Self, AmendmentError> {
        let prefix: Vec<String> = prefix.into_iter().map(Into::into).collect();
        match prefix.first() {
            None => return Err(AmendmentError::Empty),
            Some(program) if program.is_empty() => return Err(AmendmentError::EmptyProgram),
            Some(_) => {}
        }
        match prefix.iter().position(|token| token.contains('\0')) {
            Some(position) => Err(AmendmentError::Nul { position }),
            None => Ok(Self { prefix }),
        }
    }

    /// The tokens, the program first.
    #[must_use]
    pub fn prefix(&self) -> &[String] {
        &self.prefix
    }
}

impl TryFrom<Vec<String>> for ExecPolicyAmendment {
    type Error = AmendmentError;

    fn try_from(prefix: Vec<String>) -> Result<Self, AmendmentError> {
        Self::new(prefix)
    }
}

impl From<ExecPolicyAmendment> for Vec<String> {
    fn from(amendment: ExecPolicyAmendment) -> Self {
        amendment.prefix
    }
}
