//! `setup`: shows or installs what this machine needs.

use std::process::ExitCode;

use crate::complaint::Complaint;
use crate::say::Voice;

#[cfg(target_os = "linux")]
pub(super) fn setup(apply: bool, voice: &Voice) -> Result<ExitCode, Complaint> {
    use super::profile::{Installed, Places, install, is_restricted, text};
    use crate::say::shown;
    use palisade::runner::host::Host;

    let places = Places::of_this_machine();
    let host = Host::look();
    let program = host
        .helper
        .and_then(|helper| std::fs::canonicalize(helper).ok());
    let program = program.ok_or_else(|| {
        Complaint::failed("nobody knows where this program is, so no profile can name it")
    })?;
    if !is_restricted() {
        voice.answer(
            "nothing to do: this machine does not restrict user namespaces to programs with an AppArmor profile\n",
        );
        return Ok(ExitCode::SUCCESS);
    }
    let profile = text(&program, &places)?;
    let file = shown(&places.file);
    if !apply {
        voice.answer(&format!(
            "# {file}, loaded with apparmor_parser --replace\n{profile}"
        ));
        voice.note("nothing was written; to install it: sudo palisade setup --apply");
        return Ok(ExitCode::SUCCESS);
    }
    if !rustix::process::geteuid().is_root() {
        return Err(Complaint::refused("only root can install a profile")
            .help(format!("sudo {} setup --apply", shown(&program))));
    }
    let said = match install(&profile, &places)? {
        Installed::New => format!("{file} is written and loaded\nnext: palisade doctor\n"),
        Installed::Already => {
            format!("{file} was there already, and is loaded\nnext: palisade doctor\n")
        }
    };
    voice.answer(&said);
    Ok(ExitCode::SUCCESS)
}

#[cfg(not(target_os = "linux"))]
pub(super) fn setup(_: bool, voice: &Voice) -> Result<ExitCode, Complaint> {
    voice.answer("nothing to do: this system needs nothing that root would have to install\n");
    Ok(ExitCode::SUCCESS)
}
