//! The contract that every backend keeps, and the only way from a policy to a plan that may be run.

use std::fmt;

use crate::canonical::NetworkScope;
use crate::command::SandboxType;
use crate::enforcement::{AcceptedLosses, Enforcement, Guarantee, Level, LimitKind, LimitLevel};
use crate::error::PolicyError;
use crate::resolve::{ResolvedPolicy, Stance};
use crate::rules::GitAccess;

/// One way of confining a command.
///
/// Lowering is pure: it builds and is tested on every system, whatever the system that the plan is for. Applying a
/// plan is the backend's own business and not part of the contract.
pub trait Backend {
    /// What the backend must know about the host. Tests pass what they like.
    type Host;
    /// What the kernel will be told; printable, so that policy authors can read it.
    type Plan: fmt::Display;

    /// Which mechanism this is.
    fn sandbox_type(&self) -> SandboxType;

    /// Whether the mechanism works on this host at all.
    fn availability(&self, host: &Self::Host) -> Availability;

    /// Turns a policy into a plan, with an honest report of what the plan enforces.
    ///
    /// # Errors
    /// The policy cannot be expressed at all, whatever losses are accepted.
    fn lower(
        &self,
        policy: &ResolvedPolicy,
        host: &Self::Host,
    ) -> Result<Lowered<Self::Plan>, PolicyError>;
}

/// Whether a mechanism works on a host.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "it works or it does not")]
pub enum Availability {
    /// It works.
    Works,
    /// It does not.
    Missing {
        /// Why.
        why: String,
        /// What would mend it.
        cure: Option<String>,
    },
}

/// A plan that nobody may use before its losses are accepted.
#[derive(Clone, Debug)]
#[must_use = "a plan is only reached through `admit`"]
pub struct Lowered<Plan> {
    plan: Plan,
    enforcement: Enforcement,
    asked: Vec<Guarantee>,
    required_limits: Vec<LimitKind>,
}

impl<Plan> Lowered<Plan> {
    /// A plan for a policy, with the report of what it enforces.
    pub fn new(policy: &ResolvedPolicy, plan: Plan, enforcement: Enforcement) -> Self {
        Self {
            plan,
            enforcement,
            asked: policy.guarantees(),
            required_limits: policy.required_limits(),
        }
    }

    /// The report.
    pub const fn enforcement(&self) -> &Enforcement {
        &self.enforcement
    }

    /// The plan and its report, if every guarantee that the policy asks for is enforced or its loss was accepted by
    /// name.
    ///
    /// # Errors
    /// Lists each loss that was not accepted.
    pub fn admit(self, accepted: &AcceptedLosses) -> Result<(Plan, Enforcement), Refusal> {
        let losses: Vec<Loss> = self
            .asked
            .iter()
            .filter(|guarantee| self.enforcement.level(**guarantee) < Level::Enforced)
            .filter(|guarantee| !accepted.contains(**guarantee))
            .map(|guarantee| Loss::of(*guarantee, &self.enforcement))
            .collect();
        let limits: Vec<LimitKind> = self
            .required_limits
            .iter()
            .copied()
            .filter(|limit| self.enforcement.limit(*limit) < LimitLevel::Enforced)
            .collect();
        if losses.is_empty() && limits.is_empty() {
            Ok((self.plan, self.enforcement))
        } else {
            Err(Refusal { losses, limits })
        }
    }

    /// The plan for reading, as in snapshots and `show`: what comes out of here cannot be run.
    pub fn preview(&self) -> String
    where
        Plan: fmt::Display,
    {
        self.plan.to_string()
    }
}

/// A guarantee that is asked for and not enforced.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Loss {
    /// Which.
    pub guarantee: Guarantee,
    /// How strongly it still holds.
    pub level: Level,
    /// Why it does not hold on this host.
    pub why: Option<String>,
    /// What would mend it for good.
    pub cure: Option<String>,
}

impl Loss {
    fn of(guarantee: Guarantee, enforcement: &Enforcement) -> Self {
        let measure = enforcement.measure(guarantee);
        Self {
            guarantee,
            level: enforcement.level(guarantee),
            why: measure.and_then(|measure| measure.why.clone()),
            cure: measure.and_then(|measure| measure.cure.clone()),
        }
    }
}

/// A run that was refused because the sandbox would be weaker than asked.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refusal {
    /// The losses that nobody accepted.
    pub losses: Vec<Loss>,
    /// The limits that the policy requires and that cannot be enforced.
    pub limits: Vec<LimitKind>,
}

impl std::error::Error for Refusal {}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the sandbox would be weaker than the policy asks")?;
        for loss in &self.losses {
            write!(f, "\n  {} is not enforced here", loss.guarantee)?;
            if let Some(why) = &loss.why {
                write!(f, ": {why}")?;
            }
            if let Some(cure) = &loss.cure {
                write!(f, "\n    to mend it: {cure}")?;
            }
            write!(
                f,
                "\n    to accept the loss: --accept-loss {}",
                loss.guarantee
            )?;
        }
        for limit in &self.limits {
            write!(
                f,
                "\n  the limit {limit:?} is required and cannot be enforced here"
            )?;
        }
        Ok(())
    }
}

impl ResolvedPolicy {
    /// What the policy asks a backend to guarantee.
    #[must_use]
    pub fn guarantees(&self) -> Vec<Guarantee> {
        let Some((rules, _)) = self.canonical.rules() else {
            return Vec::new();
        };
        let protects = !self.read_only.is_empty()
            || self
                .guards
                .iter()
                .any(|guard| guard.read.is_none() && guard.write == Some(Stance::Denies));
        let denies_reads = self
            .guards
            .iter()
            .any(|guard| guard.read == Some(Stance::Denies));
        let network = self.canonical.network();
        Guarantee::ALL
            .into_iter()
            .filter(|guarantee| match guarantee {
                Guarantee::WritesOutside
                | Guarantee::MetadataOutside
                | Guarantee::UnixSockets
                | Guarantee::ProcessIsolation
                | Guarantee::TreeKill
                | Guarantee::SystemCalls => true,
                Guarantee::ProtectedPaths => protects,
                Guarantee::DeniedReads => denies_reads,
                Guarantee::Network => network != NetworkScope::Full,
                Guarantee::NetworkHosts => matches!(network, NetworkScope::Only(_)),
                Guarantee::GitImport => rules.git == GitAccess::Commit,
            })
            .collect()
    }

    /// The limits that the policy sets and requires.
    #[must_use]
    pub fn required_limits(&self) -> Vec<LimitKind> {
        let limits = self.canonical.resource_limits();
        if !limits.required {
            return Vec::new();
        }
        [
            (LimitKind::Memory, limits.max_memory_mb),
            (LimitKind::Pids, u64::from(limits.max_pids)),
            (LimitKind::Disk, limits.max_disk_mb),
            (LimitKind::Cpu, limits.cpu_time_secs),
            (LimitKind::Wall, limits.timeout_secs),
        ]
        .into_iter()
        .filter(|(_, value)| *value > 0)
        .map(|(limit, _)| limit)
        .collect()
    }
}
