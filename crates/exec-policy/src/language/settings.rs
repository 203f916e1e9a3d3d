//! The settings in force, each with the place that set it.

use std::collections::{BTreeMap, HashSet};
use std::fmt;

use palisade_policy::{GitAccess, NetworkAllowlistEntry, PathRules, PathSpec, ResourceLimits};

use super::model::{DefaultDecision, Injection, LimitsSpec, Origin, Preset};
use crate::decision::AskForApproval;
use crate::decision::RuleDecision;

/// The project, as a writable root.
pub(crate) const PROJECT: &str = ".";

/// A value, and who set it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Setting<T> {
    /// The value in force.
    pub value: T,
    /// Where it stands; `None` if nobody wrote it.
    pub origin: Option<Origin>,
}

impl<T> Setting<T> {
    pub(crate) const fn unwritten(value: T) -> Self {
        Self {
            value,
            origin: None,
        }
    }

    pub(crate) fn set(&mut self, value: T, origin: Option<&Origin>) {
        *self = Self {
            value,
            origin: origin.cloned(),
        };
    }
}

/// The network in force.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "off, listed or on: there is no fourth"
)]
pub enum NetworkSetting {
    /// Nothing.
    Off,
    /// Exactly these hosts; never empty.
    Only(Vec<NetworkAllowlistEntry>),
    /// Everything.
    Full,
}

impl NetworkSetting {
    /// Exactly these hosts; none of them is no network.
    #[must_use]
    pub fn only(hosts: Vec<NetworkAllowlistEntry>) -> Self {
        match hosts.is_empty() {
            true => Self::Off,
            false => Self::Only(hosts),
        }
    }

    /// Whether an entry opens nothing that is not open already.
    #[must_use]
    pub fn holds(&self, entry: &NetworkAllowlistEntry) -> bool {
        match self {
            Self::Off => false,
            Self::Only(hosts) => hosts.contains(entry),
            Self::Full => true,
        }
    }

    /// What this opens and the other does not, in words; empty if there is nothing.
    pub(crate) fn beyond(&self, other: &Self) -> String {
        match (self, other) {
            (Self::Off, _) | (_, Self::Full) => String::new(),
            (Self::Full, _) => "`full`".to_owned(),
            (Self::Only(hosts), other) => listed(hosts.iter().filter(|entry| !other.holds(entry))),
        }
    }

    /// What both open.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::Full, other) | (other, Self::Full) => other.clone(),
            (Self::Off, _) | (_, Self::Off) => Self::Off,
            (Self::Only(hosts), Self::Only(others)) => {
                let others: HashSet<_> = others.iter().collect();
                let both = hosts.iter().filter(|entry| others.contains(entry));
                Self::only(both.cloned().collect())
            }
        }
    }
}

impl fmt::Display for NetworkSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => f.write_str("none"),
            Self::Full => f.write_str("full"),
            Self::Only(hosts) => {
                let hosts: Vec<_> = hosts.iter().map(ToString::to_string).collect();
                f.write_str(&hosts.join(", "))
            }
        }
    }
}

/// Things in a row, each in backticks.
pub(crate) fn listed<T: fmt::Display>(things: impl IntoIterator<Item = T>) -> String {
    let things: Vec<_> = things
        .into_iter()
        .map(|thing| format!("`{thing}`"))
        .collect();
    things.join(", ")
}

/// One limit for each thing that can be counted; 0 is unlimited.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LimitSettings {
    /// Seconds by the clock.
    pub wall_secs: Setting<u64>,
    /// Seconds of processors.
    pub cpu_secs: Setting<u64>,
    /// MiB of memory.
    pub memory_mb: Setting<u64>,
    /// MiB written.
    pub disk_mb: Setting<u64>,
    /// Processes.
    pub procs: Setting<u32>,
}

impl LimitSettings {
    fn unwritten(limits: &ResourceLimits) -> Self {
        Self {
            wall_secs: Setting::unwritten(limits.timeout_secs),
            cpu_secs: Setting::unwritten(limits.cpu_time_secs),
            memory_mb: Setting::unwritten(limits.max_memory_mb),
            disk_mb: Setting::unwritten(limits.max_disk_mb),
            procs: Setting::unwritten(limits.max_pids),
        }
    }

    /// The limits as the sandbox counts them.
    #[must_use]
    pub fn limits(&self) -> ResourceLimits {
        ResourceLimits::unlimited()
            .with_timeout_secs(self.wall_secs.value)
            .with_cpu_secs(self.cpu_secs.value)
            .with_memory_mb(self.memory_mb.value)
            .with_disk_mb(self.disk_mb.value)
            .with_pids(self.procs.value)
    }
}

/// Limits with some of them replaced.
pub(crate) fn with_limits(base: ResourceLimits, spec: &LimitsSpec) -> ResourceLimits {
    base.with_timeout_secs(spec.wall_secs.unwrap_or(base.timeout_secs))
        .with_cpu_secs(spec.cpu_secs.unwrap_or(base.cpu_time_secs))
        .with_memory_mb(spec.memory_mb.unwrap_or(base.max_memory_mb))
        .with_disk_mb(spec.disk_mb.unwrap_or(base.max_disk_mb))
        .with_pids(spec.procs.unwrap_or(base.max_pids))
}

/// Whether a limit is lower than another; 0 is the highest.
pub(crate) fn lower<T: PartialOrd + From<u8>>(left: &T, right: &T) -> bool {
    let unlimited = T::from(0);
    *left != unlimited && (*right == unlimited || left < right)
}

/// How much of `.git` may change.
pub(crate) const fn git_rank(git: GitAccess) -> u8 {
    match git {
        GitAccess::ReadOnly => 0,
        GitAccess::Commit => 1,
        GitAccess::Full => 2,
    }
}

/// The settings in force.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Settings {
    /// The preset that was picked last.
    pub preset: Setting<Preset>,
    /// Writable roots; `.` is the project. None: nothing is written.
    pub write: Setting<Vec<String>>,
    /// Neither read nor written. Those of all layers add up.
    pub deny: Vec<Setting<PathSpec>>,
    /// Read, not written. Those of all layers add up.
    pub read_only: Vec<Setting<PathSpec>>,
    /// Below each root, written by nobody.
    pub protected: Setting<Vec<String>>,
    /// What may happen to `.git`.
    pub git: Setting<GitAccess>,
    /// The network.
    pub network: Setting<NetworkSetting>,
    /// Secrets that are added outside of every sandbox.
    pub inject: Vec<Setting<Injection>>,
    /// Limits.
    pub limits: LimitSettings,
    /// When a person is asked.
    pub ask: Setting<AskForApproval>,
    /// What no rule matches.
    pub unmatched: Setting<Option<DefaultDecision>>,
    /// What cannot be read with certainty.
    pub opaque: Setting<Option<DefaultDecision>>,
    /// What is in the danger table.
    pub danger: Setting<Option<DefaultDecision>>,
    /// Variables that a command inherits; `None`: the caller's list.
    pub env_keep: Setting<Option<Vec<String>>>,
    /// What `NAME=value command` means, by name.
    pub env_prefix: BTreeMap<String, Setting<RuleDecision>>,
}

impl Settings {
    /// What a preset sets, written by nobody.
    pub(crate) fn of(preset: Preset) -> Self {
        let data = preset.settings();
        Self {
            preset: Setting::unwritten(preset),
            write: Setting::unwritten(preset_roots(preset)),
            deny: Vec::new(),
            read_only: Vec::new(),
            protected: Setting::unwritten(PathRules::DEFAULT_PROTECTED.map(str::to_owned).to_vec()),
            git: Setting::unwritten(data.git),
            network: Setting::unwritten(preset_network(preset)),
            inject: Vec::new(),
            limits: LimitSettings::unwritten(&data.limits),
            ask: Setting::unwritten(data.ask),
            unmatched: Setting::unwritten(None),
            opaque: Setting::unwritten(None),
            danger: Setting::unwritten(None),
            env_keep: Setting::unwritten(None),
            env_prefix: BTreeMap::new(),
        }
    }

    /// Whether there is a sandbox at all.
    #[must_use]
    pub fn confined(&self) -> bool {
        self.preset.value.settings().confined
    }
}

pub(crate) fn preset_roots(preset: Preset) -> Vec<String> {
    match preset.settings().writes_project {
        true => vec![PROJECT.to_owned()],
        false => Vec::new(),
    }
}

pub(crate) fn preset_network(preset: Preset) -> NetworkSetting {
    match preset.settings().full_network {
        true => NetworkSetting::Full,
        false => NetworkSetting::Off,
    }
}
