//! Which sandbox works here, and which one is wanted.

use palisade_exec_policy::{SandboxablePreference, WorkingBackend};
use palisade_policy::{
    AcceptedLosses, Availability, CanonicalSandboxPolicy, HostFacts, SandboxPolicy,
    SandboxTransformError, SandboxType,
};

use crate::host::Host;

/// The sandbox of this operating system, whether or not it works on this host.
///
/// # Errors
/// There is none for this operating system. That is an error and not "no sandbox": nothing may run by accident.
pub const fn platform_sandbox() -> Result<SandboxType, SandboxTransformError> {
    if cfg!(target_os = "linux") {
        Ok(SandboxType::LinuxLandlock)
    } else if cfg!(target_os = "macos") {
        Ok(SandboxType::MacosSeatbelt)
    } else if cfg!(windows) {
        Ok(SandboxType::WindowsRestrictedToken)
    } else {
        Err(SandboxTransformError::UnavailableSandboxType(
            SandboxType::None,
        ))
    }
}

/// Knows which sandbox works on this host.
#[derive(Clone, Debug)]
pub struct SandboxManager {
    /// Only what says which places a policy means.
    pub(super) host: Host,
    pub(super) accepted: AcceptedLosses,
    availability: Availability,
}

impl SandboxManager {
    /// Looks whether the sandbox of this operating system works here.
    #[must_use]
    pub fn new(host: &Host) -> Self {
        let mut manager = Self::told(host.facts.clone(), look(&host.facts));
        manager.host.other_home = host.other_home.clone();
        // What decides about commands is guarded in these sandboxes as well.
        manager.host.state_dir = host.state_dir.clone();
        manager.host.config_dir = host.config_dir.clone();
        manager.host.runtime_dir = host.runtime_dir.clone();
        manager.host.helper = host.helper.clone();
        manager.host.guarded = host.guarded.clone();
        manager
    }

    /// A manager that is told whether the sandbox of this operating system works.
    #[must_use]
    pub fn told(facts: HostFacts, availability: Availability) -> Self {
        Self {
            host: Host::new(facts),
            accepted: AcceptedLosses::none(),
            availability,
        }
    }

    /// With these losses accepted for every command that it wraps.
    #[must_use]
    pub fn accepting(mut self, accepted: AcceptedLosses) -> Self {
        self.accepted = accepted;
        self
    }

    /// Whether the sandbox of this operating system works here, and if not, why and what would help.
    #[must_use]
    pub const fn availability(&self) -> &Availability {
        &self.availability
    }

    /// The sandbox that works here, if one does.
    #[must_use]
    pub fn working_backend(&self) -> Option<WorkingBackend> {
        match &self.availability {
            Availability::Works => platform_sandbox().ok().and_then(WorkingBackend::new),
            Availability::Missing { .. } => None,
        }
    }

    /// The sandbox that works here.
    pub(super) fn working(&self) -> Result<SandboxType, SandboxTransformError> {
        let platform = platform_sandbox()?;
        match &self.availability {
            Availability::Works => Ok(platform),
            Availability::Missing { .. } => {
                Err(SandboxTransformError::UnavailableSandboxType(platform))
            }
        }
    }

    /// The sandbox of a first attempt under what a person picked.
    ///
    /// This is what is wanted, not what is allowed: whether a tool may have its wish to go without is decided by
    /// [`decide`](palisade_exec_policy::decide()).
    ///
    /// # Errors
    /// [`UnavailableSandboxType`](SandboxTransformError::UnavailableSandboxType): one is wanted and none works.
    pub fn select_initial(
        &self,
        policy: &SandboxPolicy,
        preference: SandboxablePreference,
    ) -> Result<SandboxType, SandboxTransformError> {
        self.select(policy.uses_runtime_sandbox(), preference)
    }

    /// The same for a canonical policy.
    ///
    /// # Errors
    /// As for [`select_initial`](Self::select_initial).
    pub fn select_initial_for_canonical(
        &self,
        policy: &CanonicalSandboxPolicy,
        preference: SandboxablePreference,
    ) -> Result<SandboxType, SandboxTransformError> {
        self.select(policy.uses_runtime_sandbox(), preference)
    }

    fn select(
        &self,
        uses_sandbox: bool,
        preference: SandboxablePreference,
    ) -> Result<SandboxType, SandboxTransformError> {
        match (preference, uses_sandbox) {
            (SandboxablePreference::Forbid, _) | (SandboxablePreference::Auto, false) => {
                Ok(SandboxType::None)
            }
            (SandboxablePreference::Require, _) | (SandboxablePreference::Auto, true) => {
                self.working()
            }
        }
    }
}

#[cfg(all(target_os = "linux", feature = "linux-landlock"))]
fn look(facts: &HostFacts) -> Availability {
    use palisade_policy::Backend as _;
    let host = palisade_linux_landlock::survey::kernel(facts);
    palisade_linux_landlock::LinuxLandlock.availability(&host)
}

#[cfg(all(target_os = "linux", not(feature = "linux-landlock")))]
fn look(_: &HostFacts) -> Availability {
    Availability::Missing {
        why: "this program was built without the Linux sandbox".to_owned(),
        cure: Some("build it with the feature `linux-landlock`".to_owned()),
    }
}

#[cfg(all(target_os = "macos", feature = "seatbelt"))]
fn look(_: &HostFacts) -> Availability {
    use palisade_policy::Backend as _;
    let host = palisade_seatbelt::MacHost::new(palisade_seatbelt::apply::look());
    palisade_seatbelt::Seatbelt.availability(&host)
}

#[cfg(all(target_os = "macos", not(feature = "seatbelt")))]
fn look(_: &HostFacts) -> Availability {
    Availability::Missing {
        why: "this program was built without the macOS sandbox".to_owned(),
        cure: Some("build it with the feature `seatbelt`".to_owned()),
    }
}

/// Every Windows has restricted tokens. Whether one restricts is seen when it is made, before anything runs.
#[cfg(all(windows, feature = "windows-token"))]
fn look(_: &HostFacts) -> Availability {
    Availability::Works
}

#[cfg(all(windows, not(feature = "windows-token")))]
fn look(_: &HostFacts) -> Availability {
    Availability::Missing {
        why: "this program was built without the Windows sandbox".to_owned(),
        cure: Some("build it with the feature `windows-token`".to_owned()),
    }
}

#[cfg(not(any(target_os = "linux", target_os = "macos", windows)))]
fn look(_: &HostFacts) -> Availability {
    Availability::Missing {
        why: "there is no sandbox for this operating system".to_owned(),
        cure: None,
    }
}

#[cfg(test)]
mod tests {
    use palisade_policy::{NetworkAccess, Os, SandboxMode, WorkspaceRoot};

    use super::*;

    fn manager(works: bool) -> SandboxManager {
        let availability = if works {
            Availability::Works
        } else {
            Availability::Missing {
                why: "for a test".to_owned(),
                cure: None,
            }
        };
        SandboxManager::told(HostFacts::new(Os::Linux), availability)
    }

    fn missing() -> Result<SandboxType, SandboxTransformError> {
        Err(SandboxTransformError::UnavailableSandboxType(
            platform_sandbox().unwrap(),
        ))
    }

    fn modes() -> impl Iterator<Item = SandboxPolicy> {
        SandboxMode::ALL
            .into_iter()
            .map(|mode| SandboxPolicy::new(mode, NetworkAccess::Restricted))
    }

    #[test]
    fn platform_sandbox_is_the_one_of_this_system() {
        let expected = match std::env::consts::OS {
            "linux" => Ok(SandboxType::LinuxLandlock),
            "macos" => Ok(SandboxType::MacosSeatbelt),
            "windows" => Ok(SandboxType::WindowsRestrictedToken),
            _ => Err(SandboxTransformError::UnavailableSandboxType(
                SandboxType::None,
            )),
        };
        assert_eq!(platform_sandbox(), expected);
    }

    #[test]
    fn select_initial_forbid_is_none_whatever_works() {
        for works in [true, false] {
            for policy in modes() {
                assert_eq!(
                    manager(works).select_initial(&policy, SandboxablePreference::Forbid),
                    Ok(SandboxType::None)
                );
            }
        }
    }

    #[test]
    fn select_initial_require_is_the_platforms_or_an_error_also_under_full_access() {
        for policy in modes() {
            let require = SandboxablePreference::Require;
            assert_eq!(
                manager(true).select_initial(&policy, require),
                platform_sandbox()
            );
            assert_eq!(manager(false).select_initial(&policy, require), missing());
        }
    }

    #[test]
    fn select_initial_auto_is_the_platforms_iff_the_mode_uses_one_and_an_error_if_it_does_not_work()
    {
        for policy in modes() {
            let auto = SandboxablePreference::Auto;
            let (works, broken) = if policy.uses_runtime_sandbox() {
                (platform_sandbox(), missing())
            } else {
                (Ok(SandboxType::None), Ok(SandboxType::None))
            };
            assert_eq!(manager(true).select_initial(&policy, auto), works);
            assert_eq!(manager(false).select_initial(&policy, auto), broken);
        }
    }

    #[test]
    fn select_initial_for_canonical_agrees_with_the_choice_of_a_person() {
        let cwd = WorkspaceRoot::new(if cfg!(windows) {
            r"C:\srv\app"
        } else {
            "/srv/app"
        })
        .unwrap();
        for works in [true, false] {
            for policy in modes() {
                for preference in SandboxablePreference::ALL {
                    assert_eq!(
                        manager(works).select_initial_for_canonical(
                            &policy.to_canonical_policy(&cwd),
                            preference
                        ),
                        manager(works).select_initial(&policy, preference),
                        "{policy:?} {preference:?}"
                    );
                }
            }
        }
        assert_eq!(
            manager(true).select_initial_for_canonical(
                &CanonicalSandboxPolicy::full_access(),
                SandboxablePreference::Auto
            ),
            Ok(SandboxType::None)
        );
    }

    #[test]
    fn what_works_is_what_is_selected() {
        assert_eq!(
            manager(true)
                .working_backend()
                .map(WorkingBackend::sandbox_type),
            platform_sandbox().ok()
        );
        assert_eq!(manager(false).working_backend(), None);
    }
}
