//! What the oracle says about an attempt, and whether a judge agreed.

use std::fmt;
use std::fs;
use std::path::{Component, Path, PathBuf};

use palisade_linux_landlock::Tier;
use palisade_policy::{
    AbsolutePath, Access, Clause, Enforcement, Guarantee, HostName, Level, NetworkScope,
    PathMatcher, Peer, Permission, Place, Protocol, ResolvedPolicy, UnixAddress, Verdict,
};
use rustix::io::Errno;

use crate::attempt::{Attempt, Outcome, Transport};
use crate::calls::{HARMLESS, is_refused_anyway};
use crate::meaning::{Meaning, Session};
use crate::stage::absolute;

/// Why a judge may differ from the oracle; there is no other reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Excuse {
    /// A pattern covers a name that did not exist when the plan was made: `aftermath` tells.
    LaterMatch,
    /// What would hold a private place or a root is itself in a layer of the session's own: the host never sees it.
    InALayer,
    /// The tier reports that it does not enforce this.
    NotEnforced,
    /// The tier's allow-list is narrower than the policy; only its denials are compared.
    Narrower,
    /// The two names are on different mounts, because something between them is pinned.
    AcrossMounts,
    /// A pattern guards a free name that a grant lets be read: a placeholder has the name, and those above it.
    HeldName,
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
    /// The host's loopback, or a listed host, needs a proxy or the whole network.
    NoProxy,
    /// The git directory has no private layer: the report says so, or it is no repository.
    NoLayer,
    /// The kernel refuses it to an ordinary user, filter or not.
    RefusedAnyway,
    /// The policy's own list of system calls refuses the call that it takes.
    NoSuchCall,
}

/// What the oracle says about an attempt; of several accesses, the first that is denied.
pub(crate) struct Judge<'a> {
    policy: &'a ResolvedPolicy,
    enforcement: &'a Enforcement,
    tier: Tier,
    /// Where guards lead that name a place through a link.
    other_names: Vec<PathBuf>,
    /// Files in the way of guarded paths.
    in_the_way: Vec<PathBuf>,
}

impl<'a> Judge<'a> {
    pub(crate) fn new<'p>(
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
    pub(crate) fn expect(&self, attempt: &Attempt) -> Expected {
        let accesses = accesses(attempt);
        let touched: Vec<PathBuf> = accesses.iter().flat_map(paths_of).collect();
        let existed = touched
            .iter()
            .map(|path| fs::symlink_metadata(path).is_ok())
            .collect();
        Expected {
            said: self.said(attempt, &accesses),
            hidden: self.passes_hidden_link(attempt),
            touched,
            existed,
        }
    }

    fn said(&self, attempt: &Attempt, accesses: &[Access]) -> Said {
        match attempt {
            Attempt::Signal(_) => {
                return Said::Rule(Meaning::Fails(0), "a process of the host".to_owned());
            }
            Attempt::Call(row) => {
                let (name, args) = HARMLESS[*row];
                let session = Session::of(self.policy.canonical(), self.tier);
                let meaning = session.means(Some(name), &args);
                return Said::Rule(meaning, format!("the policy means {meaning:?}"));
            }
            _ => {}
        }
        let mut verdict = None;
        for access in accesses {
            let said = self.policy.permits(access);
            let denied = !said.is_allowed();
            verdict = Some(said);
            if denied {
                break;
            }
        }
        Said::Oracle(verdict.unwrap())
    }

    /// Whether the kernel agreed, and if not, why that is all right.
    pub(crate) fn compare(
        &self,
        attempt: &Attempt,
        outcome: Outcome,
        expected: &Expected,
    ) -> Result<Option<Excuse>, String> {
        if let (Attempt::Call(row), Said::Rule(meaning, _)) = (attempt, &expected.said) {
            return compare_call(*row, outcome, *meaning)
                .map_err(|why| format!("{attempt}: {why}"));
        }
        let excuse = match (outcome, expected.reaches(attempt)) {
            (Ok(()), true) | (Err(_), false) => return Ok(None),
            (Ok(()), false) => self.excuse_permission(attempt, expected),
            (Err(code), true) => self.excuse_refusal(attempt, code, expected),
        };
        excuse.map(Some).ok_or_else(|| {
            let outcome = match outcome {
                Ok(()) => "worked".to_owned(),
                Err(code) => format!("failed ({})", std::io::Error::from_raw_os_error(code)),
            };
            format!(
                "{attempt}\n  {outcome}, but the oracle says {}",
                expected.said
            )
        })
    }

    /// Something worked that the oracle denies.
    fn excuse_permission(&self, attempt: &Attempt, expected: &Expected) -> Option<Excuse> {
        let guarantee = self.guarantee(attempt, expected);
        if self.enforcement.level(guarantee) != Level::Enforced {
            return Some(Excuse::NotEnforced);
        }
        let late = match expected.clause()? {
            Clause::MovesGuarded(_) => true,
            Clause::DenyRead(matcher)
            | Clause::Sensitive(matcher)
            | Clause::ReadOnlyPath(matcher) => {
                // Only a name that was free; a pattern guards everything that it matched.
                matcher.is_glob() && expected.existed.contains(&false)
            }
            _ => false,
        };
        let in_layer = |path: &PathBuf| {
            let mut places = self.policy.private().iter();
            places.any(|place| path.starts_with(place.as_path()) && path != place.as_path())
        };
        if let Clause::HoldsGuarded(_) = expected.clause()?
            && expected.touched.iter().all(in_layer)
        {
            return Some(Excuse::InALayer);
        }
        // Nothing outside is ever excused by a pattern.
        (late && guarantee == Guarantee::ProtectedPaths).then_some(Excuse::LaterMatch)
    }

    /// Which guarantee a denial belongs to.
    pub(crate) fn guarantee(&self, attempt: &Attempt, expected: &Expected) -> Guarantee {
        match attempt {
            _ if attempt.reads() => return Guarantee::DeniedReads,
            Attempt::Connect(..) | Attempt::Bind(_) => return Guarantee::Network,
            Attempt::Unix(_) | Attempt::Abstract(_) => return Guarantee::UnixSockets,
            Attempt::Signal(_) => return Guarantee::ProcessIsolation,
            Attempt::Call(_) => return Guarantee::SystemCalls,
            _ => {}
        }
        let inside = |path: &PathBuf| {
            self.policy.roots().iter().any(|root| {
                let root = root.root.as_path();
                path.starts_with(root) && (root != path || attempt.changes_itself())
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
        let reads = attempt.reads();
        let itself = attempt.changes_itself();
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
            Errno::EXIST if self.holds_granted(expected) => Some(Excuse::HeldName),
            _ if self.lacks_the_call(attempt) => Some(Excuse::NoSuchCall),
            _ if matches!(attempt, Attempt::Connect(..)) => {
                let open = self.policy.canonical().network() == NetworkScope::Full;
                (!open).then_some(Excuse::NoProxy)
            }
            _ if self.lacks_a_layer(expected) => Some(Excuse::NoLayer),
            _ if touches(&self.other_names) => Some(Excuse::OtherName),
            _ if touches(&self.in_the_way) => Some(Excuse::InTheWay),
            _ if !reads && expected.touched.iter().any(unread) => Some(Excuse::Masked),
            _ if !reads && expected.touched.iter().any(in_guarded) => Some(Excuse::InGuarded),
            _ if expected.hidden => Some(Excuse::HiddenLink),
            _ => None,
        }
    }

    /// Whether what a grant names to be read, and nothing else, is at or below what is made.
    fn holds_granted(&self, expected: &Expected) -> bool {
        let rules = self.policy.canonical().rules();
        let granted = || rules.into_iter().flat_map(|(rules, _)| &rules.reopened);
        let below = |path: &PathBuf| granted().any(|grant| grant.path.as_path().starts_with(path));
        expected.touched.iter().any(below)
    }

    /// Whether the profile of the policy refuses the socket that an attempt needs.
    fn lacks_the_call(&self, attempt: &Attempt) -> bool {
        let family = match attempt {
            Attempt::Connect(..) | Attempt::Bind(_) => 2,
            Attempt::Unix(_) | Attempt::Abstract(_) => 1,
            _ => return false,
        };
        let session = Session::of(self.policy.canonical(), self.tier);
        session.means(Some("socket"), &[family, 1, 0, 0, 0, 0]) != Meaning::Runs
    }

    /// Whether the git directory that an attempt is about gets no layer: the report says so, or it is no repository.
    fn lacks_a_layer(&self, expected: &Expected) -> bool {
        let private = self.policy.private().iter().map(AbsolutePath::as_path);
        let git = || private.clone().filter(|place| place.ends_with(".git"));
        let is_repository = |place: &Path| {
            let directories = ["objects", "refs"].map(|name| place.join(name).is_dir());
            directories == [true, true] && place.join("HEAD").is_file()
        };
        let lost = self.enforcement.level(Guarantee::GitImport) < Level::Enforced;
        expected.touched.iter().any(|path| {
            let place = git().filter(|place| path.starts_with(place)).max();
            place.is_some_and(|place| lost || !is_repository(place))
        })
    }

    /// Whether some guard names a place through a link.
    pub(crate) fn has_other_names(&self) -> bool {
        !self.other_names.is_empty()
    }

    /// Whether the path of an attempt leads through a link that cannot be seen from inside.
    fn passes_hidden_link(&self, attempt: &Attempt) -> bool {
        let mut links = Vec::new();
        for path in attempt.names() {
            links_on_the_way(path, &mut links, 0);
        }
        links.iter().any(|link| {
            let access = Access::Read(absolute(link));
            let guarded = self.other_names.iter().any(|place| link.starts_with(place));
            guarded || self.policy.place(&access).is_none()
        })
    }
}

/// What must become of an attempt, and why.
enum Said {
    Oracle(Verdict),
    /// By a rule of the policy that the oracle is not asked about.
    Rule(Meaning, String),
}

impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Oracle(verdict) => verdict.fmt(f),
            Self::Rule(_, why) => f.write_str(why),
        }
    }
}

/// What the oracle said, and about what.
pub(crate) struct Expected {
    said: Said,
    /// The paths themselves, links resolved.
    pub(crate) touched: Vec<PathBuf>,
    pub(crate) existed: Vec<bool>,
    hidden: bool,
}

impl Expected {
    pub(crate) fn is_allowed(&self) -> bool {
        match &self.said {
            Said::Oracle(verdict) => verdict.is_allowed(),
            Said::Rule(meaning, _) => *meaning == Meaning::Runs,
        }
    }

    /// Whether it happens on the host, and not in what the session owns.
    fn is_on_the_host(&self) -> bool {
        match &self.said {
            Said::Oracle(verdict) => verdict.permission == Permission::Allowed(Place::Host),
            Said::Rule(meaning, _) => *meaning == Meaning::Runs,
        }
    }

    /// Whether it happens in what the session owns.
    pub(crate) fn is_private(&self) -> bool {
        self.is_allowed() && !self.is_on_the_host()
    }

    /// Whether it may reach what it is about: the server on a loopback is the host's.
    fn reaches(&self, attempt: &Attempt) -> bool {
        match attempt {
            Attempt::Connect(..) => self.is_on_the_host(),
            _ => self.is_allowed(),
        }
    }

    pub(crate) fn clause(&self) -> Option<&Clause> {
        match &self.said {
            Said::Oracle(verdict) => Some(&verdict.clause),
            Said::Rule(..) => None,
        }
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.said.fmt(f)
    }
}

/// Whether a call went as the filter must have it.
fn compare_call(row: usize, outcome: Outcome, meaning: Meaning) -> Result<Option<Excuse>, String> {
    let anyway = is_refused_anyway(row);
    match (outcome, meaning) {
        (Err(errno), Meaning::Fails(meant)) if errno == i32::from(meant) => Ok(None),
        (Err(1 | 38), Meaning::Runs) if anyway => Ok(Some(Excuse::RefusedAnyway)),
        (Ok(()), Meaning::Runs) => Ok(None),
        (Err(errno), Meaning::Runs) if errno != 1 && errno != 38 => Ok(None),
        (outcome, meaning) => Err(format!("came to {outcome:?}, the policy means {meaning:?}")),
    }
}

/// What an attempt means to the oracle, links resolved.
pub(crate) fn accesses(attempt: &Attempt) -> Vec<Access> {
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
        Attempt::Execute(path) => vec![Access::Execute(itself(path))],
        Attempt::Connect(transport, host, port) => vec![Access::Connect {
            host: HostName::parse(host).unwrap(),
            port: *port,
            protocol: match transport {
                Transport::Tcp => Protocol::Tcp,
                Transport::Udp => Protocol::Udp,
            },
        }],
        Attempt::Bind(host) => vec![Access::Bind {
            host: HostName::parse(host).unwrap(),
            port: 0,
        }],
        Attempt::Unix(path) => vec![Access::Unix {
            address: UnixAddress::Path(itself(path)),
            peer: Peer::Host,
        }],
        Attempt::Abstract(name) => vec![Access::Unix {
            address: UnixAddress::Abstract(name.clone().into_bytes()),
            peer: Peer::Host,
        }],
        Attempt::Signal(_) | Attempt::Call(_) => Vec::new(),
    }
}

/// Where an entry is, itself not followed.
pub(crate) fn entry(path: &Path) -> Option<AbsolutePath> {
    let parent = fs::canonicalize(path.parent()?).ok()?;
    Some(absolute(&parent.join(path.file_name()?)))
}

fn paths_of(access: &Access) -> Vec<PathBuf> {
    let paths = match access {
        Access::Read(path)
        | Access::Write(path)
        | Access::Create(path)
        | Access::Delete(path)
        | Access::Execute(path)
        | Access::Unix {
            address: UnixAddress::Path(path),
            ..
        } => vec![path],
        Access::Rename { from, to } => vec![from, to],
        _ => Vec::new(),
    };
    let paths = paths.into_iter();
    paths.map(|path| path.as_path().to_path_buf()).collect()
}

/// Every link that is followed, where it really is.
pub(crate) fn links_on_the_way(path: &Path, links: &mut Vec<PathBuf>, depth: usize) {
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
