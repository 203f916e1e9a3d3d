//! A small file system: a tree of objects, each with its descriptor.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::Component;

use palisade_policy::{AbsolutePath, PathCase};

use super::descriptor::{Descriptor, Kind};

/// A file system. Names lead to objects; a file may have several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSystem {
    objects: BTreeMap<ObjectId, Object>,
    root: ObjectId,
    next: u32,
    case: PathCase,
    held: BTreeSet<ObjectId>,
}

/// Which object, whatever it is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId(u32);

/// A file or directory.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Object {
    /// Who may do what with it.
    pub descriptor: Descriptor,
    /// How often what it holds or its attributes were changed. The names in a directory are not counted.
    pub changes: u32,
    names: Option<BTreeMap<OsString, ObjectId>>,
}

impl Object {
    fn new(descriptor: Descriptor, kind: Kind) -> Self {
        Self {
            descriptor,
            changes: 0,
            names: (kind == Kind::Directory).then(BTreeMap::new),
        }
    }

    /// What it is.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        match self.names {
            Some(_) => Kind::Directory,
            None => Kind::File,
        }
    }

    /// Whether it is a directory with something in it.
    #[must_use]
    pub fn holds_something(&self) -> bool {
        self.names.as_ref().is_some_and(|names| !names.is_empty())
    }
}

impl FileSystem {
    /// Only the directory that holds all others.
    #[must_use]
    pub fn new(root: Descriptor, case: PathCase) -> Self {
        Self {
            objects: BTreeMap::from([(ObjectId(0), Object::new(root, Kind::Directory))]),
            root: ObjectId(0),
            next: 1,
            case,
            held: BTreeSet::new(),
        }
    }

    /// Somebody keeps an object open who does not share its removal.
    pub fn hold(&mut self, object: ObjectId) {
        self.held.insert(object);
    }

    /// Nobody keeps anything open any more.
    pub fn release(&mut self) {
        self.held.clear();
    }

    /// Whether an object stays where it is, whatever any access list says: it is kept open, or something below it is.
    #[must_use]
    pub fn is_held(&self, object: ObjectId) -> bool {
        let mut pending = vec![object];
        while let Some(at) = pending.pop() {
            if self.held.contains(&at) {
                return true;
            }
            let names = self
                .objects
                .get(&at)
                .and_then(|object| object.names.as_ref());
            pending.extend(names.into_iter().flat_map(BTreeMap::values));
        }
        false
    }

    /// The object of a path.
    #[must_use]
    pub fn find(&self, path: &AbsolutePath) -> Option<ObjectId> {
        names(path).try_fold(self.root, |at, name| {
            let (_, child) = self.child(at, name)?;
            Some(child)
        })
    }

    /// An object.
    #[must_use]
    pub fn object(&self, id: ObjectId) -> Option<&Object> {
        self.objects.get(&id)
    }

    /// What is at a path.
    #[must_use]
    pub fn at(&self, path: &AbsolutePath) -> Option<&Object> {
        self.object(self.find(path)?)
    }

    /// Everything, by its paths.
    #[must_use]
    pub fn paths(&self) -> Vec<(AbsolutePath, ObjectId)> {
        let Some(start) = self.root_path() else {
            return Vec::new();
        };
        let mut all = vec![(start, self.root)];
        let mut seen = 0;
        while let Some((path, id)) = all.get(seen).cloned() {
            let children = self.object(id).and_then(|object| object.names.as_ref());
            for (name, child) in children.into_iter().flatten() {
                if let Ok(path) = AbsolutePath::new(path.as_path().join(name)) {
                    all.push((path, *child));
                }
            }
            seen += 1;
        }
        all
    }

    /// Puts a new object there, whoever may: for those who set a scene. `None` if there is no directory for it, or
    /// something is there already.
    pub fn put(
        &mut self,
        path: &AbsolutePath,
        kind: Kind,
        descriptor: Descriptor,
    ) -> Option<ObjectId> {
        let parent = self.find(&path.parent()?)?;
        let name = last_name(path)?;
        if self.child(parent, name).is_some() {
            return None;
        }
        let id = ObjectId(self.next);
        self.name(parent, name, id)?;
        self.next += 1;
        self.objects.insert(id, Object::new(descriptor, kind));
        Some(id)
    }

    /// Puts a new object there that has only what it inherits, and the directories above it that are missing.
    pub fn put_inheriting(&mut self, path: &AbsolutePath, kind: Kind) -> Option<ObjectId> {
        let parent = path.parent()?;
        if self.find(&parent).is_none() {
            self.put_inheriting(&parent, Kind::Directory)?;
        }
        let above = &self.at(&parent)?.descriptor;
        let descriptor = Descriptor::of_new(above, kind, &above.owner, None, &[]);
        self.put(path, kind, descriptor)
    }

    /// Sets the list of one object and of nothing else.
    pub fn set_descriptor(&mut self, id: ObjectId, descriptor: Descriptor) {
        if let Some(object) = self.objects.get_mut(&id) {
            object.descriptor = descriptor;
        }
    }

    /// Hands the list of a directory down to everything below it, as `SetNamedSecurityInfo` does.
    pub fn propagate(&mut self, id: ObjectId) {
        let mut waiting = vec![id];
        while let Some(parent) = waiting.pop() {
            let Some(object) = self.objects.get(&parent) else {
                continue;
            };
            let above = object.descriptor.clone();
            let children: Vec<ObjectId> =
                object.names.iter().flatten().map(|(_, id)| *id).collect();
            for child in children {
                if let Some(object) = self.objects.get_mut(&child) {
                    let kind = object.kind();
                    object.descriptor.inherit_again(&above, kind);
                    waiting.push(child);
                }
            }
        }
    }

    /// Counts a change of an object.
    pub(super) fn change(&mut self, id: ObjectId) {
        if let Some(object) = self.objects.get_mut(&id) {
            object.changes += 1;
        }
    }

    /// Gives an object one more name.
    pub(super) fn name(&mut self, parent: ObjectId, name: &OsStr, id: ObjectId) -> Option<()> {
        let names = self.objects.get_mut(&parent)?.names.as_mut()?;
        names.insert(name.to_owned(), id);
        Some(())
    }

    /// Takes a name away; an object without a name is gone.
    pub(super) fn unname(&mut self, parent: ObjectId, name: &OsStr) -> Option<ObjectId> {
        let (spelled, _) = self.child(parent, name)?;
        let spelled = spelled.to_owned();
        self.objects
            .get_mut(&parent)?
            .names
            .as_mut()?
            .remove(&spelled)
    }

    /// Forgets objects that nothing leads to.
    pub(super) fn sweep(&mut self) {
        let reached: Vec<ObjectId> = self.paths().into_iter().map(|(_, id)| id).collect();
        self.objects.retain(|id, _| reached.contains(id));
    }

    /// The entry of a directory with this name, as it is spelled there.
    pub(super) fn child(&self, parent: ObjectId, name: &OsStr) -> Option<(&OsStr, ObjectId)> {
        let names = self.object(parent)?.names.as_ref()?;
        names
            .get_key_value(name)
            .or_else(|| {
                names
                    .iter()
                    .find(|(spelled, _)| self.case.same(spelled, name))
            })
            .map(|(spelled, id)| (spelled.as_os_str(), *id))
    }

    fn root_path(&self) -> Option<AbsolutePath> {
        let text = if cfg!(windows) { "C:\\" } else { "/" };
        AbsolutePath::new(text).ok()
    }
}

/// The last name of a path.
pub(super) fn last_name(path: &AbsolutePath) -> Option<&OsStr> {
    path.as_path().file_name()
}

fn names(path: &AbsolutePath) -> impl Iterator<Item = &OsStr> {
    path.as_path()
        .components()
        .filter_map(|component| match component {
            Component::Normal(name) => Some(name),
            _ => None,
        })
}
