//! What was added to whose access list, so that it goes again: also after a crash, and not before the last session that
//! needs it.
//!
//! A journal is a text of lines that is only ever appended to. Every change is announced before it is made, so that
//! nothing of ours is ever in a list that the journal does not know about. Whoever changes a list or appends a line
//! holds the journal's lock while he does both.
//!
//! | line | written |
//! |---|---|
//! | [`Record::SessionBegan`] | before anything else of a session |
//! | [`Record::EditIntended`] | before an access list is changed: the object, and exactly which entries are added |
//! | [`Record::EditDone`] | after it was |
//! | [`Record::RemovalDone`] | after the entries are gone again, or left to another session |
//! | [`Record::SessionEnded`] | after the last of them |
//!
//! A last line that was not written to its end is what a crash leaves, and is ignored: what it announced had not begun.
//! A damaged line anywhere else is refused.

mod capabilities;
mod ledger;
mod record;
mod text;

pub use capabilities::{Capabilities, CapabilitiesError};
pub use ledger::{Intent, Ledger, Repair};
pub use record::{EditId, FileId, Object, Record, SessionId};
pub use text::{Journal, decode, encode};

/// Why a journal cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// A line that is not what was written.
    #[error(
        "line {line} of the journal is damaged: {why}; move the file away, and look for entries of capabilities by hand"
    )]
    Damaged {
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        why: String,
    },
    /// A journal of a later version.
    #[error(
        "line {line} of the journal was written by another version; let that one repair what it left"
    )]
    OtherVersion {
        /// The line, from 1.
        line: usize,
    },
    /// A line that speaks of something that was never announced, or announces it twice.
    #[error(
        "record {record} of the journal does not fit those before it: {why}; move the file away, and look for entries of capabilities by hand"
    )]
    Inconsistent {
        /// The record, from 1.
        record: usize,
        /// What does not fit.
        why: &'static str,
    },
    /// A record that cannot be written down.
    #[error("the record cannot be written: {why}")]
    Unwritable {
        /// Why.
        why: String,
    },
}
