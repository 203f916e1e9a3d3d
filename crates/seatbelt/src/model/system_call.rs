//! What a system call asks a profile: several operations, all of which must be allowed.
//!
//! Which operations the kernel checks is known from published tests; what it checks beside them is not modelled. A call
//! that asks more than this is refused more often on a Mac, never less.

use palisade_policy::AbsolutePath;

use super::request::{Address, Name, Request};
use crate::profile::{Operation, VnodeType};

/// Something that a program does, with paths as the kernel resolved them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SystemCall {
    /// `open` for reading, or listing a directory.
    OpenForReading(AbsolutePath),
    /// `stat`, `access`.
    Stat(AbsolutePath),
    /// `getxattr`.
    ReadAttribute(AbsolutePath),
    /// `open` for writing of what is there.
    OpenForWriting(AbsolutePath),
    /// `truncate`.
    Truncate(AbsolutePath),
    /// `chmod`.
    ChangeMode(AbsolutePath),
    /// `chown`.
    ChangeOwner(AbsolutePath),
    /// `chflags`.
    ChangeFlags(AbsolutePath),
    /// `utimes`.
    ChangeTimes(AbsolutePath),
    /// `setxattr`.
    WriteAttribute(AbsolutePath),
    /// `acl_set_file`.
    ChangeAcl(AbsolutePath),
    /// `open` with `O_CREAT` of what is not there.
    Create(AbsolutePath),
    /// `mkdir`.
    MakeDirectory(AbsolutePath),
    /// `symlink`.
    MakeSymlink(AbsolutePath),
    /// `unlink`.
    Unlink(AbsolutePath),
    /// `rmdir`.
    RemoveDirectory(AbsolutePath),
    /// `rename`.
    Rename {
        /// The old name.
        from: AbsolutePath,
        /// The new name.
        to: AbsolutePath,
        /// Whether something is there, which goes.
        replaces: bool,
    },
    /// `renamex_np` with `RENAME_SWAP`, and `exchangedata`.
    Swap {
        /// One.
        one: AbsolutePath,
        /// The other.
        other: AbsolutePath,
    },
    /// `link`: a second name for what is there.
    Link {
        /// What is there.
        existing: AbsolutePath,
        /// The new name.
        new: AbsolutePath,
    },
    /// `clonefile`: a copy of what is there.
    Clone {
        /// What is there.
        existing: AbsolutePath,
        /// The new name.
        new: AbsolutePath,
    },
    /// `execve`.
    Execute(AbsolutePath),
    /// `socket`.
    Socket(String),
    /// `connect`, also to a local socket.
    Connect(Address),
    /// `bind`. A local socket is an entry that is made.
    Bind(Address),
    /// `listen` on an address that is bound, and `accept`.
    Listen(Address),
}

impl SystemCall {
    /// What the kernel asks, in no particular order.
    #[must_use]
    pub fn requests(&self) -> Vec<Request> {
        const READ_DATA: &str = "file-read-data";
        const READ_METADATA: &str = "file-read-metadata";
        const WRITE_DATA: &str = "file-write-data";
        const WRITE_MODE: &str = "file-write-mode";

        let about = |name: &'static str, path: &AbsolutePath| {
            Request::new(Operation::constant(name)).at(path.clone())
        };
        let create = |path: &AbsolutePath, vnode_type| {
            Request::new(Operation::FILE_WRITE_CREATE)
                .at(path.clone())
                .of_type(vnode_type)
        };
        let unlink =
            |path: &AbsolutePath| Request::new(Operation::FILE_WRITE_UNLINK).at(path.clone());
        // What a move brings is whatever was there: nothing is said about its kind, so filters about kinds do not hold.
        let arrive =
            |path: &AbsolutePath| Request::new(Operation::FILE_WRITE_CREATE).at(path.clone());
        match self {
            Self::OpenForReading(path) => vec![about(READ_DATA, path)],
            Self::Stat(path) => vec![about(READ_METADATA, path)],
            Self::ReadAttribute(path) => vec![about("file-read-xattr", path)],
            Self::OpenForWriting(path) | Self::Truncate(path) => vec![about(WRITE_DATA, path)],
            Self::ChangeMode(path) => vec![about(WRITE_MODE, path)],
            Self::ChangeOwner(path) => vec![about("file-write-owner", path)],
            Self::ChangeFlags(path) => vec![about("file-write-flags", path)],
            Self::ChangeTimes(path) => vec![about("file-write-times", path)],
            Self::WriteAttribute(path) => vec![about("file-write-xattr", path)],
            Self::ChangeAcl(path) => vec![about("file-write-acl", path)],
            Self::Create(path) => {
                let file = VnodeType::RegularFile;
                vec![create(path, file), about(WRITE_DATA, path).of_type(file)]
            }
            Self::MakeDirectory(path) => vec![create(path, VnodeType::Directory)],
            Self::MakeSymlink(path) => vec![create(path, VnodeType::Symlink)],
            Self::Unlink(path) | Self::RemoveDirectory(path) => vec![unlink(path)],
            Self::Rename { from, to, replaces } => {
                let mut requests = vec![unlink(from), arrive(to)];
                if *replaces {
                    requests.push(unlink(to));
                }
                requests
            }
            Self::Swap { one, other } => {
                vec![unlink(one), arrive(other), unlink(other), arrive(one)]
            }
            Self::Link { existing, new } => {
                vec![about("file-link", existing), arrive(new)]
            }
            Self::Clone { existing, new } => vec![
                about("file-clone", existing),
                about(READ_DATA, existing),
                arrive(new),
            ],
            Self::Execute(path) => {
                let mut requests = vec![
                    about("process-exec*", path),
                    about(READ_DATA, path),
                    about(READ_METADATA, path),
                ];
                let mut above = path.parent();
                while let Some(directory) = above {
                    requests.push(about(READ_METADATA, &directory));
                    above = directory.parent();
                }
                requests
            }
            Self::Socket(domain) => {
                let name = Name::SocketDomain(domain.clone());
                vec![Request::new(Operation::constant("system-socket")).named(name)]
            }
            Self::Connect(address) => {
                vec![Request::new(Operation::NETWORK_OUTBOUND).to(address.clone())]
            }
            Self::Bind(address) => {
                let bind = Request::new(Operation::NETWORK_BIND).from(address.clone());
                match address {
                    Address::Internet { .. } => vec![bind],
                    Address::Unix(path) => vec![bind, create(path, VnodeType::Socket)],
                }
            }
            Self::Listen(address) => {
                vec![Request::new(Operation::NETWORK_INBOUND).from(address.clone())]
            }
        }
    }
}
