//! The hosts that our subjects are tried on: this one, and weaker ones that are made of it.

use std::sync::OnceLock;

use palisade::runner::policy::{HostFacts, Os};
use palisade_linux_landlock::survey;
use palisade_probes::Tier;

use crate::subject::losses;
use crate::weaker::Weakness;

/// A host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Host {
    pub(super) name: &'static str,
    /// The tier that it can do.
    pub(super) tier: Tier,
    /// What is taken from this host to make it, besides what the tier says.
    pub(super) weakness: Weakness,
    /// Whether all of our subjects are tried there, or the library alone: they share what a weaker host changes.
    pub(super) for_all: bool,
}

/// The first Landlock that keeps signals apart.
const WITH_SCOPES: u32 = 6;

/// What a Landlock before that loses.
const LOSSES_OF_OLDER: &[&str] = &[
    "protected-paths",
    "metadata-outside",
    "process-isolation",
    // A command could end the helper that sweeps.
    "tree-kill",
];

impl Host {
    /// The Landlock that it has: 0 is none.
    pub(super) fn landlock(&self) -> u32 {
        self.weakness.landlock.unwrap_or_else(landlock_of_this_host)
    }

    /// What must be accepted there, by name.
    pub(super) fn losses(&self) -> &'static [&'static str] {
        match self.tier {
            Tier::Landlock if self.landlock() < WITH_SCOPES => LOSSES_OF_OLDER,
            tier => losses(tier),
        }
    }

    /// Why this host cannot be made of the one that we are on.
    pub(super) fn cannot_be_made(&self) -> Option<String> {
        let has = landlock_of_this_host();
        let needs = match (self.tier, self.weakness.landlock) {
            (_, Some(abi)) => abi,
            (Tier::Landlock, None) => 3,
            (Tier::Full, None) => 0,
        };
        (has < needs).then(|| format!("this kernel has Landlock ABI {has}"))
    }
}

/// What the kernel says about itself.
fn landlock_of_this_host() -> u32 {
    static ABI: OnceLock<u32> = OnceLock::new();
    *ABI.get_or_init(|| survey::kernel(&HostFacts::new(Os::Linux)).landlock.abi())
}

const NOTHING: Weakness = Weakness {
    no_user_namespaces: false,
    landlock: None,
};

const fn older(name: &'static str, abi: u32) -> Host {
    Host {
        name,
        tier: Tier::Landlock,
        weakness: Weakness {
            no_user_namespaces: true,
            landlock: Some(abi),
        },
        for_all: false,
    }
}

/// Hosts on which a sandbox must start.
pub(super) static HOSTS: [Host; 7] = [
    Host {
        name: "full",
        tier: Tier::Full,
        weakness: NOTHING,
        for_all: true,
    },
    Host {
        name: "landlock",
        tier: Tier::Landlock,
        weakness: NOTHING,
        for_all: true,
    },
    Host {
        name: "full, no Landlock",
        tier: Tier::Full,
        weakness: Weakness {
            no_user_namespaces: false,
            landlock: Some(0),
        },
        for_all: false,
    },
    older("Landlock ABI 6", 6),
    older("Landlock ABI 5", 5),
    older("Landlock ABI 4", 4),
    older("Landlock ABI 3", 3),
];

/// Hosts that are too weak: whatever is accepted, nothing may run.
pub(super) const TOO_WEAK: [Host; 3] = [
    older("Landlock ABI 2", 2),
    older("Landlock ABI 1", 1),
    older("no Landlock", 0),
];

/// What an older Landlock lets through that a newer one stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Older {
    pub(super) probe: &'static str,
    /// In which tier.
    pub(super) tier: Tier,
    /// The first version that stops it.
    pub(super) since: u32,
    /// Where our own report must say so.
    pub(super) said: Said,
    pub(super) why: &'static str,
    /// It may end the session instead, which then says so.
    pub(super) ends_the_session: bool,
}

/// Where our own report says that something gets through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// This guarantee is not called enforced.
    Lost(&'static str),
    /// A note has these words.
    Noted(&'static str),
}

const SIGNALS: &str = "Landlock below ABI 6 does not keep signals apart";

pub(super) const OLDER: [Older; 4] = [
    Older {
        probe: "fs-pipe-outside",
        tier: Tier::Full,
        since: 1,
        said: Said::Noted("named pipes"),
        why: "a read-only mount does not keep named pipes from being written",
        ends_the_session: false,
    },
    Older {
        probe: "proc-kill",
        tier: Tier::Landlock,
        since: WITH_SCOPES,
        said: Said::Lost("process-isolation"),
        why: SIGNALS,
        ends_the_session: false,
    },
    Older {
        probe: "proc-signal-by-pipe",
        tier: Tier::Landlock,
        since: WITH_SCOPES,
        said: Said::Lost("process-isolation"),
        why: SIGNALS,
        ends_the_session: false,
    },
    Older {
        probe: "proc-end-watcher",
        tier: Tier::Landlock,
        since: WITH_SCOPES,
        said: Said::Lost("tree-kill"),
        why: SIGNALS,
        ends_the_session: true,
    },
];
