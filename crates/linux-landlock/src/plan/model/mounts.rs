//! What a command sees after the mounts of a plan, by the rules of the kernel: at each path, the last mount that covers
//! it decides.

use palisade_policy::AbsolutePath;

use crate::plan::{Mount, Plan};

/// What a command finds at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "whoever compares must know what a new view means"
)]
pub enum View {
    /// The host's file, read-only.
    HostReadOnly,
    /// The host's file, writable.
    HostWritable,
    /// Something fresh, with nothing of the host's in it.
    Fresh,
    /// The same, but nobody in the session can change it.
    Sealed,
    /// The host's file through a private layer.
    Layer,
    /// The same, not writable.
    LayerReadOnly,
    /// Nothing that could be read.
    Hidden,
}

impl View {
    /// Whether something of the host's is seen there.
    #[must_use]
    pub const fn shows_the_host(self) -> bool {
        !matches!(self, Self::Fresh | Self::Sealed | Self::Hidden)
    }

    /// Whether what is seen there can be changed.
    #[must_use]
    pub const fn is_writable(self) -> bool {
        matches!(self, Self::HostWritable | Self::Fresh | Self::Layer)
    }

    /// What a path looks like after the first mounts.
    fn after(mounts: &[Mount], path: &AbsolutePath) -> Self {
        let Some((last, before)) = mounts.split_last() else {
            return Self::HostReadOnly;
        };
        let covers = target(last).is_some_and(|at| path.as_path().starts_with(at.as_path()));
        if !covers {
            return Self::after(before, path);
        }
        let on_itself = Self::after(before, path);
        match last {
            Mount::Tmpfs { mode, .. } if mode & 0o002 == 0 => Self::Sealed,
            Mount::Tmpfs { .. } | Mount::Devices { .. } => Self::Fresh,
            Mount::Keep { writable: true, .. } => Self::HostWritable,
            Mount::Keep {
                writable: false, ..
            } => Self::HostReadOnly,
            Mount::Mask { .. } => Self::Hidden,
            // A layer over what is seen there: nothing of the host's comes into a fresh place by itself.
            Mount::Overlay { .. } if on_itself.shows_the_host() => Self::Layer,
            Mount::Protect { .. } => match on_itself {
                Self::HostWritable => Self::HostReadOnly,
                Self::Layer => Self::LayerReadOnly,
                other => other,
            },
            _ => on_itself,
        }
    }
}

/// Where a mount is.
#[must_use]
pub fn target(mount: &Mount) -> Option<AbsolutePath> {
    match mount {
        Mount::Tmpfs { at, .. } => Some(at.clone()),
        Mount::Devices { .. } => AbsolutePath::new("/dev").ok(),
        Mount::Keep { path, .. }
        | Mount::Pin { path }
        | Mount::PinLink { path }
        | Mount::Protect { path }
        | Mount::Mask { path, .. }
        | Mount::Overlay { path, .. } => Some(path.clone()),
        _ => None,
    }
}

/// What a command of this plan finds at a path without links in it.
#[must_use]
pub fn view(plan: &Plan, path: &AbsolutePath) -> View {
    View::after(&plan.mounts, path)
}

/// Whether a path is a mount point, which nobody can rename or remove.
#[must_use]
pub fn is_mount_point(plan: &Plan, path: &AbsolutePath) -> bool {
    plan.mounts
        .iter()
        .any(|mount| target(mount).as_ref() == Some(path))
}

/// The mount that a path belongs to: the last one that covers it, by its number; `None` is the root of the file system.
/// Nothing is renamed from one mount to another.
#[must_use]
pub fn mount_of(plan: &Plan, path: &AbsolutePath) -> Option<usize> {
    plan.mounts
        .iter()
        .rposition(|mount| target(mount).is_some_and(|at| path.as_path().starts_with(at.as_path())))
}
