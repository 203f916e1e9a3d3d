//! Indexes that would hide, point elsewhere or reach into `.git`.

use palisade_linux_landlock::git_import::DropReason;

use crate::world::{World, dropped, write};

#[test]
fn flags_that_hide_changes_do_not_come_back() {
    let mut world = World::new();
    write(world.work.join("new.txt"), "x\n");
    world.inside(&["add", "new.txt"]);
    world.inside(&["update-index", "--skip-worktree", "a.txt"]);
    world.inside(&["update-index", "--assume-unchanged", "d/b.txt", "new.txt"]);
    world.import();
    write(world.work.join("a.txt"), "hidden\n");
    write(world.work.join("d/b.txt"), "hidden\n");
    assert_eq!(
        world.host(&["status", "--porcelain"]),
        "M a.txt\n M d/b.txt\nA  new.txt"
    );
}

/// Changes the bytes of a path in the session's index; git checks their sum, the import does not trust it.
fn rename_in_index(world: &World, from: &str, to: &str) {
    assert_eq!(from.len(), to.len());
    let at = world.view.join("index");
    let mut bytes = std::fs::read(&at).unwrap();
    let start = bytes
        .windows(from.len())
        .position(|window| window == from.as_bytes());
    bytes[start.unwrap()..][..from.len()].copy_from_slice(to.as_bytes());
    write(&at, bytes);
}

#[test]
fn paths_into_dot_git() {
    for evil in [
        ".git/hooks/pre-commit",
        ".GIT/hooks/pre-commit",
        "../../../../pre-commi",
        "/etc/cron.d/pre-commit",
    ] {
        let mut world = World::new();
        let honest = "x".repeat(evil.len());
        write(world.work.join(&honest), "#!/bin/sh\ntouch marker\n");
        world.inside(&["add", &honest]);
        rename_in_index(&world, &honest, evil);
        let before = std::fs::read(world.dot_git.join("index")).unwrap();
        let report = world.import();
        assert_eq!(
            dropped(&report, "index"),
            Some(&DropReason::Malformed),
            "{evil}"
        );
        assert_eq!(std::fs::read(world.dot_git.join("index")).unwrap(), before);
        world.use_as_owner();
    }
}

#[test]
fn a_split_index_is_refused() {
    let mut world = World::new();
    world.inside(&["update-index", "--split-index"]);
    write(world.work.join("new.txt"), "x\n");
    world.inside(&["add", "new.txt"]);
    let report = world.import();
    assert!(
        matches!(dropped(&report, "index"), Some(DropReason::Refused(_))),
        "{report}"
    );
    let names = std::fs::read_dir(&world.dot_git).unwrap();
    let shared = |name: &std::ffi::OsStr| name.to_string_lossy().starts_with("sharedindex");
    assert!(
        !names
            .into_iter()
            .any(|entry| shared(&entry.unwrap().file_name()))
    );
    world.use_as_owner();
}

#[test]
fn a_staged_file_that_is_nowhere() {
    let mut world = World::new();
    let id = "ab".repeat(20);
    world.inside(&[
        "update-index",
        "--add",
        "--cacheinfo",
        &format!("100644,{id},ghost.txt"),
    ]);
    let report = world.import();
    assert_eq!(dropped(&report, "index"), Some(&DropReason::Objects));
    world.use_as_owner();
}

#[test]
fn a_staged_file_that_is_a_commit() {
    let mut world = World::new();
    let id = world.host(&["rev-parse", "main"]);
    world.inside(&[
        "update-index",
        "--add",
        "--cacheinfo",
        &format!("100644,{id},odd.txt"),
    ]);
    let report = world.import();
    assert_eq!(dropped(&report, "index"), Some(&DropReason::Objects));
    world.use_as_owner();
}

#[test]
fn garbage_in_place_of_an_index() {
    for bytes in [
        &b""[..],
        b"DIRC",
        b"DIRC\0\0\0\x02\xff\xff\xff\xff",
        &[0xff; 4096],
    ] {
        let mut world = World::new();
        write(world.view.join("index"), bytes);
        let before = std::fs::read(world.dot_git.join("index")).unwrap();
        let report = world.import();
        assert_eq!(dropped(&report, "index"), Some(&DropReason::Malformed));
        assert_eq!(std::fs::read(world.dot_git.join("index")).unwrap(), before);
    }
}

#[test]
fn version_four_and_the_extensions_are_read() {
    let mut world = World::new();
    world.inside(&["config", "index.version", "4"]);
    for name in ["dir/aa", "dir/ab", "dir/sub/x", "z"] {
        write(world.work.join(name), name);
    }
    world.inside(&["add", "."]);
    world.inside(&["update-index", "--index-version", "4", "--untracked-cache"]);
    let report = world.import();
    assert_eq!(report.index_paths, 4, "{report}");
    assert_eq!(world.host(&["ls-files"]), world.inside(&["ls-files"]));
    assert_eq!(world.host(&["diff", "--name-only"]), "");
}

#[test]
fn intent_to_add_is_not_taken_for_an_empty_file() {
    let mut world = World::new();
    write(world.work.join("later.txt"), "x\n");
    world.inside(&["add", "-N", "later.txt"]);
    world.import();
    assert_eq!(world.host(&["status", "--porcelain"]), "?? later.txt");
}
