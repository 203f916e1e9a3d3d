//! A command for a session: its program, found in the command's own search path, its arguments and its environment.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::windows::fs::OpenOptionsExt as _;
use std::os::windows::io::AsHandle as _;
use std::path::{Path, PathBuf};

use palisade_policy::Environment;
use windows_sys::Win32::Storage::FileSystem::FILE_SHARE_READ;

use super::error::LaunchError;
use crate::command_line::{CommandLineError, environment_block, runs_in_cmd, wide};
use crate::journal::FileId;
use crate::survey::plain;
use crate::sys::file::file_id;

/// What a program may end with. Batch files are no programs: `cmd.exe` would read their arguments as commands.
const EXTENSIONS: [&str; 2] = ["exe", "com"];

/// A command for a session. What is here is what runs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Command {
    /// The program and its arguments. A program without a backslash is looked for in the command's own `PATH`, and nowhere
    /// else: not in the working directory.
    pub argv: Vec<OsString>,
    /// The environment, complete; variables of the plan take precedence.
    pub env: Environment,
    /// The working directory.
    pub cwd: PathBuf,
    /// The file that was judged, if somebody judged one: it is started, whatever the first argument says.
    pub program: Option<JudgedProgram>,
}

/// A file that was judged, and which it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JudgedProgram {
    path: PathBuf,
    id: FileId,
}

impl JudgedProgram {
    /// Looks at a file that is about to be judged.
    ///
    /// # Errors
    /// It cannot be opened.
    pub fn look(path: impl Into<PathBuf>) -> io::Result<Self> {
        let path = path.into();
        let file = File::open(&path)?;
        Ok(Self {
            id: file_id(file.as_handle())?,
            path,
        })
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Command {
    /// A command in a directory, with an empty environment.
    pub fn new<A: Into<OsString>>(
        argv: impl IntoIterator<Item = A>,
        cwd: impl Into<PathBuf>,
    ) -> Self {
        Self {
            argv: argv.into_iter().map(Into::into).collect(),
            env: Environment::new(),
            cwd: cwd.into(),
            program: None,
        }
    }

    /// With this environment in place of the other.
    #[must_use]
    pub fn with_env(mut self, env: Environment) -> Self {
        self.env = env;
        self
    }

    /// With this file as its program. If another file is there when the command is about to start, it is not started.
    #[must_use]
    pub fn with_program(mut self, program: JudgedProgram) -> Self {
        self.program = Some(program);
        self
    }

    /// The file to run, and a handle that keeps others from replacing it until it is started.
    pub(super) fn open_program(&self) -> Result<(PathBuf, File), LaunchError> {
        let name = self.argv.first().ok_or(CommandLineError::Empty)?;
        let path = match &self.program {
            Some(judged) => judged.path.clone(),
            None => self.find(Path::new(name))?,
        };
        let path = plain(&path)?.as_path().to_path_buf();
        if runs_in_cmd(&path) {
            let program = path.to_string_lossy().into_owned();
            return Err(CommandLineError::BatchFile { program }.into());
        }
        let failed = |source| LaunchError::System {
            what: "opening the program",
            path: path.clone(),
            source,
        };
        let file = File::options()
            .read(true)
            .share_mode(FILE_SHARE_READ)
            .open(&path)
            .map_err(failed)?;
        if let Some(judged) = &self.program
            && file_id(file.as_handle()).map_err(failed)? != judged.id
        {
            return Err(LaunchError::ProgramChanged { path });
        }
        Ok((path, file))
    }

    /// Looks a program up. Only absolute directories of the search path count.
    fn find(&self, name: &Path) -> Result<PathBuf, LaunchError> {
        let candidates = |path: PathBuf| {
            let known = path.extension().and_then(OsStr::to_str).is_some_and(|end| {
                EXTENSIONS
                    .iter()
                    .any(|known| end.eq_ignore_ascii_case(known))
            });
            let with = EXTENSIONS.map(|end| {
                let mut longer = path.clone().into_os_string();
                longer.push(".");
                longer.push(end);
                PathBuf::from(longer)
            });
            // A batch file is found so that it can be refused by its name.
            let itself = known || runs_in_cmd(&path);
            itself.then_some(path).into_iter().chain(with)
        };
        let is_path = name.components().count() > 1 || name.has_root();
        let directories: Vec<PathBuf> = match is_path {
            // Joined to the working directory, an absolute path stays what it is.
            true if name.is_absolute() => vec![name.to_path_buf()],
            true => vec![self.cwd.clone()],
            false => self
                .variable("PATH")
                .map(|path| std::env::split_paths(path).collect())
                .unwrap_or_default(),
        };
        directories
            .into_iter()
            .filter(|directory| directory.is_absolute())
            .flat_map(|directory| candidates(directory.join(name)))
            .find(|path| path.is_file())
            .ok_or_else(|| LaunchError::NoProgram {
                name: name.to_path_buf(),
            })
    }

    /// A variable of the command, whatever the case of its name.
    fn variable(&self, name: &str) -> Option<&OsString> {
        self.env
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
    }

    /// The environment with these variables in place of those of the same name, as one block.
    pub(super) fn environment(&self, over: &[(String, PathBuf)]) -> Result<Vec<u16>, LaunchError> {
        let own = self
            .env
            .iter()
            .filter(|(name, _)| {
                !over
                    .iter()
                    .any(|(known, _)| name.eq_ignore_ascii_case(known))
            })
            .map(|(name, value)| (name.as_os_str(), value.as_os_str()));
        let ours = over
            .iter()
            .map(|(name, value)| (OsStr::new(name), value.as_os_str()));
        let variables: Result<Vec<_>, CommandLineError> = own
            .chain(ours)
            .map(|(name, value)| Ok((wide(name)?, wide(value)?)))
            .collect();
        Ok(environment_block(variables?)?)
    }
}
