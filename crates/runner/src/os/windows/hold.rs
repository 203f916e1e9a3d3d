//! The program and the directory of a command, held from before they are checked until it has started.

use std::io;
use std::path::Path;

use palisade_windows_token::command_line::runs_in_cmd;

use crate::os::order::Order;
use crate::outcome::SetupFailure;
use crate::program::{HeldDirectory, HeldProgram, resolve_for};

/// Errors of Windows that have a remedy.
const SHARING_VIOLATION: i32 = 32;
const BAD_FORMAT: i32 = 193;
const NAME_TOO_LONG: i32 = 206;
const NEEDS_ELEVATION: i32 = 740;

/// Opens the program so that nobody can change it or put another in its place, and makes sure that it is the judged one.
pub(in crate::os) fn held_program(order: &Order) -> Result<HeldProgram, SetupFailure> {
    let path = match &order.program {
        Some(judged) => judged.path.clone(),
        None => {
            resolve_for(&order.argv, &order.env, &order.cwd)
                .map_err(|error| {
                    let step = "starting the program";
                    SetupFailure::new(step, error.errno(), format!("{step} failed: {error}"))
                })?
                .path
        }
    };
    let step = "checking that the program is the judged one";
    let held = HeldProgram::open(&path)
        .map_err(|error| failure(step, &path.display().to_string(), &error))?;
    if let Some(judged) = &order.program
        && held.identity() != (judged.device, judged.inode)
    {
        let message = format!(
            "{step} {} failed: another file is at its path than when the command was judged; judge it again",
            path.display()
        );
        return Err(SetupFailure::new(step, None, message));
    }
    for name in [path.as_path(), held.real()] {
        if runs_in_cmd(name) {
            return Err(batch(name));
        }
    }
    Ok(held)
}

/// Opens the directory so that nobody can move it away, and makes sure that it is the judged one.
pub(in crate::os) fn held_directory(order: &Order) -> Result<HeldDirectory, SetupFailure> {
    let step = "entering the working directory";
    let about = order.cwd.display().to_string();
    let held = HeldDirectory::open(&order.cwd).map_err(|error| failure(step, &about, &error))?;
    match order.directory {
        Some(judged) if judged != held.identity() => {
            let message = format!(
                "{step} {about} failed: another directory is at its path than when the command was judged; judge it again"
            );
            Err(SetupFailure::new(step, None, message))
        }
        _ => Ok(held),
    }
}

fn batch(path: &Path) -> SetupFailure {
    let message = format!(
        "starting the program {} failed: it is a batch file, and cmd.exe would read its arguments as commands; run cmd.exe \
         with a line that you wrote for it, or the program that the batch file starts",
        path.display()
    );
    SetupFailure::new("starting the program", None, message)
}

pub(super) fn failure(step: &str, about: &str, error: &io::Error) -> SetupFailure {
    let hint = match error.raw_os_error() {
        Some(SHARING_VIOLATION) => ": somebody has it open for writing; wait until they are done",
        Some(BAD_FORMAT) => ": it is no program of this system; a script needs its interpreter",
        Some(NAME_TOO_LONG) => ": the arguments or a path are too long",
        Some(NEEDS_ELEVATION) => {
            ": it wants to be started as an administrator, which nothing here does"
        }
        _ => "",
    };
    let about = match about {
        "" => String::new(),
        about => format!(" {about}"),
    };
    let message = format!("{step}{about} failed: {error}{hint}");
    SetupFailure::new(step, error.raw_os_error(), message)
}
