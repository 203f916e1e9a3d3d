//! What the tests here share.

use std::fs;
use std::io::{ErrorKind, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use palisade_policy::{
    AbsolutePath, CanonicalSandboxPolicy, Environment, HostFacts, Os, SandboxType, WorkspaceRoot,
};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tempfile::TempDir;

use crate::host::Host;
use crate::launch::Placed;
use crate::os::{ConfinedSession, Order, Process, Stdio, null, pipe_from_child, spawn_bare};
use crate::outcome::SetupFailure;
use crate::supervise::{Ended, NoEnd};

/// Far longer than anything takes.
pub(super) const LONG: Duration = Duration::from_secs(60);

/// A throw-away workspace. Not in `/tmp`, which sessions replace.
pub(super) fn stage() -> TempDir {
    tempfile::Builder::new()
        .prefix("palisade-os-")
        .tempdir_in("/var/tmp")
        .unwrap()
}

pub(super) fn env() -> Environment {
    [
        ("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into()),
        ("LC_ALL".into(), "C".into()),
    ]
    .into_iter()
    .collect()
}

pub(super) fn order<const N: usize>(argv: [&str; N], cwd: &Path) -> Order {
    Order::new(argv, cwd).with_env(env())
}

pub(super) fn script(script: &str, cwd: &Path) -> Order {
    order(["sh", "-c", script], cwd)
}

/// Asks again and again until there is an answer, or the time is over.
pub(super) fn wait_until<T>(mut ask: impl FnMut() -> Option<T>) -> Option<T> {
    let start = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return Some(answer);
        }
        if start.elapsed() > LONG {
            return None;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Waits for the end by the status descriptor, as a supervisor does.
#[track_caller]
pub(super) fn end(process: &mut Process) -> Result<Ended, SetupFailure> {
    loop {
        let ended = process.try_end().map_err(|no_end| match no_end {
            NoEnd::NotStarted(failure) => failure,
            NoEnd::Lost(why) => panic!("{why}"),
        })?;
        if let Some(ended) = ended {
            return Ok(ended);
        }
        let status = process.status();
        let mut watched = [PollFd::new(&status, PollFlags::IN)];
        let time = Timespec::try_from(LONG).unwrap();
        let ready = poll(&mut watched, Some(&time)).unwrap();
        assert_eq!(ready, 1, "no end in sight");
    }
}

/// What starts commands: bare, or in a session.
pub(super) enum Starter {
    Bare,
    Confined(Box<ConfinedSession>),
}

impl Starter {
    pub(super) fn spawn(&self, order: &Order, stdio: Stdio) -> Result<Process, SetupFailure> {
        match self {
            Self::Bare => spawn_bare(order, stdio),
            Self::Confined(session) => session.spawn(order, stdio),
        }
    }

    /// Runs a command to its end, and gives all that it wrote.
    pub(super) fn run(&self, order: &Order) -> Result<(Ended, String), SetupFailure> {
        let (mut reader, writer) = pipe_from_child().unwrap();
        let stdio = Stdio {
            stdin: null().unwrap(),
            stdout: writer.try_clone().unwrap(),
            stderr: writer,
        };
        let mut process = self.spawn(order, stdio)?;
        let ended = end(&mut process)?;
        Ok((ended, read_all(&mut reader)))
    }
}

/// Reads until the other side is closed.
pub(super) fn read_all(reader: &mut OwnedFd) -> String {
    let mut file = fs::File::from(reader.try_clone().unwrap());
    let mut all = Vec::new();
    let mut some = [0; 4096];
    loop {
        match file.read(&mut some) {
            Ok(0) => return String::from_utf8_lossy(&all).into_owned(),
            Ok(read) => all.extend_from_slice(&some[..read]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => wait_readable(reader),
            Err(error) => panic!("{error}"),
        }
    }
}

#[track_caller]
pub(super) fn wait_readable(reader: &impl AsFd) {
    let mut watched = [PollFd::new(reader, PollFlags::IN)];
    let time = Timespec::try_from(LONG).unwrap();
    assert_eq!(poll(&mut watched, Some(&time)).unwrap(), 1, "nothing comes");
}

/// The helper: the one that whoever runs the tests as another user put somewhere, or the one that Cargo builds.
pub(super) fn helper() -> PathBuf {
    static HELPER: OnceLock<PathBuf> = OnceLock::new();
    HELPER
        .get_or_init(|| match std::env::var_os("PALISADE_TEST_HELPER") {
            Some(helper) => PathBuf::from(helper),
            None => build_helper(),
        })
        .clone()
}

fn build_helper() -> PathBuf {
    // Tests are in `<target>/<profile>/deps`.
    let program = std::env::current_exe().unwrap();
    let profile = program.parent().unwrap().parent().unwrap();
    let built = std::process::Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--offline"])
        .args(["--package", "palisade-linux-landlock"])
        .args(["--bin", "palisade-linux-sandbox", "--target-dir"])
        .arg(profile.parent().unwrap())
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status()
        .unwrap();
    assert!(built.success(), "the helper was not built");
    profile
        .parent()
        .unwrap()
        .join("debug/palisade-linux-sandbox")
}

/// The host as the tests see it: with a home of its own.
pub(super) fn host(home: &Path) -> Host {
    let facts = HostFacts::new(Os::Linux)
        .with_uid(rustix::process::geteuid().as_raw())
        .with_home(AbsolutePath::new(home).unwrap());
    let mut host = Host::new(facts);
    host.helper = Some(helper());
    host
}

/// A place in which the workspace can be written.
pub(super) fn placed(workspace: &Path) -> Placed {
    let root = WorkspaceRoot::new(workspace).unwrap();
    let policy = CanonicalSandboxPolicy::workspace_write([root.clone()]);
    Placed::new(SandboxType::LinuxLandlock, policy, root)
}

/// A stage with a workspace and a home, and a session on it; `None` where there are no namespaces.
pub(super) fn confined(stage: &TempDir) -> Option<(PathBuf, ConfinedSession)> {
    let workspace = stage.path().join("workspace");
    let home = stage.path().join("home");
    for directory in [&workspace, &home] {
        fs::create_dir_all(directory).unwrap();
    }
    match ConfinedSession::open(&host(&home), &placed(&workspace)) {
        Ok(session) => Some((workspace, session)),
        Err(failure) if failure.step == "accepting losses" => {
            #[expect(clippy::print_stdout, reason = "a test says what it skipped")]
            {
                println!("skipped: {failure}");
            }
            None
        }
        Err(failure) => panic!("{failure}"),
    }
}

/// The number that a command wrote into a file, once it is there.
#[track_caller]
pub(super) fn pid_in(file: &Path) -> i32 {
    wait_until(|| {
        let text = fs::read_to_string(file).ok()?;
        text.strip_suffix('\n')?.trim().parse().ok()
    })
    .unwrap()
}

/// Whether a process of the host lives.
pub(super) fn lives(pid: i32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit_once(") ").unwrap().1.starts_with('Z'))
}
