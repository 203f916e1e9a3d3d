//! A waker that poll(2) can wait for.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::task::Wake;

/// Rings: a descriptor becomes readable.
#[derive(Debug)]
pub(super) struct Doorbell {
    listens: OwnedFd,
    /// The other end of a pipe; an event descriptor is both.
    rings: Option<OwnedFd>,
}

impl Doorbell {
    #[cfg(target_os = "linux")]
    pub(super) fn new() -> rustix::io::Result<Self> {
        use rustix::event::{EventfdFlags, eventfd};
        let listens = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self {
            listens,
            rings: None,
        })
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn new() -> rustix::io::Result<Self> {
        let (listens, rings) = rustix::pipe::pipe()?;
        for end in [&listens, &rings] {
            rustix::io::fcntl_setfd(end, rustix::io::FdFlags::CLOEXEC)?;
            rustix::io::ioctl_fionbio(end, true)?;
        }
        Ok(Self {
            listens,
            rings: Some(rings),
        })
    }

    /// Readable after it rang.
    pub(super) fn descriptor(&self) -> BorrowedFd<'_> {
        self.listens.as_fd()
    }

    /// Forgets that it rang.
    pub(super) fn hush(&self) {
        let mut count = [0; 8];
        while rustix::io::read(&self.listens, &mut count).is_ok_and(|many| many == count.len()) {}
    }
}

impl Wake for Doorbell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let rings = self.rings.as_ref().unwrap_or(&self.listens);
        // It can fail only because it has rung too often already, which rings as well.
        let _ = rustix::io::write(rings, &1_u64.to_ne_bytes());
    }
}
