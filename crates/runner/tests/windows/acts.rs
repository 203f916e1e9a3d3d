//! What the children of these tests do.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::Read as _;
use std::os::windows::fs::OpenOptionsExt as _;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// The first argument of every act.
pub(crate) const ACT: &str = "--act";

/// Does what the arguments say, if they say something.
pub(crate) fn dispatch() -> Option<ExitCode> {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    if arguments.get(1)? != ACT {
        return None;
    }
    let rest = &arguments[3..];
    let text = |index: usize| rest[index].to_str().unwrap().to_owned();
    match arguments[2].to_str().unwrap() {
        "say" => say(&mut std::io::stdout(), text(0).as_bytes()),
        "complain" => say(&mut std::io::stderr(), text(0).as_bytes()),
        "exit" => std::process::exit(text(0).parse::<u32>().unwrap().cast_signed()),
        "abort" => std::process::abort(),
        "repeat" => {
            let mut input = Vec::new();
            std::io::stdin().read_to_end(&mut input).unwrap();
            say(&mut std::io::stdout(), &input);
        }
        "arguments" => say(&mut std::io::stdout(), format!("{rest:?}").as_bytes()),
        "environment" => {
            let all: Vec<_> = std::env::vars_os().collect();
            say(&mut std::io::stdout(), format!("{all:?}").as_bytes());
        }
        "where" => {
            let here = std::env::current_dir().unwrap();
            say(&mut std::io::stdout(), here.to_str().unwrap().as_bytes());
        }
        "flood" => flood(text(0).parse().unwrap()),
        "sleep" => std::thread::sleep(Duration::from_secs(120)),
        "parent" => parent(&PathBuf::from(&rest[0]), true),
        "leave" => parent(&PathBuf::from(&rest[0]), false),
        "hold" => hold(&PathBuf::from(&rest[0])),
        other => panic!("no act {other}"),
    }
    Some(ExitCode::SUCCESS)
}

fn say(to: &mut dyn std::io::Write, bytes: &[u8]) {
    to.write_all(bytes).unwrap();
    to.flush().unwrap();
}

/// Writes so many MiB.
fn flood(many: usize) {
    let block = vec![b'x'; 1024 * 1024];
    for _ in 0..many {
        say(&mut std::io::stdout(), &block);
    }
}

/// Starts a grandchild that holds a file and our output; waits for ever, or leaves it behind.
#[expect(
    clippy::zombie_processes,
    reason = "whoever started this one ends it, or it is left on purpose"
)]
fn parent(file: &std::path::Path, wait: bool) {
    Command::new(std::env::current_exe().unwrap())
        .args([ACT.as_ref(), "hold".as_ref(), file.as_os_str()])
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    let started = Instant::now();
    while !super::stage::is_held(file) && started.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(5));
    }
    say(&mut std::io::stdout(), b"started");
    if wait {
        std::thread::sleep(Duration::from_secs(120));
    }
}

/// Holds a file that nobody else can open meanwhile, until another one appears beside it.
fn hold(file: &std::path::Path) {
    let _held = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .share_mode(0)
        .open(file)
        .unwrap();
    let stop = file.with_extension("stop");
    let started = Instant::now();
    while !stop.exists() && started.elapsed() < Duration::from_secs(120) {
        std::thread::sleep(Duration::from_millis(10));
    }
}
