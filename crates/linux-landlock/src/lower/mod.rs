//! From a resolved policy and facts to a plan: pure, so it builds and is tested on every system.

mod areas;
mod caches;
mod full;
mod landlock_tier;
mod limits;
mod mounts;
mod report;

#[cfg(target_os = "linux")]
pub(crate) use caches::homes as homes_of_caches;

use palisade_policy::{
    Availability, Backend, Lowered, LoweringProblem, PolicyError, PrivatePlaces, ResolvedPolicy,
    SandboxType,
};

use crate::host::{LinuxHost, NamespaceSupport};
use crate::plan::{Plan, Tier};

/// Below this, a file outside the writable places can be emptied.
const LOWEST_ABI: u32 = 3;

/// The backend for Linux.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "it has no state")]
pub struct LinuxLandlock;

/// The strongest tier that a host supports; `None` if nothing there is strong enough.
#[must_use]
pub const fn tier(host: &LinuxHost) -> Option<Tier> {
    match (&host.namespaces, host.landlock.abi()) {
        (NamespaceSupport::Works, _) => Some(Tier::Full),
        (_, LOWEST_ABI..) => Some(Tier::Landlock),
        _ => None,
    }
}

/// What a session on this host owns by itself: what a policy must be resolved with before it is lowered.
#[must_use]
pub fn private_places(host: &LinuxHost) -> PrivatePlaces {
    match tier(host) {
        Some(Tier::Full) => {
            let mut places = PrivatePlaces::all();
            places.git = host.overlays;
            if host.overlays {
                places = places.with_overlays(host.places.caches.iter().cloned());
            }
            places
        }
        Some(Tier::Landlock) | None => PrivatePlaces::default(),
    }
}

impl Backend for LinuxLandlock {
    type Host = LinuxHost;
    type Plan = Plan;

    fn sandbox_type(&self) -> SandboxType {
        SandboxType::LinuxLandlock
    }

    fn availability(&self, host: &LinuxHost) -> Availability {
        match tier(host) {
            Some(_) => Availability::Works,
            None => {
                let (why, cure) = nothing_works(host);
                Availability::Missing { why, cure }
            }
        }
    }

    fn lower(
        &self,
        policy: &ResolvedPolicy,
        host: &LinuxHost,
    ) -> Result<Lowered<Plan>, PolicyError> {
        if !policy.canonical().uses_runtime_sandbox() {
            return Err(PolicyError::at("type", LoweringProblem::NothingToEnforce));
        }
        let Some(tier) = tier(host) else {
            let (why, _) = nothing_works(host);
            return Err(PolicyError::at(
                "type",
                LoweringProblem::NoMechanism { why },
            ));
        };
        // The oracle and the plan must speak of the same session.
        if policy.context().private != private_places(host) {
            return Err(PolicyError::at(
                "private",
                LoweringProblem::OtherPrivatePlaces,
            ));
        }
        let mut areas = areas::collect(policy, &host.places)?;
        if tier == Tier::Full {
            areas.hide_other_procs(&host.places);
        }
        let (plan, enforcement) = match tier {
            Tier::Full => full::lower(policy, host, &areas)?,
            Tier::Landlock => landlock_tier::lower(policy, host, &areas)?,
        };
        Ok(Lowered::new(policy, plan, enforcement))
    }
}

/// Why no tier works, and what would help.
fn nothing_works(host: &LinuxHost) -> (String, Option<String>) {
    let (namespaces, cure) = match &host.namespaces {
        NamespaceSupport::Works => ("namespaces work".to_owned(), None),
        NamespaceSupport::Refused { why, cure } => {
            (format!("no user namespaces ({why})"), cure.clone())
        }
    };
    let landlock = match &host.landlock {
        crate::host::LandlockSupport::Abi(abi) => {
            format!("Landlock has ABI {abi}, and ABI {LOWEST_ABI} (Linux 6.2) is needed")
        }
        crate::host::LandlockSupport::Missing { why } => format!("no Landlock ({why})"),
    };
    (format!("{namespaces}; {landlock}"), cure)
}
