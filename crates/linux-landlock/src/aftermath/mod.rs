//! What no kernel mechanism can prevent is looked for after a command or a session, and reported: nothing here is
//! claimed to be enforced.
//!
//! A command that may write a workspace can leave things there that somebody outside runs later: a repository with
//! hooks in a new directory, a changed `Makefile`, a file under a name that the policy denies but that did not exist
//! when the plan was made. [`Before::look`] records what matters before a session, [`Before::compare`] tells afterwards
//! what was made or changed.
//!
//! ```no_run
//! # use palisade_linux_landlock::LinuxHost;
//! use palisade_linux_landlock::aftermath::{AftermathOptions, Before};
//! # fn session(policy: &palisade_policy::ResolvedPolicy, host: &LinuxHost) -> Vec<String> {
//! let before = Before::look(policy, host, &AftermathOptions::default());
//! // the session
//! before.compare(policy).iter().map(ToString::to_string).collect()
//! # }
//! ```
//!
//! # Limits
//!
//! - Only writable roots are looked at, up to the bounds in [`AftermathOptions`]. What was left out is a finding of its
//!   own ([`FindingKind::Incomplete`]).
//! - Processes that outlive the session can change things after the comparison: end the session first.
//! - Which files are run later is known by their names. Source code is run later too, and is not reported; nor is what
//!   such a file includes, or leads to as a link.

mod finding;
mod hooks;
mod uses;
mod walk;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::time::Duration;

use palisade_policy::{AbsolutePath, Access, PathMatcher, ResolvedPolicy, Stance};

pub use finding::{Finding, FindingKind};

use crate::host::LinuxHost;
use finding::escaped;
use uses::{Use, Watched};
use walk::{Seen, Walk};

/// Every `core.hooksPath` in the text of a configuration, for `crate::untrusted`.
#[cfg(feature = "model")]
#[doc(hidden)]
#[must_use]
pub fn hooks_in_configuration(text: &[u8]) -> Vec<Vec<u8>> {
    hooks::parse(text)
}

/// How far a look at the writable roots goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AftermathOptions {
    /// How many entries of directories are looked at.
    pub max_entries: usize,
    /// How many directories deep, from a root; each takes a descriptor while it is looked at.
    pub max_depth: usize,
    /// How long a look may take. One system call on a file system that does not answer can still take longer.
    pub max_time: Duration,
    /// How many findings are given; how many more there are is said.
    pub max_findings: usize,
    /// Whether files with a second name are looked for; that means looking at every file.
    pub hard_links: bool,
    /// Whether files that run as their owner or group are looked for; that means looking at every file.
    pub set_ids: bool,
}

impl AftermathOptions {
    /// Everything, for those who would rather wait.
    #[must_use]
    pub const fn thorough() -> Self {
        Self {
            max_entries: 2_000_000,
            max_depth: 128,
            max_time: Duration::from_secs(60),
            max_findings: 1_000,
            hard_links: true,
            set_ids: true,
        }
    }
}

impl Default for AftermathOptions {
    /// What can be done around every session.
    fn default() -> Self {
        Self {
            max_entries: 200_000,
            max_depth: 64,
            max_time: Duration::from_secs(3),
            max_findings: 200,
            hard_links: false,
            // What an ordinary user owns lends nobody more than that user's rights; what root owns makes anybody root.
            set_ids: rustix::process::geteuid().is_root(),
        }
    }
}

/// What the writable roots of a policy held before a session.
#[derive(Clone, Debug)]
pub struct Before {
    options: AftermathOptions,
    watched: Watched,
    seen: Seen,
}

impl Before {
    /// Looks at the writable roots, before the session starts.
    #[must_use]
    pub fn look(policy: &ResolvedPolicy, host: &LinuxHost, options: &AftermathOptions) -> Self {
        let mut watched = Watched::default();
        for root in policy.roots() {
            let protected = root.protected.iter().map(|path| path.as_path());
            // Git changes its own directory all the time; what counts there is looked at one by one.
            let protected = protected.filter(|path| path.file_name() != Some(".git".as_ref()));
            watched
                .0
                .extend(protected.map(|path| (path.to_path_buf(), Use::Protected)));
        }
        let hooks = hooks::directories(policy, host);
        watched
            .0
            .extend(hooks.into_iter().map(|path| (path, Use::Hook)));
        let seen = walk(policy, options, &watched);
        Self {
            options: *options,
            watched,
            seen,
        }
    }

    /// Looks again, and tells what was made or changed since; the worst first.
    #[must_use]
    pub fn compare(&self, policy: &ResolvedPolicy) -> Vec<Finding> {
        let after = walk(policy, &self.options, &self.watched);
        let mut found = Findings::default();
        let new_repositories = self.repositories(&after, &mut found);
        self.used(&after, &new_repositories, &mut found);
        for (path, glob) in &after.matches {
            if !self.seen.matches.contains_key(path) {
                let glob = escaped(glob.as_ref());
                let what = format!("made after {glob} was looked up: it was not guarded");
                found.add(FindingKind::LaterMatch, path, what);
            }
        }
        self.links(&after, &mut found);
        self.set_ids(&after, &mut found);
        found.list.sort();
        found.list.dedup();
        let more = found.list.len().saturating_sub(self.options.max_findings);
        found.list.truncate(self.options.max_findings);
        self.gaps(policy, &after, more, &mut found);
        found.list
    }

    /// Repositories that were planted or replaced.
    fn repositories(&self, after: &Seen, found: &mut Findings) -> Vec<PathBuf> {
        let mut new = Vec::new();
        for (path, print) in &after.repositories {
            let what = match self.seen.repositories.get(path) {
                Some(before) if print.same(before) => continue,
                Some(_) => "replaced: git obeys what it says or holds now",
                None => "new: git that runs in its directory obeys its configuration and its hooks",
            };
            new.push(path.clone());
            found.add(FindingKind::NestedRepository, path, what.to_owned());
        }
        for (path, print) in &after.bare {
            match self.seen.bare.get(path) {
                Some(before) if print.same(before) => continue,
                _ => {}
            }
            new.push(path.clone());
            let what =
                "git that runs here or below takes it for a repository and obeys its configuration";
            found.add(FindingKind::PlantedBareRepository, path, what.to_owned());
        }
        new
    }

    /// Files that somebody will run. What is part of a new repository is not listed apart.
    fn used(&self, after: &Seen, new: &[PathBuf], found: &mut Findings) {
        for (path, (used, print)) in &after.used {
            let happened = match self.seen.used.get(path) {
                Some((_, before)) if print.same(before) => continue,
                Some(_) => "changed",
                None => "new",
            };
            let told = *used == Use::Git && new.iter().any(|repository| is_part(repository, path));
            if !told {
                found.add(used.kind(), path, format!("{happened}: {}", used.by()));
            }
        }
    }

    /// Changed files that have a name which was not seen, so it is elsewhere.
    fn links(&self, after: &Seen, found: &mut Findings) {
        for (path, (print, count)) in &after.links {
            let here = after.names.get(&print.file).copied().unwrap_or_default();
            let same = self.seen.links.get(path);
            let changed = same.is_none_or(|(before, _)| !print.same(before));
            if changed && *count > here {
                let elsewhere = count - here;
                let what = format!(
                    "changed, and {elsewhere} of its {count} names are elsewhere: it changed there too"
                );
                found.add(FindingKind::HardLink, path, what);
            }
        }
    }

    /// Files that run as their owner or group, whoever runs them, and did not before.
    fn set_ids(&self, after: &Seen, found: &mut Findings) {
        for (path, print) in &after.set_ids {
            let before = self.seen.set_ids.get(path);
            if before.is_none_or(|before| !print.same(before)) {
                let what =
                    "whoever runs it has the rights of its owner or group; `chmod ug-s` ends that";
                found.add(FindingKind::SetId, path, what.to_owned());
            }
        }
    }

    /// What was not looked at, after the findings, so that it is never cut off.
    fn gaps(&self, policy: &ResolvedPolicy, after: &Seen, more: usize, found: &mut Findings) {
        let here = policy.context().cwd.path().as_path();
        if more > 0 {
            let what = format!("{more} more findings than are listed");
            found.add(FindingKind::Incomplete, here, what);
        }
        // What could not be listed by anybody before either is no news; that there is too much of it is.
        let known = |path: &PathBuf, why: &str| {
            why == walk::UNREADABLE
                && self
                    .seen
                    .gaps
                    .get(path)
                    .is_some_and(|before| *before == why)
        };
        let news: Vec<_> = after
            .gaps
            .iter()
            .filter(|(path, why)| !known(path, why))
            .collect();
        let max = self.options.max_findings.max(1);
        for (path, why) in news.iter().take(max) {
            found.add(FindingKind::Incomplete, path, (**why).to_owned());
        }
        if news.len() > max {
            let what = format!("{} more places that were not looked at", news.len() - max);
            found.add(FindingKind::Incomplete, here, what);
        }
        let before = self.seen.gaps.iter();
        if let Some((path, why)) = before
            .filter(|(_, why)| **why != walk::UNREADABLE)
            .min_by_key(|(path, _)| path.components().count())
        {
            let what = format!(
                "it was not looked at before the session ({why}), so what is called new may be old"
            );
            found.add(FindingKind::Incomplete, path, what);
        }
    }
}

/// Whether a file is one of those that make a repository up. What merely lies below a planted one is not: planting one
/// in the root must not hide what happened to others.
fn is_part(repository: &Path, file: &Path) -> bool {
    let own = repository.file_name() == Some(".git".as_ref()) && file.starts_with(repository);
    let parent = file.parent();
    let inner = parent.filter(|parent| parent.ends_with("hooks") || parent.ends_with("info"));
    own || parent == Some(repository) || inner.and_then(Path::parent) == Some(repository)
}

#[derive(Default)]
struct Findings {
    list: Vec<Finding>,
}

impl Findings {
    fn add(&mut self, kind: FindingKind, path: &Path, what: String) {
        // Made of a root and names, so it is absolute; should that ever fail, the finding must not be lost.
        let (path, what) = match AbsolutePath::new(path) {
            Ok(path) => (path, what),
            Err(_) => match AbsolutePath::new("/") {
                Ok(root) => (root, format!("{}: {what}", escaped(path.as_os_str()))),
                Err(_) => return,
            },
        };
        self.list.push(Finding::new(kind, path, what));
    }
}

fn walk(policy: &ResolvedPolicy, options: &AftermathOptions, watched: &Watched) -> Seen {
    let globs = denied_globs(policy);
    let case = policy.context().facts.case;
    let mut walk = Walk::new(options, watched, &globs, case);
    for root in walk::outermost(policy.roots().iter().map(|root| root.root.as_path())) {
        walk.root(root);
    }
    let mut seen = walk.finish();
    // A grant or an exception can open what a pattern covers.
    seen.matches.retain(|path, _| {
        AbsolutePath::new(path).is_ok_and(|path| {
            policy.place(&Access::Read(path.clone())).is_none()
                || policy.place(&Access::Write(path)).is_none()
        })
    });
    seen
}

/// The patterns that deny something, each once, with its text.
fn denied_globs(policy: &ResolvedPolicy) -> Vec<(PathMatcher, String)> {
    let denies = |stance| stance == Some(Stance::Denies);
    let guards = policy
        .guards()
        .iter()
        .filter(|guard| denies(guard.read) || denies(guard.write))
        .map(|guard| &guard.matcher);
    let mut globs: Vec<(PathMatcher, String)> = Vec::new();
    for matcher in guards.chain(policy.read_only()) {
        if matcher.is_glob() && !globs.iter().any(|(known, _)| known == matcher) {
            globs.push((matcher.clone(), matcher.to_string()));
        }
    }
    globs
}
