//! `trust`, `approvals` and `audit`: what was agreed to for good, and the record of what ran.

mod approvals;
mod audit;
mod kept;
mod trust;
mod when;
mod yes;

pub(crate) use approvals::{ApprovalsArgs, approvals};
pub(crate) use audit::{AuditArgs, audit};
pub(crate) use trust::{TrustArgs, trust};
