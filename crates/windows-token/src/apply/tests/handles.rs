//! What a command has: three handles, a desktop, and a token with less.

use std::os::windows::io::AsRawHandle as _;

use super::{World, command, run, spawn};
use crate::sys::for_tests::make_inheritable;
use crate::sys::token::{PASS_THROUGH, Token};

#[test]
fn a_handle_that_is_not_in_the_list_does_not_arrive() {
    let world = World::new();
    let session = world.session();
    // Inheritable, and many of them, so that the number of one is not by chance that of another.
    let files: Vec<std::fs::File> = (0..64)
        .map(|_| std::fs::File::open(world.root.join(".git").join("config")).unwrap())
        .collect();
    let mut arrived = 0;
    for file in &files {
        make_inheritable(file).unwrap();
    }
    for file in files.iter().rev().take(8) {
        let number = file.as_raw_handle().addr().to_string();
        let said = run(&session, &["handle", &number]).text();
        arrived += usize::from(said != "false");
    }
    assert_eq!(arrived, 0);
}

#[test]
fn the_three_handles_arrive() {
    let world = World::new();
    let output = spawn(&world.session(), &command(&["standard-handles"])).finish(&[]);
    assert_eq!(output.text(), "true true true");
}

#[test]
fn a_command_is_on_a_desktop_of_its_own() {
    let world = World::new();
    let (one, other) = (world.session(), world.session());
    let first = run(&one, &["desktop"]).text();
    assert!(first.starts_with("palisade-"), "{first}");
    assert_eq!(run(&one, &["desktop"]).text(), first);
    assert_ne!(run(&other, &["desktop"]).text(), first);
}

#[test]
fn deleted_privileges_are_gone_in_the_child() {
    let world = World::new();
    let ours = Token::own().unwrap().privileges().unwrap();
    assert!(ours.len() > 1, "{ours:?}");
    let theirs = run(&world.session(), &["privileges"]).text();
    assert_eq!(theirs, PASS_THROUGH);
}

#[test]
fn a_command_makes_pipes_of_its_own() {
    let world = World::new();
    assert_eq!(run(&world.session(), &["pipe"]).text().trim(), "ok");
}

#[test]
fn a_command_writes_to_its_temporary_directory() {
    let world = World::new();
    let session = world.session();
    let path = session.tmpdir().join("file");
    let said = run(&session, &["write", path.to_str().unwrap()]).text();
    assert_eq!(said.trim(), "ok");
    assert!(path.is_file());
    session.end().unwrap();
    assert!(!path.exists());
}
