//! What is kept, each with a name by which it can be revoked.

use std::ffi::OsString;

use palisade::runner::approve::{visible, visible_command};
use palisade::runner::config::{ConfigError, State, StoredGrant};
use palisade::runner::exec_policy::approvals::{ApprovalEdit, Moment, Scope, StoredApproval};
use serde::Serialize;

/// Something that was agreed to for good.
#[derive(Clone, Debug)]
pub(super) enum Kept {
    Approval(StoredApproval),
    Grant(StoredGrant),
}

/// How it is printed for programs.
#[derive(Debug, Serialize)]
pub(super) struct Shown {
    pub(super) id: String,
    pub(super) kind: &'static str,
    /// What runs or is opened, in words.
    pub(super) what: String,
    pub(super) rule: Option<String>,
    /// Where it holds; everywhere, if nothing is said.
    pub(super) project: Option<String>,
    pub(super) date: String,
    pub(super) expires: Option<String>,
    pub(super) holds: bool,
}

/// Everything that is kept.
///
/// # Errors
/// A file cannot be read or is not understood.
pub(super) fn all(state: &State) -> Result<Vec<Kept>, ConfigError> {
    let approvals = state.approvals().read()?;
    let grants = state.grants().read()?;
    let approvals = approvals.iter().cloned().map(Kept::Approval);
    Ok(approvals
        .chain(grants.into_iter().map(Kept::Grant))
        .collect())
}

impl Kept {
    /// Removes it. Says whether it was still there.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub(super) fn revoke(&self, state: &State) -> Result<bool, ConfigError> {
        match self {
            Self::Approval(approval) => state
                .approvals()
                .store(&ApprovalEdit::Remove(approval.clone())),
            Self::Grant(grant) => state.grants().remove(&grant.project, &grant.grant),
        }
    }

    /// A short name: the same as long as it is about the same thing, whatever its dates.
    pub(super) fn id(&self) -> String {
        let about = match self {
            Self::Approval(one) => format!("{:?}", (&one.rule, one.prefix.prefix(), &one.scope)),
            Self::Grant(one) => format!("{:?}", (&one.project, &one.grant)),
        };
        let kind = match self {
            Self::Approval(_) => 'a',
            Self::Grant(_) => 'g',
        };
        format!("{kind}{:010x}", hash(about.as_bytes()) & 0xff_ffff_ffff)
    }

    pub(super) fn shown(&self, now: Moment) -> Shown {
        let id = self.id();
        match self {
            Self::Approval(one) => {
                let words: Vec<OsString> = one.prefix.prefix().iter().map(Into::into).collect();
                Shown {
                    id,
                    kind: "approval",
                    what: format!("run `{} …`", visible_command(&words)),
                    rule: one.rule.as_deref().map(visible),
                    project: match &one.scope {
                        Scope::Project(root) => Some(visible(&root.to_string())),
                        Scope::Global => None,
                    },
                    date: one.date.to_string(),
                    expires: one.expires.map(|expires| expires.to_string()),
                    holds: one.holds_at(now),
                }
            }
            Self::Grant(one) => Shown {
                id,
                kind: "grant",
                what: visible(&one.grant.to_string()),
                rule: None,
                project: Some(visible(&one.project.to_string())),
                date: one.date.to_string(),
                expires: one.expires.map(|expires| expires.to_string()),
                holds: one.holds_at(now),
            },
        }
    }
}

/// FNV-1a. Two things with the same name are both shown, and neither is revoked by it.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
