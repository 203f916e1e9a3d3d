//! The readers of the kernel's lists, in which others choose the names, for `crate::untrusted`.

use super::{aliases, sockets as bound};

/// Where something is mounted, as the paths in a list of mounts.
#[must_use]
pub fn mounts(list: &[u8]) -> Vec<palisade_policy::AbsolutePath> {
    let mounted = aliases::parse(list).into_iter();
    mounted.map(|mount| mount.at).collect()
}

/// The absolute paths of sockets in the kernel's list, and how many are relative.
#[must_use]
pub fn sockets(list: &[u8]) -> (Vec<Vec<u8>>, usize) {
    let (paths, relative) = bound::parse(list);
    (paths.into_keys().map(<[u8]>::to_vec).collect(), relative)
}
