//! Enforcement as a value: for every guarantee, how strongly it holds and by which mechanism.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Something that a policy promises. The name is what a person writes to accept its loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(
    clippy::exhaustive_enums,
    reason = "every backend must say how it keeps a new guarantee"
)]
pub enum Guarantee {
    /// Nothing is written outside the writable roots.
    WritesOutside,
    /// Protected and read-only paths inside the roots are not written, replaced or moved.
    ProtectedPaths,
    /// Secrets and denied paths are not read.
    DeniedReads,
    /// Modes, owners, times and attributes outside the roots do not change.
    MetadataOutside,
    /// The network is not reached beyond what the policy opens.
    Network,
    /// Of the network, exactly the listed hosts are reached.
    NetworkHosts,
    /// Sockets of the host are not connected to.
    UnixSockets,
    /// Processes outside are not seen, signalled or read.
    ProcessIsolation,
    /// When the run ends, every process of it ends.
    TreeKill,
    /// Of what git did, only history comes back.
    GitImport,
    /// Denied system calls are denied.
    SystemCalls,
}

impl Guarantee {
    /// Every guarantee.
    pub const ALL: [Self; 11] = [
        Self::WritesOutside,
        Self::ProtectedPaths,
        Self::DeniedReads,
        Self::MetadataOutside,
        Self::Network,
        Self::NetworkHosts,
        Self::UnixSockets,
        Self::ProcessIsolation,
        Self::TreeKill,
        Self::GitImport,
        Self::SystemCalls,
    ];

    /// The name, as in `--accept-loss NAME`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::WritesOutside => "writes-outside",
            Self::ProtectedPaths => "protected-paths",
            Self::DeniedReads => "denied-reads",
            Self::MetadataOutside => "metadata-outside",
            Self::Network => "network",
            Self::NetworkHosts => "network-hosts",
            Self::UnixSockets => "unix-sockets",
            Self::ProcessIsolation => "process-isolation",
            Self::TreeKill => "tree-kill",
            Self::GitImport => "git-import",
            Self::SystemCalls => "system-calls",
        }
    }
}

impl fmt::Display for Guarantee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A text that is not the name of a guarantee.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a guarantee; the names are {}", .0.escape_debug(), Guarantee::ALL.map(Guarantee::name).join(", "))]
pub struct UnknownGuarantee(String);

impl FromStr for Guarantee {
    type Err = UnknownGuarantee;

    fn from_str(name: &str) -> Result<Self, UnknownGuarantee> {
        Self::ALL
            .into_iter()
            .find(|guarantee| guarantee.name() == name)
            .ok_or_else(|| UnknownGuarantee(name.to_owned()))
    }
}

/// How strongly a guarantee holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(
    clippy::exhaustive_enums,
    reason = "who judges by the level must judge a new one"
)]
pub enum Level {
    /// Nothing stands in the way.
    NotEnforced,
    /// A breach is noticed afterwards.
    DetectedOnly,
    /// The kernel refuses.
    Enforced,
}

/// How one guarantee is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Measure {
    /// How strongly.
    pub level: Level,
    /// By what, as in `mount namespace`.
    pub mechanism: String,
    /// Why it is below [`Level::Enforced`], on this host.
    pub why: Option<String>,
    /// What would mend it for good.
    pub cure: Option<String>,
}

impl Measure {
    /// The kernel refuses, through this mechanism.
    #[must_use]
    pub fn enforced(mechanism: impl Into<String>) -> Self {
        Self::new(Level::Enforced, mechanism)
    }

    /// A breach is noticed afterwards, through this mechanism.
    #[must_use]
    pub fn detected(mechanism: impl Into<String>) -> Self {
        Self::new(Level::DetectedOnly, mechanism)
    }

    /// Nothing stands in the way.
    #[must_use]
    pub fn missing(why: impl Into<String>) -> Self {
        Self::new(Level::NotEnforced, "none").because(why)
    }

    fn new(level: Level, mechanism: impl Into<String>) -> Self {
        Self {
            level,
            mechanism: mechanism.into(),
            why: None,
            cure: None,
        }
    }

    /// With the reason for a level below enforced.
    #[must_use]
    pub fn because(mut self, why: impl Into<String>) -> Self {
        self.why = Some(why.into());
        self
    }

    /// With what would mend it.
    #[must_use]
    pub fn cured_by(mut self, cure: impl Into<String>) -> Self {
        self.cure = Some(cure.into());
        self
    }
}

/// A limit on resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(
    clippy::exhaustive_enums,
    reason = "every backend must say how it keeps a new limit"
)]
pub enum LimitKind {
    /// Memory.
    Memory,
    /// Processes.
    Pids,
    /// Disk.
    Disk,
    /// Processor time.
    Cpu,
    /// Wall-clock time.
    Wall,
}

/// How a limit on resources is kept. Below enforced it refuses a run only if the policy requires its limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(
    clippy::exhaustive_enums,
    reason = "who judges by the level must judge a new one"
)]
pub enum LimitLevel {
    /// Nothing stands in the way.
    NotEnforced,
    /// For each process, not for all together.
    PerProcess,
    /// Measured now and then; the run is ended when it is over.
    Sampled,
    /// The kernel refuses.
    Enforced,
}

/// Losses that a person accepted, each by name. There is no way to accept all of them at once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AcceptedLosses(BTreeSet<Guarantee>);

impl AcceptedLosses {
    /// None.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Whether this one was accepted.
    #[must_use]
    pub fn contains(&self, guarantee: Guarantee) -> bool {
        self.0.contains(&guarantee)
    }

    /// With one more.
    #[must_use]
    pub fn with(mut self, guarantee: Guarantee) -> Self {
        self.0.insert(guarantee);
        self
    }
}

impl FromIterator<Guarantee> for AcceptedLosses {
    fn from_iter<I: IntoIterator<Item = Guarantee>>(losses: I) -> Self {
        Self(losses.into_iter().collect())
    }
}

/// What is enforced of what a policy asks for. A guarantee that is not mentioned is not enforced.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[must_use = "a sandbox whose report nobody reads may be weaker than asked"]
pub struct Enforcement {
    guarantees: Vec<(Guarantee, Measure)>,
    limits: Vec<(LimitKind, LimitLevel)>,
    notes: Vec<String>,
}

impl Enforcement {
    /// A report that promises nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// With a guarantee and how it is kept; the last word about one counts.
    pub fn with(mut self, guarantee: Guarantee, measure: Measure) -> Self {
        self.guarantees.retain(|(known, _)| *known != guarantee);
        self.guarantees.push((guarantee, measure));
        self.guarantees.sort_by_key(|(guarantee, _)| *guarantee);
        self
    }

    /// With a limit and how it is kept.
    pub fn with_limit(mut self, limit: LimitKind, level: LimitLevel) -> Self {
        self.limits.retain(|(known, _)| *known != limit);
        self.limits.push((limit, level));
        self.limits.sort_by_key(|(limit, _)| *limit);
        self
    }

    /// With something worth knowing that is not a loss.
    pub fn with_note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// How strongly a guarantee holds.
    #[must_use]
    pub fn level(&self, guarantee: Guarantee) -> Level {
        self.measure(guarantee)
            .map_or(Level::NotEnforced, |measure| measure.level)
    }

    /// How a guarantee is kept, if the backend said anything about it.
    #[must_use]
    pub fn measure(&self, guarantee: Guarantee) -> Option<&Measure> {
        self.guarantees
            .iter()
            .find(|(known, _)| *known == guarantee)
            .map(|(_, measure)| measure)
    }

    /// How a limit is kept.
    #[must_use]
    pub fn limit(&self, limit: LimitKind) -> LimitLevel {
        self.limits
            .iter()
            .find(|(known, _)| *known == limit)
            .map_or(LimitLevel::NotEnforced, |(_, level)| *level)
    }

    /// What is worth knowing and not a loss.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }
}

impl fmt::Display for Enforcement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (guarantee, measure) in &self.guarantees {
            let level = match measure.level {
                Level::Enforced => "enforced",
                Level::DetectedOnly => "detected only",
                Level::NotEnforced => "not enforced",
            };
            write!(f, "{guarantee}: {level} ({})", measure.mechanism)?;
            if let Some(why) = &measure.why {
                write!(f, ": {why}")?;
            }
            writeln!(f)?;
        }
        for note in &self.notes {
            writeln!(f, "note: {note}")?;
        }
        Ok(())
    }
}
