//! From flags to a command that has ended.

use std::io::Write as _;
use std::process::ExitCode;

use palisade::runner::capture::Stream;
use palisade::runner::session::SessionOptions;
use palisade::{Finished, Sandbox};

use super::{HowFlags, What};
use crate::ask::AskFlags;
use crate::complaint::Complaint;
use crate::exit::Code;
use crate::ground::{Ground, PolicyFlags};
use crate::say::Voice;

pub(super) fn start(
    flags: &PolicyFlags,
    ask: &AskFlags,
    how: &HowFlags,
    what: What,
    voice: &Voice,
) -> Result<ExitCode, Complaint> {
    let _ = how;
    let ground = Ground::find(flags)?;
    let prompter = ask.prompter(&ground, voice)?;
    let sandbox = Sandbox::on(ground.host, ground.policy).map_err(Complaint::refused)?;
    let mut options = SessionOptions::default();
    if let Some(state) = ground.paths.state {
        options = options.with_state(state);
    }
    let session = sandbox
        .session_with(ground.configuration.book, prompter, options)
        .map_err(Complaint::refused)?;
    let command = match what {
        What::Script(script) => session.script(script),
        What::Command(words) => {
            let mut words = words.into_iter();
            let program = words
                .next()
                .ok_or_else(|| Complaint::usage("there is no command to run"))?;
            session.command(program).args(words)
        }
    };
    let finished = command
        .cwd(&ground.cwd)
        .no_timeout()
        .live(|chunk| {
            let _ = match chunk.stream {
                Stream::Stderr => std::io::stderr().write_all(&chunk.bytes),
                _ => std::io::stdout().write_all(&chunk.bytes),
            };
        })
        .output_blocking()
        .map_err(Complaint::refused)?;
    Ok(code_of(&finished))
}

fn code_of(finished: &Finished) -> ExitCode {
    u8::try_from(finished.outcome.exit_code()).map_or(Code::Failed.into(), ExitCode::from)
}
