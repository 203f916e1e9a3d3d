//! Random policies, places and accesses. Names come from a small alphabet, so that random paths meet each other.

use arbitrary::Arbitrary;
use palisade_policy::{
    AbsolutePath, Access, CanonicalSandboxPolicy, GitAccess, HostFacts, HostName, LoopbackAccess,
    Os, PathCase, PathRules, PathSpec, Peer, PolicyContext, PrivatePlaces, Protocol, Reopened,
    SensitivePath, UnixAddress, WorkspaceRoot,
};

const NAMES: [&str; 12] = [
    "srv", "app", "a", "A", "b", ".git", ".ssh", "tmp", "home", "dev", "**", "*b?",
];

#[derive(Arbitrary, Debug)]
pub(crate) struct Path(Vec<u8>);

impl Path {
    pub(crate) fn text(&self) -> String {
        let names = self
            .0
            .iter()
            .take(6)
            .map(|name| NAMES[usize::from(*name) % NAMES.len()]);
        names.fold(String::new(), |path, name| path + "/" + name)
    }

    pub(crate) fn absolute(&self) -> Option<AbsolutePath> {
        AbsolutePath::new(self.text()).ok()
    }
}

#[derive(Arbitrary, Debug)]
pub(crate) enum What {
    Read(Path),
    Write(Path),
    Create(Path),
    Delete(Path),
    Rename(Path, Path),
    Execute(Path),
    Connect(String, u16, bool),
    Bind(String, u16),
    Unix(Path, bool),
}

impl What {
    pub(crate) fn access(&self) -> Option<Access> {
        let host = |name: &str| HostName::parse(name).ok();
        Some(match self {
            Self::Read(path) => Access::Read(path.absolute()?),
            Self::Write(path) => Access::Write(path.absolute()?),
            Self::Create(path) => Access::Create(path.absolute()?),
            Self::Delete(path) => Access::Delete(path.absolute()?),
            Self::Rename(from, to) => Access::Rename {
                from: from.absolute()?,
                to: to.absolute()?,
            },
            Self::Execute(path) => Access::Execute(path.absolute()?),
            Self::Connect(name, port, udp) => Access::Connect {
                host: host(name)?,
                port: *port,
                protocol: if *udp { Protocol::Udp } else { Protocol::Tcp },
            },
            Self::Bind(name, port) => Access::Bind {
                host: host(name)?,
                port: *port,
            },
            Self::Unix(path, host) => Access::Unix {
                address: UnixAddress::Path(path.absolute()?),
                peer: if *host { Peer::Host } else { Peer::Session },
            },
        })
    }
}

#[derive(Arbitrary, Debug)]
pub(crate) struct Input {
    writes: bool,
    roots: Vec<Path>,
    secrets: Vec<(Path, bool, bool)>,
    denied: Vec<Path>,
    read_only: Vec<Path>,
    reopened: Vec<(Path, bool)>,
    git: u8,
    loopback: u8,
    host_tmp: bool,
    cwd: Path,
    private: bool,
    folds_case: bool,
    pub(crate) what: What,
}

impl Input {
    pub(crate) fn policy(&self) -> Option<CanonicalSandboxPolicy> {
        let spec = |path: &Path| PathSpec::parse(&path.text()).ok();
        let rules = PathRules::default()
            .with_deny_read(self.denied.iter().filter_map(spec))
            .with_read_only(self.read_only.iter().filter_map(spec))
            .with_git(
                [GitAccess::ReadOnly, GitAccess::Commit, GitAccess::Full]
                    [usize::from(self.git % 3)],
            )
            .with_reopened(self.reopened.iter().filter_map(|(path, write)| {
                let path = path.absolute()?;
                Some(if *write {
                    Reopened::write(path)
                } else {
                    Reopened::read(path)
                })
            }));
        let policy = if self.writes {
            let roots = self
                .roots
                .iter()
                .filter_map(|path| WorkspaceRoot::new(path.text()).ok());
            let secrets = self.secrets.iter().filter_map(|(path, read, write)| {
                let mut secret = SensitivePath::blocking(spec(path)?);
                secret.block_read = *read;
                secret.block_write = *write;
                Some(secret)
            });
            CanonicalSandboxPolicy::workspace_write_with_sensitive_paths(roots, secrets)
                .with_host_tmp(false, self.host_tmp)
        } else {
            CanonicalSandboxPolicy::read_only()
        };
        let loopback = [
            LoopbackAccess::Private,
            LoopbackAccess::Host,
            LoopbackAccess::Off,
        ];
        let local = palisade_policy::LocalAccess::default()
            .with_loopback(loopback[usize::from(self.loopback % 3)]);
        Some(policy.with_paths(rules).with_local(local))
    }

    pub(crate) fn context(&self) -> Option<PolicyContext> {
        let home = AbsolutePath::new("/home/dev").ok()?;
        let mut facts = HostFacts::new(Os::Linux).with_home(home);
        if self.folds_case {
            facts = facts.with_case(PathCase::Insensitive);
        }
        let context = PolicyContext::new(facts, WorkspaceRoot::new(self.cwd.text()).ok()?);
        Some(if self.private {
            context.with_private(PrivatePlaces::all())
        } else {
            context
        })
    }
}
