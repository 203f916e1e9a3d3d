//! What a verdict depends on besides the rules and the command: facts about the host, as values.

use std::path::{Component, Path, PathBuf};

use palisade_policy::{AbsolutePath, HostFacts, PathRules, SensitivePath};

/// The names of a path, in order, without the file system's root.
pub(crate) type Names = Vec<Vec<u8>>;

/// Answers of people to the questions of rules, kept from earlier.
pub trait Approvals {
    /// Whether somebody agreed to what rule `rule` asks about commands that begin like `argv`.
    fn answers(&self, rule: &str, argv: &[&[u8]]) -> bool;
}

/// Where the search path finds programs.
pub trait Programs {
    /// The file that a bare name resolves to, if that is known.
    fn resolve(&self, name: &str) -> Option<PathBuf>;
}

/// Directories whose programs are the ones that their names say.
const SYSTEM_DIRECTORIES: [&str; 9] = [
    "/bin",
    "/usr/bin",
    "/usr/local/bin",
    "/sbin",
    "/usr/sbin",
    "/opt/homebrew/bin",
    "/opt/local/bin",
    "/run/current-system/sw/bin",
    "/snap/bin",
];

/// Directories that anybody may write: no program found there is what its name says.
const SHARED_DIRECTORIES: [&str; 4] = ["/tmp", "/var/tmp", "/dev/shm", "/private/tmp"];

/// Facts about the place where a command would run.
#[derive(Clone, Copy)]
pub struct CommandFacts<'a> {
    pub(crate) place: &'a PlaceFacts,
    pub(crate) programs: Option<&'a dyn Programs>,
    pub(crate) approvals: Option<&'a dyn Approvals>,
}

impl<'a> CommandFacts<'a> {
    /// Facts about a place, with no program looked up and no approval stored.
    #[must_use]
    pub const fn new(place: &'a PlaceFacts) -> Self {
        Self {
            place,
            programs: None,
            approvals: None,
        }
    }

    /// With what the search path finds.
    #[must_use]
    pub const fn with_programs(self, programs: &'a dyn Programs) -> Self {
        Self {
            programs: Some(programs),
            ..self
        }
    }

    /// With answers that people gave earlier.
    #[must_use]
    pub const fn with_approvals(self, approvals: &'a dyn Approvals) -> Self {
        Self {
            approvals: Some(approvals),
            ..self
        }
    }
}

impl std::fmt::Debug for CommandFacts<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CommandFacts")
            .field("place", self.place)
            .finish_non_exhaustive()
    }
}

/// The project, the directory in which a command starts, and what is guarded there. Made once for many commands.
#[derive(Clone, Debug)]
pub struct PlaceFacts {
    pub(crate) project: Names,
    pub(crate) cwd: Names,
    pub(crate) home: Option<Names>,
    /// Below a writable root, in lower case.
    pub(crate) protected: Vec<Names>,
    /// Secrets below the home directory, in lower case.
    pub(crate) secrets: Vec<Names>,
    /// Directories besides the project that the sandbox lets commands write.
    pub(crate) writable: Vec<Names>,
    pub(crate) system_directories: Vec<Vec<u8>>,
}

impl PlaceFacts {
    /// Commands that start in the root of this project, on a host with these facts.
    #[must_use]
    pub fn new(project: &AbsolutePath, host: &HostFacts) -> Self {
        let secrets = SensitivePath::defaults(host)
            .iter()
            .filter(|secret| secret.block_read)
            .filter_map(|secret| below_home(&secret.path))
            .collect();
        Self {
            project: names(project.as_path()),
            cwd: names(project.as_path()),
            home: host.home.as_ref().map(|home| names(home.as_path())),
            protected: PathRules::DEFAULT_PROTECTED
                .iter()
                .map(|below| lower(&names(Path::new(below))))
                .collect(),
            secrets,
            writable: Vec::new(),
            system_directories: SYSTEM_DIRECTORIES
                .iter()
                .map(|directory| directory.as_bytes().to_vec())
                .collect(),
        }
    }

    /// Starting in this directory instead of the project's root.
    #[must_use]
    pub fn starting_in(mut self, cwd: &AbsolutePath) -> Self {
        self.cwd = names(cwd.as_path());
        self
    }

    /// With these subpaths protected in place of the defaults.
    #[must_use]
    pub fn with_protected<'p>(mut self, protected: impl IntoIterator<Item = &'p Path>) -> Self {
        self.protected = protected
            .into_iter()
            .map(|below| lower(&names(below)))
            .collect();
        self
    }

    /// With further directories that the sandbox lets commands write, such as a private temporary directory.
    #[must_use]
    pub fn with_writable<'p>(
        mut self,
        directories: impl IntoIterator<Item = &'p AbsolutePath>,
    ) -> Self {
        self.writable = directories
            .into_iter()
            .map(|directory| names(directory.as_path()))
            .collect();
        self
    }

    /// With these directories trusted to hold the programs that their names say, in place of the defaults.
    #[must_use]
    pub fn with_system_directories<'p>(
        mut self,
        directories: impl IntoIterator<Item = &'p AbsolutePath>,
    ) -> Self {
        self.system_directories = directories
            .into_iter()
            .map(|directory| directory.as_path().as_os_str().as_encoded_bytes().to_vec())
            .collect();
        self
    }

    /// Whether commands could have written the programs of this directory.
    pub(crate) fn is_anybodys(&self, names: &[&[u8]]) -> bool {
        let below = |directory: &Names| starts_with(names, directory);
        below(&self.project)
            || self.writable.iter().any(below)
            || SHARED_DIRECTORIES
                .iter()
                .any(|directory| below(&self::names(Path::new(directory))))
    }
}

/// The names of a path.
pub(crate) fn names(path: &Path) -> Names {
    path.components()
        .filter_map(|component| match component {
            Component::Normal(name) => Some(name.as_encoded_bytes().to_vec()),
            Component::Prefix(prefix) => Some(prefix.as_os_str().as_encoded_bytes().to_vec()),
            Component::RootDir | Component::CurDir | Component::ParentDir => None,
        })
        .collect()
}

/// Whether a path is `base` or lies below it, case kept.
pub(crate) fn starts_with(names: &[&[u8]], base: &Names) -> bool {
    names.len() >= base.len()
        && names
            .iter()
            .zip(base)
            .all(|(name, base)| *name == base.as_slice())
}

fn lower(names: &Names) -> Names {
    names.iter().map(|name| name.to_ascii_lowercase()).collect()
}

/// What a spec names below the home directory; the others are covered by the list of secret names.
fn below_home(spec: &palisade_policy::PathSpec) -> Option<Names> {
    if !spec.needs_home() {
        return None;
    }
    let text = spec.to_string();
    let below = text.strip_prefix("~/")?;
    Some(lower(&names(Path::new(below))))
}
