//! The three descriptors of a command.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use crate::outcome::SetupFailure;

/// Descriptors 0, 1 and 2 of a command. It gets copies; these are closed when the value is dropped.
#[derive(Debug)]
pub(crate) struct Stdio {
    /// Standard input.
    pub(crate) stdin: OwnedFd,
    /// Standard output.
    pub(crate) stdout: OwnedFd,
    /// Standard error.
    pub(crate) stderr: OwnedFd,
}

impl Stdio {
    /// The device that swallows everything, three times.
    #[cfg(test)]
    #[cfg(target_os = "linux")]
    pub(crate) fn null() -> Result<Self, SetupFailure> {
        Ok(Self {
            stdin: null()?,
            stdout: null()?,
            stderr: null()?,
        })
    }

    pub(super) fn each(&self) -> [BorrowedFd<'_>; 3] {
        [self.stdin.as_fd(), self.stdout.as_fd(), self.stderr.as_fd()]
    }
}

/// The device that swallows everything.
pub(crate) fn null() -> Result<OwnedFd, SetupFailure> {
    File::options()
        .read(true)
        .write(true)
        .open("/dev/null")
        .map(OwnedFd::from)
        .map_err(|error| failure("opening /dev/null", &error))
}

/// A pipe for a stream that the command writes: our end, which never blocks, and the command's, which does.
pub(crate) fn pipe_from_child() -> Result<(OwnedFd, OwnedFd), SetupFailure> {
    let (reader, writer) = pipe()?;
    never_block(&reader).map_err(|error| failure(PIPE, &error))?;
    Ok((reader, writer))
}

/// A pipe for what the command reads: our end, which never blocks, and the command's, which does.
pub(crate) fn pipe_to_child() -> Result<(OwnedFd, OwnedFd), SetupFailure> {
    let (reader, writer) = pipe()?;
    never_block(&writer).map_err(|error| failure(PIPE, &error))?;
    Ok((writer, reader))
}

const PIPE: &str = "making a pipe";

/// Both ends are closed by exec, in every process of this program.
fn pipe() -> Result<(OwnedFd, OwnedFd), SetupFailure> {
    let (reader, writer) = io::pipe().map_err(|error| failure(PIPE, &error))?;
    Ok((reader.into(), writer.into()))
}

/// Another way to what a descriptor is open for, which never blocks and whose flags are ours alone: the descriptor itself
/// may be shared with others, such as the shell that started this program. `None` where there is no other way.
#[cfg(target_os = "linux")]
pub(crate) fn apart(descriptor: BorrowedFd<'_>, flags: rustix::fs::OFlags) -> Option<OwnedFd> {
    use rustix::fs::{FileType, Mode, OFlags};
    use std::os::fd::AsRawFd as _;
    let kind = rustix::fs::fstat(descriptor).ok()?.st_mode;
    let terminal = rustix::termios::isatty(descriptor);
    if FileType::from_raw_mode(kind) != FileType::Fifo && !terminal {
        return None;
    }
    let path = format!("/proc/self/fd/{}", descriptor.as_raw_fd());
    let flags = flags | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::empty()).ok()
}

/// Opening a descriptor again is the same descriptor here.
#[cfg(not(target_os = "linux"))]
pub(crate) const fn apart(_: BorrowedFd<'_>, _: rustix::fs::OFlags) -> Option<OwnedFd> {
    None
}

/// Has a descriptor of ours say that it would block where it would.
pub(crate) fn never_block(descriptor: &OwnedFd) -> io::Result<()> {
    Ok(rustix::io::ioctl_fionbio(descriptor, true)?)
}

pub(super) fn failure(step: &str, error: &io::Error) -> SetupFailure {
    let hint = match error.raw_os_error() {
        Some(libc::EMFILE | libc::ENFILE) => {
            "; too many files are open: raise the limit, or end other runs"
        }
        _ => "",
    };
    let message = format!("{step} failed: {error}{hint}");
    SetupFailure::new(step, error.raw_os_error(), message)
}
