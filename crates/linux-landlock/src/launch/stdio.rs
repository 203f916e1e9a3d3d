//! The three descriptors of a command.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{FileType, fstat};
use rustix::net::{AddressFamily, SocketType, getpeername, sockopt};

use super::error::LaunchError;
use crate::plan::{NetworkNamespace, Plan, Tier};

/// Descriptors 0, 1 and 2 of a command. They are not closed here: the command gets copies.
#[derive(Debug)]
pub struct Stdio {
    descriptors: [OwnedFd; 3],
}

impl Stdio {
    /// These three: pipes, a terminal, or files that the user redirected. What a command could reach beyond the sandbox
    /// through is refused when it is started: a directory, a block device, a socket that can be connected elsewhere.
    ///
    /// In a session with mounts of its own, a file that is only open for reading is opened again as the session sees it,
    /// from the same offset; one that the session does not see comes through a pipe. A file that is open for writing is
    /// handed over as it is, and its mode and times with it.
    #[must_use]
    pub const fn new(stdin: OwnedFd, stdout: OwnedFd, stderr: OwnedFd) -> Self {
        Self {
            descriptors: [stdin, stdout, stderr],
        }
    }

    /// `/dev/null`, three times.
    ///
    /// # Errors
    /// The device cannot be opened.
    pub fn null() -> io::Result<Self> {
        let null = OwnedFd::from(File::options().read(true).write(true).open("/dev/null")?);
        Ok(Self::new(null.try_clone()?, null.try_clone()?, null))
    }

    pub(super) fn descriptors(&self) -> [BorrowedFd<'_>; 3] {
        self.descriptors.each_ref().map(AsFd::as_fd)
    }

    /// Refuses what a command could use to reach beyond its sandbox.
    ///
    /// A regular file can be opened again through `/proc`, with more rights than the descriptor has: Landlock judges
    /// that, so without Landlock only pipes, sockets and devices pass. A socket keeps the network that it was made in.
    pub(super) fn check(&self, landlock: bool, network: Network) -> Result<(), LaunchError> {
        for (number, descriptor) in (0..).zip(self.descriptors()) {
            let status = fstat(descriptor).map_err(LaunchError::system)?;
            let what = match FileType::from_raw_mode(status.st_mode) {
                FileType::RegularFile if !landlock => "a file where the kernel has no Landlock",
                FileType::RegularFile | FileType::Fifo | FileType::CharacterDevice => continue,
                FileType::Socket if network == Network::Open || is_one_conversation(descriptor) => {
                    continue;
                }
                FileType::Socket => "a socket that can be connected to somebody else",
                FileType::Directory => "a directory",
                FileType::BlockDevice => "a block device",
                FileType::Symlink | FileType::Unknown => "neither a file, a pipe nor a terminal",
            };
            return Err(LaunchError::Descriptor { number, what });
        }
        Ok(())
    }
}

/// Whether the session has the host's network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Network {
    /// It has.
    Open,
    /// It has none, or one of its own.
    Closed,
}

impl Network {
    /// What a plan says. Without namespaces the filter alone keeps the network closed.
    pub(super) fn of(plan: &Plan) -> Self {
        match plan.network {
            NetworkNamespace::Host if plan.tier == Tier::Full => Self::Open,
            _ => Self::Closed,
        }
    }
}

/// Whether a socket leads to its peer and nowhere else. A connected Unix stream can neither be connected again nor be
/// told an address; any other socket can, and would do so in the network of the host.
fn is_one_conversation(socket: BorrowedFd<'_>) -> bool {
    let local = sockopt::socket_domain(socket) == Ok(AddressFamily::UNIX);
    let connected = matches!(
        sockopt::socket_type(socket),
        Ok(SocketType::STREAM | SocketType::SEQPACKET)
    );
    local && connected && getpeername(socket).is_ok()
}
