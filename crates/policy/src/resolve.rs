//! From the canonical policy and facts to absolute paths: what makes no sense on this host is refused here.

use std::collections::BTreeSet;

use crate::access::Clause;
use crate::canonical::{CanonicalSandboxPolicy, unique};
use crate::error::{PathError, PathProblem, PolicyError};
use crate::host::{HostFacts, PathCase};
use crate::oracle::{GuardIndex, Kind};
use crate::path_matcher::PathMatcher;
use crate::path_set::PathSet;
use crate::path_spec::PathSpec;
use crate::paths::{AbsolutePath, RelativePath, WorkspaceRoot};
use crate::rules::{GitAccess, PathRules};

/// The facts that give a policy its meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PolicyContext {
    /// The host and its user.
    pub facts: HostFacts,
    /// The directory that the policy is for; never taken from a command.
    pub cwd: WorkspaceRoot,
    /// What the session owns, in the tier that will run the command.
    pub private: PrivatePlaces,
    /// Whether a root may hold the home directory.
    pub home_root: HomeRoot,
}

impl PolicyContext {
    /// A context in which the session owns nothing and the home directory is not a root.
    #[must_use]
    pub fn new(facts: HostFacts, cwd: WorkspaceRoot) -> Self {
        Self {
            facts,
            cwd,
            private: PrivatePlaces::default(),
            home_root: HomeRoot::Refuse,
        }
    }

    /// With these private places.
    #[must_use]
    pub fn with_private(self, private: PrivatePlaces) -> Self {
        Self { private, ..self }
    }

    /// With this answer for roots that hold the home directory.
    #[must_use]
    pub fn with_home_root(self, home_root: HomeRoot) -> Self {
        Self { home_root, ..self }
    }
}

/// Whether a writable root may be the home directory or hold it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "an answer to a yes-or-no question")]
pub enum HomeRoot {
    /// It may not.
    #[default]
    Refuse,
    /// Somebody said explicitly that it may.
    Allow,
}

/// What a session owns by itself, so that writing there never reaches the host. Tiers differ in what they provide.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PrivatePlaces {
    /// A `/tmp`.
    pub tmp: bool,
    /// A `/dev/shm`.
    pub shm: bool,
    /// A loopback interface.
    pub loopback: bool,
    /// An overlay over the git directory of each root, for [`GitAccess::Commit`].
    pub git: bool,
    /// Overlays over the caches of tools.
    pub overlays: Vec<AbsolutePath>,
}

impl PrivatePlaces {
    /// Everything but overlays over caches: what the strongest tier provides.
    #[must_use]
    pub const fn all() -> Self {
        Self {
            tmp: true,
            shm: true,
            loopback: true,
            git: true,
            overlays: Vec::new(),
        }
    }

    /// With overlays over these directories.
    #[must_use]
    pub fn with_overlays(mut self, overlays: impl IntoIterator<Item = AbsolutePath>) -> Self {
        self.overlays = overlays.into_iter().collect();
        self
    }
}

/// A directory that may be written, and what in it may not.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WritableRoot {
    /// The directory.
    pub root: AbsolutePath,
    /// Protected below it, whether or not they exist.
    pub protected: Vec<AbsolutePath>,
}

/// A clause that denies, or explicitly does not deny, one path and what is below.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Guard {
    /// What is guarded.
    pub matcher: PathMatcher,
    /// What the guard says about reading; `None` if nothing.
    pub read: Option<Stance>,
    /// What the guard says about writing; `None` if nothing.
    pub write: Option<Stance>,
    /// Which part of the policy it comes from.
    pub origin: GuardOrigin,
}

/// What a guard says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::exhaustive_enums, reason = "a guard denies or does not")]
pub enum Stance {
    /// It names the path and does not block it.
    Lifts,
    /// It denies.
    Denies,
}

/// Where a guard comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GuardOrigin {
    /// A protected subpath of a writable root.
    Protected,
    /// A secret.
    Sensitive,
    /// A denied path.
    DenyRead,
}

impl Guard {
    pub(crate) fn clause(&self, stance: Stance) -> Clause {
        match (stance, self.origin, self.matcher.path()) {
            (Stance::Lifts, ..) => Clause::NotBlocked(self.matcher.clone()),
            (Stance::Denies, GuardOrigin::Protected, Some(path)) => Clause::Protected(path.clone()),
            (Stance::Denies, GuardOrigin::DenyRead, _) => Clause::DenyRead(self.matcher.clone()),
            (Stance::Denies, GuardOrigin::Protected | GuardOrigin::Sensitive, _) => {
                Clause::Sensitive(self.matcher.clone())
            }
        }
    }
}

/// A policy whose every path is absolute. It answers what is permitted, and it is what backends lower.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedPolicy {
    pub(crate) canonical: CanonicalSandboxPolicy,
    pub(crate) context: PolicyContext,
    pub(crate) roots: Vec<WritableRoot>,
    pub(crate) guards: Vec<Guard>,
    /// Of these guards.
    pub(crate) index: GuardIndex,
    pub(crate) read_only: Vec<PathMatcher>,
    pub(crate) private: Vec<AbsolutePath>,
}

impl ResolvedPolicy {
    /// The policy that this one came from.
    #[must_use]
    pub const fn canonical(&self) -> &CanonicalSandboxPolicy {
        &self.canonical
    }

    /// The facts that it was resolved with.
    #[must_use]
    pub const fn context(&self) -> &PolicyContext {
        &self.context
    }

    /// The directories that may be written; none lies in another, unless a read-only path is between them.
    #[must_use]
    pub fn roots(&self) -> &[WritableRoot] {
        &self.roots
    }

    /// What is guarded: protected paths, secrets and denied paths.
    #[must_use]
    pub fn guards(&self) -> &[Guard] {
        &self.guards
    }

    /// Paths that are read but not written, inside writable roots.
    #[must_use]
    pub fn read_only(&self) -> &[PathMatcher] {
        &self.read_only
    }

    /// Directories of which the session has its own.
    #[must_use]
    pub fn private(&self) -> &[AbsolutePath] {
        &self.private
    }

    pub(crate) fn case(&self) -> PathCase {
        self.context.facts.case
    }
}

impl CanonicalSandboxPolicy {
    /// Fills in the facts.
    ///
    /// # Errors
    /// A root is the home directory or holds it, or lies in a guarded path; a path is below a home that is not known;
    /// a limit cannot be counted. The error names the field and the value.
    pub fn resolve(&self, context: &PolicyContext) -> Result<ResolvedPolicy, PolicyError> {
        self.resource_limits().check()?;
        let mut resolved = ResolvedPolicy {
            canonical: self.clone(),
            context: context.clone(),
            roots: Vec::new(),
            guards: Vec::new(),
            index: GuardIndex::new(context.facts.case),
            read_only: Vec::new(),
            private: Vec::new(),
        };
        let Some((rules, _)) = self.rules() else {
            return Ok(resolved);
        };
        let PolicyContext {
            facts,
            cwd,
            private,
            ..
        } = context;

        let roots = self.checked_roots(rules, context)?;
        // What is written relative to the roots is not repeated for a grant inside one of them.
        let opened = self.writable_roots(cwd, facts);
        let known = PathSet::new(&opened, facts.case);
        let granted = roots.iter().map(|(_, root)| root.path());
        let granted = granted.filter(|path| known.deepest_above(path).is_none());
        let anchors = unique(opened.iter().chain([cwd.path()]).chain(granted).cloned());
        // The name of the field is for the error alone: most specs are fine.
        let expand = |field: &str, i: usize, spec: &PathSpec| {
            let home = facts.home.as_ref();
            if home.is_none() && spec.needs_home() {
                return Err(PolicyError::at(
                    format!("{field}[{i}]"),
                    PathError::new(spec.to_string(), PathProblem::NoHome),
                ));
            }
            Ok(spec.resolve(home, &anchors, facts.case))
        };

        for (i, secret) in self.sensitive_paths(facts).iter().enumerate() {
            let stance = |blocks| {
                Some(if blocks {
                    Stance::Denies
                } else {
                    Stance::Lifts
                })
            };
            for matcher in expand("sensitive_paths", i, &secret.path)? {
                resolved.guard(Guard {
                    matcher,
                    read: stance(secret.block_read),
                    write: stance(secret.block_write),
                    origin: GuardOrigin::Sensitive,
                });
            }
        }
        for (i, spec) in rules.deny_read.iter().enumerate() {
            for matcher in expand("paths.deny_read", i, spec)? {
                resolved.guard(Guard {
                    matcher,
                    read: Some(Stance::Denies),
                    write: Some(Stance::Denies),
                    origin: GuardOrigin::DenyRead,
                });
            }
        }
        for (i, spec) in rules.read_only.iter().enumerate() {
            resolved
                .read_only
                .extend(expand("paths.read_only", i, spec)?);
        }

        for (_, root) in &roots {
            // A grant inside a guarded path opens just that path: nothing there is a workspace to protect.
            let guarded = resolved.strongest_guard(root.path(), Kind::Write);
            if !matches!(guarded, Some((_, Stance::Denies, _))) {
                resolved.protect(root, rules, private);
            }
        }
        resolved.add_private_places();
        resolved.refuse_guarded_roots(&roots, rules)?;
        resolved.roots = resolved.merge(roots.into_iter().map(|(_, root)| root).collect());
        Ok(resolved)
    }

    /// Every directory that will be writable, with the field it comes from.
    fn checked_roots(
        &self,
        rules: &PathRules,
        context: &PolicyContext,
    ) -> Result<Vec<(String, WorkspaceRoot)>, PolicyError> {
        let PolicyContext { facts, cwd, .. } = context;
        let configured = match self {
            Self::WorkspaceWrite { writable_roots, .. } => writable_roots.len(),
            _ => 0,
        };
        let field = |i: usize, path: &AbsolutePath| match i {
            i if i < configured => format!("writable_roots[{i}]"),
            _ if path == cwd.path() => "cwd".to_owned(),
            _ if facts.tmpdir.as_ref() == Some(path) => "TMPDIR".to_owned(),
            _ => "exclude_slash_tmp".to_owned(),
        };
        let opened = self.writable_roots(cwd, facts);
        let opened = opened
            .into_iter()
            .enumerate()
            .map(|(i, path)| (field(i, &path), path));
        let granted = rules
            .reopened
            .iter()
            .enumerate()
            .filter(|(_, reopened)| reopened.write)
            .map(|(i, reopened)| (format!("paths.reopened[{i}]"), reopened.path.clone()));

        let mut roots: Vec<(String, WorkspaceRoot)> = Vec::new();
        let mut known = BTreeSet::new();
        for (field, path) in opened.chain(granted) {
            let root = WorkspaceRoot::from_absolute(path);
            let root = root.and_then(|root| match context.home_root {
                HomeRoot::Allow => Ok(root),
                HomeRoot::Refuse => root.check_home(facts).map(|()| root),
            });
            let root = root.map_err(|error| PolicyError::at(field.clone(), error))?;
            if known.insert(root.clone()) {
                roots.push((field, root));
            }
        }
        Ok(roots)
    }
}

impl ResolvedPolicy {
    fn guard(&mut self, guard: Guard) {
        self.index.add(self.guards.len(), &guard);
        self.guards.push(guard);
    }

    /// Guards what a root protects, or gives the session its own git directory. Git has a setting of its own: leaving
    /// `.git` out of the protected names does not open it.
    fn protect(&mut self, root: &WorkspaceRoot, rules: &PathRules, private: &PrivatePlaces) {
        let git = RelativePath::constant(".git");
        let listed = rules.protected.iter().filter(|name| **name != git);
        for name in [&git].into_iter().chain(listed) {
            let path = root.path().join(name);
            match rules.git {
                GitAccess::Commit if *name == git && private.git => self.private.push(path),
                GitAccess::Full if *name == git => {}
                _ => self.guard(Guard {
                    matcher: PathMatcher::literal(path),
                    read: None,
                    write: Some(Stance::Denies),
                    origin: GuardOrigin::Protected,
                }),
            }
        }
    }

    fn add_private_places(&mut self) {
        let host_tmp = matches!(
            self.canonical,
            CanonicalSandboxPolicy::WorkspaceWrite {
                exclude_slash_tmp: false,
                ..
            }
        );
        let private = &self.context.private;
        let fixed = [
            ("/tmp", private.tmp && !host_tmp),
            ("/dev/shm", private.shm),
        ];
        let places = fixed
            .into_iter()
            .filter(|(_, provided)| *provided)
            .filter_map(|(path, _)| AbsolutePath::new(path).ok())
            .chain(private.overlays.iter().cloned());
        self.private.extend(places.collect::<Vec<_>>());
    }

    /// A root in a guarded place would be a root in name only: better said than found out. A grant says so on purpose.
    fn refuse_guarded_roots(
        &self,
        roots: &[(String, WorkspaceRoot)],
        rules: &PathRules,
    ) -> Result<(), PolicyError> {
        for (field, root) in roots {
            let granted = rules
                .reopened
                .iter()
                .any(|grant| grant.path == *root.path());
            if let Some((_, Stance::Denies, guard)) = self.strongest_guard(root.path(), Kind::Write)
                && !granted
            {
                return Err(PolicyError::at(
                    field.clone(),
                    PathError::new(
                        root.path().as_path(),
                        PathProblem::InsideGuarded {
                            guarded: guard.matcher.clone(),
                        },
                    ),
                ));
            }
        }
        Ok(())
    }

    /// Drops a root that lies in another, unless a read-only path between them gives it a meaning of its own.
    fn merge(&self, roots: Vec<WorkspaceRoot>) -> Vec<WritableRoot> {
        let case = self.case();
        let mut paths: Vec<&AbsolutePath> = roots.iter().map(WorkspaceRoot::path).collect();
        paths.sort_by_key(|path| path.depth());
        let mut kept = PathSet::new([], case);
        for path in paths {
            let outer = kept.deepest_above(path).map(AbsolutePath::depth);
            let between = self
                .read_only
                .iter()
                .filter_map(|matcher| matcher.specificity(path, case))
                .max();
            if outer.is_none() || between > outer {
                kept.insert(path);
            }
        }
        let protected = self.guards.iter().filter_map(|guard| {
            let path = guard.matcher.path()?;
            (guard.origin == GuardOrigin::Protected).then_some(path)
        });
        let protected = PathSet::new(protected, case);
        kept.iter()
            .map(|root| WritableRoot {
                root: root.clone(),
                protected: protected.below(root).into_iter().cloned().collect(),
            })
            .collect()
    }
}
