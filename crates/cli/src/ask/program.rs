//! A program that answers: it is started for each question, without a sandbox, reads the question and writes an answer.

use std::ffi::{OsStr, OsString};
use std::os::fd::AsFd as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use palisade::runner::approve::{Prompt, Prompter};
use palisade::runner::exec_policy::ReviewDecision;

use super::exchange::{Failed, Until, exchange};
use super::{Place, guard, wire};
use crate::complaint::Complaint;
use crate::ground::Ground;
use crate::say::shown;

const FLAG: &str = "--approval-command";

/// Who answers in the place of a person.
///
/// # Errors
/// There is no such program, or a command could change it.
pub(super) fn answers(
    program: &OsStr,
    place: Place,
    patience: Duration,
    ground: &Ground,
) -> Result<Box<dyn Prompter>, Complaint> {
    let found = find(program, ground).ok_or_else(|| {
        Complaint::usage(format!(
            "{FLAG} {}: there is no such program",
            shown(program)
        ))
    })?;
    guard::refuse_writable(FLAG, &found, ground)?;
    let search_path = guard::out_of_reach(std::env::var_os("PATH"), ground)?;
    let answering = Answering {
        // No link on the way there can lead elsewhere later.
        program: found,
        name: program.to_owned(),
        search_path,
        place,
        patience,
    };
    Ok(Box::new(move |prompt: &Prompt| answering.answer(prompt)))
}

#[derive(Debug)]
struct Answering {
    program: PathBuf,
    name: OsString,
    /// Where it finds its interpreter and other programs: nowhere that a command could put one.
    search_path: OsString,
    place: Place,
    patience: Duration,
}

impl Answering {
    fn answer(&self, prompt: &Prompt) -> ReviewDecision {
        match self.ask(prompt) {
            Ok(answer) => answer,
            Err(why) => wire::no(&self.name.to_string_lossy(), why),
        }
    }

    fn ask(&self, prompt: &Prompt) -> Result<ReviewDecision, String> {
        let question =
            wire::question(prompt, &self.place).ok_or("the question cannot be written")?;
        let deadline = Instant::now() + self.patience;
        let mut child = Command::new(&self.program);
        let child = child
            .arg0(&self.name)
            .env("PATH", &self.search_path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let mut child = Ended(child.map_err(|error| error.to_string())?);
        let (asked, answered) = (child.0.stdin.take(), child.0.stdout.take());
        let answered = answered.ok_or("it has no output")?;
        for fd in asked.iter().map(|fd| fd.as_fd()).chain([answered.as_fd()]) {
            rustix::io::ioctl_fionbio(fd, true).map_err(|errno| errno.to_string())?;
        }
        let text = exchange(asked, answered.as_fd(), &question, Until::End, deadline)
            .map_err(|failed| failed.to_string())?;
        if !child.succeeds(deadline)? {
            return Err("it failed".to_owned());
        }
        wire::answer(&text, prompt, &self.place).map_err(str::to_owned)
    }
}

/// A program that does not outlive its question.
struct Ended(Child);

impl Ended {
    /// Waits for its end. Its output has ended already, so that is a matter of moments.
    fn succeeds(&mut self, deadline: Instant) -> Result<bool, String> {
        let mut pause = Duration::from_millis(1);
        loop {
            if let Some(status) = self.0.try_wait().map_err(|error| error.to_string())? {
                return Ok(status.success());
            }
            if Instant::now() >= deadline {
                return Err(Failed::TooLate.to_string());
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(50));
        }
    }
}

impl Drop for Ended {
    fn drop(&mut self) {
        // Neither does anything to one that has ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The program, links resolved: by its path, or by its name in the search path.
fn find(program: &OsStr, ground: &Ground) -> Option<PathBuf> {
    let is_name =
        Path::new(program).components().count() == 1 && !program.as_encoded_bytes().contains(&b'/');
    let candidates: Vec<PathBuf> = match is_name {
        true => std::env::split_paths(&std::env::var_os("PATH")?)
            .filter(|directory| directory.is_absolute())
            .map(|directory| directory.join(program))
            .collect(),
        false => vec![ground.cwd.join(program)],
    };
    let runs = |path: &PathBuf| {
        path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
    };
    let found = candidates.into_iter().find(runs)?;
    std::fs::canonicalize(found).ok()
}
