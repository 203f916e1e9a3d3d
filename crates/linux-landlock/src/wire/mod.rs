//! What travels between the caller and the helper: bytes with a length in front, read without trust in their form.

mod codec;
mod messages;
mod plan;

pub(crate) use codec::{Malformed, Reader, Wire, wire_struct};
pub(crate) use messages::{
    CommandRequest, Ended, Failure, ProgramRequest, Record, Request, STATUS_RECORD, SetupReply,
};
