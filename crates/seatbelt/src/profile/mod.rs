//! A profile as a value: rules about operations, and the parameters that carry every path of the host.
//!
//! [`Profile::text`] is what `sandbox-exec` compiles. Paths of the host are never part of the text: they are
//! [`Parameters`], passed beside it, so that no path can change what the text says.

mod base;
mod filter;
#[cfg(any(test, feature = "model"))]
mod halves;
mod operation;
mod parameter;
mod pattern;
mod print;
mod rule;

pub use base::BasePart;
pub use filter::{Endpoint, EndpointHost, Filter, PathValue, Target, VnodeType};
pub use operation::Operation;
pub(crate) use parameter::check as check_path;
pub use parameter::{ParameterName, Parameters, UnspeakablePath};
pub use pattern::{Pattern, PatternError};
pub use rule::{Decision, Modifier, Rule};

/// The rules of a run, after those of the base that every run has, and the parameters of both.
///
/// What no rule allows is denied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Profile {
    /// Which parts of the base come first.
    pub base: Vec<BasePart>,
    /// The rules that the policy comes to.
    pub rules: Vec<Rule>,
    /// Every path of the host that they name.
    pub parameters: Parameters,
}
