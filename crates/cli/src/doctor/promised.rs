//! What the default policy promises, guarantee by guarantee, and what of it this host keeps.

use palisade::runner::policy::{Enforcement, Guarantee, Level, LimitKind, LimitLevel};
use serde::Serialize;

/// One guarantee.
#[derive(Debug, Serialize)]
pub(super) struct Promise {
    pub(super) name: &'static str,
    pub(super) level: Level,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) mechanism: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) why: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cure: Option<String>,
}

/// One limit.
#[derive(Debug, Serialize)]
pub(super) struct Limit {
    pub(super) name: LimitKind,
    pub(super) level: LimitLevel,
}

/// What becomes of each promise.
pub(super) fn promises(promised: &[Guarantee], enforcement: Option<&Enforcement>) -> Vec<Promise> {
    promised
        .iter()
        .map(|guarantee| {
            let measure = enforcement.and_then(|enforcement| enforcement.measure(*guarantee));
            Promise {
                name: guarantee.name(),
                level: measure.map_or(Level::NotEnforced, |measure| measure.level),
                mechanism: measure.map(|measure| measure.mechanism.clone()),
                why: measure.and_then(|measure| measure.why.clone()),
                cure: measure.and_then(|measure| measure.cure.clone()),
            }
        })
        .collect()
}

/// How each limit is kept.
pub(super) fn limits(enforcement: Option<&Enforcement>) -> Vec<Limit> {
    let kinds = [
        LimitKind::Memory,
        LimitKind::Pids,
        LimitKind::Disk,
        LimitKind::Cpu,
        LimitKind::Wall,
    ];
    kinds
        .into_iter()
        .map(|name| Limit {
            name,
            level: enforcement.map_or(LimitLevel::NotEnforced, |known| known.limit(name)),
        })
        .collect()
}
