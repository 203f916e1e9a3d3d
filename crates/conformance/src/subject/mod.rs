//! What runs a command line in a sandbox.

pub mod environment;
mod ours;
mod peers;
mod run;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use palisade_probes::{Mode, Tier};

pub use ours::policy;
pub use run::{Run, run};

/// What runs a command line in a sandbox, as a prefix to that line.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Subject {
    /// Its name, for ever.
    pub name: &'static str,
    /// Whose it is.
    pub kind: Kind,
    /// The file that must be there.
    program: fn(&Programs) -> PathBuf,
    /// What that file's version is, if it can be found out.
    version: fn(&Path) -> Option<String>,
    prefix: fn(&Programs, &Place<'_>) -> std::io::Result<Prefix>,
}

/// Whose a subject is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "there are us and the others")]
pub enum Kind {
    /// Ours: what it promises is held against it.
    Ours,
    /// Somebody else's: what is seen is written down.
    Peer,
}

/// Where the programs are that subjects consist of.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "callers make these")]
pub struct Programs {
    /// This crate's own program, which is also the library as a subject.
    pub conformance: PathBuf,
    /// `palisade`.
    pub palisade: PathBuf,
    /// `palisade-linux-sandbox`.
    pub helper: PathBuf,
    /// `palisade-probe`.
    pub probe: PathBuf,
    /// The scratch directory that `cargo xtask peers install` fills.
    pub peers: PathBuf,
}

impl Programs {
    /// All of ours in the folder of this program, where `cargo xtask` puts them; peers where `--peers` says.
    ///
    /// # Errors
    /// It is not known where this program is.
    pub fn beside_this(options: &crate::options::Options) -> anyhow::Result<Self> {
        let conformance = std::env::current_exe().context("this program")?;
        let beside = |name: &str| conformance.with_file_name(name);
        Ok(Self {
            palisade: beside("palisade"),
            helper: beside("palisade-linux-sandbox"),
            probe: beside("palisade-probe"),
            peers: options.path("--peers")?,
            conformance,
        })
    }
}

/// What a subject is told: write these roots, and no network.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "callers make these")]
pub struct Place<'a> {
    /// The project; the command's directory.
    pub workspace: &'a Path,
    /// Further writable roots.
    pub roots: &'a [PathBuf],
    /// The user's home, with secrets in it.
    pub home: &'a Path,
    /// What our policy protects besides its defaults; those that are in the workspace count.
    pub protected: &'a [PathBuf],
    /// Whether the workspace is writable.
    pub mode: Mode,
    /// Which of our tiers the host can do; peers are not told. For [`Tier::Landlock`] the subject is one that cannot
    /// have namespaces: the library is told so, the helper and the command find it out.
    pub tier: Tier,
    /// The guarantees of ours that may be lost, by name: [`losses`] has those of a tier.
    pub losses: &'a [&'a str],
    /// Limits of our policy; peers are not told.
    pub limits: Option<Limits>,
    /// Outside the workspace: for settings of the subject.
    pub scratch: &'a Path,
}

/// Limits on what a command uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "callers make these")]
pub struct Limits {
    /// Processes.
    pub pids: u32,
    /// Memory, in MiB.
    pub memory_mb: u64,
    /// Processor time, in seconds.
    pub cpu_secs: u64,
    /// Size of a file, in MiB.
    pub disk_mb: u64,
}

impl Limits {
    /// Low enough for the probes of resources to run into them.
    pub const FOR_PROBES: Self = Self {
        pids: 64,
        memory_mb: 256,
        cpu_secs: 1,
        disk_mb: 1024,
    };
}

/// The guarantees that a host loses which can do this tier and no more, by name.
#[must_use]
pub const fn losses(tier: Tier) -> &'static [&'static str] {
    match tier {
        Tier::Full => &[],
        Tier::Landlock => &["protected-paths", "metadata-outside", "process-isolation"],
    }
}

/// What stands before the command line, and what is added to the environment of the whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "subjects make these")]
pub struct Prefix {
    /// The words before the command line.
    pub line: Vec<OsString>,
    /// Variables of the subject itself.
    pub environment: Vec<(OsString, OsString)>,
}

impl Subject {
    /// Whether it can be started here.
    #[must_use]
    pub fn is_installed(&self, programs: &Programs) -> bool {
        (self.program)(programs).is_file()
    }

    /// Its version, if it can be found out.
    #[must_use]
    pub fn version(&self, programs: &Programs) -> Option<String> {
        (self.version)(&(self.program)(programs))
    }

    /// What stands before a command line so that it runs in this subject. Settings are written to [`Place::scratch`].
    ///
    /// # Errors
    /// The settings could not be written.
    pub fn prefix(&self, programs: &Programs, place: &Place<'_>) -> std::io::Result<Prefix> {
        (self.prefix)(programs, place)
    }
}

impl Prefix {
    /// Adds words.
    fn words<W: AsRef<OsStr>>(mut self, words: impl IntoIterator<Item = W>) -> Self {
        let words = words.into_iter();
        self.line.extend(words.map(|word| word.as_ref().to_owned()));
        self
    }

    /// Adds an option for each of these.
    fn each<W: AsRef<OsStr>>(self, option: &str, values: impl IntoIterator<Item = W>) -> Self {
        values.into_iter().fold(self, |prefix, value| {
            prefix.words([OsStr::new(option), value.as_ref()])
        })
    }

    /// Adds a variable.
    fn variable(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.environment.push((name.into(), value.into()));
        self
    }

    /// Puts another prefix before this one.
    #[must_use]
    pub fn after(self, mut other: Self) -> Self {
        other.line.extend(self.line);
        other.environment.extend(self.environment);
        other
    }
}

impl Place<'_> {
    /// Every writable root; none where nothing is writable.
    fn writable(&self) -> impl Iterator<Item = &Path> {
        let all = std::iter::once(self.workspace).chain(self.roots.iter().map(PathBuf::as_path));
        all.filter(|_| self.mode != Mode::ReadOnly)
    }

    /// What is protected in the workspace, as it is named there.
    fn protected_names(&self) -> impl Iterator<Item = &Path> {
        let all = self.protected.iter();
        all.filter_map(|path| path.strip_prefix(self.workspace).ok())
    }
}

/// The first line that a program says about its version.
fn says_version(program: &Path) -> Option<String> {
    let output = std::process::Command::new(program)
        .arg("--version")
        .current_dir("/")
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().find(|line| !line.trim().is_empty())?;
    Some(line.trim().to_owned())
}

/// All subjects, ours first.
pub fn all() -> impl Iterator<Item = &'static Subject> {
    ours::ALL.iter().chain(peers::ALL)
}

/// The subject with this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Subject> {
    all().find(|subject| subject.name == name)
}
