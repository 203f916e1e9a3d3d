//! What decides about commands, and must never be theirs to write: approvals, policies, claims, records, and the helper
//! that sets their sandboxes up.

use std::path::{Path, PathBuf};

use palisade_policy::{
    AbsolutePath, Access, CanonicalSandboxPolicy, Grant, PathCase, PathSpec, Place, ResolvedPolicy,
};

use super::reach::{by_name, real};
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

/// The places of a host that decide about commands.
#[derive(Clone, Debug, Default)]
pub(crate) struct Own {
    directories: Vec<PathBuf>,
    /// Those of them that hold locks.
    locks: Vec<PathBuf>,
    helper: Option<PathBuf>,
    home: Option<AbsolutePath>,
}

impl Own {
    /// Those of a host.
    pub(crate) fn of(host: &Host) -> Self {
        let directories = [&host.state_dir, &host.config_dir, &host.runtime_dir];
        Self {
            directories: directories
                .into_iter()
                .flatten()
                .chain(&host.guarded)
                .cloned()
                .collect(),
            locks: [&host.state_dir, &host.runtime_dir]
                .into_iter()
                .flatten()
                .chain(&host.guarded)
                .cloned()
                .collect(),
            helper: host.helper.clone(),
            home: host.facts.home.clone(),
        }
    }

    /// The policy with all of it guarded, also where a writable root holds it.
    ///
    /// What holds locks is hidden: whoever can open a file for reading can lock it for as long as they like, and all
    /// others wait.
    pub(crate) fn guarded(&self, policy: &CanonicalSandboxPolicy) -> CanonicalSandboxPolicy {
        let Some((rules, _)) = policy.rules() else {
            return policy.clone();
        };
        let mut rules = rules.clone();
        for directory in &self.directories {
            let Ok(own) = AbsolutePath::new(real(directory)) else {
                continue;
            };
            let list = match self.locks.contains(directory) && own.as_path().exists() {
                true => &mut rules.deny_read,
                false => &mut rules.read_only,
            };
            let spec = PathSpec::from(own);
            if !list.contains(&spec) {
                list.push(spec);
            }
        }
        policy.clone().with_paths(rules)
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
        for path in self.directories.iter().flat_map(|own| both(own)) {
            let inside = writable(policy)
                .find(|open| AbsolutePath::new(&path).is_ok_and(|own| covers(&own, open)));
            if let Some(open) = inside {
                return Err(refused(open.as_path()));
            }
            let itself = [path.clone()].into_iter();
            let mut files = itself.chain(WITHIN.iter().map(|name| path.join(name)));
            if let Some(file) = files.find(|file| can_write(policy, file)) {
                return Err(refused(&file));
            }
        }
        let helper = self.helper.iter().flat_map(|helper| both(helper));
        for path in helper {
            let Ok(helper) = AbsolutePath::new(&path) else {
                return Err(refused(&path));
            };
            if !covers(&workspace, &helper) && can_write(policy, &path) {
                return Err(refused(&path));
            }
        }
        Ok(())
    }

    /// Whether nobody should be led to give this grant: it would open what decides about commands, or the whole home.
    pub(crate) fn is_opened_by(&self, grant: &Grant) -> bool {
        let Grant::Write(open) = grant else {
            return false;
        };
        let overlaps = |own: &Path| {
            both(own).into_iter().any(|own| {
                AbsolutePath::new(own).is_ok_and(|own| covers(open, &own) || covers(&own, open))
            })
        };
        self.home.as_ref().is_some_and(|home| covers(open, home))
            || self.directories.iter().any(|own| overlaps(own))
            || self.helper.as_deref().is_some_and(overlaps)
    }
}

/// A path by its name and without links: either can be what is written.
fn both(path: &Path) -> [PathBuf; 2] {
    [by_name(path), real(path)]
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
