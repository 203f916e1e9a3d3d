//! The caller's streams, connected to the command.

use std::io::Write as _;

use palisade::Command;
use palisade::runner::capture::Stream;
use palisade::runner::outcome::SetupFailure;

/// The command with the streams of this program.
pub(super) fn connected(command: Command) -> Result<Command, SetupFailure> {
    Ok(command.live(|chunk| {
        let _ = match chunk.stream {
            Stream::Stderr => std::io::stderr().write_all(&chunk.bytes),
            _ => std::io::stdout().write_all(&chunk.bytes),
        };
    }))
}
