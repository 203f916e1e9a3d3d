//! Where a path really is, and what is there.

use std::io;
use std::os::windows::io::AsHandle as _;
use std::path::{Path, PathBuf};

use palisade_policy::AbsolutePath;

use super::spelling::{SpellingProblem, spelled};
use crate::acl::Rights;
use crate::host::{Entry, Located};
use crate::sys::file::{LastName, final_path, open, volume_has_acls};
use crate::sys::security::file_dacl;

/// A path that nobody can say anything certain about.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LocateError {
    /// It is not spelled as what it means.
    #[error("{}: {problem}", path.display())]
    Spelling {
        /// The path.
        path: PathBuf,
        /// What is wrong.
        problem: SpellingProblem,
    },
    /// It really is somewhere that cannot be used.
    #[error("{} leads to {}: {problem}", path.display(), real.display())]
    Leads {
        /// The path.
        path: PathBuf,
        /// Where it leads.
        real: PathBuf,
        /// What is wrong with that.
        problem: SpellingProblem,
    },
    /// The system does not let us look.
    #[error("{} cannot be looked at: {source}", path.display())]
    Unreadable {
        /// The path.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl LocateError {
    /// Whether the system keeps the user from looking.
    pub(crate) fn is_denied(&self) -> bool {
        matches!(self, Self::Unreadable { source, .. } if source.kind() == io::ErrorKind::PermissionDenied)
    }
}

/// A path in its plain form: without `\\?\`, and with nothing in it that means something else.
///
/// # Errors
/// It is not spelled as what it means.
pub(crate) fn plain(path: &Path) -> Result<AbsolutePath, LocateError> {
    let spelling = |problem| LocateError::Spelling {
        path: path.to_path_buf(),
        problem,
    };
    let text = path
        .to_str()
        .ok_or_else(|| spelling(SpellingProblem::NotUnicode))?;
    let plain = spelled(text).map_err(spelling)?;
    AbsolutePath::new(plain.as_str()).map_err(|_| spelling(SpellingProblem::Relative))
}

/// Where a path is and what is there. All links are followed. Of something that does not exist, the deepest directory
/// above it that does says where it would be.
///
/// # Errors
/// The spelling is refused, here or where a link leads; or the system does not let us look.
pub(crate) fn locate(path: &AbsolutePath) -> Result<Located, LocateError> {
    let wanted = plain(path.as_path())?;
    let mut missing = Vec::new();
    for here in wanted.as_path().ancestors() {
        let unreadable = |source| LocateError::Unreadable {
            path: here.to_path_buf(),
            source,
        };
        let found = match open(here, Rights::READ_ATTRIBUTES, LastName::Followed) {
            Ok(found) => found,
            Err(error) if is_missing(&error) => {
                missing.extend(here.file_name());
                continue;
            }
            Err(error) => return Err(unreadable(error)),
        };
        let real = final_path(found.as_handle()).map_err(unreadable)?;
        let real = plain(&real).map_err(|error| match error {
            LocateError::Spelling {
                path: real,
                problem,
            } => LocateError::Leads {
                path: here.to_path_buf(),
                real,
                problem,
            },
            other => other,
        })?;
        let has_acls = volume_has_acls(found.as_handle()).map_err(unreadable)?;
        if missing.is_empty() {
            let entry = match found.metadata().map_err(unreadable)?.is_dir() {
                true => Entry::Directory,
                false => Entry::File,
            };
            let to_change = Rights::READ_CONTROL | Rights::WRITE_DAC;
            let may_change_acl = open(real.as_path(), to_change, LastName::Itself).is_ok();
            return Ok(Located {
                real,
                entry,
                has_acls,
                may_change_acl,
            });
        }
        let below: PathBuf = missing.iter().rev().collect();
        let real = AbsolutePath::new(real.as_path().join(below));
        return Ok(Located {
            real: real.unwrap_or(wanted),
            entry: Entry::Missing,
            has_acls,
            may_change_acl: false,
        });
    }
    // Not even the drive is there.
    Ok(Located {
        real: wanted,
        entry: Entry::Missing,
        has_acls: false,
        may_change_acl: false,
    })
}

/// Whether an object has no access list at all. One whose list the user may not read has one.
///
/// # Errors
/// The system does not let us look, for another reason than that.
pub(super) fn has_no_list(real: &AbsolutePath) -> Result<bool, LocateError> {
    let list = open(real.as_path(), Rights::READ_CONTROL, LastName::Itself)
        .and_then(|object| file_dacl(object.as_handle()));
    match list {
        Ok(list) => Ok(list.bytes.is_none()),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied || is_missing(&error) => {
            Ok(false)
        }
        Err(source) => Err(LocateError::Unreadable {
            path: real.as_path().to_path_buf(),
            source,
        }),
    }
}

/// Whether an error says that nothing is there: also not the directory, or a file is where the directory would be.
pub(crate) fn is_missing(error: &io::Error) -> bool {
    use windows_sys::Win32::Foundation::{ERROR_BAD_NETPATH, ERROR_INVALID_DRIVE, ERROR_NOT_READY};
    let code = error.raw_os_error().map(i32::cast_unsigned);
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    ) || matches!(
        code,
        Some(ERROR_INVALID_DRIVE | ERROR_BAD_NETPATH | ERROR_NOT_READY)
    )
}
