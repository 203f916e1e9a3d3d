//! A Mac of which everything is known, and policies for it.

use palisade_policy::{
    AbsolutePath, Backend as _, CanonicalSandboxPolicy, HostFacts, Lowered, Os, PathSpec,
    PolicyContext, PolicyError, ResolvedPolicy, WorkspaceRoot,
};
use palisade_seatbelt::host::{Entry, Located, SandboxExec};
use palisade_seatbelt::{MacHost, Seatbelt, SeatbeltPlan, private_places, survey};

pub(crate) fn abs(path: impl AsRef<std::path::Path>) -> AbsolutePath {
    AbsolutePath::new(path).unwrap()
}

pub(crate) fn root(path: &str) -> WorkspaceRoot {
    WorkspaceRoot::new(path).unwrap()
}

pub(crate) fn spec(text: &str) -> PathSpec {
    PathSpec::parse(text).unwrap()
}

pub(crate) fn context() -> PolicyContext {
    let facts = HostFacts::new(Os::Macos)
        .with_home(abs("/Users/dev"))
        .with_uid(501)
        .with_tmpdir(abs("/private/var/folders/ab/T"));
    PolicyContext::new(facts, root("/Users/dev/app"))
}

/// What is there; everything else is missing.
const THERE: [&str; 12] = [
    "/Users/dev/app/.git",
    "/Users/dev/.ssh",
    "/Users/dev/.aws",
    "/Users/dev/Library/Keychains",
    "/private/var/folders/ab/T",
    "/private/var/folders/ab/T/palisade-1",
    "/private/tmp",
    "/private/etc",
    "/private/var/run/docker.sock",
    "/Users/dev/notes",
    "/Users/dev/app/vendor",
    "/Users/dev/.ssh/known_hosts",
];

/// Links, and where they lead.
const LINKS: [(&str, &str); 3] = [
    ("/tmp", "/private/tmp"),
    ("/var", "/private/var"),
    ("/etc", "/private/etc"),
];

/// A Mac with the usual links.
pub(crate) fn mac() -> MacHost {
    MacHost::new(SandboxExec::Works).with_session_tmp(abs("/private/var/folders/ab/T/palisade-1"))
}

/// Where a path is on such a Mac.
pub(crate) fn locate(path: &AbsolutePath) -> Located {
    let mut links = Vec::new();
    let mut real = path.as_path().to_path_buf();
    for (link, target) in LINKS {
        if let Ok(below) = path.as_path().strip_prefix(link) {
            links.push(abs(link));
            real = std::path::Path::new(target).join(below);
        }
    }
    let exists = |path: &std::path::Path| {
        THERE
            .iter()
            .any(|there| std::path::Path::new(there).starts_with(path))
    };
    let existing = real.ancestors().find(|above| exists(above)).unwrap();
    let missing: Vec<_> = real
        .strip_prefix(existing)
        .unwrap()
        .iter()
        .map(std::ffi::OsStr::to_os_string)
        .collect();
    let located = match missing.is_empty() {
        true => Located::new(abs(existing), Entry::Directory),
        false => Located::missing(abs(existing), missing),
    };
    located.through(links)
}

/// Resolves a policy for a host, and looks at what it names.
pub(crate) fn prepare(
    policy: &CanonicalSandboxPolicy,
    context: PolicyContext,
    host: MacHost,
) -> Result<(ResolvedPolicy, MacHost), PolicyError> {
    let policy = policy.resolve(&context.with_private(private_places(&host)))?;
    let host = survey::paths(&policy).into_iter().fold(host, |host, path| {
        let located = locate(&path);
        host.with_place(path, located)
    });
    Ok((policy, host))
}

pub(crate) fn lower(
    policy: &CanonicalSandboxPolicy,
    host: MacHost,
) -> Result<Lowered<SeatbeltPlan>, PolicyError> {
    let (policy, host) = prepare(policy, context(), host)?;
    Seatbelt.lower(&policy, &host)
}

pub(crate) fn plan(policy: &CanonicalSandboxPolicy, host: MacHost) -> SeatbeltPlan {
    let accepted = palisade_policy::Guarantee::ALL.into_iter().collect();
    lower(policy, host).unwrap().admit(&accepted).unwrap().0
}
