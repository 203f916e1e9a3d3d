//! Git directories on other file systems, and what is left of a session's mounts.
//!
//! Each test is an actor in namespaces of its own, where it may mount what it likes.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::Repository;
use crate::roles::{actor, perform, role, started_by, this_program};

/// Runs the actor below as the root of a user namespace of its own; `false` if there cannot be one here.
fn in_own_namespaces(kind: &str) -> bool {
    let unshare = [
        "--user",
        "--map-root-user",
        "--mount",
        "--propagation",
        "private",
    ];
    let works = Command::new("unshare").args(unshare).arg("true").output();
    if !works.is_ok_and(|output| output.status.success()) {
        println!("skipped: unshare cannot make namespaces here");
        return false;
    }
    let inner = actor(
        &this_program(),
        "git_commit::places::act",
        &["git-on", kind],
    );
    let mut command = Command::new("unshare");
    command.args(unshare);
    perform(started_by(command, &inner));
    true
}

#[test]
fn on_a_tmpfs() {
    in_own_namespaces("tmpfs");
}

/// It has no extended attributes at all.
#[test]
fn on_a_file_system_without_attributes() {
    in_own_namespaces("ramfs");
}

#[test]
#[ignore = "a part of other tests"]
fn act() {
    let Some(role) = role() else {
        return;
    };
    let kind = role[1].as_str();
    let Some(repository) = Repository::new() else {
        return;
    };
    let dot_git = repository.dot_git();
    let aside = repository.bench.stage.home.join("aside");
    fs::rename(&dot_git, &aside).unwrap();
    fs::create_dir(&dot_git).unwrap();
    mount(kind, &dot_git);
    repository.on_host(&format!("cp -a {}/. .git/", aside.display()));

    let mut started = repository.start();
    repository.inside(
        &started,
        "echo x > new; git add new; git commit -qm new; git branch -q -D side; git gc -q --prune=now
         rm -rf .git/refs/heads; mkdir -p .git/refs/heads; git branch deep/one; git commit -q --allow-empty -m last",
    );
    let report = repository.import(&mut started);
    let said = "git for-each-ref --format='%(refname) %(objectname)'; git status --porcelain; git log --format=%s";
    assert_eq!(
        repository.on_host(said),
        repository.inside(&started, said),
        "{kind}: {report}"
    );
    repository.is_sound();
    // While the session lives, so does its layer over the directory.
    assert!(views(&dot_git) > 0);
    started.session.end();
    assert_eq!(views(&dot_git), 0);
    let files: Vec<_> = fs::read_dir(&dot_git)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert!(!files.is_empty());
    repository.is_sound();
    // Nothing holds it any more: neither a mount of the session nor a descriptor of ours.
    let unmounted = Command::new("umount").arg(&dot_git).output().unwrap();
    assert!(unmounted.status.success(), "{unmounted:?}");
    assert_eq!(fs::read_dir(&dot_git).unwrap().count(), 0);
}

fn mount(kind: &str, at: &Path) {
    let status = Command::new("mount")
        .args(["-t", kind, kind])
        .arg(at)
        .status();
    assert!(status.unwrap().success());
}

/// How many descriptors of this process are open on a directory, as a session shows it.
fn views(directory: &Path) -> usize {
    fs::read_dir("/proc/self/fd")
        .unwrap()
        .filter_map(|entry| fs::read_link(entry.unwrap().path()).ok())
        .filter(|target| target.starts_with(directory) || target == Path::new("/"))
        .count()
}
