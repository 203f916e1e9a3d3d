//! Both drivers against real processes: one table of cases, twice.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open};
use tokio::sync::mpsc;

use super::*;
use crate::capture::{Caps, Chunk, Stream};
use crate::launch::{Live, Stdin};
use crate::outcome::SetupFailure;

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

    fn try_end(&mut self) -> Result<Option<Ended>, SetupFailure> {
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

/// Ends after 300 ms; a grace of 200 ms.
fn hurried() -> Plan {
    Plan {
        wall: Some(ms(300)),
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

fn it_ends_by_itself(with: With) {
    let watch = with.sh("echo out; echo err >&2; exit 3", patient());
    assert_eq!(watch.cause, Cause::Exited(3));
    assert_eq!(watch.output.stdout.text(), "out\n");
    assert_eq!(watch.output.stderr.text(), "err\n");
    assert_eq!(watch.output.aggregated.total(), 8);
    assert_eq!(watch.usage.max_rss_kib, 7);
    assert_eq!(watch.notes, Vec::<String>::new());
    let watch = with.sh("kill -USR1 $$", patient());
    assert_eq!(watch.cause, Cause::Signaled(libc::SIGUSR1));
}

fn it_closes_its_streams_and_sleeps(with: With) {
    let watch = with.sh("exec >&- 2>&-; sleep 0.4; exit 5", patient());
    assert_eq!(watch.cause, Cause::Exited(5));
    assert!(watch.duration >= ms(400));
    let watch = with.sh("exec >&- 2>&-; exec sleep 60", hurried());
    assert_eq!(watch.cause, Cause::TimedOut(ms(300)));
    assert!(
        watch.duration >= ms(300) && watch.duration < ms(3000),
        "{:?}",
        watch.duration
    );
}

fn a_grandchild_holds_the_pipe(with: With) {
    let (mut process, streams) = Bare::start(
        Command::new("sh").args(["-c", "sleep 60 & echo before; exit 4"]),
        None,
    );
    let watch = with.drive(&mut process, streams, patient());
    assert_eq!(watch.cause, Cause::Exited(4));
    assert_eq!(watch.output.stdout.text(), "before\n");
    assert!(
        watch.duration >= ms(250) && watch.duration < ms(5000),
        "{:?}",
        watch.duration
    );
    assert!(
        watch.notes.iter().any(|note| note.contains("still held")),
        "{:?}",
        watch.notes
    );
    assert_eq!(process.kills, 0);
}

fn a_stopped_child_dies(with: With) {
    let watch = with.sh("kill -STOP $$; echo went on", hurried());
    assert_eq!(watch.cause, Cause::TimedOut(ms(300)));
    assert!(watch.duration < ms(3000));
    // One that stops again when it is told to go on.
    let watch = with.sh(
        "trap 'kill -STOP $$' TERM CONT; kill -STOP $$; kill -STOP $$",
        hurried(),
    );
    assert_eq!(watch.cause, Cause::TimedOut(ms(300)));
    assert!(
        watch.duration >= ms(500) && watch.duration < ms(4000),
        "{:?}",
        watch.duration
    );
}

fn it_ignores_the_polite_signal(with: With) {
    let watch = with.sh(
        "trap '' TERM; echo ready; while :; do sleep 1; done",
        hurried(),
    );
    assert_eq!(watch.cause, Cause::TimedOut(ms(300)));
    assert_eq!(watch.output.stdout.text(), "ready\n");
    assert!(
        watch.duration >= ms(500) && watch.duration < ms(4000),
        "{:?}",
        watch.duration
    );
}

fn it_obeys_and_leaves_somebody_behind(with: With) {
    let script = "(trap '' TERM; echo $BASHPID; while :; do sleep 1; done) & trap 'echo bye; exit 9' TERM; wait";
    let (mut process, streams) = Bare::start(Command::new("bash").args(["-c", script]), None);
    let watch = with.drive(
        &mut process,
        streams,
        Plan {
            timing: Timing::default().with_grace(Duration::from_secs(30)),
            ..hurried()
        },
    );
    assert_eq!(watch.cause, Cause::TimedOut(ms(300)));
    let text = watch.output.stdout.text();
    assert!(text.ends_with("bye\n"), "{text}");
    assert!(watch.duration < ms(5000), "the grace is for who needs it");
    assert_eq!(process.kills, 1);
    let left = text.lines().next().unwrap().to_owned();
    soon("the one left behind ends", || !runs(&left));
}

fn somebody_cancels(with: With) {
    let cancel = Cancellation::new();
    let other = cancel.clone();
    let (sender, mut receiver) = mpsc::channel(4);
    let thread = std::thread::spawn(move || {
        let first: Chunk = receiver.blocking_recv().unwrap();
        other.cancel();
        first
    });
    let watch = with.sh(
        "echo up; exec sleep 60",
        Plan {
            cancel,
            live: Live::Queue(sender),
            ..patient()
        },
    );
    assert_eq!(watch.cause, Cause::Cancelled);
    assert_eq!(
        thread.join().unwrap(),
        Chunk::new(Stream::Stdout, b"up\n".to_vec())
    );
    assert!(watch.duration < ms(10_000));

    let cancel = Cancellation::new();
    cancel.cancel();
    let watch = with.sh(
        "exec sleep 60",
        Plan {
            cancel: cancel.clone(),
            ..patient()
        },
    );
    assert_eq!(
        watch.cause,
        Cause::Cancelled,
        "a wish from before the start counts"
    );
}

fn it_reads_ten_megabytes(with: With) {
    let input: Vec<u8> = (0..10 * 1024 * 1024_u32).map(|n| (n % 251) as u8).collect();
    let plan = Plan {
        caps: Caps::new(usize::MAX, 0),
        ..patient()
    };
    let watch = with.feed("exec cat", Some(Stdin::Bytes(input.clone())), plan);
    assert_eq!(watch.cause, Cause::Exited(0));
    assert!(watch.output.stdout.head == input);
    assert!(watch.output.aggregated == watch.output.stdout);
}

fn it_never_reads(with: With) {
    let big = vec![b'x'; 10 * 1024 * 1024];
    let watch = with.feed(
        "sleep 0.1; echo done",
        Some(Stdin::Bytes(big.clone())),
        patient(),
    );
    assert_eq!(watch.cause, Cause::Exited(0));
    assert_eq!(watch.output.stdout.text(), "done\n");
    let watch = with.feed(
        "exec <&-; sleep 0.1; exit 6",
        Some(Stdin::Bytes(big.clone())),
        patient(),
    );
    assert_eq!(watch.cause, Cause::Exited(6));
    let watch = with.feed("exec sleep 60", Some(Stdin::Bytes(big)), hurried());
    assert_eq!(watch.cause, Cause::TimedOut(ms(300)));
    let watch = with.feed("cat; echo over", Some(Stdin::Bytes(Vec::new())), patient());
    assert_eq!(watch.output.stdout.text(), "over\n");
}

fn it_reads_a_queue(with: With) {
    let (sender, receiver) = mpsc::channel(1);
    let (live, mut echoes) = mpsc::channel(1);
    let thread = std::thread::spawn(move || {
        for line in ["one\n", "two\n", "three\n"] {
            sender.blocking_send(line.as_bytes().to_vec()).unwrap();
            // Each line comes back before the next one goes out: nothing waits for the end.
            let echo: Chunk = echoes.blocking_recv().unwrap();
            assert_eq!(echo.bytes, line.as_bytes());
        }
    });
    let plan = Plan {
        live: Live::Queue(live),
        ..patient()
    };
    let watch = with.feed("exec cat", Some(Stdin::Queue(receiver)), plan);
    thread.join().unwrap();
    assert_eq!(watch.cause, Cause::Exited(0));
    assert_eq!(watch.output.stdout.text(), "one\ntwo\nthree\n");

    // A command that does not read fills its pipe, and then the queue is full.
    let (sender, receiver) = mpsc::channel(1);
    let thread = std::thread::spawn(move || {
        let mut sent = 0_usize;
        while sender.blocking_send(vec![b'x'; 64 * 1024]).is_ok() {
            sent += 1;
        }
        sent
    });
    let watch = with.feed("exec sleep 60", Some(Stdin::Queue(receiver)), hurried());
    assert_eq!(watch.cause, Cause::TimedOut(ms(300)));
    let sent = thread.join().unwrap();
    assert!(
        sent <= 4,
        "{sent} pieces went into a pipe and a queue of one"
    );
}

fn a_consumer_never_reads(with: With) {
    let (sender, receiver) = mpsc::channel(1);
    let live = Live::Queue(sender);
    let started = Instant::now();
    let watch = with.sh(
        "head -c 10000000 /dev/zero; echo never",
        Plan { live, ..hurried() },
    );
    assert_eq!(
        watch.cause,
        Cause::TimedOut(ms(300)),
        "the command waits for its reader"
    );
    assert!(started.elapsed() < ms(4000), "{:?}", started.elapsed());
    assert!(watch.output.stdout.total() < 3_000_000, "it was held back");
    assert!(
        watch.notes.iter().any(|note| note.contains("live output")),
        "{:?}",
        watch.notes
    );
    drop(receiver);

    // It ends by itself: who looks on is waited for, but not for ever; and what it wrote is captured all the same.
    let (sender, receiver) = mpsc::channel(1);
    let live = Live::Queue(sender);
    let started = Instant::now();
    let watch = with.sh(
        "echo a; sleep 0.1; echo b; sleep 0.1; echo c",
        Plan { live, ..patient() },
    );
    assert_eq!(watch.cause, Cause::Exited(0));
    assert_eq!(watch.output.stdout.text(), "a\nb\nc\n");
    assert!(started.elapsed() < ms(5000), "{:?}", started.elapsed());
    drop(receiver);
}

fn a_consumer_is_slow(with: With) {
    let (sender, mut receiver) = mpsc::channel::<Chunk>(1);
    let thread = std::thread::spawn(move || {
        let mut total = 0;
        while let Some(chunk) = receiver.blocking_recv() {
            total += chunk.bytes.len();
            std::thread::sleep(ms(60));
        }
        total
    });
    let plan = Plan {
        live: Live::Queue(sender),
        ..patient()
    };
    // Most of it is still on its way when the command ends.
    let watch = with.sh(
        "head -c 60000 /dev/zero; sleep 0.02; head -c 60000 /dev/zero >&2",
        plan,
    );
    assert_eq!(watch.cause, Cause::Exited(0));
    assert_eq!(watch.output.aggregated.total(), 120_000);
    assert_eq!(watch.notes, Vec::<String>::new());
    assert_eq!(
        thread.join().unwrap(),
        120_000,
        "nothing is lost to who reads, slow as they are"
    );
}

fn a_consumer_leaves(with: With) {
    let (sender, receiver) = mpsc::channel(1);
    drop(receiver);
    let live = Live::Queue(sender);
    let watch = with.sh("head -c 3000000 /dev/zero", Plan { live, ..patient() });
    assert_eq!(watch.cause, Cause::Exited(0));
    assert_eq!(watch.output.stdout.total(), 3_000_000);

    // While it is waited for.
    let (sender, mut receiver) = mpsc::channel(1);
    let thread = std::thread::spawn(move || receiver.blocking_recv().is_some());
    let live = Live::Queue(sender);
    let watch = with.sh("head -c 3000000 /dev/zero", Plan { live, ..patient() });
    assert!(thread.join().unwrap());
    assert_eq!(watch.cause, Cause::Exited(0));
    assert_eq!(watch.output.stdout.total(), 3_000_000);
}

fn a_function_sees_everything(with: With) {
    let (sender, receiver) = std::sync::mpsc::channel();
    let live = Live::Call(Box::new(move |chunk| {
        sender.send((chunk.stream, chunk.bytes.len())).unwrap();
    }));
    let watch = with.sh(
        "head -c 3000000 /dev/zero; echo oops >&2",
        Plan { live, ..patient() },
    );
    assert_eq!(watch.cause, Cause::Exited(0));
    let seen: Vec<(Stream, usize)> = receiver.iter().collect();
    let total = |wanted| -> usize {
        seen.iter()
            .filter(|(stream, _)| *stream == wanted)
            .map(|(_, many)| many)
            .sum()
    };
    assert_eq!(
        (total(Stream::Stdout), total(Stream::Stderr)),
        (3_000_000, 5)
    );
}

fn a_flood_starves_nobody(with: With) {
    let cancel = Cancellation::new();
    let other = cancel.clone();
    let live = Live::Call(Box::new(move |chunk| {
        if chunk.stream == Stream::Stderr {
            other.cancel();
        }
    }));
    let plan = Plan {
        cancel,
        live,
        ..patient()
    };
    let watch = with.sh("cat /dev/zero & sleep 0.2; echo here >&2; wait", plan);
    assert_eq!(watch.cause, Cause::Cancelled);
    assert_eq!(watch.output.stderr.text(), "here\n");
    assert!(watch.duration < ms(20_000), "{:?}", watch.duration);

    let watch = with.sh("cat /dev/zero & cat /dev/zero >&2", hurried());
    assert_eq!(watch.cause, Cause::TimedOut(ms(300)));
    assert!(watch.output.stderr.total() > 0 && watch.output.stdout.total() > 0);
    assert!(watch.duration < ms(10_000), "{:?}", watch.duration);

    // A grandchild that floods gets no more than the drain time.
    let watch = with.sh("cat /dev/zero & exit 0", patient());
    assert_eq!(watch.cause, Cause::Exited(0));
    assert!(watch.duration < ms(10_000), "{:?}", watch.duration);
}

fn a_terminal_ends_with_an_error(with: With) {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
    let slave = || {
        std::fs::OpenOptions::new()
            .read(true)
            .write(true)
            .open(&name)
            .unwrap()
    };
    let child = Command::new("sh")
        .args(["-c", "read line; echo got $line; cat >/dev/null; echo bye"])
        .stdin(slave())
        .stdout(slave())
        .stderr(slave())
        .process_group(0)
        .spawn()
        .unwrap();
    let status = pidfd_open(Pid::from_child(&child), PidfdFlags::empty()).unwrap();
    let mut process = Bare {
        child,
        status,
        ended: false,
        kills: 0,
    };
    let streams = Streams {
        stdin: Some((
            master.try_clone().unwrap(),
            Stdin::Bytes(b"a line\nand a half".to_vec()),
        )),
        terminal: Some(master),
        ..Streams::default()
    };
    let watch = with.drive(&mut process, streams, patient());
    assert_eq!(watch.cause, Cause::Exited(0));
    let text = watch.output.stdout.text().into_owned();
    assert!(
        text.contains("got a line") && text.trim_end().ends_with("bye"),
        "{text:?}"
    );
    assert_eq!(watch.notes, Vec::<String>::new());
}

/// A process whose end cannot be told.
struct Lost(Bare);

impl Watched for Lost {
    fn status(&self) -> BorrowedFd<'_> {
        self.0.status()
    }
    fn try_end(&mut self) -> Result<Option<Ended>, SetupFailure> {
        Err(SetupFailure::new("helper", Some(32), "the helper is gone"))
    }
    fn signal(&self, signal: i32) {
        self.0.signal(signal);
    }
    fn kill_tree(&mut self) {
        self.0.kill_tree();
    }
}

#[test]
fn a_process_that_cannot_be_watched_is_killed() {
    let (process, streams) =
        Bare::start(Command::new("sh").args(["-c", "echo said; exit 0"]), None);
    let mut lost = Lost(process);
    let watch = drive_blocking(&mut lost, streams, patient());
    assert!(matches!(watch.cause, Cause::Failed(failure) if failure.step == "helper"));
    assert_eq!(watch.output.stdout.text(), "said\n");
    assert_eq!(lost.0.kills, 1);
}

#[test]
fn a_future_that_is_dropped_kills_the_tree() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let (mut process, streams) = Bare::start(
        Command::new("sh").args(["-c", "trap '' TERM; sleep 60 & echo $!; wait"]),
        None,
    );
    let (sender, mut receiver) = mpsc::channel(1);
    let plan = Plan {
        live: Live::Queue(sender),
        ..patient()
    };
    let pid = runtime.block_on(async {
        let run = tokio::time::timeout(ms(60_000), drive_tokio(&mut process, streams, plan));
        tokio::select! {
            _ = run => panic!("it does not end"),
            chunk = receiver.recv() => String::from_utf8(chunk.unwrap().bytes).unwrap(),
        }
    });
    assert_eq!(process.kills, 1);
    soon("the grandchild ends", || !runs(pid.trim()));
}

#[test]
fn the_future_can_be_sent() {
    fn sent<T: Send>(value: T) -> T {
        value
    }
    let (mut process, streams) = Bare::start(Command::new("true").arg(""), None);
    drop(sent(drive_tokio(&mut process, streams, patient())));
}

#[test]
fn without_a_runtime_it_is_killed_and_says_so() {
    let (mut process, streams) = Bare::start(Command::new("sleep").arg("60"), None);
    let watch = block_on::block_on(drive_tokio(&mut process, streams, patient()));
    assert!(matches!(watch.cause, Cause::Failed(failure) if failure.message.contains("runtime")));
    assert_eq!(process.kills, 1);
}

/// Runs a test of this file again, alone in a process of its own, and expects it to pass there.
fn alone(with: With, name: &str) {
    let module = match with {
        With::Poll => "with_poll",
        With::Tokio => "with_tokio",
    };
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &format!("supervise::tests::{module}::{name}")])
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

fn a_flood_of_two_gigabytes_stays_within_the_caps(with: With) {
    if !is_alone() {
        return alone(with, "a_flood_of_two_gigabytes_stays_within_the_caps");
    }
    let size = 2 * 1024 * 1024 * 1024_u64;
    let before = memory("VmRSS:");
    let (sender, mut receiver) = mpsc::channel::<Chunk>(16);
    let thread = std::thread::spawn(move || {
        let mut total = 0;
        while let Some(chunk) = receiver.blocking_recv() {
            total += chunk.bytes.len() as u64;
        }
        total
    });
    let plan = Plan {
        live: Live::Queue(sender),
        wall: Some(Duration::from_secs(300)),
        ..Plan::default()
    };
    let watch = with.sh(&format!("head -c {size} /dev/zero; exit 42"), plan);
    assert_eq!(watch.cause, Cause::Exited(42));
    assert_eq!(watch.output.stdout.total(), size);
    assert_eq!(watch.output.stdout.omitted, size - 1024 * 1024);
    assert_eq!(thread.join().unwrap(), size);
    // Two captures of a megabyte each, and 16 MiB.
    let grown = memory("VmHWM:").saturating_sub(before);
    assert!(grown <= (2 + 16) * 1024, "{grown} KiB");
}

fn a_closed_input_does_not_end_the_runner(with: With) {
    if !is_alone() {
        return alone(with, "a_closed_input_does_not_end_the_runner");
    }
    sys::let_broken_pipes_kill();
    assert!(sys::broken_pipes_signal());
    let big = vec![b'x'; 1024 * 1024];
    let watch = with.feed(
        "exec <&-; sleep 0.1; exit 6",
        Some(Stdin::Bytes(big)),
        patient(),
    );
    assert_eq!(watch.cause, Cause::Exited(6));
}

/// Both drivers, one after the other: what they measure is time and memory.
macro_rules! with_both {
    ($($case:ident)*) => {
        mod with_poll {
            $(#[test] fn $case() { super::$case(super::With::Poll); })*
        }
        mod with_tokio {
            $(#[test] fn $case() { super::$case(super::With::Tokio); })*
        }
    };
}

with_both! {
    it_ends_by_itself
    it_closes_its_streams_and_sleeps
    a_grandchild_holds_the_pipe
    a_stopped_child_dies
    it_ignores_the_polite_signal
    it_obeys_and_leaves_somebody_behind
    somebody_cancels
    it_reads_ten_megabytes
    it_never_reads
    it_reads_a_queue
    a_consumer_never_reads
    a_consumer_is_slow
    a_consumer_leaves
    a_function_sees_everything
    a_flood_starves_nobody
    a_terminal_ends_with_an_error
    a_flood_of_two_gigabytes_stays_within_the_caps
    a_closed_input_does_not_end_the_runner
}
