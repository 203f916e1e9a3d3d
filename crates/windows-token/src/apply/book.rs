//! The journal while it is held: nobody else changes an access list or appends a line.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::PathBuf;

use super::error::{EditError, StateError};
use super::objects::Opened;
use super::state::StateDirectory;
use crate::journal::{EditId, Ledger, Record, Repair, SessionId, decode, encode};
use crate::plan::AclEdit;
use crate::sys::process::{is_alive, own_start};

/// The journal, locked. Dropping it lets others in.
pub(super) struct Book {
    _lock: File,
    file: File,
    path: PathBuf,
    ledger: Ledger,
}

impl Book {
    /// Waits for the lock, and reads what is written there.
    pub(super) fn open(state: &StateDirectory) -> Result<Self, StateError> {
        let lock = state.lock()?;
        let path = state.journal_path();
        let failed = |what| {
            let path = path.clone();
            move |source| StateError::Io { what, path, source }
        };
        let mut file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(failed("opening"))?;
        let mut text = Vec::new();
        file.read_to_end(&mut text).map_err(failed("reading"))?;
        let journal = decode(&text)?;
        let ledger = Ledger::new(&journal.records)?;
        // What a crash left of a last line must not become the start of the next one.
        if journal.torn {
            file.set_len(journal.good_bytes as u64)
                .map_err(failed("cutting"))?;
        }
        file.seek(SeekFrom::End(0)).map_err(failed("reading"))?;
        Ok(Self {
            _lock: lock,
            file,
            path,
            ledger,
        })
    }

    /// Removes what is left of sessions whose process is gone. Says what could not be removed; that is tried again next time.
    pub(super) fn repair(&mut self) -> Result<Vec<EditError>, StateError> {
        let mut left = Vec::new();
        for repair in self.ledger.pending(is_alive) {
            match self.undo(&repair) {
                Ok(()) => {}
                Err(EditError::State(error)) => return Err(error),
                Err(error) => left.push(error),
            }
        }
        for session in self.gone() {
            if self.ledger.release(session).is_empty() {
                self.write(&Record::SessionEnded { session })?;
            }
        }
        self.settle()?;
        Ok(left)
    }

    /// Sessions that have not ended, and whose process has.
    fn gone(&self) -> Vec<SessionId> {
        self.ledger
            .open_sessions()
            .filter(|(_, pid, started)| !is_alive(*pid, *started))
            .map(|(session, ..)| session)
            .collect()
    }

    /// Whether a session is in the journal and has not ended.
    pub(super) fn is_open(&self, session: SessionId) -> bool {
        self.ledger
            .open_sessions()
            .any(|(open, ..)| open == session)
    }

    /// A session of this process begins.
    pub(super) fn begin(&mut self, session: SessionId) -> Result<(), StateError> {
        let started = own_start().map_err(|source| StateError::Io {
            what: "asking for the start of this process for",
            path: self.path.clone(),
            source,
        })?;
        self.write(&Record::SessionBegan {
            session,
            pid: std::process::id(),
            started,
        })
    }

    /// Makes an edit: announced first, then made, then confirmed.
    pub(super) fn edit(
        &mut self,
        session: SessionId,
        edit: EditId,
        wanted: &AclEdit,
    ) -> Result<(), EditError> {
        let mut opened = Opened::at(&wanted.path)?;
        let intent = self
            .ledger
            .intend(&opened.object, &wanted.add, &opened.list);
        self.write(&Record::EditIntended {
            session,
            edit,
            object: opened.object.clone(),
            add: intent.add.clone(),
            share: intent.share,
        })?;
        opened.add(&intent.add)?;
        self.write(&Record::EditDone { session, edit })?;
        Ok(())
    }

    /// Removes what a session added, the last first, and ends it. What cannot be removed stays in the journal; the first
    /// reason is returned, and the rest is removed all the same.
    pub(super) fn release(&mut self, session: SessionId) -> Result<(), EditError> {
        let mut failure = None;
        for repair in self.ledger.release(session) {
            match self.undo(&repair) {
                Ok(()) => {}
                Err(EditError::State(error)) => return Err(error.into()),
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        if let Some(failure) = failure {
            return Err(failure);
        }
        self.write(&Record::SessionEnded { session })?;
        self.settle()?;
        Ok(())
    }

    fn undo(&mut self, repair: &Repair) -> Result<(), EditError> {
        if !repair.remove.is_empty()
            && let Some(mut opened) = Opened::again(&repair.object)?
        {
            opened.remove(&repair.remove)?;
        }
        self.write(&Record::RemovalDone {
            session: repair.session,
            edit: repair.edit,
        })?;
        Ok(())
    }

    /// Empties the journal if nothing of ours is left anywhere.
    fn settle(&mut self) -> Result<(), StateError> {
        if !self.ledger.is_settled() {
            return Ok(());
        }
        let emptied = self
            .file
            .set_len(0)
            .and_then(|()| self.file.seek(SeekFrom::Start(0)));
        emptied.map_err(|source| StateError::Io {
            what: "emptying",
            path: self.path.clone(),
            source,
        })?;
        self.ledger = Ledger::default();
        Ok(())
    }

    /// Appends a line, and returns when it is on the disk.
    pub(super) fn write(&mut self, record: &Record) -> Result<(), StateError> {
        let line = encode(record)?;
        // A record that does not fit those before it is not written: it would be refused when it is read.
        let mut after = self.ledger.clone();
        after.apply(record)?;
        let written = self
            .file
            .write_all(line.as_bytes())
            .and_then(|()| self.file.sync_data());
        written.map_err(|source| StateError::Io {
            what: "writing",
            path: self.path.clone(),
            source,
        })?;
        self.ledger = after;
        Ok(())
    }
}
