//! Refs with names or values that no session may choose.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use palisade_linux_landlock::git_import::DropReason;

use crate::world::{World, dropped, write};

fn tip(world: &World) -> String {
    format!("{}\n", world.host(&["rev-parse", "main"]))
}

#[test]
fn names_that_a_shell_or_git_would_read_as_more() {
    let names = [
        "$(touch marker)",
        "`id`",
        "a;b",
        "-rf",
        "a b",
        "a\nb",
        "a\u{1b}[2J",
        "a\u{202e}b",
        "HEAD",
        "FETCH_HEAD",
        ".hidden",
        "a..b",
        "a@{1}",
        "0123456789012345678901234567890123456789",
    ];
    let mut world = World::new();
    for name in names {
        write(world.view.join("refs/heads").join(name), tip(&world));
        write(world.view.join("refs/tags").join(name), tip(&world));
    }
    let before = world.host(&["for-each-ref"]);
    let report = world.import();
    assert_eq!(world.host(&["for-each-ref"]), before);
    let refused = report.dropped.iter().filter(|d| d.why == DropReason::Name);
    assert_eq!(refused.count(), names.len() * 2, "{report}");
    assert!(
        report
            .to_string()
            .chars()
            .all(|c| c == '\n' || !c.is_control())
    );
    world.use_as_owner();
}

#[test]
fn names_that_are_not_text() {
    let mut world = World::new();
    write(
        world
            .view
            .join("refs/heads")
            .join(OsStr::from_bytes(b"a\xffb")),
        tip(&world),
    );
    let packed = [tip(&world).trim().as_bytes(), b" refs/heads/../../config\n"].concat();
    write(world.view.join("packed-refs"), packed);
    let report = world.import();
    assert!(report.dropped.iter().any(|d| d.why == DropReason::Name));
    assert!(report.refs.is_empty(), "{report}");
    world.use_as_owner();
}

#[test]
fn kinds_that_stay_in_the_session() {
    for name in [
        "refs/remotes/origin/main",
        "refs/replace/0123456789012345678901234567890123456789",
        "refs/bisect/bad",
        "refs/worktree/x",
        "refs/other",
        "refs/stash/x",
    ] {
        let mut world = World::new();
        write(world.view.join(name), tip(&world));
        let report = world.import();
        assert_eq!(
            dropped(&report, name),
            Some(&DropReason::RefKind),
            "{report}"
        );
        assert!(!world.dot_git.join(name).exists());
        world.use_as_owner();

        let mut world = World::new();
        let packed = format!("{} {name}\n", tip(&world).trim());
        write(world.view.join("packed-refs"), packed);
        world.import();
        assert_eq!(world.ref_on_host(name), None);
    }
}

#[test]
fn a_replaced_commit_stays_what_it_is() {
    let mut world = World::new();
    let old = world.host(&["rev-parse", "main"]);
    let new = world.commit_inside("a.txt", "two\n", "second");
    world.inside(&[
        "replace",
        &old,
        &world.inside(&["commit-tree", "-m", "fake", "main^{tree}"]),
    ]);
    let report = world.import();
    assert_eq!(world.host(&["rev-parse", "main"]), new);
    assert_eq!(world.host(&["log", "-1", "--format=%s", &old]), "first");
    assert_eq!(
        dropped(&report, &format!("refs/replace/{old}")),
        Some(&DropReason::RefKind)
    );
    world.use_as_owner();
}

#[test]
fn values_that_are_no_values() {
    let mut world = World::new();
    let blob = world.host(&["rev-parse", "main:a.txt"]);
    for (name, value) in [
        ("symbolic", "ref: refs/heads/main\n".to_owned()),
        ("outside", "ref: ../../config\n".to_owned()),
        ("nothing", String::new()),
        ("null", format!("{}\n", "0".repeat(40))),
        ("short", "abcdef\n".to_owned()),
        ("two", format!("{}{}", tip(&world), tip(&world))),
        ("missing", format!("{}\n", "ab".repeat(20))),
        ("blob", format!("{blob}\n")),
    ] {
        write(world.view.join("refs/heads").join(name), value);
    }
    // A tag may name a file; a branch or a note may not.
    write(world.view.join("refs/notes/blob"), format!("{blob}\n"));
    write(world.view.join("refs/tags/blob"), format!("{blob}\n"));
    let report = world.import();
    for name in [
        "symbolic", "outside", "nothing", "null", "short", "two", "missing", "blob",
    ] {
        let name = format!("refs/heads/{name}");
        assert!(dropped(&report, &name).is_some(), "{name}: {report}");
        assert!(!world.dot_git.join(&name).exists());
    }
    assert_eq!(world.ref_on_host("refs/tags/blob"), Some(blob));
    assert_eq!(
        dropped(&report, "refs/notes/blob"),
        Some(&DropReason::Objects)
    );
    world.use_as_owner();
}

#[test]
fn a_branch_of_the_host_that_turns_symbolic_stays() {
    let mut world = World::new();
    let before = world.host(&["rev-parse", "side"]);
    write(world.view.join("refs/heads/side"), "ref: refs/heads/main\n");
    let report = world.import();
    assert_eq!(
        dropped(&report, "refs/heads/side"),
        Some(&DropReason::RefKind)
    );
    assert_eq!(world.host(&["rev-parse", "side"]), before);
    assert!(
        !std::fs::read_to_string(world.dot_git.join("refs/heads/side"))
            .unwrap()
            .contains("ref:")
    );
}

#[test]
fn pipes_and_sockets_do_not_hold_the_import_up() {
    let mut world = World::new();
    let new = world.commit_inside("a.txt", "two\n", "second");
    for name in [
        "refs/heads/pipe",
        "refs/heads/side",
        "FETCH_HEAD",
        "objects/ab",
        "logs/refs/heads/main",
    ] {
        let at = world.view.join(name);
        let _ = std::fs::remove_file(&at);
        let _ = std::fs::remove_dir_all(&at);
        rustix::fs::mkfifoat(rustix::fs::CWD, &at, 0o600.into()).unwrap();
    }
    let _socket = std::os::unix::net::UnixListener::bind(world.view.join("refs/heads/socket"));
    let report = world.import();
    assert_eq!(world.host(&["rev-parse", "main"]), new, "{report}");
    assert!(world.ref_on_host("refs/heads/side").is_some());
    for name in ["refs/heads/pipe", "refs/heads/side", "FETCH_HEAD"] {
        assert_eq!(
            dropped(&report, name),
            Some(&DropReason::NotRegular),
            "{name}: {report}"
        );
    }
    world.use_as_owner();
}

#[test]
fn too_many_refs_delete_nothing() {
    let mut world = World::new();
    std::fs::remove_file(world.view.join("refs/heads/side")).unwrap();
    for at in 0..50 {
        write(world.view.join(format!("refs/tags/{at}")), tip(&world));
    }
    world.options.max_refs = 10;
    let report = world.import();
    assert!(
        report.dropped.iter().any(|d| d.why == DropReason::TooLarge),
        "{report}"
    );
    assert!(world.ref_on_host("refs/heads/side").is_some());
}

#[test]
fn the_branch_in_use_is_not_deleted() {
    let mut world = World::new();
    std::fs::remove_file(world.view.join("refs/heads/main")).unwrap();
    let report = world.import();
    assert_eq!(
        dropped(&report, "refs/heads/main"),
        Some(&DropReason::InUse)
    );
    world.use_as_owner();
}

#[test]
fn a_stash_that_is_made_up() {
    let mut world = World::new();
    write(world.work.join("a.txt"), "x\n");
    world.inside(&["stash", "-q"]);
    let log = world.view.join("logs/refs/stash");
    let text = std::fs::read_to_string(&log).unwrap();
    let fake = text.replacen(|c: char| c.is_ascii_hexdigit() && c != '0', "b", 3);
    write(&log, format!("{fake}{text}"));
    let report = world.import();
    assert!(dropped(&report, "refs/stash").is_some(), "{report}");
    assert_eq!(world.ref_on_host("refs/stash"), None);
    world.use_as_owner();
}

#[test]
fn many_deleted_refs_stay() {
    let world = World::new();
    for at in 0..8 {
        world.host(&["tag", &format!("v{at}")]);
    }
    let mut world = world.renewed();
    world.options.max_deletions = 7;
    std::fs::remove_dir_all(world.view.join("refs/tags")).unwrap();
    let report = world.import();
    assert_eq!(world.host(&["tag"]).lines().count(), 8);
    assert_eq!(
        dropped(&report, "refs/tags/v3"),
        Some(&DropReason::TooLarge)
    );
    world.options.max_deletions = 8;
    world.import();
    assert_eq!(world.host(&["tag"]), "");
}

#[test]
fn a_list_of_packed_refs_that_is_gone_deletes_nothing() {
    let world = World::new();
    world.host(&["pack-refs", "--all"]);
    let mut world = world.renewed();
    std::fs::remove_file(world.view.join("packed-refs")).unwrap();
    let report = world.import();
    assert!(report.refs.is_empty(), "{report}");
    assert_eq!(dropped(&report, "packed-refs"), Some(&DropReason::Removed));
    assert!(world.ref_on_host("refs/heads/side").is_some());
    world.use_as_owner();
}
