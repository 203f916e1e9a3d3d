//! What a command can do, tried by a command. Each of these shows something on a real Windows only.

use std::io::Read as _;
use std::os::windows::io::OwnedHandle;
use std::path::Path;

use palisade_windows_token::{Command, Started, Stdio};

use super::{CHILD, World, program};

/// What the command says about an attempt.
fn tries(started: &Started, arguments: &[&Path]) -> String {
    let child = program(CHILD);
    let argv = [child.as_path()]
        .into_iter()
        .chain(arguments.iter().copied())
        .map(Path::as_os_str);
    let env = std::env::vars_os().collect();
    let command = Command::new(argv, child.parent().unwrap()).with_env(env);
    let (mut reader, writer) = std::io::pipe().unwrap();
    let null = || OwnedHandle::from(std::fs::File::open("NUL").unwrap());
    let stdio = Stdio::new(null(), OwnedHandle::from(writer), null());
    let child = started.session.spawn(&command, &stdio).unwrap();
    drop(stdio);
    let mut said = String::new();
    reader.read_to_string(&mut said).unwrap();
    child.wait().unwrap();
    said.trim().to_owned()
}

fn role(name: &str) -> &Path {
    Path::new(name)
}

#[test]
fn writes_stay_in_the_root() {
    let world = World::new();
    let Some(started) = world.confined() else {
        return;
    };
    let inside = world.root.join("new");
    assert_eq!(tries(&started, &[role("write"), &inside]), "ok");
    assert_eq!(
        tries(&started, &[role("append"), &world.root.join("file")]),
        "ok"
    );
    assert_eq!(tries(&started, &[role("remove"), &inside]), "ok");
    for outside in [world.base.join("outside"), world.base.join("planted")] {
        assert_eq!(tries(&started, &[role("write"), &outside]), "error 5");
    }
    let outside = world.base.join("outside");
    for attempt in ["append", "remove"] {
        assert_eq!(tries(&started, &[role(attempt), &outside]), "error 5");
    }
    assert_eq!(
        tries(
            &started,
            &[role("rename"), &outside, &world.root.join("taken")]
        ),
        "error 5"
    );
    assert_eq!(
        tries(
            &started,
            &[role("make-directory"), &world.base.join("made")]
        ),
        "error 5"
    );
    assert_eq!(tries(&started, &[role("read"), &outside]), "ok");
    assert_eq!(std::fs::read(&outside).unwrap(), b"outside");
}

#[test]
fn protected_paths_stay_as_they_are() {
    let world = World::new();
    let Some(started) = world.confined() else {
        return;
    };
    let git = world.root.join(".git");
    let config = git.join("config");
    for attempt in ["write", "append", "remove"] {
        assert_eq!(
            tries(&started, &[role(attempt), &config]),
            "error 5",
            "{attempt}"
        );
    }
    for new in [git.join("hooks"), git.join("planted")] {
        assert_eq!(tries(&started, &[role("write"), &new]), "error 5");
    }
    assert_eq!(
        tries(&started, &[role("rename"), &git, &world.root.join("moved")]),
        "error 5"
    );
    assert_eq!(std::fs::read(&config).unwrap(), b"config");
}

#[test]
fn the_state_of_palisade_is_out_of_reach() {
    let world = World::new();
    let Some(started) = world.confined() else {
        return;
    };
    let state = world.base.join("state");
    for path in [
        state.join("journal"),
        state.join("capabilities.json"),
        state.join("planted"),
    ] {
        assert_eq!(tries(&started, &[role("write"), &path]), "error 5");
    }
    let temporary = started.session.tmpdir().join("file");
    assert_eq!(tries(&started, &[role("write"), &temporary]), "ok");
}

#[test]
fn a_root_is_closed_again_afterwards() {
    let world = World::new();
    let Some(started) = world.confined() else {
        return;
    };
    let file = world.root.join("kept");
    assert_eq!(tries(&started, &[role("write"), &file]), "ok");
    started.session.end().unwrap();
    // Another session, for another root: the first one is outside now.
    let other = World::new();
    let Some(second) = other.confined() else {
        return;
    };
    assert_eq!(tries(&second, &[role("append"), &file]), "error 5");
}

#[test]
fn tools_that_use_pipes_work() {
    let world = World::new();
    let Some(started) = world.confined() else {
        return;
    };
    assert_eq!(tries(&started, &[role("pipe")]), "ok");
}
