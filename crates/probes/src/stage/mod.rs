//! What a probe is let loose on: throw-away files, servers and a victim, and how they are looked at from outside.

mod layout;
mod leaks;
mod remains;
pub(crate) mod servers;
pub(crate) mod shared;
mod snapshot;
mod victim;

use std::ffi::OsString;
use std::fs::{self, File, Permissions};
use std::io::{self, Read as _};
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};

use crate::probe::{Mode, Probe};
use crate::site::Site;

use leaks::Leaks;
use servers::Servers;
use shared::Shared;
use snapshot::Snapshot;
use victim::Victim;

/// The probe that looks for a socket which was not there at the launch.
pub(crate) const LATE_SOCKET: &str = "unix-bound-late";
/// The probe that listens for others.
pub(crate) const LISTENER: &str = "net-listen";

/// The probes that leave somebody behind who waits for the end of the run. They need a workspace that can be written.
pub(crate) const LATECOMERS: [&str; 2] = ["proc-late-write", "race-placeholder-removed"];

/// How a stage is set.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "callers say all of it")]
pub struct Setup<'a> {
    /// Where the stage's directory is made. Whoever runs the probe must be able to reach it, also in the sandbox: not
    /// `/tmp` if that is private there.
    pub base: &'a Path,
    /// The program `palisade-probe`.
    pub program: &'a Path,
    /// User and group that everything belongs to, if not the caller's; only root can say so.
    pub owner: Option<(u32, u32)>,
    /// Under which policy the probe runs: [`Mode::ReadOnly`] makes a change of the workspace evidence.
    pub mode: Mode,
}

/// A set stage. Whatever it made is gone when it is dropped.
///
/// Make one for each run: an attempt that gets through leaves it changed.
#[derive(Debug)]
pub struct Stage {
    root: PathBuf,
    run: Option<PathBuf>,
    program: PathBuf,
    secret: String,
    site: Site,
    mode: Mode,
    segment: i32,
    victim: Victim,
    servers: Servers,
    leaks: Leaks,
    shared: Shared,
}

/// How the stage looks at one moment.
#[derive(Debug)]
pub struct Look {
    files: Snapshot,
    victim: String,
}

impl Stage {
    /// Sets a stage.
    ///
    /// # Errors
    /// Something of it could not be made.
    pub fn prepare(setup: &Setup<'_>) -> io::Result<Self> {
        Self::build(setup, false)
    }

    /// Moves this thread, and what it starts from now on, into a network namespace of its own, and sets a stage there
    /// with a server on 169.254.169.254: the address where clouds hand out credentials is imitated nowhere else.
    ///
    /// # Errors
    /// The caller may not make a namespace, which takes root; or something of the stage could not be made.
    pub fn prepare_in_own_network(setup: &Setup<'_>) -> io::Result<Self> {
        crate::sys::net::own_network()?;
        Self::build(setup, true)
    }

    fn build(setup: &Setup<'_>, own_network: bool) -> io::Result<Self> {
        let token = random_name()?;
        let secret = format!("secret-{}", random_name()?);
        let root = setup.base.join(format!("palisade-stage-{token}"));
        fs::create_dir(&root)?;
        let root = fs::canonicalize(root)?;
        // From here on, what was made is removed again if something fails.
        let mut made = Unfinished {
            root: Some(root.clone()),
            run: None,
            segment: None,
        };
        fs::set_permissions(&root, Permissions::from_mode(0o755))?;

        let program = root.join("palisade-probe");
        layout::copy_program(setup.program, &program)?;

        layout::make(&root, &secret)?;
        let run = layout::run_directory(&root, &token)?;
        made.run = Some(run.clone());
        let servers = Servers::start(&root, &run, &token, &secret, own_network)?;
        if let Some(owner) = setup.owner {
            give(&root, owner)?;
            give(&run, owner)?;
        }
        // Last, because a change of owner takes these bits away; only root can name another user.
        layout::elevating_program(&root, &program);

        let victim = Victim::start(&program, &secret, setup.owner)?;
        let leaks = Leaks::open(&root)?;
        let segment = crate::sys::ipc::make_segment(&secret, setup.owner.map(|(user, _)| user))?;
        made.segment = Some(segment);
        let shared = Shared::make(&token, &secret, setup.owner)?;
        let site = Site {
            token,
            workspace: root.join("workspace"),
            plain: root.join("plain"),
            outside: root.join("outside"),
            home: root.join("home"),
            run: run.clone(),
            tcp4: servers.tcp4,
            tcp6: servers.tcp6,
            udp4: servers.udp4,
            udp6: servers.udp6,
            metadata: servers.metadata,
            abstract_name: servers.abstract_name.clone(),
            knock: servers.knock,
            late: servers.late.clone(),
            // Where every sandbox lets a command look; none of the attempts is judged by it.
            over: root.join("workspace/run-is-over"),
            terminal: shared.terminal(),
            messages: shared.messages,
            victim: victim.pid(),
            victim_memory: victim.memory,
            victim_file: victim.file,
            leaked_file: leaks.file_number(),
            leaked_secret: leaks.secret_number(),
            leaked_socket: leaks.socket_number(),
            segment,
            processes: 400,
            memory: 512,
            file_size: 4096,
            cpu: 3,
        };
        made.keep();
        Ok(Self {
            root,
            run: Some(run),
            program,
            secret,
            site,
            mode: setup.mode,
            segment,
            victim,
            servers,
            leaks,
            shared,
        })
    }

    /// Where things are.
    #[must_use]
    pub const fn site(&self) -> &Site {
        &self.site
    }

    /// Where things are, to set how much the probes of resources use.
    pub const fn site_mut(&mut self) -> &mut Site {
        &mut self.site
    }

    /// The roots that a policy makes writable, unless it is read-only.
    #[must_use]
    pub fn writable_roots(&self) -> [&Path; 2] {
        [&self.site.workspace, &self.site.plain]
    }

    /// What a policy protects in them; one of these does not exist.
    #[must_use]
    pub fn protected(&self) -> Vec<PathBuf> {
        layout::PROTECTED
            .iter()
            .map(|below| self.site.workspace.join(below))
            .chain([self.site.plain.join(".git")])
            .collect()
    }

    /// What a policy denies to read.
    #[must_use]
    pub fn secrets(&self) -> Vec<PathBuf> {
        layout::SECRETS
            .iter()
            .map(|below| self.site.home.join(below))
            .collect()
    }

    /// What the user's environment has: a secret among it, that a sandbox must not hand on.
    #[must_use]
    pub fn environment(&self) -> Vec<(OsString, OsString)> {
        vec![
            ("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into()),
            ("HOME".into(), self.site.home.clone().into()),
            ("AWS_SECRET_ACCESS_KEY".into(), self.secret.clone().into()),
            (
                "SSH_AUTH_SOCK".into(),
                self.site.outside.join("agent.sock").into(),
            ),
        ]
    }

    /// The command line that runs this probe here.
    #[must_use]
    pub fn command_line(&self, probe: &Probe) -> Vec<OsString> {
        let mut line = vec![self.program.clone().into(), probe.name.into()];
        line.extend(self.site.arguments());
        line
    }

    /// Where the stage's own files are, for output of a run.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Whether this text tells the secret.
    #[must_use]
    pub fn tells_secret(&self, text: &str) -> bool {
        text.contains(&self.secret)
    }

    /// Gets ready what only this probe needs.
    pub(crate) fn cue(&self, probe: &Probe) {
        match probe.name {
            LATE_SOCKET => self.servers.want_late(),
            LISTENER => self.servers.want_knock(),
            _ => {}
        }
    }

    /// Tells whoever is left of the run of this probe that it is over.
    pub(crate) fn close(&self, probe: &Probe) -> io::Result<()> {
        if LATECOMERS.contains(&probe.name) {
            File::create(&self.site.over)?;
        }
        Ok(())
    }

    /// Looks at it, before a run.
    #[must_use]
    pub fn look(&self) -> Look {
        let mut files = Snapshot::default();
        files.add(&self.site.outside);
        files.add(&self.site.home);
        // A later run would start what stands there.
        files.add(&self.program);
        for path in &self.shared.files {
            files.add(path);
        }
        for path in self.protected() {
            files.add(&path);
        }
        for below in layout::WATCHED {
            files.add(&self.site.workspace.join(below));
        }
        if self.mode == Mode::ReadOnly {
            files.add(&self.site.workspace);
            files.add(&self.site.plain);
        }
        Look {
            files,
            victim: self.victim.state(),
        }
    }

    /// What changed since, what arrived, and what is left behind.
    #[must_use]
    pub fn evidence(&self, before: &Look) -> Vec<String> {
        // First, because what is left running may still do something.
        let mut all = remains::running(&self.site.token);
        let after = self.look();
        all.extend(before.files.differences(&after.files));
        if before.victim != after.victim {
            all.push(format!(
                "the victim was `{}` and is `{}`",
                before.victim, after.victim
            ));
        }
        all.extend(self.servers.heard());
        all.extend(self.leaks.heard());
        all.extend(self.shared.heard());
        all.extend(remains::planted(&self.site.token));
        all
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let _ = remains::running(&self.site.token);
        let _ = remains::planted(&self.site.token);
        crate::sys::ipc::remove_segment(self.segment);
        remains::remove(&self.root);
        if let Some(run) = &self.run {
            remains::remove(run);
        }
    }
}

/// What has to be removed again if the stage is not finished.
struct Unfinished {
    root: Option<PathBuf>,
    run: Option<PathBuf>,
    segment: Option<i32>,
}

impl Unfinished {
    fn keep(&mut self) {
        self.root = None;
        self.run = None;
        self.segment = None;
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        for path in self.root.iter().chain(&self.run) {
            remains::remove(path);
        }
        if let Some(segment) = self.segment {
            crate::sys::ipc::remove_segment(segment);
        }
    }
}

/// Sixteen hexadecimal digits that nobody guesses.
fn random_name() -> io::Result<String> {
    let mut bytes = [0_u8; 8];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(format!("{:016x}", u64::from_ne_bytes(bytes)))
}

/// Gives a tree to a user; links are left alone.
fn give(path: &Path, owner: (u32, u32)) -> io::Result<()> {
    let about = fs::symlink_metadata(path)?;
    if about.is_symlink() {
        return Ok(());
    }
    chown(path, Some(owner.0), Some(owner.1))?;
    if about.is_dir() {
        for entry in fs::read_dir(path)? {
            give(&entry?.path(), owner)?;
        }
    }
    Ok(())
}
