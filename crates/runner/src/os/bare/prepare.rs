//! From an order to the bytes that a child needs, and from a failed step to what a person needs.

use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};

use rustix::io::Errno;

use super::mark::Mark;
use crate::os::order::Order;
use crate::os::sys::spawn::{ExecStrings, Failed, Prepared, SpawnStep};
use crate::outcome::SetupFailure;

/// Where programs are looked for if the command has no search path.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

pub(super) fn prepare(order: &Order, mark: &Mark) -> Result<Prepared, SetupFailure> {
    let text = |string: &OsStr| {
        CString::new(string.as_bytes()).map_err(|_| nonsense("it holds a zero byte"))
    };
    let program = order
        .argv
        .first()
        .filter(|program| !program.is_empty())
        .ok_or_else(|| nonsense("it names no program"))?;
    let candidates = match &order.program {
        Some(judged) if judged.path.is_absolute() => vec![judged.path.clone().into_os_string()],
        Some(_) => return Err(nonsense("the judged program's path is not absolute")),
        None => candidates(program, order),
    };
    let env = order
        .env
        .iter()
        .filter(|(name, _)| *name != Mark::VARIABLE)
        .map(|(name, value)| variable(name, value))
        .chain([variable(OsStr::new(Mark::VARIABLE), mark.text())])
        .map(|entry| text(&entry?));
    let all = |strings: &[OsString]| -> Result<Vec<CString>, SetupFailure> {
        strings.iter().map(|string| text(string)).collect()
    };
    Ok(Prepared {
        candidates: all(&candidates)?,
        identity: order
            .program
            .as_ref()
            .map(|judged| (judged.device, judged.inode)),
        env: ExecStrings::new(env.collect::<Result<_, _>>()?),
        argv: ExecStrings::new(all(&order.argv)?),
        cwd: text(order.cwd.as_os_str())?,
        directory: order.directory,
        terminal: order.terminal,
    })
}

fn variable(name: &OsStr, value: &OsStr) -> Result<OsString, SetupFailure> {
    if name.is_empty() || name.as_bytes().contains(&b'=') {
        return Err(nonsense("a variable's name is empty or holds `=`"));
    }
    let mut entry = name.to_owned();
    entry.push("=");
    entry.push(value);
    Ok(entry)
}

pub(in crate::os) fn candidates(program: &OsStr, order: &Order) -> Vec<OsString> {
    if program.as_bytes().contains(&b'/') {
        return vec![program.to_owned()];
    }
    let path = order
        .env
        .get(OsStr::new("PATH"))
        .map_or(DEFAULT_PATH.as_bytes(), |path| path.as_bytes());
    path.split(|byte| *byte == b':')
        .map(|directory| {
            let mut candidate = match directory {
                b"" => b".".to_vec(),
                named => named.to_vec(),
            };
            candidate.push(b'/');
            candidate.extend_from_slice(program.as_bytes());
            OsString::from_vec(candidate)
        })
        .collect()
}

fn nonsense(why: &str) -> SetupFailure {
    let step = "reading a request";
    let errno = Errno::INVAL.raw_os_error();
    SetupFailure::new(
        step,
        Some(errno),
        format!("the command cannot be started: {why}"),
    )
}

/// What failures are told with.
pub(super) struct Names {
    program: String,
    cwd: String,
}

impl Names {
    pub(super) fn of(order: &Order) -> Self {
        Self {
            program: order.name(),
            cwd: order.cwd.display().to_string(),
        }
    }

    /// Something that this program needs for itself.
    pub(super) fn failure_before(&self, errno: Errno) -> SetupFailure {
        self.failure((SpawnStep::Process, errno))
    }

    pub(super) fn failure(&self, (step, errno): Failed) -> SetupFailure {
        let (program, cwd) = (&self.program, &self.cwd);
        // The same words as those of the sandbox, so that callers can compare.
        let name = match step {
            SpawnStep::Process => "making a process",
            SpawnStep::Signals | SpawnStep::Session => "starting a process session",
            SpawnStep::Stdio => "passing descriptors",
            SpawnStep::Terminal => "taking the terminal",
            SpawnStep::Descriptors => "closing descriptors",
            SpawnStep::WorkingDirectory => "entering the working directory",
            SpawnStep::ProgramChanged => "checking that the program is the judged one",
            SpawnStep::Exec => "starting the program",
        };
        let about = match step {
            SpawnStep::WorkingDirectory => format!(" {cwd}"),
            SpawnStep::ProgramChanged | SpawnStep::Exec => format!(" {program}"),
            _ => String::new(),
        };
        let hint = match (step, errno) {
            (SpawnStep::ProgramChanged, _) => {
                ": another file is at its path than when the command was judged; judge it again"
            }
            (SpawnStep::WorkingDirectory, Errno::STALE) => {
                ": another directory is at its path than when the command was judged; judge it again"
            }
            (SpawnStep::Exec, Errno::NOEXEC) => {
                ": it is no program; a script needs a first line such as #!/bin/sh"
            }
            (SpawnStep::Exec, Errno::TOOBIG) => ": the arguments and the environment are too large",
            (SpawnStep::Process, Errno::AGAIN) => {
                ": a limit on processes is reached; end others, or raise the limit"
            }
            _ => "",
        };
        let error = io::Error::from(errno);
        let message = format!("{name}{about} failed: {error}{hint}");
        SetupFailure::new(name, Some(errno.raw_os_error()), message)
    }
}
