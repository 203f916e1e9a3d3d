//! Putting a path to the oracle, under every spelling that the policy could know it by.
//!
//! A policy names its roots and guards as their author wrote them; what is judged is a path without links. The two meet
//! in two ways. A root that lies behind links (`/home` is one, say) is compared by its own path without links. And a
//! guard is compared by the identity of what it leads to, so that a second name does not get around it.

use palisade_policy::{AbsolutePath, Access, Clause, Permission, Place, ResolvedPolicy, Verdict};

use super::directory::{Directory, Identity, identity_behind};
use super::error::{FileError, FileRefusal};
use super::resolve::{Last, Resolved, resolve};
use super::strength::Strength;

/// A path of the policy that is reached through links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Anchor {
    /// As the policy writes it.
    written: AbsolutePath,
    /// Without links.
    real: AbsolutePath,
    /// Whether it is a root or the directory of the policy, which can make something writable.
    root: bool,
}

/// Finds the paths of a policy that are reached through links. A link that the policy lets a command change makes
/// nothing writable: it could lead anywhere by now.
pub(super) fn anchors(policy: &ResolvedPolicy, strength: Strength) -> Vec<Anchor> {
    let cwd = policy.context().cwd.path();
    let roots = policy.roots().iter().map(|root| &root.root).chain([cwd]);
    let others = policy.private().iter().chain(&policy.context().facts.home);
    let all = roots
        .map(|path| (path, true))
        .chain(others.map(|path| (path, false)));
    let mut anchors: Vec<Anchor> = Vec::new();
    for (written, root) in all {
        let Ok(resolved) = resolve(written, Last::Follow, strength) else {
            continue;
        };
        let changeable = |link: &AbsolutePath| {
            let delete = Access::Delete(link.clone());
            policy.canonical().uses_runtime_sandbox() && policy.place(&delete).is_some()
        };
        let anchor = Anchor {
            written: written.clone(),
            root: root && !resolved.links.iter().any(|taken| changeable(&taken.link)),
            real: resolved.path,
        };
        if anchor.written != anchor.real && !anchors.contains(&anchor) {
            anchors.push(anchor);
        }
    }
    anchors
}

/// One of the paths by which the policy could know a file.
struct Spelling {
    path: AbsolutePath,
    /// Whether this spelling can allow something; the others can only deny.
    allows: Allows,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Allows {
    Nothing,
    /// The path itself.
    Itself,
    /// The path below a root, as the policy writes that.
    Rooted,
}

/// Who judges.
pub(super) struct Judge<'a> {
    pub(super) policy: &'a ResolvedPolicy,
    pub(super) anchors: &'a [Anchor],
    pub(super) strength: Strength,
}

impl Judge<'_> {
    /// Whether an access to one path is permitted, on the host.
    pub(super) fn one(
        &self,
        asked: &AbsolutePath,
        resolved: &Resolved,
        access: fn(AbsolutePath) -> Access,
    ) -> Result<(), FileError> {
        let spellings = self.spellings(resolved);
        let accesses = spellings
            .into_iter()
            .map(|spelling| (spelling.allows, access(spelling.path)));
        self.all(asked, resolved, accesses.collect())
    }

    /// Whether a move is permitted, on the host.
    pub(super) fn rename(
        &self,
        asked: &AbsolutePath,
        from: &Resolved,
        to: &Resolved,
    ) -> Result<(), FileError> {
        let targets = self.spellings(to);
        let mut accesses = Vec::new();
        for source in self.spellings(from) {
            for target in &targets {
                let allows = match (source.allows, target.allows) {
                    (Allows::Nothing, _) | (_, Allows::Nothing) => Allows::Nothing,
                    (Allows::Itself, Allows::Itself) => Allows::Itself,
                    _ => Allows::Rooted,
                };
                let access = Access::Rename {
                    from: source.path.clone(),
                    to: target.path.clone(),
                };
                accesses.push((allows, access));
            }
        }
        self.all(asked, from, accesses)
    }

    /// Every spelling must be free of guards, and one that can allow must be allowed on the host.
    fn all(
        &self,
        asked: &AbsolutePath,
        resolved: &Resolved,
        accesses: Vec<(Allows, Access)>,
    ) -> Result<(), FileError> {
        let refuse = |access: Access, verdict: Verdict| {
            Err(FileError::Refused(Box::new(FileRefusal {
                asked: asked.clone(),
                access,
                verdict,
                link: resolved.links.last().cloned(),
            })))
        };
        let mut allowed = Allows::Nothing;
        let mut closed: Option<(Access, Verdict)> = None;
        let mut private: Option<(Access, Verdict)> = None;
        for (allows, access) in accesses {
            let verdict = self.policy.permits(&access);
            match verdict.permission {
                Permission::Allowed(Place::Host) => match allows {
                    Allows::Rooted => allowed = Allows::Rooted,
                    Allows::Itself if allowed == Allows::Nothing => allowed = Allows::Itself,
                    Allows::Itself | Allows::Nothing => {}
                },
                Permission::Allowed(Place::Private) => {
                    private = private.or(Some((access, verdict)))
                }
                // Not a guard: this spelling is just not below a root, and another one may be.
                Permission::Denied
                    if matches!(verdict.clause, Clause::OutsideRoots | Clause::ReadOnlyMode) =>
                {
                    closed = closed.or(Some((access, verdict)));
                }
                Permission::Denied => return refuse(access, verdict),
            }
        }
        match (allowed, private, closed) {
            (Allows::Rooted, ..) | (Allows::Itself, None, _) => Ok(()),
            (_, Some((access, verdict)), _) | (_, None, Some((access, verdict))) => {
                refuse(access, verdict)
            }
            // The path itself is always asked about, and was neither allowed, private nor denied.
            (Allows::Nothing, None, None) => Err(FileError::Unstable {
                path: asked.clone(),
            }),
        }
    }

    fn spellings(&self, resolved: &Resolved) -> Vec<Spelling> {
        let path = &resolved.path;
        let mut spellings = vec![Spelling {
            path: path.clone(),
            allows: Allows::Itself,
        }];
        for anchor in self.anchors {
            spellings.extend(
                rebase(path, &anchor.real, &anchor.written).map(|path| Spelling {
                    path,
                    allows: match anchor.root {
                        true => Allows::Rooted,
                        false => Allows::Nothing,
                    },
                }),
            );
        }
        spellings.extend(
            self.second_names(resolved)
                .into_iter()
                .map(|path| Spelling {
                    path,
                    allows: Allows::Nothing,
                }),
        );
        spellings
    }

    /// The path as it reads below a guarded path that is the same file or directory as something on the way.
    fn second_names(&self, resolved: &Resolved) -> Vec<AbsolutePath> {
        let guards = self.policy.guards().iter().map(|guard| &guard.matcher);
        let guarded: Vec<(&AbsolutePath, Identity)> = guards
            .chain(self.policy.read_only())
            .filter_map(|matcher| matcher.path())
            .filter_map(|guarded| Some((guarded, identity_behind(guarded)?)))
            .collect();
        if guarded.is_empty() {
            return Vec::new();
        }
        let mut names = Vec::new();
        for (above, identity) in self.on_the_way(resolved) {
            for (guarded, behind) in &guarded {
                if *behind == identity && **guarded != above {
                    names.extend(rebase(&resolved.path, &above, guarded));
                }
            }
        }
        names
    }

    /// Everything on the way to a path, and the path, with what tells them apart.
    fn on_the_way(&self, resolved: &Resolved) -> Vec<(AbsolutePath, Identity)> {
        let mut way = Vec::new();
        if let Some(found) = &resolved.found {
            way.push((resolved.path.clone(), found.identity));
        }
        if let Ok(identity) = resolved.parent.identity() {
            way.push((resolved.parent_path.clone(), identity));
        }
        let mut above = resolved.parent_path.parent();
        while let Some(path) = above {
            let opened = Directory::open(&path, self.strength);
            if let Ok(identity) = opened.and_then(|opened| opened.identity()) {
                way.push((path.clone(), identity));
            }
            above = path.parent();
        }
        way
    }
}

/// A path below `from`, written below `to`.
fn rebase(path: &AbsolutePath, from: &AbsolutePath, to: &AbsolutePath) -> Option<AbsolutePath> {
    let below = path.as_path().strip_prefix(from.as_path()).ok()?;
    AbsolutePath::new(to.as_path().join(below)).ok()
}
