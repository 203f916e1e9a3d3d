//! Both drivers against real processes: one table of cases, twice.

mod bytes;
mod ends;

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open};
use tokio::sync::mpsc;

use super::*;
use crate::capture::{Caps, Chunk, Stream};
use crate::launch::{Live, Stdin};

/// A bare process in a group of its own. Its tree is its group, which is enough for these cases.
struct Bare {
    child: Child,
    status: OwnedFd,
    ended: bool,
    /// How often its tree was killed.
    kills: usize,
}

impl Bare {
    fn start(command: &mut Command, input: Option<Stdin>) -> (Self, Streams) {
        let stdin = if input.is_some() {
            Stdio::piped()
        } else {
            Stdio::null()
        };
        let mut child = command
            .stdin(stdin)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .unwrap();
        let pid = Pid::from_child(&child);
        let status = pidfd_open(pid, PidfdFlags::empty()).unwrap();
        let streams = Streams {
            stdin: child.stdin.take().map(OwnedFd::from).zip(input),
            stdout: child.stdout.take().map(OwnedFd::from),
            stderr: child.stderr.take().map(OwnedFd::from),
            terminal: None,
        };
        let process = Self {
            child,
            status,
            ended: false,
            kills: 0,
        };
        (process, streams)
    }

    fn group(&self) -> Pid {
        Pid::from_child(&self.child)
    }
}

impl Watched for Bare {
    fn status(&self) -> BorrowedFd<'_> {
        self.status.as_fd()
    }

    fn try_end(&mut self) -> Result<Option<Ended>, NoEnd> {
        assert!(!self.ended, "an end is told once");
        let Some(status) = self.child.try_wait().unwrap() else {
            return Ok(None);
        };
        self.ended = true;
        let how = match (status.code(), status.signal()) {
            (Some(code), _) => How::Code(code),
            (_, signal) => How::Signal(signal.unwrap()),
        };
        let usage = Usage {
            max_rss_kib: 7,
            ..Usage::default()
        };
        Ok(Some(Ended { how, usage }))
    }

    fn signal(&self, signal: i32) {
        let signal = Signal::from_named_raw(signal).unwrap();
        let _ = rustix::process::kill_process_group(self.group(), signal);
    }

    fn kill_tree(&mut self) {
        self.kills += 1;
        self.signal(libc::SIGKILL);
    }
}

impl Drop for Bare {
    fn drop(&mut self) {
        self.signal(libc::SIGKILL);
        let _ = self.child.wait();
    }
}

/// Who waits.
#[derive(Clone, Copy, Debug)]
enum With {
    Poll,
    Tokio,
}

impl With {
    fn drive(self, process: &mut Bare, streams: Streams, plan: Plan) -> Watch {
        match self {
            Self::Poll => drive_blocking(process, streams, plan),
            Self::Tokio => tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap()
                .block_on(drive_tokio(process, streams, plan)),
        }
    }

    fn sh(self, script: &str, plan: Plan) -> Watch {
        self.feed(script, None, plan)
    }

    fn feed(self, script: &str, input: Option<Stdin>, plan: Plan) -> Watch {
        let (mut process, streams) = Bare::start(Command::new("sh").args(["-c", script]), input);
        self.drive(&mut process, streams, plan)
    }
}

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Time enough for a shell to begin also on a busy machine.
const HURRY: Duration = Duration::from_millis(1500);

/// Longer than anything that works takes on a busy machine, shorter than what the tests start sleeps.
const AGES: Duration = Duration::from_secs(45);

/// Ends soon; a grace of 200 ms.
fn hurried() -> Plan {
    Plan {
        wall: Some(HURRY),
        timing: Timing::default().with_grace(ms(200)),
        ..Plan::default()
    }
}

fn patient() -> Plan {
    Plan {
        wall: Some(Duration::from_secs(60)),
        ..Plan::default()
    }
}

/// Whether a process with this number is there and is no zombie.
fn runs(pid: &str) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
        !stat
            .rsplit(')')
            .next()
            .unwrap_or_default()
            .trim()
            .starts_with('Z')
    })
}

fn soon(what: &str, mut condition: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(20);
    while !condition() {
        assert!(Instant::now() < until, "never: {what}");
        std::thread::sleep(ms(2));
    }
}

/// Runs a case again, alone in a process of its own, and expects it to pass there.
fn alone_with(with: With, name: &str) {
    let module = match with {
        With::Poll => "with_poll",
        With::Tokio => "with_tokio",
    };
    again(&format!("supervise::tests::{module}::{name}"));
}

/// The same for a test about ends that has only one way.
fn alone(name: &str) {
    again(&format!("supervise::tests::ends::{name}"));
}

fn again(test: &str) {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test])
        .env(ALONE, "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}\n{text}", output.status);
    assert!(text.contains("1 passed"), "{text}");
}

/// Says to a test that nothing else runs in its process.
const ALONE: &str = "PALISADE_TEST_ALONE";

fn is_alone() -> bool {
    std::env::var_os(ALONE).is_some()
}

/// A line of this process's own status, in KiB.
fn memory(line: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let found = status
        .lines()
        .find_map(|found| found.strip_prefix(line))
        .unwrap();
    found
        .trim_matches(|c: char| !c.is_ascii_digit())
        .parse()
        .unwrap()
}

/// Every case with both drivers.
macro_rules! with_both {
    ($($file:ident: $($case:ident)*;)*) => {
        mod with_poll {
            $($(#[test] fn $case() { super::$file::$case(super::With::Poll); })*)*
        }
        mod with_tokio {
            $($(#[test] fn $case() { super::$file::$case(super::With::Tokio); })*)*
        }
    };
}

with_both! {
    ends:
        it_ends_by_itself
        it_closes_its_streams_and_sleeps
        a_grandchild_holds_the_pipe
        a_stopped_child_dies
        it_ignores_the_polite_signal
        it_obeys_and_leaves_somebody_behind
        somebody_cancels
        a_flood_starves_nobody
        waiting_is_not_working
    ;
    bytes:
        it_reads_ten_megabytes
        it_never_reads
        it_reads_a_queue
        a_consumer_never_reads
        a_consumer_is_slow
        a_consumer_leaves
        a_stream_keeps_its_order_to_the_end
        a_function_sees_everything
        a_terminal_ends_with_an_error
        a_flood_of_two_gigabytes_stays_within_the_caps
        a_closed_input_does_not_end_the_runner
    ;
}
