//! The host program's streams, given to a command: as they are.

use super::HostStreams;
use super::start::Prepared;
use crate::capture::Caps;
use crate::os::Stdio;
use crate::outcome::SetupFailure;
use crate::supervise::Streams;

pub(super) fn prepare(streams: HostStreams, caps: Caps) -> Result<Prepared, SetupFailure> {
    Ok(Prepared {
        theirs: Stdio {
            stdin: streams.stdin,
            stdout: streams.stdout,
            stderr: streams.stderr,
        },
        streams: Streams::default(),
        caps,
        terminal: None,
    })
}
