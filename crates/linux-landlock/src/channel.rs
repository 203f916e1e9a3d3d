//! The socket between caller and helper: frames with a length in front, with descriptors beside them.

use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, Shutdown, SocketFlags, SocketType, recv, recvmsg, sendmsg,
    shutdown, socketpair,
};

/// The most descriptors that travel with one frame.
pub(crate) const MAX_DESCRIPTORS: usize = 128;
/// The longest frame. The kernel refuses arguments and environment well below this.
const MAX_FRAME: usize = 64 << 20;
const HEADER: usize = 4;

/// What arrived: the bytes, and the descriptors beside them.
pub(crate) type Frame = (Vec<u8>, Vec<OwnedFd>);

/// One end of the socket.
#[derive(Debug)]
pub(crate) struct Channel(OwnedFd);

impl From<OwnedFd> for Channel {
    fn from(socket: OwnedFd) -> Self {
        Self(socket)
    }
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Channel {
    /// Two connected ends.
    pub(crate) fn pair() -> Result<(Self, OwnedFd), Errno> {
        let (ours, theirs) = socketpair(
            AddressFamily::UNIX,
            SocketType::STREAM,
            SocketFlags::CLOEXEC,
            None,
        )?;
        Ok((Self(ours), theirs))
    }

    /// Sends a frame; the descriptors arrive with its first byte.
    pub(crate) fn send(&self, payload: &[u8], descriptors: &[BorrowedFd<'_>]) -> Result<(), Errno> {
        if payload.len() > MAX_FRAME || descriptors.len() > MAX_DESCRIPTORS {
            return Err(Errno::TOOBIG);
        }
        let length = u32::try_from(payload.len())
            .map_err(|_| Errno::TOOBIG)?
            .to_le_bytes();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
        let mut beside = SendAncillaryBuffer::new(&mut space);
        if !descriptors.is_empty() && !beside.push(SendAncillaryMessage::ScmRights(descriptors)) {
            return Err(Errno::TOOBIG);
        }
        let parts = [IoSlice::new(&length), IoSlice::new(payload)];
        let mut sent = retry(|| sendmsg(&self.0, &parts, &mut beside, SendFlags::NOSIGNAL))?;
        while sent < HEADER + payload.len() {
            let parts = [
                IoSlice::new(length.get(sent..).unwrap_or_default()),
                IoSlice::new(
                    payload
                        .get(sent.saturating_sub(HEADER)..)
                        .unwrap_or_default(),
                ),
            ];
            let mut nothing = SendAncillaryBuffer::default();
            sent += retry(|| sendmsg(&self.0, &parts, &mut nothing, SendFlags::NOSIGNAL))?;
        }
        Ok(())
    }

    /// Receives a frame; `None` when the other end is gone.
    pub(crate) fn receive(&self) -> Result<Option<Frame>, Errno> {
        let mut header = [0; HEADER];
        let mut descriptors = Vec::new();
        if !self.fill(&mut header, &mut descriptors)? {
            return Ok(None);
        }
        let length = usize::try_from(u32::from_le_bytes(header)).map_err(|_| Errno::TOOBIG)?;
        if length > MAX_FRAME {
            return Err(Errno::TOOBIG);
        }
        let mut payload = vec![0; length];
        if !self.fill(&mut payload, &mut descriptors)? {
            return Ok(None);
        }
        Ok(Some((payload, descriptors)))
    }

    /// Fills the buffer; `false` when the other end is gone.
    fn fill(&self, buffer: &mut [u8], descriptors: &mut Vec<OwnedFd>) -> Result<bool, Errno> {
        let mut filled = 0;
        while filled < buffer.len() {
            let mut space =
                [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
            let mut beside = RecvAncillaryBuffer::new(&mut space);
            let rest = buffer.get_mut(filled..).unwrap_or_default();
            let mut parts = [IoSliceMut::new(rest)];
            let received =
                retry(|| recvmsg(&self.0, &mut parts, &mut beside, RecvFlags::CMSG_CLOEXEC))?;
            for message in beside.drain() {
                if let RecvAncillaryMessage::ScmRights(received) = message {
                    descriptors.extend(received);
                }
            }
            if received.bytes == 0 {
                return Ok(false);
            }
            filled += received.bytes;
        }
        Ok(true)
    }

    /// From now on sending and receiving fail after this time without progress; `None` is never.
    pub(crate) fn set_patience(&self, patience: Option<Duration>) -> Result<(), Errno> {
        set_socket_timeout(&self.0, Timeout::Recv, patience)?;
        set_socket_timeout(&self.0, Timeout::Send, patience)
    }

    /// Says that nothing more will be sent, which also ends every attempt to. It fails only if the other end is gone.
    pub(crate) fn finish(&self) {
        let _ = shutdown(&self.0, Shutdown::Write);
    }

    /// Whether there is something to receive, or nobody left who could send it.
    pub(crate) fn has_something(&self) -> bool {
        let mut watched = [PollFd::new(&self.0, PollFlags::IN)];
        retry(|| poll(&mut watched, Some(&Timespec::default()))).map_or(true, |ready| ready > 0)
    }

    /// Whether nobody holds the other end any more.
    pub(crate) fn is_finished(&self) -> bool {
        let mut watched = [PollFd::new(&self.0, PollFlags::empty())];
        // What cannot be asked is not there either.
        retry(|| poll(&mut watched, Some(&Timespec::default()))).map_or(true, |ready| ready > 0)
    }

    /// Waits until every process that held the other end is gone; `false` if that takes too long.
    pub(crate) fn wait_for_end(&self, patience: Duration) -> bool {
        let start = Instant::now();
        loop {
            let left = patience.saturating_sub(start.elapsed());
            let Ok(left) = Timespec::try_from(left) else {
                return false;
            };
            let mut watched = [PollFd::new(&self.0, PollFlags::IN)];
            match retry(|| poll(&mut watched, Some(&left))) {
                Ok(0) | Err(_) => return false,
                Ok(_) => {}
            }
            // What still arrives is of no interest any more, descriptors included.
            let mut rest = [0_u8; 4096];
            match retry(|| recv(&self.0, &mut rest[..], RecvFlags::DONTWAIT)) {
                Ok((_, 0)) => return true,
                Ok(_) | Err(Errno::AGAIN) => {}
                Err(_) => return true,
            }
        }
    }
}

/// Repeats a call that a signal interrupted.
pub(crate) fn retry<T>(mut call: impl FnMut() -> Result<T, Errno>) -> Result<T, Errno> {
    loop {
        match call() {
            Err(Errno::INTR) => {}
            done => return done,
        }
    }
}
