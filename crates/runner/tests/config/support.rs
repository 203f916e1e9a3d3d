//! A stage: a project, a user, an administrator and a state directory.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use palisade_exec_policy::RuleDecision;
use palisade_exec_policy::approvals::Moment;
use palisade_exec_policy::matching::CommandFacts;
use palisade_policy::{AbsolutePath, Environment};
use palisade_runner::config::{ConfigError, ConfigPaths, Configuration, FileProblem, State, load};
use palisade_runner::host::{Host, HostParts};
use palisade_shell_analysis::{Limits, Shell, analyze_script};

pub(crate) struct Stage {
    directory: tempfile::TempDir,
}

impl Stage {
    /// Not below `/tmp`, which policies treat in a way of its own.
    pub(crate) fn new() -> Self {
        let directory = tempfile::Builder::new()
            .prefix("palisade-config-")
            .tempdir_in("/var/tmp")
            .unwrap();
        let stage = Self { directory };
        for name in ["project", "home", "etc"] {
            fs::create_dir(stage.at(name)).unwrap();
        }
        stage
    }

    pub(crate) fn at(&self, below: &str) -> PathBuf {
        self.directory.path().canonicalize().unwrap().join(below)
    }

    /// Writes a file; policies get their version.
    pub(crate) fn write(&self, below: &str, text: &str) -> PathBuf {
        let path = self.at(below);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, format!("version = 1\n{text}")).unwrap();
        chmod(&path, 0o644);
        path
    }

    pub(crate) fn host(&self) -> Host {
        let environment = Environment::from([("HOME".into(), self.at("home").into())]);
        let uid = rustix::process::geteuid().as_raw();
        Host::from_parts(
            HostParts::default()
                .with_uid(uid)
                .with_environment(environment),
        )
    }

    pub(crate) fn paths(&self) -> ConfigPaths {
        ConfigPaths::of(&self.host())
            .with_system(self.at("etc/policy.toml"))
            .with_system_owner(rustix::process::geteuid().as_raw())
    }

    pub(crate) fn user(&self, text: &str) -> PathBuf {
        self.write("home/.config/palisade/policy.toml", text)
    }

    pub(crate) fn system(&self, text: &str) -> PathBuf {
        self.write("etc/policy.toml", text)
    }

    pub(crate) fn project(&self, text: &str) -> PathBuf {
        self.write("project/.palisade/policy.toml", text)
    }

    pub(crate) fn root(&self) -> AbsolutePath {
        AbsolutePath::new(self.at("project")).unwrap()
    }

    pub(crate) fn state(&self) -> State {
        State::of(&self.host()).unwrap()
    }

    pub(crate) fn load(&self) -> Result<Configuration, ConfigError> {
        self.load_with(None)
    }

    pub(crate) fn load_with(&self, session: Option<&str>) -> Result<Configuration, ConfigError> {
        load(
            &self.paths(),
            &self.host(),
            &self.at("project"),
            session,
            now(),
        )
    }

    /// The refusal of a file, which must be this one.
    #[track_caller]
    pub(crate) fn refused(&self, file: &Path) -> FileProblem {
        match self.load() {
            Err(ConfigError::File { path, problem }) => {
                assert_eq!(path, file, "{problem}");
                problem
            }
            Err(other) => panic!("refused, but so: {other}"),
            Ok(_) => panic!("not refused"),
        }
    }
}

pub(crate) fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

pub(crate) fn now() -> Moment {
    Moment::parse("2026-03-01T12:00:00Z").unwrap()
}

pub(crate) fn rule(id: &str, prefix: &str, decision: &str) -> String {
    format!(
        "[[rule]]\nid = \"{id}\"\nprefix = [{prefix}]\ndecision = \"{decision}\"\nwhy = \"x\"\n"
    )
}

/// What the rules say about a command.
pub(crate) fn verdict(configuration: &Configuration, command: &str) -> RuleDecision {
    let analysis = analyze_script(command, Shell::Bash, &Limits::default());
    let facts = CommandFacts::new(&configuration.place);
    configuration
        .rules
        .evaluate(&analysis, &facts)
        .rule_decision()
}
