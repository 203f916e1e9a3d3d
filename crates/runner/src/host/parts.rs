//! The parts that a host is made of, and what follows from them.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use palisade_policy::{AbsolutePath, Environment, HostFacts, Os};

use super::{HelperAhead, Host, directories, git, real_path};

/// The helper's name, beside the program that runs.
const HELPER: &str = if cfg!(target_os = "macos") {
    "palisade-helper"
} else {
    "palisade-linux-sandbox"
};

/// What is read from the environment and the user database.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct HostParts {
    /// The user's id, where the system has such a thing.
    pub uid: Option<u32>,
    /// The home directory that the user database names.
    pub database_home: Option<PathBuf>,
    /// The environment.
    pub environment: Environment,
    /// The program that runs.
    pub current_program: Option<PathBuf>,
}

impl HostParts {
    /// The parts of this host.
    #[must_use]
    pub fn look() -> Self {
        #[cfg(unix)]
        let (uid, database_home) = {
            let uid = rustix::process::geteuid().as_raw();
            (Some(uid), super::sys::home_of(uid))
        };
        #[cfg(not(unix))]
        let (uid, database_home) = (None, None);
        Self {
            uid,
            database_home,
            environment: environment(),
            current_program: std::env::current_exe().ok(),
        }
    }

    /// Of this user.
    #[must_use]
    pub fn with_uid(mut self, uid: u32) -> Self {
        self.uid = Some(uid);
        self
    }

    /// With this home directory in the user database.
    #[must_use]
    pub fn with_database_home(mut self, home: impl Into<PathBuf>) -> Self {
        self.database_home = Some(home.into());
        self
    }

    /// With this environment.
    #[must_use]
    pub fn with_environment(mut self, environment: Environment) -> Self {
        self.environment = environment;
        self
    }

    /// With this program running.
    #[must_use]
    pub fn with_current_program(mut self, program: impl Into<PathBuf>) -> Self {
        self.current_program = Some(program.into());
        self
    }

    fn variable(&self, name: &str) -> Option<&OsStr> {
        let found = match cfg!(windows) {
            // Windows does not tell names apart by case.
            true => self
                .environment
                .iter()
                .find(|(known, _)| known.eq_ignore_ascii_case(name))
                .map(|(_, value)| value),
            false => self.environment.get(OsStr::new(name)),
        };
        found
            .map(|value| value.as_os_str())
            .filter(|value| !value.is_empty())
    }

    /// A variable that holds an absolute path. A relative one means nothing: it would depend on where we are.
    fn directory(&self, name: &str) -> Option<PathBuf> {
        let path = PathBuf::from(self.variable(name)?);
        path.is_absolute().then_some(path)
    }

    pub(super) fn into_host(self) -> Host {
        let mut facts = HostFacts::new(this_system());
        facts.uid = self.uid;
        let variables = directories::VARIABLES;
        let mut tmpdirs = variables.tmpdir.iter();
        facts.tmpdir = tmpdirs
            .find_map(|name| self.directory(name))
            .and_then(|path| real(&path));

        let named = self.directory(variables.home).and_then(|path| real(&path));
        let database = self.database_home.as_deref().and_then(real).or_else(|| {
            let other = variables.other_home.and_then(|name| self.directory(name));
            other.and_then(|path| real(&path))
        });
        let other_home = match (&named, &database) {
            // A home that is not there holds no secrets.
            (Some(named), Some(other)) if named != other => {
                other.as_path().is_dir().then(|| other.clone())
            }
            _ => None,
        };
        facts.home = named.or(database);

        let home = facts.home.as_ref().map(AbsolutePath::as_path);
        let xdg = |(name, below_home): (&str, &str)| {
            let base = self.directory(name);
            let base = base.or_else(|| home.map(|home| home.join(below_home)));
            base.map(|base| base.join(directories::NAME))
        };
        let state_dir = xdg(variables.state);
        let config_dir = xdg(variables.config);
        let runtime_dir = self
            .directory("XDG_RUNTIME_DIR")
            .filter(|path| directories::is_private_to(path, self.uid))
            .map(|path| path.join(directories::NAME))
            .or_else(|| state_dir.as_ref().map(|state| state.join("run")));

        // A variable says where they are today. Tomorrow, without it, the usual places decide.
        let homes = [facts.home.as_ref(), other_home.as_ref()];
        let usual = homes.into_iter().flatten().flat_map(|home| {
            let below = [variables.state.1, variables.config.1];
            below.map(|below| home.as_path().join(below).join(directories::NAME))
        });
        let known = [&state_dir, &config_dir];
        let guarded: Vec<PathBuf> = usual
            .filter(|path| !known.into_iter().flatten().any(|known| known == path))
            .collect();

        let beside = |program: &Path| program.parent().map(|directory| directory.join(HELPER));
        let helper = self.current_program.as_deref().and_then(beside);
        Host {
            helper: helper.filter(|path| git::is_program(path)),
            git: git::find(self.variable("PATH")),
            facts,
            other_home,
            state_dir,
            config_dir,
            runtime_dir,
            current_program: self.current_program,
            environment: self.environment,
            guarded,
            egress: crate::egress::Egress::new(),
            ahead: HelperAhead::none(),
        }
    }
}

/// A path with its links resolved; one that does not exist is taken by its word.
fn real(path: &Path) -> Option<AbsolutePath> {
    let real = real_path(path);
    AbsolutePath::new(real.as_deref().unwrap_or(path)).ok()
}

/// The environment of this program. On Windows it also has entries of the system, such as the directory of each drive,
/// whose names start with `=`: no command is ever given them by name.
fn environment() -> Environment {
    let variables = std::env::vars_os();
    variables
        .filter(|(name, _)| !name.as_encoded_bytes().starts_with(b"="))
        .collect()
}

const fn this_system() -> Os {
    if cfg!(target_os = "macos") {
        Os::Macos
    } else if cfg!(windows) {
        Os::Windows
    } else {
        Os::Linux
    }
}
