//! Limits on resources: by what each is kept on this host, and how well.

use palisade_policy::{Enforcement, LimitKind, LimitLevel, ResolvedPolicy};

use crate::host::{CgroupSupport, LinuxHost};
use crate::plan::{LimitMechanism, Limits, Tier};

/// The limits of a policy, and the report with a line for each that is set.
pub(super) fn lower(
    policy: &ResolvedPolicy,
    host: &LinuxHost,
    tier: Tier,
    mut report: Enforcement,
) -> (Limits, Enforcement) {
    let asked = policy.canonical().resource_limits();
    let mut limits = Limits::default();
    if asked.cpu_time_secs > 0 {
        limits.cpu_seconds = asked.cpu_time_secs;
        report = report.with_limit(LimitKind::Cpu, LimitLevel::PerProcess);
    }
    if asked.max_disk_mb > 0 {
        limits.file_size = asked.max_disk_mb.saturating_mul(1 << 20);
        report = report.with_limit(LimitKind::Disk, LimitLevel::PerProcess);
    }
    if asked.max_pids > 0 {
        // `RLIMIT_NPROC` counts within a user namespace of ours, but the superuser is exempt; an unknown user may be it.
        let ordinary = policy.context().facts.uid.is_some_and(|uid| uid != 0);
        let mechanism = if tier == Tier::Full && ordinary {
            LimitMechanism::Rlimit
        } else if host.cgroups.pids.is_some() {
            LimitMechanism::Cgroup
        } else {
            LimitMechanism::Sampled
        };
        limits.pids = Some((asked.max_pids, mechanism));
        report = report.with_limit(LimitKind::Pids, level(mechanism));
    }
    if asked.max_memory_mb > 0 {
        let mechanism = match host.cgroups.memory {
            Some(_) => LimitMechanism::Cgroup,
            None => LimitMechanism::Sampled,
        };
        let bytes = asked.max_memory_mb.saturating_mul(1 << 20);
        limits.memory = Some((bytes, mechanism));
        report = report.with_limit(LimitKind::Memory, level(mechanism));
    }
    if asked.timeout_secs > 0 {
        // The caller keeps the clock and ends the session: as good as ending everything in it.
        let level = match report.level(palisade_policy::Guarantee::TreeKill) {
            palisade_policy::Level::Enforced => LimitLevel::Enforced,
            _ => LimitLevel::PerProcess,
        };
        report = report.with_limit(LimitKind::Wall, level);
    }
    (limits, report)
}

const fn level(mechanism: LimitMechanism) -> LimitLevel {
    match mechanism {
        LimitMechanism::Rlimit | LimitMechanism::Cgroup => LimitLevel::Enforced,
        LimitMechanism::Sampled => LimitLevel::Sampled,
    }
}

/// The directories for the control groups that the limits need.
pub(super) fn groups(host: &LinuxHost, limits: &Limits) -> CgroupSupport {
    CgroupSupport {
        pids: matches!(limits.pids, Some((_, LimitMechanism::Cgroup)))
            .then(|| host.cgroups.pids.clone())
            .flatten(),
        memory: matches!(limits.memory, Some((_, LimitMechanism::Cgroup)))
            .then(|| host.cgroups.memory.clone())
            .flatten(),
    }
}
