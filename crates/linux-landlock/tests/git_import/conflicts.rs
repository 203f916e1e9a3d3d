//! What the host changed meanwhile stays, and is reported.

use std::time::Duration;

use palisade_linux_landlock::git_import::DropReason;

use crate::world::{World, dropped, write};

#[test]
fn the_hosts_commit_stays() {
    let mut world = World::new();
    let theirs = world.commit_inside("theirs.txt", "x\n", "the session's");
    world.host(&["reset", "-q"]);
    world.host(&["commit", "-q", "--allow-empty", "-m", "the host's"]);
    let ours = world.host(&["rev-parse", "main"]);
    world.inside(&["branch", "other"]);

    let report = world.import();
    assert_eq!(world.host(&["rev-parse", "main"]), ours);
    assert_eq!(report.conflicts.len(), 1, "{report}");
    let conflict = &report.conflicts[0];
    assert_eq!(conflict.what, "refs/heads/main");
    assert_eq!(conflict.found.as_deref(), Some(ours.as_str()));
    assert_eq!(conflict.offered.as_deref(), Some(theirs.as_str()));
    assert!(conflict.expected.is_some());
    assert!(
        report
            .to_string()
            .contains("kept refs/heads/main: the host changed it")
    );
    // The index belongs to the commit that was refused; the other branch does not.
    assert_eq!(dropped(&report, "index"), Some(&DropReason::Follows));
    assert_eq!(world.ref_on_host("refs/heads/other"), Some(theirs));
    world.use_as_owner();
}

#[test]
fn a_branch_that_both_made() {
    let mut world = World::new();
    world.commit_inside("a.txt", "two\n", "second");
    world.inside(&["branch", "both"]);
    world.host(&["branch", "both"]);
    let ours = world.host(&["rev-parse", "both"]);
    let report = world.import();
    assert_eq!(world.host(&["rev-parse", "both"]), ours);
    assert_eq!(report.conflicts[0].what, "refs/heads/both");
    assert_eq!(report.conflicts[0].expected, None);
}

#[test]
fn a_branch_that_the_host_moved_is_not_deleted() {
    let mut world = World::new();
    world.inside(&["branch", "-D", "side"]);
    world.host(&["commit", "-q", "--allow-empty", "-m", "more"]);
    world.host(&["branch", "-f", "side", "main"]);
    let ours = world.host(&["rev-parse", "side"]);
    let report = world.import();
    assert_eq!(world.ref_on_host("refs/heads/side"), Some(ours));
    assert_eq!(report.conflicts[0].offered, None);
}

#[test]
fn a_head_that_the_host_moved() {
    let mut world = World::new();
    world.inside(&["checkout", "-q", "-b", "theirs"]);
    world.host(&["checkout", "-q", "-b", "ours"]);
    let report = world.import();
    assert_eq!(world.host(&["symbolic-ref", "HEAD"]), "refs/heads/ours");
    assert_eq!(report.conflicts[0].what, "HEAD");
}

#[test]
fn what_the_host_staged_stays_staged() {
    let mut world = World::new();
    write(world.work.join("ours.txt"), "ours\n");
    write(world.work.join("both.txt"), "session\n");
    write(world.work.join("theirs.txt"), "theirs\n");
    world.inside(&["add", "both.txt", "theirs.txt"]);
    write(world.work.join("both.txt"), "host\n");
    world.host(&["add", "both.txt", "ours.txt"]);
    let report = world.import();
    assert_eq!(report.conflicts.len(), 1, "{report}");
    assert_eq!(report.conflicts[0].what, "index:both.txt");
    assert_eq!(world.host(&["show", ":both.txt"]), "host");
    assert_eq!(world.host(&["show", ":ours.txt"]), "ours");
    assert_eq!(world.host(&["show", ":theirs.txt"]), "theirs");
}

#[test]
fn a_refreshed_index_is_no_conflict() {
    let mut world = World::new();
    write(world.work.join("new.txt"), "x\n");
    world.inside(&["add", "new.txt"]);
    let touched = std::fs::File::options()
        .write(true)
        .open(world.work.join("a.txt"))
        .unwrap();
    touched
        .set_modified(std::time::SystemTime::now() - Duration::from_secs(1000))
        .unwrap();
    let before = std::fs::read(world.dot_git.join("index")).unwrap();
    world.host(&["status"]);
    assert_ne!(before, std::fs::read(world.dot_git.join("index")).unwrap());
    let report = world.import();
    assert!(report.conflicts.is_empty(), "{report}");
    assert_eq!(world.host(&["status", "--porcelain"]), "A  new.txt");
}

#[test]
fn a_stash_that_the_host_made_meanwhile() {
    let mut world = World::new();
    write(world.work.join("a.txt"), "theirs\n");
    world.inside(&["stash", "-q"]);
    write(world.work.join("a.txt"), "ours\n");
    world.host(&["stash", "-q"]);
    let report = world.import();
    assert_eq!(report.conflicts[0].what, "refs/stash");
    assert_eq!(world.host(&["stash", "list"]).lines().count(), 1);
    assert_eq!(world.host(&["show", "stash@{0}:a.txt"]), "ours");
}

#[test]
fn a_lock_that_the_host_holds_is_respected() {
    let mut world = World::new();
    let before = world.host(&["rev-parse", "main"]);
    world.commit_inside("a.txt", "two\n", "second");
    let lock = world.dot_git.join("refs/heads/main.lock");
    write(&lock, "");
    let view = std::fs::File::open(&world.view).unwrap();
    let report = palisade_linux_landlock::git_import::import(
        std::os::fd::AsFd::as_fd(&view),
        &world.layout,
        &mut world.baseline,
        &world.options,
    )
    .unwrap();
    assert!(lock.exists(), "it is not ours to remove");
    assert_eq!(world.host(&["rev-parse", "main"]), before);
    assert!(matches!(
        dropped(&report, "refs/heads/main"),
        Some(DropReason::Refused(_))
    ));
    // Once it is gone, the next import brings the same.
    std::fs::remove_file(&lock).unwrap();
    let report = world.import();
    assert_eq!(report.refs.len(), 1, "{report}");
    assert_eq!(world.host(&["status", "--porcelain"]), "");
}

#[test]
fn two_sessions_at_once() {
    let mut one = World::new();
    let mut two = World::over(tempfile::tempdir().unwrap(), one.work.clone());
    one.inside(&["branch", "from-one"]);
    let first = one.commit_inside("one.txt", "1\n", "one");
    two.inside(&["branch", "from-two"]);
    two.inside(&["commit", "-q", "--allow-empty", "-m", "two"]);
    let second = two.inside(&["rev-parse", "HEAD"]);
    let import = |world: &mut World| {
        let view = std::fs::File::open(&world.view).unwrap();
        palisade_linux_landlock::git_import::import(
            std::os::fd::AsFd::as_fd(&view),
            &world.layout,
            &mut world.baseline,
            &world.options,
        )
        .unwrap()
    };
    let (a, b) = std::thread::scope(|scope| {
        let a = scope.spawn(|| import(&mut one));
        let b = scope.spawn(|| import(&mut two));
        (a.join().unwrap(), b.join().unwrap())
    });
    let main = one.host(&["rev-parse", "main"]);
    assert!(main == first || main == second);
    assert_eq!(a.conflicts.len() + b.conflicts.len(), 1, "{a}{b}");
    assert!(one.ref_on_host("refs/heads/from-one").is_some());
    assert!(one.ref_on_host("refs/heads/from-two").is_some());
    one.use_as_owner();
}
