//! Descriptors that a tokio runtime waits for.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::task::{Context, Poll, ready};

use rustix::io::Errno;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use super::descriptor::{Ready, WriteMode};
use super::pump::Direction;
use super::sys;

/// A descriptor that the runtime waits for.
pub(super) struct Registered {
    descriptor: AsyncFd<OwnedFd>,
    direction: Direction,
    mode: WriteMode,
}

impl Registered {
    pub(super) fn new(descriptor: OwnedFd, direction: Direction) -> io::Result<Self> {
        let interest = match direction {
            Direction::Read | Direction::ReadShared | Direction::Status => Interest::READABLE,
            Direction::Write | Direction::WriteShared => Interest::WRITABLE,
        };
        Ok(Self {
            descriptor: sys::register(descriptor, interest)?,
            direction,
            mode: WriteMode::of(direction),
        })
    }
}

impl Ready for Registered {
    fn poll_io<R>(
        &mut self,
        cx: &mut Context<'_>,
        mut io: impl FnMut(BorrowedFd<'_>) -> rustix::io::Result<R>,
    ) -> Poll<rustix::io::Result<R>> {
        loop {
            let guard = match self.direction {
                Direction::Read | Direction::ReadShared | Direction::Status => {
                    ready!(self.descriptor.poll_read_ready(cx))
                }
                Direction::Write | Direction::WriteShared => {
                    ready!(self.descriptor.poll_write_ready(cx))
                }
            };
            let mut guard = match guard {
                Ok(guard) => guard,
                // The runtime shuts down.
                Err(error) => {
                    return Poll::Ready(Err(Errno::from_io_error(&error).unwrap_or(Errno::IO)));
                }
            };
            match io(guard.get_inner().as_fd()) {
                Err(Errno::AGAIN) => guard.clear_ready(),
                Err(Errno::INTR) => {}
                done => return Poll::Ready(done),
            }
        }
    }

    fn descriptor(&self) -> BorrowedFd<'_> {
        self.descriptor.get_ref().as_fd()
    }

    fn mode(&self) -> WriteMode {
        self.mode
    }
}
