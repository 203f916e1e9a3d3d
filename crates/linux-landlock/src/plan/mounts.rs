//! The mounts of the full tier, as steps that are done in order.

use palisade_policy::AbsolutePath;

/// One mount, at the path where the command will see it.
///
/// The steps come after the whole tree has been made read-only. Every host tree that [`Mount::Keep`] names is taken
/// aside before that, with the flags that it had.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mount {
    /// A fresh, empty, private directory: `/tmp`, `/dev/shm`, what hides a directory of sockets.
    Tmpfs {
        /// Where.
        at: AbsolutePath,
        /// Its permission bits.
        mode: u32,
    },
    /// A private `/dev` with nothing but these devices and the usual links.
    Devices {
        /// The devices, taken from the host.
        devices: Vec<Device>,
    },
    /// The host's tree, as it was before the root turned read-only; missing directories above it are made, because
    /// it may lie in a private place.
    Keep {
        /// Which.
        path: AbsolutePath,
        /// Whether it can be written.
        writable: bool,
    },
    /// A symbolic link in a private place.
    Link {
        /// Where.
        at: AbsolutePath,
        /// What it says.
        target: AbsolutePath,
    },
    /// A directory, or a file in the place of one, mounted on itself, so that it cannot be renamed or removed.
    Pin {
        /// Which.
        path: AbsolutePath,
    },
    /// A symbolic link mounted on itself, so that it cannot be replaced.
    PinLink {
        /// Which.
        path: AbsolutePath,
    },
    /// A path mounted on itself read-only.
    Protect {
        /// Which.
        path: AbsolutePath,
    },
    /// Something empty and unreadable in place of a path.
    Mask {
        /// What is hidden.
        path: AbsolutePath,
        /// What it is.
        kind: MaskKind,
    },
    /// A private writable layer over a directory of the host, which itself stays as it is.
    Overlay {
        /// The directory.
        path: AbsolutePath,
        /// Where the layer is kept.
        store: OverlayStore,
    },
}

/// What kind of thing a mask covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "whoever masks must know how")]
pub enum MaskKind {
    /// A directory: an empty one without permissions takes its place.
    Directory,
    /// Anything else: an empty file without permissions takes its place.
    File,
    /// A socket of the host: like a file, but one that is gone by then needs no mask. Nobody inside can make one that
    /// the host listens on.
    Socket,
}

/// Where the private layer of an overlay is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OverlayStore {
    /// In memory that belongs to the session and ends with it.
    Session,
    /// In this directory of the host, so that the next session finds it.
    Directory(AbsolutePath),
}

/// A device that holds nothing and is the same for everybody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a new device must be judged")]
pub enum Device {
    /// `/dev/null`.
    Null,
    /// `/dev/zero`.
    Zero,
    /// `/dev/full`.
    Full,
    /// `/dev/random`.
    Random,
    /// `/dev/urandom`.
    Urandom,
    /// `/dev/tty`.
    Tty,
}

impl Device {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Null,
        Self::Zero,
        Self::Full,
        Self::Random,
        Self::Urandom,
        Self::Tty,
    ];

    /// The name below `/dev`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Zero => "zero",
            Self::Full => "full",
            Self::Random => "random",
            Self::Urandom => "urandom",
            Self::Tty => "tty",
        }
    }
}
