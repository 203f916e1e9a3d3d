//! The mounts of the full tier: one walk over every place where a clause begins, outer places first, so that the most
//! specific mount comes last and decides.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;

use palisade_policy::{
    AbsolutePath, Access, PathCase, Peer, PolicyError, ResolvedPolicy, UnixAddress,
};

use super::areas::{Area, Areas, PrivatePlace, State, look_up, works_on_a_layer};
use crate::host::{Entry, GitDirs, LinuxHost};
use crate::plan::{Device, GitOverlay, MaskKind, Mount, OverlayStore};

/// More masks than this cost more than they are worth: the rest is reported.
pub(super) const MAX_SOCKET_MASKS: usize = 256;

/// What the mounts so far make of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Region {
    /// The host's, read-only.
    ReadOnly,
    /// The host's, writable.
    Writable,
    /// A fresh directory: nothing of the host's is there.
    Fresh,
    /// A private layer over a directory of the host.
    Overlay,
    /// Hidden.
    Masked,
}

/// What the walk made.
#[derive(Debug, Default)]
pub(super) struct Built {
    pub(super) mounts: Vec<Mount>,
    pub(super) placeholders: Vec<AbsolutePath>,
    pub(super) git: Vec<GitOverlay>,
    /// Which region begins at each mounted path.
    pub(super) regions: BTreeMap<AbsolutePath, Region>,
    /// Guarded links in writable places that lead nowhere.
    pub(super) dangling: Vec<AbsolutePath>,
    /// Sockets that are visible because there are too many.
    pub(super) open_sockets: usize,
    /// Why a git directory could not be overlaid.
    pub(super) no_git: Option<String>,
    pub(super) notes: Vec<String>,
    pinned: BTreeSet<AbsolutePath>,
    /// Git directories that will be overlaid.
    overlaid: Vec<AbsolutePath>,
    /// What may have to be brought back below a masked directory.
    kept: Vec<AbsolutePath>,
    socket_masks: usize,
    /// Where layers over caches can be kept.
    store: Option<AbsolutePath>,
}

impl Built {
    /// What holds at a path, by the deepest mount above it, and where that mount is.
    fn enclosing(&self, path: &AbsolutePath) -> (Option<&AbsolutePath>, Region) {
        let mut last = Some(Cow::Borrowed(path));
        while let Some(end) = last {
            let Some((at, region)) = self.regions.range(..=&*end).next_back() else {
                break;
            };
            if at.covers(path, PathCase::Sensitive) {
                return (Some(at), *region);
            }
            // What is below a path follows it directly, so a mount above this one path is above the other too.
            last = at.common_ancestor(path).map(Cow::Owned);
        }
        (None, Region::ReadOnly)
    }

    /// What holds at a path.
    pub(super) fn region(&self, path: &AbsolutePath) -> Region {
        self.enclosing(path).1
    }

    /// A mount at a path, with the directories above it pinned where somebody could move them away.
    fn mount(&mut self, at: &AbsolutePath, mount: Mount, region: Option<Region>) {
        self.pin_above(at);
        self.mounts.push(mount);
        if let Some(region) = region {
            self.regions.insert(at.clone(), region);
        }
    }

    fn pin_above(&mut self, at: &AbsolutePath) {
        let Some(parent) = at.parent() else { return };
        let (Some(outer), Region::Writable) = self.enclosing(&parent) else {
            return;
        };
        let mut between: Vec<AbsolutePath> = parent
            .as_path()
            .ancestors()
            .take_while(|above| *above != outer.as_path())
            .filter_map(|above| AbsolutePath::new(above).ok())
            .collect();
        between.reverse();
        for path in between {
            if self.pinned.insert(path.clone()) {
                self.mounts.push(Mount::Pin { path });
            }
        }
    }

    fn pin(&mut self, at: &AbsolutePath) {
        let mounted = self.regions.contains_key(at) || self.pinned.contains(at);
        if self.region(at) == Region::Writable && !mounted {
            self.pinned.insert(at.clone());
            self.mount(at, Mount::Pin { path: at.clone() }, None);
        }
    }
}

/// Something that begins at a path, in the order in which it is looked at.
enum Item<'a> {
    Devices,
    SocketDirectory,
    Area(&'a Area),
    Git,
    Link(&'a AbsolutePath),
    PinLink { dangling: bool },
    Pin,
    Visible,
    Socket { allowed: bool },
}

impl Item<'_> {
    fn stays_visible(&self) -> bool {
        match self {
            Self::Visible | Self::Socket { allowed: true } => true,
            Self::Area(area) => {
                area.entry != Entry::Missing
                    && match area.state {
                        State::ReadOnly | State::Writable => true,
                        State::Private => area.private == Some(PrivatePlace::Cache),
                        State::Masked | State::PrivateReadOnly => false,
                    }
            }
            _ => false,
        }
    }
}

/// Lays out the mounts.
pub(super) fn build(
    policy: &ResolvedPolicy,
    host: &LinuxHost,
    areas: &Areas,
) -> Result<Built, PolicyError> {
    let items = items(policy, host, areas)?;
    let mut built = Built {
        overlaid: private_git(policy, host)
            .map(|git| git.common_dir.clone())
            .collect(),
        kept: items
            .iter()
            .filter(|(_, item)| item.stays_visible())
            .map(|(path, _)| path.clone())
            .collect(),
        ..Built::default()
    };
    match &host.cache_store {
        // A layer that a command could reach by itself would change under the overlay.
        Some(store) if matches!(State::of(policy, store), State::Writable | State::Private) => {
            built.notes.push(format!(
                "what tools write to their caches ends with the session, because {store} can be written in it"
            ));
        }
        store => built.store.clone_from(store),
    }
    for (path, item) in &items {
        match item {
            Item::Devices => built.mount(
                path,
                Mount::Devices {
                    devices: Device::ALL.to_vec(),
                },
                Some(Region::Fresh),
            ),
            Item::SocketDirectory => {
                if built.region(path) == Region::ReadOnly {
                    let at = path.clone();
                    built.mount(path, Mount::Tmpfs { at, mode: 0o755 }, Some(Region::Fresh));
                }
            }
            Item::Area(area) => built.area(path, area),
            Item::Git => built.git_overlay(path),
            Item::Link(target) => {
                if built.region(path) == Region::Fresh {
                    built.mounts.push(Mount::Link {
                        at: path.clone(),
                        target: (*target).clone(),
                    });
                }
            }
            Item::PinLink { dangling } => {
                if built.region(path) == Region::Writable {
                    let link = path.clone();
                    built.mount(path, Mount::PinLink { path: link }, None);
                    if *dangling {
                        built.dangling.push(path.clone());
                    }
                }
            }
            Item::Pin => built.pin(path),
            Item::Visible => built.keep_visible(path),
            Item::Socket { allowed: true } => built.keep_visible(path),
            Item::Socket { allowed: false } => built.mask_socket(path),
        }
    }
    for git in private_git(policy, host) {
        if built.regions.get(&git.common_dir) == Some(&Region::Overlay) {
            built.git.push(GitOverlay {
                common_dir: git.common_dir.clone(),
                git_dir: git.git_dir.clone(),
            });
        }
    }
    Ok(built)
}

/// The git directories that the session works on through a layer of its own.
fn private_git<'a>(
    policy: &'a ResolvedPolicy,
    host: &'a LinuxHost,
) -> impl Iterator<Item = &'a GitDirs> {
    let git = host.places.git.iter();
    git.filter(|(root, git)| works_on_a_layer(policy, &host.places, root, git))
        .map(|(_, git)| git)
}

/// Everything that begins somewhere, outer paths first.
fn items<'a>(
    policy: &'a ResolvedPolicy,
    host: &'a LinuxHost,
    areas: &'a Areas,
) -> Result<Vec<(AbsolutePath, Item<'a>)>, PolicyError> {
    let places = &host.places;
    let mut items: Vec<(AbsolutePath, Item<'a>)> = Vec::new();
    items.extend(
        AbsolutePath::new("/dev")
            .ok()
            .map(|dev| (dev, Item::Devices)),
    );
    for directory in &places.socket_dirs {
        items.push((directory.path.clone(), Item::SocketDirectory));
        let links = directory.links.iter();
        items.extend(links.map(|(at, target)| (at.clone(), Item::Link(target))));
        if policy.canonical().has_full_network() {
            let files = directory.network_files.iter();
            items.extend(files.map(|file| (file.clone(), Item::Visible)));
        }
    }
    for (path, area) in &areas.places {
        items.push((path.clone(), Item::Area(area)));
    }
    for git in private_git(policy, host) {
        items.push((git.common_dir.clone(), Item::Git));
    }
    for link in &areas.links {
        let dangling = areas.dangling.contains(link);
        items.push((link.clone(), Item::PinLink { dangling }));
    }
    items.extend(
        areas
            .in_the_way
            .iter()
            .map(|file| (file.clone(), Item::Pin)),
    );
    let mut granted = Vec::new();
    if let Some((_, local)) = policy.canonical().rules() {
        for path in &local.unix_paths {
            let located = look_up(policy, places, path)?;
            let secret = State::of(policy, path) == State::Masked;
            match &located.entry {
                Entry::Missing | Entry::Symlink { .. } | Entry::File => {}
                // Naming a directory in a secret place opens its sockets, not its files.
                Entry::Directory if secret => {}
                Entry::Directory | Entry::Other => {
                    items.push((located.real.clone(), Item::Visible));
                }
            }
            granted.push(&located.real);
        }
    }
    for socket in &places.sockets {
        let access = Access::Unix {
            address: UnixAddress::Path(socket.clone()),
            peer: Peer::Host,
        };
        let by_real_name = || {
            granted
                .iter()
                .any(|granted| socket.as_path().starts_with(granted.as_path()))
                && State::of(policy, socket) != State::Masked
        };
        let allowed = policy.place(&access).is_some() || by_real_name();
        items.push((socket.clone(), Item::Socket { allowed }));
    }
    // The sort is stable: at one path, the order above is the order of the steps.
    items.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(items)
}

impl Built {
    fn area(&mut self, path: &AbsolutePath, area: &Area) {
        let region = self.region(path);
        let keep = |writable| Mount::Keep {
            path: path.clone(),
            writable,
        };
        match (area.state, region) {
            (_, _) if area.entry == Entry::Missing && area.private != Some(PrivatePlace::Fresh) => {
                self.missing(path, area, region);
            }
            (State::Masked, Region::Fresh | Region::Masked) => {}
            (State::Masked, _) => self.mask(path, area),
            (State::PrivateReadOnly, _) if area.private == Some(PrivatePlace::Fresh) => {
                let at = path.clone();
                self.mount(path, Mount::Tmpfs { at, mode: 0o555 }, Some(Region::Fresh));
            }
            (State::PrivateReadOnly, Region::Overlay | Region::Writable)
            | (State::ReadOnly, Region::Writable) => {
                let protect = Mount::Protect { path: path.clone() };
                self.mount(path, protect, Some(Region::ReadOnly));
            }
            (State::PrivateReadOnly, _) => {}
            (State::ReadOnly, Region::ReadOnly) => {}
            // A device would be writable through any mount, so none is brought back by naming it.
            (State::ReadOnly, Region::Fresh) if area.entry == Entry::Other => {}
            (State::ReadOnly, Region::Fresh) if area.visible => {
                self.mount(path, keep(false), Some(Region::ReadOnly));
            }
            (State::ReadOnly, Region::Fresh) => {}
            (State::ReadOnly, Region::Overlay | Region::Masked) => {
                self.mount(path, keep(false), Some(Region::ReadOnly));
            }
            (State::Private, _) => self.private(path, area, region),
            (State::Writable, Region::Writable) if area.root || area.private.is_some() => {
                self.pin(path)
            }
            (State::Writable, Region::Writable) => {}
            (State::Writable, _) => self.mount(path, keep(true), Some(Region::Writable)),
        }
    }

    fn mask(&mut self, path: &AbsolutePath, area: &Area) {
        let below =
            |inner: &AbsolutePath| inner != path && inner.as_path().starts_with(path.as_path());
        let reopened = self.kept.iter().any(below);
        let mount = match area.entry {
            // Something below stays reachable, so the directory can be passed, not listed.
            Entry::Directory if reopened => Mount::Tmpfs {
                at: path.clone(),
                mode: 0o111,
            },
            Entry::Directory => Mount::Mask {
                path: path.clone(),
                kind: MaskKind::Directory,
            },
            _ => Mount::Mask {
                path: path.clone(),
                kind: MaskKind::File,
            },
        };
        self.mount(path, mount, Some(Region::Masked));
    }

    /// A guarded path that does not exist: an empty directory takes the name, so that nobody else can.
    fn missing(&mut self, path: &AbsolutePath, area: &Area, region: Region) {
        let guarded = area.state.denies() || area.private == Some(PrivatePlace::Git);
        if region != Region::Writable || !guarded {
            return;
        }
        let mut chain: Vec<AbsolutePath> = path
            .as_path()
            .ancestors()
            .take(area.missing_above + 1)
            .filter_map(|above| AbsolutePath::new(above).ok())
            .collect();
        chain.reverse();
        for missing in chain {
            if !self.placeholders.contains(&missing) {
                self.placeholders.push(missing);
            }
        }
        let (mount, region) = match area.state {
            State::Masked => (
                Mount::Mask {
                    path: path.clone(),
                    kind: MaskKind::Directory,
                },
                Region::Masked,
            ),
            _ => (Mount::Protect { path: path.clone() }, Region::ReadOnly),
        };
        self.mount(path, mount, Some(region));
    }

    fn private(&mut self, path: &AbsolutePath, area: &Area, region: Region) {
        match area.private {
            Some(PrivatePlace::Fresh) => {
                let at = path.clone();
                self.mount(path, Mount::Tmpfs { at, mode: 0o1777 }, Some(Region::Fresh));
            }
            // In a fresh place the host's cache is not seen anyway, and everything is private.
            Some(PrivatePlace::Cache) if region != Region::Fresh => {
                self.keep_visible(path);
                let overlay = Mount::Overlay {
                    path: path.clone(),
                    store: cache_store(self.store.as_ref(), path),
                };
                self.mount(path, overlay, Some(Region::Overlay));
            }
            // What is overlaid is left to `Item::Git`; anything else, such as a file that leads there, stays as it is.
            Some(PrivatePlace::Git)
                if region == Region::Writable && !self.overlaid.contains(path) =>
            {
                let protect = Mount::Protect { path: path.clone() };
                self.mount(path, protect, Some(Region::ReadOnly));
            }
            // Below a private place nothing begins.
            None | Some(PrivatePlace::Cache | PrivatePlace::Git) => {}
        }
    }

    fn git_overlay(&mut self, common: &AbsolutePath) {
        match self.region(common) {
            Region::ReadOnly | Region::Writable => {
                let overlay = Mount::Overlay {
                    path: common.clone(),
                    store: OverlayStore::Session,
                };
                if self.regions.get(common) != Some(&Region::Overlay) {
                    self.mount(common, overlay, Some(Region::Overlay));
                }
            }
            Region::Overlay if self.regions.contains_key(common) => {}
            Region::Overlay | Region::Fresh | Region::Masked => {
                self.no_git = Some(format!(
                    "the git directory {common} lies in a place that the session does not share with the host"
                ));
            }
        }
    }

    /// Brings something of the host's back into a place that would hide it.
    fn keep_visible(&mut self, path: &AbsolutePath) {
        if matches!(self.region(path), Region::Fresh | Region::Masked) {
            let keep = Mount::Keep {
                path: path.clone(),
                writable: false,
            };
            self.mount(path, keep, Some(Region::ReadOnly));
        }
    }

    fn mask_socket(&mut self, path: &AbsolutePath) {
        match self.region(path) {
            Region::Fresh | Region::Masked => {}
            Region::ReadOnly | Region::Writable | Region::Overlay => {
                if self.socket_masks == MAX_SOCKET_MASKS {
                    self.open_sockets += 1;
                    return;
                }
                self.socket_masks += 1;
                // A socket that moves takes its mask along, but the kernel lists it where it was bound: the next
                // session would not find it. So what is above it stays where it is.
                let mask = Mount::Mask {
                    path: path.clone(),
                    kind: MaskKind::Socket,
                };
                self.mount(path, mask, Some(Region::Masked));
            }
        }
    }
}

/// Where the layer over a cache is kept: a directory of its own for each cache.
fn cache_store(store: Option<&AbsolutePath>, cache: &AbsolutePath) -> OverlayStore {
    let Some(store) = store else {
        return OverlayStore::Session;
    };
    let mut name = OsString::new();
    for part in cache.as_path().components().skip(1) {
        name.push("%");
        name.push(part.as_os_str());
    }
    AbsolutePath::new(store.as_path().join(name))
        .map_or(OverlayStore::Session, OverlayStore::Directory)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn any_path() -> impl Strategy<Value = AbsolutePath> {
        proptest::collection::vec("[ab-]{1,2}", 0..5)
            .prop_map(|names| AbsolutePath::new(format!("/{}", names.join("/"))).unwrap())
    }

    proptest! {
        #[test]
        fn the_deepest_mount_above_a_path_decides(
            mounted in proptest::collection::btree_set(any_path(), 0..20),
            path in any_path(),
        ) {
            let built = Built {
                regions: mounted.iter().cloned().map(|at| (at, Region::Writable)).collect(),
                ..Built::default()
            };
            let deepest = path
                .as_path()
                .ancestors()
                .find_map(|above| mounted.iter().find(|at| at.as_path() == above));
            prop_assert_eq!(built.enclosing(&path).0, deepest);
        }
    }
}
