//! What decides about commands, and must never be theirs to write: approvals, policies, claims, records, and the helper
//! that sets their sandboxes up.

use std::path::{Path, PathBuf};

use palisade_policy::{
    AbsolutePath, Access, CanonicalSandboxPolicy, Grant, HostFacts, PathCase, PathSpec, Place,
    ResolvedPolicy, WorkspaceRoot,
};

use super::paths::{PROJECT_DIRECTORY, SYSTEM};
use super::ways::{Look, Ways};
use crate::host::Host;
use crate::outcome::SetupFailure;

/// What the step is called.
const STEP: &str = "keeping what decides about commands from them";

/// Files that such a directory holds, or could hold: one for each place that is looked at on its own.
const WITHIN: [&str; 9] = [
    "approvals.toml",
    "grants.json",
    "trust.json",
    "policy.toml",
    "audit/audit.jsonl",
    "claims/lock",
    "run/claims/lock",
    ".approvals.toml.lock",
    ".approvals.toml.new",
];

/// The places of a host that decide about commands, where they were when somebody looked.
#[derive(Clone, Debug)]
pub(crate) struct Own {
    directories: Vec<Directory>,
    /// The program that sets sandboxes up, which may be this one.
    helper: Option<Ways>,
    facts: HostFacts,
}

/// A directory that decides about commands.
#[derive(Clone, Debug)]
struct Directory {
    ways: Ways,
    /// Whether it holds locks, and is there.
    locks: bool,
    /// Whether it is the administrator's.
    system: bool,
}

impl Own {
    /// Those of a host, as they are now.
    pub(crate) fn of(host: &Host) -> Self {
        Self::seen(host, &mut Look::default())
    }

    /// The same in one look with other paths.
    pub(crate) fn seen(host: &Host, look: &mut Look) -> Self {
        let named = [&host.state_dir, &host.config_dir, &host.runtime_dir];
        let named = named.into_iter().flatten().chain(&host.guarded);
        let holds_locks = |path: &Path| {
            let holders = [&host.state_dir, &host.runtime_dir].into_iter().flatten();
            holders.chain(&host.guarded).any(|holder| holder == path)
        };
        // Windows has no such place.
        let system = Path::new(SYSTEM).parent().filter(|_| cfg!(unix));
        let directories = named
            .map(PathBuf::as_path)
            .chain(system)
            .map(|path| {
                let ways = look.to(path);
                Directory {
                    locks: holds_locks(path) && ways.real.exists(),
                    system: Some(path) == system,
                    ways,
                }
            })
            .collect();
        Self {
            directories,
            helper: host.helper.as_deref().map(|helper| look.to(helper)),
            facts: host.facts.clone(),
        }
    }

    /// The policy with all of it guarded, also where a writable root holds it.
    ///
    /// What holds locks is hidden: whoever can open a file for reading can lock it for as long as they like, and all
    /// others wait.
    pub(crate) fn guarded(
        &self,
        policy: &CanonicalSandboxPolicy,
        workspace: &WorkspaceRoot,
    ) -> CanonicalSandboxPolicy {
        let Some((rules, _)) = policy.rules() else {
            return policy.clone();
        };
        let mut rules = rules.clone();
        let open: Vec<AbsolutePath> = policy
            .writable_roots(workspace, &self.facts)
            .into_iter()
            .chain(
                rules
                    .reopened
                    .iter()
                    .filter(|open| open.write)
                    .map(|open| open.path.clone()),
            )
            .collect();
        let within_reach = |own: &AbsolutePath| {
            let overlaps = |open: &AbsolutePath| covers(open, own) || covers(own, open);
            open.iter().any(overlaps)
        };
        for directory in &self.directories {
            let Ok(own) = AbsolutePath::new(&directory.ways.real) else {
                continue;
            };
            if directory.locks {
                add(&mut rules.deny_read, own);
            } else if !directory.system || within_reach(&own) {
                // The administrator's place is far from what most commands write: then nothing has to be said about it.
                add(&mut rules.read_only, own);
            }
        }
        if !rules
            .protected
            .iter()
            .any(|name| name.as_path() == Path::new(PROJECT_DIRECTORY))
        {
            // Whoever took it off the list did not mean that commands decide about themselves.
            if let Ok(own) = AbsolutePath::new(workspace.path().as_path().join(PROJECT_DIRECTORY)) {
                add(&mut rules.read_only, own);
            }
        }
        let helper = self.helper_of_others(workspace.path());
        if let Some(helper) = helper.filter(within_reach) {
            add(&mut rules.read_only, helper);
        }
        policy.clone().with_paths(rules)
    }

    /// The helper, unless it is somebody's own build of it, in the project that builds it. A home directory builds nothing.
    fn helper_of_others(&self, workspace: &AbsolutePath) -> Option<AbsolutePath> {
        let helper = AbsolutePath::new(&self.helper.as_ref()?.real).ok()?;
        let holds_home = self
            .facts
            .home
            .as_ref()
            .is_some_and(|home| covers(workspace, home));
        (holds_home || !covers(workspace, &helper)).then_some(helper)
    }

    /// Refuses a policy that lets commands write any of it: they would approve themselves, or run whatever they like
    /// outside as the helper of the next sandbox.
    ///
    /// A helper in the workspace itself is somebody's own build of it. It is not refused, but no other is used in its
    /// place later.
    ///
    /// # Errors
    /// Names what is within reach.
    pub(crate) fn check(&self, policy: &ResolvedPolicy) -> Result<(), SetupFailure> {
        if !policy.canonical().uses_runtime_sandbox() {
            return Ok(());
        }
        let workspace = policy.context().cwd.path().clone();
        for ways in self.directories.iter().map(|directory| &directory.ways) {
            // A link cannot be guarded in its place.
            if let Some(link) = ways.links.iter().find(|link| can_write(policy, link)) {
                return Err(refused(link));
            }
            for path in ways.both() {
                let inside = writable(policy)
                    .find(|open| AbsolutePath::new(path).is_ok_and(|own| covers(&own, open)));
                if let Some(open) = inside {
                    return Err(refused(open.as_path()));
                }
                let itself = [path.to_owned()].into_iter();
                let mut files = itself.chain(WITHIN.iter().map(|name| path.join(name)));
                if let Some(file) = files.find(|file| can_write(policy, file)) {
                    return Err(refused(&file));
                }
            }
        }
        let others = self.helper_of_others(&workspace).is_some();
        for path in self.helper.iter().flat_map(Ways::both) {
            if AbsolutePath::new(path).is_err() || others && can_write(policy, path) {
                return Err(refused(path));
            }
        }
        Ok(())
    }

    /// Whether nobody should be led to give this grant: it would open what decides about commands, or the whole home.
    pub(crate) fn is_opened_by(&self, grant: &Grant) -> bool {
        let Grant::Write(open) = grant else {
            return false;
        };
        let overlaps = |own: &Ways| {
            own.both().into_iter().any(|own| {
                AbsolutePath::new(own).is_ok_and(|own| covers(open, &own) || covers(&own, open))
            })
        };
        self.facts
            .home
            .as_ref()
            .is_some_and(|home| covers(open, home))
            || self.directories.iter().any(|own| overlaps(&own.ways))
            || self.helper.as_ref().is_some_and(overlaps)
    }
}

/// Adds a path that is not there yet.
fn add(list: &mut Vec<PathSpec>, path: AbsolutePath) {
    let spec = PathSpec::from(path);
    if !list.contains(&spec) {
        list.push(spec);
    }
}

fn covers(one: &AbsolutePath, other: &AbsolutePath) -> bool {
    one.covers(other, PathCase::Sensitive)
}

/// What commands can write, where it is said.
fn writable(policy: &ResolvedPolicy) -> impl Iterator<Item = AbsolutePath> {
    let reopened = policy.canonical().rules().into_iter();
    let reopened = reopened.flat_map(|(rules, _)| rules.reopened.iter());
    policy
        .roots()
        .iter()
        .map(|root| root.root.clone())
        .chain(
            reopened
                .filter(|open| open.write)
                .map(|open| open.path.clone()),
        )
        .collect::<Vec<_>>()
        .into_iter()
}

fn can_write(policy: &ResolvedPolicy, file: &Path) -> bool {
    let Ok(file) = AbsolutePath::new(file) else {
        return true;
    };
    let changes = [
        Access::Write(file.clone()),
        Access::Create(file.clone()),
        Access::Delete(file),
    ];
    changes
        .iter()
        .any(|change| policy.place(change) == Some(Place::Host))
}

fn refused(path: &Path) -> SetupFailure {
    let message = format!(
        "{} decides about commands, and this policy lets them write it; grant or open a smaller directory, or keep it \
         elsewhere",
        path.display()
    );
    SetupFailure::new(STEP, None, message)
}
