//! Whether this program itself runs in a sandbox of Palisade's, where it must not loosen anything.

use palisade::runner::host::Host;

use super::flags::{Git, Mode, PolicyFlags};
use crate::complaint::Complaint;

/// What every command in a sandbox is told.
const MARKER: &str = "PALISADE_SANDBOX";

/// The sandbox around this program, as far as anybody can tell. A command can take the marker away; what keeps the files
/// that decide about commands is the sandbox, not this answer.
pub(crate) fn sandbox() -> Option<String> {
    let marker = std::env::var_os(MARKER)?;
    let marker = marker.to_string_lossy().into_owned();
    (!marker.is_empty() && marker != "none").then_some(marker)
}

/// Refuses something that only a person outside may do.
///
/// # Errors
/// This runs in a sandbox.
pub(crate) fn refuse_inside(what: &str) -> Result<(), Complaint> {
    match sandbox() {
        Some(_) => Err(Complaint::refused(format!(
            "`palisade {what}` is refused inside a sandbox of Palisade's: a command cannot free itself"
        ))
        .help("run it in a terminal of your own")),
        None => Ok(()),
    }
}

/// Refuses flags that loosen what a sandbox inside a sandbox would keep.
pub(super) fn refuse_loosening(flags: &PolicyFlags) -> Result<(), Complaint> {
    let loosens = !flags.write.is_empty()
        || !flags.grant.is_empty()
        || !flags.net.is_empty()
        || !flags.accept_loss.is_empty()
        || flags.allow_home_root
        || flags.policy.is_some()
        || matches!(flags.mode, Some(Mode::Open))
        || matches!(flags.git, Some(Git::Commit | Git::Full));
    match loosens && sandbox().is_some() {
        true => Err(Complaint::refused(
            "a flag that loosens the policy is refused inside a sandbox of Palisade's",
        )
        .help("leave the flag out, or run it in a terminal of your own")),
        false => Ok(()),
    }
}

/// Where kept approvals, trust and records are, for commands that change them.
///
/// # Errors
/// There is no such place.
pub(crate) fn state(host: &Host) -> Result<palisade::runner::config::State, Complaint> {
    palisade::runner::config::State::of(host).map_err(Complaint::failed)
}
