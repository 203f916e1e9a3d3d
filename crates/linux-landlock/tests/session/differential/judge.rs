//! What the oracle says about an attempt, and whether the kernel agreed.

use std::fs;
use std::path::{Component, Path, PathBuf};

use palisade_linux_landlock::Tier;
use palisade_policy::{
    AbsolutePath, Access, Clause, Enforcement, Guarantee, Level, PathMatcher, ResolvedPolicy,
    Verdict,
};
use rustix::io::Errno;

use super::probe::{Attempt, Outcome};

/// Why the kernel may differ from the oracle; there is no other reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Excuse {
    /// A pattern covers a name that did not exist when the plan was made: `aftermath` tells.
    LaterMatch,
    /// The tier reports that it does not enforce this.
    NotEnforced,
    /// The tier's allow-list is narrower than the policy; only its denials are compared.
    Narrower,
    /// The two names are on different mounts, because something between them is pinned.
    AcrossMounts,
    /// The entry is a mount point: a pinned directory or link.
    MountPoint,
    /// The kind of the entry: a directory into itself, a directory that is not empty.
    KindOfEntry,
    /// A guard names the place through a link: the stricter verdict holds for both names.
    OtherName,
    /// A file stands where a directory above a guarded path would be.
    InTheWay,
    /// What may not be read is masked, and a mask is not written either.
    Masked,
    /// A clause opens just this entry, and the directory that holds it is guarded: the entry stays where it is.
    InGuarded,
    /// A link on the way is in a place that may not be read.
    HiddenLink,
}

/// What the oracle says about an attempt; of several accesses, the first that is denied.
pub(super) struct Judge<'a> {
    policy: &'a ResolvedPolicy,
    enforcement: &'a Enforcement,
    tier: Tier,
    /// Where guards lead that name a place through a link.
    other_names: Vec<PathBuf>,
    /// Files in the way of guarded paths.
    in_the_way: Vec<PathBuf>,
}

impl<'a> Judge<'a> {
    pub(super) fn new<'p>(
        policy: &'a ResolvedPolicy,
        enforcement: &'a Enforcement,
        tier: Tier,
        tree: impl Iterator<Item = &'p PathBuf>,
    ) -> Self {
        let tree: Vec<AbsolutePath> = tree.map(|path| absolute(path)).collect();
        let guards = policy.guards().iter().map(|guard| &guard.matcher);
        let matched = |matcher: &PathMatcher| -> Vec<PathBuf> {
            match matcher.path() {
                Some(path) => vec![path.as_path().to_path_buf()],
                None => {
                    let case = policy.context().facts.case;
                    let matches = |path: &&AbsolutePath| {
                        matcher.specificity(path, case) == Some(path.depth())
                    };
                    let found = tree.iter().filter(matches);
                    found.map(|path| path.as_path().to_path_buf()).collect()
                }
            }
        };
        let guarded: Vec<PathBuf> = guards
            .chain(policy.read_only())
            .flat_map(matched)
            .chain(policy.private().iter().map(|path| path.as_path().into()))
            .collect();
        let other_names = guarded
            .iter()
            .filter_map(|path| leads_to(path, 0).filter(|real| real != path))
            .collect();
        let in_the_way = guarded
            .iter()
            .flat_map(|path| path.ancestors().skip(1))
            .filter(|above| fs::metadata(above).is_ok_and(|found| found.is_file()))
            .filter_map(|above| fs::canonicalize(above).ok())
            .collect();
        Self {
            policy,
            enforcement,
            tier,
            other_names,
            in_the_way,
        }
    }

    /// What the oracle says: the first denial, or the last permission.
    pub(super) fn expect(&self, attempt: &Attempt) -> Expected {
        let accesses = accesses(attempt);
        let mut verdict = None;
        for access in &accesses {
            let said = self.policy.permits(access);
            let denied = !said.is_allowed();
            verdict = Some(said);
            if denied {
                break;
            }
        }
        let touched: Vec<PathBuf> = accesses.iter().flat_map(paths_of).collect();
        let existed = touched
            .iter()
            .map(|path| fs::symlink_metadata(path).is_ok())
            .collect();
        Expected {
            verdict: verdict.unwrap(),
            hidden: self.passes_hidden_link(attempt),
            touched,
            existed,
        }
    }

    /// Whether the kernel agreed, and if not, why that is all right.
    pub(super) fn compare(
        &self,
        attempt: &Attempt,
        outcome: Outcome,
        expected: &Expected,
    ) -> Result<Option<Excuse>, String> {
        let excuse = match (outcome, expected.is_allowed()) {
            (Ok(()), true) | (Err(_), false) => return Ok(None),
            (Ok(()), false) => self.excuse_permission(attempt, expected),
            (Err(code), true) => self.excuse_refusal(attempt, code, expected),
        };
        excuse.map(Some).ok_or_else(|| {
            let outcome = match outcome {
                Ok(()) => "worked".to_owned(),
                Err(code) => format!("failed ({})", std::io::Error::from_raw_os_error(code)),
            };
            format!("{attempt}\n  {outcome}, but {}", expected.verdict)
        })
    }

    /// Something worked that the oracle denies.
    fn excuse_permission(&self, attempt: &Attempt, expected: &Expected) -> Option<Excuse> {
        let guarantee = self.guarantee(attempt, expected);
        if self.enforcement.level(guarantee) != Level::Enforced {
            return Some(Excuse::NotEnforced);
        }
        let late = match &expected.verdict.clause {
            Clause::MovesGuarded(_) => true,
            Clause::DenyRead(matcher)
            | Clause::Sensitive(matcher)
            | Clause::ReadOnlyPath(matcher) => {
                // Only a name that was free; a pattern guards everything that it matched.
                matcher.is_glob() && expected.existed.contains(&false)
            }
            _ => false,
        };
        // Nothing outside is ever excused by a pattern.
        (late && guarantee == Guarantee::ProtectedPaths).then_some(Excuse::LaterMatch)
    }

    /// Which guarantee a denial belongs to.
    fn guarantee(&self, attempt: &Attempt, expected: &Expected) -> Guarantee {
        if let Attempt::Read(_) | Attempt::List(_) = attempt {
            return Guarantee::DeniedReads;
        }
        let inside = |path: &PathBuf| {
            self.policy.roots().iter().any(|root| {
                let root = root.root.as_path();
                path.starts_with(root)
                    && (root != path || matches!(attempt, Attempt::Append(_) | Attempt::Change(_)))
            })
        };
        match (attempt, expected.touched.iter().all(inside)) {
            (_, true) => Guarantee::ProtectedPaths,
            (Attempt::Change(_), false) => Guarantee::MetadataOutside,
            (_, false) => Guarantee::WritesOutside,
        }
    }

    /// Something failed that the oracle allows.
    fn excuse_refusal(&self, attempt: &Attempt, code: i32, expected: &Expected) -> Option<Excuse> {
        if self.tier == Tier::Landlock {
            return Some(Excuse::Narrower);
        }
        let moves = matches!(attempt, Attempt::Rename(..) | Attempt::Exchange(..));
        let removes = matches!(
            attempt,
            Attempt::RemoveDirectory(_) | Attempt::RemoveFile(..) | Attempt::RemoveLink(..)
        );
        let reads = matches!(attempt, Attempt::Read(_) | Attempt::List(_));
        let itself = matches!(attempt, Attempt::Change(_) | Attempt::Append(_));
        // An entry that holds such a place cannot be made, moved or removed either.
        let holds = |path: &PathBuf, place: &PathBuf| !reads && !itself && place.starts_with(path);
        let touches = |places: &[PathBuf]| {
            let meets = |path: &PathBuf| {
                let mut places = places.iter();
                places.any(|place| path.starts_with(place) || holds(path, place))
            };
            expected.touched.iter().any(meets)
        };
        let denied = |access: Access| self.policy.place(&access).is_none();
        let unread = |path: &PathBuf| denied(Access::Read(absolute(path)));
        let in_guarded =
            |path: &PathBuf| !itself && denied(Access::Write(absolute(path.parent().unwrap())));
        match Errno::from_raw_os_error(code) {
            Errno::XDEV if moves => Some(Excuse::AcrossMounts),
            Errno::BUSY if moves || removes => Some(Excuse::MountPoint),
            Errno::INVAL if moves => Some(Excuse::KindOfEntry),
            _ if touches(&self.other_names) => Some(Excuse::OtherName),
            _ if touches(&self.in_the_way) => Some(Excuse::InTheWay),
            _ if !reads && expected.touched.iter().any(unread) => Some(Excuse::Masked),
            _ if !reads && expected.touched.iter().any(in_guarded) => Some(Excuse::InGuarded),
            _ if expected.hidden => Some(Excuse::HiddenLink),
            _ => None,
        }
    }

    /// Whether the path of an attempt leads through a link that cannot be seen from inside.
    fn passes_hidden_link(&self, attempt: &Attempt) -> bool {
        let mut links = Vec::new();
        for path in names_of(attempt) {
            links_on_the_way(path, &mut links, 0);
        }
        links.iter().any(|link| {
            let access = Access::Read(absolute(link));
            self.policy.place(&access).is_none()
        })
    }
}

/// What the oracle said, and about what.
pub(super) struct Expected {
    verdict: Verdict,
    /// The paths themselves, links resolved.
    touched: Vec<PathBuf>,
    existed: Vec<bool>,
    hidden: bool,
}

impl Expected {
    pub(super) fn is_allowed(&self) -> bool {
        self.verdict.is_allowed()
    }
}

fn absolute(path: &Path) -> AbsolutePath {
    AbsolutePath::new(path).unwrap()
}

/// What an attempt means to the oracle, links resolved.
fn accesses(attempt: &Attempt) -> Vec<Access> {
    let itself = |path: &Path| absolute(&fs::canonicalize(path).unwrap());
    let entry = |path: &Path| entry(path).unwrap();
    let moved = |from: &Path, to: &Path| Access::Rename {
        from: entry(from),
        to: entry(to),
    };
    match attempt {
        Attempt::Read(path) | Attempt::List(path) => vec![Access::Read(itself(path))],
        Attempt::Change(path) | Attempt::Append(path) => vec![Access::Write(itself(path))],
        Attempt::MakeFile(path) | Attempt::MakeDirectory(path) => vec![Access::Create(entry(path))],
        Attempt::RemoveFile(path, _)
        | Attempt::RemoveLink(path, _)
        | Attempt::RemoveDirectory(path) => vec![Access::Delete(entry(path))],
        Attempt::Rename(from, to) => vec![moved(from, to)],
        Attempt::Exchange(one, two) => vec![moved(one, two), moved(two, one)],
    }
}

/// Where an entry is, itself not followed.
pub(super) fn entry(path: &Path) -> Option<AbsolutePath> {
    let parent = fs::canonicalize(path.parent()?).ok()?;
    Some(absolute(&parent.join(path.file_name()?)))
}

fn paths_of(access: &Access) -> Vec<PathBuf> {
    let paths = match access {
        Access::Read(path) | Access::Write(path) | Access::Create(path) | Access::Delete(path) => {
            vec![path]
        }
        Access::Rename { from, to } => vec![from, to],
        other => panic!("{other} is not about files"),
    };
    let paths = paths.into_iter();
    paths.map(|path| path.as_path().to_path_buf()).collect()
}

fn names_of(attempt: &Attempt) -> Vec<&Path> {
    match attempt {
        Attempt::Read(path)
        | Attempt::List(path)
        | Attempt::Change(path)
        | Attempt::MakeFile(path)
        | Attempt::MakeDirectory(path)
        | Attempt::RemoveFile(path, _)
        | Attempt::RemoveLink(path, _)
        | Attempt::RemoveDirectory(path)
        | Attempt::Append(path) => vec![path],
        Attempt::Rename(from, to) | Attempt::Exchange(from, to) => vec![from, to],
    }
}

/// Every link that is followed, where it really is.
fn links_on_the_way(path: &Path, links: &mut Vec<PathBuf>, depth: usize) {
    if depth > 40 {
        return;
    }
    let mut walked = PathBuf::new();
    for component in path.components() {
        let parent = walked.clone();
        walked.push(component);
        if let Ok(target) = fs::read_link(&walked)
            && let Ok(parent) = fs::canonicalize(&parent)
        {
            links.push(parent.join(walked.file_name().unwrap()));
            links_on_the_way(&parent.join(target), links, depth + 1);
        }
    }
}

/// Where a path leads, whether or not anything is there; `None` if it leads in a circle.
fn leads_to(path: &Path, depth: usize) -> Option<PathBuf> {
    let mut real = PathBuf::from("/");
    for component in path.components() {
        match component {
            Component::ParentDir => {
                real.pop();
            }
            Component::Normal(name) => match fs::read_link(real.join(name)) {
                Ok(_) if depth > 40 => return None,
                Ok(target) => real = leads_to(&real.join(target), depth + 1)?,
                Err(_) => real.push(name),
            },
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    Some(real)
}
