//! The written form of a policy, before it is checked. Every error names the field that it is about.

use serde::Deserialize;

use crate::canonical::{CanonicalSandboxPolicy, unique};
use crate::error::{Contradiction, PathError, PolicyError, PolicyProblem};
use crate::limits::ResourceLimits;
use crate::network::{NetworkAllowlistEntry, RawEntry};
use crate::path_spec::PathSpec;
use crate::paths::{AbsolutePath, RelativePath};
use crate::raw_path::RawPath;
use crate::rules::{GitAccess, LocalAccess, LoopbackAccess, PathRules, Reopened};
use crate::seccomp::SeccompProfile;
use crate::sensitive::SensitivePath;

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum WirePolicy {
    ReadOnly {
        #[serde(default)]
        network_access: Option<bool>,
        #[serde(default)]
        network_allowlist: Vec<RawEntry>,
        #[serde(default)]
        paths: PathRules,
        #[serde(default)]
        local: LocalAccess,
        #[serde(default)]
        limits_override: Option<ResourceLimits>,
    },
    WorkspaceWrite {
        #[serde(default)]
        writable_roots: Vec<RawPath>,
        #[serde(default)]
        network_access: Option<bool>,
        #[serde(default)]
        network_allowlist: Vec<RawEntry>,
        #[serde(default)]
        sensitive_paths: Option<Vec<WireSensitive>>,
        #[serde(default)]
        resource_limits: ResourceLimits,
        #[serde(default)]
        seccomp_profile: Option<SeccompProfile>,
        #[serde(default = "yes")]
        exclude_tmpdir_env_var: bool,
        #[serde(default = "yes")]
        exclude_slash_tmp: bool,
        #[serde(default)]
        paths: PathRules,
        #[serde(default)]
        local: LocalAccess,
        #[serde(default)]
        limits_override: Option<ResourceLimits>,
    },
    // An empty struct variant, because a unit variant would let unknown fields pass.
    DangerFullAccess {},
    ExternalSandbox {
        description: String,
    },
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct WirePaths {
    protected: Option<Vec<RawPath>>,
    deny_read: Vec<RawPath>,
    read_only: Vec<RawPath>,
    git: GitAccess,
    reopened: Vec<WireReopened>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WireReopened {
    path: RawPath,
    #[serde(default)]
    write: bool,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct WireLocal {
    loopback: LoopbackAccess,
    unix_paths: Vec<RawPath>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WireSensitive {
    path: RawPath,
    #[serde(default = "yes")]
    block_read: bool,
    #[serde(default = "yes")]
    block_write: bool,
}

const fn yes() -> bool {
    true
}

impl TryFrom<WirePolicy> for CanonicalSandboxPolicy {
    type Error = PolicyError;

    fn try_from(wire: WirePolicy) -> Result<Self, PolicyError> {
        match wire {
            WirePolicy::ReadOnly {
                network_access,
                network_allowlist,
                paths,
                local,
                limits_override,
            } => {
                let network_allowlist = allowlist(network_allowlist)?;
                Ok(Self::ReadOnly {
                    network_access: network(network_access, &network_allowlist)?,
                    network_allowlist,
                    paths,
                    local,
                    limits_override,
                })
            }
            WirePolicy::WorkspaceWrite {
                writable_roots,
                network_access,
                network_allowlist,
                sensitive_paths,
                resource_limits,
                seccomp_profile,
                exclude_tmpdir_env_var,
                exclude_slash_tmp,
                paths,
                local,
                limits_override,
            } => {
                let network_allowlist = allowlist(network_allowlist)?;
                let network_access = network(network_access, &network_allowlist)?;
                Ok(Self::WorkspaceWrite {
                    writable_roots: unique(each("writable_roots", writable_roots)?),
                    seccomp_profile: sockets(seccomp_profile, network_access, &network_allowlist)?,
                    network_access,
                    network_allowlist,
                    sensitive_paths: sensitive_paths.map(sensitive).transpose()?,
                    resource_limits,
                    exclude_tmpdir_env_var,
                    exclude_slash_tmp,
                    paths,
                    local,
                    limits_override,
                })
            }
            WirePolicy::DangerFullAccess {} => Ok(Self::DangerFullAccess),
            WirePolicy::ExternalSandbox { description } => {
                Ok(Self::ExternalSandbox { description })
            }
        }
    }
}

/// Whether there is a network: listing hosts implies it, and saying otherwise contradicts the list.
fn network(access: Option<bool>, allowlist: &[NetworkAllowlistEntry]) -> Result<bool, PolicyError> {
    match (access, allowlist) {
        (Some(false), [_, ..]) => Err(PolicyError::at(
            "network_allowlist",
            Contradiction::HostsWithoutNetwork,
        )),
        (Some(access), _) => Ok(access),
        (None, hosts) => Ok(!hosts.is_empty()),
    }
}

/// The profile, which must agree with the network: full network needs sockets, no network must not have them.
fn sockets(
    profile: Option<SeccompProfile>,
    network_access: bool,
    allowlist: &[NetworkAllowlistEntry],
) -> Result<SeccompProfile, PolicyError> {
    let full = network_access && allowlist.is_empty();
    let Some(profile) = profile else {
        let strict = SeccompProfile::strict();
        return Ok(if full { strict.with_network() } else { strict });
    };
    let contradiction = match (full, network_access, profile.allow_network_sockets) {
        (true, _, false) => Contradiction::NetworkWithoutSockets,
        (_, false, true) => Contradiction::SocketsWithoutNetwork,
        _ => return Ok(profile),
    };
    Err(PolicyError::at(
        "seccomp_profile.allow_network_sockets",
        contradiction,
    ))
}

fn allowlist(entries: Vec<RawEntry>) -> Result<Vec<NetworkAllowlistEntry>, PolicyError> {
    each("network_allowlist", entries).map(unique)
}

fn sensitive(entries: Vec<WireSensitive>) -> Result<Vec<SensitivePath>, PolicyError> {
    each_with("sensitive_paths", ".path", entries, |wire| {
        let mut entry = SensitivePath::blocking(PathSpec::try_from(wire.path)?);
        entry.block_read = wire.block_read;
        entry.block_write = wire.block_write;
        Ok::<_, PathError>(entry)
    })
}

impl TryFrom<WirePaths> for PathRules {
    type Error = PolicyError;

    fn try_from(wire: WirePaths) -> Result<Self, PolicyError> {
        let rules = Self::default();
        let rules = match wire.protected {
            Some(protected) => {
                rules.with_protected(each::<_, RelativePath>("paths.protected", protected)?)
            }
            None => rules,
        };
        Ok(rules
            .with_deny_read(each::<_, PathSpec>("paths.deny_read", wire.deny_read)?)
            .with_read_only(each::<_, PathSpec>("paths.read_only", wire.read_only)?)
            .with_git(wire.git)
            .with_reopened(each_with(
                "paths.reopened",
                ".path",
                wire.reopened,
                |wire| {
                    AbsolutePath::try_from(wire.path).map(|path| match wire.write {
                        true => Reopened::write(path),
                        false => Reopened::read(path),
                    })
                },
            )?))
    }
}

impl TryFrom<WireLocal> for LocalAccess {
    type Error = PolicyError;

    fn try_from(wire: WireLocal) -> Result<Self, PolicyError> {
        Ok(Self::default()
            .with_loopback(wire.loopback)
            .with_unix_paths(each::<_, AbsolutePath>(
                "local.unix_paths",
                wire.unix_paths,
            )?))
    }
}

/// Checks every item of a list, naming the one that fails.
fn each<W, T>(field: &str, items: Vec<W>) -> Result<Vec<T>, PolicyError>
where
    T: TryFrom<W>,
    PolicyProblem: From<T::Error>,
{
    each_with(field, "", items, T::try_from)
}

fn each_with<W, T, E>(
    field: &str,
    part: &str,
    items: Vec<W>,
    check: impl Fn(W) -> Result<T, E>,
) -> Result<Vec<T>, PolicyError>
where
    PolicyProblem: From<E>,
{
    items
        .into_iter()
        .enumerate()
        .map(|(i, item)| {
            check(item).map_err(|error| PolicyError::at(format!("{field}[{i}]{part}"), error))
        })
        .collect()
}
