//! How a command ended is told exactly.

use std::time::Duration;

use super::{World, command, run, spawn};
use crate::apply::ExitCause;
use crate::sys::tests::PATIENCE;

#[test]
fn codes_are_exact() {
    let world = World::new();
    let session = world.session();
    // 259 is also the word for "still running", and 137 what we end commands with ourselves.
    for code in [
        0,
        1,
        125,
        137,
        255,
        256,
        259,
        1816,
        0x7FFF_FFFF,
        0x8000_0003,
    ] {
        let exit = run(&session, &["exit", &code.to_string()]).exit;
        assert_eq!(exit.cause, ExitCause::Code(code));
        assert_eq!(exit.cause.code(), code);
        assert_eq!(exit.success(), code == 0);
    }
    for code in [0xC000_013A, 0xC000_0142, u32::MAX] {
        let exit = run(&session, &["exit", &code.to_string()]).exit;
        assert_eq!(exit.cause, ExitCause::Exception(code));
        assert_eq!(exit.cause.code(), code);
    }
}

#[test]
fn a_crash_is_an_exception_and_asks_nobody() {
    let world = World::new();
    let session = world.session();
    let exit = run(&session, &["crash"]).exit;
    assert_eq!(exit.cause, ExitCause::Exception(0xC000_0005));
    assert_eq!(exit.cause.to_string(), "exception 0xc0000005");
    let exit = run(&session, &["abort"]).exit;
    assert!(matches!(exit.cause, ExitCause::Exception(_)), "{exit:?}");
}

#[test]
fn an_end_is_told_as_often_as_one_asks() {
    let world = World::new();
    let session = world.session();
    let running = spawn(&session, &command(&["count-input"]));
    assert_eq!(running.child.try_wait().unwrap(), None);
    assert_eq!(
        running
            .child
            .wait_timeout(Duration::from_millis(20))
            .unwrap(),
        None
    );
    let child = running.child;
    drop((running.input, running.output, running.errors));
    let exit = child.wait_timeout(PATIENCE).unwrap().unwrap();
    assert_eq!(child.wait().unwrap().cause, exit.cause);
    assert_eq!(child.try_wait().unwrap().unwrap().cause, exit.cause);
}
