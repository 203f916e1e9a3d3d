//! Everything that a command started ends with it, and nothing else does.

use std::time::Duration;

use super::{World, command, run, spawn};
use crate::apply::ExitCause;
use crate::sys::process::Process;
use crate::sys::tests::PATIENCE;

/// The same process by its number, held so that the number stays its own.
fn hold(id: &str) -> Process {
    Process::open(id.parse().unwrap()).unwrap()
}

#[test]
fn a_tree_ends_with_grandchildren_and_a_code_that_is_not_zero() {
    let world = World::new();
    let session = world.session();
    let mut running = spawn(&session, &command(&["tree"]));
    let (one, two) = (hold(&running.line()), hold(&running.line()));
    let ids = running.child.process_ids().unwrap();
    for id in [running.child.pid(), one.id(), two.id()] {
        assert!(ids.contains(&id), "{ids:?}");
    }
    assert!(running.child.kill_tree(PATIENCE).unwrap());
    let exit = running.child.wait().unwrap();
    assert_eq!(exit.cause, ExitCause::Ended);
    assert_ne!(exit.cause.code(), 0);
    assert!(!exit.success());
    for process in [one, two] {
        assert_eq!(
            process.wait(Some(PATIENCE)).unwrap(),
            Some(exit.cause.code())
        );
    }
    assert_eq!(session.process_ids().unwrap(), [] as [u32; 0]);
}

#[test]
fn a_timeout_ends_one_command_and_not_the_other() {
    let world = World::new();
    let session = world.session();
    let slow = spawn(&session, &command(&["sleep"]));
    let other = spawn(&session, &command(&["copy"]));
    assert_eq!(
        slow.child.wait_timeout(Duration::from_millis(50)).unwrap(),
        None
    );
    assert!(slow.child.kill_tree(PATIENCE).unwrap());
    assert_eq!(slow.child.wait().unwrap().cause, ExitCause::Ended);
    let other = other.finish(b"still here");
    assert_eq!(other.stdout, b"still here");
    assert!(other.exit.success());
}

#[test]
fn what_a_command_leaves_behind_ends_with_the_session() {
    let world = World::new();
    let session = world.session();
    // Nobody reads the pipes to their end: the one who was left behind holds them open.
    let mut running = spawn(&session, &command(&["orphan"]));
    let orphan = hold(&running.line());
    assert!(
        running
            .child
            .wait_timeout(PATIENCE)
            .unwrap()
            .unwrap()
            .success()
    );
    assert_eq!(orphan.wait(Some(Duration::ZERO)).unwrap(), None);
    // The console that Windows gave to the command is in the job as well.
    let ids = session.process_ids().unwrap();
    assert!(
        ids.contains(&orphan.id()) && !ids.contains(&running.child.pid()),
        "{ids:?}"
    );
    session.end().unwrap();
    assert!(
        orphan.wait(Some(Duration::ZERO)).unwrap().is_some(),
        "it has ended by then"
    );
}

#[test]
fn dropping_a_session_ends_everything_in_it() {
    let world = World::new();
    let session = world.session();
    let mut running = spawn(&session, &command(&["tree"]));
    let (one, two) = (hold(&running.line()), hold(&running.line()));
    drop(session);
    assert_eq!(
        running
            .child
            .wait_timeout(Duration::ZERO)
            .unwrap()
            .unwrap()
            .cause
            .code(),
        137
    );
    for process in [one, two] {
        assert!(process.wait(Some(Duration::ZERO)).unwrap().is_some());
    }
}

#[test]
fn nothing_leaves_the_job() {
    let world = World::new();
    let output = run(&world.session(), &["breakaway"]);
    assert_eq!(output.text().trim(), "error 5");
}

#[test]
fn ending_what_has_ended_is_no_error() {
    let world = World::new();
    let session = world.session();
    let running = spawn(&session, &command(&["exit", "3"]));
    assert_eq!(running.child.wait().unwrap().cause, ExitCause::Code(3));
    assert!(running.child.kill_tree(PATIENCE).unwrap());
    assert_eq!(
        running.child.wait().unwrap().cause,
        ExitCause::Code(3),
        "it ended by itself"
    );
}
