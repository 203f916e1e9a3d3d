//! What people and agents do with git comes back whole.

use crate::world::{World, write};

/// Nothing but git's notes and caches was left behind.
fn clean(world: &mut World) {
    let report = world.import();
    assert!(report.conflicts.is_empty(), "{report}");
    assert_eq!(report.notable().count(), 0, "{report}");
    world.host_is_sound();
    let again = world.import();
    assert!(again.is_quiet(), "a second import finds nothing: {again}");
}

#[test]
fn nothing_done_is_nothing_imported() {
    let mut world = World::new();
    world.inside(&["status"]);
    let report = world.import();
    assert!(report.is_quiet(), "{report}");
    assert_eq!(report.objects, 0);
    assert_eq!(report.to_string(), "");
}

#[test]
fn staged_files() {
    let mut world = World::new();
    write(world.work.join("new.txt"), "x\n");
    write(world.work.join("a.txt"), "changed\n");
    std::fs::remove_file(world.work.join("d/b.txt")).unwrap();
    world.inside(&["add", "-A"]);
    clean(&mut world);
    let status = world.host(&["status", "--porcelain"]);
    assert_eq!(status, "M  a.txt\nD  d/b.txt\nA  new.txt");
}

#[test]
fn commits_with_their_log() {
    let mut world = World::new();
    world.commit_inside("a.txt", "two\n", "second");
    let tip = world.commit_inside("c.txt", "three\n", "third");
    clean(&mut world);
    assert_eq!(world.host(&["rev-parse", "main"]), tip);
    assert_eq!(world.host(&["status", "--porcelain"]), "");
    assert_eq!(world.host(&["log", "--format=%s"]), "third\nsecond\nfirst");
    let log = world.host(&["log", "-g", "--format=%gs %gn", "main"]);
    assert_eq!(log.lines().next(), Some("commit: third Dev"));
    assert_eq!(
        world.host(&["reflog", "main"]),
        world.inside(&["reflog", "main"])
    );
    assert_eq!(world.host(&["reflog"]), world.inside(&["reflog"]));
}

#[test]
fn the_next_command_goes_on_from_the_last() {
    let mut world = World::new();
    world.commit_inside("a.txt", "two\n", "second");
    clean(&mut world);
    let tip = world.commit_inside("a.txt", "three\n", "third");
    clean(&mut world);
    assert_eq!(world.host(&["rev-parse", "main"]), tip);
    assert_eq!(world.host(&["status", "--porcelain"]), "");
}

#[test]
fn a_first_commit() {
    let tmp = tempfile::tempdir().unwrap();
    let work = tmp.path().join("app");
    std::fs::create_dir(&work).unwrap();
    crate::world::run(&work, &["init", "-q", "-b", "main"]);
    let mut world = World::over(tmp, work);
    let tip = world.commit_inside("a.txt", "one\n", "first");
    clean(&mut world);
    assert_eq!(world.host(&["rev-parse", "HEAD"]), tip);
    assert_eq!(world.host(&["status", "--porcelain"]), "");
}

#[test]
fn an_amended_commit_and_what_it_was() {
    let mut world = World::new();
    let before = world.commit_inside("a.txt", "two\n", "second");
    world.inside(&["commit", "-q", "--amend", "-m", "better"]);
    clean(&mut world);
    assert_eq!(world.host(&["log", "-1", "--format=%s"]), "better");
    assert_eq!(world.host(&["rev-parse", "main@{1}"]), before);
}

#[test]
fn stashes() {
    let mut world = World::new();
    for content in ["x\n", "y\n", "z\n"] {
        write(world.work.join("a.txt"), content);
        world.inside(&["stash", "-q"]);
    }
    clean(&mut world);
    assert_eq!(world.host(&["stash", "list"]).lines().count(), 3);
    assert_eq!(world.host(&["show", "stash@{2}:a.txt"]), "x");

    world.inside(&["stash", "drop", "-q", "stash@{1}"]);
    clean(&mut world);
    assert_eq!(
        world.host(&["stash", "list"]),
        world.inside(&["stash", "list"])
    );
    assert_eq!(world.host(&["stash", "list"]).lines().count(), 2);

    world.inside(&["stash", "pop", "-q"]);
    world.inside(&["checkout", "-q", "--", "."]);
    world.inside(&["stash", "pop", "-q"]);
    clean(&mut world);
    assert_eq!(world.host(&["stash", "list"]), "");
    assert_eq!(world.ref_on_host("refs/stash"), None);
    assert_eq!(world.host(&["status", "--porcelain"]), "M a.txt");

    // And the host can go on with it.
    world.host(&["stash", "-q"]);
    assert_eq!(world.host(&["stash", "list"]).lines().count(), 1);
}

#[test]
fn a_stash_that_the_host_had() {
    let world = World::new();
    write(world.work.join("a.txt"), "mine\n");
    world.host(&["stash", "-q"]);
    world.host(&["gc", "-q"]);
    let mut world = world.renewed();
    write(world.work.join("a.txt"), "theirs\n");
    world.inside(&["stash", "-q"]);
    clean(&mut world);
    assert_eq!(world.host(&["show", "stash@{0}:a.txt"]), "theirs");
    assert_eq!(world.host(&["show", "stash@{1}:a.txt"]), "mine");
}

#[test]
fn branches_made_deleted_and_renamed() {
    let mut world = World::new();
    world.inside(&["branch", "made"]);
    world.inside(&["branch", "-D", "side"]);
    world.inside(&["branch", "-m", "main", "trunk"]);
    let tip = world.commit_inside("a.txt", "two\n", "second");
    clean(&mut world);
    let names = world.host(&["for-each-ref", "--format=%(refname:short)"]);
    assert_eq!(names, "made\ntrunk");
    assert_eq!(world.host(&["symbolic-ref", "HEAD"]), "refs/heads/trunk");
    assert_eq!(world.host(&["rev-parse", "HEAD"]), tip);
    assert_eq!(world.host(&["status", "--porcelain"]), "");
}

#[test]
fn a_branch_that_becomes_a_directory() {
    let mut world = World::new();
    world.host(&["pack-refs", "--all"]);
    world.inside(&["branch", "-m", "side", "side/one"]);
    clean(&mut world);
    assert!(world.ref_on_host("refs/heads/side/one").is_some());
    assert_eq!(world.ref_on_host("refs/heads/side"), None);
}

#[test]
fn packed_branches_deleted() {
    let world = World::new();
    world.host(&["pack-refs", "--all"]);
    let mut world = world.renewed();
    world.inside(&["branch", "-D", "side"]);
    clean(&mut world);
    assert_eq!(world.ref_on_host("refs/heads/side"), None);
}

#[test]
fn another_branch_checked_out() {
    let mut world = World::new();
    world.commit_inside("a.txt", "two\n", "second");
    world.inside(&["checkout", "-q", "-b", "topic"]);
    let tip = world.commit_inside("c.txt", "three\n", "third");
    clean(&mut world);
    assert_eq!(world.host(&["symbolic-ref", "HEAD"]), "refs/heads/topic");
    assert_eq!(world.host(&["rev-parse", "HEAD"]), tip);
    assert_eq!(world.host(&["status", "--porcelain"]), "");
    assert_eq!(world.host(&["reflog"]), world.inside(&["reflog"]));
    world.host(&["checkout", "-q", "-"]);
    assert_eq!(world.host(&["symbolic-ref", "HEAD"]), "refs/heads/main");
}

#[test]
fn a_detached_head_and_back() {
    let mut world = World::new();
    world.commit_inside("a.txt", "two\n", "second");
    world.inside(&["checkout", "-q", "--detach", "HEAD~1"]);
    clean(&mut world);
    assert_eq!(
        world.host(&["rev-parse", "HEAD"]),
        world.host(&["rev-parse", "main~1"])
    );
    let tip = world.commit_inside("c.txt", "x\n", "aside");
    clean(&mut world);
    assert_eq!(world.host(&["rev-parse", "HEAD"]), tip);
    world.inside(&["checkout", "-q", "main"]);
    clean(&mut world);
    assert_eq!(world.host(&["symbolic-ref", "HEAD"]), "refs/heads/main");
    assert_eq!(world.host(&["status", "--porcelain"]), "");
}

#[test]
fn an_orphan_branch_before_its_first_commit() {
    let mut world = World::new();
    world.inside(&["checkout", "-q", "--orphan", "fresh"]);
    clean(&mut world);
    assert_eq!(world.host(&["symbolic-ref", "HEAD"]), "refs/heads/fresh");
}

#[test]
fn a_merge_a_rebase_and_a_cherry_pick() {
    let mut world = World::new();
    world.inside(&["checkout", "-q", "side"]);
    world.commit_inside("s.txt", "s\n", "on side");
    world.inside(&["checkout", "-q", "main"]);
    world.commit_inside("m.txt", "m\n", "on main");
    world.inside(&["merge", "-q", "--no-ff", "-m", "merged", "side"]);
    clean(&mut world);
    assert_eq!(
        world.host(&["log", "-1", "--format=%s", "--merges"]),
        "merged"
    );

    world.inside(&["checkout", "-q", "-b", "topic", "side"]);
    world.commit_inside("t.txt", "t\n", "topic 1");
    world.commit_inside("u.txt", "u\n", "topic 2");
    world.inside(&["rebase", "-q", "main"]);
    clean(&mut world);
    assert_eq!(
        world.host(&["rev-parse", "topic~2"]),
        world.host(&["rev-parse", "main"])
    );

    world.inside(&["checkout", "-q", "main"]);
    world.inside(&["cherry-pick", "topic"]);
    clean(&mut world);
    assert_eq!(world.host(&["log", "-1", "--format=%s"]), "topic 2");
    assert_eq!(world.host(&["status", "--porcelain"]), "");
}

#[test]
fn tags_and_notes() {
    let mut world = World::new();
    world.inside(&["tag", "light"]);
    world.inside(&["tag", "-a", "-m", "whole", "v1"]);
    world.inside(&["tag", "-a", "-m", "of a tag", "v2", "v1"]);
    world.inside(&["notes", "add", "-m", "seen"]);
    clean(&mut world);
    assert_eq!(world.host(&["cat-file", "-t", "v1"]), "tag");
    assert_eq!(world.host(&["tag"]), "light\nv1\nv2");
    assert_eq!(world.host(&["notes", "show"]), "seen");
    world.inside(&["tag", "-d", "v2"]);
    clean(&mut world);
    assert_eq!(world.host(&["tag"]), "light\nv1");
}

#[test]
fn a_session_that_collects_garbage() {
    let mut world = World::new();
    for round in 0..5 {
        world.commit_inside("a.txt", &format!("{round}\n"), &format!("round {round}"));
    }
    world.inside(&["gc", "-q", "--aggressive", "--prune=now"]);
    let tip = world.commit_inside("a.txt", "after\n", "after");
    world.inside(&["repack", "-a", "-d", "-q"]);
    world.inside(&["pack-refs", "--all"]);
    clean(&mut world);
    assert_eq!(world.host(&["rev-parse", "main"]), tip);
    assert_eq!(world.host(&["log", "--format=%s"]).lines().count(), 7);
}

#[test]
fn many_objects_come_as_a_pack() {
    let mut world = World::new();
    for file in 0..150 {
        write(
            world.work.join(format!("many/{file}.txt")),
            format!("{file}\n"),
        );
    }
    world.inside(&["add", "."]);
    world.inside(&["commit", "-qm", "many"]);
    let report = world.import();
    assert_eq!(report.objects, 153, "150 files, two trees, a commit");
    world.host_is_sound();
    assert_eq!(world.host(&["status", "--porcelain"]), "");
    assert!(world.host(&["count-objects", "-v"]).contains("packs: 1"));
}

#[test]
fn a_conflicted_merge_leaves_its_stages_and_says_what_stays_behind() {
    let mut world = World::new();
    world.inside(&["checkout", "-q", "side"]);
    world.commit_inside("a.txt", "side\n", "on side");
    world.inside(&["checkout", "-q", "main"]);
    world.commit_inside("a.txt", "main\n", "on main");
    assert!(!world.try_inside(&["merge", "-q", "side"]).status.success());
    let report = world.import();
    assert_eq!(world.host(&["status", "--porcelain"]), "UU a.txt");
    let unfinished = palisade_linux_landlock::git_import::DropReason::Unfinished;
    assert_eq!(
        crate::world::dropped(&report, "MERGE_HEAD"),
        Some(&unfinished)
    );

    write(world.work.join("a.txt"), "both\n");
    world.inside(&["add", "a.txt"]);
    world.inside(&["commit", "-qm", "merged"]);
    clean(&mut world);
    assert_eq!(world.host(&["status", "--porcelain"]), "");
    assert_eq!(
        world.host(&["log", "-1", "--merges", "--format=%s"]),
        "merged"
    );
}
