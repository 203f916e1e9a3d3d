//! Runs the host's git on the host's repository: with nothing of the caller's environment, no hooks, no network, and
//! an end to its time and memory.
//!
//! What a session made reaches git only as the content of objects (which git is built to take from strangers), and as
//! names that were checked before.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::MemfdFlags;
use rustix::process::{Pid, PidfdFlags, Resource, Rlimit};

use super::names::escaped;
use super::{GitLayout, ImportError, ImportOptions};

/// Settings that hold whatever the repository's own configuration says.
const SETTINGS: &[&str] = &[
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.pager=cat",
    "core.protectHFS=true",
    "core.protectNTFS=true",
    "core.splitIndex=false",
    "core.filesRefLockTimeout=3000",
    "core.packedRefsTimeout=3000",
    "core.bigFileThreshold=64m",
    "core.packedGitLimit=1g",
    "core.packedGitWindowSize=256m",
    "pack.threads=1",
    "pack.windowMemory=256m",
    "index.threads=1",
    "gc.auto=0",
    "maintenance.auto=false",
    "protocol.allow=never",
];

/// Address space of a git, so that an object that claims to be huge ends git and not the host.
const ADDRESS_SPACE: u64 = 8 << 30;

/// How much of an answer is read.
const MAX_ANSWER: u64 = 512 << 20;

/// The host's git and repository.
#[derive(Debug)]
pub(super) struct Git<'a> {
    layout: &'a GitLayout,
    options: &'a ImportOptions,
    deadline: Instant,
}

/// One run.
#[derive(Debug)]
pub(super) struct Run {
    command: &'static str,
    args: Vec<OsString>,
    env: Vec<(&'static str, OsString)>,
    stdin: Input,
    stdout: Option<File>,
}

#[derive(Debug)]
enum Input {
    Nothing,
    Bytes(Vec<u8>),
    File(File),
}

/// How a run ended.
#[derive(Debug)]
pub(super) struct Answer {
    command: &'static str,
    /// Whether git was content.
    pub(super) ok: bool,
    /// What it wrote.
    pub(super) stdout: Vec<u8>,
    /// The last line of its complaint, escaped.
    pub(super) message: String,
}

impl Run {
    pub(super) fn new(command: &'static str) -> Self {
        Self {
            command,
            args: Vec::new(),
            env: Vec::new(),
            stdin: Input::Nothing,
            stdout: None,
        }
    }

    pub(super) fn args<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(mut self, args: I) -> Self {
        self.args
            .extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    pub(super) fn env(mut self, name: &'static str, value: impl Into<OsString>) -> Self {
        self.env.push((name, value.into()));
        self
    }

    /// Objects are written to this directory, and read from it first.
    pub(super) fn objects(self, directory: Option<&Path>) -> Self {
        match directory {
            Some(directory) => self.env("GIT_OBJECT_DIRECTORY", directory),
            None => self,
        }
    }

    pub(super) fn input(mut self, bytes: Vec<u8>) -> Self {
        self.stdin = Input::Bytes(bytes);
        self
    }

    pub(super) fn input_file(mut self, file: File) -> Self {
        self.stdin = Input::File(file);
        self
    }

    pub(super) fn output_file(mut self, file: File) -> Self {
        self.stdout = Some(file);
        self
    }
}

impl Answer {
    /// An error if git was not content.
    pub(super) fn must(self) -> Result<Vec<u8>, ImportError> {
        if self.ok {
            return Ok(self.stdout);
        }
        Err(ImportError::Git {
            command: self.command,
            message: self.message,
        })
    }
}

impl<'a> Git<'a> {
    pub(super) fn new(layout: &'a GitLayout, options: &'a ImportOptions) -> Self {
        let now = Instant::now();
        Self {
            layout,
            options,
            deadline: now.checked_add(options.total_time).unwrap_or(now),
        }
    }

    pub(super) const fn layout(&self) -> &'a GitLayout {
        self.layout
    }

    pub(super) const fn options(&self) -> &'a ImportOptions {
        self.options
    }

    /// An error if the time for everything is over.
    pub(super) fn in_time(&self) -> Result<(), ImportError> {
        if Instant::now() < self.deadline {
            return Ok(());
        }
        Err(ImportError::Timeout { command: "import" })
    }

    /// Runs git to its end, or ends it.
    pub(super) fn run(&self, run: Run) -> Result<Answer, ImportError> {
        let command = run.command;
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ImportError::Timeout { command });
        }
        let failed = |source: std::io::Error| ImportError::Start {
            program: self.options.git.clone(),
            source,
        };
        let stdin = match run.stdin {
            Input::Nothing => Stdio::null(),
            Input::Bytes(bytes) => {
                let mut file = memory()?;
                file.write_all(&bytes).map_err(failed)?;
                file.seek(SeekFrom::Start(0)).map_err(failed)?;
                Stdio::from(file)
            }
            Input::File(file) => Stdio::from(file),
        };
        let mut answer = memory()?;
        let stdout = match run.stdout {
            Some(file) => file,
            None => answer.try_clone().map_err(failed)?,
        };
        let mut complaint = memory()?;
        let stderr = complaint.try_clone().map_err(failed)?;
        let mut git = self.command();
        let mut child = git
            .arg(command)
            .args(&run.args)
            .envs(run.env)
            .stdin(stdin)
            .stdout(stdout)
            .stderr(stderr)
            .spawn()
            .map_err(failed)?;
        let ended = wait(&mut child, left.min(self.options.command_time));
        let ok = match ended {
            Some(status) => status.success(),
            None => {
                // Only reaped here: the number cannot have passed to another process.
                child.kill().map_err(failed)?;
                child.wait().map_err(failed)?;
                return Err(ImportError::Timeout { command });
            }
        };
        Ok(Answer {
            command,
            ok,
            stdout: read_back(&mut answer, MAX_ANSWER).map_err(failed)?,
            message: last_line(&read_back(&mut complaint, 64 << 10).map_err(failed)?),
        })
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.options.git);
        command
            // What it is called, wherever a link to it led: git takes other names for commands.
            .arg0("git")
            .env_clear()
            // What git itself starts, it finds beside itself.
            .env("PATH", "/nonexistent")
            .env("HOME", "/nonexistent")
            .env("LC_ALL", "C")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_ATTR_NOSYSTEM", "1")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_NO_LAZY_FETCH", "1")
            .env("GIT_NO_REPLACE_OBJECTS", "1")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_COMMITTER_NAME", "palisade")
            .env("GIT_COMMITTER_EMAIL", "palisade@localhost")
            .current_dir(self.layout.git_dir());
        let mut dir = OsString::from("--git-dir=");
        dir.push(self.layout.git_dir());
        command.arg(dir);
        for setting in SETTINGS {
            command.args(["-c", setting]);
        }
        command
    }
}

fn memory() -> Result<File, ImportError> {
    rustix::fs::memfd_create("git", MemfdFlags::CLOEXEC)
        .map(File::from)
        .map_err(|errno| ImportError::host("memfd", errno))
}

fn read_back(file: &mut File, limit: u64) -> std::io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(0))?;
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn last_line(text: &[u8]) -> String {
    let line = text
        .split(|b| *b == b'\n')
        .rfind(|line| !line.is_empty())
        .unwrap_or(b"no message");
    escaped(line)
}

/// Waits for the end of a child; `None` if the time is over first.
fn wait(child: &mut Child, time: Duration) -> Option<std::process::ExitStatus> {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw)?;
    let limit = Rlimit {
        current: Some(ADDRESS_SPACE),
        maximum: Some(ADDRESS_SPACE),
    };
    // Fails only if the child has ended.
    let _ = rustix::process::prlimit(Some(pid), Resource::As, limit);
    let end = Instant::now().checked_add(time)?;
    let handle = rustix::process::pidfd_open(pid, PidfdFlags::empty()).ok()?;
    loop {
        if let Some(status) = child.try_wait().ok()? {
            return Some(status);
        }
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return None;
        }
        let mut poll = [PollFd::from_borrowed_fd(handle.as_fd(), PollFlags::IN)];
        let left = Timespec::try_from(left).ok()?;
        // Interrupted or not, the loop looks again.
        let _ = rustix::event::poll(&mut poll, Some(&left));
    }
}
