//! A test in a process of its own: nobody else opens descriptors, starts threads or has children there.

use std::ffi::OsString;
use std::process::{Command, Stdio};

/// The test that a process was started for.
const ALONE: &str = "PALISADE_TEST_LOAD_ALONE";

/// Whether this process was started for a test alone.
pub(crate) fn is_alone() -> bool {
    std::env::var_os(ALONE).is_some()
}

/// Runs the body in a process of its own. `name` is the path of the test, as the harness knows it.
pub(crate) fn alone(name: &str, body: impl FnOnce()) {
    alone_through(&[], name, body);
}

/// The same, started by these words, which start what follows them.
pub(crate) fn alone_through(words: &[&str], name: &str, body: impl FnOnce()) {
    if is_alone() {
        body();
        return;
    }
    let output = myself(words, name).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("1 passed") && output.status.success(),
        "{name}: {}\n{said}\n{complained}",
        output.status
    );
    for line in said.lines().filter(|line| line.contains("note: ")) {
        println!("{line}");
    }
}

/// This program, with nothing but one test.
pub(crate) fn myself(words: &[&str], name: &str) -> Command {
    let program = std::env::current_exe().unwrap();
    let mut words: Vec<OsString> = words.iter().map(Into::into).collect();
    words.push(program.into_os_string());
    let mut words = words.into_iter();
    let mut command = Command::new(words.next().unwrap());
    command
        .args(words)
        .args(["--exact", name, "--nocapture", "--test-threads=1"])
        .env(ALONE, "1")
        .stdin(Stdio::null());
    command
}
