//! The caller's streams, connected to the command.

use palisade::Command;
use palisade::runner::capture::Caps;
use palisade::runner::launch::{Descriptor, HostStreams};
use palisade::runner::outcome::SetupFailure;

/// How much is kept of what is passed on: enough to read there why a command failed.
const KEPT: Caps = Caps::new(4 * 1024, 64 * 1024);

/// The command with the streams of this program, and somebody who minds its terminal and its signals.
///
/// # Errors
/// A stream cannot be passed on.
pub(super) fn connected(command: Command) -> Result<Command, SetupFailure> {
    let [stdin, stdout, stderr] = ours().map_err(|error| failed(&error))?;
    let streams = HostStreams::new(stdin, stdout, stderr);
    let command = attended(command, &streams).map_err(|error| failed(&error))?;
    Ok(command.caps(KEPT).streams(streams))
}

fn failed(error: &std::io::Error) -> SetupFailure {
    SetupFailure::new(
        "passing descriptors",
        error.raw_os_error(),
        format!("the streams of this program cannot be passed on: {error}"),
    )
}

/// Copies of the three. What was closed when this program began is the device that swallows everything.
#[cfg(unix)]
fn ours() -> std::io::Result<[Descriptor; 3]> {
    use std::os::fd::AsFd as _;
    Ok([
        std::io::stdin().as_fd().try_clone_to_owned()?,
        std::io::stdout().as_fd().try_clone_to_owned()?,
        std::io::stderr().as_fd().try_clone_to_owned()?,
    ])
}

#[cfg(unix)]
fn attended(command: Command, streams: &HostStreams) -> std::io::Result<Command> {
    let terminal = super::terminal::Terminal::find(streams.terminal_use())?;
    let (bell, attendant) = super::attendant::Attendant::new(terminal)?;
    Ok(command.attended_by(bell, attendant))
}

#[cfg(windows)]
fn ours() -> std::io::Result<[Descriptor; 3]> {
    use std::os::windows::io::AsHandle as _;
    Ok([
        std::io::stdin().as_handle().try_clone_to_owned()?,
        std::io::stdout().as_handle().try_clone_to_owned()?,
        std::io::stderr().as_handle().try_clone_to_owned()?,
    ])
}

#[cfg(windows)]
fn attended(command: Command, _: &HostStreams) -> std::io::Result<Command> {
    Ok(command)
}
