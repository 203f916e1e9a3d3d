//! From flags to a command that has ended.

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use palisade::runner::audit::{JsonLines, Rotation};
use palisade::runner::config::ConfigPaths;
use palisade::runner::exec_policy::Rules;
use palisade::runner::exec_policy::language::model::Floor;
use palisade::runner::host::HelperAhead;
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
    /// The command as it is judged and run.
    pub(crate) argv: &'a [OsString],
    /// Where this program was called.
    pub(crate) cwd: &'a Path,
    /// What no layer may loosen.
    pub(crate) floor: &'a Floor,
    /// The rules that judge.
    pub(crate) rules: &'a Rules,
    /// Where the files of every layer are.
    pub(crate) paths: &'a ConfigPaths,
    /// The project, links resolved.
    pub(crate) project: &'a Path,
}

pub(super) fn start(
    flags: &PolicyFlags,
    ask: &AskFlags,
    how: &HowFlags,
    what: Result<What, Complaint>,
    voice: &Voice,
    ahead: Option<HelperAhead>,
) -> Result<ExitCode, Complaint> {
    let ahead = ahead.unwrap_or_else(HelperAhead::start);
    let told = Told::new(how, voice)?;
    told.over(what.and_then(|what| to_the_end(flags, ask, how, what, voice, &told, ahead)))
}

fn to_the_end(
    flags: &PolicyFlags,
    ask: &AskFlags,
    how: &HowFlags,
    what: What,
    voice: &Voice,
    told: &Told,
    ahead: HelperAhead,
) -> Result<ExitCode, Complaint> {
    let variables = environment::read(&how.env)?;
    let ground = Ground::find_to_run(flags, ahead)?;
    told.out_of_reach(&ground)?;
    let argv = what.argv(&ground)?;
    let prompter = told.prompter(ask.prompter(&ground, voice)?);
    let Ground {
        host,
        paths,
        configuration,
        policy,
        cwd,
    } = ground;
    // This program ends when the command has: nobody has a use for the memory of the rules by then.
    std::mem::forget(Arc::clone(&configuration.rules));
    let run = Run {
        argv: &argv,
        cwd: &cwd,
        floor: &configuration.floor,
        rules: &configuration.rules,
        paths: &paths,
        project: configuration.project.path().as_path(),
    };
    let mut options = SessionOptions::default();
    if let Some(state) = paths.state.clone() {
        let records = JsonLines::in_state_dir(state.directory(), Rotation::default());
        options = options.with_state(state);
        // Where nothing can be recorded, such as in a sandbox, commands still run; `palisade doctor` says so.
        if let Ok(records) = records {
            options = options.with_audit(Arc::new(records));
        }
    }
    let (host, book) = (told.guard(host), configuration.book);
    let session = Sandbox::session_on(host, policy, book, prompter, options);
    let session = match session {
        Ok(session) => session,
        Err(error) => return Ok(told.unusable(&run, &error)),
    };
    told.begins(&run, &session);
    let mut command = told
        .watched(command(&session, &argv)?)
        .cwd(&cwd)
        .no_timeout()
        .last();
    for (name, value) in variables {
        command = command.env(name, value);
    }
    let result = streams::connected(command)
        .map_err(Error::Sandbox)
        .and_then(Command::output_blocking);
    Ok(told.ended(&run, &session, result))
}

fn command(session: &Session, argv: &[OsString]) -> Result<Command, Complaint> {
    let mut words = argv.iter();
    let program = words
        .next()
        .filter(|program| !program.is_empty())
        .ok_or_else(|| {
            Complaint::usage("there is no command to run").help("palisade run -- CMD ARGUMENTS")
        })?;
    Ok(session.command(program).args(words))
}
