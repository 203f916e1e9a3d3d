//! Paths of the host, passed beside the text of a profile.

use std::collections::BTreeMap;
use std::fmt;

use palisade_policy::AbsolutePath;

/// The name of a parameter, such as `ROOT_0`: upper-case letters, digits and `_`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ParameterName(pub(crate) String);

impl ParameterName {
    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ParameterName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What each parameter stands for: `-DNAME=PATH` for `sandbox-exec`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parameters(pub(crate) BTreeMap<ParameterName, AbsolutePath>);

impl Parameters {
    /// What a parameter stands for.
    #[must_use]
    pub fn get(&self, name: &ParameterName) -> Option<&AbsolutePath> {
        self.0.get(name)
    }

    /// All of them, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&ParameterName, &AbsolutePath)> {
        self.0.iter()
    }
}
