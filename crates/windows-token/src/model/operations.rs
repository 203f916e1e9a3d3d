//! What programs do with files, and which rights each of it asks for.
//!
//! | operation | asks for | source |
//! |---|---|---|
//! | open | the rights of the open; `DELETE` is also given by `FILE_DELETE_CHILD` on the directory | Microsoft, [MS-FSA] 2.1.5.1.2.1 |
//! | create | `FILE_ADD_FILE` or `FILE_ADD_SUBDIRECTORY` on the directory; the maker may give it any list | [MS-FSA] 2.1.5.1.1; Microsoft Learn, "File Access Rights Constants" |
//! | rename | `DELETE` on the object; for another directory the right to create there; `DELETE` on what is replaced | [MS-FSA] 2.1.5.15.11; Microsoft Learn, "Set File Information Processing" |
//! | hard link | `FILE_WRITE_ATTRIBUTES` on the file, the right to create in the directory | Microsoft Learn, "FILE_LINK_INFORMATION" |
//! | change of list, of owner | `WRITE_DAC`, `WRITE_OWNER` | Microsoft Learn, "Standard Access Rights" |
//!
//! Passing through directories is free: every token keeps the privilege for it. Where documentation leaves something
//! open, the model allows: a rename within a directory asks nothing of the directory, and an empty directory can be
//! replaced.

use palisade_policy::AbsolutePath;

use super::check::{Refused, check};
use super::descriptor::{Descriptor, Kind};
use super::files::{FileSystem, ObjectId, last_name};
use super::switches::Switches;
use super::token::Token;
use crate::acl::{Ace, AceKind, Dacl, Rights};
use crate::sid::Sid;

/// Something that a program does.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Operation {
    /// Reads a file, or lists a directory.
    Read(AbsolutePath),
    /// Opens a file for reading and writing, and writes.
    Write(AbsolutePath),
    /// Opens a file for appending only.
    Append(AbsolutePath),
    /// Cuts a file to nothing when opening it.
    Truncate(AbsolutePath),
    /// Sets times or attributes.
    SetAttributes(AbsolutePath),
    /// Makes a file.
    CreateFile(AbsolutePath),
    /// Makes a directory.
    CreateDirectory(AbsolutePath),
    /// Makes a file with a list of the maker's own.
    CreateWithList(AbsolutePath, Vec<Ace>),
    /// Copies a file: the copy is new, and inherits.
    Copy {
        /// What is read.
        from: AbsolutePath,
        /// What is made.
        to: AbsolutePath,
    },
    /// Removes a file or an empty directory.
    Delete(AbsolutePath),
    /// Moves something, replacing what is there. It keeps its list.
    Rename {
        /// The old name.
        from: AbsolutePath,
        /// The new name.
        to: AbsolutePath,
    },
    /// Gives a file one more name.
    Link {
        /// A name that it has.
        existing: AbsolutePath,
        /// A name that it gets.
        new: AbsolutePath,
    },
    /// Replaces the list of an object. Nothing is handed down.
    SetDacl(AbsolutePath, Dacl),
    /// Becomes the owner.
    TakeOwnership(AbsolutePath),
}

/// Why an operation did not happen.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Failed {
    /// A right was missing.
    #[error("{path}: {refused}")]
    Refused {
        /// On what.
        path: AbsolutePath,
        /// Why.
        refused: Refused,
    },
    /// It makes no sense: nothing is there, something is in the way, or it is of the wrong kind.
    #[error("{0}: cannot be done there, whoever asks")]
    Impossible(AbsolutePath),
    /// Somebody keeps it open, or something below it.
    #[error("{0}: is kept open")]
    Held(AbsolutePath),
}

/// Rights that an operation asks for on one object.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Demand {
    /// On what.
    pub path: AbsolutePath,
    /// Which object that is.
    pub object: ObjectId,
    /// Which rights.
    pub rights: Rights,
    /// The directory that holds it, whose `FILE_DELETE_CHILD` does as well as `DELETE` on the object.
    pub or_of_directory: Option<ObjectId>,
}

impl Operation {
    /// What it asks for.
    ///
    /// # Errors
    /// It makes no sense on this file system.
    pub fn demands(&self, files: &FileSystem) -> Result<Vec<Demand>, Failed> {
        let open = |path: &AbsolutePath, rights| demand(files, path, rights).map(|one| vec![one]);
        match self {
            Self::Read(path) => open(path, Rights::FILE_READ),
            Self::Write(path) => {
                expect(files, path, Kind::File)?;
                open(path, Rights::FILE_READ | Rights::FILE_WRITE)
            }
            Self::Append(path) => {
                expect(files, path, Kind::File)?;
                open(path, Rights::APPEND_DATA | Rights::SYNCHRONIZE)
            }
            Self::Truncate(path) => {
                expect(files, path, Kind::File)?;
                open(path, Rights::WRITE_DATA)
            }
            Self::SetAttributes(path) => open(path, Rights::WRITE_ATTRIBUTES),
            Self::CreateFile(path) | Self::CreateWithList(path, _) => {
                free(files, path)?;
                Ok(vec![addition(files, path, Kind::File)?])
            }
            Self::CreateDirectory(path) => {
                free(files, path)?;
                Ok(vec![addition(files, path, Kind::Directory)?])
            }
            Self::Copy { from, to } => {
                expect(files, from, Kind::File)?;
                free(files, to)?;
                let read = demand(files, from, Rights::FILE_READ)?;
                Ok(vec![read, addition(files, to, Kind::File)?])
            }
            Self::Delete(path) => {
                let object = files.at(path).ok_or_else(|| impossible(path))?;
                if object.holds_something() {
                    return Err(impossible(path));
                }
                Ok(vec![deletion(files, path)?])
            }
            Self::Rename { from, to } => rename(files, from, to),
            Self::Link { existing, new } => {
                expect(files, existing, Kind::File)?;
                free(files, new)?;
                let file = demand(files, existing, Rights::WRITE_ATTRIBUTES)?;
                Ok(vec![file, addition(files, new, Kind::File)?])
            }
            Self::SetDacl(path, _) => open(path, Rights::WRITE_DAC),
            Self::TakeOwnership(path) => open(path, Rights::WRITE_OWNER),
        }
    }

    /// Whether the token may, without doing it.
    ///
    /// # Errors
    /// It may not, or it makes no sense.
    pub fn attempt(
        &self,
        files: &FileSystem,
        token: &Token,
        switches: Switches,
    ) -> Result<(), Failed> {
        for demand in self.demands(files)? {
            demand.check(files, token, switches)?;
        }
        Ok(())
    }

    /// Does it, if the token may.
    ///
    /// # Errors
    /// It may not, or it makes no sense; nothing has changed then.
    pub fn perform(
        &self,
        files: &mut FileSystem,
        token: &Token,
        switches: Switches,
    ) -> Result<(), Failed> {
        self.attempt(files, token, switches)?;
        self.take_effect(files, token)
    }

    fn take_effect(&self, files: &mut FileSystem, token: &Token) -> Result<(), Failed> {
        let find = |files: &FileSystem, path: &AbsolutePath| {
            files.find(path).ok_or_else(|| impossible(path))
        };
        match self {
            Self::Read(_) => {}
            Self::Write(path)
            | Self::Append(path)
            | Self::Truncate(path)
            | Self::SetAttributes(path) => {
                let id = find(files, path)?;
                files.change(id);
            }
            Self::CreateFile(path) => create(files, token, path, Kind::File, None)?,
            Self::CreateWithList(path, list) => {
                create(files, token, path, Kind::File, Some(list))?;
            }
            Self::CreateDirectory(path) => create(files, token, path, Kind::Directory, None)?,
            Self::Copy { to, .. } => create(files, token, to, Kind::File, None)?,
            Self::Delete(path) => {
                let (directory, name) = place(files, path)?;
                files.unname(directory, name);
                files.sweep();
            }
            Self::Rename { from, to } => {
                let id = find(files, from)?;
                let (old, old_name) = place(files, from)?;
                let (new, new_name) = place(files, to)?;
                files.unname(old, old_name);
                files.unname(new, new_name);
                files.name(new, new_name, id);
                files.sweep();
            }
            Self::Link { existing, new } => {
                let id = find(files, existing)?;
                let (directory, name) = place(files, new)?;
                files.name(directory, name, id);
            }
            Self::SetDacl(path, dacl) => {
                edit(files, path, |descriptor| descriptor.dacl = dacl.clone())?;
            }
            Self::TakeOwnership(path) => {
                edit(files, path, |descriptor| {
                    descriptor.owner = token.user.clone();
                })?;
            }
        }
        Ok(())
    }
}

impl Demand {
    /// Whether a token gets it.
    ///
    /// # Errors
    /// It does not.
    pub fn check(
        &self,
        files: &FileSystem,
        token: &Token,
        switches: Switches,
    ) -> Result<(), Failed> {
        let asks = |id: ObjectId, rights| match files.object(id) {
            Some(object) => check(token, &object.descriptor, rights, switches)
                .map_err(|refused| self.refused(refused)),
            None => Err(impossible(&self.path)),
        };
        // The file system looks at each right for itself, so that the directory can give one of them.
        match self.or_of_directory {
            Some(directory) if asks(directory, Rights::DELETE_CHILD).is_ok() => {
                asks(self.object, self.rights & !Rights::DELETE)
            }
            _ => asks(self.object, self.rights),
        }
    }

    fn refused(&self, refused: Refused) -> Failed {
        Failed::Refused {
            path: self.path.clone(),
            refused,
        }
    }
}

fn rename(
    files: &FileSystem,
    from: &AbsolutePath,
    to: &AbsolutePath,
) -> Result<Vec<Demand>, Failed> {
    let source = files.find(from).ok_or_else(|| impossible(from))?;
    let kind = files.object(source).ok_or_else(|| impossible(from))?.kind();
    let mut demands = vec![deletion(files, from)?];
    let (old, _) = place(files, from)?;
    let (new, _) = place(files, to)?;
    // Nothing moves into itself.
    if inside(files, source, to) {
        return Err(impossible(to));
    }
    if old != new {
        demands.push(addition(files, to, kind)?);
    }
    if let Some(target) = files.find(to).filter(|target| *target != source) {
        let replaced = files.object(target).ok_or_else(|| impossible(to))?;
        if replaced.kind() != kind || replaced.holds_something() {
            return Err(impossible(to));
        }
        demands.push(deletion(files, to)?);
    }
    Ok(demands)
}

/// Whether a path leads through an object.
fn inside(files: &FileSystem, object: ObjectId, path: &AbsolutePath) -> bool {
    std::iter::successors(path.parent(), AbsolutePath::parent)
        .any(|above| files.find(&above) == Some(object))
}

fn demand(files: &FileSystem, path: &AbsolutePath, rights: Rights) -> Result<Demand, Failed> {
    Ok(Demand {
        path: path.clone(),
        object: files.find(path).ok_or_else(|| impossible(path))?,
        rights,
        or_of_directory: None,
    })
}

/// What removes a name.
fn deletion(files: &FileSystem, path: &AbsolutePath) -> Result<Demand, Failed> {
    let (directory, _) = place(files, path)?;
    if files.find(path).is_some_and(|object| files.is_held(object)) {
        return Err(Failed::Held(path.clone()));
    }
    Ok(Demand {
        or_of_directory: Some(directory),
        ..demand(files, path, Rights::DELETE)?
    })
}

/// What adds a name.
fn addition(files: &FileSystem, path: &AbsolutePath, kind: Kind) -> Result<Demand, Failed> {
    let parent = path.parent().ok_or_else(|| impossible(path))?;
    let rights = match kind {
        Kind::File => Rights::WRITE_DATA,
        Kind::Directory => Rights::APPEND_DATA,
    };
    expect(files, &parent, Kind::Directory)?;
    demand(files, &parent, rights)
}

fn create(
    files: &mut FileSystem,
    token: &Token,
    path: &AbsolutePath,
    kind: Kind,
    given: Option<&Vec<Ace>>,
) -> Result<(), Failed> {
    let parent = path.parent().ok_or_else(|| impossible(path))?;
    let above = &files
        .at(&parent)
        .ok_or_else(|| impossible(path))?
        .descriptor;
    let given = given.map(Vec::as_slice);
    let new = Descriptor::of_new(above, kind, &token.user, given, &token.default_dacl);
    files.put(path, kind, new).ok_or_else(|| impossible(path))?;
    Ok(())
}

fn edit(
    files: &mut FileSystem,
    path: &AbsolutePath,
    how: impl FnOnce(&mut Descriptor),
) -> Result<(), Failed> {
    let id = files.find(path).ok_or_else(|| impossible(path))?;
    let object = files.object(id).ok_or_else(|| impossible(path))?;
    let mut descriptor = object.descriptor.clone();
    how(&mut descriptor);
    files.set_descriptor(id, descriptor);
    Ok(())
}

/// The directory of a path, and the name there.
fn place<'a>(
    files: &FileSystem,
    path: &'a AbsolutePath,
) -> Result<(ObjectId, &'a std::ffi::OsStr), Failed> {
    let directory = path.parent().and_then(|parent| files.find(&parent));
    match (directory, last_name(path)) {
        (Some(directory), Some(name)) => Ok((directory, name)),
        _ => Err(impossible(path)),
    }
}

fn expect(files: &FileSystem, path: &AbsolutePath, kind: Kind) -> Result<(), Failed> {
    match files.at(path) {
        Some(object) if object.kind() == kind => Ok(()),
        _ => Err(impossible(path)),
    }
}

fn free(files: &FileSystem, path: &AbsolutePath) -> Result<(), Failed> {
    match files.find(path) {
        None => Ok(()),
        Some(_) => Err(impossible(path)),
    }
}

fn impossible(path: &AbsolutePath) -> Failed {
    Failed::Impossible(path.clone())
}

/// A list that lets one identifier do everything: what an attacker would set.
#[must_use]
pub fn everything_for(sid: &Sid) -> Dacl {
    let ace = Ace::new(AceKind::Allow, Rights::FILE_ALL, sid.clone());
    Dacl::List([ace].into_iter().collect())
}
