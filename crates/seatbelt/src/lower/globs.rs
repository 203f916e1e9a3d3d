//! Globs: below which place they match, what of them is left below a place that reopens something, and what lies on their
//! way.

use palisade_policy::{
    AbsolutePath, GlobPart, Guard, GuardOrigin, LoweringProblem, PathMatcher, PolicyError,
    RelativePath, ResolvedPolicy, Stance,
};

use super::places::{Place, Places, Verdict, look_up};
use super::spell;
use super::spot::Spot;
use crate::host::MacHost;

/// A glob that denies something.
#[derive(Clone, Debug)]
pub(super) struct Glob<'a> {
    matcher: &'a PathMatcher,
    parts: &'a [GlobPart],
    /// The directory below which it matches: its base, and the names without wildcards that it begins with.
    pub(super) anchor: Spot,
    /// How many parts are in the anchor.
    consumed: usize,
    pub(super) denies_read: bool,
    pub(super) denies_write: bool,
    pub(super) tag: &'static str,
}

/// What of a glob can match below a place.
#[derive(Clone, Debug)]
pub(super) struct Instance<'p> {
    pub(super) anchor: Spot,
    /// The parts that are left, in each way that the names above can be read.
    pub(super) tails: Vec<Vec<GlobPart>>,
    /// Places below that are open although the glob matches there: what it matches below them is another instance.
    pub(super) reopened: Vec<&'p Place>,
    pub(super) tag: &'static str,
}

impl<'a> Glob<'a> {
    /// `None` if the guard denies nothing.
    pub(super) fn of_guard(
        policy: &'a ResolvedPolicy,
        host: &MacHost,
        guard: &'a Guard,
    ) -> Result<Option<Self>, PolicyError> {
        let denies_read = guard.read == Some(Stance::Denies);
        let denies_write = denies_read || guard.write == Some(Stance::Denies);
        let tag = match guard.origin {
            GuardOrigin::Protected => "palisade:protected",
            GuardOrigin::Sensitive => "palisade:secret",
            _ => "palisade:denied",
        };
        match denies_write {
            true => Self::new(policy, host, &guard.matcher, denies_read, tag),
            false => Ok(None),
        }
    }

    pub(super) fn read_only(
        policy: &'a ResolvedPolicy,
        host: &MacHost,
        matcher: &'a PathMatcher,
    ) -> Result<Option<Self>, PolicyError> {
        Self::new(policy, host, matcher, false, "palisade:read-only")
    }

    fn new(
        policy: &'a ResolvedPolicy,
        host: &MacHost,
        matcher: &'a PathMatcher,
        denies_read: bool,
        tag: &'static str,
    ) -> Result<Option<Self>, PolicyError> {
        let Some((anchor, consumed, parts)) = anchor(matcher) else {
            return Err(PolicyError::at(
                "paths",
                LoweringProblem::NotSurveyed {
                    path: matcher.to_string(),
                },
            ));
        };
        let anchor = Spot::of(policy, &anchor, look_up(policy, host, &anchor)?)?;
        Ok(Some(Self {
            matcher,
            parts,
            anchor,
            consumed,
            denies_read,
            denies_write: true,
            tag,
        }))
    }

    const fn denies(&self, verdict: Verdict) -> bool {
        match verdict {
            Verdict::Read | Verdict::Connect => self.denies_read,
            Verdict::Write => self.denies_write,
        }
    }

    /// The parts below the anchor, without a `**` at the end.
    fn tail(&self) -> &'a [GlobPart] {
        let tail = self.parts.get(self.consumed..).unwrap_or_default();
        match tail {
            [names @ .., GlobPart::AnyNames] if !names.is_empty() => names,
            tail => tail,
        }
    }

    /// The names after the last `**`, if there is one: what a move could bring to where the glob does not see it.
    fn loose_tail(&self) -> Option<&'a [GlobPart]> {
        let tail = self.tail();
        let last = tail.iter().rposition(|part| *part == GlobPart::AnyNames)?;
        tail.get(last..).filter(|loose| loose.len() > 1)
    }

    /// Whether below the anchor it matters only what a path ends with.
    fn is_loose(&self) -> bool {
        self.loose_tail() == Some(self.tail())
    }

    /// How deep the deepest match at or above a path is.
    fn depth_of_match(&self, places: &Places<'_>, path: &AbsolutePath) -> Option<usize> {
        let names = places.names(path);
        names
            .iter()
            .filter_map(|name| {
                let depth = self.matcher.specificity(name, places.case())?;
                // Depths count from the root of the file system, also where a name is another than the path.
                Some((depth + path.depth()).saturating_sub(name.depth()))
            })
            .max()
    }

    /// What is left of the glob below a path.
    fn left_below(&self, places: &Places<'_>, path: &AbsolutePath) -> Vec<Vec<GlobPart>> {
        let mut tails: Vec<Vec<GlobPart>> = Vec::new();
        for name in places.names(path) {
            let Some((_, reached)) = self.matcher.progress(&name, places.case()) else {
                continue;
            };
            for (i, _) in reached.iter().enumerate().filter(|(_, reached)| **reached) {
                let tail = self.parts.get(i..).unwrap_or_default().to_vec();
                if !tail.is_empty() && !tails.contains(&tail) {
                    tails.push(tail);
                }
            }
        }
        tails
    }

    /// What the glob denies, from its anchor down.
    fn instances<'p>(&self, places: &'p Places<'_>, verdict: Verdict) -> Vec<Instance<'p>> {
        let mut open = vec![(self.anchor.clone(), vec![self.tail().to_vec()])];
        let mut done = Vec::new();
        while let Some((anchor, tails)) = open.pop() {
            let matched = |place: &Place| {
                place.allows(verdict)
                    && places.holds(&anchor.path, &place.spot.path)
                    && self.depth_of_match(places, &place.spot.path) > Some(anchor.path.depth())
            };
            let all: Vec<&Place> = places.list.iter().filter(|place| matched(place)).collect();
            let reopened: Vec<&Place> = all
                .iter()
                .copied()
                .filter(|place| {
                    !all.iter()
                        .any(|above| places.holds(&above.spot.path, &place.spot.path))
                })
                .collect();
            for place in &reopened {
                let left = self.left_below(places, &place.spot.path);
                if !left.is_empty() {
                    open.push((place.spot.clone(), left));
                }
            }
            done.push(Instance {
                anchor,
                tails,
                reopened,
                tag: self.tag,
            });
        }
        done
    }

    /// The same names in the writable places that the glob does not see: a directory that is moved there takes them
    /// along.
    fn elsewhere<'p>(&self, places: &'p Places<'_>) -> Vec<Instance<'p>> {
        let Some(loose) = self.loose_tail() else {
            return Vec::new();
        };
        places
            .opened(Verdict::Write)
            .filter(|place| {
                let seen = self.anchor.path.covers(&place.spot.path, places.case());
                !(seen && self.is_loose())
            })
            .map(|place| Instance {
                anchor: place.spot.clone(),
                tails: vec![loose.to_vec()],
                reopened: Vec::new(),
                tag: self.tag,
            })
            .collect()
    }

    /// Whether what it matches depends on where it begins, so that the directories above must stay where they are.
    pub(super) fn is_anchored(&self) -> bool {
        self.loose_tail().is_none()
    }

    /// Whether names are denied where the glob does not see them.
    pub(super) fn reaches_further(&self, places: &Places<'_>) -> bool {
        !self.elsewhere(places).is_empty()
    }

    /// Whether it has several names, so that something lies on its way.
    pub(super) fn has_a_way(&self) -> bool {
        self.consumed > 0
            || self
                .tail()
                .iter()
                .filter(|part| matches!(part, GlobPart::Name(_)))
                .count()
                > 1
    }

    /// What lies on the way to a match: places, and the patterns below each that must stay what they are.
    pub(super) fn way(&self, places: &Places<'_>) -> Vec<(Spot, Vec<Vec<GlobPart>>)> {
        let steps = |tail: &[GlobPart]| -> Vec<Vec<GlobPart>> {
            (1..tail.len())
                .filter_map(|end| tail.get(..end))
                .filter(|step| matches!(step.last(), Some(GlobPart::Name(_))))
                .map(<[GlobPart]>::to_vec)
                .collect()
        };
        let mut way = Vec::new();
        match self.loose_tail() {
            None => way.push((self.anchor.clone(), steps(self.tail()))),
            Some(loose) => {
                if self.is_loose() {
                    way.push((self.anchor.clone(), steps(loose)));
                }
                for instance in self.elsewhere(places) {
                    way.push((instance.anchor, steps(loose)));
                }
            }
        }
        way.retain(|(_, steps)| !steps.is_empty());
        way
    }
}

/// Everything that globs deny.
pub(super) fn instances<'p>(places: &'p Places<'_>, verdict: Verdict) -> Vec<Instance<'p>> {
    let mut all = Vec::new();
    for glob in places.globs.iter().filter(|glob| glob.denies(verdict)) {
        let found = glob.instances(places, verdict);
        all.extend(found.into_iter().chain(glob.elsewhere(places)));
    }
    all
}

/// Where a glob begins: its base with the names that it begins with, how many those are, and all its parts.
///
/// At least one name is left: what a glob matches lies below where it begins.
pub(crate) fn anchor(matcher: &PathMatcher) -> Option<(AbsolutePath, usize, &[GlobPart])> {
    let parts = matcher.glob_parts()?;
    let mut anchor = match matcher.base() {
        Some(base) => base.clone(),
        None => AbsolutePath::new("/").ok()?,
    };
    let mut consumed = 0;
    while let Some(name) = parts.get(consumed).and_then(spell::literal_name) {
        let left = parts.get(consumed + 1..).unwrap_or_default();
        let last = !left.iter().any(|part| matches!(part, GlobPart::Name(_)));
        // A quoted `..` or the like is no directory to begin at, and matches nothing.
        let Ok(name) = RelativePath::new(&name) else {
            break;
        };
        if last || name.as_path().components().count() != 1 {
            break;
        }
        anchor = anchor.join(&name);
        consumed += 1;
    }
    Some((anchor, consumed, parts))
}
