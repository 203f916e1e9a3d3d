//! What a profile permits: a reader and an evaluator for profiles, so that they can be judged without a Mac.
//!
//! [`read`] turns the text of a profile back into rules and refuses everything that it does not understand exactly.
//! [`Model`] answers [`Request`]s about one operation; [`SystemCall::requests`] says which ones a system call makes.
//!
//! ```
//! use palisade_seatbelt::model::{Model, Precedence, SystemCall, parameters, read};
//! use palisade_policy::AbsolutePath;
//!
//! # if cfg!(unix) {
//! let rules = read(r#"
//!     (version 1)
//!     (deny default)
//!     (allow file-write* (subpath (param "ROOT")))
//!     (deny file-write* (subpath (param "GIT")))
//!     (deny file-write-unlink (literal (param "ROOT")))
//! "#)?;
//! let root = AbsolutePath::new("/srv/app")?;
//! let git = AbsolutePath::new("/srv/app/.git")?;
//! let model = Model::new(&rules, &parameters([("ROOT", root), ("GIT", git)])?)?;
//!
//! let allows = |call: SystemCall| model.allows(&call.requests(), Precedence::PerOperation);
//! assert!(allows(SystemCall::Create(AbsolutePath::new("/srv/app/main.rs")?))?);
//! assert!(!allows(SystemCall::Create(AbsolutePath::new("/srv/app/.git/hooks/pre-commit")?))?);
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What the model knows, and from where
//!
//! Apple documents neither the language nor how rules compete. The model is made from published observations, most of
//! them measured with `sandbox-exec`; each is a test in `tests/model/observations.rs`. [`Precedence::PerOperation`]
//! reproduces all of them, [`Precedence::LastMatch`] most. **Nothing of it was confirmed on a Mac by us**, so a profile of
//! this crate has to mean the same under both; the tests see to it. `docs/real-hardware.md` says what is still to be
//! tried there.
//!
//! | part | says |
//! |---|---|
//! | operations | the names that macOS 14 knows; a rule about `file-write*` is about every operation that falls back to it |
//! | paths | compared byte by byte; the kernel asks with the spelling that exists, so a caller has to as well |
//! | patterns | a subset that every reader understands alike, matched in linear time |
//! | endpoints | loopback or not, and the port; Seatbelt cannot tell other hosts apart |
//! | targets | deduced from their names |
//!
//! # Non-goals
//!
//! - The rest of the language: `import`, `define`, `if`, entitlements. They are errors, not ignored.
//! - Speed. Rules are tried one after the other.

mod automaton;
mod evaluate;
mod operations;
mod pattern;
mod read;
mod request;
mod system_call;

pub use evaluate::{
    CompileError, EvaluateError, Model, Precedence, Ruling, UnknownOperation, evaluate,
};
pub use operations::{known_operations, parent};
pub use pattern::PatternProblem;
pub use read::{Position, ReadError, ReadProblem, read};
pub use request::{Address, Name, Request, Transport};
pub use system_call::SystemCall;

use palisade_policy::AbsolutePath;

use crate::profile::Parameters;

/// Parameters for a profile that was not made by this crate.
///
/// # Errors
/// A name is not made of upper-case letters, digits and `_`.
pub fn parameters<'a>(
    values: impl IntoIterator<Item = (&'a str, AbsolutePath)>,
) -> Result<Parameters, ReadProblem> {
    let named = values
        .into_iter()
        .map(|(name, path)| -> Result<_, ReadProblem> {
            let wrong = || ReadProblem::ParameterName(name.to_owned());
            Ok((read::parameter_name(name).ok_or_else(wrong)?, path))
        });
    Ok(Parameters(named.collect::<Result<_, _>>()?))
}
