//! A policy file as data: what its author wrote, with the place of every rule.
//!
//! This is the form between reading ([`parse`](super::parse)) and meaning (`load`): values are checked
//! one by one, but nothing is combined yet.
#![expect(
    clippy::exhaustive_enums,
    reason = "whoever reads a policy must say what a new value means"
)]

use std::collections::BTreeMap;
use std::fmt;

use palisade_policy::{GitAccess, NetworkAllowlistEntry, PathSpec};
use serde::{Deserialize, Serialize};

use super::source::Trust;
use crate::decision::AskForApproval;
use crate::decision::RuleDecision;

/// Who owns a source. Later ones are closer to the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layer {
    /// What Palisade brings along.
    BuiltIn,
    /// The administrator of the machine; the only layer with a [`Floor`].
    System,
    /// The user.
    User,
    /// The project. Untrusted until the user says otherwise, it can only tighten.
    Project,
    /// This session.
    Session,
}

impl Layer {
    /// The spelling used in explanations.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::BuiltIn => "built-in",
            Self::System => "system",
            Self::User => "user",
            Self::Project => "project",
            Self::Session => "session",
        }
    }
}

/// The place of something in a source.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[non_exhaustive]
pub struct Origin {
    /// Who owns the source.
    pub layer: Layer,
    /// What the caller called it, usually its path.
    pub source: String,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1, in characters.
    pub column: usize,
}

impl Origin {
    /// A place in a source.
    #[must_use]
    pub fn new(layer: Layer, source: impl Into<String>, line: usize, column: usize) -> Self {
        Self {
            layer,
            source: source.into(),
            line,
            column,
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.source, self.line, self.column)
    }
}

/// One file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PolicyFile {
    /// Where the file's rules come from.
    pub layer: Layer,
    /// What the caller called it.
    pub source: String,
    /// Whether the user agreed to it. Only a project's file asks.
    pub trust: Trust,
    /// Where each setting stands, by key: `preset`, `network.allow`, `programs.git`.
    pub places: BTreeMap<String, Origin>,
    /// Settings to start from.
    pub preset: Option<Preset>,
    /// Other files of the same layer, as written, with the place of each.
    pub include: Vec<(String, Origin)>,
    /// `[defaults]`.
    pub defaults: Defaults,
    /// `[[rule]]`, in order.
    pub rules: Vec<Rule>,
    /// `[programs.NAME]`: where a bare name may resolve to.
    pub programs: BTreeMap<String, ProgramPins>,
    /// `[options."git diff"]`: options of programs that the built-in tables do not know.
    pub options: BTreeMap<String, OptionTable>,
    /// `[filesystem]`.
    pub filesystem: Filesystem,
    /// `[network]`.
    pub network: Network,
    /// `[env]`.
    pub env: EnvRules,
    /// `[limits]`.
    pub limits: Option<LimitsSpec>,
    /// `[floor]`, in the system layer only.
    pub floor: Option<Floor>,
    /// `[[case]]`: what the whole policy must say about a command.
    pub cases: Vec<Case>,
}

impl PolicyFile {
    /// A file that says nothing yet.
    #[must_use]
    pub fn new(layer: Layer, source: impl Into<String>, trust: Trust) -> Self {
        Self {
            layer,
            source: source.into(),
            trust,
            places: BTreeMap::new(),
            preset: None,
            include: Vec::new(),
            defaults: Defaults::default(),
            rules: Vec::new(),
            programs: BTreeMap::new(),
            options: BTreeMap::new(),
            filesystem: Filesystem::default(),
            network: Network::default(),
            env: EnvRules::default(),
            limits: None,
            floor: None,
            cases: Vec::new(),
        }
    }

    /// Where a setting stands; the start of the file if nobody wrote it.
    #[must_use]
    pub fn place(&self, key: &str) -> Origin {
        match self.places.get(key) {
            Some(place) => place.clone(),
            None => Origin::new(self.layer, self.source.clone(), 1, 1),
        }
    }

    /// Whether the file can only tighten: a project's that the user has not agreed to.
    #[must_use]
    pub fn only_tightens(&self) -> bool {
        self.layer == Layer::Project && self.trust == Trust::Untrusted
    }
}

/// Settings to start from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// Reads, writes nothing on the host, no network.
    ReadOnly,
    /// Writes the workspace, no network.
    #[default]
    Workspace,
    /// As `workspace`, and nobody is there to be asked.
    Ci,
    /// No sandbox; rules still apply.
    Open,
}

/// `[defaults]`. What is left out asks nothing and forbids nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Defaults {
    /// What no rule matches: `prompt` or `forbid`, never `allow`.
    pub unmatched: Option<DefaultDecision>,
    /// What cannot be read with certainty: `prompt` or `forbid`, never `allow`.
    pub opaque: Option<DefaultDecision>,
    /// What is in the danger table: `prompt` or `forbid`, never `allow`.
    pub danger: Option<DefaultDecision>,
    /// The approval policy.
    pub ask: Option<AskForApproval>,
}

/// What a `[defaults]` entry can say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DefaultDecision {
    /// A person decides.
    Prompt,
    /// It may not run.
    Forbid,
}

/// One `[[rule]]`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rule {
    /// Unique in its layer.
    pub id: String,
    /// One entry for each position, each with its alternatives; the first is the program. Never empty.
    pub prefix: Vec<Vec<String>>,
    /// Options that may stand between the program and the next position.
    pub globals: OptionTable,
    /// What the rule says.
    pub decision: RuleDecision,
    /// The rule speaks only if one of these flags is there, in any spelling. Empty: always.
    pub when_flags: Vec<String>,
    /// Flags that turn the decision into another.
    pub flags: Option<FlagRule>,
    /// Longer prefixes that it does not speak about, written in full: each begins with the rule's own.
    pub except: Vec<Vec<Vec<String>>>,
    /// What must hold of the arguments.
    pub args: Option<ArgPredicate>,
    /// Whether what it matches leaves the sandbox: the only way a rule does that.
    pub unsandboxed: bool,
    /// What the sandbox grants, or takes away, for what it matches.
    pub sandbox: SandboxGrants,
    /// Why it exists.
    pub why: Option<String>,
    /// Commands that it must match.
    pub matches: Vec<Example>,
    /// Commands that it must not match.
    pub not_matches: Vec<Example>,
    /// Where it stands.
    pub origin: Origin,
}

/// Options of a program: those with a value and those without. Long ones with their dashes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct OptionTable {
    /// Take a value: `-C DIR`, `--git-dir=DIR`.
    pub value: Vec<String>,
    /// Take none: `--no-pager`. `-<n>` stands for a number such as `-20`; a trailing `*` for any rest.
    pub flag: Vec<String>,
    /// Take a value only if it is joined: `--color=always`, `-M50`.
    pub optional: Vec<String>,
}

/// `flags.*` of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FlagRule {
    /// If written: any other flag leads to `otherwise`.
    pub allow: Option<Vec<String>>,
    /// Any of these leads to `otherwise`.
    pub forbid: Vec<String>,
    /// The decision then; written `else`.
    pub otherwise: RuleDecision,
}

/// A built-in check of arguments, for programs that prefixes and flags cannot judge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ArgPredicate {
    /// `sed -n` with nothing but addresses and `p`, and no other script.
    SedPrint,
    /// An awk program without `system`, pipes, redirects, `getline` or `@load`.
    AwkPure,
    /// `find` without an action that writes or executes.
    FindNoAction,
    /// Every operand that is a path stays inside the project and names nothing protected or secret.
    PathsInProject,
    /// No operand names a secret or a path outside what anybody may read.
    NoSecrets,
    /// An operand is the root of the file system, a directory of the system, the home directory, or what holds the
    /// project.
    SystemPaths,
    /// An operand is the project itself, or everything in it.
    WholeProject,
    /// An operand names `.git` or something in it.
    GitInternals,
    /// An operand names a file that shells, git or the system run or obey by themselves.
    StartupFiles,
    /// An operand names a device that is not harmless to write.
    Devices,
    /// An operand names a private key or a store of credentials.
    PrivateKeys,
    /// The program reads as a script what a download wrote.
    DownloadedScript,
    /// Nothing follows but options and words that start with `+`.
    NoOperands,
    /// Nothing follows the prefix.
    Alone,
    /// Every operand sets a variable that `[env] prefix` allows.
    HarmlessExports,
    /// An option mounts a directory of the host outside the project.
    HostMount,
    /// Only operands follow, inside the project and neither protected nor secret.
    NoOptions,
    /// What follows is a file of the project, named by a path such as `./t.sh`, and its arguments.
    ProjectScript,
}

impl ArgPredicate {
    /// The spelling used in policy files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::SedPrint => "sed-print",
            Self::AwkPure => "awk-pure",
            Self::FindNoAction => "find-no-action",
            Self::PathsInProject => "paths-in-project",
            Self::NoSecrets => "no-secrets",
            Self::SystemPaths => "system-paths",
            Self::WholeProject => "whole-project",
            Self::GitInternals => "git-internals",
            Self::StartupFiles => "startup-files",
            Self::Devices => "devices",
            Self::PrivateKeys => "private-keys",
            Self::DownloadedScript => "downloaded-script",
            Self::NoOperands => "no-operands",
            Self::Alone => "alone",
            Self::HarmlessExports => "harmless-exports",
            Self::HostMount => "host-mount",
            Self::NoOptions => "no-options",
            Self::ProjectScript => "project-script",
        }
    }
}

/// `sandbox.*` of a rule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SandboxGrants {
    /// Hosts for this command only.
    pub network: Vec<NetworkAllowlistEntry>,
    /// Paths to write.
    pub write: Vec<PathSpec>,
    /// Paths to read although they are guarded.
    pub read: Vec<PathSpec>,
    /// What may happen to `.git`.
    pub git: Option<GitAccess>,
    /// Limits.
    pub limits: Option<LimitsSpec>,
}

/// An example of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Example {
    /// The command, as a shell would read it.
    pub command: String,
    /// Where it stands.
    pub origin: Origin,
}

/// `[programs.NAME]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProgramPins {
    /// What the bare name may resolve to; empty: any trusted system directory.
    pub paths: Vec<String>,
}

/// `[filesystem]`. `None`: the preset decides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Filesystem {
    /// Writable roots; `.` is the project.
    pub write: Option<Vec<String>>,
    /// Neither read nor written.
    pub deny: Vec<PathSpec>,
    /// Read, not written.
    pub read_only: Vec<PathSpec>,
    /// Protected below each root, in place of the defaults.
    pub protected: Option<Vec<String>>,
    /// What may happen to `.git`.
    pub git: Option<GitAccess>,
}

/// `[network]`. `None`: the preset decides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Network {
    /// Exactly these hosts; an empty list is none.
    pub allow: Option<Vec<NetworkAllowlistEntry>>,
    /// `access = "full"`: everything.
    pub full: Option<bool>,
    /// Secrets that the proxy adds, in the user's own file only.
    pub inject: Vec<Injection>,
}

/// A secret that is added to requests for a host outside of every sandbox, so that no command knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Injection {
    /// The hosts that it is for.
    pub host: NetworkAllowlistEntry,
    /// The header that carries it.
    pub header: String,
    /// The variable of the user's environment that holds it. Commands never inherit that one.
    pub from_env: String,
    /// What stands before it in the header, such as `Bearer `.
    pub prefix: String,
    /// Whether it goes into TLS, which is opened for it on the way; else it goes into plain HTTP alone.
    pub intercept: bool,
}

impl fmt::Display for Injection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            host,
            header,
            from_env,
            intercept,
            ..
        } = self;
        let where_to = if *intercept {
            ", in TLS that is opened"
        } else {
            ""
        };
        write!(f, "{header} for {host} from ${from_env}{where_to}")
    }
}

/// `[env]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EnvRules {
    /// Variables that a command inherits; `*` at the end of a name stands for any rest.
    pub keep: Option<Vec<String>>,
    /// What `NAME=value command` means, by name.
    pub prefix: BTreeMap<String, RuleDecision>,
}

/// Limits as authors write them; `None` leaves the one below, 0 is unlimited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LimitsSpec {
    /// `wall = "5m"`, in seconds.
    pub wall_secs: Option<u64>,
    /// `cpu = "60s"`, in seconds.
    pub cpu_secs: Option<u64>,
    /// `memory = "2GiB"`, in MiB.
    pub memory_mb: Option<u64>,
    /// `disk = "4GiB"`, in MiB.
    pub disk_mb: Option<u64>,
    /// `procs = 256`.
    pub procs: Option<u32>,
}

/// `[floor]`: what no later layer may loosen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
#[non_exhaustive]
pub struct Floor {
    /// The weakest preset that a later layer may pick.
    pub preset: Option<Preset>,
    /// No rule and no retry leaves the sandbox.
    pub no_unsandboxed: bool,
    /// No loss of a guarantee may be accepted.
    pub no_accepted_losses: bool,
    /// No network beyond what the system layer lists.
    pub no_network: bool,
}

/// One `[[case]]`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Case {
    /// The command, as a shell would read it.
    pub run: String,
    /// What the whole policy must say.
    pub expect: RuleDecision,
    /// Where it stands.
    pub origin: Origin,
}
