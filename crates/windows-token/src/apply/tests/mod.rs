//! Sessions on Windows, with everything but the word of the token: Wine never gives that, and the test that it does not is
//! among these.

mod arguments;
mod exits;
mod handles;
mod journal;
mod programs;
mod refusals;
mod states;
mod stdio;
mod surveys;
mod trees;

use std::ffi::{OsStr, OsString};
use std::io::{Read as _, Write as _};
use std::os::windows::io::{AsHandle as _, OwnedHandle};
use std::path::PathBuf;

use palisade_policy::{
    AbsolutePath, AcceptedLosses, CanonicalSandboxPolicy, Environment, Guarantee, HostFacts, Os,
    PolicyContext, WorkspaceRoot,
};

use super::error::StartError;
use super::self_check::CheckedToken;
use super::start::{Prepared, StartOptions, prepare};
use super::token;
use super::{Child, Command, Exit, Session, Stdio};
use crate::acl::Rights;
use crate::survey::plain;
use crate::sys::file::{LastName, open};
use crate::sys::security::file_dacl;
use crate::sys::tests::{PATIENCE, child_program};

/// A place for one test: a root with something protected in it, and a state directory beside it.
pub(super) struct World {
    _directory: tempfile::TempDir,
    pub(super) root: PathBuf,
    pub(super) state: PathBuf,
}

impl World {
    pub(super) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let real = std::fs::canonicalize(directory.path()).unwrap();
        let base = plain(&real).unwrap().as_path().to_path_buf();
        let root = base.join("root");
        std::fs::create_dir_all(root.join(".git")).unwrap();
        std::fs::write(root.join(".git").join("config"), "config").unwrap();
        Self {
            _directory: directory,
            state: base.join("state"),
            root,
        }
    }

    pub(super) fn context(&self) -> PolicyContext {
        let cwd = WorkspaceRoot::new(&self.root).unwrap();
        let home = AbsolutePath::new(self.root.with_file_name("home")).unwrap();
        PolicyContext::new(HostFacts::new(Os::Windows).with_home(home), cwd)
    }

    pub(super) fn policy(&self) -> CanonicalSandboxPolicy {
        CanonicalSandboxPolicy::workspace_write_no_sensitive_blocking([WorkspaceRoot::new(
            &self.root,
        )
        .unwrap()])
    }

    pub(super) fn options(&self) -> StartOptions {
        StartOptions::new(&self.state).with_patience(PATIENCE)
    }

    pub(super) fn prepare(&self) -> Result<Prepared, StartError> {
        prepare(
            &self.policy(),
            &self.context(),
            &everything(),
            &self.options(),
        )
    }

    /// A session whose token nobody checked.
    pub(super) fn session(&self) -> Session {
        let Prepared {
            traces, plan, host, ..
        } = self.prepare().unwrap();
        let token = CheckedToken::unchecked(token::make(&plan.token).unwrap());
        Session::new(&plan, &host.user, token, traces, PATIENCE).unwrap()
    }

    /// The bytes of the access list of something in the root.
    pub(super) fn list(&self, below: &str) -> Vec<u8> {
        let path = self.root.join(below);
        let opened = open(&path, Rights::READ_CONTROL, LastName::Itself).unwrap();
        file_dacl(opened.as_handle()).unwrap().bytes.unwrap()
    }

    pub(super) fn journal(&self) -> String {
        std::fs::read_to_string(self.state.join("journal")).unwrap_or_default()
    }

    /// How many sessions have a directory for temporary files.
    pub(super) fn tmp_count(&self) -> usize {
        std::fs::read_dir(self.state.join("sessions")).map_or(0, Iterator::count)
    }

    pub(super) fn absolute(&self, below: &str) -> AbsolutePath {
        AbsolutePath::new(self.root.join(below)).unwrap()
    }
}

/// Every loss there is: what is lost on Windows is tested where it is reported.
pub(super) fn everything() -> AcceptedLosses {
    Guarantee::ALL.into_iter().collect()
}

/// The child, told this.
pub(super) fn command<A: AsRef<OsStr>>(arguments: &[A]) -> Command {
    let program = child_program();
    let argv: Vec<OsString> = [program.as_os_str()]
        .into_iter()
        .chain(arguments.iter().map(AsRef::as_ref))
        .map(OsStr::to_os_string)
        .collect();
    Command::new(argv, program.parent().unwrap()).with_env(environment())
}

/// What a program needs to start at all.
pub(super) fn environment() -> Environment {
    std::env::vars_os()
        .filter(|(name, _)| {
            ["SystemRoot", "SystemDrive", "PATH", "COMSPEC"]
                .iter()
                .any(|known| name.eq_ignore_ascii_case(known))
        })
        .collect()
}

pub(super) struct Output {
    pub(super) exit: Exit,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
}

impl Output {
    pub(super) fn text(&self) -> String {
        String::from_utf8(self.stdout.clone()).unwrap()
    }
}

/// A command that runs, with its pipes.
pub(super) struct Running {
    pub(super) child: Child,
    input: Option<std::io::PipeWriter>,
    output: std::io::PipeReader,
    errors: std::io::PipeReader,
}

pub(super) fn spawn(session: &Session, command: &Command) -> Running {
    let (stdin, input) = std::io::pipe().unwrap();
    let (output, stdout) = std::io::pipe().unwrap();
    let (errors, stderr) = std::io::pipe().unwrap();
    let stdio = Stdio::new(
        OwnedHandle::from(stdin),
        OwnedHandle::from(stdout),
        OwnedHandle::from(stderr),
    );
    Running {
        child: session.spawn(command, &stdio).unwrap(),
        input: Some(input),
        output,
        errors,
    }
}

impl Running {
    /// One line of what it says.
    pub(super) fn line(&mut self) -> String {
        let mut line = Vec::new();
        let mut byte = [0];
        while self.output.read(&mut byte).unwrap() == 1 && byte != [b'\n'] {
            line.extend(byte);
        }
        String::from_utf8(line).unwrap().trim_end().to_owned()
    }

    /// Writes all of the input, reads all of the output, and waits.
    pub(super) fn finish(mut self, input: &[u8]) -> Output {
        let mut writer = self.input.take().unwrap();
        let mut errors = self.errors;
        let (stdout, stderr) = std::thread::scope(|scope| {
            scope.spawn(move || {
                // Whoever does not read it does not want it.
                let _ = writer.write_all(input);
            });
            let stderr = scope.spawn(move || {
                let mut bytes = Vec::new();
                errors.read_to_end(&mut bytes).unwrap();
                bytes
            });
            let mut stdout = Vec::new();
            self.output.read_to_end(&mut stdout).unwrap();
            (stdout, stderr.join().unwrap())
        });
        let exit = self.child.wait_timeout(PATIENCE).unwrap().unwrap();
        Output {
            exit,
            stdout,
            stderr,
        }
    }
}

/// Runs the child to its end, without input.
pub(super) fn run<A: AsRef<OsStr>>(session: &Session, arguments: &[A]) -> Output {
    spawn(session, &command(arguments)).finish(&[])
}
