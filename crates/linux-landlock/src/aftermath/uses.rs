//! Which files are executed later by somebody outside the sandbox, or tell a tool what to execute.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::finding::FindingKind;

/// What a file is used for, so that a change of it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// A tool executes it, or what it says.
    Tool(&'static str),
    /// Git obeys it.
    Git,
    /// Git executes it, because a configuration says so.
    Hook,
    /// The policy protects it.
    Protected,
}

impl Use {
    pub(super) const fn kind(self) -> FindingKind {
        match self {
            Self::Tool(_) | Self::Git => FindingKind::RunsLater,
            Self::Hook => FindingKind::HooksPath,
            Self::Protected => FindingKind::Protected,
        }
    }

    pub(super) const fn by(self) -> &'static str {
        match self {
            Self::Tool(tool) => tool,
            Self::Git => "git runs it, or runs what it says",
            Self::Hook => "git takes its hooks from this directory",
            Self::Protected => "the policy protects it",
        }
    }
}

const BUILD: &str = "building runs it, or runs what it says";
const INSTALL: &str = "installing packages runs it, or runs what it says";
const SHELL: &str = "entering the directory runs it, or runs what it says";
const EDITOR: &str = "an editor runs it, or runs what it says";
const CHECKOUT: &str = "git chooses programs by it";
const SERVICE: &str = "a service or a container runs what it says";
const TOOLCHAIN: &str = "it chooses the programs that build";
const TEST: &str = "testing runs it, or runs what it says";
const AGENT: &str = "an agent runs what it says";
const DEBUGGER: &str = "a debugger runs it";
const HOOKS: &str = "a manager of git hooks runs it, or runs what it says";

/// Names that mean something in every directory.
const NAMES: &[(&str, &str)] = &[
    (".envrc", SHELL),
    (".autoenv.zsh", SHELL),
    (".tool-versions", TOOLCHAIN),
    ("mise.toml", SHELL),
    (".mise.toml", SHELL),
    ("rust-toolchain", TOOLCHAIN),
    ("rust-toolchain.toml", TOOLCHAIN),
    ("flake.nix", SHELL),
    ("shell.nix", SHELL),
    ("default.nix", BUILD),
    ("Makefile", BUILD),
    ("makefile", BUILD),
    ("GNUmakefile", BUILD),
    ("justfile", BUILD),
    ("Justfile", BUILD),
    (".justfile", BUILD),
    ("Taskfile.yml", BUILD),
    ("Taskfile.yaml", BUILD),
    ("CMakeLists.txt", BUILD),
    ("CMakePresets.json", BUILD),
    ("meson.build", BUILD),
    ("configure", BUILD),
    ("configure.ac", BUILD),
    ("build.rs", BUILD),
    ("Cargo.toml", BUILD),
    ("build.gradle", BUILD),
    ("build.gradle.kts", BUILD),
    ("settings.gradle", BUILD),
    ("settings.gradle.kts", BUILD),
    ("gradle-wrapper.properties", BUILD),
    ("gradle-wrapper.jar", BUILD),
    ("gradlew", BUILD),
    ("mvnw", BUILD),
    ("pom.xml", BUILD),
    ("Rakefile", BUILD),
    ("WORKSPACE", BUILD),
    ("MODULE.bazel", BUILD),
    (".bazelrc", BUILD),
    ("go.work", TOOLCHAIN),
    ("package.json", INSTALL),
    (".npmrc", INSTALL),
    (".yarnrc", INSTALL),
    (".yarnrc.yml", INSTALL),
    (".pnp.cjs", INSTALL),
    (".pnpmfile.cjs", INSTALL),
    ("bunfig.toml", INSTALL),
    ("setup.py", INSTALL),
    ("setup.cfg", INSTALL),
    ("pyproject.toml", INSTALL),
    ("pip.conf", INSTALL),
    ("Pipfile", INSTALL),
    ("Gemfile", INSTALL),
    ("composer.json", INSTALL),
    ("sitecustomize.py", TEST),
    ("usercustomize.py", TEST),
    ("conftest.py", TEST),
    ("tox.ini", TEST),
    ("noxfile.py", TEST),
    (".pre-commit-config.yaml", HOOKS),
    ("lefthook.yml", HOOKS),
    ("lefthook.yaml", HOOKS),
    (".lefthook.yml", HOOKS),
    (".gitattributes", CHECKOUT),
    (".gitmodules", CHECKOUT),
    (".gitconfig", CHECKOUT),
    (".gitlab-ci.yml", SERVICE),
    ("Jenkinsfile", SERVICE),
    ("Dockerfile", SERVICE),
    ("Containerfile", SERVICE),
    ("docker-compose.yml", SERVICE),
    ("docker-compose.yaml", SERVICE),
    ("compose.yml", SERVICE),
    ("compose.yaml", SERVICE),
    ("Vagrantfile", SERVICE),
    ("Procfile", SERVICE),
    (".devcontainer.json", EDITOR),
    (".vimrc", EDITOR),
    (".exrc", EDITOR),
    (".nvimrc", EDITOR),
    (".nvim.lua", EDITOR),
    (".dir-locals.el", EDITOR),
    (".gdbinit", DEBUGGER),
    (".lldbinit", DEBUGGER),
    (".mcp.json", AGENT),
];

/// Directories in which everything counts.
const DIRECTORIES: &[(&str, &str)] = &[
    (".mvn", BUILD),
    (".husky", HOOKS),
    (".lefthook", HOOKS),
    (".githooks", HOOKS),
    (".idea", EDITOR),
    (".vscode", EDITOR),
    (".fleet", EDITOR),
    (".zed", EDITOR),
    (".devcontainer", EDITOR),
    (".github", SERVICE),
    (".circleci", SERVICE),
    (".palisade", AGENT),
    (".codex", AGENT),
    (".claude", AGENT),
    (".agents", AGENT),
    (".cursor", AGENT),
];

/// Names that mean something in one directory.
const BELOW: &[(&str, &str, &str)] = &[
    (".cargo", "config", BUILD),
    (".cargo", "config.toml", BUILD),
];

/// What git reads in its own directories; its hooks may be somewhere else. Its index and history are not code.
const GIT: &[&str] = &[
    "hooks",
    "config",
    "config.worktree",
    "commondir",
    "gitdir",
    "attributes",
];

/// What a directory of the given name makes of everything in it.
pub(super) fn of_directory(name: &OsStr) -> Option<Use> {
    DIRECTORIES
        .iter()
        .find(|(known, _)| name == *known)
        .map(|(_, by)| Use::Tool(by))
}

/// What a file of the given name is used for, in a directory. A link may have the name of a directory, too.
pub(super) fn of_name(directory: &Path, name: &OsStr) -> Option<Use> {
    let above = directory.file_name()?;
    let below = BELOW.iter();
    let named = below
        .filter(|(known, ..)| above == *known)
        .map(|(_, known, by)| (known, by))
        .chain(
            NAMES
                .iter()
                .chain(DIRECTORIES)
                .map(|(known, by)| (known, by)),
        )
        .find(|(known, _)| name == **known);
    if let Some((_, by)) = named {
        return Some(Use::Tool(by));
    }
    match Path::new(name).extension().map(OsStr::as_bytes) {
        Some(b"mk") => Some(Use::Tool(BUILD)),
        Some(b"pth") => Some(Use::Tool(TEST)),
        Some(b"code-workspace") => Some(Use::Tool(EDITOR)),
        _ => None,
    }
}

/// What a file in one of git's own directories is used for.
pub(super) fn of_git_file(directory: &Path, name: &OsStr) -> Option<Use> {
    let sample = name.as_bytes().ends_with(b".sample");
    let hook = directory.file_name() == Some(OsStr::new("hooks")) && !sample;
    (hook || GIT.iter().any(|known| name == *known)).then_some(Use::Git)
}

/// Directories of which the user, not a name, says that they count.
#[derive(Clone, Debug, Default)]
pub(super) struct Watched(pub(super) Vec<(PathBuf, Use)>);

impl Watched {
    /// What holds for a path: it, or a directory above it, is watched.
    pub(super) fn of(&self, path: &Path) -> Option<Use> {
        self.0
            .iter()
            .find(|(watched, _)| path.starts_with(watched))
            .map(|(_, reason)| *reason)
    }
}
