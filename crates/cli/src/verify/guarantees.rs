//! Which promise an attempt puts to the test.

use palisade::runner::policy::Guarantee;
use palisade_probes::{Class, Probe};

/// Attempts that outlive their command.
const SURVIVORS: [&str; 2] = ["proc-setsid-survive", "proc-ignore-sigterm"];

/// The promise that an attempt would break; `None` for useful acts, and for limits, which are no guarantee.
pub(super) fn of(probe: &Probe) -> Option<Guarantee> {
    Some(match probe.class {
        Class::Files => Guarantee::WritesOutside,
        Class::Protected => Guarantee::ProtectedPaths,
        Class::Metadata => Guarantee::MetadataOutside,
        Class::Secrets => Guarantee::DeniedReads,
        Class::Network => Guarantee::Network,
        Class::UnixSockets => Guarantee::UnixSockets,
        Class::Processes if SURVIVORS.contains(&probe.name) => Guarantee::TreeKill,
        Class::Processes => Guarantee::ProcessIsolation,
        Class::Devices | Class::Kernel => Guarantee::SystemCalls,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_promise_of_the_default_policy_has_attempts() {
        let tried: Vec<Guarantee> = palisade_probes::all()
            .filter(|probe| probe.is_built() && !probe.is_useful())
            .filter_map(of)
            .collect();
        for guarantee in Guarantee::ALL {
            // Hosts have no mechanism yet, and git's import is tried by `commits`.
            let untried = [Guarantee::NetworkHosts, Guarantee::GitImport];
            assert_eq!(
                tried.contains(&guarantee),
                !untried.contains(&guarantee),
                "{guarantee}"
            );
        }
        for name in SURVIVORS {
            assert!(palisade_probes::find(name).is_some(), "{name}");
        }
    }
}
