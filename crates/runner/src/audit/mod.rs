//! What happened, for those who look later.
//!
//! Each call that was decided, run or refused is one [`AuditRecord`], handed to an [`AuditSink`]. A sink never fails a
//! run: what it cannot keep it counts. [`JsonLines`] keeps records in a file that only the user can read and that no
//! sandbox may write. Secrets are taken out before a record exists ([`redact`]).

mod error;
mod file;
mod guard;
mod read;
mod record;
pub mod redact;
#[cfg(unix)]
mod rotate;
mod time;
pub mod trace;

pub use error::AuditError;
pub use file::{JsonLines, Rotation};
pub use guard::check_unwritable;
pub use read::{ReadError, Records, read};
pub use record::{
    AnswerSource, AuditRecord, AuditSink, ConnectionAudit, DecisionWord, EvidenceRecord,
    RECORD_VERSION, policy_fingerprint,
};
pub use time::Timestamp;
