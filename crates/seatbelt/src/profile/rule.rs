//! One rule of a profile.

use super::filter::Filter;
use super::operation::Operation;

/// Allow or deny.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_enums, reason = "there is no third")]
pub enum Decision {
    /// `allow`
    Allow,
    /// `deny`
    Deny,
}

/// A decision about some operations, where one of the filters holds; everywhere, if there is none.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Rule {
    /// What it decides.
    pub decision: Decision,
    /// About what.
    pub operations: Vec<Operation>,
    /// Where. Several mean any of them.
    pub filters: Vec<Filter>,
    /// How it is done beside.
    pub modifiers: Vec<Modifier>,
}

impl Rule {
    /// A rule without filters: it holds everywhere.
    pub fn new(decision: Decision, operations: impl IntoIterator<Item = Operation>) -> Self {
        Self {
            decision,
            operations: operations.into_iter().collect(),
            filters: Vec::new(),
            modifiers: Vec::new(),
        }
    }

    /// An `allow`.
    pub fn allow(operations: impl IntoIterator<Item = Operation>) -> Self {
        Self::new(Decision::Allow, operations)
    }

    /// A `deny`.
    pub fn deny(operations: impl IntoIterator<Item = Operation>) -> Self {
        Self::new(Decision::Deny, operations)
    }

    /// With one more place where it holds.
    #[must_use]
    pub fn at(mut self, filter: Filter) -> Self {
        self.filters.push(filter);
        self
    }

    /// With one more modifier.
    #[must_use]
    pub fn with(mut self, modifier: Modifier) -> Self {
        self.modifiers.push(modifier);
        self
    }
}

/// What happens beside the decision: `(with ...)`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Modifier {
    /// `(with message "...")`: the text is in the log beside the denial.
    Message(String),
    /// `(with no-log)`: nothing is logged.
    NoLog,
    /// `(with report)`: it is logged although it is allowed.
    Report,
}
