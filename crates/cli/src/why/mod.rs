//! `why`: whether a command could touch a path or a host, and which clause says so.
//!
//! The sandbox that `run` would use is set up once and asked; nothing runs in it. What it says is what the evidence of a
//! denied run says, because both ask the same oracle.

mod answer;
mod last;
mod origin;
mod target;
mod walk;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::ValueEnum;

use self::target::Target;
use crate::complaint::Complaint;
use crate::exit::Code;
use crate::ground::{Ground, PolicyFlags, Tried};
use crate::say::Voice;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Exit codes: 0 yes to everything that was asked, 1 no to some of it, 2 bad usage.

Examples:
  palisade why ~/.ssh/id_ed25519
  palisade why --access delete .git
  palisade why example.org:443
  palisade why --last                   what the last run was refused")]
pub(crate) struct WhyArgs {
    #[command(flatten)]
    flags: PolicyFlags,
    /// Explain what the last run was refused
    #[arg(long, conflicts_with_all = ["what", "access"])]
    last: bool,
    /// Only this access; without it a path is answered for read and write
    #[arg(long, value_name = "ACCESS")]
    access: Option<Wanted>,
    /// A path, or HOST:PORT
    #[arg(value_name = "PATH|HOST:PORT", required_unless_present = "last")]
    what: Option<OsString>,
}

/// An access, as a person names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Wanted {
    /// Read a file
    Read,
    /// List a directory
    List,
    /// Change a file, or make it
    Write,
    /// Make a new file or directory
    Create,
    /// Remove a file or directory
    Delete,
    /// Run a file
    Execute,
    /// Connect to a host or to a socket
    Connect,
    /// Listen on an address
    Listen,
}

pub(crate) fn why(args: &WhyArgs, voice: &Voice) -> Result<ExitCode, Complaint> {
    let answered = match &args.what {
        Some(what) => about(args, what, voice),
        None => last::explain(voice),
    };
    answered.map_err(|complaint| Complaint {
        code: Code::Usage,
        ..complaint
    })
}

fn about(args: &WhyArgs, what: &OsString, voice: &Voice) -> Result<ExitCode, Complaint> {
    let ground = Ground::find(&args.flags)?;
    let target = Target::parse(what, &ground)?;
    let questions = target.questions(args.access)?;
    let tried = Tried::on(&ground)?;
    let mut text = String::new();
    let mut code = Code::Fine;
    for question in &questions {
        let answer = answer::to(question, &tried);
        if !answer.is_yes() {
            code = Code::No;
        }
        text.push_str(&answer.text(&ground, &args.flags, &tried, voice));
    }
    voice.answer(&text);
    Ok(code.into())
}
