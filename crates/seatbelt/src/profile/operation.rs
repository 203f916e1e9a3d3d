//! What a command does, as Seatbelt names it.

use std::borrow::Cow;
use std::fmt;

/// The name of an operation, such as `file-write*`. A `*` stands for the operations whose names begin so.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Operation(Cow<'static, str>);

impl Operation {
    /// `default`: what every other operation falls back to.
    pub const DEFAULT: Self = Self::constant("default");
    /// `file-read*`
    pub const FILE_READ: Self = Self::constant("file-read*");
    /// `file-write*`
    pub const FILE_WRITE: Self = Self::constant("file-write*");
    /// `file-write-unlink`: removing an entry, and the first half of a rename.
    pub const FILE_WRITE_UNLINK: Self = Self::constant("file-write-unlink");
    /// `file-write-create`: making an entry, and the second half of a rename.
    pub const FILE_WRITE_CREATE: Self = Self::constant("file-write-create");
    /// `file-read-data`: the content of a file, the entries of a directory.
    pub const FILE_READ_DATA: Self = Self::constant("file-read-data");
    /// `file-read-metadata`: what is known about an entry without opening it.
    pub const FILE_READ_METADATA: Self = Self::constant("file-read-metadata");
    /// `file-read-xattr`: extended attributes.
    pub const FILE_READ_XATTR: Self = Self::constant("file-read-xattr");
    /// `file-test-existence`: whether there is something.
    pub const FILE_TEST_EXISTENCE: Self = Self::constant("file-test-existence");
    /// `file-map-executable`: loading code from a file.
    pub const FILE_MAP_EXECUTABLE: Self = Self::constant("file-map-executable");
    /// `file-write-data`: the content of a file.
    pub const FILE_WRITE_DATA: Self = Self::constant("file-write-data");
    /// `file-write-flags`
    pub const FILE_WRITE_FLAGS: Self = Self::constant("file-write-flags");
    /// `file-write-mode`
    pub const FILE_WRITE_MODE: Self = Self::constant("file-write-mode");
    /// `file-write-owner`
    pub const FILE_WRITE_OWNER: Self = Self::constant("file-write-owner");
    /// `file-write-times`
    pub const FILE_WRITE_TIMES: Self = Self::constant("file-write-times");
    /// `file-write-xattr`
    pub const FILE_WRITE_XATTR: Self = Self::constant("file-write-xattr");
    /// `file-ioctl`: control of a device.
    pub const FILE_IOCTL: Self = Self::constant("file-ioctl");
    /// `system-socket`: making a socket, of any kind.
    pub const SYSTEM_SOCKET: Self = Self::constant("system-socket");
    /// `process-exec*`
    pub const PROCESS_EXEC: Self = Self::constant("process-exec*");
    /// `network-outbound`
    pub const NETWORK_OUTBOUND: Self = Self::constant("network-outbound");
    /// `network-inbound`
    pub const NETWORK_INBOUND: Self = Self::constant("network-inbound");
    /// `network-bind`
    pub const NETWORK_BIND: Self = Self::constant("network-bind");

    pub(crate) const fn constant(name: &'static str) -> Self {
        Self(Cow::Borrowed(name))
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
