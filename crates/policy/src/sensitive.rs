//! Secrets that no command needs: where they usually are.

use serde::{Deserialize, Serialize};

use crate::error::PathError;
use crate::host::{HostFacts, Os};
use crate::path_spec::PathSpec;

/// A place whose content is kept from commands.
///
/// An entry that does not block one of the two says so about its path: below a blocked place it reopens that path.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct SensitivePath {
    /// The path, often below `~`.
    pub path: PathSpec,
    /// Whether reading is denied.
    #[serde(default = "blocked")]
    pub block_read: bool,
    /// Whether writing is denied.
    #[serde(default = "blocked")]
    pub block_write: bool,
}

const fn blocked() -> bool {
    true
}

impl SensitivePath {
    /// A place that is neither read nor written.
    ///
    /// # Errors
    /// The text is not a [`PathSpec`].
    pub fn new(path: &str) -> Result<Self, PathError> {
        PathSpec::parse(path).map(Self::blocking)
    }

    /// A place that is read but not written: only writing is blocked.
    ///
    /// # Errors
    /// The text is not a [`PathSpec`].
    pub fn write_only(path: &str) -> Result<Self, PathError> {
        Ok(Self {
            block_read: false,
            ..Self::new(path)?
        })
    }

    /// A place that is neither read nor written, already checked.
    #[must_use]
    pub const fn blocking(path: PathSpec) -> Self {
        Self {
            path,
            block_read: true,
            block_write: true,
        }
    }

    /// The secrets that a policy guards unless it says otherwise.
    ///
    /// Home directories are not looked into: the list is the same whether a place exists or not.
    #[must_use]
    pub fn defaults(facts: &HostFacts) -> Vec<Self> {
        let system = match facts.os {
            Os::Linux => LINUX,
            Os::Macos => MACOS,
            Os::Windows => WINDOWS,
        };
        let root_only = if facts.is_root() && facts.os != Os::Windows {
            ROOT_ONLY
        } else {
            &[]
        };
        CREDENTIALS
            .iter()
            .chain(AGENTS)
            .chain(HISTORIES)
            .chain(system)
            .map(|below| PathSpec::home(below))
            // An unreadable constant would be a missing guard, so the tests read every one of them.
            .chain(
                root_only
                    .iter()
                    .filter_map(|path| PathSpec::parse(path).ok()),
            )
            .map(Self::blocking)
            .collect()
    }
}

/// Credentials of developers' tools, below home on every system.
const CREDENTIALS: &[&str] = &[
    ".ssh",
    ".aws",
    ".config/gcloud",
    ".azure",
    ".kube",
    ".docker",
    ".npmrc",
    ".pypirc",
    ".config/gh",
    ".secrets",
    ".gnupg",
    ".config/op",
    ".vault-token",
    ".terraform.d/credentials.tfrc.json",
    ".cargo/credentials.toml",
    ".git-credentials",
    ".netrc",
];

/// Credentials of agents, and git's second place for them.
const AGENTS: &[&str] = &[
    ".codex/auth.json",
    ".claude/.credentials.json",
    ".gemini",
    ".config/git/credentials",
];

/// What people typed, passwords included.
const HISTORIES: &[&str] = &[
    ".bash_history",
    ".zsh_history",
    ".local/share/fish/fish_history",
    ".python_history",
    ".node_repl_history",
    ".psql_history",
    ".mysql_history",
    ".sqlite_history",
    ".rediscli_history",
];

/// Keyrings and browser profiles on Linux.
const LINUX: &[&str] = &[
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".password-store",
    ".mozilla",
    ".config/google-chrome",
    ".config/chromium",
    ".config/microsoft-edge",
    ".config/BraveSoftware",
];

/// Keychains and browser profiles on macOS.
const MACOS: &[&str] = &[
    "Library/Keychains",
    "Library/Cookies",
    "Library/Safari",
    "Library/Application Support/Google/Chrome",
    "Library/Application Support/Microsoft Edge",
    "Library/Application Support/BraveSoftware",
    "Library/Application Support/Firefox",
];

/// What Windows tools keep below home, and browser profiles.
const WINDOWS: &[&str] = &[
    ".config",
    ".npm",
    ".pki",
    ".terraform.d",
    "AppData/Roaming/Microsoft/Credentials",
    "AppData/Local/Microsoft/Credentials",
    "AppData/Roaming/Microsoft/Protect",
    "AppData/Local/Google/Chrome/User Data",
    "AppData/Local/Microsoft/Edge/User Data",
    "AppData/Roaming/Mozilla/Firefox",
    "AppData/Roaming/Microsoft/Windows/PowerShell/PSReadLine",
];

/// What only the superuser could read anyway: for anybody else the system itself guards it.
const ROOT_ONLY: &[&str] = &[
    "/etc/shadow*",
    "/etc/gshadow*",
    "/etc/sudoers*",
    "/etc/ssh/ssh_host_*",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seventeen_credentials_are_guarded_everywhere() {
        assert_eq!(CREDENTIALS.len(), 17);
        for os in [Os::Linux, Os::Macos, Os::Windows] {
            let defaults = SensitivePath::defaults(&HostFacts::new(os));
            for below in CREDENTIALS {
                let path = PathSpec::parse(&format!("~/{below}")).unwrap();
                assert!(defaults.contains(&SensitivePath::blocking(path)), "{below}");
            }
        }
    }

    #[test]
    fn every_constant_is_in_its_normal_form() {
        for below in [CREDENTIALS, AGENTS, HISTORIES, LINUX, MACOS, WINDOWS].concat() {
            let text = format!("~/{below}");
            assert_eq!(PathSpec::parse(&text), Ok(PathSpec::home(below)), "{below}");
        }
        for path in ROOT_ONLY {
            assert!(PathSpec::parse(path).is_ok(), "{path}");
        }
    }

    #[test]
    fn root_gets_the_system_secrets_too() {
        let user = SensitivePath::defaults(&HostFacts::new(Os::Linux).with_uid(1000));
        let root = SensitivePath::defaults(&HostFacts::new(Os::Linux).with_uid(0));
        assert_eq!(root.len(), user.len() + ROOT_ONLY.len());
        assert_eq!(root[..user.len()], user[..]);
    }
}
