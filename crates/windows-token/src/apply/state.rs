//! The directory in which Palisade remembers what it changed: the journal, the capabilities, and temporary files of
//! sessions. It is the user's alone, and no command can write there.

use std::fs::File;
use std::io;
use std::os::windows::fs::OpenOptionsExt as _;
use std::os::windows::io::AsHandle as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use palisade_policy::{AbsolutePath, PathCase};
use windows_sys::Win32::Foundation::ERROR_SHARING_VIOLATION;

use super::error::StateError;
use crate::acl::{Ace, AceFlags, AceKind, Acl, AclEntry, Rights};
use crate::host::Entry;
use crate::journal::{Capabilities, SessionId};
use crate::sid::Sid;
use crate::survey::{locate, plain};
use crate::sys::file::{LastName, hold, make_directory, open, profile_directory};
use crate::sys::random;
use crate::sys::security::{Descriptor, file_dacl, file_owner};
use crate::sys::token::Token;

/// Where the state of the user of this process belongs: `AppData\Local\Palisade` in his profile, wherever the environment
/// says that is.
///
/// # Errors
/// The user has no profile.
pub fn default_state_directory() -> io::Result<PathBuf> {
    let profile = profile_directory(&Token::own()?)?;
    Ok(profile.join("AppData").join("Local").join("Palisade"))
}

/// The state directory, checked.
#[derive(Clone, Debug)]
pub(super) struct StateDirectory {
    path: AbsolutePath,
    user: Sid,
    patience: Duration,
}

impl StateDirectory {
    /// Makes the directory if it is missing, and checks that it is the user's alone.
    pub(super) fn open(path: &Path, user: &Sid, patience: Duration) -> Result<Self, StateError> {
        let path = plain(path)?;
        let state = Self {
            path,
            user: user.clone(),
            patience,
        };
        let mut found = locate(&state.path)?;
        if found.entry == Entry::Missing {
            if let Some(parent) = state.path.as_path().parent() {
                std::fs::create_dir_all(parent).map_err(state.failed("making", parent))?;
            }
            state.make_private(state.path.as_path())?;
            found = locate(&state.path)?;
        }
        if found.real != state.path {
            return Err(StateError::Linked {
                path: state.path,
                real: found.real,
            });
        }
        if !found.has_acls {
            return Err(StateError::NoAcls { path: state.path });
        }
        state.check_private()?;
        state.make_missing(&state.sessions())?;
        Ok(state)
    }

    /// Refuses a state directory that a command could write to, or that holds what a command may write.
    pub(super) fn check_outside<'a>(
        &self,
        roots: impl IntoIterator<Item = &'a AbsolutePath>,
    ) -> Result<(), StateError> {
        for root in roots {
            let case = PathCase::Insensitive;
            if root.covers(&self.path, case) || self.path.covers(root, case) {
                return Err(StateError::InsideRoot {
                    path: self.path.clone(),
                    root: root.clone(),
                });
            }
        }
        Ok(())
    }

    /// The lock, held until the file is dropped, or this process dies.
    pub(super) fn lock(&self) -> Result<File, StateError> {
        let path = self.path.as_path().join("lock");
        let deadline = Instant::now() + self.patience;
        loop {
            let opened = File::options()
                .write(true)
                .create(true)
                .truncate(false)
                .share_mode(0)
                .open(&path);
            match opened {
                Ok(lock) => return Ok(lock),
                Err(error) if is_shared(&error) && Instant::now() < deadline => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                Err(error) if is_shared(&error) => {
                    return Err(StateError::Locked {
                        path: self.path.clone(),
                    });
                }
                Err(error) => return Err(self.failed("locking", &path)(error)),
            }
        }
    }

    pub(super) fn journal_path(&self) -> PathBuf {
        self.path.as_path().join("journal")
    }

    /// The directory that holds the trials of a token.
    pub(super) fn path(&self) -> &Path {
        self.path.as_path()
    }

    /// The capability of each of these places: the one that it has, or a new one. To be asked while the lock is held.
    pub(super) fn capabilities(
        &self,
        places: &[AbsolutePath],
    ) -> Result<Vec<(AbsolutePath, Sid)>, StateError> {
        let file = self.path.as_path().join("capabilities.json");
        let mut known = match std::fs::read(&file) {
            Ok(bytes) => Capabilities::from_bytes(&bytes)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Capabilities::default(),
            Err(error) => return Err(self.failed("reading", &file)(error)),
        };
        let mut changed = false;
        let mut found = Vec::new();
        for place in places {
            let sid = match known.get(place) {
                Some(sid) => sid.clone(),
                None => {
                    let sid = self.new_capability()?;
                    known.insert(place.clone(), sid.clone())?;
                    changed = true;
                    sid
                }
            };
            found.push((place.clone(), sid));
        }
        if changed {
            // Written beside and moved into place: whoever reads sees the old file or the new one.
            let beside = self.path.as_path().join("capabilities.new");
            std::fs::write(&beside, known.to_bytes()?)
                .and_then(|()| File::options().write(true).open(&beside)?.sync_all())
                .and_then(|()| std::fs::rename(&beside, &file))
                .map_err(self.failed("writing", &file))?;
        }
        Ok(found)
    }

    /// A capability that nothing else has.
    pub(super) fn new_capability(&self) -> Result<Sid, StateError> {
        random::numbers()
            .map(Sid::capability)
            .map_err(self.failed("making a capability for", self.path.as_path()))
    }

    /// The directory for the temporary files of a session, made or not.
    pub(super) fn session_tmp(&self, session: SessionId) -> Result<AbsolutePath, StateError> {
        plain(&self.sessions().join(session.to_string())).map_err(StateError::Path)
    }

    /// Makes it.
    pub(super) fn make_session_tmp(&self, tmp: &AbsolutePath) -> Result<(), StateError> {
        self.make_private(tmp.as_path())
    }

    /// Keeps the directory and the journal from being removed or moved while the handles live: the second check does not
    /// ask about the removal of children, and the directory above this one is the user's.
    pub(super) fn hold(&self) -> Result<[File; 2], StateError> {
        let held = |path: &Path| hold(path).map_err(self.failed("holding", path));
        Ok([held(self.path.as_path())?, held(&self.journal_path())?])
    }

    /// Makes a directory for the trials of a token, in which the user has these rights.
    pub(super) fn make_canary(&self, path: &Path, rights: Rights) -> io::Result<()> {
        make_directory(path, &self.private_list(rights)?)
    }

    /// Removes the temporary files of every session that is not open, as far as the system lets us.
    pub(super) fn remove_old_tmp(&self, is_open: impl Fn(SessionId) -> bool) {
        let Ok(entries) = std::fs::read_dir(self.sessions()) else {
            return;
        };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let number = name.to_str().map(|name| u64::from_str_radix(name, 16));
            if let Some(Ok(number)) = number
                && !is_open(SessionId(number))
            {
                // What is still in use goes next time.
                let _ = std::fs::remove_dir_all(entry.path());
            }
        }
    }

    fn sessions(&self) -> PathBuf {
        self.path.as_path().join("sessions")
    }

    fn make_missing(&self, path: &Path) -> Result<(), StateError> {
        match self.make_private(path) {
            Err(StateError::Io { source, .. })
                if source.kind() == io::ErrorKind::AlreadyExists && path.is_dir() =>
            {
                Ok(())
            }
            other => other,
        }
    }

    /// Makes a directory that is for the user and the system only, and everything in it with it.
    fn make_private(&self, path: &Path) -> Result<(), StateError> {
        // A command has the rights of the user where the second check does not ask, and it was seen not to ask about the
        // removal of children. The user removes what is here by the right to remove the thing itself.
        let rights = Rights::FILE_ALL & !Rights::DELETE_CHILD;
        self.private_list(rights)
            .and_then(|list| make_directory(path, &list))
            .map_err(self.failed("making", path))
    }

    /// A list for the user, with these rights, and the system.
    fn private_list(&self, rights: Rights) -> io::Result<Descriptor> {
        let allow = |rights, sid: &Sid| {
            Ace::new(AceKind::Allow, rights, sid.clone()).with_flags(AceFlags::TREE)
        };
        let list: Acl = [
            allow(rights, &self.user),
            allow(Rights::FILE_ALL, &Sid::local_system()),
        ]
        .into_iter()
        .collect();
        Descriptor::new(&list.to_bytes().map_err(io::Error::other)?)
    }

    /// Whoever may write here could make us remove entries, or leave them.
    fn check_private(&self) -> Result<(), StateError> {
        let opened = open(self.path.as_path(), Rights::READ_CONTROL, LastName::Itself)
            .map_err(self.failed("opening", self.path.as_path()))?;
        let failed = self.failed("reading the access list of", self.path.as_path());
        let owner = file_owner(opened.as_handle()).map_err(failed)?;
        let trusted = [
            self.user.clone(),
            Sid::local_system(),
            Sid::administrators(),
            Sid::owner_rights(),
        ];
        if !trusted.contains(&owner) {
            return Err(StateError::NotOurs {
                path: self.path.clone(),
                owner,
            });
        }
        let failed = self.failed("reading the access list of", self.path.as_path());
        let dacl = file_dacl(opened.as_handle()).map_err(failed)?;
        let not_private = |who: String| StateError::NotPrivate {
            path: self.path.clone(),
            who,
        };
        let Some(bytes) = dacl.bytes else {
            return Err(not_private("everybody".to_owned()));
        };
        let list = Acl::from_bytes(&bytes).map_err(|error| {
            self.failed("reading the access list of", self.path.as_path())(io::Error::other(error))
        })?;
        let writing = Rights::CHANGES | Rights::GENERIC_WRITE | Rights::GENERIC_ALL;
        for entry in list.entries() {
            match entry {
                AclEntry::Known(ace)
                    if ace.kind == AceKind::Allow
                        && ace.rights.intersects(writing)
                        && !trusted.contains(&ace.sid) =>
                {
                    return Err(not_private(ace.sid.to_string()));
                }
                AclEntry::Known(_) => {}
                AclEntry::Other(other) if other.kind() == Some(AceKind::Deny) => {}
                AclEntry::Other(_) => {
                    return Err(not_private("an entry of a rare kind".to_owned()));
                }
            }
        }
        Ok(())
    }

    fn failed<'a>(
        &self,
        what: &'static str,
        path: &'a Path,
    ) -> impl FnOnce(io::Error) -> StateError + use<'a> {
        move |source| StateError::Io {
            what,
            path: path.to_path_buf(),
            source,
        }
    }
}

/// Whether an error says that somebody else has the file.
fn is_shared(error: &io::Error) -> bool {
    error.raw_os_error() == Some(ERROR_SHARING_VIOLATION.cast_signed())
}
