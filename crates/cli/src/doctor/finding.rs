//! One thing that was looked at.

use serde::Serialize;

/// One thing that was looked at: what it is, what it costs where it is not as it should be, and what mends it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Finding {
    pub(super) name: &'static str,
    pub(super) state: State,
    pub(super) says: String,
    /// The guarantee or the limit that is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cost: Option<String>,
    /// A command to copy, or a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) remedy: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum State {
    /// As it should be.
    Fine,
    /// Not as it should be.
    Gap,
}

impl Finding {
    pub(super) fn fine(name: &'static str, says: impl ToString) -> Self {
        Self {
            name,
            state: State::Fine,
            says: says.to_string(),
            cost: None,
            remedy: None,
        }
    }

    pub(super) fn gap(name: &'static str, says: impl ToString) -> Self {
        Self {
            state: State::Gap,
            ..Self::fine(name, says)
        }
    }

    pub(super) fn costs(mut self, cost: impl ToString) -> Self {
        self.cost = Some(cost.to_string());
        self
    }

    pub(super) fn mended_by(mut self, remedy: impl ToString) -> Self {
        self.remedy = Some(remedy.to_string());
        self
    }
}
