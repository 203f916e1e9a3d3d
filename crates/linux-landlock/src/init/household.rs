//! What the helper keeps on the host for a session, from before it is made until after it is gone.

use super::announcement::Unmade;
use super::cgroup::Groups;
use super::janitor::Janitor;
use super::premises::{Made, Premises, let_go};
use super::stores::Locks;

/// What was made for a session, and who sees to it if we cannot.
pub(super) struct Household {
    premises: Premises,
    made: Made,
    stores: Locks,
    /// `None` where nothing is made that would stay, and nothing locked.
    janitor: Option<Janitor>,
}

impl Household {
    /// The janitor must know by now what is going to be made.
    pub(super) fn new(premises: Premises, stores: Locks, janitor: Option<Janitor>) -> Self {
        Self {
            premises,
            made: Made::default(),
            stores,
            janitor,
        }
    }

    pub(super) const fn premises(&self) -> &Premises {
        &self.premises
    }

    pub(super) const fn groups(&self) -> &Groups {
        self.premises.groups()
    }

    /// The janitor's process.
    pub(super) fn janitor(&self) -> Option<i32> {
        self.janitor.as_ref().map(Janitor::pid)
    }

    /// Makes everything. What was made before something failed is removed with the rest.
    pub(super) fn make(&mut self) -> Result<(), Unmade> {
        self.premises.make(&mut self.made)?;
        let locks: Vec<_> = self.made.locks().chain(self.stores.descriptors()).collect();
        match &self.janitor {
            Some(janitor) => Ok(janitor.hold(&locks)?),
            None => Ok(()),
        }
    }

    /// Removes everything. Nothing of the session may be left by now.
    pub(super) fn clear(self) {
        let removed = self.premises.remove(self.made);
        if let Some(janitor) = self.janitor {
            janitor.dismiss();
            janitor.leave();
        }
        // Last, because whoever is the last to hold them waits for the disk.
        let_go(removed);
    }

    /// The same for a helper that has given up the privileges which that may take: the janitor has not.
    pub(super) fn leave(self) {
        drop(self.made);
        if self.janitor.is_some_and(|janitor| !janitor.leave()) {
            self.premises.remove_of_others();
        }
    }
}
