//! What is started: the same for every kind of process.

use std::ffi::OsString;
use std::path::PathBuf;

use palisade_policy::Environment;

/// A command to start, complete and byte for byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Order {
    /// The program's name and its arguments.
    pub(crate) argv: Vec<OsString>,
    /// The whole environment, but for the mark that is added to it.
    pub(crate) env: Environment,
    /// Where it runs.
    pub(crate) cwd: PathBuf,
    /// The file that was judged, if one was: it is started, whatever the first argument says.
    pub(crate) program: Option<JudgedFile>,
    /// The device and inode number that the directory must have, if it was judged.
    pub(crate) directory: Option<(u64, u64)>,
    /// Whether the first of its descriptors that is a terminal becomes the command's own.
    pub(crate) terminal: bool,
    /// Whether its session need not outlive it.
    pub(crate) last: bool,
}

impl Order {
    /// A program with arguments, in a directory.
    pub(crate) fn new<A: Into<OsString>>(
        argv: impl IntoIterator<Item = A>,
        cwd: impl Into<PathBuf>,
    ) -> Self {
        Self {
            argv: argv.into_iter().map(Into::into).collect(),
            env: Environment::new(),
            cwd: cwd.into(),
            program: None,
            directory: None,
            terminal: false,
            last: false,
        }
    }

    /// The same command with this environment.
    pub(crate) fn with_env(mut self, env: Environment) -> Self {
        self.env = env;
        self
    }

    /// The same command with this file as its program.
    pub(crate) fn with_program(mut self, program: JudgedFile) -> Self {
        self.program = Some(program);
        self
    }

    /// The same command in a directory that must be this one.
    pub(crate) fn in_directory(mut self, device: u64, inode: u64) -> Self {
        self.directory = Some((device, inode));
        self
    }

    /// The same command with the first of its descriptors that is a terminal as its own.
    pub(crate) fn with_terminal(mut self) -> Self {
        self.terminal = true;
        self
    }

    /// The same command as the last of its session, if it is.
    pub(crate) fn last_if(mut self, last: bool) -> Self {
        self.last = last;
        self
    }

    /// What the program is called, for a message.
    pub(super) fn name(&self) -> String {
        let named = || self.argv.first().map(PathBuf::from);
        self.program
            .as_ref()
            .map(|judged| judged.path.clone())
            .or_else(named)
            .unwrap_or_default()
            .display()
            .to_string()
    }
}

/// A file that was judged, and what it was then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct JudgedFile {
    /// Where it is, absolute.
    pub(crate) path: PathBuf,
    /// The device that it is on.
    pub(crate) device: u64,
    /// Its inode number.
    pub(crate) inode: u64,
}
