//! What the oracle says about each place that a policy names, at the place where it really is.
//!
//! Every clause of a policy speaks about a path and what is below it, so a verdict can only change where some clause
//! begins. Asking the oracle at each of these paths therefore says everything, and lowering has no opinion of its own.

use std::collections::BTreeMap;

use palisade_policy::{
    AbsolutePath, Access, CanonicalSandboxPolicy, LoweringProblem, PathMatcher, Place, PolicyError,
    ResolvedPolicy, Stance,
};

use crate::host::{Entry, GitDirs, Located, Places};

/// What the oracle says about a path, strictest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum State {
    /// Not read.
    Masked,
    /// Read, not written, and not the host's.
    PrivateReadOnly,
    /// The host's, read and not written.
    ReadOnly,
    /// The session's own.
    Private,
    /// The host's, read and written.
    Writable,
}

impl State {
    pub(super) fn of(policy: &ResolvedPolicy, path: &AbsolutePath) -> Self {
        // What must not be read is hidden, and what is hidden is not written either.
        let Some(read) = policy.place(&Access::Read(path.clone())) else {
            return Self::Masked;
        };
        match (read, policy.place(&Access::Write(path.clone()))) {
            (Place::Host, None) => Self::ReadOnly,
            (_, None) => Self::PrivateReadOnly,
            (_, Some(Place::Host)) => Self::Writable,
            (_, Some(_)) => Self::Private,
        }
    }

    pub(super) const fn denies(self) -> bool {
        matches!(self, Self::Masked | Self::PrivateReadOnly | Self::ReadOnly)
    }
}

/// Which private place begins at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PrivatePlace {
    /// `/tmp` or `/dev/shm`.
    Fresh,
    /// The cache of a tool.
    Cache,
    /// The git directory of a root.
    Git,
}

/// A place where a clause begins.
#[derive(Clone, Debug)]
pub(super) struct Area {
    /// What holds there.
    pub(super) state: State,
    /// What is there.
    pub(super) entry: Entry,
    /// How many directories directly above are missing.
    pub(super) missing_above: usize,
    /// The private place that begins here.
    pub(super) private: Option<PrivatePlace>,
    /// Whether it is a writable root: it stays where it is, also inside another one.
    pub(super) root: bool,
    /// Whether it must be seen also in a place that would hide it: a grant names it, or it is the directory of the
    /// policy.
    pub(super) visible: bool,
}

/// All of them, by the path where each really is.
#[derive(Debug, Default)]
pub(super) struct Areas {
    /// The places.
    pub(super) places: BTreeMap<AbsolutePath, Area>,
    /// Links on the way to guarded paths: replacing one would lead elsewhere.
    pub(super) links: Vec<AbsolutePath>,
    /// Guarded links that lead nowhere.
    pub(super) dangling: Vec<AbsolutePath>,
    /// Files where a directory above a guarded path would be.
    pub(super) in_the_way: Vec<AbsolutePath>,
    /// Globs that match more than the survey looks at.
    pub(super) truncated: Vec<String>,
    /// Whether there is any glob that guards something.
    pub(super) globs: bool,
}

/// Looks every path of the policy up.
pub(super) fn collect(policy: &ResolvedPolicy, places: &Places) -> Result<Areas, PolicyError> {
    let mut areas = Areas::default();
    for root in policy.roots() {
        areas.add_root(policy, places, &root.root)?;
        if let Some(area) = areas.places.get_mut(&root.root) {
            area.root = true;
        }
    }
    if let Some((rules, _)) = policy.canonical().rules() {
        for reopened in &rules.reopened {
            if reopened.write {
                areas.add_root(policy, places, &reopened.path)?;
            } else {
                let located = look_up(policy, places, &reopened.path)?;
                areas.add(policy, places, &reopened.path, located, None)?;
                areas.show(&located.real);
            }
        }
    }
    let guards = policy.guards().iter().map(|guard| &guard.matcher);
    for matcher in guards.chain(policy.read_only()) {
        areas.add_matches(policy, places, matcher)?;
    }
    for path in policy.private() {
        let located = look_up(policy, places, path)?;
        let context = &policy.context().private;
        let kind = if ["/tmp", "/dev/shm"]
            .iter()
            .any(|fresh| path.as_path() == std::path::Path::new(fresh))
        {
            PrivatePlace::Fresh
        } else if context.overlays.contains(path) {
            PrivatePlace::Cache
        } else {
            PrivatePlace::Git
        };
        areas.add(policy, places, path, located, Some(kind))?;
    }
    if let CanonicalSandboxPolicy::ReadOnly { .. } = policy.canonical() {
        let cwd = policy.context().cwd.path();
        let located = look_up(policy, places, cwd)?;
        areas.add(policy, places, cwd, located, None)?;
        areas.show(&located.real);
    }
    areas.protect_git_directories(policy, places);
    for alias in &places.aliases {
        let state = State::of(policy, &alias.of);
        if state.denies() {
            let located = Located::new(alias.path.clone(), alias.entry.clone());
            areas.insert(&alias.path, state, &located, None);
        }
    }
    Ok(areas)
}

/// What the survey saw at a path.
pub(super) fn look_up<'a>(
    policy: &ResolvedPolicy,
    places: &'a Places,
    path: &AbsolutePath,
) -> Result<&'a Located, PolicyError> {
    places.entries.get(path).ok_or_else(|| {
        PolicyError::at(
            field_of(policy, path),
            LoweringProblem::NotSurveyed {
                path: path.to_string(),
            },
        )
    })
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
        _ => "paths".to_owned(),
    }
}

/// Whether a path is not for files: what is written there sets the kernel's parameters or reaches devices.
fn is_of_the_kernel(path: &AbsolutePath) -> bool {
    let below = |place: &str| path.as_path().starts_with(place);
    below("/proc") || below("/sys") || (below("/dev") && !below("/dev/shm"))
}

/// Whether git works on a private layer over the git directory of a root, and its history may come back: the policy
/// asks for that, and nothing else in it guards where the history would go. A guarded name in there that is free would
/// have nothing to hold it in the layer, and what takes the name could come back: a ref, for example.
pub(super) fn works_on_a_layer(
    policy: &ResolvedPolicy,
    places: &Places,
    root: &AbsolutePath,
    git: &GitDirs,
) -> bool {
    let asked = policy.private().iter().any(|path| {
        path.parent().as_ref() == Some(root)
            && path.as_path().file_name() == Some(".git".as_ref())
            && State::of(policy, path) == State::Private
    });
    let case = policy.context().facts.case;
    let covers = |matcher: &PathMatcher| matcher.specificity(&git.common_dir, case).is_some();
    let guarded = || {
        policy.read_only().iter().any(covers)
            || policy
                .guards()
                .iter()
                .any(|guard| guard.write == Some(Stance::Denies) && covers(&guard.matcher))
    };
    let holds_free_guarded = || {
        let guards = policy.guards().iter().map(|guard| &guard.matcher);
        let mut named = guards
            .chain(policy.read_only())
            .filter_map(PathMatcher::path);
        named.any(|path| {
            let free = places.entries.get(path).is_some_and(|located| {
                located.entry == Entry::Missing && git.common_dir.covers(&located.real, case)
            });
            free && State::of(policy, path).denies()
        })
    };
    asked
        && git.can_be_overlaid()
        && !holds_free_guarded()
        && match State::of(policy, &git.common_dir) {
            State::Private | State::Writable => true,
            // Outside the roots, as with the work trees of a repository elsewhere.
            State::ReadOnly => !guarded(),
            State::Masked | State::PrivateReadOnly => false,
        }
}

impl Areas {
    /// A path that must be writable: it exists, it is what it is called, and it is a directory or a file.
    fn add_root(
        &mut self,
        policy: &ResolvedPolicy,
        places: &Places,
        path: &AbsolutePath,
    ) -> Result<(), PolicyError> {
        let located = look_up(policy, places, path)?;
        let problem = match &located.entry {
            Entry::Missing => Some(LoweringProblem::MissingRoot { path: path.clone() }),
            Entry::Symlink { target } => Some(LoweringProblem::LinkedRoot {
                path: path.clone(),
                real: target.clone(),
            }),
            _ if located.real != *path => Some(LoweringProblem::LinkedRoot {
                path: path.clone(),
                real: Some(located.real.clone()),
            }),
            Entry::Other => Some(LoweringProblem::UnusableRoot { path: path.clone() }),
            _ if is_of_the_kernel(path) => Some(LoweringProblem::KernelRoot { path: path.clone() }),
            Entry::Directory | Entry::File => None,
        };
        if let Some(problem) = problem {
            return Err(PolicyError::at(field_of(policy, path), problem));
        }
        self.add(policy, places, path, located, None)
    }

    fn add_matches(
        &mut self,
        policy: &ResolvedPolicy,
        places: &Places,
        matcher: &PathMatcher,
    ) -> Result<(), PolicyError> {
        if let Some(path) = matcher.path() {
            let located = look_up(policy, places, path)?;
            return self.add(policy, places, path, located, None);
        }
        let text = matcher.to_string();
        let Some(expansion) = places.globs.get(&text) else {
            return Err(PolicyError::at(
                "paths",
                LoweringProblem::NotSurveyed { path: text },
            ));
        };
        self.globs = true;
        if expansion.truncated && !self.truncated.contains(&text) {
            self.truncated.push(text);
        }
        for (path, entry) in &expansion.matches {
            let located = places
                .entries
                .get(path)
                .cloned()
                .unwrap_or_else(|| Located::new(path.clone(), entry.clone()));
            self.add(policy, places, path, &located, None)?;
        }
        Ok(())
    }

    /// Adds what the oracle says about a name at the place where it leads to.
    fn add(
        &mut self,
        policy: &ResolvedPolicy,
        places: &Places,
        name: &AbsolutePath,
        located: &Located,
        private: Option<PrivatePlace>,
    ) -> Result<(), PolicyError> {
        let mut state = State::of(policy, name);
        if located.real != *name {
            // Two names of one place: the stricter verdict holds.
            state = state.min(State::of(policy, &located.real));
        }
        if state.denies() {
            self.links.extend(located.links.iter().cloned());
        }
        match &located.entry {
            Entry::Symlink { target } => {
                if state.denies() || private.is_some() {
                    self.links.push(located.real.clone());
                    match target {
                        Some(target) => {
                            let found = look_up(policy, places, target)?;
                            let state = state.min(State::of(policy, target));
                            self.insert_found(target, state, found, private);
                        }
                        None => self.dangling.push(located.real.clone()),
                    }
                }
            }
            _ => {
                self.insert_found(&located.real, state, located, private);
            }
        }
        Ok(())
    }

    /// Where a file stands in the way of a guarded path, nothing can be made there while the file stays.
    fn insert_found(
        &mut self,
        real: &AbsolutePath,
        state: State,
        located: &Located,
        private: Option<PrivatePlace>,
    ) {
        match &located.below_file {
            Some(file) if state.denies() || private.is_some() => {
                self.in_the_way.push(file.clone());
            }
            Some(_) => {}
            None => self.insert(real, state, located, private),
        }
    }

    fn insert(
        &mut self,
        real: &AbsolutePath,
        state: State,
        located: &Located,
        private: Option<PrivatePlace>,
    ) {
        let area = self.places.entry(real.clone()).or_insert_with(|| Area {
            state,
            entry: located.entry.clone(),
            missing_above: located.missing_above,
            private,
            root: false,
            visible: false,
        });
        area.state = area.state.min(state);
        area.private = area.private.or(private);
    }

    /// A session that has a `/proc` of its own must not find the host's processes in another one.
    pub(super) fn hide_other_procs(&mut self, places: &Places) {
        for path in &places.other_procs {
            let located = Located::new(path.clone(), Entry::Directory);
            self.insert(path, State::Masked, &located, None);
        }
    }

    fn show(&mut self, real: &AbsolutePath) {
        if let Some(area) = self.places.get_mut(real) {
            area.visible = true;
        }
    }

    /// A `.git` that is a file or a link leads to directories that are as dangerous to write as it is itself.
    fn protect_git_directories(&mut self, policy: &ResolvedPolicy, places: &Places) {
        for (root, git) in &places.git {
            let of_root = |path: &AbsolutePath| {
                path.parent().as_ref() == Some(root)
                    && path.as_path().file_name() == Some(".git".as_ref())
            };
            let guarded = policy.guards().iter().any(|guard| {
                guard
                    .matcher
                    .path()
                    .is_some_and(|path| of_root(path) && State::of(policy, path).denies())
            });
            let left_over = policy.private().iter().any(of_root)
                && !works_on_a_layer(policy, places, root, git);
            if !guarded && !left_over {
                continue;
            }
            for directory in [&git.git_dir, &git.common_dir] {
                // Only what a root would open: elsewhere it is not written anyway, or not the host's. What the oracle
                // calls private is the `.git` that will not be overlaid after all.
                if matches!(
                    State::of(policy, directory),
                    State::Writable | State::Private
                ) {
                    let located = places
                        .entries
                        .get(directory)
                        .cloned()
                        .unwrap_or_else(|| Located::new(directory.clone(), Entry::Directory));
                    self.insert_found(&located.real, State::ReadOnly, &located, None);
                }
            }
        }
    }
}
