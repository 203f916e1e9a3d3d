//! Whoever answers must not be the one who is asked about: a command that could replace the answering program, or listen
//! on its socket, would approve itself.

use std::path::Path;

use palisade::runner::audit::check_unwritable;
use palisade::runner::policy::{
    AbsolutePath, Access, HomeRoot, Peer, PolicyContext, ResolvedPolicy, UnixAddress,
};

use crate::complaint::Complaint;
use crate::ground::Ground;

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
pub(super) fn refuse_writable(flag: &str, path: &Path, ground: &Ground) -> Result<(), Complaint> {
    check_unwritable(path, &resolved(ground)?).map_err(|error| {
        Complaint::refused(format!(
            "{flag} {}: the command that is asked about could answer for itself: {error}",
            path.display()
        ))
        .help("keep it outside of everything that commands may write")
    })
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
            path.display()
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
