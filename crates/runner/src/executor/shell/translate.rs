//! Whether a command is rewritten for the user's shell.

use super::super::request::ExecParams;
use super::UserShell;

/// The parameters, with the command rewritten for the user's shell where that is called for: the shell is PowerShell, or
/// its start-up file is wanted. Where the shell cannot format the command, and for everything but the command, nothing
/// changes.
#[must_use]
pub fn maybe_translate_shell_command(
    params: ExecParams,
    shell: Option<&UserShell>,
    use_shell_profile: bool,
) -> ExecParams {
    let formatted = shell
        .filter(|shell| use_shell_profile || shell.always_translates())
        .and_then(|shell| shell.format(&params.command, use_shell_profile));
    match formatted {
        Some(command) => ExecParams { command, ..params },
        None => params,
    }
}
