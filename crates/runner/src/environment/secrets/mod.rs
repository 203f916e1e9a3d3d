//! What looks like a secret: names of variables and flags, and shapes of values. The one table for environments and for
//! records.
//!
//! The list errs on the side of leaving out: a variable that is missed is named in one line of a policy, a secret that
//! got out is not taken back.

mod names;
mod shapes;

pub(crate) use names::{Kind, is_secret_name, name_rule};
pub(crate) use shapes::{holds_secret, secret_ranges};

/// Whether bash would take a variable for a function: by its name, or as bash did before 2014, by its value.
pub(crate) fn is_shell_function(name: &[u8], value: &[u8]) -> bool {
    name.starts_with(b"BASH_FUNC_") || value.starts_with(b"() {")
}
