//! What holds the processes together, and how well each limit is kept.

use palisade_policy::{Enforcement, LimitKind, LimitLevel, ResolvedPolicy};

use crate::plan::{JobPlan, UiLimit};

/// The job for a policy, and the report with a line for each limit that is set.
pub(super) fn plan(policy: &ResolvedPolicy, mut report: Enforcement) -> (JobPlan, Enforcement) {
    let asked = policy.canonical().resource_limits();
    let set = |value: u64| (value > 0).then_some(value);
    if asked.max_memory_mb > 0 {
        report = report.with_limit(LimitKind::Memory, LimitLevel::Enforced);
    }
    if asked.max_pids > 0 {
        report = report.with_limit(LimitKind::Pids, LimitLevel::Enforced);
    }
    if asked.cpu_time_secs > 0 {
        report = report.with_limit(LimitKind::Cpu, LimitLevel::Enforced);
    }
    if asked.max_disk_mb > 0 {
        report = report.with_limit(LimitKind::Disk, LimitLevel::NotEnforced);
    }
    if asked.timeout_secs > 0 {
        // The caller keeps the clock and ends the job: as good as ending everything in it.
        report = report.with_limit(LimitKind::Wall, LimitLevel::Enforced);
    }
    let job = JobPlan {
        kill_on_close: true,
        no_breakaway: true,
        active_processes: (asked.max_pids > 0).then_some(asked.max_pids),
        job_memory: set(asked.max_memory_mb).map(|megabytes| megabytes.saturating_mul(1 << 20)),
        cpu_seconds: set(asked.cpu_time_secs),
        ui_limits: UiLimit::ALL.to_vec(),
    };
    (job, report)
}
