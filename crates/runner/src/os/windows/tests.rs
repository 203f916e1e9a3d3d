//! Processes in jobs. The child is this program, which runs one ignored test.

use std::io::{self, Read as _};
use std::os::windows::io::AsHandle as _;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use super::bare::BareProcess;
use super::sys::spawn::inheritable;
use crate::os::order::{JudgedFile, Order};
use crate::os::stdio::{Stdio, null, pipe_to_child};
use crate::program::Seen;
use crate::supervise::{Ended, How};

const SOON: Duration = Duration::from_secs(60);

#[test]
#[ignore = "a part of other tests"]
fn act_reads_to_the_end() {
    io::stdin().read_to_end(&mut Vec::new()).unwrap();
}

fn reads_to_the_end() -> Order {
    let program = std::env::current_exe().unwrap().into_os_string();
    let name = "os::windows::tests::act_reads_to_the_end";
    let argv = [program, "--exact".into(), name.into(), "--ignored".into()];
    let wanted = |name: &&str| std::env::var_os(name).is_some();
    let env = ["SystemRoot", "TEMP"].into_iter().filter(wanted);
    let env = env.map(|name| (name.into(), std::env::var_os(name).unwrap()));
    Order::new(argv, std::env::current_dir().unwrap()).with_env(env.collect())
}

fn wait(process: &mut BareProcess) -> Ended {
    let started = Instant::now();
    loop {
        if let Some(ended) = process.try_end().unwrap() {
            return ended;
        }
        assert!(started.elapsed() < SOON, "it does not end");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A child that lives until its input ends, and that input.
fn start(order: &Order) -> (BareProcess, std::os::windows::io::OwnedHandle) {
    let (ours, stdin) = pipe_to_child().unwrap();
    let stdio = Stdio {
        stdin,
        stdout: null().unwrap(),
        stderr: null().unwrap(),
    };
    (BareProcess::spawn(order, &stdio).unwrap(), ours)
}

#[test]
fn a_child_has_three_handles_and_no_other_that_could_be_inherited() {
    let (mut reader, writer) = io::pipe().unwrap();
    let leaky = inheritable(writer.as_handle()).unwrap();
    drop(writer);
    let (mut process, input) = start(&reads_to_the_end());
    drop(leaky);
    let (told, heard) = mpsc::channel();
    std::thread::spawn(move || {
        let _ = told.send(reader.read_to_end(&mut Vec::new()));
    });
    let end = heard
        .recv_timeout(SOON)
        .expect("the child keeps the pipe open");
    assert_eq!(end.unwrap(), 0);
    assert_eq!(process.try_end().unwrap(), None, "it lived meanwhile");
    drop(input);
    assert_eq!(wait(&mut process).how, How::Code(0));
}

#[test]
fn a_child_that_is_ended_says_by_what_and_keeps_its_own_code_if_it_was_first() {
    let (mut process, _input) = start(&reads_to_the_end());
    process.signal(18);
    assert_eq!(process.try_end().unwrap(), None, "that one means nothing");
    process.signal(15);
    assert_eq!(wait(&mut process).how, How::Signal(15));
    process.kill_tree();
    assert_eq!(wait(&mut process).how, How::Signal(15), "asked again");

    let (mut process, input) = start(&reads_to_the_end());
    drop(input);
    assert_eq!(wait(&mut process).how, How::Code(0));
    process.kill_tree();
    process.signal(9);
    assert_eq!(wait(&mut process).how, How::Code(0));
}

#[test]
fn a_file_or_a_directory_of_another_number_is_not_started() {
    let order = reads_to_the_end();
    let here = Seen::look_at(&order.argv[0], &order.env, &order.cwd);
    let (program, directory) = (here.program.unwrap(), here.directory.unwrap());
    let spawn = |order: &Order| {
        let stdio = Stdio {
            stdin: null().unwrap(),
            stdout: null().unwrap(),
            stderr: null().unwrap(),
        };
        BareProcess::spawn(order, &stdio).map(|mut process| wait(&mut process).how)
    };
    let judged = |inode| JudgedFile {
        path: program.path.clone(),
        device: program.dev,
        inode,
    };
    let good = order
        .clone()
        .with_program(judged(program.ino))
        .in_directory(directory.dev, directory.ino);
    assert_eq!(spawn(&good).unwrap(), How::Code(0));
    let other = order.clone().with_program(judged(program.ino ^ 1));
    let refused = spawn(&other).unwrap_err();
    assert_eq!(refused.step, "checking that the program is the judged one");
    let elsewhere = order.in_directory(directory.dev, directory.ino ^ 1);
    let refused = spawn(&elsewhere).unwrap_err();
    assert_eq!(refused.step, "entering the working directory");
}
