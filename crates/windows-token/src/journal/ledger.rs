//! What the records come to: which entries are ours, who still needs them, and what must go.

use std::collections::BTreeMap;

use super::JournalError;
use super::record::{EditId, Object, Record, SessionId};
use crate::acl::{Ace, Acl};

/// The state that a list of records leads to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    sessions: BTreeMap<SessionId, Session>,
    /// In the order in which they were announced.
    edits: Vec<Edit>,
    /// Numbers of sessions that are over, so that none is used twice.
    ended: Vec<SessionId>,
    records: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Session {
    pid: u32,
    started: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Edit {
    session: SessionId,
    edit: EditId,
    object: Object,
    add: Vec<Ace>,
    share: Vec<Ace>,
    removed: bool,
}

impl Edit {
    fn holds(&self) -> impl Iterator<Item = &Ace> {
        self.add.iter().chain(&self.share)
    }
}

/// Entries that must go from an access list. They may be gone already: somebody else may have removed them, or the crash
/// came before they were added.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repair {
    /// Whose they were.
    pub session: SessionId,
    /// Which edit, to be confirmed by [`Record::RemovalDone`] also if nothing is to be removed.
    pub edit: EditId,
    /// The object.
    pub object: Object,
    /// What must go, last added first: one entry of the list for each, and exactly that one.
    pub remove: Vec<Ace>,
}

/// What an edit comes to where some of its entries are there already.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Intent {
    /// To be added, and ours.
    pub add: Vec<Ace>,
    /// Added by another session before.
    pub share: Vec<Ace>,
    /// There, and nobody in the journal says that it was us: left alone, also afterwards.
    pub foreign: Vec<Ace>,
}

impl Ledger {
    /// Reads records from the first one on.
    ///
    /// # Errors
    /// A record speaks of something that was never announced, or announces it twice.
    pub fn new<'a>(records: impl IntoIterator<Item = &'a Record>) -> Result<Self, JournalError> {
        let mut ledger = Self::default();
        for record in records {
            ledger.apply(record)?;
        }
        Ok(ledger)
    }

    /// Takes one more record.
    ///
    /// # Errors
    /// As [`new`](Self::new); the ledger is unchanged then.
    pub fn apply(&mut self, record: &Record) -> Result<(), JournalError> {
        let inconsistent = |why| JournalError::Inconsistent {
            record: self.records + 1,
            why,
        };
        let begun = |session: &SessionId| self.sessions.contains_key(session);
        let found = |session: &SessionId, edit: &EditId| {
            self.edits
                .iter()
                .position(|known| known.session == *session && known.edit == *edit)
        };
        match record {
            Record::SessionBegan {
                session,
                pid,
                started,
            } => {
                if begun(session) || self.ended.contains(session) {
                    return Err(inconsistent("the session has begun before"));
                }
                let (pid, started) = (*pid, *started);
                self.sessions.insert(*session, Session { pid, started });
            }
            Record::EditIntended {
                session,
                edit,
                object,
                add,
                share,
            } => {
                if !begun(session) {
                    return Err(inconsistent("no such session has begun"));
                }
                if found(session, edit).is_some() {
                    return Err(inconsistent("the edit was announced before"));
                }
                self.edits.push(Edit {
                    session: *session,
                    edit: *edit,
                    object: object.clone(),
                    add: add.clone(),
                    share: share.clone(),
                    removed: false,
                });
            }
            // Done or not, what was announced must be looked for. The record is for those who read the file.
            Record::EditDone { session, edit } => {
                found(session, edit).ok_or_else(|| inconsistent("no such edit was announced"))?;
            }
            Record::RemovalDone { session, edit } => {
                let at = found(session, edit)
                    .ok_or_else(|| inconsistent("no such edit was announced"))?;
                if let Some(edit) = self.edits.get_mut(at) {
                    edit.removed = true;
                }
            }
            Record::SessionEnded { session } => {
                if !begun(session) {
                    return Err(inconsistent("no such session has begun"));
                }
                let left = |edit: &Edit| edit.session == *session && !edit.removed;
                if self.edits.iter().any(left) {
                    return Err(inconsistent("the session ended and left something"));
                }
                self.sessions.remove(session);
                self.edits.retain(|edit| edit.session != *session);
                self.ended.push(*session);
            }
        }
        self.records += 1;
        Ok(())
    }

    /// Whether nothing of ours is left anywhere: the journal may be emptied.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.sessions.is_empty()
    }

    /// The sessions that have not ended, with the process that answers for each and when that was started.
    pub fn open_sessions(&self) -> impl Iterator<Item = (SessionId, u32, u64)> {
        self.sessions
            .iter()
            .map(|(id, session)| (*id, session.pid, session.started))
    }

    /// Splits what an edit wants by what is there: what is added, what another session has added before, and what somebody
    /// else put there.
    #[must_use]
    pub fn intend(&self, object: &Object, wanted: &[Ace], list: &Acl) -> Intent {
        let mut intent = Intent::default();
        let mut after = list.clone();
        for ace in wanted {
            let ours = || {
                self.edits
                    .iter()
                    .filter(|edit| !edit.removed && edit.object.is(object))
                    .any(|edit| edit.holds().any(|held| held == ace))
            };
            // An entry that does not fit is announced all the same: the change itself will fail.
            match after.insert(ace.clone()) {
                Ok(crate::acl::Inserted::AlreadyThere) if ours() => intent.share.push(ace.clone()),
                Ok(crate::acl::Inserted::AlreadyThere) => intent.foreign.push(ace.clone()),
                Ok(crate::acl::Inserted::Added) | Err(_) => intent.add.push(ace.clone()),
            }
        }
        intent
    }

    /// What must go because the process that answered for it is gone: first of all at every start. The last edit comes
    /// first.
    ///
    /// `is_alive` is told the number of a process and when it was started.
    pub fn pending(&self, is_alive: impl Fn(u32, u64) -> bool) -> Vec<Repair> {
        let gone: Vec<SessionId> = self
            .open_sessions()
            .filter(|(_, pid, started)| !is_alive(*pid, *started))
            .map(|(session, ..)| session)
            .collect();
        self.removals(&gone)
    }

    /// What must go when this session ends. The last edit comes first.
    #[must_use]
    pub fn release(&self, session: SessionId) -> Vec<Repair> {
        self.removals(&[session])
    }

    /// An entry goes with the last session that needs it: until then it is kept from whoever is still held by it.
    fn removals(&self, ending: &[SessionId]) -> Vec<Repair> {
        let needed = |object: &Object, ace: &Ace| {
            self.edits
                .iter()
                .filter(|edit| !edit.removed && !ending.contains(&edit.session))
                .filter(|edit| edit.object.is(object))
                .any(|edit| edit.holds().any(|held| held == ace))
        };
        let mut repairs: Vec<Repair> = Vec::new();
        for edit in self.edits.iter().rev() {
            if edit.removed || !ending.contains(&edit.session) {
                continue;
            }
            let mut remove: Vec<Ace> = edit
                .holds()
                .filter(|ace| !needed(&edit.object, ace))
                // Two sessions that end together and shared it: one entry, removed once.
                .filter(|ace| {
                    !repairs
                        .iter()
                        .any(|repair| repair.object.is(&edit.object) && repair.remove.contains(ace))
                })
                .cloned()
                .collect();
            remove.reverse();
            repairs.push(Repair {
                session: edit.session,
                edit: edit.edit,
                object: edit.object.clone(),
                remove,
            });
        }
        repairs
    }
}
