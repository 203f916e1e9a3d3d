//! What the kernel of a Linux host offers.

use palisade::runner::host::Host;
use palisade::runner::policy::{Guarantee, Level, LimitKind, LimitLevel};
use palisade_linux_landlock::host::{LandlockSupport, NamespaceSupport};
use palisade_linux_landlock::survey;

use super::finding::Finding;
use super::profile;
use super::trial::Trial;

/// What the sandbox needs at least where namespaces do not work.
const LEAST_ABI: u32 = 3;
/// From this one on, signals and abstract sockets are scoped.
const SCOPES_ABI: u32 = 6;

/// What the kernel offers.
pub(super) fn findings(host: &Host, trial: &Trial) -> Vec<Option<Finding>> {
    let found = survey::kernel(&host.facts);
    vec![
        Some(kernel()),
        Some(landlock(&found.landlock)),
        Some(seccomp(trial)),
        Some(namespaces(&found.namespaces, trial)),
        apparmor(profile::is_restricted(), trial),
        Some(cgroups(trial)),
    ]
}

fn kernel() -> Finding {
    let name = rustix::system::uname();
    Finding::fine(
        "kernel",
        format!(
            "{} {} {}",
            name.sysname().to_string_lossy(),
            name.release().to_string_lossy(),
            name.machine().to_string_lossy()
        ),
    )
}

fn landlock(support: &LandlockSupport) -> Finding {
    match support {
        LandlockSupport::Abi(abi) if *abi >= SCOPES_ABI => {
            Finding::fine("landlock", format!("ABI {abi}"))
        }
        LandlockSupport::Abi(abi) if *abi >= LEAST_ABI => {
            Finding::fine("landlock", format!("ABI {abi}, the second wall behind namespaces"))
        }
        LandlockSupport::Abi(abi) => Finding::gap("landlock", format!("ABI {abi}"))
            .costs("no second wall behind namespaces; without namespaces nothing runs")
            .mended_by("a kernel from 6.2 on"),
        LandlockSupport::Missing { why } => Finding::gap("landlock", format!("missing: {why}"))
            .costs("no second wall behind namespaces; without namespaces nothing runs")
            .mended_by("add `landlock` to the list lsm= of the kernel's command line; see /sys/kernel/security/lsm"),
        _ => Finding::gap("landlock", "this version does not know what it offers"),
    }
}

fn seccomp(trial: &Trial) -> Finding {
    let level = trial
        .result
        .as_ref()
        .map(|known| known.level(Guarantee::SystemCalls));
    match level {
        Ok(Level::Enforced) => Finding::fine("seccomp", "filters system calls"),
        _ => match std::fs::read_to_string("/proc/sys/kernel/seccomp/actions_avail") {
            Ok(actions) if actions.contains("errno") => Finding::fine(
                "seccomp",
                "the kernel has it; no sandbox was set up to try it",
            ),
            _ => Finding::gap("seccomp", "the kernel has no filter of system calls")
                .costs("system-calls, and with it everything: nothing runs")
                .mended_by("a kernel with CONFIG_SECCOMP_FILTER"),
        },
    }
}

/// Whether they work is what setting the sandbox up has shown.
fn namespaces(support: &NamespaceSupport, trial: &Trial) -> Finding {
    if trial.has_namespaces() {
        return Finding::fine(
            "namespaces",
            "work from end to end: a sandbox was set up in them",
        );
    }
    let costs = "protected-paths, metadata-outside, process-isolation";
    match support {
        NamespaceSupport::Refused { why, cure } => {
            let finding = Finding::gap("namespaces", why).costs(costs);
            match cure {
                Some(cure) => finding.mended_by(remedy_of(why, cure)),
                None => finding,
            }
        }
        _ => {
            let why = match &trial.result {
                Err(error) => error.lines().next().unwrap_or_default().to_owned(),
                Ok(known) => {
                    let measure = known.measure(Guarantee::ProtectedPaths);
                    let why = measure.and_then(|measure| measure.why.clone());
                    why.unwrap_or_else(|| "they do not work here".to_owned())
                }
            };
            Finding::gap("namespaces", why).costs(costs)
        }
    }
}

/// The line to copy for a switch of the kernel that is off.
fn remedy_of(why: &str, cure: &str) -> String {
    for (switch, line) in [
        (
            "user.max_user_namespaces",
            "sudo sysctl -w user.max_user_namespaces=15000",
        ),
        (
            "kernel.unprivileged_userns_clone",
            "sudo sysctl -w kernel.unprivileged_userns_clone=1",
        ),
    ] {
        if why.contains(switch) {
            return line.to_owned();
        }
    }
    cure.to_owned()
}

fn apparmor(restricted: bool, trial: &Trial) -> Option<Finding> {
    if !restricted {
        return None;
    }
    Some(match trial.has_namespaces() {
        true => Finding::fine(
            "apparmor",
            "restricts user namespaces, and lets this program have them",
        ),
        false => Finding::gap(
            "apparmor",
            "restricts user namespaces to programs with a profile",
        )
        .costs("protected-paths, metadata-outside, process-isolation")
        .mended_by("sudo palisade setup --apply"),
    })
}

fn cgroups(trial: &Trial) -> Finding {
    let Ok(enforcement) = &trial.result else {
        return Finding::gap("cgroups", "not tried: no sandbox was set up");
    };
    let weak: Vec<&str> = [(LimitKind::Memory, "memory"), (LimitKind::Pids, "pids")]
        .into_iter()
        .filter(|(limit, _)| enforcement.limit(*limit) < LimitLevel::Enforced)
        .map(|(_, name)| name)
        .collect();
    match weak.is_empty() {
        true => Finding::fine("cgroups", "limits for all processes of a command together"),
        false => Finding::gap("cgroups", "no group of this user's can hold a command")
            .costs(format!(
                "limits on {} are kept for each process or by looking, not for all together",
                weak.join(" and ")
            ))
            .mended_by(
                "a container or service whose cgroup v2 is delegated with these controllers",
            ),
    }
}

#[cfg(test)]
mod tests {
    use palisade::runner::policy::{Enforcement, Measure};

    use super::*;

    fn trial(namespaces: bool) -> Trial {
        let mut enforcement = Enforcement::new();
        for guarantee in Guarantee::ALL {
            let measure = match namespaces || guarantee == Guarantee::SystemCalls {
                true => Measure::enforced("tested"),
                false => Measure::missing("AppArmor said no"),
            };
            enforcement = enforcement.with(guarantee, measure);
        }
        Trial {
            promised: Guarantee::ALL.to_vec(),
            result: Ok(enforcement),
        }
    }

    #[test]
    fn an_apparmor_that_restricts_is_mended_by_a_profile_and_nothing_wider() {
        let found = apparmor(true, &trial(false)).unwrap();
        assert_eq!(found.remedy.as_deref(), Some("sudo palisade setup --apply"));
        assert!(found.cost.unwrap().contains("protected-paths"));
        assert_eq!(apparmor(true, &trial(true)).unwrap().remedy, None);
        assert_eq!(apparmor(false, &trial(false)), None);
    }

    #[test]
    fn a_switch_that_is_off_is_mended_by_that_switch() {
        let refused = NamespaceSupport::Refused {
            why: "user.max_user_namespaces is 0".to_owned(),
            cure: Some("raise it".to_owned()),
        };
        let found = namespaces(&refused, &trial(false));
        assert_eq!(
            found.remedy.as_deref(),
            Some("sudo sysctl -w user.max_user_namespaces=15000")
        );
        // What was seen to work works, whatever a file says.
        let works = namespaces(&refused, &trial(true));
        assert_eq!(works.remedy, None);
        let why = namespaces(&NamespaceSupport::Works, &trial(false)).says;
        assert_eq!(why, "AppArmor said no");
    }

    #[test]
    fn a_landlock_that_is_missing_or_old_is_a_gap() {
        let missing = LandlockSupport::Missing {
            why: "it is turned off at boot".to_owned(),
        };
        assert!(landlock(&missing).remedy.unwrap().contains("lsm="));
        assert!(landlock(&LandlockSupport::Abi(2)).cost.is_some());
        assert!(landlock(&LandlockSupport::Abi(3)).cost.is_none());
    }
}
