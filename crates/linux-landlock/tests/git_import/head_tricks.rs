//! Heads that would take the host's git somewhere else.

use std::os::unix::fs::symlink;

use palisade_linux_landlock::git_import::DropReason;

use crate::world::{World, dropped, write};

fn try_head(content: &[u8]) -> DropReason {
    let mut world = World::new();
    let before = std::fs::read(world.dot_git.join("HEAD")).unwrap();
    write(world.view.join("HEAD"), content);
    // Deleting everything at once must not follow from a HEAD that makes no sense.
    std::fs::remove_file(world.view.join("refs/heads/side")).unwrap();
    let report = world.import();
    assert_eq!(std::fs::read(world.dot_git.join("HEAD")).unwrap(), before);
    assert!(report.head.is_none());
    assert!(world.ref_on_host("refs/heads/side").is_some(), "{report}");
    world.use_as_owner();
    dropped(&report, "HEAD").unwrap().clone()
}

#[test]
fn heads_that_are_no_heads() {
    for content in [
        &b"ref: ../../x\n"[..],
        b"ref: /etc/passwd\n",
        b"ref: refs/remotes/origin/main\n",
        b"ref: refs/stash\n",
        b"ref: HEAD\n",
        b"ref: config\n",
        b"",
        b"0000000000000000000000000000000000000000\n",
        b"garbage\n",
    ] {
        assert_eq!(try_head(content), DropReason::Malformed);
    }
}

#[test]
fn heads_with_names_that_no_session_may_choose() {
    for content in [
        &b"ref: refs/heads/../../config\n"[..],
        b"ref: refs/heads/-x\n",
        b"ref: refs/heads/$(touch${IFS}marker)\n",
        b"ref: refs/heads/x.lock\n",
        b"ref: refs/heads/.hidden\n",
        b"ref: refs/heads/HEAD\n",
    ] {
        assert_eq!(try_head(content), DropReason::Name);
    }
}

#[test]
fn a_head_that_is_an_object_nobody_has() {
    let mut world = World::new();
    write(world.view.join("HEAD"), format!("{}\n", "ab".repeat(20)));
    let report = world.import();
    assert_eq!(dropped(&report, "HEAD"), Some(&DropReason::Objects));
    world.use_as_owner();
}

#[test]
fn a_head_that_is_no_commit() {
    let mut world = World::new();
    let tree = world.host(&["rev-parse", "HEAD^{tree}"]);
    write(world.view.join("HEAD"), format!("{tree}\n"));
    let report = world.import();
    assert_eq!(dropped(&report, "HEAD"), Some(&DropReason::Objects));
    world.use_as_owner();
}

#[test]
fn a_head_that_is_a_link() {
    let mut world = World::new();
    std::fs::remove_file(world.view.join("HEAD")).unwrap();
    symlink(world.dot_git.join("config"), world.view.join("HEAD")).unwrap();
    let report = world.import();
    assert_eq!(dropped(&report, "HEAD"), Some(&DropReason::NotRegular));
    world.use_as_owner();
}

#[test]
fn a_head_of_a_branch_that_was_refused() {
    let mut world = World::new();
    write(
        world.view.join("refs/heads/bad"),
        format!("{}\n", "ab".repeat(20)),
    );
    write(world.view.join("HEAD"), "ref: refs/heads/bad\n");
    let report = world.import();
    assert_eq!(dropped(&report, "HEAD"), Some(&DropReason::Follows));
    assert_eq!(world.host(&["symbolic-ref", "HEAD"]), "refs/heads/main");
    world.use_as_owner();
}

#[test]
fn lines_in_the_log_of_head_are_written_anew() {
    let mut world = World::new();
    world.inside(&["checkout", "-q", "-b", "topic"]);
    let log = world.view.join("logs/HEAD");
    let mut text = std::fs::read_to_string(&log).unwrap();
    text = text.replace("checkout: moving", "\u{1b}]0;owned\u{7}checkout: moving");
    write(&log, text);
    world.import();
    let log = std::fs::read_to_string(world.dot_git.join("logs/HEAD")).unwrap();
    assert!(log.contains("]0;ownedcheckout: moving from main to topic"));
    assert!(!log.contains('\u{1b}'));
    world.use_as_owner();
}
