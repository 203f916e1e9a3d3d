//! What macOS starts commands with, tried on Linux: a plain fork, the end of a child by its number, and a thread that tells
//! it.

use std::ffi::CString;
use std::fs::{self, File};
use std::io::Read as _;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::waiter::Waiter;
use crate::os::sys::spawn::{ExecStrings, Failed, Prepared, SpawnStep, spawn_forked};
use crate::os::sys::wait::Reap;
use crate::os::sys::wait_pid::end_of;
use crate::supervise::How;

fn text(text: &str) -> CString {
    CString::new(text).unwrap()
}

fn shell(script: &str) -> Prepared {
    Prepared {
        candidates: vec![text("/srv/none/sh"), text("/bin/sh")],
        identity: None,
        argv: ExecStrings::new(vec![text("sh"), text("-c"), text(script)]),
        env: ExecStrings::new(vec![text("A=1")]),
        cwd: text("/"),
        directory: None,
        terminal: false,
    }
}

fn high(descriptor: impl Into<OwnedFd>) -> OwnedFd {
    rustix::io::fcntl_dupfd_cloexec(descriptor.into(), 4).unwrap()
}

/// Starts it, with what it writes in a pipe, and descriptor 3 if wanted.
fn start(prepared: &Prepared, report: bool) -> Result<(i32, File), Failed> {
    let (reader, writer) = std::io::pipe().unwrap();
    let null = high(File::open("/dev/null").unwrap());
    let writer = high(writer);
    let stdio = [null.as_fd(), writer.as_fd(), writer.as_fd()];
    let pid = spawn_forked(prepared, stdio, report.then_some(writer.as_fd()))?;
    Ok((pid, File::from(OwnedFd::from(reader))))
}

fn output(prepared: &Prepared, report: bool) -> (String, How) {
    let (pid, mut reader) = start(prepared, report).unwrap();
    let mut written = String::new();
    reader.read_to_string(&mut written).unwrap();
    let ended = end_of(pid, Reap::Wait).unwrap().unwrap();
    assert_eq!(end_of(pid, Reap::Not), Err(Errno::CHILD));
    (written, ended.how)
}

fn is_readable(waiter: &Waiter, timeout: Option<Duration>) -> bool {
    let timeout = timeout.map(|timeout| Timespec::try_from(timeout).unwrap());
    let mut polled = [PollFd::from_borrowed_fd(waiter.status(), PollFlags::IN)];
    poll(&mut polled, timeout.as_ref()).unwrap() == 1
}

#[test]
fn a_forked_child_leads_its_own_session_and_has_what_it_was_given() {
    let script = "echo $A $$; cut -d' ' -f1,5,6 /proc/$$/stat; pwd; exit 71";
    let (written, how) = output(&shell(script), false);
    let lines: Vec<&str> = written.lines().collect();
    let pid = lines[0].strip_prefix("1 ").unwrap();
    assert_eq!(lines[1..], [format!("{pid} {pid} {pid}").as_str(), "/"]);
    assert_eq!(how, How::Code(71));
    assert_eq!(output(&shell("kill -9 $$"), false).1, How::Signal(9));
}

#[test]
fn a_forked_child_has_no_descriptor_but_its_own() {
    let leaky = rustix::io::fcntl_dupfd_cloexec(File::open("/dev/null").unwrap(), 40).unwrap();
    rustix::io::fcntl_setfd(&leaky, rustix::io::FdFlags::empty()).unwrap();
    let number = leaky.as_raw_fd();
    let script = format!(
        "n=0; while [ $n -le {number} ]; do [ -e /proc/$$/fd/$n ] && echo $n; n=$((n+1)); done"
    );
    let (written, _) = output(&shell(&script), false);
    assert_eq!(written, "0\n1\n2\n");
    // What a helper talks over.
    assert_eq!(output(&shell("echo said >&3"), true).0, "said\n");
    assert_ne!(output(&shell("echo said >&3"), false).1, How::Code(0));
}

#[test]
fn a_step_that_fails_is_named_and_leaves_nobody() {
    let failed = |prepared: &Prepared| start(prepared, false).map(drop).unwrap_err();
    let mut none = shell("");
    none.candidates.truncate(1);
    assert_eq!(failed(&none), (SpawnStep::Exec, Errno::NOENT));
    let mut other = shell("");
    other.candidates.remove(0);
    other.identity = Some((1, 1));
    assert_eq!(failed(&other), (SpawnStep::ProgramChanged, Errno::STALE));
    let mut nowhere = shell("");
    nowhere.cwd = text("/srv/none/such");
    assert_eq!(
        failed(&nowhere),
        (SpawnStep::WorkingDirectory, Errno::NOENT)
    );
    let mut elsewhere = shell("");
    elsewhere.directory = Some((1, 1));
    assert_eq!(
        failed(&elsewhere),
        (SpawnStep::WorkingDirectory, Errno::STALE)
    );
}

#[test]
fn a_waiter_tells_the_end_and_leaves_the_child_to_be_reaped() {
    let directory = tempfile::tempdir().unwrap();
    let go = directory.path().join("go");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &go,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        0,
    )
    .unwrap();
    let (pid, _reader) = start(&shell(&format!("read line < {}", go.display())), false).unwrap();
    let waiter = Waiter::new(pid).unwrap();
    assert!(!is_readable(&waiter, Some(Duration::from_millis(20))));
    assert_eq!(end_of(pid, Reap::Not), Ok(None));
    fs::write(&go, "go\n").unwrap();
    assert!(is_readable(&waiter, None));
    // Again and again, until somebody reaps it.
    for _ in 0..2 {
        assert!(is_readable(&waiter, None));
        let ended = end_of(pid, Reap::Not).unwrap().unwrap();
        assert_eq!(ended.how, How::Code(0));
    }
    end_of(pid, Reap::Now).unwrap().unwrap();
    assert_eq!(end_of(pid, Reap::Now), Err(Errno::CHILD));
}

#[test]
fn a_waiter_for_one_that_is_gone_tells_at_once() {
    let (pid, _reader) = start(&shell(""), false).unwrap();
    end_of(pid, Reap::Wait).unwrap().unwrap();
    assert!(is_readable(&Waiter::new(pid).unwrap(), None));
}
