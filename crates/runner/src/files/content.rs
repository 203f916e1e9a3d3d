//! What is handed out about files.

use std::fmt;

use palisade_policy::AbsolutePath;

/// What kind of thing a path names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FileKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// A named pipe.
    Pipe,
    /// A socket.
    Socket,
    /// A device.
    Device,
    /// Something else.
    Other,
}

impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::File => "a file",
            Self::Directory => "a directory",
            Self::Link => "a symbolic link",
            Self::Pipe => "a named pipe",
            Self::Socket => "a socket",
            Self::Device => "a device",
            Self::Other => "a special file",
        })
    }
}

/// What is known about a file or a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileInfo {
    /// Its path without links: the one that was judged.
    pub path: AbsolutePath,
    /// What it is.
    pub kind: FileKind,
    /// Its size in bytes.
    pub len: u64,
    /// Whether its owner may execute it; never on systems without such permissions.
    pub executable: bool,
    /// How many names it has. With more than one, another name may be one that the policy guards, and nobody can tell.
    pub links: u64,
}

/// A file that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Content {
    /// What is in it.
    pub bytes: Vec<u8>,
    /// What is known about it.
    pub info: FileInfo,
}

/// What kind of file to make.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a file can be executed or not")]
pub enum NewFile {
    /// One that is not executed.
    #[default]
    Plain,
    /// One that can be executed.
    Executable,
}

/// How a file got its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[must_use = "a file that was written in place can be seen half written"]
pub enum Written {
    /// It is new.
    Created,
    /// A new file took the place of the old one, at once.
    Replaced {
        /// Whether it has the owner of the old one.
        owner_kept: bool,
    },
    /// The policy opens this file and not its directory, so its content was changed in place: not at once.
    InPlace,
}
