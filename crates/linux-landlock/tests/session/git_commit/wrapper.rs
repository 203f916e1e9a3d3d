//! The command-line form: what git did comes back when the command has ended, and both reports say so.

use std::io::Read as _;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::process::{Command, Output};

use super::Repository;
use crate::support::helper_path;
use crate::toolbox::find;

const POLICY: &str = r#"{"type":"workspace_write","paths":{"git":"commit"}}"#;

/// Runs the wrapper, and gives its status lines as well.
fn wrapped(
    repository: &Repository,
    path: &str,
    more: &[&str],
    script: &str,
) -> (Output, Vec<String>) {
    let (mut reader, writer) = std::io::pipe().unwrap();
    let writer = OwnedFd::from(writer);
    let stage = &repository.bench.stage;
    // The shell gives the descriptor a number that the wrapper can be told.
    let output = Command::new("/bin/bash")
        .args(["-c", &format!("exec \"$@\" 9>&{}", 1)])
        .arg("bash")
        .arg(helper_path())
        .arg("--sandbox-policy-cwd")
        .arg(&stage.workspace)
        .args(["--sandbox-policy", POLICY, "--status-fd", "9"])
        .args(more)
        .args(["--", "/bin/bash", "-c", script])
        .current_dir(&stage.workspace)
        .env_clear()
        .env("PATH", path)
        .env("HOME", &stage.home)
        .env("LC_ALL", "C")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .stdout(writer.try_clone().unwrap())
        .output()
        .unwrap();
    assert!(writer.as_raw_fd() > 2);
    drop(writer);
    let mut text = String::new();
    reader.read_to_string(&mut text).unwrap();
    (output, text.lines().map(str::to_owned).collect())
}

#[test]
fn what_git_did_is_imported_and_reported() {
    let Some(repository) = Repository::new() else {
        return;
    };
    let (output, status) = wrapped(
        &repository,
        "/usr/local/bin:/usr/bin:/bin",
        &[],
        "echo x > new; git add new; git commit -qm wrapped; git config core.fsmonitor /nonexistent; exit 3",
    );
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert_eq!(
        repository.on_host("git log -1 --format=%s; git status --porcelain"),
        "wrapped\n"
    );
    assert!(said.contains("imported refs/heads/main"), "{said}");
    assert!(
        said.contains("dropped config: would steer the host's git"),
        "{said}"
    );
    let [git, ended] = status.as_slice() else {
        panic!("{status:?}");
    };
    let git: serde_json::Value = serde_json::from_str(git).unwrap();
    assert_eq!(git["git"]["refs"][0]["name"], "refs/heads/main");
    assert_eq!(git["git"]["dropped"][0]["path"], "config");
    assert!(
        ended.contains("\"ended\"") && ended.contains("\"code\":3"),
        "{ended}"
    );
    repository.owner_goes_on();
}

#[test]
fn a_git_in_the_workspace_is_not_run() {
    let Some(repository) = Repository::new() else {
        return;
    };
    repository.on_host(&repository.payload("git"));
    let path = format!(
        "{}:/usr/bin:/bin",
        repository.bench.stage.workspace.display()
    );
    let (output, status) = wrapped(&repository, &path, &[], "echo ran > ran");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(125), "{said}");
    assert!(said.contains("the session could write it"), "{said}");
    assert!(status[0].contains("\"failed\""), "{status:?}");
    assert!(!repository.marker().exists());
    assert!(!repository.bench.stage.workspace.join("ran").exists());

    // A directory that is not absolute is not searched at all.
    if find("git").is_some_and(|git| git.starts_with("/usr/bin")) {
        let (output, _) = wrapped(
            &repository,
            ".:/usr/bin:/bin",
            &[],
            "/usr/bin/git commit -q --allow-empty -m fine",
        );
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{said}");
        assert_eq!(repository.on_host("git log -1 --format=%s"), "fine\n");
    }
    assert!(!repository.marker().exists());
}
