//! From what the oracle says to entries of access lists.
//!
//! A list is read from its start, and a right is decided by the first entry that speaks of it. Explicit entries come first,
//! of these the ones that deny, and then what is inherited, from the nearest directory first. So the nearest object that
//! says something decides, as with the clauses of a policy, and where one object says both, the denial.
//!
//! One right needs more. Whoever may remove the children of a directory (`FILE_DELETE_CHILD`) removes and moves them
//! whatever they say themselves, and it was seen that the second check does not ask about that right. So it is not enough
//! that no capability has it: where something must stay, it is denied to the logon session, which the first check knows.
//! The user loses nothing by that but the right to remove what he may not remove for its own sake.

use std::collections::{BTreeMap, BTreeSet};

use palisade_policy::{AbsolutePath, Access, ResolvedPolicy};

use super::areas::{Area, Areas};
use crate::acl::{Ace, AceFlags, AceKind, Rights};
use crate::host::{Entry, Located, WindowsHost};
use crate::plan::{AclEdit, Purpose};
use crate::sid::Sid;

/// The edits, and what they cannot do.
#[derive(Debug, Default)]
pub(super) struct Built {
    /// In the order in which they are made: first what denies, so that nothing is ever open that must not be.
    pub(super) edits: Vec<AclEdit>,
    /// The capability of each place that is opened.
    pub(super) capabilities: Vec<Sid>,
    /// What may not be changed, lies in a place that is opened, and has nothing to carry an entry.
    pub(super) unguarded: Vec<Unguarded>,
    /// Places that are opened on volumes without access lists.
    pub(super) open_volumes: Vec<AbsolutePath>,
}

/// Something that no entry keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unguarded {
    /// What.
    pub(super) path: AbsolutePath,
    /// Why.
    pub(super) why: WhyUnguarded,
}

/// Why no entry keeps something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum WhyUnguarded {
    /// It does not exist.
    Missing,
    /// Its volume has no access lists.
    NoAcls,
    /// Its access list belongs to somebody else.
    ForeignAcl,
    /// The policy names it by a path with a link in it, and the link can be replaced.
    Linked(AbsolutePath),
}

/// Builds the edits.
pub(super) fn build(policy: &ResolvedPolicy, host: &WindowsHost, areas: &Areas) -> Built {
    let mut builder = Builder {
        policy,
        host,
        areas,
        built: Built::default(),
        guards: Vec::new(),
        opens: Vec::new(),
    };
    builder.built.capabilities = areas
        .opened
        .values()
        .map(|opened| opened.capability.clone())
        .collect();
    for (path, area) in &areas.places {
        builder.guard(path, area);
        builder.open(path, area);
    }
    builder.pin();
    builder.keep();
    builder.finish()
}

struct Builder<'a> {
    policy: &'a ResolvedPolicy,
    host: &'a WindowsHost,
    areas: &'a Areas,
    built: Built,
    guards: Vec<AclEdit>,
    opens: Vec<AclEdit>,
}

impl Builder<'_> {
    /// The capabilities of all opened places that hold a path: each of them could allow something there.
    fn capabilities_at(&self, path: &AbsolutePath) -> Vec<Sid> {
        let case = self.policy.context().facts.case;
        self.areas
            .opened
            .iter()
            .filter(|(place, _)| place.covers(path, case))
            .map(|(_, opened)| opened.capability.clone())
            .collect()
    }

    /// The nearest place above where a clause begins and that carries what it says.
    fn above(&self, path: &AbsolutePath) -> Option<&Area> {
        let case = self.policy.context().facts.case;
        self.areas
            .places
            .iter()
            .filter(|(above, _)| above.covers(path, case) && above.depth() < path.depth())
            .filter(|(above, area)| {
                area.located.entry == Entry::Directory
                    && area.located.has_acls
                    && !self.capabilities_at(above).is_empty()
            })
            .max_by_key(|(above, _)| above.depth())
            .map(|(_, area)| area)
    }

    /// What may not be changed, inside a place that is opened.
    fn guard(&mut self, path: &AbsolutePath, area: &Area) {
        let capabilities = self.capabilities_at(path);
        if area.writable {
            return;
        }
        // A link is in the place that holds it, wherever it leads.
        if let Some(name) = &area.linked_from
            && !self.capabilities_at(name).is_empty()
        {
            self.built.unguarded.push(Unguarded {
                path: name.clone(),
                why: WhyUnguarded::Linked(path.clone()),
            });
        }
        if capabilities.is_empty() {
            return;
        }
        // Where the nearest clause above denies as well, its entry is inherited, and what is missing cannot be made.
        if self.above(path).is_some_and(|above| !above.writable) {
            return;
        }
        let why = match &area.located {
            located if located.entry == Entry::Missing => Some(WhyUnguarded::Missing),
            located if !located.has_acls => Some(WhyUnguarded::NoAcls),
            located if !located.may_change_acl => Some(WhyUnguarded::ForeignAcl),
            _ => None,
        };
        if let Some(why) = why {
            let path = path.clone();
            self.built.unguarded.push(Unguarded { path, why });
            return;
        }
        let flags = inherited_by(&area.located);
        let deny = |sid| Ace::new(AceKind::Deny, Rights::CHANGES, sid).with_flags(flags);
        let mut add: Vec<Ace> = capabilities.into_iter().map(deny).collect();
        if area.located.entry == Entry::Directory {
            add.push(self.keep_children().with_flags(AceFlags::CONTAINER_INHERIT));
        }
        self.guards.push(AclEdit {
            path: path.clone(),
            purpose: Purpose::Protected,
            add,
        });
    }

    /// What may be written.
    fn open(&mut self, path: &AbsolutePath, area: &Area) {
        if !area.writable || area.located.entry == Entry::Missing {
            return;
        }
        let opened = self.areas.opened.get(path);
        let (purpose, capability) = match opened {
            Some(opened) if opened.private => (Purpose::Private, opened.capability.clone()),
            Some(opened) => (Purpose::WritableRoot, opened.capability.clone()),
            // A guard that names the path and does not block it, inside one that does: nobody has a capability for it, so
            // the one of the place around it is allowed here again.
            None => match self.reopened_inside_guard(path) {
                Some(capability) => (Purpose::WritableRoot, capability),
                None => return,
            },
        };
        if !area.located.has_acls {
            self.built.open_volumes.push(path.clone());
            return;
        }
        let flags = inherited_by(&area.located);
        self.opens.push(AclEdit {
            path: path.clone(),
            purpose,
            add: vec![
                Ace::new(AceKind::Allow, Rights::WRITABLE_ROOT, capability).with_flags(flags),
            ],
        });
    }

    /// The capability of the nearest place that holds a path, if what is between them is closed.
    fn reopened_inside_guard(&self, path: &AbsolutePath) -> Option<Sid> {
        let closed = self.above(path).is_some_and(|above| !above.writable);
        let case = self.policy.context().facts.case;
        let nearest = self
            .areas
            .opened
            .iter()
            .filter(|(place, _)| place.covers(path, case))
            .max_by_key(|(place, _)| place.depth());
        nearest
            .filter(|_| closed)
            .map(|(_, opened)| opened.capability.clone())
    }

    /// Whatever must stay where it is: the places themselves, and the directories above what is guarded in them. The oracle
    /// says which; nothing that is granted removes children, so the right to remove the object itself is all there is.
    fn pin(&mut self) {
        let mut candidates: BTreeSet<AbsolutePath> = BTreeSet::new();
        for path in self.areas.places.keys() {
            let mut next = Some(path.clone());
            while let Some(path) = next {
                next = path.parent();
                if !self.capabilities_at(&path).is_empty() {
                    candidates.insert(path);
                }
            }
        }
        for path in candidates {
            let located = self.host.places.get(&path);
            // What nobody looked at is above something that was found, or the loss is reported where nothing was found.
            let missing = located.is_some_and(|located| located.entry == Entry::Missing);
            let without = located.is_some_and(|located| !located.has_acls);
            let below_missing = located.is_none() && !self.holds_something(&path);
            let may = |access| self.policy.place(&access).is_some();
            // Another name in the same directory asks nothing of the directory: what is open in one that is closed would
            // become something new there.
            let in_closed = path
                .parent()
                .is_some_and(|parent| !may(Access::Write(parent)));
            if missing
                || without
                || below_missing
                || !may(Access::Write(path.clone()))
                || (may(Access::Delete(path.clone())) && !in_closed && !self.holds_linked(&path))
            {
                continue;
            }
            if located.is_some_and(|located| !located.may_change_acl) {
                self.built.unguarded.push(Unguarded {
                    path,
                    why: WhyUnguarded::ForeignAcl,
                });
                continue;
            }
            let deny = |sid| Ace::new(AceKind::Deny, Rights::DELETE, sid);
            self.guards.push(AclEdit {
                purpose: Purpose::AboveProtected,
                add: self.capabilities_at(&path).into_iter().map(deny).collect(),
                path,
            });
        }
    }

    /// The directories that hold something that must stay, inside the places. What is closed itself inherits the same.
    fn keep(&mut self) {
        let holders: BTreeSet<AbsolutePath> = self
            .guards
            .iter()
            .filter_map(|edit| edit.path.parent())
            .filter(|holder| {
                !self.capabilities_at(holder).is_empty()
                    && self.policy.place(&Access::Write(holder.clone())).is_some()
            })
            .collect();
        for path in holders {
            let located = self.host.places.get(&path);
            let why = match located {
                Some(located) if !located.has_acls => Some(WhyUnguarded::NoAcls),
                Some(located) if !located.may_change_acl => Some(WhyUnguarded::ForeignAcl),
                _ => None,
            };
            if let Some(why) = why {
                let unguarded = Unguarded { path, why };
                if !self.built.unguarded.contains(&unguarded) {
                    self.built.unguarded.push(unguarded);
                }
                continue;
            }
            self.guards.push(AclEdit {
                path,
                purpose: Purpose::AboveProtected,
                add: vec![self.keep_children()],
            });
        }
    }

    /// No child of the object is removed but by its own leave.
    fn keep_children(&self) -> Ace {
        Ace::new(AceKind::Deny, Rights::DELETE_CHILD, self.host.logon.clone())
    }

    /// Whether something below a path is guarded under another name: the oracle only knows that name.
    fn holds_linked(&self, path: &AbsolutePath) -> bool {
        let case = self.policy.context().facts.case;
        self.areas.places.iter().any(|(below, area)| {
            !area.writable
                && area.linked_from.is_some()
                && path.covers(below, case)
                && path.depth() < below.depth()
        })
    }

    /// Whether something was found below a path, so that it exists.
    fn holds_something(&self, path: &AbsolutePath) -> bool {
        let case = self.policy.context().facts.case;
        self.areas
            .places
            .iter()
            .any(|(below, area)| area.located.entry != Entry::Missing && path.covers(below, case))
    }

    /// Denials before permissions, outer objects before inner ones, one edit for each object.
    fn finish(self) -> Built {
        let mut built = self.built;
        let merged = |edits: Vec<AclEdit>| {
            let mut by_path: BTreeMap<AbsolutePath, AclEdit> = BTreeMap::new();
            for edit in edits {
                match by_path.get_mut(&edit.path) {
                    Some(known) => known.add.extend(edit.add),
                    None => {
                        by_path.insert(edit.path.clone(), edit);
                    }
                }
            }
            by_path.into_values()
        };
        built.edits = merged(self.guards).chain(merged(self.opens)).collect();
        built
    }
}

/// What is below a directory inherits; a file has nothing below it, and would not keep the flags.
fn inherited_by(located: &Located) -> AceFlags {
    match located.entry {
        Entry::Directory => AceFlags::TREE,
        _ => AceFlags::NONE,
    }
}
