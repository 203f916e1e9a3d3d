//! The one description of the format: every key, what it holds and what it means.
//!
//! The reader refuses what is not in here, suggestions come from here, and the JSON Schema is printed from here, so
//! that the three cannot drift apart.

mod rule;
mod settings;
mod shapes;

pub(crate) use rule::{CASE, OPTIONS, RULE, RULE_FLAGS, SANDBOX, WHEN};
pub(crate) use settings::{
    ASK, DEFAULTS, ENV, FILE, FILESYSTEM, FLOOR, HOST, INJECT, LIMITS, NETWORK, PROGRAM, REJECT,
};
pub(crate) use shapes::{
    ACCESS, APPROVALS, DECISIONS, DEFAULTS_WORDS, GIT, PREDICATES, PRESETS, PROTOCOLS, UNLIMITED,
};

/// A table of the format.
pub(crate) struct Section {
    pub(crate) doc: &'static str,
    pub(crate) keys: &'static [Key],
}

/// A key of a table.
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) shape: Shape,
    pub(crate) required: bool,
    pub(crate) doc: &'static str,
}

/// What a key holds.
pub(crate) enum Shape {
    /// Any text.
    Text,
    /// Text of one form: a regular expression for editors, and an example.
    Form {
        pattern: &'static str,
        example: &'static str,
    },
    /// One of these words.
    Word(&'static [&'static str]),
    /// True or false.
    Switch,
    /// A whole number from 1.
    Count,
    /// The number 1.
    Version,
    /// A list of the same.
    List(&'static Shape),
    /// One or the other.
    Either(&'static [Shape]),
    /// A table.
    Table(&'static Section),
    /// A list of tables.
    Tables(&'static Section),
    /// A table whose keys its author picks.
    Map(&'static Shape),
}

impl Section {
    pub(crate) fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.name == name)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.keys.iter().map(|key| key.name)
    }

    /// Where a key stands in a well-ordered file.
    pub(crate) fn position(&self, name: &str) -> usize {
        self.keys
            .iter()
            .position(|key| key.name == name)
            .unwrap_or(self.keys.len())
    }
}

pub(super) const fn key(name: &'static str, shape: Shape, doc: &'static str) -> Key {
    Key {
        name,
        shape,
        required: false,
        doc,
    }
}

pub(super) const fn required(name: &'static str, shape: Shape, doc: &'static str) -> Key {
    Key {
        name,
        shape,
        required: true,
        doc,
    }
}
