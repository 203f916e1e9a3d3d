//! What a command would run under: this host, the project, the files of every layer, and the flags.
//!
//! Everything that answers a question about a command comes through here, so that `check`, `explain`, `why`, `verify` and
//! `run` speak about the same policy.

mod excerpt;
mod flags;
pub(crate) mod inside;
mod layer;
mod named;
mod site;
mod tried;
mod workspace;

use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use palisade::Policy;
use palisade::runner::config::{self, ConfigPaths, Configuration};
use palisade::runner::egress::Egress;
use palisade::runner::exec_policy::approvals::Moment;
use palisade::runner::exec_policy::language::{Layer, NoticeKind, PolicyFile};
use palisade::runner::host::{HelperAhead, Host};
use palisade::runner::policy::{CanonicalSandboxPolicy, NetworkScope, WorkspaceRoot};

pub(crate) use self::excerpt::{
    of_config as config_complaint, of_errors as errors_complaint, of_file as file_complaint,
};
pub(crate) use self::flags::{Mode, PolicyFlags};
pub(crate) use self::named::absolute;
pub(crate) use self::site::Site;
pub(crate) use self::tried::{Kept, Tried};
use crate::complaint::Complaint;

/// What a command would run under.
#[derive(Debug)]
pub(crate) struct Ground {
    pub(crate) host: Host,
    /// Where the layers and the state are.
    pub(crate) paths: ConfigPaths,
    /// What the files and the flags say together.
    pub(crate) configuration: Configuration,
    /// The same with what flags grant and deny: what `run` is given.
    pub(crate) policy: Policy,
    /// Where this program was called.
    pub(crate) cwd: PathBuf,
}

impl Ground {
    /// Looks at the host, the files and the flags.
    ///
    /// # Errors
    /// A file cannot be used, a flag makes no sense or goes below the floor, or there is no workspace here.
    pub(crate) fn find(flags: &PolicyFlags) -> Result<Self, Complaint> {
        inside::refuse_loosening(flags)?;
        let Site {
            host,
            paths,
            root,
            cwd,
        } = Site::find(flags)?;
        let now = now();
        let text = |files: &[PolicyFile]| layer::text(flags, files);
        let configuration = config::load_with(&paths, &host, &root, text, now)
            .map_err(|error| config_complaint(&error))?;
        refuse_below_floor(&configuration)?;
        let policy = flags.apply(Policy::configured(&configuration), &configuration, &cwd)?;
        Ok(Self {
            host,
            paths,
            configuration,
            policy,
            cwd,
        })
    }

    /// The same for a command that is about to run, with the helper that loads meanwhile.
    ///
    /// # Errors
    /// As [`find`](Self::find).
    pub(crate) fn find_to_run(flags: &PolicyFlags, ahead: HelperAhead) -> Result<Self, Complaint> {
        let ground = Self::find(flags)?;
        let host = with_secrets(ground.host, &ground.configuration)?;
        Ok(Self {
            host: host.with_helper_ahead(ahead),
            ..ground
        })
    }

    /// The policy in full, as a sandbox would be asked to keep it.
    ///
    /// # Errors
    /// A path of it makes no sense here.
    pub(crate) fn canonical(&self) -> Result<(CanonicalSandboxPolicy, WorkspaceRoot), Complaint> {
        self.policy.in_full(&self.host).map_err(Complaint::usage)
    }
}

/// Now, for approvals that expire. A clock before 1970 makes nothing valid.
pub(crate) fn now() -> Moment {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    Moment::of_clock(since.map_or(0, |since| since.as_secs()))
}

/// A flag that the administrator's floor cuts down is refused, not silently corrected.
fn refuse_below_floor(configuration: &Configuration) -> Result<(), Complaint> {
    let cut = configuration
        .notices
        .iter()
        .find_map(|notice| match &notice.kind {
            NoticeKind::BelowFloor { floor } if notice.origin.layer == Layer::Session => {
                Some((notice, floor))
            }
            _ => None,
        });
    match cut {
        Some((notice, floor)) => Err(Complaint::refused(format!(
            "{}: {} goes below the floor at {}:{}; nothing ran",
            layer::flag(&notice.origin, &notice.key).unwrap_or(&notice.key),
            notice.detail,
            floor.source,
            floor.line
        ))
        .help("only the administrator can change the floor")),
        None => Ok(()),
    }
}

/// The host, whose proxies add the secrets that the user's policy binds to hosts. Where no host is listed there is no proxy,
/// and nothing to add them to.
fn with_secrets(host: Host, configuration: &Configuration) -> Result<Host, Complaint> {
    if !matches!(configuration.policy.network(), NetworkScope::Only(_)) {
        return Ok(host);
    }
    let egress = Egress::new().with_injections(&configuration.inject, &host.environment);
    let egress = egress.map_err(|error| {
        Complaint::refused(format!("{error}; nothing ran"))
            .help("set the variable, or take the entry out of your policy file")
    })?;
    Ok(host.with_egress(egress))
}
