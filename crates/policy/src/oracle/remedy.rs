//! The smallest grant that would turn a denial around.

use crate::access::{Access, UnixAddress};
use crate::grant::Grant;
use crate::network::{HostPattern, NetworkAllowlistEntry};
use crate::paths::AbsolutePath;
use crate::resolve::ResolvedPolicy;
use crate::rules::GitAccess;

impl ResolvedPolicy {
    /// The first of the grants, smallest first, that really allows the access: each is tried on the policy itself.
    pub(super) fn remedy(&self, access: &Access) -> Option<Grant> {
        candidates(access).into_iter().find(|grant| {
            self.canonical
                .clone()
                .with_grant(grant)
                .and_then(|policy| policy.resolve(&self.context))
                .is_ok_and(|policy| policy.judge(access).is_ok())
        })
    }
}

/// Grants that could allow an access, smallest first.
fn candidates(access: &Access) -> Vec<Grant> {
    let write = |path: &AbsolutePath| Grant::Write(path.clone());
    let git = || [Grant::Git(GitAccess::Commit), Grant::Git(GitAccess::Full)];
    let entry = |path: &AbsolutePath| {
        git()
            .into_iter()
            .chain([write(path)])
            .chain(path.parent().as_ref().map(write))
            .collect::<Vec<_>>()
    };
    match access {
        Access::Read(path) | Access::Execute(path) => vec![Grant::Read(path.clone())],
        Access::Write(path) => git().into_iter().chain([write(path)]).collect(),
        Access::Create(path) | Access::Delete(path) => entry(path),
        Access::Rename { from, to } => entry(from).into_iter().chain(entry(to)).collect(),
        Access::Connect { host, .. } if host.is_loopback() => vec![Grant::HostLoopback],
        Access::Connect {
            host,
            port,
            protocol,
        } => NetworkAllowlistEntry::new(HostPattern::from(host.clone()), *port, *protocol)
            .map(Grant::Host)
            .into_iter()
            .collect(),
        Access::Bind { .. } => vec![Grant::HostLoopback],
        Access::Unix {
            address: UnixAddress::Path(path),
            ..
        } => vec![Grant::UnixSocket(path.clone())],
        Access::Unix { .. } => Vec::new(),
    }
}
