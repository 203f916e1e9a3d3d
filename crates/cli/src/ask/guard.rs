//! Whoever answers must not be the one who is asked about: a command that could replace the answering program, or listen
//! on its socket, would approve itself.

use std::ffi::OsString;
use std::path::Path;

use palisade::runner::approve::visible;
use palisade::runner::audit::{AuditError, check_unwritable};
use palisade::runner::policy::{
    AbsolutePath, Access, HomeRoot, Peer, PolicyContext, ResolvedPolicy, UnixAddress,
};

use crate::complaint::Complaint;
use crate::ground::Ground;
use crate::say::shown;

/// The policy that commands run under, as the oracle reads it.
fn resolved(ground: &Ground) -> Result<ResolvedPolicy, Complaint> {
    let (policy, root) = ground.canonical()?;
    // Whether the home directory may be a root is asked elsewhere.
    let context =
        PolicyContext::new(ground.host.facts.clone(), root).with_home_root(HomeRoot::Allow);
    policy.resolve(&context).map_err(Complaint::usage)
}

/// Refuses a path that a command could write, replace or move.
///
/// # Errors
/// It could.
pub(crate) fn refuse_writable(flag: &str, path: &Path, ground: &Ground) -> Result<(), Complaint> {
    check_unwritable(path, &resolved(ground)?).map_err(|error| {
        let what = match flag {
            "--events" => "the command could write there as well",
            _ => "the command that is asked about could answer for itself",
        };
        // The error names the path once more, and speaks of records.
        let why = match error {
            AuditError::WritableFromSandbox { path, clause } => {
                format!("{} can be written ({clause})", shown(&path))
            }
            other => visible(&other.to_string()),
        };
        Complaint::refused(format!("{flag} {}: {what}: {why}", shown(path)))
            .help("keep it outside of everything that commands may write")
    })
}

/// The search path without the directories that a command could put programs into, such as those of a project's own tools.
///
/// # Errors
/// The policy makes no sense here.
pub(super) fn out_of_reach(
    search_path: Option<OsString>,
    ground: &Ground,
) -> Result<OsString, Complaint> {
    let policy = resolved(ground)?;
    let search_path = search_path.unwrap_or_default();
    let kept = std::env::split_paths(&search_path)
        .filter(|directory| directory.is_absolute())
        .filter(|directory| check_unwritable(&directory.join("program"), &policy).is_ok());
    // What was split can be joined.
    Ok(std::env::join_paths(kept).unwrap_or_default())
}

/// Refuses a socket that a command could connect to.
///
/// # Errors
/// It could.
pub(super) fn refuse_reachable(flag: &str, path: &Path, ground: &Ground) -> Result<(), Complaint> {
    let policy = resolved(ground)?;
    let refused = || {
        Complaint::refused(format!(
            "{flag} {}: the command that is asked about could speak to it as well",
            shown(path)
        ))
        .help("grant it another socket, or none")
    };
    if !policy.canonical().uses_runtime_sandbox() {
        return Ok(());
    }
    let address = UnixAddress::Path(AbsolutePath::new(path).map_err(|_| refused())?);
    let peer = Peer::Host;
    match policy.permits(&Access::Unix { address, peer }).is_allowed() {
        true => Err(refused()),
        false => Ok(()),
    }
}
