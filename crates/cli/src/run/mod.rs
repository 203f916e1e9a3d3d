//! `run` and `sh`: a command in its sandbox, with the streams, the terminal and the signals of its caller.

#[cfg(unix)]
mod attendant;
mod code;
mod environment;
mod sh;
#[cfg(unix)]
mod signals;
mod start;
mod streams;
#[cfg(unix)]
mod sys;
#[cfg(unix)]
mod terminal;
mod told;

use std::process::ExitCode;

use palisade::runner::host::HelperAhead;

use crate::ask::AskFlags;
use crate::complaint::Complaint;
use crate::ground::{Ground, PolicyFlags};
use crate::say::Voice;
use std::ffi::OsString;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  palisade run -- cargo test             writes the project and nothing else
  palisade run --net -w ~/x -- make      the network and one more directory, too
  palisade run --git commit -- git commit -am x
  palisade run -c 'make && make test'    a script
`palisade run --help` lists all options.")]
pub(crate) struct RunArgs {
    #[command(flatten)]
    flags: PolicyFlags,
    #[command(flatten)]
    ask: AskFlags,
    #[command(flatten)]
    how: HowFlags,
    /// Run this script with the shell
    #[arg(
        short = 'c',
        value_name = "SCRIPT",
        conflicts_with = "command",
        help_heading = None::<&str>
    )]
    script: Option<OsString>,
    /// The command and its arguments
    #[arg(
        last = true,
        value_name = "CMD",
        required_unless_present = "script",
        help_heading = None::<&str>,
        hide_short_help = true
    )]
    command: Vec<OsString>,
}

/// What a command inherits, and who is told about it.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "How it runs")]
pub(crate) struct HowFlags {
    /// Set a variable, or pass one on
    #[arg(long, value_name = "K[=V]", hide_short_help = true)]
    pub(crate) env: Vec<OsString>,
    /// Write what happens as JSON lines to a file, or to a descriptor as fd:N
    #[arg(long, value_name = "FILE|fd:N", hide_short_help = true)]
    pub(crate) events: Option<OsString>,
}

/// Run a script in a sandbox, wherever a shell is expected
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  palisade sh -c 'make && make test'       a script of one string
  palisade sh -euo pipefail -c 'a | b'     options of the shell, as they are
  palisade sh build.sh --fast              a file: its text is judged and run
  make SHELL=palisade-sh                   through a link with that name")]
pub(crate) struct ShArgs {
    #[command(flatten)]
    flags: PolicyFlags,
    #[command(flatten)]
    ask: AskFlags,
    #[command(flatten)]
    how: HowFlags,
    /// Options of the shell, -c SCRIPT or FILE, arguments
    #[arg(
        value_name = "SHELL ARGUMENTS",
        help_heading = None::<&str>,
        hide_short_help = true,
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    words: Vec<OsString>,
}

impl RunArgs {
    /// Those of a command with no option.
    pub(crate) fn plain(command: Vec<OsString>) -> Self {
        Self {
            flags: PolicyFlags::default(),
            ask: AskFlags::default(),
            how: HowFlags::default(),
            script: None,
            command,
        }
    }
}

impl ShArgs {
    /// Those of a shell with no option of ours.
    pub(crate) fn plain(words: Vec<OsString>) -> Self {
        Self {
            flags: PolicyFlags::default(),
            ask: AskFlags::default(),
            how: HowFlags::default(),
            words,
        }
    }
}

pub(crate) fn run(
    args: RunArgs,
    voice: &Voice,
    ahead: Option<HelperAhead>,
) -> Result<ExitCode, Complaint> {
    let what = match args.script {
        Some(script) => What::Script(script),
        None => What::Command(args.command),
    };
    start::start(&args.flags, &args.ask, &args.how, Ok(what), voice, ahead)
}

pub(crate) fn sh(
    args: ShArgs,
    voice: &Voice,
    ahead: Option<HelperAhead>,
) -> Result<ExitCode, Complaint> {
    let what = sh::read(&args.words);
    start::start(&args.flags, &args.ask, &args.how, what, voice, ahead)
}

/// What is to run.
#[derive(Clone, Debug)]
pub(crate) enum What {
    /// A program and its arguments.
    Command(Vec<OsString>),
    /// The text of a script.
    Script(OsString),
    /// A file with a script, for the shell.
    File {
        options: Vec<OsString>,
        file: OsString,
        arguments: Vec<OsString>,
    },
}

/// The shell that runs scripts. It is looked for in the `PATH` of the command, as every program is.
const SHELL: &str = "bash";

impl What {
    /// The words that are judged and run: never one thing and then another.
    ///
    /// # Errors
    /// A file cannot be read.
    fn argv(self, ground: &Ground) -> Result<Vec<OsString>, Complaint> {
        match self {
            Self::Command(words) => Ok(words),
            Self::Script(script) => Ok(vec![SHELL.into(), "-c".into(), script]),
            Self::File {
                options,
                file,
                arguments,
            } => sh::of_file(&options, &file, &arguments, ground),
        }
    }
}
