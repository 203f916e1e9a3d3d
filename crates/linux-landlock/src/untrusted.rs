//! The readers of what others write, for those who throw random bytes at them. Only with the feature `model`.
//!
//! They are private elsewhere. Here each is one function from bytes to what was understood, written anew, so that a law
//! can be stated about it without a type of this crate becoming public.

use crate::plan::Plan;
use crate::wire::{Failure, Record, Request, STATUS_RECORD, SetupReply, Wire};

pub use crate::aftermath::hooks_in_configuration;
pub use crate::git_import::untrusted::{head, index_paths, may_make_ref, packed_refs, reflog};
pub use crate::survey::untrusted::{mounts, sockets};

/// A reader of messages: what was understood, as it would be sent again.
pub type Codec = fn(&[u8]) -> Option<Vec<u8>>;

/// Everything that travels between the caller and the helper, by name.
pub const MESSAGES: [(&str, Codec); 5] = [
    ("plan", again::<Plan>),
    ("request", again::<Request>),
    ("setup reply", again::<SetupReply>),
    ("failure", again::<Failure>),
    ("status record", record),
];

fn again<T: Wire>(bytes: &[u8]) -> Option<Vec<u8>> {
    T::from_bytes(bytes).ok().map(|value| value.to_bytes())
}

fn record(bytes: &[u8]) -> Option<Vec<u8>> {
    let bytes: &[u8; STATUS_RECORD] = bytes.try_into().ok()?;
    let record = Record::from_array(bytes).ok()?;
    Some(record.to_array().to_vec())
}
