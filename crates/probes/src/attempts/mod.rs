//! The attempts, as safe code: each one tries, and says what happened.

pub(crate) mod chains;
pub(crate) mod devices;
pub(crate) mod files;
pub(crate) mod kernel;
pub(crate) mod metadata;
pub(crate) mod mounts;
pub(crate) mod network;
pub(crate) mod others;
pub(crate) mod processes;
pub(crate) mod protected;
pub(crate) mod races;
pub(crate) mod rarer;
pub(crate) mod resources;
pub(crate) mod secrets;
pub(crate) mod surface;
mod tries;
pub(crate) mod unix;
pub(crate) mod victim;

use std::ffi::OsString;
use std::time::Duration;

use crate::registry::find;
use crate::report::Report;
use crate::site::Site;
use crate::sys::process;

pub(crate) use tries::Tries;

/// No attempt takes longer.
const SECONDS: u32 = 8;

/// How long an attempt waits for somebody else, who needs no time but may get none on a busy machine.
const PATIENCE: Duration = Duration::from_secs(2);

/// The first argument of the victim.
pub(crate) const VICTIM: &str = "victim";
/// The first argument of what tells as which user it runs.
pub(crate) const WHOAMI: &str = "whoami";

/// What the program does.
pub(crate) fn dispatch(arguments: &[OsString]) -> Result<String, String> {
    let (name, rest) = arguments
        .split_first()
        .ok_or_else(|| "usage: palisade-probe NAME KEY=VALUE...".to_owned())?;
    let name = name.to_str().unwrap_or_default();
    match name {
        VICTIM => return victim::serve(rest),
        WHOAMI => {
            let (user, effective) = process::users();
            return Ok(format!("{user} {effective}"));
        }
        _ => {}
    }
    let probe = find(name).ok_or_else(|| format!("no probe is named {name:?}"))?;
    let site =
        Site::parse(rest).map_err(|argument| format!("not a part of a site: {argument:?}"))?;
    process::alarm(SECONDS);
    Ok(probe.attempt(&site).to_string())
}

/// Nothing to try.
fn unavailable(why: &str) -> Report {
    Report::Unavailable(why.to_owned())
}
