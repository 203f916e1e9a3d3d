//! What the globs of a policy match now.

use palisade_policy::{AbsolutePath, Access, PathCase, PathMatcher, Place, ResolvedPolicy, Stance};
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
            case: policy.context().facts.case,
            budget: &mut budget,
            options,
            found: group.iter().map(|_| Expansion::default()).collect(),
            aliases: Vec::new(),
        };
        walk.run(base, &group);
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
    case: PathCase,
    budget: &'a mut usize,
    options: &'a SurveyOptions,
    found: Vec<Expansion>,
    /// Matches below a base that has another name.
    aliases: Vec<(AbsolutePath, Located)>,
}

impl Walk<'_> {
    /// Walks a directory and below, under its name in the policy; links are matched, never followed.
    fn run(&mut self, base: Option<&AbsolutePath>, globs: &[&PathMatcher]) {
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
                    self.give_up(globs, &name, &[]);
                }
                return;
            }
        };
        let mut pending = vec![(name, real)];
        while let Some((name, real)) = pending.pop() {
            let Ok(entries) = std::fs::read_dir(real.as_path()) else {
                // Who cannot list it cannot reach much of it either; a changed tree fails the launch.
                if self.could_be_opened(&real) {
                    self.give_up(globs, &name, &[]);
                }
                continue;
            };
            for entry in entries.flatten() {
                if *self.budget == 0 {
                    self.give_up(globs, &name, &pending);
                    return;
                }
                *self.budget -= 1;
                let file_name = entry.file_name();
                let (Some(name), Some(real), Ok(kind)) = (
                    child(&name, &file_name),
                    child(&real, &file_name),
                    entry.file_type(),
                ) else {
                    continue;
                };
                if self.visit(globs, &name, &real, kind) && kind.is_dir() {
                    pending.push((name, real));
                }
            }
        }
    }

    /// Whether a directory is closed to us, but not to a command that may change its permissions.
    fn could_be_opened(&self, directory: &AbsolutePath) -> bool {
        let closed = is_closed(directory.as_path())
            || access(directory.as_path(), fs::Access::READ_OK) == Err(Errno::ACCESS);
        closed && self.policy.place(&Access::Write(directory.clone())) == Some(Place::Host)
    }

    /// Notes who matches, and says whether somebody could match further down.
    fn visit(
        &mut self,
        globs: &[&PathMatcher],
        name: &AbsolutePath,
        real: &AbsolutePath,
        kind: std::fs::FileType,
    ) -> bool {
        let mut deeper = false;
        let mut seen = None;
        for (glob, found) in globs.iter().zip(&mut self.found) {
            let matches = glob.specificity(name, self.case) == Some(name.depth());
            if matches {
                if found.matches.len() == self.options.max_matches {
                    found.truncated = true;
                } else {
                    let entry = seen
                        .get_or_insert_with(|| entry_of(self.locator, real, kind))
                        .clone();
                    found.matches.push((name.clone(), entry));
                }
            }
            deeper |= glob.may_match_below(name, self.case)
                && (!matches || reopens_below(self.policy, name));
        }
        if let Some(entry) = seen
            && name != real
        {
            self.aliases
                .push((name.clone(), Located::new(real.clone(), entry)));
        }
        deeper
            && !SKIPPED
                .iter()
                .any(|skipped| real.as_path() == std::path::Path::new(skipped))
    }

    fn give_up(
        &mut self,
        globs: &[&PathMatcher],
        here: &AbsolutePath,
        pending: &[(AbsolutePath, AbsolutePath)],
    ) {
        for (glob, found) in globs.iter().zip(&mut self.found) {
            let open = |name: &AbsolutePath| glob.may_match_below(name, self.case);
            found.truncated |= open(here) || pending.iter().any(|(name, _)| open(name));
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
