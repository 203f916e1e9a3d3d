//! The commands, as clap reads them. What follows a command's name stands in that command's own folder.

mod quick;

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser, Subcommand, ValueEnum};

use crate::complaint::Complaint;
use crate::say::Voice;
use crate::{doctor, exit, judge, keep, policy, run, verify, why};

/// What this program is called when it stands in for a shell.
const SHELL_NAME: &str = "palisade-sh";
const LOGIN_SHELL_NAME: &str = "-palisade-sh";

/// Runs commands in a sandbox, and says what they could and could not touch.
#[derive(Debug, Parser)]
#[command(
    name = "palisade",
    version,
    disable_help_subcommand = true,
    after_help = "Examples:
  palisade run -- cargo test            writes the project and nothing else
  palisade run --git commit -- git commit -am 'Fix it'
  palisade check -- git push --force    what the rules say; nothing runs
  palisade why ~/.ssh                   what a command could do with it, and why
  palisade doctor                       what this machine can enforce"
)]
pub(crate) struct Invocation {
    #[command(flatten)]
    pub(crate) how: Manner,
    #[command(subcommand)]
    pub(crate) command: Command,
}

// How every command speaks. (No doc comment: clap would take it for what the program is about.)
#[derive(Debug, clap::Args)]
pub(crate) struct Manner {
    /// Say nothing that is not asked for: no status line, no hints
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
    /// When to use colours: auto, always or never; `NO_COLOR` is respected
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        hide_possible_values = true,
        hide_default_value = true,
        hide_short_help = true
    )]
    pub(crate) color: Colour,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Colour {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a command in a sandbox
    Run(run::RunArgs),
    /// Run a script in a sandbox, wherever a shell is expected
    Sh(run::ShArgs),
    /// Say what the rules make of a command, without running it
    Check(judge::CheckArgs),
    /// Say how the rules came to that, step by step
    Explain(judge::ExplainArgs),
    /// Say whether a command could touch a path or a host, and why
    Why(why::WhyArgs),
    /// Try every promise of the policy on this machine
    Verify(verify::VerifyArgs),
    /// Say what this machine can enforce, and what would mend the rest
    Doctor(doctor::DoctorArgs),
    /// Show, or install, what this machine needs
    Setup(doctor::SetupArgs),
    /// Write, read, test and compare policies
    Policy(policy::PolicyArgs),
    /// Agree to the policy files of a project
    Trust(keep::TrustArgs),
    /// List and revoke what was approved for good
    Approvals(keep::ApprovalsArgs),
    /// Read the record of what ran
    Audit(keep::AuditArgs),
    /// Print completions for a shell
    Completions(CompletionsArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct CompletionsArgs {
    shell: clap_complete::Shell,
}

/// Whether this program, called by this name, stands in for a shell. A dash before the name is how a login says that it
/// wants a login shell.
pub(crate) fn is_shell(name: &OsStr) -> bool {
    let name = Path::new(name).file_name();
    name.is_some_and(|name| name == SHELL_NAME || name == LOGIN_SHELL_NAME)
}

/// Whether these look like the arguments of a command that runs something: the first word that is no option says so. That
/// is a guess, for what can begin while they are read in earnest.
pub(crate) fn look_like_a_run(arguments: &[OsString]) -> bool {
    let mut words = arguments.iter();
    let shell = words.next().is_some_and(|name| is_shell(name));
    let first = words.find(|word| !word.as_encoded_bytes().starts_with(b"-"));
    shell || first.is_some_and(|word| word == "run" || word == "sh")
}

/// Reads the arguments; where they make no sense, or ask for help, says so and returns what to exit with.
pub(crate) fn parse(arguments: &[OsString]) -> Result<Invocation, ExitCode> {
    let as_shell: Vec<OsString>;
    let arguments = if arguments.first().is_some_and(|name| is_shell(name)) {
        // Whoever calls a shell may be a file of the project, such as a Makefile: nothing that it passes is an option of
        // ours, which could loosen the sandbox.
        let words = ["palisade", "sh", "--"].map(OsString::from).into_iter();
        as_shell = words.chain(arguments.iter().skip(1).cloned()).collect();
        &as_shell
    } else {
        arguments
    };
    if let Some(invocation) = quick::parse(arguments) {
        return Ok(invocation);
    }
    Invocation::try_parse_from(arguments).map_err(|error| {
        // Nobody is left to be told if that cannot be written.
        let _ = error.print();
        match error.use_stderr() {
            true => exit::Code::Usage.into(),
            false => exit::Code::Fine.into(),
        }
    })
}

pub(crate) fn completions(args: &CompletionsArgs, voice: &Voice) -> Result<ExitCode, Complaint> {
    let mut text = Vec::new();
    clap_complete::generate(
        args.shell,
        &mut Invocation::command(),
        "palisade",
        &mut text,
    );
    voice.answer_file(&String::from_utf8_lossy(&text));
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_guessed_by_its_first_word() {
        let looks = |line: &str| {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            look_like_a_run(&words)
        };
        for line in [
            "palisade run -- true",
            "palisade --quiet sh -c x",
            "/bin/palisade-sh",
        ] {
            assert!(looks(line), "{line}");
        }
        for line in [
            "palisade",
            "palisade check -- run",
            "run",
            "palisade --help",
        ] {
            assert!(!looks(line), "{line}");
        }
    }
}
