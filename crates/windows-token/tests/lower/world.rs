//! A host that is made up: a few files, and a survey that looks at them.

use std::collections::BTreeMap;

use palisade_policy::{
    AbsolutePath, AcceptedLosses, Backend as _, CanonicalSandboxPolicy, Enforcement, Guarantee,
    HomeRoot, HostFacts, Lowered, Os, PathMatcher, PathRules, PathSpec, PolicyContext, PolicyError,
    ResolvedPolicy, WorkspaceRoot,
};
use palisade_windows_token::acl::{Ace, AceKind};
use palisade_windows_token::host::{Entry, Located, Matches, Residue, SecondNames};
use palisade_windows_token::plan::AclEdit;
use palisade_windows_token::{Plan, Sid, WindowsHost, WindowsToken, private_places};

pub(crate) const TMP: &str = "/home/dev/session/tmp";

/// A path of this system: `/srv/app` or `C:\srv\app`.
pub(crate) fn abs(path: &str) -> AbsolutePath {
    AbsolutePath::new(native(path)).unwrap()
}

pub(crate) fn native(path: &str) -> String {
    match cfg!(windows) {
        true => format!("C:{}", path.replace('/', "\\")),
        false => path.to_owned(),
    }
}

pub(crate) fn root(path: &str) -> WorkspaceRoot {
    WorkspaceRoot::from_absolute(abs(path)).unwrap()
}

/// A spec: absolute ones begin with a slash.
pub(crate) fn spec(path: &str) -> PathSpec {
    match path.starts_with('/') {
        true => PathSpec::parse(&native(path)).unwrap(),
        false => PathSpec::parse(path).unwrap(),
    }
}

pub(crate) fn sid(text: &str) -> Sid {
    text.parse().unwrap()
}

pub(crate) fn user() -> Sid {
    sid("S-1-5-21-11-12-13-1001")
}

pub(crate) fn logon() -> Sid {
    sid("S-1-5-5-0-4242")
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Node {
    Directory,
    File,
    /// A directory with an access list of somebody else.
    Foreign,
    /// A directory on a volume without access lists.
    Bare,
    /// A directory that is really elsewhere.
    Link(&'static str),
}

#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) nodes: BTreeMap<AbsolutePath, Node>,
}

impl World {
    /// A workspace in which everything that is protected by default exists.
    pub(crate) fn sample() -> Self {
        let mut world = Self {
            nodes: BTreeMap::new(),
        };
        for path in [
            "/srv/app/src/deep",
            "/srv/app/docs",
            "/srv/other",
            "/home/dev/.ssh",
            "/home/dev/.aws",
            TMP,
        ] {
            world.add(path, Node::Directory);
        }
        for name in PathRules::DEFAULT_PROTECTED {
            world.add(&format!("/srv/app/{name}"), Node::Directory);
        }
        for path in [
            "/srv/app/src/main.rs",
            "/srv/app/.env",
            "/srv/app/src/deep/.env",
            "/srv/app/.git/config",
        ] {
            world.add(path, Node::File);
        }
        world
    }

    pub(crate) fn add(&mut self, path: &str, node: Node) {
        let path = abs(path);
        let mut above = path.parent();
        while let Some(directory) = above {
            above = directory.parent();
            self.nodes.entry(directory).or_insert(Node::Directory);
        }
        self.nodes.insert(path, node);
    }

    pub(crate) fn remove(&mut self, path: &str) {
        let gone = abs(path);
        self.nodes
            .retain(|path, _| !path.as_path().starts_with(gone.as_path()));
    }

    pub(crate) fn host(&self) -> WindowsHost {
        let mut host = WindowsHost::new(user(), logon());
        host.powerful_groups = vec![Sid::administrators()];
        host.privileges = [
            "SeShutdownPrivilege",
            "SeChangeNotifyPrivilege",
            "SeBackupPrivilege",
        ]
        .map(str::to_owned)
        .to_vec();
        host.session_tmp = Some(abs(TMP));
        host.second_names = SecondNames::None;
        host.residue = Residue::None;
        host
    }

    fn located(&self, path: &AbsolutePath) -> Located {
        let real = path.clone();
        match self.nodes.get(path) {
            None => Located::new(real, Entry::Missing),
            Some(Node::Directory) => Located::new(real, Entry::Directory),
            Some(Node::File) => Located::new(real, Entry::File),
            Some(Node::Foreign) => Located::new(real, Entry::Directory).with_foreign_acl(),
            Some(Node::Bare) => Located::new(real, Entry::Directory).without_acls(),
            Some(Node::Link(target)) => Located::new(abs(target), Entry::Directory),
        }
    }

    /// Looks at everything that a policy names, as a survey would.
    pub(crate) fn look(&self, host: &mut WindowsHost, policy: &ResolvedPolicy) {
        let case = policy.context().facts.case;
        let mut named: Vec<AbsolutePath> = policy
            .roots()
            .iter()
            .map(|root| root.root.clone())
            .collect();
        named.extend(policy.private().iter().cloned());
        named.push(policy.context().cwd.path().clone());
        if let Some((rules, _)) = policy.canonical().rules() {
            named.extend(rules.reopened.iter().map(|reopened| reopened.path.clone()));
        }
        for (i, path) in (1..).zip(&named) {
            host.capabilities
                .entry(path.clone())
                .or_insert_with(|| Sid::capability([7, 7, 7, i]));
        }
        let guards = policy.guards().iter().map(|guard| &guard.matcher);
        let matchers: Vec<&PathMatcher> = guards.chain(policy.read_only()).collect();
        for matcher in matchers {
            if let Some(path) = matcher.path() {
                named.push(path.clone());
                continue;
            }
            let found: Vec<AbsolutePath> = self
                .nodes
                .keys()
                .filter(|path| matcher.specificity(path, case) == Some(path.depth()))
                .cloned()
                .collect();
            named.extend(found.iter().cloned());
            host.matches
                .insert(matcher.to_string(), Matches::all(found));
        }
        for path in named {
            let mut next = Some(path);
            while let Some(path) = next {
                next = path.parent();
                host.places.insert(path.clone(), self.located(&path));
            }
        }
    }

    pub(crate) fn prepare(
        &self,
        policy: &CanonicalSandboxPolicy,
        mut host: WindowsHost,
    ) -> Result<(ResolvedPolicy, WindowsHost), PolicyError> {
        let context = context().with_private(private_places(&host));
        let policy = policy.resolve(&context)?;
        self.look(&mut host, &policy);
        Ok((policy, host))
    }

    pub(crate) fn lower(
        &self,
        policy: &CanonicalSandboxPolicy,
    ) -> Result<Lowered<Plan>, PolicyError> {
        let (policy, host) = self.prepare(policy, self.host())?;
        WindowsToken.lower(&policy, &host)
    }

    /// The plan with every loss accepted, and its report.
    pub(crate) fn plan(&self, policy: &CanonicalSandboxPolicy) -> (Plan, Enforcement) {
        let all: AcceptedLosses = Guarantee::ALL.into_iter().collect();
        self.lower(policy).unwrap().admit(&all).unwrap()
    }
}

pub(crate) fn context() -> PolicyContext {
    let facts = HostFacts::new(Os::Windows).with_home(abs("/home/dev"));
    PolicyContext::new(facts, root("/srv/app")).with_home_root(HomeRoot::Allow)
}

pub(crate) fn workspace() -> CanonicalSandboxPolicy {
    CanonicalSandboxPolicy::workspace_write([root("/srv/app")])
}

pub(crate) fn with_rules(rules: PathRules) -> CanonicalSandboxPolicy {
    workspace().with_paths(rules)
}

/// What is added to the list of a path, in the order in which a list would hold it.
pub(crate) fn added(plan: &Plan, path: &str) -> Vec<Ace> {
    let path = abs(path);
    let edits: Vec<&AclEdit> = plan
        .acl_edits
        .iter()
        .filter(|edit| edit.path == path)
        .collect();
    let all = edits.iter().flat_map(|edit| edit.add.iter().cloned());
    let (mut denies, allows): (Vec<Ace>, Vec<Ace>) = all.partition(|ace| ace.kind == AceKind::Deny);
    denies.extend(allows);
    denies
}
