//! The canonical policy: everything a policy says, and no fact about the host.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::host::{HostFacts, Os};
use crate::limits::ResourceLimits;
use crate::network::NetworkAllowlistEntry;
use crate::paths::{AbsolutePath, WorkspaceRoot};
use crate::rules::{LocalAccess, PathRules};
use crate::seccomp::SeccompProfile;
use crate::sensitive::SensitivePath;
use crate::wire::WirePolicy;

/// The one form of a policy that is judged and enforced.
///
/// The enforced variants cannot be written as literals outside this crate: they come from the constructors, from the
/// `with_*` setters or through serde, which refuses unknown fields, unusable paths and contradictions.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", try_from = "WirePolicy")]
#[expect(
    clippy::exhaustive_enums,
    reason = "every backend must decide what a new mode means to it"
)]
pub enum CanonicalSandboxPolicy {
    /// Reads everything but secrets, changes nothing on the host.
    #[non_exhaustive]
    ReadOnly {
        /// Whether there is a network at all.
        network_access: bool,
        /// If not empty, exactly these hosts.
        network_allowlist: Vec<NetworkAllowlistEntry>,
        /// What holds for particular paths.
        paths: PathRules,
        /// What may be reached on the same machine.
        local: LocalAccess,
        /// Limits in place of those of the mode.
        limits_override: Option<ResourceLimits>,
    },
    /// May also write in roots that the policy names, and in the directory that it is resolved for.
    #[non_exhaustive]
    WorkspaceWrite {
        /// Directories that may be written.
        writable_roots: Vec<WorkspaceRoot>,
        /// Whether there is a network at all.
        network_access: bool,
        /// If not empty, exactly these hosts.
        network_allowlist: Vec<NetworkAllowlistEntry>,
        /// Secrets; `None` are the defaults, an empty list is no guard at all.
        sensitive_paths: Option<Vec<SensitivePath>>,
        /// Limits of this policy.
        resource_limits: ResourceLimits,
        /// Denied system calls.
        seccomp_profile: SeccompProfile,
        /// Whether `$TMPDIR` is left out of the writable roots.
        exclude_tmpdir_env_var: bool,
        /// Whether the host's `/tmp` is left out of the writable roots.
        exclude_slash_tmp: bool,
        /// What holds for particular paths.
        paths: PathRules,
        /// What may be reached on the same machine.
        local: LocalAccess,
        /// Limits in place of `resource_limits`.
        limits_override: Option<ResourceLimits>,
    },
    /// No sandbox at all.
    DangerFullAccess,
    /// Something outside Palisade confines the whole process.
    ExternalSandbox {
        /// Who, in the host's words.
        description: String,
    },
}

/// What a policy says about the network of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "off, listed or on: there is no fourth"
)]
pub enum NetworkScope<'a> {
    /// Nothing.
    Off,
    /// Exactly these hosts; never empty.
    Only(&'a [NetworkAllowlistEntry]),
    /// Everything.
    Full,
}

impl CanonicalSandboxPolicy {
    /// Reads everything but secrets; no network.
    #[must_use]
    pub fn read_only() -> Self {
        Self::read_only_with_network([])
    }

    /// The same with these hosts; an empty list is no network.
    #[must_use]
    pub fn read_only_with_network(
        allowlist: impl IntoIterator<Item = NetworkAllowlistEntry>,
    ) -> Self {
        let network_allowlist = unique(allowlist);
        Self::ReadOnly {
            network_access: !network_allowlist.is_empty(),
            network_allowlist,
            paths: PathRules::default(),
            local: LocalAccess::default(),
            limits_override: None,
        }
    }

    /// The same with the whole network.
    #[must_use]
    pub fn read_only_with_full_network() -> Self {
        Self::ReadOnly {
            network_access: true,
            network_allowlist: Vec::new(),
            paths: PathRules::default(),
            local: LocalAccess::default(),
            limits_override: None,
        }
    }

    /// Writes in these roots; no network, default secrets, default limits, strict system calls, no host `/tmp`.
    #[must_use]
    pub fn workspace_write(roots: impl IntoIterator<Item = WorkspaceRoot>) -> Self {
        Self::workspace_write_with_network(roots, [])
    }

    /// The same with these hosts; an empty list is no network.
    #[must_use]
    pub fn workspace_write_with_network(
        roots: impl IntoIterator<Item = WorkspaceRoot>,
        allowlist: impl IntoIterator<Item = NetworkAllowlistEntry>,
    ) -> Self {
        Self::workspace_write_full(
            roots,
            allowlist,
            None,
            ResourceLimits::default(),
            SeccompProfile::strict(),
        )
    }

    /// [`workspace_write`](Self::workspace_write) with these secrets in place of the defaults.
    #[must_use]
    pub fn workspace_write_with_sensitive_paths(
        roots: impl IntoIterator<Item = WorkspaceRoot>,
        sensitive: impl IntoIterator<Item = SensitivePath>,
    ) -> Self {
        Self::workspace_write_full(
            roots,
            [],
            Some(sensitive.into_iter().collect()),
            ResourceLimits::default(),
            SeccompProfile::strict(),
        )
    }

    /// [`workspace_write`](Self::workspace_write) without any guard of secrets.
    #[must_use]
    pub fn workspace_write_no_sensitive_blocking(
        roots: impl IntoIterator<Item = WorkspaceRoot>,
    ) -> Self {
        Self::workspace_write_with_sensitive_paths(roots, [])
    }

    /// [`workspace_write`](Self::workspace_write) with these limits.
    #[must_use]
    pub fn workspace_write_with_limits(
        roots: impl IntoIterator<Item = WorkspaceRoot>,
        limits: ResourceLimits,
    ) -> Self {
        Self::workspace_write_full(roots, [], None, limits, SeccompProfile::strict())
    }

    /// Everything spelled out. The network is full only if the list is empty and the profile allows sockets.
    #[must_use]
    pub fn workspace_write_full(
        roots: impl IntoIterator<Item = WorkspaceRoot>,
        allowlist: impl IntoIterator<Item = NetworkAllowlistEntry>,
        sensitive: Option<Vec<SensitivePath>>,
        limits: ResourceLimits,
        seccomp: SeccompProfile,
    ) -> Self {
        let network_allowlist = unique(allowlist);
        Self::WorkspaceWrite {
            writable_roots: unique(roots),
            network_access: !network_allowlist.is_empty() || seccomp.allow_network_sockets,
            network_allowlist,
            sensitive_paths: sensitive,
            resource_limits: limits,
            seccomp_profile: seccomp,
            exclude_tmpdir_env_var: true,
            exclude_slash_tmp: true,
            paths: PathRules::default(),
            local: LocalAccess::default(),
            limits_override: None,
        }
    }

    /// No sandbox at all.
    #[must_use]
    pub const fn full_access() -> Self {
        Self::DangerFullAccess
    }

    /// A sandbox that somebody else provides.
    #[must_use]
    pub fn external(description: impl Into<String>) -> Self {
        Self::ExternalSandbox {
            description: description.into(),
        }
    }

    /// With these rules for particular paths. Nothing changes where nothing is enforced.
    #[must_use]
    pub fn with_paths(mut self, rules: PathRules) -> Self {
        if let Self::ReadOnly { paths, .. } | Self::WorkspaceWrite { paths, .. } = &mut self {
            *paths = rules;
        }
        self
    }

    /// With this access to the same machine. Nothing changes where nothing is enforced.
    #[must_use]
    pub fn with_local(mut self, access: LocalAccess) -> Self {
        if let Self::ReadOnly { local, .. } | Self::WorkspaceWrite { local, .. } = &mut self {
            *local = access;
        }
        self
    }

    /// With these limits in place of those of the mode. Nothing changes where nothing is enforced.
    #[must_use]
    pub fn with_limits_override(mut self, limits: Option<ResourceLimits>) -> Self {
        if let Self::ReadOnly {
            limits_override, ..
        }
        | Self::WorkspaceWrite {
            limits_override, ..
        } = &mut self
        {
            *limits_override = limits;
        }
        self
    }

    /// With the host's `$TMPDIR` and `/tmp` writable or not. Only workspace-write has such a choice.
    #[must_use]
    pub fn with_host_tmp(mut self, tmpdir: bool, slash_tmp: bool) -> Self {
        if let Self::WorkspaceWrite {
            exclude_tmpdir_env_var,
            exclude_slash_tmp,
            ..
        } = &mut self
        {
            *exclude_tmpdir_env_var = !tmpdir;
            *exclude_slash_tmp = !slash_tmp;
        }
        self
    }

    /// What the policy says about the network of the host. An empty allowlist is never open by itself: it is open
    /// only where full network was asked for.
    #[must_use]
    pub fn network(&self) -> NetworkScope<'_> {
        match self {
            Self::ReadOnly {
                network_access,
                network_allowlist,
                ..
            }
            | Self::WorkspaceWrite {
                network_access,
                network_allowlist,
                ..
            } => match (network_access, network_allowlist.as_slice()) {
                (false, _) => NetworkScope::Off,
                (true, []) => NetworkScope::Full,
                (true, hosts) => NetworkScope::Only(hosts),
            },
            Self::DangerFullAccess | Self::ExternalSandbox { .. } => NetworkScope::Full,
        }
    }

    /// Whether the whole network is open.
    #[must_use]
    pub fn has_full_network(&self) -> bool {
        self.network() == NetworkScope::Full
    }

    /// Whether a backend of Palisade has to enforce this policy.
    #[must_use]
    pub const fn uses_runtime_sandbox(&self) -> bool {
        match self {
            Self::ReadOnly { .. } | Self::WorkspaceWrite { .. } => true,
            Self::DangerFullAccess | Self::ExternalSandbox { .. } => false,
        }
    }

    /// The secrets that are guarded: explicit ones, or the defaults of this host.
    #[must_use]
    pub fn sensitive_paths(&self, facts: &HostFacts) -> Cow<'_, [SensitivePath]> {
        match self {
            Self::WorkspaceWrite {
                sensitive_paths: Some(explicit),
                ..
            } => Cow::Borrowed(explicit),
            Self::ReadOnly { .. }
            | Self::WorkspaceWrite {
                sensitive_paths: None,
                ..
            } => Cow::Owned(SensitivePath::defaults(facts)),
            Self::DangerFullAccess | Self::ExternalSandbox { .. } => Cow::Borrowed(&[]),
        }
    }

    /// The directories that may be written, before nested ones are merged: those of the policy, the directory that it
    /// is resolved for, and the temporary directories of the host unless they are excluded.
    #[must_use]
    pub fn writable_roots(&self, cwd: &WorkspaceRoot, facts: &HostFacts) -> Vec<AbsolutePath> {
        let Self::WorkspaceWrite {
            writable_roots,
            exclude_tmpdir_env_var,
            exclude_slash_tmp,
            ..
        } = self
        else {
            return Vec::new();
        };
        let tmpdir = (!exclude_tmpdir_env_var)
            .then(|| facts.tmpdir.clone())
            .flatten();
        // On macOS `/tmp` is a link, and paths are judged resolved; Windows has no such directory.
        let slash_tmp = match facts.os {
            Os::Macos => "/private/tmp",
            Os::Linux | Os::Windows => "/tmp",
        };
        let slash_tmp = (!exclude_slash_tmp)
            .then(|| AbsolutePath::new(slash_tmp).ok())
            .flatten();
        unique(
            writable_roots
                .iter()
                .chain([cwd])
                .map(|root| root.path().clone())
                .chain(tmpdir)
                .chain(slash_tmp),
        )
    }

    /// The limits of a command under this policy.
    #[must_use]
    pub fn resource_limits(&self) -> ResourceLimits {
        match self {
            Self::ReadOnly {
                limits_override, ..
            } => limits_override.unwrap_or(ResourceLimits::moderate()),
            Self::WorkspaceWrite {
                limits_override,
                resource_limits,
                ..
            } => limits_override.unwrap_or(*resource_limits),
            Self::DangerFullAccess | Self::ExternalSandbox { .. } => ResourceLimits::unlimited(),
        }
    }

    /// The system calls that are denied under this policy.
    #[must_use]
    pub fn seccomp_profile(&self) -> SeccompProfile {
        match self {
            Self::ReadOnly {
                network_access: false,
                ..
            } => SeccompProfile::strict(),
            Self::ReadOnly {
                network_access: true,
                ..
            } => SeccompProfile::strict().with_network(),
            Self::WorkspaceWrite {
                seccomp_profile, ..
            } => seccomp_profile.clone(),
            Self::DangerFullAccess | Self::ExternalSandbox { .. } => SeccompProfile::permissive(),
        }
    }

    /// What the policy says about particular paths and about local sockets; `None` where nothing is enforced.
    #[must_use]
    pub const fn rules(&self) -> Option<(&PathRules, &LocalAccess)> {
        match self {
            Self::ReadOnly { paths, local, .. } | Self::WorkspaceWrite { paths, local, .. } => {
                Some((paths, local))
            }
            Self::DangerFullAccess | Self::ExternalSandbox { .. } => None,
        }
    }
}

impl Default for CanonicalSandboxPolicy {
    fn default() -> Self {
        Self::read_only()
    }
}

/// Each item once, in the order of first appearance.
pub(crate) fn unique<T: Clone + Ord>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    /// Among so few, looking at all of them is quicker, and needs no memory.
    const FEW: usize = 16;
    let mut unique = Vec::new();
    let mut known = BTreeSet::new();
    for item in items {
        let new = match unique.len() {
            ..FEW => !unique.contains(&item),
            FEW.. => {
                if known.is_empty() {
                    known.extend(unique.iter().cloned());
                }
                known.insert(item.clone())
            }
        };
        if new {
            unique.push(item);
        }
    }
    unique
}
