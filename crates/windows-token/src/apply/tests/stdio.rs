//! Pipes carry bytes, as they are and as many as there are.

use std::fs::File;
use std::os::windows::fs::OpenOptionsExt as _;
use std::os::windows::io::OwnedHandle;

use super::{World, command, run, spawn};
use crate::apply::{LaunchError, Stdio};
use crate::sys::tests::PATIENCE;

#[test]
fn every_byte_arrives_as_it_was() {
    let world = World::new();
    let session = world.session();
    let every: Vec<u8> = (0..=u8::MAX).collect();
    assert_eq!(run(&session, &["pattern", "256"]).stdout, every);
    let copied = spawn(&session, &command(&["copy"])).finish(&every);
    assert_eq!(copied.stdout, every);
    assert_eq!(copied.stderr, b"");
}

#[test]
fn more_than_a_pipe_holds_arrives_in_both_directions_at_once() {
    let world = World::new();
    let session = world.session();
    let large: Vec<u8> = (0..3 << 20)
        .map(|at: u32| at.to_le_bytes()[1] ^ 0x5A)
        .collect();
    let copied = spawn(&session, &command(&["copy"])).finish(&large);
    assert!(copied.stdout == large, "{} bytes", copied.stdout.len());
    let length = 4 << 20;
    let made = run(&session, &["pattern", &length.to_string()]).stdout;
    assert_eq!(made.len(), length);
    assert!(
        made.iter()
            .enumerate()
            .all(|(at, byte)| at % 256 == usize::from(*byte))
    );
}

#[test]
fn output_and_errors_are_two_streams() {
    let world = World::new();
    let output = run(&world.session(), &["both"]);
    assert_eq!(output.stdout, b"to output");
    assert_eq!(output.stderr, b"to errors");
}

#[test]
fn input_that_is_closed_ends() {
    let world = World::new();
    let session = world.session();
    assert_eq!(run(&session, &["count-input"]).text().trim(), "0");
    let some = spawn(&session, &command(&["count-input"])).finish(&[1, 26, 0, 13, 10]);
    assert_eq!(
        some.text().trim(),
        "5",
        "no byte is the end, also not Ctrl-Z"
    );
}

#[test]
fn files_and_the_null_device_are_handles_too() {
    let world = World::new();
    let session = world.session();
    let child = session
        .spawn(&command(&["pattern", "100"]), &Stdio::null().unwrap())
        .unwrap();
    assert!(child.wait_timeout(PATIENCE).unwrap().unwrap().success());

    let log = world.root.join("log");
    let handle = || {
        let file = File::options()
            .append(true)
            .create(true)
            .open(&log)
            .unwrap();
        OwnedHandle::from(file)
    };
    let stdio = Stdio::new(File::open("NUL").unwrap().into(), handle(), handle());
    let child = session.spawn(&command(&["both"]), &stdio).unwrap();
    child.wait_timeout(PATIENCE).unwrap().unwrap();
    assert_eq!(std::fs::read(&log).unwrap(), b"to outputto errors");
}

#[test]
fn a_directory_is_not_given_to_a_command() {
    const BACKUP_SEMANTICS: u32 = 0x0200_0000;
    let world = World::new();
    let session = world.session();
    let directory = File::options()
        .read(true)
        .custom_flags(BACKUP_SEMANTICS)
        .open(&world.root)
        .unwrap();
    let null = || OwnedHandle::from(File::open("NUL").unwrap());
    let stdio = Stdio::new(null(), null(), directory.into());
    let refused = session.spawn(&command(&["exit", "0"]), &stdio);
    let error = refused.map(drop).unwrap_err();
    assert!(
        matches!(
            error,
            LaunchError::Handle {
                number: 2,
                what: "a directory"
            }
        ),
        "{error}"
    );
}
