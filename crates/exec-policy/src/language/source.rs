//! What the caller hands in: the text of a policy file, and what is known about it.

use super::model::{Layer, Origin};

/// Whether the user agreed to the content of a project's policy.
///
/// The caller knows: it compares the hash of the content with what the user agreed to. Only the project layer asks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a file is trusted or not: there is no third"
)]
pub enum Trust {
    /// Nobody agreed: a project's policy can only tighten.
    #[default]
    Untrusted,
    /// The user agreed to exactly this content.
    Trusted,
}

/// A policy file that was read, but not understood yet.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Source<'t> {
    /// Who owns it.
    pub layer: Layer,
    /// What errors and explanations call it, usually its path.
    pub name: String,
    /// Its bytes. They need not be text.
    pub text: &'t [u8],
    /// Whether the user agreed to it. Only a project's source asks.
    pub trust: Trust,
}

impl<'t> Source<'t> {
    /// A source; one of the project layer is untrusted until [`trusted`](Self::trusted) says otherwise.
    #[must_use]
    pub fn new(
        layer: Layer,
        name: impl Into<String>,
        text: &'t (impl AsRef<[u8]> + ?Sized),
    ) -> Self {
        Self {
            layer,
            name: name.into(),
            text: text.as_ref(),
            trust: match layer {
                Layer::Project => Trust::Untrusted,
                Layer::BuiltIn | Layer::System | Layer::User | Layer::Session => Trust::Trusted,
            },
        }
    }

    /// The same, with this trust.
    #[must_use]
    pub fn with_trust(mut self, trust: Trust) -> Self {
        self.trust = trust;
        self
    }

    /// The same, trusted.
    #[must_use]
    pub fn trusted(self) -> Self {
        self.with_trust(Trust::Trusted)
    }

    /// A place in it.
    #[must_use]
    pub fn place(&self, line: usize, column: usize) -> Origin {
        Origin::new(self.layer, self.name.clone(), line, column)
    }
}
