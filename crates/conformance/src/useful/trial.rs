//! One command: outside, inside, and the two held against each other.

use std::ffi::OsString;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Result;
use palisade_probes::run::{Ended, Ran};
use palisade_probes::{Mode, Tier};

use super::ground::{Ground, Slot, environment};
use super::list::{Command, Git};
use super::seen::Seen;
use super::table::{Row, Verdict};
use crate::subject::{self, Kind, Place, Prefix, Programs, Run, Subject};
use crate::weaker::Weakness;

/// How long one run may take.
const TIMEOUT: Duration = Duration::from_secs(180);

/// One command in one subject.
pub(super) struct Trial<'a> {
    pub(super) ground: &'a Ground,
    pub(super) slot: &'a str,
    pub(super) template: &'a Path,
    pub(super) command: &'a Command,
    pub(super) subject: &'a Subject,
    pub(super) tier: Tier,
    pub(super) programs: &'a Programs,
}

impl Trial<'_> {
    /// What came of it.
    pub(super) fn row(&self) -> Row {
        let start = Instant::now();
        let mut row = Row::new(self.command);
        row.verdict = self
            .verdict(&mut row.asked)
            .unwrap_or_else(|error| Verdict::Broken(vec![format!("{error:#}")]));
        row.milliseconds = start.elapsed().as_millis().try_into().unwrap_or(u64::MAX);
        row
    }

    fn verdict(&self, asked: &mut bool) -> Result<Verdict> {
        let (before, outside) = self.outside()?;
        if let Some(why) = outside.proves_nothing(self.command, &before) {
            return Ok(Verdict::NoControl(why));
        }
        let slot = self.ground.fresh(self.slot, self.template)?;
        let prefix = self.prefix(&slot)?;
        let (ran, said) = self.run(&prefix, &slot)?;
        *asked = slot.scratch.join("asked").exists();
        let inside = Seen::after(&ran, self.command, &slot.project)?;
        let mut differences = outside.differences(&inside);
        let ours = self.subject.kind == Kind::Ours;
        let declared = match self.tier {
            _ if ours && self.command.never.is_some() => self.command.never.as_ref(),
            Tier::Landlock if ours => self.command.landlock.as_ref(),
            Tier::Full | Tier::Landlock => None,
        };
        let known = self.command.known.as_ref().filter(|_| ours);
        Ok(match (differences.is_empty(), declared) {
            (true, None) => match known {
                None => Verdict::Works,
                Some(reason) => Verdict::WorksAfterAll(reason.clone()),
            },
            (true, Some(reason)) => Verdict::WorksAfterAll(reason.clone()),
            (false, Some(reason)) => Verdict::NotPromised(reason.clone()),
            (false, None) => {
                if let Some(reason) = known {
                    return Ok(Verdict::Known(reason.clone()));
                }
                differences.truncate(4);
                let said = said.lines().filter(|line| !line.trim().is_empty());
                differences.extend(said.take(4).map(|line| format!("stderr: {line}")));
                Verdict::Broken(differences)
            }
        })
    }

    /// The project as it is laid out, and after the command ran bare.
    fn outside(&self) -> Result<(Seen, Seen)> {
        let slot = self.ground.fresh(self.slot, self.template)?;
        let nothing = Ran {
            stdout: Vec::new(),
            ended: Ended::Exited(0),
        };
        let before = Seen::after(&nothing, self.command, &slot.project)?;
        let (ran, _) = self.run(&Prefix::default(), &slot)?;
        Ok((before, Seen::after(&ran, self.command, &slot.project)?))
    }

    fn run(&self, prefix: &Prefix, slot: &Slot) -> Result<(Ran, String)> {
        let line = ["bash", "-c", &self.command.script].map(OsString::from);
        Ok(subject::run(&Run {
            prefix,
            line: &line,
            environment: &environment(&slot.home),
            directory: &slot.project,
            timeout: TIMEOUT,
        })?)
    }

    fn prefix(&self, slot: &Slot) -> Result<Prefix> {
        if self.subject.name == "command" {
            return self.our_command(slot);
        }
        let place = Place {
            workspace: &slot.project,
            roots: &[],
            home: &slot.home,
            protected: &[],
            mode: Mode::Write,
            tier: self.tier,
            losses: subject::losses(self.tier),
            limits: None,
            scratch: &slot.scratch,
        };
        Ok(self.subject.prefix(self.programs, &place)?)
    }

    /// `palisade run` as people call it, and somebody who says yes to every question.
    fn our_command(&self, slot: &Slot) -> Result<Prefix> {
        let mut line: Vec<OsString> = Vec::new();
        if self.tier == Tier::Landlock {
            line.push(self.programs.conformance.clone().into());
            let host = Weakness {
                no_user_namespaces: true,
                landlock: None,
            };
            line.extend(host.words());
        }
        line.push(self.programs.palisade.clone().into());
        line.extend(["--quiet", "run", "--approval-command"].map(OsString::from));
        line.push(yes(&slot.scratch)?.into());
        if self.command.git == Some(Git::Commit) {
            line.extend(["--git", "commit"].map(OsString::from));
        }
        for loss in subject::losses(self.tier) {
            line.extend(["--accept-loss", loss].map(OsString::from));
        }
        line.push("--".into());
        let state = |name: &str| slot.scratch.join(name).into_os_string();
        Ok(Prefix {
            line,
            environment: vec![
                ("XDG_STATE_HOME".into(), state("state")),
                ("XDG_CONFIG_HOME".into(), state("config")),
            ],
        })
    }
}

/// A program that says yes, and leaves word that it was asked.
pub(crate) fn yes(scratch: &Path) -> Result<PathBuf> {
    let program = scratch.join("yes");
    let asked = scratch.join("asked");
    let text = format!(
        "#!/bin/sh\ncat >> '{}'\nprintf '{{\"v\":1,\"decision\":\"approved\"}}'\n",
        asked.display()
    );
    fs::write(&program, text)?;
    fs::set_permissions(&program, Permissions::from_mode(0o755))?;
    Ok(program)
}
