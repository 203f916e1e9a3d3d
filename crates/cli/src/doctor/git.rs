//! Git, and a setting of it worth having.

use std::path::Path;
use std::process::{Command, Stdio};

use palisade::runner::host::Host;

use super::finding::Finding;
use crate::say::shown;

/// What is known about git.
pub(super) fn findings(host: &Host) -> Vec<Option<Finding>> {
    let Some(git) = &host.git else {
        return vec![Some(
            Finding::gap("git", "there is no git that only root can change")
                .costs("`--git commit` is refused (git-import)")
                .mended_by("install git with the system's packages"),
        )];
    };
    let version = ask(git, host, &["--version"]);
    let version = version.as_deref().unwrap_or("it does not say its version");
    let bare = ask(git, host, &["config", "--get", "safe.bareRepository"]);
    vec![
        Some(Finding::fine("git", format!("{version} ({})", shown(git)))),
        Some(match bare.as_deref() {
            Some("explicit") => Finding::fine("git-bare", "safe.bareRepository is explicit"),
            _ => Finding::gap("git-bare", "safe.bareRepository is not explicit")
                .costs(
                    "your own git, outside, obeys a bare repository that a command plants in a project",
                )
                .mended_by("git config --global safe.bareRepository explicit"),
        }),
    ]
}

/// What git says, asked where no repository can answer.
fn ask(git: &Path, host: &Host, arguments: &[&str]) -> Option<String> {
    let mut command = Command::new(git);
    command
        .args(arguments)
        .current_dir("/")
        .env_clear()
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    for name in ["HOME", "XDG_CONFIG_HOME", "PATH"] {
        if let Some(value) = host.environment.get(std::ffi::OsStr::new(name)) {
            command.env(name, value);
        }
    }
    let output = command
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
