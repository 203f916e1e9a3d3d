//! Running targets, one after the other or a few at once.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};

use super::Options;
use super::build::Built;
use super::report::Report;
use crate::process;
use crate::workspace::Workspace;

/// No input may take longer than this, in seconds. Everything here is done in milliseconds, but libFuzzer looks at the
/// clock on the wall, and a busy machine can stand still for ten seconds.
const SLOWEST: u64 = 60;
/// No target may hold more than this, in MiB.
const MEMORY: u64 = 2048;
/// How long a target may take to begin and to end, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(300);

/// The folders of a target.
pub(super) struct Folders {
    pub(super) corpus: PathBuf,
    pub(super) seeds: PathBuf,
    artifacts: PathBuf,
    scratch: PathBuf,
}

impl Folders {
    pub(super) fn of(workspace: &Workspace, target: &str) -> Result<Self> {
        let target_dir = &workspace.metadata()?.target_directory;
        let folders = Self {
            corpus: target_dir.join("fuzz-corpus").join(target),
            seeds: workspace.path("fuzz/seeds").join(target),
            artifacts: target_dir.join("fuzz-artifacts").join(target),
            scratch: target_dir.join("fuzz-scratch").join(target),
        };
        // What a run that was ended left behind is nobody's.
        let _ = fs::remove_dir_all(&folders.scratch);
        for folder in [&folders.corpus, &folders.artifacts, &folders.scratch] {
            fs::create_dir_all(folder)
                .with_context(|| format!("cannot make {}", folder.display()))?;
        }
        Ok(folders)
    }

    /// The target with what every run of it has.
    pub(super) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            // Targets that need files make them here.
            .env("TMPDIR", &self.scratch)
            .arg(format!("-rss_limit_mb={MEMORY}"))
            .arg(format!("-timeout={SLOWEST}"))
            .arg("-detect_leaks=0")
            .arg(format!("-artifact_prefix={}/", self.artifacts.display()));
        command
    }

    pub(super) fn log(&self) -> PathBuf {
        self.artifacts.join("log")
    }

    pub(super) fn clean(&self) {
        let _ = fs::remove_dir_all(&self.scratch);
    }
}

/// Runs all targets; says whether none of them found anything.
pub(super) fn all(
    workspace: &Workspace,
    built: &Built,
    targets: &[String],
    options: &Options,
) -> Result<bool> {
    let width = targets.iter().map(String::len).max().unwrap_or_default();
    let folders = targets
        .iter()
        .map(|target| Ok((target, Folders::of(workspace, target)?)))
        .collect::<Result<Vec<_>>>()?;
    let waiting = Mutex::new(folders.iter());
    let well = AtomicBool::new(true);
    let next = || waiting.lock().ok().and_then(|mut waiting| waiting.next());
    std::thread::scope(|scope| {
        for _ in 0..options.jobs {
            scope.spawn(|| {
                while let Some((target, folders)) = next() {
                    let (text, found_nothing) =
                        match one(&built.program(target), folders, options.seconds) {
                            Ok(outcome) => outcome,
                            Err(error) => (format!("could not be run: {error:#}"), false),
                        };
                    well.fetch_and(found_nothing, Ordering::Relaxed);
                    println!("{target:<width$} {text}");
                }
            });
        }
    });
    Ok(well.into_inner())
}

/// Runs one target. Says what happened, and whether that is nothing.
fn one(program: &Path, folders: &Folders, seconds: u64) -> Result<(String, bool)> {
    let mut command = folders.command(program);
    command
        .arg(format!("-max_total_time={seconds}"))
        .arg("-print_final_stats=1")
        .arg(&folders.corpus);
    if folders.seeds.is_dir() {
        command.arg(&folders.seeds);
    }
    let longest = Duration::from_secs(seconds) + PATIENCE;
    let captured = process::capture_in_file(command, &folders.log(), longest)?;
    folders.clean();
    let report = Report::read(&captured.text);
    if captured.success {
        return Ok((format!("{report}  nothing found"), true));
    }
    let mut text = format!("{report}  FAILED");
    if captured.timed_out {
        text.push_str(": it did not end by itself");
    }
    if let Some(why) = &report.why {
        text.push_str(&format!("\n    {why}"));
    }
    match &report.broken_by {
        Some(input) => text.push_str(&format!(
            "\n    input: {}\n    again: {} {}",
            input.display(),
            program.display(),
            input.display()
        )),
        None => text.push_str("\n    it names no input"),
    }
    text.push_str(&format!("\n    log: {}", folders.log().display()));
    Ok((text, false))
}
