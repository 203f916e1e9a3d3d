//! Grants: the smallest thing that can be added to a policy, and how it is added.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::canonical::CanonicalSandboxPolicy;
use crate::error::{Contradiction, PolicyError};
use crate::network::NetworkAllowlistEntry;
use crate::paths::{AbsolutePath, WorkspaceRoot};
use crate::rules::{GitAccess, LoopbackAccess, Reopened};

/// One thing that a person can add to a policy.
///
/// A grant lifts a guard only where it names the guarded path or something below it: write access to a workspace does
/// not open its `.git`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Grant {
    /// To read a path.
    Read(AbsolutePath),
    /// To read and write a path.
    Write(AbsolutePath),
    /// To change the git directories of the writable roots.
    Git(GitAccess),
    /// To reach a host.
    Host(NetworkAllowlistEntry),
    /// To reach servers on the host's loopback.
    HostLoopback,
    /// To connect to a socket of the host.
    UnixSocket(AbsolutePath),
}

impl fmt::Display for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(path) => write!(f, "read {path}"),
            Self::Write(path) => write!(f, "write {path}"),
            Self::Git(GitAccess::ReadOnly) => f.write_str("read git history"),
            Self::Git(GitAccess::Commit) => f.write_str("commit with git"),
            Self::Git(GitAccess::Full) => f.write_str("write the git directory"),
            Self::Host(entry) => write!(f, "reach {entry}"),
            Self::HostLoopback => f.write_str("reach servers on this machine"),
            Self::UnixSocket(path) => write!(f, "connect to {path}"),
        }
    }
}

impl CanonicalSandboxPolicy {
    /// The policy with one more grant. Granting what is there already changes nothing.
    ///
    /// # Errors
    /// The policy confines nothing, so there is nothing to add to; or the path can never be a writable root.
    pub fn with_grant(mut self, grant: &Grant) -> Result<Self, PolicyError> {
        match &mut self {
            Self::DangerFullAccess | Self::ExternalSandbox { .. } => {
                return Err(PolicyError::at("type", Contradiction::GrantWithoutSandbox));
            }
            Self::ReadOnly {
                network_access,
                network_allowlist,
                paths,
                local,
                ..
            }
            | Self::WorkspaceWrite {
                network_access,
                network_allowlist,
                paths,
                local,
                ..
            } => match grant {
                Grant::Read(path) => reopen(&mut paths.reopened, Reopened::read(path.clone())),
                Grant::Write(path) => {
                    WorkspaceRoot::from_absolute(path.clone())
                        .map_err(|error| PolicyError::at("paths.reopened", error))?;
                    reopen(&mut paths.reopened, Reopened::write(path.clone()));
                }
                Grant::Git(access) => paths.git = paths.git.max(*access),
                Grant::Host(entry) => {
                    let full = *network_access && network_allowlist.is_empty();
                    if !full && !network_allowlist.contains(entry) {
                        network_allowlist.push(entry.clone());
                        *network_access = true;
                    }
                }
                Grant::HostLoopback => local.loopback = LoopbackAccess::Host,
                Grant::UnixSocket(path) => {
                    if !local.unix_paths.contains(path) {
                        local.unix_paths.push(path.clone());
                    }
                }
            },
        }
        Ok(self)
    }
}

/// Adds a path; one that may be written already stays so.
fn reopen(reopened: &mut Vec<Reopened>, new: Reopened) {
    match reopened.iter_mut().find(|old| old.path == new.path) {
        Some(old) => old.write |= new.write,
        None => reopened.push(new),
    }
}
