//! What the oracle says about each place that a policy names, at the place where it really is.
//!
//! Every clause of a policy speaks about a path and what is below it, so a verdict can only change where some clause
//! begins. Asking the oracle at each of these paths therefore says everything but what globs match below them, and lowering
//! has no opinion of its own.

use std::collections::BTreeMap;

use palisade_policy::{
    AbsolutePath, Access, CanonicalSandboxPolicy, Clause, GuardOrigin, LoweringProblem, PathCase,
    PathMatcher, Peer, PolicyError, RelativePath, ResolvedPolicy, UnixAddress,
};

use super::globs::{self, Glob};
use super::spot::Spot;
use crate::host::{Entry, Located, MacHost};
use crate::profile::UnspeakablePath;

/// Which clause a place comes from: it names the parameter, and tags the denials.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Origin {
    Root,
    Grant,
    Protected,
    Secret,
    Denied,
    ReadOnly,
    Private,
    Socket,
    Workspace,
    Link,
    Everything,
}

impl Origin {
    /// The kind of parameter.
    pub(super) const fn parameter(self) -> &'static str {
        match self {
            Self::Root => "ROOT",
            Self::Grant => "GRANT",
            Self::Protected => "PROTECTED",
            Self::Secret => "SECRET",
            Self::Denied => "DENIED",
            Self::ReadOnly => "READ_ONLY",
            Self::Private => "SESSION",
            Self::Socket => "SOCKET",
            Self::Workspace => "WORKSPACE",
            Self::Link => "LINK",
            Self::Everything => "PLACE",
        }
    }

    /// What a denial says in the log.
    pub(super) const fn tag(self) -> &'static str {
        match self {
            Self::Protected => "palisade:protected",
            Self::Secret => "palisade:secret",
            Self::Denied => "palisade:denied",
            Self::Link => "palisade:link",
            Self::ReadOnly => "palisade:read-only",
            Self::Root
            | Self::Grant
            | Self::Private
            | Self::Socket
            | Self::Workspace
            | Self::Everything => "palisade:outside",
        }
    }
}

/// A place where a clause begins.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) spot: Spot,
    pub(super) origin: Origin,
    /// The nearest place that holds it, by its number.
    above: Option<usize>,
    /// Whether it may be read.
    pub(super) read: bool,
    /// Whether its content may be changed.
    pub(super) write: bool,
    /// Whether a socket there may be connected to.
    pub(super) connect: bool,
}

/// All of them, and the globs.
#[derive(Debug)]
pub(super) struct Places<'a> {
    policy: &'a ResolvedPolicy,
    /// In the order in which the policy names them, so that the order of the rules does not depend on what paths are
    /// called.
    pub(super) list: Vec<Place>,
    pub(super) globs: Vec<Glob<'a>>,
    /// Paths that are called otherwise than they are: the name, and where it leads.
    aliases: Vec<(AbsolutePath, AbsolutePath)>,
    session_tmp: Option<AbsolutePath>,
    /// Links that lead nowhere, in place of what the policy names.
    pub(super) dead_links: Vec<AbsolutePath>,
}

/// What was found where, and when.
type Found = BTreeMap<AbsolutePath, (Spot, Origin, usize)>;

/// The verdicts that begin and end at places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Read,
    Write,
    Connect,
}

impl Place {
    pub(super) const fn allows(&self, verdict: Verdict) -> bool {
        match verdict {
            Verdict::Read => self.read,
            Verdict::Write => self.write,
            Verdict::Connect => self.connect,
        }
    }
}

impl<'a> Places<'a> {
    /// Looks every path of the policy up.
    pub(super) fn collect(policy: &'a ResolvedPolicy, host: &MacHost) -> Result<Self, PolicyError> {
        let mut places = Self {
            policy,
            list: Vec::new(),
            globs: Vec::new(),
            aliases: Vec::new(),
            session_tmp: host.session_tmp.clone(),
            dead_links: Vec::new(),
        };
        let mut found = Found::new();
        if let Ok(everything) = AbsolutePath::new("/") {
            found.insert(
                everything.clone(),
                (Spot::existing(everything), Origin::Everything, 0),
            );
        }
        for root in policy.roots() {
            let located = usable_root(policy, host, &root.root)?;
            places.add(&mut found, &root.root, located, Origin::Root)?;
        }
        let rules = policy.canonical().rules();
        for grant in rules.iter().flat_map(|(paths, _)| &paths.reopened) {
            let located = match grant.write {
                true => usable_root(policy, host, &grant.path)?,
                false => look_up(policy, host, &grant.path)?,
            };
            places.add(&mut found, &grant.path, located, Origin::Grant)?;
        }
        for guard in policy.guards() {
            let origin = match guard.origin {
                GuardOrigin::Protected => Origin::Protected,
                GuardOrigin::Sensitive => Origin::Secret,
                _ => Origin::Denied,
            };
            match guard.matcher.path() {
                Some(path) => {
                    let located = look_up(policy, host, path)?;
                    places.add(&mut found, path, located, origin)?;
                }
                None => {
                    places.add_way(&mut found, host, &guard.matcher)?;
                    places.globs.extend(Glob::of_guard(policy, host, guard)?);
                }
            }
        }
        for matcher in policy.read_only() {
            match matcher.path() {
                Some(path) => {
                    let located = look_up(policy, host, path)?;
                    places.add(&mut found, path, located, Origin::ReadOnly)?;
                }
                None => {
                    places.add_way(&mut found, host, matcher)?;
                    places.globs.extend(Glob::read_only(policy, host, matcher)?);
                }
            }
        }
        for path in policy.private() {
            let located = usable_root(policy, host, path)?;
            places.add(&mut found, path, located, Origin::Private)?;
        }
        for path in rules.iter().flat_map(|(_, local)| &local.unix_paths) {
            let located = look_up(policy, host, path)?;
            refuse_links(policy, path, &Spot::of(policy, path, located)?.path)?;
            places.add(&mut found, path, located, Origin::Socket)?;
        }
        if let CanonicalSandboxPolicy::ReadOnly { .. } = policy.canonical() {
            let cwd = policy.context().cwd.path();
            let located = look_up(policy, host, cwd)?;
            places.add(&mut found, cwd, located, Origin::Workspace)?;
        }
        let mut found: Vec<_> = found.into_values().collect();
        found.sort_by_key(|(.., order)| *order);
        places.list = found
            .into_iter()
            .map(|(spot, origin, _)| places.judge(spot, origin))
            .collect();
        let above: Vec<_> = places
            .list
            .iter()
            .map(|place| places.nearest_above(&place.spot.path))
            .collect();
        for (place, above) in places.list.iter_mut().zip(above) {
            place.above = above;
        }
        Ok(places)
    }

    fn add(
        &mut self,
        found: &mut Found,
        name: &AbsolutePath,
        located: &Located,
        origin: Origin,
    ) -> Result<(), PolicyError> {
        let spot = Spot::of(self.policy, name, located)?;
        self.add_links(found, located)?;
        if located.entry == Entry::DeadLink {
            self.dead_links.push(spot.path.clone());
        }
        if spot.path != *name {
            self.aliases.push((name.clone(), spot.path.clone()));
        }
        let case = self.case();
        let known = found.values().any(|(known, ..)| {
            known.path.covers(&spot.path, case) && spot.path.covers(&known.path, case)
        });
        if !known {
            let order = found.len();
            found.insert(spot.path.clone(), (spot, origin, order));
        } else if let Some((_, other, _)) = found.get_mut(&spot.path)
            && *other == Origin::Link
        {
            *other = origin;
        }
        Ok(())
    }

    /// The links to where a glob begins: who replaces one has the glob speak about something else.
    fn add_way(
        &self,
        found: &mut Found,
        host: &MacHost,
        matcher: &PathMatcher,
    ) -> Result<(), PolicyError> {
        match globs::anchor(matcher) {
            Some((anchor, ..)) => {
                let located = look_up(self.policy, host, &anchor)?;
                self.add_links(found, located)
            }
            None => Ok(()),
        }
    }

    fn add_links(&self, found: &mut Found, located: &Located) -> Result<(), PolicyError> {
        for link in &located.links {
            let spot = Spot::link(self.policy, link)?;
            let order = found.len();
            found
                .entry(link.clone())
                .or_insert((spot, Origin::Link, order));
        }
        Ok(())
    }

    fn judge(&self, spot: Spot, origin: Origin) -> Place {
        let read = self.may_read(&spot.path);
        let write = origin != Origin::Link && self.may_write(&spot.path);
        let connect = self.may_connect(&spot.path);
        Place {
            spot,
            origin,
            above: None,
            read,
            write,
            connect,
        }
    }

    pub(super) fn case(&self) -> PathCase {
        self.policy.context().facts.case
    }

    pub(super) const fn policy(&self) -> &'a ResolvedPolicy {
        self.policy
    }

    /// Every name that the policy has for a place: its own, and those of links that lead there.
    pub(super) fn names(&self, path: &AbsolutePath) -> Vec<AbsolutePath> {
        let case = self.case();
        let mut names = vec![path.clone()];
        for (name, real) in &self.aliases {
            if !real.covers(path, case) {
                continue;
            }
            let below: std::path::PathBuf =
                path.as_path().components().skip(1 + real.depth()).collect();
            let name = match RelativePath::new(&below) {
                Ok(below) => name.join(&below),
                Err(_) => name.clone(),
            };
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// Whether something may be done at a place. Another name of it counts where a guard names it: that no root holds the
    /// name says nothing about the place.
    fn permits(&self, path: &AbsolutePath, access: impl Fn(AbsolutePath) -> Access) -> bool {
        self.policy.place(&access(path.clone())).is_some()
            && self
                .names(path)
                .into_iter()
                .all(|name| !self.guards(&access(name)))
    }

    /// Whether a guard denies an access.
    fn guards(&self, access: &Access) -> bool {
        self.policy.place(access).is_none()
            && !matches!(
                self.policy.permits(access).clause,
                Clause::OutsideRoots | Clause::ReadOnlyMode | Clause::UnlistedSocket
            )
    }

    pub(super) fn may_read(&self, path: &AbsolutePath) -> bool {
        self.permits(path, Access::Read)
    }

    /// What must not be read is not written either: who moves it could read it elsewhere.
    pub(super) fn may_write(&self, path: &AbsolutePath) -> bool {
        self.may_read(path) && self.permits(path, Access::Write)
    }

    /// Whether an entry may be made, removed, moved and replaced.
    pub(super) fn may_replace(&self, path: &AbsolutePath) -> bool {
        self.permits(path, Access::Delete)
    }

    /// Sockets that the policy names, and those in the session's own directory, where nobody else listens.
    fn may_connect(&self, path: &AbsolutePath) -> bool {
        let own = self
            .session_tmp
            .as_ref()
            .is_some_and(|tmp| tmp.covers(path, self.case()));
        if own {
            return self.may_read(path);
        }
        self.permits(path, |path| Access::Unix {
            address: UnixAddress::Path(path),
            peer: Peer::Host,
        })
    }

    /// The places below which something may be done that may not be done around them.
    pub(super) fn opened(&self, verdict: Verdict) -> impl Iterator<Item = &Place> {
        self.list.iter().filter(move |place| {
            place.allows(verdict) && !self.above(place).is_some_and(|above| above.allows(verdict))
        })
    }

    /// The places below which something may not be done that may be done around them.
    pub(super) fn closed(&self, verdict: Verdict) -> impl Iterator<Item = &Place> {
        self.list.iter().filter(move |place| {
            !place.allows(verdict) && self.above(place).is_some_and(|above| above.allows(verdict))
        })
    }

    fn above(&self, place: &Place) -> Option<&Place> {
        self.list.get(place.above?)
    }

    fn nearest_above(&self, path: &AbsolutePath) -> Option<usize> {
        let holding = self.list.iter().enumerate();
        holding
            .filter(|(_, above)| self.holds(&above.spot.path, path))
            .max_by_key(|(_, above)| above.spot.path.depth())
            .map(|(number, _)| number)
    }

    /// Whether a path is strictly below another.
    pub(super) fn holds(&self, outer: &AbsolutePath, inner: &AbsolutePath) -> bool {
        outer.depth() < inner.depth() && outer.covers(inner, self.case())
    }

    /// The nearest places below one whose verdict is the other way round.
    pub(super) fn exceptions<'b>(
        &'b self,
        of: &'b Place,
        verdict: Verdict,
    ) -> impl Iterator<Item = &'b Place> {
        let allowed = of.allows(verdict);
        self.list.iter().filter(move |inner| {
            let mut between = std::iter::successors(self.above(inner), |place| self.above(place))
                .take_while(|place| place.allows(verdict) == allowed);
            inner.allows(verdict) != allowed && between.any(|place| place.spot.path == of.spot.path)
        })
    }
}

/// What the survey saw at a path.
pub(super) fn look_up<'h>(
    policy: &ResolvedPolicy,
    host: &'h MacHost,
    path: &AbsolutePath,
) -> Result<&'h Located, PolicyError> {
    host.places.get(path).ok_or_else(|| {
        PolicyError::at(
            field_of(policy, path),
            LoweringProblem::NotSurveyed {
                path: path.to_string(),
            },
        )
    })
}

/// A path that must be writable: it exists, it is what it is called, and it is a directory or a file.
fn usable_root<'h>(
    policy: &ResolvedPolicy,
    host: &'h MacHost,
    path: &AbsolutePath,
) -> Result<&'h Located, PolicyError> {
    let located = look_up(policy, host, path)?;
    let case = policy.context().facts.case;
    let same = path.covers(&located.existing, case) && located.existing.covers(path, case);
    let problem = if !located.missing.is_empty() || located.entry == Entry::Missing {
        Some(LoweringProblem::MissingRoot { path: path.clone() })
    } else if located.entry == Entry::DeadLink {
        Some(LoweringProblem::LinkedRoot {
            path: path.clone(),
            real: None,
        })
    } else if !same {
        Some(LoweringProblem::LinkedRoot {
            path: path.clone(),
            real: Some(located.existing.clone()),
        })
    } else if ["/dev", "/System"]
        .iter()
        .any(|place| path.as_path().starts_with(place))
    {
        Some(LoweringProblem::KernelRoot { path: path.clone() })
    } else {
        None
    };
    match problem {
        Some(problem) => Err(PolicyError::at(field_of(policy, path), problem)),
        None => Ok(located),
    }
}

/// What is opened is called what it is: the oracle is asked about paths without links.
fn refuse_links(
    policy: &ResolvedPolicy,
    path: &AbsolutePath,
    real: &AbsolutePath,
) -> Result<(), PolicyError> {
    let case = policy.context().facts.case;
    if path.covers(real, case) && real.covers(path, case) {
        return Ok(());
    }
    let (path, real) = (path.clone(), Some(real.clone()));
    Err(PolicyError::at(
        field_of(policy, &path),
        LoweringProblem::LinkedRoot { path, real },
    ))
}

/// A refusal of a path that a profile cannot hold.
pub(super) fn unspeakable(policy: &ResolvedPolicy, error: &UnspeakablePath) -> PolicyError {
    PolicyError::at(
        field_of(policy, &error.path),
        LoweringProblem::UnspeakablePath {
            path: error.path.to_string(),
            why: error.why,
        },
    )
}

/// The field of the policy that a path comes from, as far as that can be told.
fn field_of(policy: &ResolvedPolicy, path: &AbsolutePath) -> String {
    let canonical = policy.canonical();
    if let CanonicalSandboxPolicy::WorkspaceWrite { writable_roots, .. } = canonical
        && let Some(i) = writable_roots.iter().position(|root| root.path() == path)
    {
        return format!("writable_roots[{i}]");
    }
    if let Some((rules, local)) = canonical.rules() {
        if let Some(i) = rules.reopened.iter().position(|grant| grant.path == *path) {
            return format!("paths.reopened[{i}]");
        }
        if let Some(i) = local.unix_paths.iter().position(|listed| listed == path) {
            return format!("local.unix_paths[{i}]");
        }
    }
    let context = policy.context();
    match path {
        path if path == context.cwd.path() => "cwd".to_owned(),
        path if Some(path) == context.facts.tmpdir.as_ref() => "TMPDIR".to_owned(),
        path if context.private.overlays.contains(path) => "private".to_owned(),
        _ => "paths".to_owned(),
    }
}
