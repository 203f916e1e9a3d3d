//! Much in one direction: on Linux, from socket to socket by way of a pipe, without a copy in this process.

use tokio::net::TcpStream;

use super::relay::{Broken, Way};
use crate::record::Meter;

/// Copies until the source ends; nothing if this system cannot, or has no descriptors left. Then nothing was moved.
#[cfg(target_os = "linux")]
pub(super) async fn copy(
    source: &TcpStream,
    sink: &TcpStream,
    way: Way,
    meter: &Meter,
) -> Option<Result<(), Broken>> {
    use rustix::pipe::{PipeFlags, fcntl_setpipe_size, pipe_with};

    let (drain, fill) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK).ok()?;
    // A smaller one, if the user has many, is slower and as good.
    let _ = fcntl_setpipe_size(&fill, PIPE);
    Some(linux::through(source, sink, (&drain, &fill), way, meter).await)
}

#[cfg(not(target_os = "linux"))]
pub(super) async fn copy(
    _: &TcpStream,
    _: &TcpStream,
    _: Way,
    _: &Meter,
) -> Option<Result<(), Broken>> {
    None
}

/// How much one direction holds in the kernel while the other side is not ready to take it.
#[cfg(target_os = "linux")]
const PIPE: usize = 1 << 20;

#[cfg(target_os = "linux")]
mod linux {
    use std::io;
    use std::os::fd::{AsFd, OwnedFd};

    use rustix::pipe::{SpliceFlags, splice};
    use tokio::io::Interest;
    use tokio::net::TcpStream;

    use super::PIPE;
    use crate::record::Meter;
    use crate::serve::relay::{Broken, Way};

    pub(super) async fn through(
        source: &TcpStream,
        sink: &TcpStream,
        (drain, fill): (&OwnedFd, &OwnedFd),
        way: Way,
        meter: &Meter,
    ) -> Result<(), Broken> {
        loop {
            // The pipe is empty here, so only the source can make it wait.
            let filled = source.async_io(Interest::READABLE, || shift(source, fill, PIPE));
            let mut left = filled.await.map_err(|_| way.source_gone())?;
            if left == 0 {
                return Ok(());
            }
            while left > 0 {
                let drained = sink.async_io(Interest::WRITABLE, || shift(drain, sink, left));
                let count = drained.await.map_err(|_| way.sink_gone())?;
                if count == 0 {
                    return Err(way.sink_gone());
                }
                way.count(meter, count);
                left = left.saturating_sub(count);
            }
        }
    }

    fn shift(from: &impl AsFd, to: &impl AsFd, most: usize) -> io::Result<usize> {
        let flags = SpliceFlags::MOVE | SpliceFlags::NONBLOCK;
        Ok(splice(from, None, to, None, most, flags)?)
    }
}
