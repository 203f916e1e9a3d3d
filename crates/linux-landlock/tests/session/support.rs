//! A workspace, a home and an outside to test with, and sessions in them.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use palisade_linux_landlock::host::NamespaceSupport;
use palisade_linux_landlock::survey::{self, SurveyOptions};
use palisade_linux_landlock::{
    Command, Exit, Helper, LaunchError, LinuxHost, LinuxLandlock, Plan, Session, Stdio, Tier,
    private_places,
};
use palisade_policy::{
    AbsolutePath, AcceptedLosses, Backend as _, CanonicalSandboxPolicy, Enforcement, Environment,
    Guarantee, HostFacts, Os, PolicyContext, ResolvedPolicy, WorkspaceRoot,
};
use tempfile::TempDir;

/// The helper next to the test: where Cargo built it, or where whoever runs the tests as another user put it.
pub(crate) fn helper_path() -> PathBuf {
    std::env::var_os("PALISADE_TEST_HELPER").map_or_else(
        || PathBuf::from(env!("CARGO_BIN_EXE_palisade-linux-sandbox")),
        PathBuf::from,
    )
}

/// The losses of the landlock tier, each by name.
pub(crate) fn landlock_losses() -> AcceptedLosses {
    [
        Guarantee::ProtectedPaths,
        Guarantee::MetadataOutside,
        Guarantee::ProcessIsolation,
        Guarantee::GitImport,
    ]
    .into_iter()
    .collect()
}

/// A throw-away tree: a workspace, a home with secrets, and files outside both.
pub(crate) struct Stage {
    /// Removed with everything in it when the stage is dropped.
    _base: Option<TempDir>,
    pub(crate) workspace: PathBuf,
    pub(crate) home: PathBuf,
    pub(crate) outside: PathBuf,
}

impl Stage {
    pub(crate) fn new() -> Self {
        // Not in `/tmp` itself, which sessions replace: what is there could not be seen from inside.
        let base = tempfile::Builder::new()
            .prefix("palisade-test-")
            .tempdir_in("/var/tmp")
            .unwrap();
        let root = fs::canonicalize(base.path()).unwrap();
        let stage = Self {
            _base: Some(base),
            ..Self::existing(&root)
        };
        for directory in [&stage.workspace, &stage.home, &stage.outside] {
            fs::create_dir(directory).unwrap();
        }
        fs::create_dir(stage.home.join(".ssh")).unwrap();
        fs::write(stage.home.join(".ssh/id_ed25519"), "secret key").unwrap();
        fs::write(stage.home.join(".netrc"), "secret password").unwrap();
        fs::write(stage.outside.join("victim"), "precious").unwrap();
        fs::create_dir_all(stage.workspace.join(".git/hooks")).unwrap();
        fs::write(stage.workspace.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        stage
    }

    /// The stage of another process, which removes it.
    pub(crate) fn existing(root: &Path) -> Self {
        Self {
            _base: None,
            workspace: root.join("workspace"),
            home: root.join("home"),
            outside: root.join("outside"),
        }
    }

    pub(crate) fn root(&self) -> WorkspaceRoot {
        WorkspaceRoot::new(&self.workspace).unwrap()
    }

    pub(crate) fn workspace_write(&self) -> CanonicalSandboxPolicy {
        CanonicalSandboxPolicy::workspace_write([self.root()])
    }

    pub(crate) fn context(&self) -> PolicyContext {
        let facts = HostFacts::new(Os::Linux)
            .with_uid(rustix::process::geteuid().as_raw())
            .with_home(AbsolutePath::new(&self.home).unwrap());
        PolicyContext::new(facts, self.root())
    }

    /// What this machine supports, or the same without namespaces.
    pub(crate) fn host(&self, tier: Tier) -> LinuxHost {
        let mut host = survey::kernel(&self.context().facts);
        if tier == Tier::Landlock {
            host.namespaces = NamespaceSupport::Refused {
                why: "emulated".to_owned(),
                cure: None,
            };
        }
        host
    }

    pub(crate) fn plan(&self, policy: &CanonicalSandboxPolicy, tier: Tier) -> Plan {
        self.lower(policy, tier).1
    }

    pub(crate) fn lower(
        &self,
        policy: &CanonicalSandboxPolicy,
        tier: Tier,
    ) -> (ResolvedPolicy, Plan, Enforcement) {
        let losses = match tier {
            Tier::Full => AcceptedLosses::none(),
            Tier::Landlock => landlock_losses(),
        };
        self.lower_accepting(policy, tier, &losses)
    }

    pub(crate) fn lower_accepting(
        &self,
        policy: &CanonicalSandboxPolicy,
        tier: Tier,
        losses: &AcceptedLosses,
    ) -> (ResolvedPolicy, Plan, Enforcement) {
        let mut host = self.host(tier);
        let context = self.context().with_private(private_places(&host));
        let policy = policy.resolve(&context).unwrap();
        survey::look(&mut host, &policy, &SurveyOptions::launch());
        let lowered = LinuxLandlock.lower(&policy, &host).unwrap();
        let (plan, enforcement) = lowered.admit(losses).unwrap();
        (policy, plan, enforcement)
    }

    pub(crate) fn session(&self, policy: &CanonicalSandboxPolicy, tier: Tier) -> Session {
        start(&self.plan(policy, tier)).unwrap()
    }

    /// The environment that commands get here: nothing but what they need.
    pub(crate) fn env(&self) -> Environment {
        let path = std::env::var_os("PATH")
            .unwrap_or_else(|| OsString::from("/usr/local/bin:/usr/bin:/bin"));
        [
            ("PATH".into(), path),
            ("HOME".into(), self.home.clone().into_os_string()),
            ("LC_ALL".into(), "C".into()),
        ]
        .into_iter()
        .collect()
    }

    pub(crate) fn script(&self, script: &str) -> Command {
        Command::new(["sh", "-c", script], &self.workspace).with_env(self.env())
    }

    /// Runs a script in a session and gives what it wrote.
    pub(crate) fn run(&self, session: &Session, script: &str) -> Output {
        run(session, &self.script(script)).unwrap()
    }
}

pub(crate) fn start(plan: &Plan) -> Result<Session, LaunchError> {
    Session::start(plan, &Helper::new(helper_path()))
}

/// What a command wrote, and how it ended.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) exit: Exit,
    pub(crate) text: String,
}

impl Output {
    #[track_caller]
    pub(crate) fn assert_success(&self) -> &Self {
        assert!(self.exit.success(), "{self:?}");
        self
    }
}

pub(crate) fn run(session: &Session, command: &Command) -> Result<Output, LaunchError> {
    let (reader, writer) = std::io::pipe().unwrap();
    let writer = OwnedFd::from(writer);
    let null = File::open("/dev/null").unwrap();
    let stdio = Stdio::new(null.into(), writer.try_clone().unwrap(), writer);
    let mut child = session.spawn(command, &stdio)?;
    drop(stdio);
    // Read on the side: a command that is not started closes the pipe as well.
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let mut reader = reader;
        reader.read_to_end(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    });
    let exit = child.wait();
    let text = reader.join().unwrap();
    Ok(Output { exit: exit?, text })
}

/// Both tiers, for what must hold in each.
pub(crate) const TIERS: [Tier; 2] = [Tier::Full, Tier::Landlock];

pub(crate) fn read(path: impl AsRef<Path>) -> String {
    fs::read_to_string(path).unwrap()
}
