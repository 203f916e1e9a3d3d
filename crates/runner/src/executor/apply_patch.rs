//! placeholder
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApplyPatch;
