//! What the oracle says about each place that a policy names, at the place where it really is.
//!
//! Every clause of a policy speaks about a path and what is below it, so a verdict can only change where some clause
//! begins. Asking the oracle at each of these paths therefore says everything, and lowering has no opinion of its own.

use std::collections::BTreeMap;

use palisade_policy::{
    AbsolutePath, Access, CanonicalSandboxPolicy, LoweringProblem, PathMatcher, PolicyError,
    ResolvedPolicy,
};

use crate::host::{Entry, Located, WindowsHost};
use crate::sid::Sid;

/// A place where a clause begins.
#[derive(Clone, Debug)]
pub(super) struct Area {
    /// Whether it may be written, by every name that the policy has for it.
    pub(super) writable: bool,
    /// What is there.
    pub(super) located: Located,
    /// A name of it that leads here through a link.
    pub(super) linked_from: Option<AbsolutePath>,
}

/// All of them, by the path where each really is.
#[derive(Debug, Default)]
pub(super) struct Areas {
    /// The places.
    pub(super) places: BTreeMap<AbsolutePath, Area>,
    /// The places that are opened: writable roots, write grants and the session's own, each with its capability.
    pub(super) opened: BTreeMap<AbsolutePath, Opened>,
    /// Patterns that match more than the survey looks at.
    pub(super) truncated: Vec<String>,
    /// Patterns that could match something new in an opened place.
    pub(super) open_globs: Vec<String>,
}

/// A place that is opened.
#[derive(Clone, Debug)]
pub(super) struct Opened {
    /// Whoever has it may write there.
    pub(super) capability: Sid,
    /// Whether it is the session's own.
    pub(super) private: bool,
}

/// Looks every path of the policy up.
pub(super) fn collect(policy: &ResolvedPolicy, host: &WindowsHost) -> Result<Areas, PolicyError> {
    let mut areas = Areas::default();
    for root in policy.roots() {
        areas.open(policy, host, &root.root, false)?;
    }
    for path in policy.private() {
        areas.open(policy, host, path, true)?;
    }
    if let Some((rules, _)) = policy.canonical().rules() {
        for reopened in rules.reopened.iter().filter(|reopened| reopened.write) {
            areas.open(policy, host, &reopened.path, false)?;
        }
    }
    if let CanonicalSandboxPolicy::ReadOnly { .. } = policy.canonical() {
        let cwd = policy.context().cwd.path();
        areas.add(policy, cwd, look_up(policy, host, cwd)?);
    }
    let guards = policy.guards().iter().map(|guard| &guard.matcher);
    for matcher in guards.chain(policy.read_only()) {
        areas.add_matches(policy, host, matcher)?;
    }
    Ok(areas)
}

/// What the survey saw at a path.
fn look_up<'a>(
    policy: &ResolvedPolicy,
    host: &'a WindowsHost,
    path: &AbsolutePath,
) -> Result<&'a Located, PolicyError> {
    host.places
        .get(path)
        .ok_or_else(|| not_surveyed(policy, path, path.to_string()))
}

fn not_surveyed(policy: &ResolvedPolicy, at: &AbsolutePath, path: String) -> PolicyError {
    PolicyError::at(field_of(policy, at), LoweringProblem::NotSurveyed { path })
}

/// The field of the policy that a path comes from, as far as that can be told.
pub(super) fn field_of(policy: &ResolvedPolicy, path: &AbsolutePath) -> String {
    let canonical = policy.canonical();
    if let CanonicalSandboxPolicy::WorkspaceWrite { writable_roots, .. } = canonical
        && let Some(i) = writable_roots.iter().position(|root| root.path() == path)
    {
        return format!("writable_roots[{i}]");
    }
    if let Some((rules, _)) = canonical.rules()
        && let Some(i) = rules.reopened.iter().position(|grant| grant.path == *path)
    {
        return format!("paths.reopened[{i}]");
    }
    let context = policy.context();
    match path {
        path if path == context.cwd.path() => "cwd".to_owned(),
        path if Some(path) == context.facts.tmpdir.as_ref() => "TMPDIR".to_owned(),
        path if context.private.overlays.contains(path) => "private".to_owned(),
        _ => "paths".to_owned(),
    }
}

fn may_write(policy: &ResolvedPolicy, path: &AbsolutePath) -> bool {
    policy.place(&Access::Write(path.clone())).is_some()
}

impl Areas {
    /// A path that must be writable: it exists, it is what it is called, and its access list can be changed.
    fn open(
        &mut self,
        policy: &ResolvedPolicy,
        host: &WindowsHost,
        path: &AbsolutePath,
        private: bool,
    ) -> Result<(), PolicyError> {
        let located = look_up(policy, host, path)?;
        let path = || path.clone();
        let problem = match located.entry {
            Entry::Missing => Some(LoweringProblem::MissingRoot { path: path() }),
            _ if located.real != path() => Some(LoweringProblem::LinkedRoot {
                path: path(),
                real: Some(located.real.clone()),
            }),
            Entry::Directory | Entry::File if !located.has_acls => None,
            Entry::Directory | Entry::File if !located.may_change_acl => {
                Some(LoweringProblem::ForeignAccessList { path: path() })
            }
            Entry::Directory | Entry::File => None,
        };
        if let Some(problem) = problem {
            return Err(PolicyError::at(field_of(policy, &path()), problem));
        }
        self.add(policy, &path(), located);
        // A root that a grant or a guard closes is no root; the oracle knows.
        if !may_write(policy, &path()) || self.opened.contains_key(&path()) {
            return Ok(());
        }
        let capability = host
            .capabilities
            .get(&path())
            .ok_or_else(|| not_surveyed(policy, &path(), format!("the capability of {}", path())))?
            .clone();
        let taken = [&host.user, &host.logon]
            .into_iter()
            .chain(&host.powerful_groups)
            .chain(self.opened.values().map(|opened| &opened.capability))
            .any(|sid| *sid == capability);
        if taken || !capability.looks_like_capability() {
            return Err(PolicyError::at(
                field_of(policy, &path()),
                LoweringProblem::NoMechanism {
                    why: format!(
                        "{capability} is not a capability that only {} has; remove the file of capabilities, and \
                         new ones are made",
                        path()
                    ),
                },
            ));
        }
        self.opened.insert(
            path(),
            Opened {
                capability,
                private,
            },
        );
        Ok(())
    }

    fn add_matches(
        &mut self,
        policy: &ResolvedPolicy,
        host: &WindowsHost,
        matcher: &PathMatcher,
    ) -> Result<(), PolicyError> {
        if let Some(path) = matcher.path() {
            self.add(policy, path, look_up(policy, host, path)?);
            return Ok(());
        }
        let text = matcher.to_string();
        let Some(matches) = host.matches.get(&text) else {
            return Err(PolicyError::at(
                "paths",
                LoweringProblem::NotSurveyed { path: text },
            ));
        };
        for path in &matches.found {
            self.add(policy, path, look_up(policy, host, path)?);
        }
        let case = policy.context().facts.case;
        let reaches = |place: &AbsolutePath| {
            matcher.may_match_below(place, case) || matcher.specificity(place, case).is_some()
        };
        if self.opened.keys().any(reaches) && !self.open_globs.contains(&text) {
            self.open_globs.push(text.clone());
        }
        if matches.truncated && !self.truncated.contains(&text) {
            self.truncated.push(text);
        }
        Ok(())
    }

    /// Adds what the oracle says about a name at the place where it leads to. Of two names the stricter verdict holds.
    fn add(&mut self, policy: &ResolvedPolicy, name: &AbsolutePath, located: &Located) {
        let linked = located.real != *name;
        let writable = may_write(policy, name) && (!linked || may_write(policy, &located.real));
        let area = self
            .places
            .entry(located.real.clone())
            .or_insert_with(|| Area {
                writable,
                located: located.clone(),
                linked_from: None,
            });
        area.writable &= writable;
        if linked {
            area.linked_from.get_or_insert_with(|| name.clone());
        }
    }
}
