//! The sandbox that a command would get, as data and in words.

use palisade::runner::approve::visible;
use palisade::runner::policy::{
    AbsolutePath, CanonicalSandboxPolicy, GitAccess, NetworkScope, ResolvedPolicy, SandboxType,
    Stance,
};
use palisade::runner::session::PreviewedPlace;
use serde::Serialize;

use crate::ground::{Kept, Tried};

/// The sandbox that a command would get.
#[derive(Debug, Serialize)]
pub(super) struct Place {
    /// The mechanism: `linux-landlock`, `macos-seatbelt`, `windows-restricted-token` or `none`.
    #[serde(rename = "type")]
    mechanism: String,
    /// `full`: all that the policy promises is enforced here; `reduced`: some of it is not, and that was accepted;
    /// `none`: nothing confines it; `refused`: the policy cannot be kept here, so `run` refuses.
    tier: &'static str,
    /// Why it is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    refusal: Option<String>,
    /// The guarantees that are lost.
    lost: Vec<&'static str>,
    /// What it may write.
    writable: Vec<String>,
    /// `off`, `listed` or `full`.
    network: &'static str,
    /// The hosts that are listed.
    hosts: Vec<String>,
    /// `read-only`, `commit` or `full`.
    git: &'static str,
    /// How many secrets and denied paths are hidden.
    hidden: usize,
    /// What this command is granted beyond the policy, by its rules.
    grants: Vec<String>,
    /// After how many seconds it is ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    wall_seconds: Option<u64>,
}

impl Place {
    pub(super) fn of(place: &PreviewedPlace, tried: &Tried) -> Self {
        let bare = place.sandbox == SandboxType::None;
        // With the grants of its rules the command gets a sandbox of its own.
        let own = match place.policy == *tried.oracle.canonical() {
            true => None,
            false => place.policy.resolve(tried.oracle.context()).ok(),
        };
        let resolved = own.as_ref().unwrap_or(&tried.oracle);
        let refusal = match &tried.kept {
            Kept::Refused(why) if !bare => Some(why.clone()),
            _ => None,
        };
        Self {
            mechanism: mechanism(place.sandbox).to_owned(),
            tier: match bare {
                true => "none",
                false => tried.strength(),
            },
            refusal,
            lost: tried.lost().into_iter().map(|lost| lost.name()).collect(),
            writable: match bare {
                true => vec!["/".to_owned()],
                false => writable(resolved),
            },
            network: network(&place.policy),
            hosts: hosts(&place.policy),
            git: git(&place.policy),
            hidden: match bare {
                true => 0,
                false => hidden(&tried.oracle),
            },
            grants: place.grants.iter().map(ToString::to_string).collect(),
            wall_seconds: place.wall.map(|wall| wall.as_secs()),
        }
    }

    /// Why `run` refuses to set it up.
    pub(super) fn refusal(&self) -> Option<&str> {
        self.refusal.as_deref()
    }

    /// Whether anything is around the command.
    pub(super) fn confines(&self) -> bool {
        self.tier != "none"
    }

    /// In one line.
    pub(super) fn line(&self) -> String {
        if self.tier == "none" {
            return "none: it runs with everything that you may do".to_owned();
        }
        let writes = match self.writable.as_slice() {
            [] => "writes nothing".to_owned(),
            roots => format!("writes {}", visible(&roots.join(", "))),
        };
        let mut parts = vec![
            self.tier.to_owned(),
            writes,
            match self.hosts.as_slice() {
                [] => format!("network {}", self.network),
                hosts => format!("network {}", hosts.join(", ")),
            },
            format!(".git {}", self.git),
            format!("{} secrets hidden", self.hidden),
        ];
        if let Some(seconds) = self.wall_seconds {
            parts.push(format!("ends after {seconds} s"));
        }
        parts.join(" - ")
    }

    /// More lines, each with its name.
    pub(super) fn lines(&self) -> Vec<(&'static str, String)> {
        let mut lines = vec![("sandbox", self.line())];
        lines.extend(self.grants.iter().map(|grant| ("grants", visible(grant))));
        if !self.lost.is_empty() {
            lines.push(("lost", self.lost.join(", ")));
        }
        lines
    }
}

const fn mechanism(sandbox: SandboxType) -> &'static str {
    match sandbox {
        SandboxType::None => "none",
        SandboxType::MacosSeatbelt => "macos-seatbelt",
        SandboxType::LinuxLandlock => "linux-landlock",
        SandboxType::WindowsRestrictedToken => "windows-restricted-token",
    }
}

fn writable(resolved: &ResolvedPolicy) -> Vec<String> {
    let shown = |path: &AbsolutePath| path.to_string();
    resolved
        .roots()
        .iter()
        .map(|root| shown(&root.root))
        .collect()
}

fn network(policy: &CanonicalSandboxPolicy) -> &'static str {
    match policy.network() {
        NetworkScope::Off => "off",
        NetworkScope::Only(_) => "listed",
        NetworkScope::Full => "full",
    }
}

fn hosts(policy: &CanonicalSandboxPolicy) -> Vec<String> {
    match policy.network() {
        NetworkScope::Only(hosts) => hosts.iter().map(ToString::to_string).collect(),
        NetworkScope::Off | NetworkScope::Full => Vec::new(),
    }
}

fn git(policy: &CanonicalSandboxPolicy) -> &'static str {
    match policy.rules().map(|(rules, _)| rules.git) {
        Some(GitAccess::ReadOnly) => "read-only",
        Some(GitAccess::Commit) => "commit",
        Some(GitAccess::Full) | None => "full",
    }
}

/// How many paths nobody reads, as the policy lists them.
fn hidden(oracle: &ResolvedPolicy) -> usize {
    let guards = oracle.guards().iter();
    guards
        .filter(|guard| guard.read == Some(Stance::Denies))
        .count()
}
