//! A policy lowered for this kernel, with the survey of the tree that is really there.

use palisade_linux_landlock::host::NamespaceSupport;
use palisade_linux_landlock::seccomp::Arch;
use palisade_linux_landlock::survey::{self, SurveyOptions};
use palisade_linux_landlock::{LinuxHost, LinuxLandlock, Plan, Tier, private_places};
use palisade_policy::{
    AcceptedLosses, Backend as _, CanonicalSandboxPolicy, Enforcement, GitAccess, Guarantee,
    NetworkScope, Os, ResolvedPolicy,
};

use crate::stage::Stage;

pub(crate) const TIERS: [Tier; 2] = [Tier::Full, Tier::Landlock];

/// A policy and what it came to.
pub(crate) struct Lowered {
    pub(crate) policy: ResolvedPolicy,
    pub(crate) plan: Plan,
    pub(crate) enforcement: Enforcement,
}

/// `None` where the policy makes no sense on this tree: a root in a guarded place or through a link, for example.
pub(crate) fn lower(
    stage: &Stage,
    policy: &CanonicalSandboxPolicy,
    tier: Tier,
) -> Result<Option<Lowered>, String> {
    lower_for(stage, policy, tier, None)
}

/// The same, for another processor if one is given.
pub(crate) fn lower_for(
    stage: &Stage,
    policy: &CanonicalSandboxPolicy,
    tier: Tier,
    arch: Option<Arch>,
) -> Result<Option<Lowered>, String> {
    let mut host = host(stage, tier);
    host.arch = arch.unwrap_or(host.arch);
    let context = stage.context(Os::Linux).with_private(private_places(&host));
    let Ok(policy) = policy.resolve(&context) else {
        return Ok(None);
    };
    survey::look(&mut host, &policy, &SurveyOptions::launch());
    let Ok(lowered) = LinuxLandlock.lower(&policy, &host) else {
        return Ok(None);
    };
    let (plan, enforcement) = lowered
        .admit(&known_losses(&policy, tier))
        .map_err(|refusal| format!("{tier:?}: {refusal}"))?;
    Ok(Some(Lowered {
        policy,
        plan,
        enforcement,
    }))
}

/// What this machine supports, or the same without namespaces.
fn host(stage: &Stage, tier: Tier) -> LinuxHost {
    let mut host = survey::kernel(&stage.context(Os::Linux).facts);
    if tier == Tier::Landlock {
        host.namespaces = NamespaceSupport::Refused {
            why: "emulated".to_owned(),
            cure: None,
        };
    }
    host
}

/// What a report may lose; whatever else is lost would be compared with nothing, and is a failure.
fn known_losses(policy: &ResolvedPolicy, tier: Tier) -> AcceptedLosses {
    let canonical = policy.canonical();
    let commits = canonical
        .rules()
        .is_some_and(|(rules, _)| rules.git == GitAccess::Commit);
    let logs = canonical.seccomp_profile().log_only;
    let without_namespaces = tier == Tier::Landlock;
    let known = |guarantee: &Guarantee| match guarantee {
        // Links that lead nowhere, patterns with too many matches, denied paths inside roots.
        Guarantee::ProtectedPaths | Guarantee::DeniedReads => true,
        Guarantee::MetadataOutside | Guarantee::ProcessIsolation => without_namespaces,
        Guarantee::GitImport => commits,
        Guarantee::NetworkHosts => matches!(canonical.network(), NetworkScope::Only(_)),
        Guarantee::Network => without_namespaces && logs,
        Guarantee::UnixSockets => {
            without_namespaces && (logs || canonical.network() == NetworkScope::Full)
        }
        Guarantee::SystemCalls => logs,
        Guarantee::WritesOutside | Guarantee::TreeKill => false,
    };
    Guarantee::ALL.into_iter().filter(known).collect()
}
