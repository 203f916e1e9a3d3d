//! One probe in one subject on one host under one policy, on a stage of its own.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use palisade_probes::run::{Ended, Ran, bare, launch};
use palisade_probes::stage::{Setup, Stage};
use palisade_probes::{Mode, Probe, Tier, Verdict};

use super::hosts::Host;
use crate::subject::{self, Kind, Limits, Place, Prefix, Programs, Run, Subject};

/// How long a case may take. Ours are given time because a busy machine must not look like a broken sandbox.
const PATIENCE: Duration = Duration::from_secs(30);
const PATIENCE_WITH_PEERS: Duration = Duration::from_secs(10);

/// Where stages are: not in `/tmp`, which is private in sandboxes; and for a subject that has a private `/var/tmp` as well.
const BASE: &str = "/var/tmp";
const OTHER_BASE: &str = "/srv";

/// Which needs a network of its own to be tried at all.
const METADATA_SERVICE: &str = "net-cloud-metadata";

/// How a subject is started, as far as that was found out before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Manner {
    /// It writes to the home directory when it is first used: that is not a probe's doing.
    pub(super) warm_up: bool,
    /// It shows a command nothing but the workspace: the probe must be there.
    pub(super) program_in_workspace: bool,
    /// It hides where stages usually are.
    pub(super) elsewhere: bool,
}

/// What is tried where.
#[derive(Clone, Copy, Debug)]
pub(super) struct Case<'a> {
    pub(super) programs: &'a Programs,
    /// None is the control, without any sandbox.
    pub(super) subject: Option<&'static Subject>,
    /// For our subjects.
    pub(super) host: Option<&'a Host>,
    pub(super) mode: Mode,
    pub(super) manner: Manner,
}

impl Case<'_> {
    /// A stage for it.
    pub(super) fn stage(&self) -> io::Result<Stage> {
        let mut stage = Stage::prepare(&self.setup())?;
        self.fit(&mut stage)?;
        Ok(stage)
    }

    fn setup(&self) -> Setup<'_> {
        Setup {
            base: Path::new(if self.manner.elsewhere {
                OTHER_BASE
            } else {
                BASE
            }),
            program: &self.programs.probe,
            owner: None,
            mode: self.mode,
        }
    }

    fn fit(&self, stage: &mut Stage) -> io::Result<()> {
        // Where a limit ends a probe, it uses more than the limit.
        stage.site_mut().processes = 200;
        fs::create_dir(scratch(stage))?;
        if self.manner.program_in_workspace {
            let copy = stage.site().workspace.join("palisade-probe");
            fs::copy(&self.programs.probe, copy)?;
        }
        Ok(())
    }

    /// Tries the probe and judges what came of it.
    pub(super) fn run(&self, probe: &Probe) -> io::Result<Verdict> {
        let root = rustix::process::geteuid().is_root();
        if probe.name == METADATA_SERVICE && root {
            // The thread stays in that network, so it is one of its own.
            return std::thread::scope(|scope| {
                let run = scope.spawn(|| {
                    let mut stage = Stage::prepare_in_own_network(&self.setup())?;
                    self.fit(&mut stage)?;
                    self.run_on(probe, &stage)
                });
                run.join()
                    .unwrap_or_else(|_| Err(io::Error::other("the thread ended early")))
            });
        }
        self.run_on(probe, &self.stage()?)
    }

    fn run_on(&self, probe: &Probe, stage: &Stage) -> io::Result<Verdict> {
        let Some(subject) = self.subject else {
            return launch(probe, stage, &mut |line| bare(stage, None, line));
        };
        let prefix = self.prefix(subject, stage, self.losses())?;
        if self.manner.warm_up {
            self.words(stage, &prefix, &["/bin/true".into()])?;
        }
        let mut complained = String::new();
        let mut verdict = launch(probe, stage, &mut |line| {
            let mut line = line.to_vec();
            if self.manner.program_in_workspace
                && let Some(program) = line.first_mut()
            {
                *program = stage.site().workspace.join("palisade-probe").into();
            }
            let (ran, said) = self.words(stage, &prefix, &line)?;
            complained = complaint(&said);
            Ok(ran)
        })?;
        if verdict.said.starts_with("broken: ") {
            verdict.said = format!("{}; {complained}", verdict.said);
        }
        // A directory by chance, which tells nobody anything once it is gone.
        let root = stage.root().to_string_lossy().into_owned();
        verdict.said = verdict.said.replace(&root, "STAGE");
        Ok(verdict)
    }

    /// Runs a command line on a stage.
    pub(super) fn words(
        &self,
        stage: &Stage,
        prefix: &Prefix,
        line: &[OsString],
    ) -> io::Result<(Ran, String)> {
        let ours = self
            .subject
            .is_none_or(|subject| subject.kind == Kind::Ours);
        subject::run(&Run {
            prefix,
            line,
            environment: &stage.environment(),
            directory: &stage.site().workspace,
            timeout: if ours { PATIENCE } else { PATIENCE_WITH_PEERS },
        })
    }

    pub(super) fn losses(&self) -> &'static [&'static str] {
        self.host.map_or(&[], Host::losses)
    }

    /// What stands before a command line on this stage, with these losses accepted.
    pub(super) fn prefix(
        &self,
        subject: &Subject,
        stage: &Stage,
        losses: &[&str],
    ) -> io::Result<Prefix> {
        let site = stage.site();
        let prefix = subject.prefix(
            self.programs,
            &Place {
                workspace: &site.workspace,
                roots: std::slice::from_ref(&site.plain),
                home: &site.home,
                protected: &stage.protected(),
                mode: self.mode,
                tier: self.host.map_or(Tier::Full, |host| host.tier),
                losses,
                limits: Some(Limits::FOR_PROBES),
                scratch: &scratch(stage),
            },
        )?;
        let Some(host) = self.host else {
            return Ok(prefix);
        };
        if host.weakness == Default::default() {
            return Ok(prefix);
        }
        let mut line = vec![self.programs.conformance.clone().into_os_string()];
        line.extend(host.weakness.words());
        Ok(prefix.after(Prefix {
            line,
            environment: Vec::new(),
        }))
    }
}

/// Where a subject keeps its settings: nothing that a probe aims at.
fn scratch(stage: &Stage) -> PathBuf {
    stage.root().join("scratch")
}

/// The first line in which somebody complains.
pub(super) fn complaint(text: &str) -> String {
    let first = text.lines().find(|line| !line.trim().is_empty());
    first.unwrap_or("it does not say why").trim().to_owned()
}

pub(super) fn is_fine(ran: &Ran) -> bool {
    ran.ended == Ended::Exited(0)
}
