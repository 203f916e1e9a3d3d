//! What the oracle says about paths: guards first, then the area that holds the path.

use std::sync::LazyLock;

use super::Judgement;
use crate::access::{Clause, Place};
use crate::canonical::CanonicalSandboxPolicy;
use crate::path_matcher::PathMatcher;
use crate::paths::AbsolutePath;
use crate::resolve::{Guard, ResolvedPolicy, Stance};
use crate::rules::Reopened;

/// Devices that are the same for everybody and hold nothing.
static DEVICES: LazyLock<Vec<AbsolutePath>> = LazyLock::new(|| {
    [
        "/dev/null",
        "/dev/zero",
        "/dev/full",
        "/dev/random",
        "/dev/urandom",
        "/dev/tty",
        "/dev/ptmx",
        "/dev/pts",
    ]
    .iter()
    .filter_map(|device| AbsolutePath::new(device).ok())
    .collect()
});

impl ResolvedPolicy {
    pub(super) fn judge_read(&self, path: &AbsolutePath, reopened: &[Reopened]) -> Judgement {
        let lifted = match self.guard_verdict(path, reopened, Kind::Read) {
            Guarded::Denied(guard) => return Err(guard.clause(Stance::Denies)),
            Guarded::Lifted(guard) => Some(guard.clause(Stance::Lifts)),
            Guarded::Granted(grant) => Some(Clause::Reopened(grant.path.clone())),
            Guarded::Silent => None,
        };
        let (place, clause) = match self.private_area(path) {
            Some(area) => (Place::Private, Clause::PrivatePlace(area.clone())),
            None => (Place::Host, Clause::ReadableByDefault),
        };
        Ok((place, lifted.unwrap_or(clause)))
    }

    /// The place that [`judge_read`](Self::judge_read) says, without its reason.
    pub(super) fn place_to_read(
        &self,
        path: &AbsolutePath,
        reopened: &[Reopened],
    ) -> Option<Place> {
        match self.guard_verdict(path, reopened, Kind::Read) {
            Guarded::Denied(_) => None,
            Guarded::Lifted(_) | Guarded::Granted(_) | Guarded::Silent => {
                Some(match self.private_area(path) {
                    Some(_) => Place::Private,
                    None => Place::Host,
                })
            }
        }
    }

    pub(super) fn judge_write(
        &self,
        path: &AbsolutePath,
        reopened: &[Reopened],
        reach: Reach,
    ) -> Judgement {
        if let Guarded::Denied(guard) = self.guard_verdict(path, reopened, Kind::Write) {
            return Err(guard.clause(Stance::Denies));
        }
        self.writable_area(path, reopened, reach)
    }

    /// Whether any area that can be written holds a path, guards not considered: where none does, nothing else matters.
    pub(super) fn may_write(
        &self,
        path: &AbsolutePath,
        reopened: &[Reopened],
        reach: Reach,
    ) -> bool {
        let case = self.case();
        let holds = |area: &AbsolutePath| {
            area.covers(path, case) && (reach == Reach::Itself || area.depth() < path.depth())
        };
        self.private.iter().any(holds)
            || self.roots.iter().any(|root| holds(&root.root))
            || reopened
                .iter()
                .any(|grant| grant.write && holds(&grant.path))
            || reach == Reach::Itself && DEVICES.iter().any(holds)
    }

    /// Making, removing and renaming change the directory that holds the name, and take along what is below it.
    pub(super) fn judge_entry(&self, path: &AbsolutePath, reopened: &[Reopened]) -> Judgement {
        let verdict = self.judge_write(path, reopened, Reach::Entry)?;
        match self.guarded_below(path, reopened) {
            Some(guarded) => Err(Clause::HoldsGuarded(guarded)),
            None => Ok(verdict),
        }
    }

    /// What guards and the grants that lift them say about a path.
    fn guard_verdict<'a>(
        &'a self,
        path: &AbsolutePath,
        reopened: &'a [Reopened],
        kind: Kind,
    ) -> Guarded<'a> {
        let grant = reopened
            .iter()
            .filter(|grant| kind == Kind::Read || grant.write)
            .filter(|grant| grant.path.covers(path, self.case()))
            .max_by_key(|grant| grant.path.depth());
        match (self.strongest_guard(path, kind), grant) {
            (None, _) => Guarded::Silent,
            // A grant names the path itself, so it also wins where both are equally specific.
            (Some((specificity, ..)), Some(grant)) if grant.path.depth() >= specificity => {
                Guarded::Granted(grant)
            }
            (Some((_, Stance::Denies, guard)), _) => Guarded::Denied(guard),
            (Some((_, Stance::Lifts, guard)), _) => Guarded::Lifted(guard),
        }
    }

    /// The guard that decides about a path, grants not considered: the most specific one, and of equals one that denies.
    pub(crate) fn strongest_guard(
        &self,
        path: &AbsolutePath,
        kind: Kind,
    ) -> Option<(usize, Stance, &Guard)> {
        let says = |number: usize| {
            let (specificity, stance, guard) =
                self.said_by(self.guards.get(number)?, path, kind)?;
            Some(((specificity, stance, number), guard))
        };
        // Of those that say the same, the last one.
        let strongest = match self.index.candidates(path) {
            Some(candidates) => candidates.filter_map(says).max_by_key(|(said, _)| *said),
            None => (0..self.guards.len())
                .filter_map(says)
                .max_by_key(|(said, _)| *said),
        };
        strongest.map(|((specificity, stance, _), guard)| (specificity, stance, guard))
    }

    /// What a guard says about a path, and how specific it is.
    fn said_by<'g>(
        &self,
        guard: &'g Guard,
        path: &AbsolutePath,
        kind: Kind,
    ) -> Option<(usize, Stance, &'g Guard)> {
        let stance = match kind {
            Kind::Read => guard.read,
            Kind::Write => guard.write,
        };
        let specificity = guard.matcher.specificity(path, self.case())?;
        Some((specificity, stance?, guard))
    }

    /// Everything can be read; the question is whose it is: the session's, if this says which area makes it so.
    fn private_area(&self, path: &AbsolutePath) -> Option<&AbsolutePath> {
        let case = self.case();
        let deepest = |paths: &mut dyn Iterator<Item = &AbsolutePath>| {
            paths
                .filter(|area| area.covers(path, case))
                .map(AbsolutePath::depth)
                .max()
        };
        // Roots and the directory of the policy are bound into private places that would hide them.
        let bound = deepest(
            &mut self
                .roots
                .iter()
                .map(|root| &root.root)
                .chain([self.context.cwd.path()]),
        );
        let private = self
            .private
            .iter()
            .filter(|area| area.covers(path, case))
            .max_by_key(|area| area.depth());
        private.filter(|area| Some(area.depth()) > bound)
    }

    /// The directory of a read-only policy: bound into a private place that would hide it, and not writable.
    fn read_only_cwd(&self) -> Option<&AbsolutePath> {
        match self.canonical {
            CanonicalSandboxPolicy::ReadOnly { .. } => Some(self.context.cwd.path()),
            _ => None,
        }
    }

    /// The most specific area that says whether a path is writable; at equal specificity the order of [`Area`] decides.
    fn writable_area(&self, path: &AbsolutePath, reopened: &[Reopened], reach: Reach) -> Judgement {
        let case = self.case();
        let holds = |area: &AbsolutePath| {
            area.covers(path, case) && (reach == Reach::Itself || area.depth() < path.depth())
        };
        let private = self.private.iter().filter(|area| holds(area)).map(|area| {
            (
                area.depth(),
                Area::Private,
                Clause::PrivatePlace(area.clone()),
            )
        });
        let bound = self
            .read_only_cwd()
            .filter(|cwd| holds(cwd))
            .map(|cwd| (cwd.depth(), Area::Bound, Clause::ReadOnlyMode));
        let roots = self
            .roots
            .iter()
            .map(|root| &root.root)
            .filter(|root| holds(root))
            .map(|root| (root.depth(), Area::Root, Clause::WritableRoot(root.clone())));
        let devices = DEVICES
            .iter()
            .filter(|device| reach == Reach::Itself && device.covers(path, case))
            .map(|device| {
                let clause = Clause::StandardDevice(device.clone());
                (device.depth(), Area::Root, clause)
            });
        let read_only = self.read_only.iter().filter_map(|matcher| {
            let depth = matcher.specificity(path, case)?;
            Some((depth, Area::ReadOnly, Clause::ReadOnlyPath(matcher.clone())))
        });
        let granted = reopened
            .iter()
            .filter(|grant| grant.write && holds(&grant.path))
            .map(|grant| {
                let clause = Clause::Reopened(grant.path.clone());
                (grant.path.depth(), Area::Granted, clause)
            });
        let decisive = private
            .chain(bound)
            .chain(roots)
            .chain(devices)
            .chain(read_only)
            .chain(granted)
            .max_by_key(|(depth, area, _)| (*depth, *area));
        match decisive {
            Some((_, Area::Bound | Area::ReadOnly, clause)) => Err(clause),
            Some((_, Area::Private, clause)) => Ok((Place::Private, clause)),
            Some((_, Area::Root | Area::Granted, clause)) => Ok((Place::Host, clause)),
            None => Err(match self.canonical {
                CanonicalSandboxPolicy::ReadOnly { .. } => Clause::ReadOnlyMode,
                _ => Clause::OutsideRoots,
            }),
        }
    }

    /// Something at or below an entry that would lose its guard if the entry moved: a denied path, a read-only path, a
    /// private place or a root of its own.
    fn guarded_below(&self, path: &AbsolutePath, reopened: &[Reopened]) -> Option<AbsolutePath> {
        let case = self.case();
        let below = |inner: &AbsolutePath| path.covers(inner, case) && inner.depth() > path.depth();
        let denied = |inner: &AbsolutePath| {
            [Kind::Read, Kind::Write].into_iter().any(|kind| {
                matches!(
                    self.guard_verdict(inner, reopened, kind),
                    Guarded::Denied(_)
                )
            })
        };
        let guards = self
            .guards
            .iter()
            .filter_map(|guard| guard.matcher.path())
            .filter(|inner| below(inner) && denied(inner));
        let read_only = self
            .read_only
            .iter()
            .filter_map(|matcher| matcher.path())
            .filter(|inner| below(inner));
        // Mount points: they cannot go either, and in a private place nothing else would keep them.
        let pinned = self
            .private
            .iter()
            .chain(self.roots.iter().map(|root| &root.root))
            .chain(self.read_only_cwd())
            .filter(|place| path.covers(place, case));
        guards.chain(read_only).chain(pinned).min().cloned()
    }

    /// A glob that could match other entries below one path than below the other. A move between two such paths would
    /// take guarded entries out of its sight, or plant entries where it guards. The same glob may have several bases.
    pub(super) fn glob_that_differs(
        &self,
        from: &AbsolutePath,
        to: &AbsolutePath,
    ) -> Option<&PathMatcher> {
        let globs = || {
            self.guards
                .iter()
                .map(|guard| &guard.matcher)
                .chain(&self.read_only)
                .filter(|matcher| matcher.is_glob())
        };
        let progress = |path: &AbsolutePath| {
            let mut all: Vec<_> = globs()
                .filter_map(|matcher| matcher.progress(path, self.case()))
                .filter(|(_, reached)| reached.contains(&true))
                .collect();
            all.sort();
            all.dedup();
            all
        };
        let (before, after) = (progress(from), progress(to));
        if before == after {
            return None;
        }
        globs().find(|matcher| {
            let here = |path| {
                matcher
                    .progress(path, self.case())
                    .filter(|(_, reached)| reached.contains(&true))
            };
            here(from) != here(to)
        })
    }
}

/// What kind of access a guard is asked about.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Read,
    Write,
}

/// Whether an area must hold the path or the directory that the path is an entry of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    Itself,
    Entry,
}

/// What guards say about a path: by reference, because a reason is made for those only who are told it.
enum Guarded<'a> {
    Denied(&'a Guard),
    /// A guard names it and does not block it.
    Lifted(&'a Guard),
    /// A grant lifts the guard.
    Granted(&'a Reopened),
    Silent,
}

/// What an area says; at equal specificity the later one decides, so that a denial beats a root, and a grant that names
/// the path beats both.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Area {
    Private,
    Bound,
    Root,
    ReadOnly,
    Granted,
}
