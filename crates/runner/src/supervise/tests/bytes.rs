//! What goes in and what comes out.

use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use super::super::descriptor::{Ready, WriteMode};
use super::super::pump::{Guard, Parts, Pump};
use super::*;

pub(super) fn it_reads_ten_megabytes(with: With) {
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

pub(super) fn it_never_reads(with: With) {
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
    assert_eq!(watch.cause, Cause::TimedOut(HURRY));
    let watch = with.feed("cat; echo over", Some(Stdin::Bytes(Vec::new())), patient());
    assert_eq!(watch.output.stdout.text(), "over\n");
}

pub(super) fn it_reads_a_queue(with: With) {
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
    assert_eq!(watch.cause, Cause::TimedOut(HURRY));
    let sent = thread.join().unwrap();
    assert!(
        sent <= 4,
        "{sent} pieces went into a pipe and a queue of one"
    );
}

pub(super) fn a_consumer_never_reads(with: With) {
    let (sender, receiver) = mpsc::channel(1);
    let live = Live::Queue(sender);
    let started = Instant::now();
    let watch = with.sh(
        "head -c 10000000 /dev/zero; echo never",
        Plan { live, ..hurried() },
    );
    assert_eq!(
        watch.cause,
        Cause::TimedOut(HURRY),
        "the command waits for its reader"
    );
    assert!(started.elapsed() < AGES, "{:?}", started.elapsed());
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
    assert!(started.elapsed() < AGES, "{:?}", started.elapsed());
    drop(receiver);
}

pub(super) fn a_consumer_is_slow(with: With) {
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

pub(super) fn a_consumer_leaves(with: With) {
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

pub(super) fn a_function_sees_everything(with: With) {
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

pub(super) fn a_terminal_ends_with_an_error(with: With) {
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

pub(super) fn a_flood_of_two_gigabytes_stays_within_the_caps(with: With) {
    if !is_alone() {
        return alone_with(with, "a_flood_of_two_gigabytes_stays_within_the_caps");
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

pub(super) fn a_closed_input_does_not_end_the_runner(with: With) {
    if !is_alone() {
        return alone_with(with, "a_closed_input_does_not_end_the_runner");
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

pub(super) fn a_stream_keeps_its_order_to_the_end(with: With) {
    for _ in 0..20 {
        let (sender, mut receiver) = mpsc::channel::<Chunk>(1);
        let thread = std::thread::spawn(move || {
            let mut all = Vec::new();
            while let Some(chunk) = receiver.blocking_recv() {
                all.extend(chunk.bytes);
                std::thread::sleep(ms(1));
            }
            all
        });
        let plan = Plan {
            live: Live::Queue(sender),
            // Nearly everything is left over when waiting is over.
            timing: Timing::default().with_drain(ms(15)),
            ..patient()
        };
        let watch = with.sh("seq 20000 20100; seq 10000 22000; sleep 0.02; seq 3", plan);
        assert_eq!(watch.cause, Cause::Exited(0));
        assert!(watch.output.stdout.is_whole());
        let all = thread.join().unwrap();
        let captured = watch.output.stdout.bytes();
        assert!(
            captured.starts_with(&all),
            "what is seen live is what was written, in order"
        );
        if watch.notes.is_empty() {
            assert_eq!(captured.len(), all.len());
        }
    }
}

/// A port where somebody looks on takes a chunk at the third look at its descriptor.
struct Interrupted {
    descriptor: OwnedFd,
    looks: Mutex<usize>,
    queue: Arc<Mutex<mpsc::Receiver<Chunk>>>,
    taken: Arc<Mutex<Vec<Chunk>>>,
}

impl Ready for Interrupted {
    fn poll_io<R>(
        &mut self,
        _: &mut Context<'_>,
        _: impl FnMut(BorrowedFd<'_>) -> rustix::io::Result<R>,
    ) -> Poll<rustix::io::Result<R>> {
        Poll::Pending
    }

    fn descriptor(&self) -> BorrowedFd<'_> {
        let mut looks = self.looks.lock().unwrap();
        *looks += 1;
        if *looks == 3 {
            let chunk = self.queue.lock().unwrap().try_recv().unwrap();
            self.taken.lock().unwrap().push(chunk);
        }
        self.descriptor.as_fd()
    }

    fn mode(&self) -> WriteMode {
        WriteMode::Plain
    }
}

#[test]
fn room_in_the_middle_of_the_rest_changes_no_order() {
    const BLOCK: usize = 64 * 1024;
    let (mut process, _) = Bare::start(Command::new("sleep").arg("60"), None);
    let (reader, writer) = rustix::pipe::pipe().unwrap();
    rustix::pipe::fcntl_setpipe_size(&writer, 4 * BLOCK).unwrap();
    for byte in *b"123" {
        let wrote = rustix::io::write(&writer, &vec![byte; BLOCK]);
        assert_eq!(wrote, Ok(BLOCK));
    }
    let (sender, receiver) = mpsc::channel(1);
    let first = Chunk::new(Stream::Stdout, b"0".to_vec());
    sender.try_send(first).unwrap();
    let queue = Arc::new(Mutex::new(receiver));
    let taken = Arc::new(Mutex::new(Vec::new()));
    let streams = Streams {
        stdout: Some(reader),
        ..Streams::default()
    };
    let plan = Plan {
        live: Live::Queue(sender),
        ..Plan::default()
    };
    let port = |descriptor, _| {
        Ok(Interrupted {
            descriptor,
            looks: Mutex::new(0),
            queue: queue.clone(),
            taken: taken.clone(),
        })
    };
    let pump = Pump::new(
        Guard::new(&mut process),
        None,
        Parts { plan, streams },
        port,
    )
    .unwrap();
    let (watch, mut backlog) = pump.finish(Duration::ZERO);
    assert_eq!(watch.output.stdout.total(), 3 * BLOCK as u64);
    let mut cx = Context::from_waker(Waker::noop());
    for _ in 0..4 {
        let _ = backlog.step(&mut cx, Duration::ZERO);
        taken
            .lock()
            .unwrap()
            .extend(queue.lock().unwrap().try_recv());
    }
    let order: Vec<u8> = taken
        .lock()
        .unwrap()
        .iter()
        .map(|chunk| chunk.bytes[0])
        .collect();
    assert_eq!(order, b"0123");
    drop(writer);
}
