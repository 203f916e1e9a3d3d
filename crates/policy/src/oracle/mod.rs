//! The oracle: the one place that says what a policy permits. Backends are tested against it.

mod index;
mod paths;
mod remedy;
mod sockets;

use crate::access::{Access, Clause, Permission, Place, Verdict};
use crate::canonical::CanonicalSandboxPolicy;
use crate::resolve::ResolvedPolicy;

pub(crate) use index::GuardIndex;
pub(crate) use paths::Kind;

/// An answer before a remedy is looked for.
type Judgement = Result<(Place, Clause), Clause>;

impl ResolvedPolicy {
    /// What the policy says about an access, which clause says so, and the smallest grant that would change a denial.
    ///
    /// ```
    /// use palisade_policy::{Access, AbsolutePath, CanonicalSandboxPolicy, HostFacts, Os, PolicyContext, WorkspaceRoot};
    ///
    /// # if cfg!(unix) {
    /// let cwd = WorkspaceRoot::new("/srv/app")?;
    /// let facts = HostFacts::new(Os::Linux).with_home(AbsolutePath::new("/home/dev")?);
    /// let policy = CanonicalSandboxPolicy::workspace_write([cwd.clone()])
    ///     .resolve(&PolicyContext::new(facts, cwd))?;
    ///
    /// let verdict = policy.permits(&Access::Create(AbsolutePath::new("/srv/app/.git/hooks/pre-commit")?));
    /// assert_eq!(
    ///     verdict.to_string(),
    ///     "denied: /srv/app/.git is protected; a grant to write the git directory would allow it",
    /// );
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn permits(&self, access: &Access) -> Verdict {
        match self.judge(access) {
            Ok((place, clause)) => Verdict {
                permission: Permission::Allowed(place),
                clause,
                remedy: None,
            },
            Err(clause) => Verdict {
                permission: Permission::Denied,
                clause,
                remedy: self.remedy(access),
            },
        }
    }

    /// What [`permits`](Self::permits) says, without the reason and the remedy: where the access happens, if it is
    /// permitted. For backends, which ask about many paths.
    #[must_use]
    pub fn place(&self, access: &Access) -> Option<Place> {
        // Most of what is asked about lies where nothing can be written, and that is cheaper to find out than which of
        // all guards says so first.
        let (path, reach) = match access {
            // Whoever asks often asks this. A reason would be made and thrown away.
            Access::Read(path) | Access::Execute(path) => {
                return match self.canonical.rules() {
                    Some((rules, _)) => self.place_to_read(path, &rules.reopened),
                    None => Some(Place::Host),
                };
            }
            Access::Write(path) => (path, paths::Reach::Itself),
            Access::Create(path) | Access::Delete(path) => (path, paths::Reach::Entry),
            _ => return self.judge(access).ok().map(|(place, _)| place),
        };
        if let Some((rules, _)) = self.canonical.rules()
            && !self.may_write(path, &rules.reopened, reach)
        {
            return None;
        }
        self.judge(access).ok().map(|(place, _)| place)
    }

    fn judge(&self, access: &Access) -> Judgement {
        let (rules, local) = match self.canonical.rules() {
            Some(rules) => rules,
            None => {
                return Ok((
                    Place::Host,
                    match self.canonical {
                        CanonicalSandboxPolicy::ExternalSandbox { .. } => Clause::ExternalSandbox,
                        _ => Clause::FullAccess,
                    },
                ));
            }
        };
        match access {
            Access::Read(path) | Access::Execute(path) => self.judge_read(path, &rules.reopened),
            Access::Write(path) => self.judge_write(path, &rules.reopened, paths::Reach::Itself),
            Access::Create(path) | Access::Delete(path) => self.judge_entry(path, &rules.reopened),
            Access::Rename { from, to } => {
                // Moving what must not be read could bring it to where it may be.
                self.judge_read(from, &rules.reopened)?;
                let (from_place, from_clause) = self.judge_entry(from, &rules.reopened)?;
                let (to_place, to_clause) = self.judge_entry(to, &rules.reopened)?;
                if let Some(glob) = self.glob_that_differs(from, to) {
                    return Err(Clause::MovesGuarded(glob.clone()));
                }
                Ok(match to_place.cmp(&from_place) {
                    std::cmp::Ordering::Less => (from_place, from_clause),
                    _ => (to_place, to_clause),
                })
            }
            Access::Connect {
                host,
                port,
                protocol,
            } => self.judge_connect(host, *port, *protocol, local),
            Access::Bind { host, .. } => self.judge_bind(host, local),
            Access::Unix { address, peer } => self.judge_unix(address, *peer, local),
        }
    }
}
