//! Induced denials: is the resource named, the clause, and a line that works?
//!
//! Each act is refused by the sandbox in a home of its own. What `palisade run` says about it is read as a person reads
//! it, and the line that it offers is run as it stands there; then the act must have been done.

mod list;
mod table;
mod trial;

use std::ffi::OsString;
use std::process::ExitCode;

use anyhow::Result;

use crate::options::Options;
use crate::report::host::Host;
use crate::subject::Programs;
use crate::useful::{Ground, in_parallel, is_here};

pub use list::{Case, all};
pub use table::{Explained, Found, Row};

const HELP: &str = "\
cargo xtask denials [--only PART]... [--jobs N] [--as root|user|both] [--write]
cargo xtask denials --list

  --only PART  only acts with this in their name or class
  --jobs N     how many at a time; without it: 2
  --write      write what was found to docs/evidence
  --list       one line for each act";

/// `denials`: induces them and says how many are explained.
///
/// # Errors
/// The options make no sense, or something that is needed cannot be made.
pub fn main(arguments: impl Iterator<Item = OsString>, say: &dyn Fn(&str)) -> Result<ExitCode> {
    let options = Options::of_measurement(arguments, &[])?;
    if options.has("--help") {
        say(HELP);
        return Ok(ExitCode::SUCCESS);
    }
    if crate::report::pages(&options, "denials", table::page, say)? {
        return Ok(ExitCode::SUCCESS);
    }
    let only = options.texts("--only")?;
    let mut cases = all()?;
    let root = rustix::process::geteuid().is_root();
    cases.retain(|case| root || !case.root);
    cases.retain(|case| {
        only.is_empty()
            || only
                .iter()
                .any(|part| case.name.contains(part) || case.class == *part)
    });
    if options.has("--list") {
        for case in &cases {
            say(&format!(
                "{:<10} {:<22} {}",
                case.class,
                case.name,
                case.script.replace('\n', "⏎")
            ));
        }
        return Ok(ExitCode::SUCCESS);
    }
    let jobs = options.jobs()?;
    let programs = Programs::beside_this(&options)?;
    let ground = Ground::new("denials")?;
    let template = ground.filled("home", trial::BEFORE)?;
    let host = trial::Host::new()?;
    let rows = in_parallel(&cases, jobs, |worker, case| {
        let mut missing = case.needs.iter().filter(|program| !is_here(program));
        if let Some(program) = missing.next() {
            let mut row = Row::new(case);
            row.absent = Some(program.clone());
            return row;
        }
        let slot = format!("slot-{worker}");
        trial::Trial {
            ground: &ground,
            slot: &slot,
            template: &template,
            case,
            host: &host,
            programs: &programs,
        }
        .row()
    });
    let found = Found {
        host: Host::this(),
        rows,
    };
    say(found.text().trim_end());
    crate::report::leave(&options, &found)?;
    // A part of them says nothing about the rate.
    Ok(ExitCode::from(u8::from(
        only.is_empty() && !found.is_good(),
    )))
}
