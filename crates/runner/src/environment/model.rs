//! Which variables a command gets, and why it does not get the others.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;

use palisade_policy::{CanonicalSandboxPolicy, Environment, NetworkScope, SandboxType};
use serde::{Deserialize, Serialize};

use super::pattern::NamePattern;
use super::{os_text, secrets};

/// The variable that tells a command which sandbox it runs in.
pub const MARKER: &str = "PALISADE_SANDBOX";
/// The variable that is `1` where a command has no network.
pub const NETWORK_MARKER: &str = "PALISADE_SANDBOX_NETWORK_DISABLED";

/// What [`Inherit::Core`] lets through.
const CORE: &[&str] = &[
    "PATH", "HOME", "USER", "LANG", "TERM", "TZ", "TMPDIR", "SHELL",
];
const CORE_LOCALE: &str = "LC_";

/// What it lets through on Windows as well: without the first ones, programs do not find the libraries of the system.
const CORE_WINDOWS: &[&str] = &[
    "SystemRoot",
    "SystemDrive",
    "windir",
    "ComSpec",
    "PATHEXT",
    "TEMP",
    "TMP",
    "USERNAME",
    "USERPROFILE",
    "HOMEDRIVE",
    "HOMEPATH",
    "APPDATA",
    "LOCALAPPDATA",
    "ProgramData",
    "ProgramFiles",
    "ProgramFiles(x86)",
    "ProgramW6432",
    "CommonProgramFiles",
    "CommonProgramFiles(x86)",
    "CommonProgramW6432",
    "NUMBER_OF_PROCESSORS",
    "PROCESSOR_ARCHITECTURE",
    "OS",
];

/// Which variables are inherited before patterns are considered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(
    clippy::exhaustive_enums,
    reason = "whoever shows a policy must show all of them"
)]
pub enum Inherit {
    /// None.
    None,
    /// `PATH HOME USER LANG LC_* TERM TZ TMPDIR SHELL`; on Windows also where the system, the user's profile and temporary
    /// files are.
    #[default]
    Core,
    /// All.
    All,
}

/// What a command inherits, and what is set for it.
///
/// ```
/// use palisade_policy::{Environment, SandboxType};
/// use palisade_runner::environment::{EnvironmentPolicy, Markers, NamePattern};
///
/// let from: Environment = [("PATH", "/usr/bin"), ("CARGO_HOME", "/home/dev/.cargo"), ("CARGO_REGISTRY_TOKEN", "cio1")]
///     .map(|(name, value)| (name.into(), value.into()))
///     .into();
/// let policy = EnvironmentPolicy::default().with_keep([NamePattern::parse("CARGO_*")?]);
/// let built = policy.build(&from, &Markers::new(SandboxType::LinuxLandlock, true))?;
///
/// assert!(built.env.contains_key("CARGO_HOME".as_ref() as &std::ffi::OsStr));
/// assert_eq!(built.excluded[0].to_string(), "CARGO_REGISTRY_TOKEN: its name is that of a secret (*TOKEN*)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[non_exhaustive]
pub struct EnvironmentPolicy {
    /// Which variables are inherited.
    pub inherit: Inherit,
    /// Others that are inherited as well. Only a name without a star lets through what looks dangerous.
    pub keep: Vec<NamePattern>,
    /// Variables that are not inherited, whatever else is said. They can still be set.
    pub exclude: Vec<NamePattern>,
    /// Variables that are set, whatever they are called.
    #[serde(with = "os_text")]
    pub set: BTreeMap<OsString, OsString>,
}

impl EnvironmentPolicy {
    /// Nothing but the markers.
    #[must_use]
    pub const fn empty() -> Self {
        Self {
            inherit: Inherit::None,
            keep: Vec::new(),
            exclude: Vec::new(),
            set: BTreeMap::new(),
        }
    }

    /// With this mode.
    #[must_use]
    pub const fn with_inherit(mut self, inherit: Inherit) -> Self {
        self.inherit = inherit;
        self
    }

    /// With these kept as well.
    #[must_use]
    pub fn with_keep(mut self, keep: impl IntoIterator<Item = NamePattern>) -> Self {
        self.keep.extend(keep);
        self
    }

    /// Without these.
    #[must_use]
    pub fn with_exclude(mut self, exclude: impl IntoIterator<Item = NamePattern>) -> Self {
        self.exclude.extend(exclude);
        self
    }

    /// With a variable set.
    #[must_use]
    pub fn with_set(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.set.insert(name.into(), value.into());
        self
    }

    /// The environment of a command: what is inherited of `from`, what is set, and the markers last.
    ///
    /// A variable of `from` that no process could be given is left out and reported, since nobody here chose it.
    ///
    /// # Errors
    /// A variable to set has an empty name, a name with `=`, or a NUL.
    pub fn build(&self, from: &Environment, markers: &Markers) -> Result<Built, EnvError> {
        for (name, value) in &self.set {
            if let Some(problem) = problem(name, value) {
                return Err(EnvError {
                    name: name.clone(),
                    problem,
                });
            }
        }
        let mut built = Built::default();
        for (name, value) in from {
            if is_marker(name) || self.sets(name) || !self.selects(name) {
                continue;
            }
            match self.objection(name, value) {
                Some(why) => built.excluded.push(Excluded {
                    name: name.clone(),
                    why,
                }),
                None => {
                    built.env.insert(name.clone(), value.clone());
                }
            }
        }
        let set = self.set.iter().filter(|(name, _)| !is_marker(name));
        built
            .env
            .extend(set.map(|(name, value)| (name.clone(), value.clone())));
        built
            .env
            .insert(MARKER.into(), sandbox_name(markers.sandbox).into());
        if markers.network_disabled {
            built.env.insert(NETWORK_MARKER.into(), "1".into());
        }
        Ok(built)
    }

    fn sets(&self, name: &OsStr) -> bool {
        match cfg!(windows) {
            true => self.set.keys().any(|set| set.eq_ignore_ascii_case(name)),
            false => self.set.contains_key(name),
        }
    }

    fn selects(&self, name: &OsStr) -> bool {
        let inherited = match self.inherit {
            Inherit::None => false,
            Inherit::Core => is_core(name),
            Inherit::All => true,
        };
        inherited || self.keep.iter().any(|pattern| pattern.matches(name))
    }

    /// Why a variable that would be inherited is not.
    fn objection(&self, name: &OsStr, value: &OsStr) -> Option<Why> {
        if problem(name, value).is_some() {
            return Some(Why::Malformed);
        }
        if let Some(pattern) = self.exclude.iter().find(|pattern| pattern.matches(name)) {
            return Some(Why::Policy(pattern.clone()));
        }
        if secrets::is_shell_function(name.as_encoded_bytes(), value.as_encoded_bytes()) {
            return Some(Why::ShellFunction);
        }
        let named = |pattern: &NamePattern| pattern.is_exact() && pattern.matches(name);
        if self.keep.iter().any(named) {
            return None;
        }
        if let Some(rule) = secrets::name_rule(name.as_encoded_bytes()) {
            let pattern = rule.pattern;
            return Some(match rule.kind {
                secrets::Kind::Secret => Why::SecretName { pattern },
                secrets::Kind::Handle => Why::Handle { pattern },
                secrets::Kind::Code => Why::LoadsCode { pattern },
            });
        }
        secrets::holds_secret(value.as_encoded_bytes()).then_some(Why::SecretValue)
    }
}

fn is_core(name: &OsStr) -> bool {
    let is_locale = name.as_encoded_bytes().starts_with(CORE_LOCALE.as_bytes());
    let windows = if cfg!(windows) { CORE_WINDOWS } else { &[] };
    is_locale || CORE.iter().chain(windows).any(|core| same(name, core))
}

fn is_marker(name: &OsStr) -> bool {
    same(name, MARKER) || same(name, NETWORK_MARKER)
}

/// Windows does not tell `Path` from `PATH`.
fn same(name: &OsStr, other: &str) -> bool {
    match cfg!(windows) {
        true => name.eq_ignore_ascii_case(other),
        false => name == other,
    }
}

/// What keeps a variable from being handed to a process.
fn problem(name: &OsStr, value: &OsStr) -> Option<&'static str> {
    let name = name.as_encoded_bytes();
    if name.is_empty() {
        Some("its name is empty")
    } else if name.contains(&b'=') {
        Some("its name holds `=`")
    } else if name.contains(&0) {
        Some("its name holds a NUL")
    } else if value.as_encoded_bytes().contains(&0) {
        Some("its value holds a NUL")
    } else {
        None
    }
}

/// What tells a command where it runs. Nothing overrides it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Markers {
    /// The sandbox.
    pub sandbox: SandboxType,
    /// Whether the command has no network.
    pub network_disabled: bool,
}

impl Markers {
    /// These.
    #[must_use]
    pub const fn new(sandbox: SandboxType, network_disabled: bool) -> Self {
        Self {
            sandbox,
            network_disabled,
        }
    }

    /// Those of a policy in a sandbox: the network is disabled if the policy gives none.
    #[must_use]
    pub fn for_policy(sandbox: SandboxType, policy: &CanonicalSandboxPolicy) -> Self {
        Self::new(sandbox, matches!(policy.network(), NetworkScope::Off))
    }
}

/// The name of a sandbox in `PALISADE_SANDBOX` and in records: `landlock`, `seatbelt`, `windows-token`, `none`. It
/// stays the same.
#[must_use]
pub const fn sandbox_name(sandbox: SandboxType) -> &'static str {
    match sandbox {
        SandboxType::None => "none",
        SandboxType::MacosSeatbelt => "seatbelt",
        SandboxType::LinuxLandlock => "landlock",
        SandboxType::WindowsRestrictedToken => "windows-token",
    }
}

/// The environment of a command, and what it would have inherited but for a reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Built {
    /// The environment, complete.
    pub env: Environment,
    /// What was left out. What the mode does not inherit in the first place is not listed.
    pub excluded: Vec<Excluded>,
}

/// A variable that was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Excluded {
    /// Its name; never its value.
    pub name: OsString,
    /// Why.
    pub why: Why,
}

impl fmt::Display for Excluded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name.display(), self.why)
    }
}

/// Why a variable was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Why {
    /// Its name is that of a secret.
    SecretName {
        /// The entry of the table that says so.
        pattern: &'static str,
    },
    /// Its value looks like a secret.
    SecretValue,
    /// It leads to a service that acts for the user outside the sandbox.
    Handle {
        /// The entry of the table that says so.
        pattern: &'static str,
    },
    /// It makes programs load or run code.
    LoadsCode {
        /// The entry of the table that says so.
        pattern: &'static str,
    },
    /// It is a function that bash would define.
    ShellFunction,
    /// The policy excludes it.
    Policy(NamePattern),
    /// No process could be given it.
    Malformed,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SecretName { pattern } => {
                write!(f, "its name is that of a secret ({pattern})")
            }
            Self::SecretValue => f.write_str("its value looks like a secret"),
            Self::Handle { pattern } => {
                write!(f, "it leads to a service outside the sandbox ({pattern})")
            }
            Self::LoadsCode { pattern } => write!(f, "it makes programs load code ({pattern})"),
            Self::ShellFunction => f.write_str("it is an exported shell function"),
            Self::Policy(pattern) => write!(f, "the policy excludes {pattern}"),
            Self::Malformed => f.write_str("no process can be given it"),
        }
    }
}

/// A variable that cannot be set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the variable `{}` cannot be set: {problem}", .name.to_string_lossy().escape_debug())]
#[non_exhaustive]
pub struct EnvError {
    /// Its name.
    pub name: OsString,
    /// What is wrong with it.
    pub problem: &'static str,
}

/// The variables that make programs load or run other code.
pub(crate) fn code_loading(env: &Environment) -> Vec<(OsString, OsString)> {
    env.iter()
        .filter(|(name, value)| {
            let (name, value) = (name.as_encoded_bytes(), value.as_encoded_bytes());
            secrets::is_shell_function(name, value)
                || secrets::name_rule(name).is_some_and(|rule| rule.kind == secrets::Kind::Code)
        })
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
