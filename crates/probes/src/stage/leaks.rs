//! Descriptors that a careless caller would hand on.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;

use crate::sys::files::leak;

/// Children of this process inherit these.
#[derive(Debug)]
pub(super) struct Leaks {
    file: OwnedFd,
    secret: OwnedFd,
    socket: OwnedFd,
    /// The other end of the socket.
    end: UnixStream,
}

impl Leaks {
    pub(super) fn open(root: &Path) -> io::Result<Self> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .open(root.join("outside/leaked"))?;
        let secret = File::open(root.join("outside/leaked-secret"))?;
        let (socket, end) = UnixStream::pair()?;
        end.set_nonblocking(true)?;
        Ok(Self {
            file: leak(&file)?,
            secret: leak(&secret)?,
            socket: leak(&socket)?,
            end,
        })
    }

    pub(super) fn file_number(&self) -> i32 {
        self.file.as_raw_fd()
    }

    pub(super) fn secret_number(&self) -> i32 {
        self.secret.as_raw_fd()
    }

    pub(super) fn socket_number(&self) -> i32 {
        self.socket.as_raw_fd()
    }

    /// What arrived over the socket.
    pub(super) fn heard(&self) -> Option<String> {
        let mut bytes = [0_u8; 64];
        match (&self.end).read(&mut bytes) {
            Ok(1..) => Some("the leaked socket was written".to_owned()),
            _ => None,
        }
    }
}
