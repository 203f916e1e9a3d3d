//! Access lists as values: entries, their order, and the bytes that Windows keeps.

mod ace;
mod rights;

pub use ace::{Ace, AceFlags, AceKind};
pub use rights::Rights;

/// The entries of an access list, in the order in which they are checked.
///
/// Windows wants the explicit entries before the inherited ones, and of the explicit ones those that deny first.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Acl(pub Vec<Ace>);
