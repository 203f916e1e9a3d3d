//! Ending a tree without a sandbox.

use std::fs;
use std::time::Duration;

use super::support::{end, lives, pid_in, script, stage, wait_until};
use crate::os::{How, Stdio, spawn_bare};

#[test]
fn daemons_end_with_their_command_and_strangers_do_not() {
    let stage = stage();
    let cwd = stage.path();
    let text = "sleep 1000 & echo $! > background
        (setsid sh -c 'sleep 1000 & echo $! > daemon' &)
        (setsid sh -c \"trap '' HUP TERM INT; echo \\$\\$ > deaf; kill -STOP \\$\\$\" &)
        env -i sh -c 'echo $$ > unmarked; exec sleep 1000'";
    let mut stranger = std::process::Command::new("setsid")
        .args(["sleep", "1000"])
        .env_clear()
        .spawn()
        .unwrap();
    let mut other = spawn_bare(&script("exec sleep 1000", cwd), Stdio::null().unwrap()).unwrap();
    let mut process = spawn_bare(&script(text, cwd), Stdio::null().unwrap()).unwrap();
    let pids = ["background", "daemon", "deaf", "unmarked"].map(|file| pid_in(&cwd.join(file)));
    assert!(pids.into_iter().all(lives));
    process.kill_tree();
    assert_eq!(end(&mut process).unwrap().how, How::Signal(9));
    assert!(
        wait_until(|| (!pids.into_iter().any(lives)).then_some(())).is_some(),
        "{:?}",
        pids.map(lives)
    );
    assert_eq!(other.try_end().unwrap(), None);
    assert_eq!(stranger.try_wait().unwrap(), None);
    stranger.kill().unwrap();
    stranger.wait().unwrap();
}

#[test]
fn what_a_command_left_behind_ends_after_it() {
    let stage = stage();
    let cwd = stage.path();
    let text = "(sleep 1000 & echo $! > left); (setsid sh -c 'sleep 1000 & echo $! > daemon' &)
        while [ ! -s daemon ]; do sleep 0.01; done";
    let mut process = spawn_bare(&script(text, cwd), Stdio::null().unwrap()).unwrap();
    assert_eq!(end(&mut process).unwrap().how, How::Code(0));
    let pids = ["left", "daemon"].map(|file| pid_in(&cwd.join(file)));
    assert!(pids.into_iter().all(lives));
    process.kill_tree();
    drop(process);
    assert!(wait_until(|| (!pids.into_iter().any(lives)).then_some(())).is_some());
}

#[test]
fn a_command_that_is_dropped_ends() {
    let stage = stage();
    let cwd = stage.path();
    let text = "setsid sleep 1000 & echo $! > child; echo $$ > leader; wait";
    let process = spawn_bare(&script(text, cwd), Stdio::null().unwrap()).unwrap();
    let pids = ["child", "leader"].map(|file| pid_in(&cwd.join(file)));
    drop(process);
    assert!(wait_until(|| (!pids.into_iter().any(lives)).then_some(())).is_some());
}

#[test]
fn a_chain_that_forks_and_exits_ends() {
    let stage = stage();
    let cwd = stage.path();
    let text = "hop() { : > alive; hop & }; hop; sleep 1000";
    let mut process = spawn_bare(&script(text, cwd), Stdio::null().unwrap()).unwrap();
    let alive = cwd.join("alive");
    wait_until(|| alive.exists().then_some(())).unwrap();
    process.kill_tree();
    end(&mut process).unwrap();
    let over = wait_until(|| {
        let _ = fs::remove_file(&alive);
        std::thread::sleep(Duration::from_millis(50));
        (!alive.exists()).then_some(())
    });
    assert!(over.is_some(), "the chain goes on");
}
