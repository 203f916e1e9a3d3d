//! Ports that are descriptors: whoever drives says when they are ready.

use std::io;
use std::os::fd::BorrowedFd;
use std::task::{Context, Poll};

use rustix::io::Errno;

use super::pump::{Direction, Port};
use super::{Ended, NoEnd, Watched, sys};

/// The size of a flood's pipe.
#[cfg(target_os = "linux")]
const FLOOD_PIPE: usize = 256 * 1024;

/// A descriptor that does not block, and a way to be woken when it is ready.
pub(super) trait Ready {
    /// Does something with the descriptor. Where that would block, the task is woken when it no longer would.
    fn poll_io<R>(
        &mut self,
        cx: &mut Context<'_>,
        io: impl FnMut(BorrowedFd<'_>) -> rustix::io::Result<R>,
    ) -> Poll<rustix::io::Result<R>>;

    /// The descriptor itself.
    fn descriptor(&self) -> BorrowedFd<'_>;

    /// How it is written.
    fn mode(&self) -> WriteMode;
}

/// How a descriptor is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WriteMode {
    /// As it is.
    Plain,
    /// So that a pipe which nobody reads does not end this program.
    WithoutSignal,
}

impl WriteMode {
    /// What a descriptor for this needs in this program.
    pub(super) fn of(direction: Direction) -> Self {
        let writes = matches!(direction, Direction::Write | Direction::WriteShared);
        match writes && sys::broken_pipes_signal() {
            true => Self::WithoutSignal,
            false => Self::Plain,
        }
    }
}

impl<D: Ready> Port for D {
    fn poll_read(&mut self, cx: &mut Context<'_>, buffer: &mut Vec<u8>) -> Poll<io::Result<usize>> {
        self.poll_io(cx, |descriptor| {
            rustix::io::read(descriptor, rustix::buffer::spare_capacity(buffer))
        })
        .map(terminal_end)
    }

    fn read_now(&mut self, buffer: &mut Vec<u8>) -> io::Result<usize> {
        loop {
            let read = rustix::io::read(self.descriptor(), rustix::buffer::spare_capacity(buffer));
            if read != Err(Errno::INTR) {
                return terminal_end(read);
            }
        }
    }

    fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let mode = self.mode();
        self.poll_io(cx, |descriptor| match mode {
            WriteMode::WithoutSignal => sys::write_without_signal(descriptor, bytes),
            WriteMode::Plain => rustix::io::write(descriptor, bytes),
        })
        .map_err(io::Error::from)
    }

    fn poll_end<W: Watched>(
        &mut self,
        cx: &mut Context<'_>,
        process: &mut W,
    ) -> Poll<io::Result<Result<Ended, NoEnd>>> {
        self.poll_io(cx, |_| match process.try_end() {
            Ok(None) => Err(Errno::AGAIN),
            Ok(Some(end)) => Ok(Ok(end)),
            Err(failure) => Ok(Err(failure)),
        })
        .map_err(io::Error::from)
    }

    fn widen(&mut self) {
        // It fails for terminals, and where the user has too many such pipes; then the flood is slower.
        #[cfg(target_os = "linux")]
        let _ = rustix::pipe::fcntl_setpipe_size(self.descriptor(), FLOOD_PIPE);
    }
}

/// A terminal that nobody has open any more says so with an error.
fn terminal_end(read: rustix::io::Result<usize>) -> io::Result<usize> {
    match read {
        Err(Errno::IO) => Ok(0),
        read => Ok(read?),
    }
}
