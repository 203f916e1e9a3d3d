//! `palisade`: runs a command in a sandbox, and says what it could and could not touch.

mod args;
mod ask;
mod complaint;
mod doctor;
mod events;
mod exit;
mod ground;
mod judge;
mod keep;
mod lasting;
mod policy;
mod run;
mod say;
mod verify;
mod why;

use std::ffi::OsString;
use std::process::ExitCode;

use args::{Command, Invocation};
use palisade::runner::host::HelperAhead;
use say::Voice;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    // First of all: this program is also the helper that sets sandboxes up.
    if let Some(code) = palisade::dispatch(arguments.iter().cloned()) {
        return code;
    }
    if let Some(code) = verify::as_probe(&arguments) {
        return code;
    }
    // It loads while everything that it will be told is worked out.
    let ahead = args::look_like_a_run(&arguments).then(HelperAhead::start);
    let invocation = match args::parse(&arguments) {
        Ok(invocation) => invocation,
        Err(code) => return code,
    };
    let voice = Voice::of(&invocation);
    let done =
        carry_out(invocation, &voice, ahead).and_then(|code| say::all_answered().map(|()| code));
    match done {
        Ok(code) => code,
        Err(complaint) => {
            voice.complain(&complaint);
            complaint.code.into()
        }
    }
}

fn carry_out(
    invocation: Invocation,
    voice: &Voice,
    ahead: Option<HelperAhead>,
) -> Result<ExitCode, complaint::Complaint> {
    match invocation.command {
        Command::Run(args) => run::run(args, voice, ahead),
        Command::Sh(args) => run::sh(args, voice, ahead),
        Command::Check(args) => judge::check(&args, voice),
        Command::Explain(args) => judge::explain(&args, voice),
        Command::Why(args) => why::why(&args, voice),
        Command::Verify(args) => verify::verify(&args, voice),
        Command::Doctor(args) => doctor::doctor(&args, voice),
        Command::Setup(args) => doctor::setup(&args, voice),
        Command::Policy(args) => policy::policy(&args, voice),
        Command::Trust(args) => keep::trust(&args, voice),
        Command::Approvals(args) => keep::approvals(&args, voice),
        Command::Audit(args) => keep::audit(&args, voice),
        Command::Completions(args) => args::completions(&args, voice),
    }
}
