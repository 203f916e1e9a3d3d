//! Where a path really is, and the filters that hold there: the part that exists is a parameter, missing names are a
//! pattern.

use palisade_policy::{AbsolutePath, PathCase, PolicyError, ResolvedPolicy};

use super::places::unspeakable;
use super::spell;
use crate::host::Located;
use crate::profile::{Filter, Parameters, PathValue, Pattern, UnspeakablePath};

/// A path, and how much of it exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    /// All of it.
    pub(super) path: AbsolutePath,
    existing: AbsolutePath,
    missing: Vec<String>,
}

/// Whether a filter may hold where it is not certain: filters that deny hold in more places rather than in less, filters
/// that allow the other way round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// Everywhere that the spot could be.
    AtLeast,
    /// Nowhere but at the spot.
    AtMost,
}

/// The parameters of a profile, and what else filters depend on.
#[derive(Debug)]
pub(super) struct Filters {
    pub(super) parameters: Parameters,
    pub(super) case: PathCase,
}

impl Spot {
    /// Something that exists, without links.
    pub(super) fn existing(path: AbsolutePath) -> Self {
        Self {
            existing: path.clone(),
            missing: Vec::new(),
            path,
        }
    }

    /// A link. Its own name is not known for certain: a survey finds a link by a name that is compared loosely, and cannot
    /// open it to ask for another. So it counts as missing, which fits every spelling.
    pub(super) fn link(policy: &ResolvedPolicy, link: &AbsolutePath) -> Result<Self, PolicyError> {
        match (link.parent(), link.as_path().file_name()) {
            (Some(above), Some(name)) => {
                Self::of(policy, link, &Located::missing(above, [name.to_owned()]))
            }
            _ => Ok(Self::existing(link.clone())),
        }
    }

    /// What a name leads to.
    pub(super) fn of(
        policy: &ResolvedPolicy,
        name: &AbsolutePath,
        located: &Located,
    ) -> Result<Self, PolicyError> {
        let refuse = |path: &AbsolutePath, why| {
            let path = path.clone();
            Err(unspeakable(policy, &UnspeakablePath { path, why }))
        };
        for path in [name, &located.existing] {
            if let Err(error) = crate::profile::check_path(path) {
                return Err(unspeakable(policy, &error));
            }
        }
        let mut path = located.existing.as_path().to_path_buf();
        let mut missing = Vec::with_capacity(located.missing.len());
        for part in &located.missing {
            path.push(part);
            match part.to_str() {
                Some(text) if !text.contains(['\n', '\r', '/']) => missing.push(text.to_owned()),
                Some(_) => return refuse(name, "contains a line break"),
                None => return refuse(name, "is not Unicode"),
            }
        }
        let Ok(path) = AbsolutePath::new(path) else {
            return refuse(name, "leads through `..`");
        };
        Ok(Self {
            path,
            existing: located.existing.clone(),
            missing,
        })
    }

    /// The same path, or one above it.
    pub(super) fn at(&self, path: &AbsolutePath) -> Self {
        let depth = self.existing.depth();
        let missing = path.depth().saturating_sub(depth);
        if missing == 0 {
            return Self::existing(path.clone());
        }
        Self {
            path: path.clone(),
            existing: self.existing.clone(),
            missing: self.missing.iter().take(missing).cloned().collect(),
        }
    }

    /// Everything above it, nearest first.
    pub(super) fn above(&self) -> Vec<Self> {
        std::iter::successors(self.path.parent(), AbsolutePath::parent)
            .map(|path| self.at(&path))
            .collect()
    }

    /// Whether a filter can hold here and nowhere else.
    pub(super) fn is_certain(&self, case: PathCase) -> bool {
        let exact = |name: &String| spell::is_compared_exactly(name, case);
        self.missing.iter().all(exact) || self.prefix(case, Reach::AtMost).is_some()
    }

    /// What patterns begin with: as many names as there are above, then the missing ones.
    fn prefix(&self, case: PathCase, reach: Reach) -> Option<Pattern> {
        let start = Pattern::from_the_start().any_names(self.existing.depth());
        self.missing.iter().try_fold(start, |pattern, name| {
            let name = match reach {
                Reach::AtLeast => spell::every_spelling(name, case),
                Reach::AtMost => spell::certain_spelling(name, case)?,
            };
            Some(pattern.separator().then(&name))
        })
    }
}

impl Filters {
    fn parameter(
        &mut self,
        kind: &'static str,
        path: &AbsolutePath,
    ) -> Result<PathValue, UnspeakablePath> {
        if path.is_file_system_root() {
            return Ok(PathValue::Fixed("/".to_owned()));
        }
        Ok(PathValue::Parameter(self.parameters.name(kind, path)?))
    }

    /// Gives a spot its name, before filters need it.
    pub(super) fn introduce(
        &mut self,
        kind: &'static str,
        spot: &Spot,
    ) -> Result<(), UnspeakablePath> {
        match self.is_exact(spot) {
            true => self.parameter(kind, &spot.path)?,
            false => self.parameter("BASE", &spot.existing)?,
        };
        Ok(())
    }

    fn is_exact(&self, spot: &Spot) -> bool {
        spot.missing
            .iter()
            .all(|name| spell::is_compared_exactly(name, self.case))
    }

    /// Exactly this path: `None` if no filter holds nowhere else.
    pub(super) fn itself(
        &mut self,
        kind: &'static str,
        spot: &Spot,
        reach: Reach,
    ) -> Result<Option<Filter>, UnspeakablePath> {
        if self.is_exact(spot) {
            return Ok(Some(Filter::Literal(self.parameter(kind, &spot.path)?)));
        }
        let existing = self.parameter("BASE", &spot.existing)?;
        Ok(spot.prefix(self.case, reach).map(|pattern| {
            Filter::All(vec![
                Filter::Subpath(existing),
                Filter::Regex(pattern.until_the_end()),
            ])
        }))
    }

    /// This path and everything below it, as filters of which one must hold: none if no filter holds nowhere else.
    pub(super) fn subtree(
        &mut self,
        kind: &'static str,
        spot: &Spot,
        reach: Reach,
    ) -> Result<Vec<Filter>, UnspeakablePath> {
        if self.is_exact(spot) {
            let path = self.parameter(kind, &spot.path)?;
            if spot.path.is_file_system_root() {
                return Ok(vec![Filter::Subpath(path)]);
            }
            return Ok(vec![Filter::Literal(path.clone()), Filter::Subpath(path)]);
        }
        let existing = self.parameter("BASE", &spot.existing)?;
        let prefix = spot.prefix(self.case, reach);
        Ok(prefix
            .into_iter()
            .map(|pattern| below(existing.clone(), pattern))
            .collect())
    }

    /// What patterns match below a spot, and everything below that.
    pub(super) fn matches(
        &mut self,
        kind: &'static str,
        spot: &Spot,
        pattern: &Pattern,
    ) -> Result<Filter, UnspeakablePath> {
        let existing = self.parameter(kind, &spot.existing)?;
        let prefix = spot
            .prefix(self.case, Reach::AtLeast)
            .unwrap_or_else(Pattern::from_the_start);
        Ok(below(existing, prefix.then(pattern)))
    }

    /// What patterns match below a spot, without what is below that.
    pub(super) fn match_itself(
        &mut self,
        kind: &'static str,
        spot: &Spot,
        pattern: &Pattern,
    ) -> Result<Filter, UnspeakablePath> {
        let existing = self.parameter(kind, &spot.existing)?;
        let prefix = spot
            .prefix(self.case, Reach::AtLeast)
            .unwrap_or_else(Pattern::from_the_start);
        Ok(Filter::All(vec![
            Filter::Subpath(existing),
            Filter::Regex(prefix.then(pattern).until_the_end()),
        ]))
    }
}

/// What a pattern matches, and everything below, two patterns: nothing depends on how a reader takes `.` or an end within
/// a group.
fn below(existing: PathValue, pattern: Pattern) -> Filter {
    Filter::All(vec![
        Filter::Subpath(existing),
        Filter::Any(vec![
            Filter::Regex(pattern.clone().until_the_end()),
            Filter::Regex(pattern.separator()),
        ]),
    ])
}
