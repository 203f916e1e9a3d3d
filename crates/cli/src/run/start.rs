//! From flags to a command that has ended.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use palisade::runner::audit::{JsonLines, Rotation};
use palisade::runner::session::SessionOptions;
use palisade::{Command, Error, Sandbox, Session};

use super::told::Told;
use super::{HowFlags, What, environment, streams};
use crate::ask::AskFlags;
use crate::complaint::Complaint;
use crate::ground::{Ground, PolicyFlags};
use crate::say::Voice;

/// A run, as those who tell about it see it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run<'a> {
    pub(crate) flags: &'a PolicyFlags,
    pub(crate) how: &'a HowFlags,
    /// What was asked for, word by word.
    pub(crate) what: &'a What,
    /// Where this program was called.
    pub(crate) cwd: &'a Path,
    pub(crate) voice: &'a Voice,
}

pub(super) fn start(
    flags: &PolicyFlags,
    ask: &AskFlags,
    how: &HowFlags,
    what: &What,
    voice: &Voice,
) -> Result<ExitCode, Complaint> {
    let variables = environment::read(&how.env)?;
    let ground = Ground::find(flags)?;
    let prompter = ask.prompter(&ground, voice)?;
    let Ground {
        host,
        paths,
        configuration,
        policy,
        cwd,
    } = ground;
    let run = Run {
        flags,
        how,
        what,
        cwd: &cwd,
        voice,
    };
    let mut told = Told::new(&run)?;
    let mut options = SessionOptions::default();
    if let Some(state) = paths.state {
        let records = JsonLines::in_state_dir(state.directory(), Rotation::default());
        options = options.with_state(state);
        // Where nothing can be recorded, such as in a sandbox, commands still run; `palisade doctor` says so.
        if let Ok(records) = records {
            options = options.with_audit(Arc::new(records));
        }
    }
    let session = Sandbox::on(host, policy)
        .and_then(|sandbox| sandbox.session_with(configuration.book, prompter, options));
    let session = match session {
        Ok(session) => session,
        Err(error) => return Err(told.unusable(&run, &error)),
    };
    told.begins(&run, &session);
    let mut command = command(&session, what)?.cwd(&cwd).no_timeout();
    for (name, value) in variables {
        command = command.env(name, value);
    }
    let result = streams::connected(command)
        .map_err(Error::Sandbox)
        .and_then(Command::output_blocking);
    told.ended(&run, &session, result)
}

fn command(session: &Session, what: &What) -> Result<Command, Complaint> {
    Ok(match what {
        What::Script(script) => session.script(script),
        What::Command(words) => {
            let mut words = words.iter();
            let program = words
                .next()
                .ok_or_else(|| Complaint::usage("there is no command to run"))?;
            session.command(program).args(words)
        }
    })
}
