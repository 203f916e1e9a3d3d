//! The policy, tried on this host: what it permits here, and what of it is kept.

use palisade::Sandbox;
use palisade::runner::policy::{Enforcement, Guarantee, Level, ResolvedPolicy};

use super::Ground;
use crate::complaint::Complaint;

/// What became of the policy on this host.
#[derive(Debug)]
pub(crate) struct Tried {
    /// What it permits.
    pub(crate) oracle: ResolvedPolicy,
    pub(crate) kept: Kept,
}

/// What of the policy is kept here.
#[derive(Debug)]
pub(crate) enum Kept {
    /// A sandbox was set up, and this holds in it.
    By(Enforcement),
    /// The policy asks for no sandbox.
    Nothing,
    /// No sandbox can be set up: `run` refuses, for this reason.
    Refused(String),
}

impl Tried {
    /// Sets the sandbox up once, as `run` would, and lets it go again. Nothing runs in it.
    ///
    /// # Errors
    /// The policy makes no sense on this host.
    pub(crate) fn on(ground: &Ground) -> Result<Self, Complaint> {
        let asked = || ground.policy.oracle(&ground.host).map_err(Complaint::usage);
        Ok(
            match Sandbox::on(ground.host.clone(), ground.policy.clone()) {
                Ok(sandbox) => match sandbox.oracle() {
                    Some(oracle) => Self {
                        oracle,
                        kept: Kept::By(sandbox.enforcement().clone()),
                    },
                    None => Self {
                        oracle: asked()?,
                        kept: Kept::Nothing,
                    },
                },
                Err(error) => Self {
                    oracle: asked()?,
                    kept: Kept::Refused(error.to_string()),
                },
            },
        )
    }

    /// What the policy asks for and this host does not enforce.
    pub(crate) fn lost(&self) -> Vec<Guarantee> {
        let Kept::By(enforcement) = &self.kept else {
            return Vec::new();
        };
        let asked = self.oracle.guarantees().into_iter();
        asked
            .filter(|guarantee| enforcement.level(*guarantee) < Level::Enforced)
            .collect()
    }

    /// How strong the sandbox is, in a word.
    pub(crate) fn strength(&self) -> &'static str {
        match &self.kept {
            Kept::By(_) if self.lost().is_empty() => "full",
            Kept::By(_) => "reduced",
            Kept::Nothing => "none",
            Kept::Refused(_) => "refused",
        }
    }
}
