//! What the globs of a policy match now.

use std::fs::DirEntry;
use std::path::Path;

use palisade_policy::{AbsolutePath, Access, GlobWalk, PathMatcher, Place, ResolvedPolicy, Stance};
use rustix::fs::{self, access};
use rustix::io::Errno;

use super::SurveyOptions;
use super::locate::{Locator, child, entry_of, is_closed};
use crate::host::{Entry, Expansion, Located, Places};

/// Kernel file systems: nothing in them is a file that somebody keeps.
const SKIPPED: [&str; 3] = ["/proc", "/sys", "/dev"];

/// Expands each glob; the links in matches are looked up too.
pub(super) fn expand(
    places: &mut Places,
    locator: &mut Locator,
    policy: &ResolvedPolicy,
    options: &SurveyOptions,
) {
    let guards = policy.guards().iter().map(|guard| &guard.matcher);
    let globs: Vec<&PathMatcher> = guards
        .chain(policy.read_only())
        .filter(|matcher| matcher.is_glob())
        .collect();
    let mut bases: Vec<Option<&AbsolutePath>> = globs.iter().map(|glob| glob.base()).collect();
    bases.sort();
    bases.dedup();
    let mut budget = options.max_entries;
    for base in bases {
        let group: Vec<&PathMatcher> = globs
            .iter()
            .copied()
            .filter(|glob| glob.base() == base)
            .collect();
        let mut walk = Walk {
            policy,
            locator,
            globs: &group,
            budget: &mut budget,
            options,
            found: group.iter().map(|_| Expansion::default()).collect(),
            aliases: Vec::new(),
        };
        walk.run(base);
        let (found, aliases) = (walk.found, walk.aliases);
        for (glob, expansion) in group.iter().zip(found) {
            for (path, entry) in &expansion.matches {
                if let Entry::Symlink { .. } = entry {
                    super::enter(&mut places.entries, locator, path);
                }
            }
            places.globs.insert(glob.to_string(), expansion);
        }
        places.entries.extend(aliases);
    }
}

struct Walk<'a> {
    policy: &'a ResolvedPolicy,
    locator: &'a mut Locator,
    /// Those that begin at one base.
    globs: &'a [&'a PathMatcher],
    budget: &'a mut usize,
    options: &'a SurveyOptions,
    /// What each of them matches.
    found: Vec<Expansion>,
    /// Matches below a base that has another name.
    aliases: Vec<(AbsolutePath, Located)>,
}

/// A directory of a walk: its name in the policy, where it really is, and how far each glob has got.
struct Here<'a> {
    name: AbsolutePath,
    real: AbsolutePath,
    walks: Vec<GlobWalk<'a>>,
}

impl<'a> Walk<'a> {
    /// Walks a directory and below, under its name in the policy; links are matched, never followed.
    fn run(&mut self, base: Option<&AbsolutePath>) {
        let Some(name) = base.cloned().or_else(|| AbsolutePath::new("/").ok()) else {
            return;
        };
        let located = self.locator.locate(&name);
        let real = match located.entry {
            Entry::Directory => located.real,
            Entry::Symlink {
                target: Some(target),
            } => target,
            _ => {
                if self.could_be_opened(&located.real) {
                    self.give_up(&name, &[]);
                }
                return;
            }
        };
        let case = self.policy.context().facts.case;
        let walks = self.globs.iter().filter_map(|glob| glob.walk(case));
        let walks = walks.collect();
        let mut pending = vec![Here { name, real, walks }];
        while let Some(here) = pending.pop() {
            let Ok(entries) = std::fs::read_dir(here.real.as_path()) else {
                // Who cannot list it cannot reach much of it either; a changed tree fails the launch.
                if self.could_be_opened(&here.real) {
                    self.give_up(&here.name, &[]);
                }
                continue;
            };
            for entry in entries.flatten() {
                if *self.budget == 0 {
                    self.give_up(&here.name, &pending);
                    return;
                }
                *self.budget -= 1;
                pending.extend(self.visit(&here, &entry));
            }
        }
    }

    /// Whether a directory is closed to us, but not to a command that may change its permissions.
    fn could_be_opened(&self, directory: &AbsolutePath) -> bool {
        let closed = is_closed(directory.as_path())
            || access(directory.as_path(), fs::Access::READ_OK) == Err(Errno::ACCESS);
        closed && self.policy.place(&Access::Write(directory.clone())) == Some(Place::Host)
    }

    /// Notes who matches an entry, and returns it if somebody could match further down.
    fn visit(&mut self, here: &Here<'a>, entry: &DirEntry) -> Option<Here<'a>> {
        let file_name = entry.file_name();
        let walks = || here.walks.iter().map(|walk| walk.enter(&file_name));
        // Most entries are nobody's business: they are told from the others by their names alone.
        if !walks().any(|walk| walk.is_match() || walk.may_match_below()) {
            return None;
        }
        let name = child(&here.name, &file_name)?;
        let real = child(&here.real, &file_name)?;
        let kind = entry.file_type().ok()?;
        let mut deeper = false;
        let mut seen = None;
        for (walk, found) in walks().zip(&mut self.found) {
            if walk.is_match() {
                if found.matches.len() == self.options.max_matches {
                    found.truncated = true;
                } else {
                    let entry = seen
                        .get_or_insert_with(|| entry_of(self.locator, &real, kind))
                        .clone();
                    found.matches.push((name.clone(), entry));
                }
            }
            deeper |=
                walk.may_match_below() && (!walk.is_match() || reopens_below(self.policy, &name));
        }
        if let Some(entry) = seen
            && name != real
        {
            self.aliases
                .push((name.clone(), Located::new(real.clone(), entry)));
        }
        let skipped = || {
            SKIPPED
                .iter()
                .any(|skipped| real.as_path() == Path::new(skipped))
        };
        (deeper && kind.is_dir() && !skipped()).then(|| Here {
            name,
            walks: walks().collect(),
            real,
        })
    }

    fn give_up(&mut self, here: &AbsolutePath, pending: &[Here<'_>]) {
        let case = self.policy.context().facts.case;
        for (glob, found) in self.globs.iter().zip(&mut self.found) {
            let open = |name: &AbsolutePath| glob.may_match_below(name, case);
            found.truncated |= open(here) || pending.iter().any(|pending| open(&pending.name));
        }
    }
}

/// Whether something below a match may be open again, so that a second match further down has a meaning of its own.
fn reopens_below(policy: &ResolvedPolicy, path: &AbsolutePath) -> bool {
    let below = |inner: &AbsolutePath| inner.as_path().starts_with(path.as_path());
    let granted = policy
        .canonical()
        .rules()
        .is_some_and(|(rules, _)| rules.reopened.iter().any(|grant| below(&grant.path)));
    let roots = policy.roots().iter().any(|root| below(&root.root));
    let private = policy.private().iter().any(below);
    granted
        || roots
        || private
        || policy.guards().iter().any(|guard| {
            (guard.read == Some(Stance::Lifts) || guard.write == Some(Stance::Lifts))
                && guard.matcher.path().is_none_or(below)
        })
}
