//! Objects that are broken, lie about their names, or are not there.

use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use palisade_linux_landlock::git_import::DropReason;

use crate::world::{World, dropped, git, text, write};

fn loose(world: &World, id: &str) -> PathBuf {
    world.view.join("objects").join(&id[..2]).join(&id[2..])
}

fn replace(at: &PathBuf, bytes: &[u8]) {
    std::fs::remove_file(at).unwrap();
    std::fs::write(at, bytes).unwrap();
}

/// A bad commit on main and a good branch beside it: the good one comes over, main stays.
fn main_is_refused(mut world: World, good: &str) {
    let before = world.host(&["rev-parse", "main"]);
    let report = world.import();
    assert_eq!(world.host(&["rev-parse", "main"]), before, "{report}");
    assert_eq!(
        dropped(&report, "refs/heads/main"),
        Some(&DropReason::Objects),
        "{report}"
    );
    assert_eq!(
        world.ref_on_host("refs/heads/good").as_deref(),
        Some(good),
        "{report}"
    );
    world.use_as_owner();
}

fn with_good_branch() -> (World, String) {
    let world = World::new();
    world.inside(&["checkout", "-q", "-b", "good"]);
    let good = world.commit_inside("good.txt", "good\n", "good");
    world.inside(&["checkout", "-q", "main"]);
    (world, good)
}

#[test]
fn a_broken_file_under_a_good_name() {
    for bytes in [&b""[..], b"garbage", b"\x78\x9c\x03\x00\x00\x00\x00\x01"] {
        let (world, good) = with_good_branch();
        world.commit_inside("a.txt", "changed\n", "second");
        let blob = world.inside(&["rev-parse", "main:a.txt"]);
        replace(&loose(&world, &blob), bytes);
        main_is_refused(world, &good);
    }
}

#[test]
fn another_object_under_a_good_name() {
    let (world, good) = with_good_branch();
    world.commit_inside("a.txt", "changed\n", "second");
    let blob = world.inside(&["rev-parse", "main:a.txt"]);
    let other = world.inside(&["rev-parse", "good:good.txt"]);
    let bytes = std::fs::read(loose(&world, &other)).unwrap();
    replace(&loose(&world, &blob), &bytes);
    main_is_refused(world, &good);
}

#[test]
fn an_object_of_the_host_is_never_replaced() {
    let mut world = World::new();
    let blob = world.host(&["rev-parse", "main:a.txt"]);
    replace(&loose(&world, &blob), b"garbage");
    world.inside(&["commit", "-q", "--allow-empty", "-m", "second"]);
    world.import();
    assert_eq!(world.host(&["cat-file", "-p", &blob]), "one");
    world.use_as_owner();
}

#[test]
fn an_object_that_the_host_has_packed_is_not_shadowed() {
    let world = World::new();
    let blob = world.host(&["rev-parse", "main:a.txt"]);
    world.host(&["gc", "-q"]);
    let mut world = world.renewed();
    let other = world.commit_inside("x.txt", "x\n", "second");
    let bytes = std::fs::read(loose(&world, &other)).unwrap();
    write(loose(&world, &blob), bytes);
    world.import();
    assert_eq!(world.host(&["cat-file", "-p", &blob]), "one");
    world.use_as_owner();
}

#[test]
fn a_commit_whose_parent_is_missing() {
    let (world, good) = with_good_branch();
    let parent = world.commit_inside("a.txt", "changed\n", "second");
    world.inside(&["commit", "-q", "--allow-empty", "-m", "third"]);
    std::fs::remove_file(loose(&world, &parent)).unwrap();
    main_is_refused(world, &good);
}

#[test]
fn a_broken_commit_that_the_host_has_already() {
    let mut world = World::new();
    let tree = world.host(&["rev-parse", "main^{tree}"]);
    let commit = format!(
        "tree {tree}\nparent {}\nauthor a <a> 1 +0000\ncommitter a <a> 1 +0000\n\nx\n",
        "ab".repeat(20)
    );
    let broken = hash(&world.dot_git, "commit", commit.as_bytes());
    write(world.view.join("refs/heads/broken"), format!("{broken}\n"));
    let report = world.import();
    assert_eq!(
        dropped(&report, "refs/heads/broken"),
        Some(&DropReason::Objects)
    );
    assert_eq!(world.ref_on_host("refs/heads/broken"), None);
}

#[test]
fn a_commit_whose_file_is_missing() {
    let (world, good) = with_good_branch();
    world.commit_inside("a.txt", "changed\n", "second");
    let blob = world.inside(&["rev-parse", "main:a.txt"]);
    std::fs::remove_file(loose(&world, &blob)).unwrap();
    main_is_refused(world, &good);
}

#[test]
fn an_object_that_is_a_link_a_pipe_or_a_directory() {
    for kind in 0..3 {
        let (world, good) = with_good_branch();
        world.commit_inside("a.txt", "changed\n", "second");
        let blob = world.inside(&["rev-parse", "main:a.txt"]);
        let at = loose(&world, &blob);
        let aside = world.view.join("aside");
        std::fs::rename(&at, &aside).unwrap();
        match kind {
            0 => symlink(&aside, &at).unwrap(),
            1 => rustix::fs::mkfifoat(rustix::fs::CWD, &at, 0o600.into()).unwrap(),
            _ => std::fs::create_dir(&at).unwrap(),
        }
        main_is_refused(world, &good);
    }
}

#[test]
fn an_object_directory_that_is_a_link() {
    let mut world = World::new();
    let before = world.host(&["rev-parse", "main"]);
    world.commit_inside("a.txt", "changed\n", "second");
    let aside = world.view.join("../objects-aside");
    std::fs::rename(world.view.join("objects"), &aside).unwrap();
    symlink(&aside, world.view.join("objects")).unwrap();
    let report = world.import();
    assert_eq!(world.host(&["rev-parse", "main"]), before);
    assert_eq!(dropped(&report, "objects"), Some(&DropReason::NotRegular));
    world.use_as_owner();
}

#[test]
fn a_tree_that_reaches_into_dot_git() {
    for name in [".git", "..", ".GIT"] {
        let (world, good) = with_good_branch();
        let blob = world.inside(&["rev-parse", "main:a.txt"]);
        let raw: Vec<u8> = (0..20)
            .map(|at| u8::from_str_radix(&blob[at * 2..at * 2 + 2], 16).unwrap())
            .collect();
        let tree = [format!("100755 {name}\0").as_bytes(), &raw].concat();
        let tree = hash(&world.view, "tree", &tree);
        let commit = world.inside(&["commit-tree", "-p", "main", "-m", "evil", &tree]);
        write(world.view.join("refs/heads/main"), format!("{commit}\n"));
        main_is_refused(world, &good);
    }
}

#[test]
fn a_gitmodules_file_that_runs_things() {
    let (world, good) = with_good_branch();
    let evil = "[submodule \"x\"]\n\tpath = -x\n\turl = -u./payload\n";
    world.commit_inside(".gitmodules", evil, "evil");
    main_is_refused(world, &good);
}

fn hash(dir: &Path, kind: &str, bytes: &[u8]) -> String {
    let mut child = git(dir)
        .env("GIT_DIR", dir)
        .args(["hash-object", "-w", "--literally", "--stdin", "-t", kind])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(bytes).unwrap();
    text(&child.wait_with_output().unwrap())
}

#[test]
fn broken_packs() {
    for cut in [false, true] {
        let mut world = World::new();
        let before = world.host(&["rev-parse", "main"]);
        world.commit_inside("a.txt", "changed\n", "second");
        world.inside(&["repack", "-a", "-d", "-q"]);
        let pack = packs(&world, "pack").remove(0);
        let mut bytes = std::fs::read(&pack).unwrap();
        if cut {
            bytes.truncate(bytes.len() / 2);
        } else {
            let middle = bytes.len() / 2;
            bytes[middle] ^= 0xff;
        }
        replace(&pack, &bytes);
        let report = world.import();
        assert_eq!(world.host(&["rev-parse", "main"]), before);
        let refused = |why: &DropReason| matches!(why, DropReason::Refused(_));
        assert!(
            report
                .dropped
                .iter()
                .any(|d| d.path.ends_with(".pack") && refused(&d.why)),
            "{report}"
        );
        world.use_as_owner();
    }
}

#[test]
fn a_pack_whose_index_lies_does_no_harm() {
    let mut world = World::new();
    let tip = world.commit_inside("a.txt", "changed\n", "second");
    world.inside(&["repack", "-a", "-d", "-q"]);
    let idx = packs(&world, "idx").remove(0);
    let mut bytes = std::fs::read(&idx).unwrap();
    // The names of the first objects, after the header and the table of counts.
    for byte in &mut bytes[8 + 1024..8 + 1024 + 60] {
        *byte ^= 0x55;
    }
    replace(&idx, &bytes);
    let report = world.import();
    // Only the pack itself counts, so everything arrives.
    assert_eq!(world.host(&["rev-parse", "main"]), tip, "{report}");
    world.use_as_owner();
}

fn packs(world: &World, extension: &str) -> Vec<PathBuf> {
    std::fs::read_dir(world.view.join("objects/pack"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|found| found == extension))
        .collect()
}

#[test]
fn huge_files_are_not_read() {
    let mut world = World::new();
    let before = world.host(&["rev-parse", "main"]);
    world.commit_inside("a.txt", "changed\n", "second");
    let blob = world.inside(&["rev-parse", "main:a.txt"]);
    let at = loose(&world, &blob);
    std::fs::remove_file(&at).unwrap();
    std::fs::File::create(&at)
        .unwrap()
        .set_len(1 << 42)
        .unwrap();
    let pack = world
        .view
        .join("objects/pack")
        .join(format!("pack-{}.pack", "ab".repeat(20)));
    std::fs::create_dir_all(pack.parent().unwrap()).unwrap();
    std::fs::File::create(&pack)
        .unwrap()
        .set_len(1 << 42)
        .unwrap();
    for name in [
        "packed-refs",
        "index",
        "logs/refs/heads/main",
        "refs/heads/huge",
    ] {
        std::fs::File::create(world.view.join(name))
            .unwrap()
            .set_len(1 << 42)
            .unwrap();
    }
    let report = world.import();
    assert_eq!(world.host(&["rev-parse", "main"]), before);
    for name in ["packed-refs", "index", "refs/heads/huge"] {
        assert_eq!(
            dropped(&report, name),
            Some(&DropReason::TooLarge),
            "{name}"
        );
    }
    world.use_as_owner();
}

#[test]
fn the_limit_on_objects_holds() {
    let mut world = World::new();
    let before = world.host(&["rev-parse", "main"]);
    world.commit_inside("a.txt", "changed\n", "second");
    world.options.max_objects = 2;
    let report = world.import();
    assert_eq!(world.host(&["rev-parse", "main"]), before);
    assert!(report.dropped.iter().any(|d| d.why == DropReason::TooLarge));
    world.use_as_owner();
}

#[test]
fn a_git_that_takes_too_long_is_ended() {
    let mut world = World::new();
    let slow = world.work.parent().unwrap().join("slow-git");
    write(&slow, "#!/bin/sh\nexec /bin/sleep 1000\n");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&slow, mode).unwrap();
    world.options.git = slow;
    world.options.command_time = std::time::Duration::from_millis(200);
    let started = std::time::Instant::now();
    let result = world.try_import();
    assert!(matches!(
        result,
        Err(palisade_linux_landlock::git_import::ImportError::Timeout { .. })
    ));
    assert!(started.elapsed() < std::time::Duration::from_secs(20));
}
