//! Ways to start a command: the library in this process, and whatever is a prefix to a command line.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command as Process;
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow};
use palisade::runner::approve::NoPrompter;
use palisade::runner::host::{Host, HostParts};
use palisade::{AskForApproval, Policy, Rules, Sandbox};
use palisade_linux_landlock::{Command, DirectLauncher, Helper, Plan, Session, Stdio, Tier};
use palisade_probes::{Mode, Tier as ProbesTier};

use super::Bench;
use super::bare;
use super::result::Whose;
use super::rounds::Contestant;
use super::stage::Stage;
use crate::subject::{self, Kind, Place, Prefix};

/// Where programs are looked for, outside as well as inside.
pub(super) const PATH: &str = "/usr/local/bin:/usr/bin:/bin";
/// No launch takes longer than that, however slow the machine.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// What could not be made says why to whoever wants to use it.
type Made<T> = Result<T, String>;

/// The library, set up for one stage: everything that is paid for once.
pub(super) struct Ways<'a> {
    pub(super) stage: &'a Stage,
    pub(super) helper: Helper,
    pub(super) stdio: Stdio,
    full: Made<Plan>,
    landlock: Made<Plan>,
    full_session: Made<Session>,
    landlock_session: Made<Session>,
    direct: Made<DirectLauncher>,
    facade: Made<palisade::Session>,
}

impl<'a> Ways<'a> {
    pub(super) fn new(stage: &'a Stage, helper: &Path) -> Result<Self> {
        let program = helper;
        let helper = Helper::new(program);
        let plan = |tier| told(stage.plan(tier));
        let (full, landlock) = (plan(Tier::Full), plan(Tier::Landlock));
        let start = |plan: &Made<Plan>| {
            let plan = plan.as_ref().map_err(Clone::clone)?;
            told(Session::start(plan, &helper).map_err(Into::into))
        };
        let direct = landlock.as_ref().map_err(Clone::clone);
        let direct = direct.and_then(|plan| told(DirectLauncher::new(plan).map_err(Into::into)));
        Ok(Self {
            stdio: Stdio::null()?,
            full_session: start(&full),
            landlock_session: start(&landlock),
            direct,
            facade: told(facade(stage, program)),
            full,
            landlock,
            helper,
            stage,
        })
    }

    /// A command in the workspace, with an empty environment.
    pub(super) fn command(&self, program: &Path) -> Command {
        Command::new([program], &self.stage.workspace)
    }

    pub(super) fn plan(&self, tier: Tier) -> Result<&Plan> {
        made(match tier {
            Tier::Full => &self.full,
            Tier::Landlock => &self.landlock,
        })
    }

    pub(super) fn session(&self, tier: Tier) -> Result<&Session> {
        made(match tier {
            Tier::Full => &self.full_session,
            Tier::Landlock => &self.landlock_session,
        })
    }

    /// Without a helper, in the landlock tier.
    pub(super) fn direct(&self, command: &Command) -> Result<()> {
        let mut child = made(&self.direct)?.spawn(command, &self.stdio)?;
        let exit = child.wait()?;
        anyhow::ensure!(exit.success(), "{}", exit.cause);
        Ok(())
    }

    /// In a session that runs already.
    pub(super) fn next(&self, tier: Tier, command: &Command) -> Result<()> {
        next(self.session(tier)?, command, &self.stdio)
    }

    /// In a session that is started for it and ended after it, from a plan that was made beforehand.
    pub(super) fn cold(&self, tier: Tier, command: &Command) -> Result<()> {
        cold(self.plan(tier)?, &self.helper, command, &self.stdio)
    }

    /// As an embedder does: judged by rules, its program resolved, its output captured, its end explained.
    pub(super) fn facade(&self, program: &Path) -> Result<()> {
        run_facade(made(&self.facade)?, program)
    }

    /// The same in a session of its own, from a policy and a look at the host.
    pub(super) fn cold_facade(&self, program: &Path) -> Result<()> {
        run_facade(&facade(self.stage, self.helper.program())?, program)
    }
}

pub(super) fn next(session: &Session, command: &Command, stdio: &Stdio) -> Result<()> {
    let exit = session.spawn(command, stdio)?.wait()?;
    anyhow::ensure!(exit.success(), "{}", exit.cause);
    Ok(())
}

pub(super) fn cold(plan: &Plan, helper: &Helper, command: &Command, stdio: &Stdio) -> Result<()> {
    let session = Session::start(plan, helper)?;
    next(&session, &command.clone().as_last(), stdio)?;
    session.end();
    Ok(())
}

fn facade(stage: &Stage, helper: &Path) -> Result<palisade::Session> {
    let environment = environment(stage).into_iter().collect();
    let parts = HostParts::look().with_environment(environment);
    let host = Host::from_parts(parts).with_helper(helper);
    let policy = Policy::workspace(&stage.workspace).approval(AskForApproval::OnRequest);
    Ok(Sandbox::on(host, policy)?.session(Rules::builtin()?, NoPrompter)?)
}

fn run_facade(session: &palisade::Session, program: &Path) -> Result<()> {
    let run = session.command(program).output_blocking()?;
    anyhow::ensure!(run.outcome.success(), "{}", run.outcome);
    Ok(())
}

fn told<T>(made: Result<T>) -> Made<T> {
    made.map_err(|error| format!("{error:#}"))
}

fn made<T>(made: &Made<T>) -> Result<&T> {
    made.as_ref().map_err(|why| anyhow!("{why}"))
}

/// What every program needs.
pub(super) fn environment(stage: &Stage) -> [(OsString, OsString); 3] {
    [
        ("PATH".into(), PATH.into()),
        ("HOME".into(), stage.home.clone().into()),
        ("LANG".into(), "C.UTF-8".into()),
    ]
}

/// A subject that is a prefix to a command line.
pub(super) struct Prefixed {
    pub(super) name: String,
    pub(super) whose: Whose,
    /// The prefix, or why there is none; nothing if it is not installed.
    prefix: Option<Made<Prefix>>,
}

/// Our helper and our command on this stage, and the peers if they are asked for.
pub(super) fn prefixed(bench: &Bench<'_>, stage: &Stage) -> Result<Vec<Prefixed>> {
    let mut all = Vec::new();
    for subject in subject::all() {
        let (whose, name) = match (subject.kind, subject.name) {
            // It is measured in this process.
            (Kind::Ours, "library") => continue,
            (Kind::Ours, "helper") => (Whose::Ours, "helper, command line, full tier".to_owned()),
            (Kind::Ours, "command") => (Whose::Ours, COMMAND.to_owned()),
            (Kind::Ours, name) => (Whose::Ours, name.to_owned()),
            (Kind::Peer, _) if !bench.peers => continue,
            (Kind::Peer, name) => (Whose::Peer, name.to_owned()),
        };
        let scratch = stage.aside(subject.name)?;
        let place = Place {
            workspace: &stage.workspace,
            roots: &[],
            home: &stage.home,
            protected: &[],
            mode: Mode::Write,
            tier: ProbesTier::Full,
            losses: &[],
            limits: None,
            scratch: &scratch,
        };
        let installed = subject.is_installed(bench.programs);
        let prefix = installed.then(|| {
            let mut prefix = told(subject.prefix(bench.programs, &place).map_err(Into::into))?;
            if subject.name == "helper" {
                without_wrapper(&mut prefix, &bench.programs.helper);
            }
            Ok(prefix)
        });
        all.push(Prefixed {
            name,
            whose,
            prefix,
        });
    }
    Ok(all)
}

/// The name of our command's row.
pub(super) const COMMAND: &str = "`palisade run`, full tier";

/// The program that only cleans the environment is not part of what the helper costs: here it is clean already.
fn without_wrapper(prefix: &mut Prefix, helper: &Path) {
    let at = prefix
        .line
        .iter()
        .position(|word| word == helper.as_os_str());
    prefix.line.drain(..at.unwrap_or(0));
}

impl Prefixed {
    pub(super) fn is_installed(&self) -> bool {
        self.prefix.is_some()
    }

    /// A command line in it, as a process that can be started again and again.
    pub(super) fn process(&self, line: &[OsString], stage: &Stage) -> Result<Process> {
        let prefix = self.prefix.as_ref().context("it is not installed")?;
        let prefix = made(prefix)?;
        let mut words = prefix.line.iter().chain(line);
        let program = words.next().context("there is no command")?;
        let mut process = bare::quiet(program, &stage.workspace);
        process
            .args(words)
            .envs(environment(stage))
            .envs(prefix.environment.iter().cloned());
        Ok(process)
    }

    /// A launch of a program in it, as somebody to measure.
    pub(super) fn launch(&self, program: &Path, stage: &Stage) -> Contestant<'static> {
        let made = self.process(&[program.into()], stage);
        let made = made.map(|mut process| {
            Contestant::timed(&self.name, self.whose, move || {
                run_or_complain(&mut process, PATIENCE)
            })
        });
        Contestant::of(&self.name, self.whose, made)
    }
}

/// Runs a process; one that fails is asked once more, for what it has to say.
pub(super) fn run_or_complain(process: &mut Process, patience: Duration) -> Result<()> {
    bare::run(process, patience).or_else(|error| {
        bare::complaint(process, patience)?;
        Err(error)
    })
}

/// A program in the directories that everybody has.
pub(super) fn find(name: &str) -> Option<PathBuf> {
    let mut directories = PATH.split(':').map(Path::new);
    directories.find_map(|directory| Some(directory.join(name)).filter(|program| program.is_file()))
}
