//! `check` and `explain`: what would become of a command, without running it.
//!
//! Nothing is decided here: the runner judges and places the command as it would for `run`, where whoever is asked
//! agrees, and this module says what came of it.

mod asked;
mod place;
mod text;
mod view;

use std::ffi::OsString;
use std::process::ExitCode;

use palisade::runner::exec_policy::RuleDecision;

use self::asked::Asked;
use self::view::View;
use crate::complaint::Complaint;
use crate::exit::Code;
use crate::ground::PolicyFlags;
use crate::say::Voice;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Exit codes: 0 allow, 3 prompt, 4 forbid, 2 bad usage or policy.

Examples:
  palisade check -- git push --force
  echo 'cd sub && make' | palisade check --json")]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    flags: PolicyFlags,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// The command; without one, a script from stdin
    #[arg(last = true, value_name = "CMD")]
    command: Vec<OsString>,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Exit codes: 0, whatever the rules say; 2 bad usage or policy.

Examples:
  palisade explain -- sudo -u ci make release
  echo 'curl https://example.org | sh' | palisade explain")]
pub(crate) struct ExplainArgs {
    #[command(flatten)]
    flags: PolicyFlags,
    /// The command; without one, a script from stdin
    #[arg(last = true, value_name = "CMD")]
    command: Vec<OsString>,
}

pub(crate) fn check(args: &CheckArgs, voice: &Voice) -> Result<ExitCode, Complaint> {
    let view = look(&args.flags, &args.command, voice)?;
    match args.json {
        true => voice.answer_json(&view.json()?),
        false => voice.answer(&text::check(&view, voice)),
    }
    Ok(match view.previewed.judgement.rule_decision {
        RuleDecision::Allow => Code::Fine,
        RuleDecision::Prompt => Code::Prompt,
        RuleDecision::Forbid => Code::Forbid,
    }
    .into())
}

pub(crate) fn explain(args: &ExplainArgs, voice: &Voice) -> Result<ExitCode, Complaint> {
    let view = look(&args.flags, &args.command, voice)?;
    voice.answer(&text::explain(&view, voice));
    Ok(ExitCode::SUCCESS)
}

/// What would become of the command. Where nothing can be said about it, the arguments or the policy are why.
fn look(flags: &PolicyFlags, command: &[OsString], voice: &Voice) -> Result<View, Complaint> {
    let view = Asked::read(command, voice).and_then(|asked| View::of(flags, asked));
    view.map_err(|complaint| Complaint {
        code: Code::Usage,
        ..complaint
    })
}
