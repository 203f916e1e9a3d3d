//! Objects whose access lists are changed: found again, read, changed by exact entries.

use std::fs::File;
use std::io;
use std::os::windows::io::AsHandle as _;

use palisade_policy::AbsolutePath;

use super::error::EditError;
use crate::acl::Rights;
use crate::acl::{Ace, Acl, AclError};
use crate::journal::Object;
use crate::survey::{is_missing, plain};
use crate::sys::file::{LastName, file_id, final_path, open, open_by_id};
use crate::sys::security::{file_dacl, set_file_dacl};

/// Enough to change an access list and to let what is below inherit it.
const TO_CHANGE: Rights =
    Rights(Rights::READ_CONTROL.0 | Rights::WRITE_DAC.0 | Rights::READ_ATTRIBUTES.0);

/// An object that is open for a change of its access list.
pub(super) struct Opened {
    file: File,
    pub(super) object: Object,
    pub(super) list: Acl,
    protected: bool,
}

impl Opened {
    /// Opens an object where the survey saw it. A link in its place, or in the place of a directory above it, is noticed.
    pub(super) fn at(path: &AbsolutePath) -> Result<Self, EditError> {
        let failed = |what| {
            move |source| EditError::Io {
                what,
                path: path.clone(),
                source,
            }
        };
        let file = open(path.as_path(), TO_CHANGE, LastName::Itself).map_err(failed("opening"))?;
        let real = final_path(file.as_handle()).map_err(failed("finding"))?;
        if plain(&real).ok().as_ref() != Some(path) {
            return Err(EditError::Moved {
                path: path.clone(),
                real,
            });
        }
        let id = file_id(file.as_handle()).map_err(failed("identifying"))?;
        Self::of(file, Object::new(path.clone()).with_id(id))
    }

    /// Opens an object that the journal names, wherever it is now; `None` if it is gone.
    pub(super) fn again(object: &Object) -> Result<Option<Self>, EditError> {
        let path = &object.path;
        let failed = |source| EditError::Io {
            what: "finding",
            path: path.clone(),
            source,
        };
        match open(path.as_path(), TO_CHANGE, LastName::Itself) {
            Ok(file) => {
                let same = match object.id {
                    Some(id) => file_id(file.as_handle()).map_err(failed)? == id,
                    None => true,
                };
                if same {
                    return Self::of(file, object.clone()).map(Some);
                }
            }
            Err(error) if is_missing(&error) => {}
            Err(error) => return Err(failed(error)),
        }
        // Something else has its name now, or nothing has. It may have been moved.
        let Some(id) = object.id else {
            return Ok(None);
        };
        let root = path.as_path().ancestors().last().unwrap_or(path.as_path());
        let volume = match open(root, Rights::READ_ATTRIBUTES, LastName::Followed) {
            Ok(volume) => volume,
            // The whole volume is away. If it comes back, so does the entry: the journal keeps it.
            Err(error) => return Err(failed(error)),
        };
        let same_volume = file_id(volume.as_handle()).is_ok_and(|found| found.volume == id.volume);
        if !same_volume {
            return Ok(None);
        }
        match open_by_id(volume.as_handle(), id, TO_CHANGE) {
            Ok(file) => Self::of(file, object.clone()).map(Some),
            Err(error) if is_gone(&error) => Ok(None),
            Err(error) => Err(failed(error)),
        }
    }

    fn of(file: File, object: Object) -> Result<Self, EditError> {
        let dacl = file_dacl(file.as_handle()).map_err(|source| EditError::Io {
            what: "reading",
            path: object.path.clone(),
            source,
        })?;
        let list = match &dacl.bytes {
            Some(bytes) => Acl::from_bytes(bytes),
            None => Err(AclError::NullDacl),
        };
        Ok(Self {
            list: list.map_err(|source| EditError::List {
                path: object.path.clone(),
                source,
            })?,
            file,
            object,
            protected: dacl.protected,
        })
    }

    /// Adds these entries; those that are there already stay as they are.
    pub(super) fn add(&mut self, entries: &[Ace]) -> Result<(), EditError> {
        let added = self.list.insert_all(entries);
        let added = added.map_err(|source| self.bad_list(source))?;
        match added.is_empty() {
            true => Ok(()),
            false => self.write(),
        }
    }

    /// Removes one entry for each of these.
    pub(super) fn remove(&mut self, entries: &[Ace]) -> Result<(), EditError> {
        match self.list.remove_all(entries).is_empty() {
            true => Ok(()),
            false => self.write(),
        }
    }

    fn write(&self) -> Result<(), EditError> {
        let bytes = self
            .list
            .to_bytes()
            .map_err(|source| self.bad_list(source))?;
        set_file_dacl(self.file.as_handle(), &bytes, self.protected).map_err(|source| {
            EditError::Io {
                what: "changing",
                path: self.object.path.clone(),
                source,
            }
        })
    }

    fn bad_list(&self, source: AclError) -> EditError {
        EditError::List {
            path: self.object.path.clone(),
            source,
        }
    }
}

/// Whether an error says that no file has such a number.
fn is_gone(error: &io::Error) -> bool {
    use windows_sys::Win32::Foundation::ERROR_INVALID_PARAMETER;
    // NTFS has this word for a number that is not in use.
    is_missing(error) || error.raw_os_error() == Some(ERROR_INVALID_PARAMETER.cast_signed())
}
