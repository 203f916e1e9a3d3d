//! The flags that say what a command may touch.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use palisade::Policy;
use palisade::runner::approve::visible;
use palisade::runner::config::Configuration;
use palisade::runner::exec_policy::AskForApproval;
use palisade::runner::policy::{AbsolutePath, GitAccess, Grant, Guarantee, NetworkScope};

use super::named::absolute;
use crate::complaint::Complaint;

/// What a command may touch. Without any of these: it writes the project, reaches no network, and sees no secrets.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "What it may touch")]
pub(crate) struct PolicyFlags {
    /// Also write this directory
    #[arg(short = 'w', long = "write", value_name = "DIR")]
    pub(crate) write: Vec<PathBuf>,
    /// Write nothing
    #[arg(long, conflicts_with = "mode")]
    pub(crate) read_only: bool,
    /// The preset: read-only, workspace, ci or open (no sandbox at all)
    #[arg(
        long,
        value_name = "M",
        hide_possible_values = true,
        hide_short_help = true
    )]
    pub(crate) mode: Option<Mode>,
    /// Reach the network: everything, or only this host
    #[arg(long, value_name = "HOST[:PORT]", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub(crate) net: Vec<String>,
    /// Let the workspace be the home directory, or hold it
    #[arg(long, hide_short_help = true)]
    pub(crate) allow_home_root: bool,
    /// Neither read nor write this path
    #[arg(long, value_name = "PATH", hide_short_help = true)]
    pub(crate) deny_read: Vec<PathBuf>,
    /// What may happen to .git: read-only, commit or full
    #[arg(long, value_name = "ACCESS", hide_possible_values = true)]
    pub(crate) git: Option<Git>,
    /// Grant one thing more: read:PATH, write:PATH, unix-socket:PATH, host-loopback (not on Linux)
    #[arg(long, value_name = "KIND[:VALUE]", hide_short_help = true)]
    pub(crate) grant: Vec<OsString>,
    /// The project, instead of the enclosing git repository or this directory
    #[arg(long, value_name = "DIR", hide_short_help = true)]
    pub(crate) workspace: Option<PathBuf>,
    /// This policy file, instead of the user's own
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(crate) policy: Option<PathBuf>,
    /// Ask never, on-request, unless-trusted or on-failure
    #[arg(long, value_name = "WHEN")]
    pub(crate) approval: Option<AskForApproval>,
    /// End it after this time, such as 90s, 5m or 1h
    #[arg(long, value_name = "T")]
    pub(crate) timeout: Option<String>,
    /// At most this much memory, such as 512MiB or 2GiB
    #[arg(long, value_name = "M", hide_short_help = true)]
    pub(crate) memory: Option<String>,
    /// At most this many processes
    #[arg(long, value_name = "N", hide_short_help = true)]
    pub(crate) pids: Option<u32>,
    /// Go without a guarantee that this machine cannot keep
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    pub(crate) accept_loss: Vec<Guarantee>,
}

/// A preset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Mode {
    ReadOnly,
    Workspace,
    Ci,
    Open,
}

impl Mode {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::Workspace => "workspace",
            Self::Ci => "ci",
            Self::Open => "open",
        }
    }
}

/// What may happen to `.git`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Git {
    ReadOnly,
    Commit,
    Full,
}

impl From<Git> for GitAccess {
    fn from(git: Git) -> Self {
        match git {
            Git::ReadOnly => Self::ReadOnly,
            Git::Commit => Self::Commit,
            Git::Full => Self::Full,
        }
    }
}

impl PolicyFlags {
    /// Whether the whole network was asked for.
    pub(super) fn whole_network(&self) -> bool {
        self.net.iter().any(String::is_empty)
    }

    /// What the flags grant, deny and accept, besides what they set.
    pub(super) fn apply(
        &self,
        mut policy: Policy,
        configuration: &Configuration,
        cwd: &Path,
    ) -> Result<Policy, Complaint> {
        for directory in &self.write {
            policy = policy.also_write(absolute("-w", directory, cwd)?);
        }
        for grant in &self.grant {
            let parsed = parse_grant(grant, cwd)?;
            refuse_without_effect(&parsed, configuration)?;
            policy = policy.grant(parsed);
        }
        for path in &self.deny_read {
            policy = policy.deny_read(absolute("--deny-read", path, cwd)?);
        }
        if let Some(git) = self.git {
            policy = policy.git(git.into());
        }
        for guarantee in &self.accept_loss {
            if configuration.floor.no_accepted_losses {
                return Err(Complaint::refused(format!(
                    "--accept-loss {guarantee}: the system's floor accepts no loss"
                )));
            }
            policy = policy.accept_loss(*guarantee);
        }
        if self.allow_home_root {
            policy = policy.allow_home_root();
        }
        Ok(policy)
    }
}

/// No grant is silently without effect. On Linux a session has a network of its own, or none: there is no way yet from it
/// to the servers of this machine that is not the whole network.
fn refuse_without_effect(grant: &Grant, configuration: &Configuration) -> Result<(), Complaint> {
    let policy = &configuration.policy;
    let closed = policy.uses_runtime_sandbox() && policy.network() != NetworkScope::Full;
    if *grant == Grant::HostLoopback && cfg!(target_os = "linux") && closed {
        return Err(Complaint::refused(
            "--grant host-loopback: a sandbox on Linux has a loopback of its own, and cannot reach this machine's alone; \
             nothing ran",
        )
        .help("--net opens the whole network, and with it the servers of this machine")
        .help("a server that the command itself starts can be reached without any grant"));
    }
    Ok(())
}

/// `read:PATH`, `write:PATH`, `unix-socket:PATH` or `host-loopback`. Bytes of paths are kept.
pub(crate) fn parse_grant(text: &OsStr, cwd: &Path) -> Result<Grant, Complaint> {
    let shown = visible(&text.to_string_lossy());
    let wrong = |why: &str| Complaint::usage(format!("--grant {shown}: {why}"));
    if text == "host-loopback" {
        return Ok(Grant::HostLoopback);
    }
    type OfPath = fn(AbsolutePath) -> Grant;
    let kinds: [(&str, OfPath); 3] = [
        ("read:", Grant::Read),
        ("write:", Grant::Write),
        ("unix-socket:", Grant::UnixSocket),
    ];
    for (kind, grant) in kinds {
        if let Some(rest) = strip_prefix(text, kind) {
            let path = absolute(&format!("--grant {kind}"), Path::new(rest), cwd)?;
            let path = AbsolutePath::new(path).map_err(|error| wrong(&error.to_string()))?;
            return Ok(grant(path));
        }
    }
    Err(wrong(
        "a grant is read:PATH, write:PATH, unix-socket:PATH or host-loopback",
    ))
}

#[cfg(unix)]
fn strip_prefix<'a>(text: &'a OsStr, prefix: &str) -> Option<&'a OsStr> {
    use std::os::unix::ffi::OsStrExt as _;
    text.as_bytes()
        .strip_prefix(prefix.as_bytes())
        .map(OsStr::from_bytes)
}

#[cfg(not(unix))]
fn strip_prefix<'a>(text: &'a OsStr, prefix: &str) -> Option<&'a OsStr> {
    text.to_str()?.strip_prefix(prefix).map(OsStr::new)
}
