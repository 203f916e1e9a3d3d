//! Git in a session: read-only by default with the right evidence; commits that come back.

use std::path::Path;
use std::process::Command as Process;

use palisade_policy::{GitAccess, Grant};
use palisade_runner::outcome::{Evidence, Outcome};

use crate::support::Stage;

fn git(directory: &Path, arguments: &[&str]) -> String {
    let run = Process::new("/usr/bin/git")
        .current_dir(directory)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", directory)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .args(["-c", "user.name=dev", "-c", "user.email=dev@example.com"])
        .args(arguments)
        .output()
        .unwrap();
    assert!(run.status.success(), "{arguments:?} {run:?}");
    String::from_utf8(run.stdout).unwrap().trim().to_owned()
}

fn repository(stage: &Stage) -> bool {
    if !Path::new("/usr/bin/git").exists() {
        eprintln!("skipped: there is no git");
        return false;
    }
    let workspace = stage.workspace();
    git(&workspace, &["init", "-q", "-b", "main"]);
    git(&workspace, &["config", "user.name", "dev"]);
    git(&workspace, &["config", "user.email", "dev@example.com"]);
    git(&workspace, &["add", "notes.txt"]);
    git(&workspace, &["commit", "-q", "-m", "first"]);
    true
}

#[test]
fn by_default_history_is_read_only_and_the_evidence_names_the_grant_for_git() {
    let stage = Stage::new();
    if !repository(&stage) {
        return;
    }
    let session = stage.quiet();
    let read = session.command("git").args(["log", "--oneline"]);
    assert!(read.output_blocking().unwrap().outcome.success());
    let before = git(&stage.workspace(), &["rev-parse", "HEAD"]);
    // Not `git commit` itself, to which the built-in rules grant what it needs.
    let program = stage.program("git commit -q --allow-empty -m second");
    let run = session.command(&program).output_blocking().unwrap();
    let Outcome::Denied { evidence, .. } = &run.outcome else {
        panic!("{:?} {}", run.outcome, run.output.stderr.text());
    };
    assert!(
        evidence.iter().any(|one| matches!(
            one,
            Evidence::Likely {
                smallest_grant: Some(Grant::Git(_)),
                ..
            }
        )),
        "{evidence:?}"
    );
    assert_eq!(git(&stage.workspace(), &["rev-parse", "HEAD"]), before);
}

#[test]
fn in_commit_mode_the_commit_comes_back_and_a_hook_does_not() {
    let stage = Stage::new();
    if !repository(&stage) {
        return;
    }
    let (session, _) = stage.session(stage.policy().git(GitAccess::Commit), &[]);
    let before = git(&stage.workspace(), &["rev-parse", "HEAD"]);
    let program = stage.program(
        "set -e\necho more >> notes.txt\ngit add notes.txt\ngit commit -q -m second\n\
         mkdir -p .git/hooks\nprintf '#!/bin/sh\\ntouch /var/tmp/pwned\\n' > .git/hooks/post-checkout\n\
         chmod +x .git/hooks/post-checkout",
    );
    let run = session.command(&program).output_blocking().unwrap();
    assert!(
        run.outcome.success(),
        "{:?} {}",
        run.outcome,
        run.output.stderr.text()
    );
    let after = git(&stage.workspace(), &["rev-parse", "HEAD"]);
    assert_ne!(before, after, "{:?}", run.notes);
    assert_eq!(
        git(&stage.workspace(), &["log", "-1", "--format=%s"]),
        "second"
    );
    assert_eq!(git(&stage.workspace(), &["rev-parse", "HEAD~1"]), before);
    assert!(!stage.path("workspace/.git/hooks/post-checkout").exists());
    assert!(!run.notes.is_empty(), "it is told what came back");
    // The next command of the session builds on it.
    let log = session.command("git").args(["log", "--oneline"]);
    let log = log.output_blocking().unwrap();
    assert_eq!(log.output.stdout.text().lines().count(), 2);
}
