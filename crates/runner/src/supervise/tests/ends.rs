//! How runs end: by themselves, in time, too late, at a wish.

use super::*;

pub(super) fn it_ends_by_itself(with: With) {
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

pub(super) fn it_closes_its_streams_and_sleeps(with: With) {
    let watch = with.sh("exec >&- 2>&-; sleep 0.4; exit 5", patient());
    assert_eq!(watch.cause, Cause::Exited(5));
    let watch = with.sh("exec >&- 2>&-; exec sleep 60", hurried());
    assert_eq!(watch.cause, Cause::TimedOut(HURRY));
    assert!(
        watch.duration >= HURRY && watch.duration < AGES,
        "{:?}",
        watch.duration
    );
}

pub(super) fn a_grandchild_holds_the_pipe(with: With) {
    let (mut process, streams) = Bare::start(
        Command::new("sh").args(["-c", "sleep 60 & echo before; exit 4"]),
        None,
    );
    let watch = with.drive(&mut process, streams, patient());
    assert_eq!(watch.cause, Cause::Exited(4));
    assert_eq!(watch.output.stdout.text(), "before\n");
    assert!(
        watch.duration >= ms(250) && watch.duration < AGES,
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

pub(super) fn a_stopped_child_dies(with: With) {
    let watch = with.sh("kill -STOP $$; echo went on", hurried());
    assert_eq!(watch.cause, Cause::TimedOut(HURRY));
    assert!(watch.duration < AGES);
    // One that stops again when it is told to go on.
    let watch = with.sh(
        "trap 'kill -STOP $$' TERM CONT; kill -STOP $$; kill -STOP $$",
        hurried(),
    );
    assert_eq!(watch.cause, Cause::TimedOut(HURRY));
    assert!(
        watch.duration >= HURRY + ms(200) && watch.duration < AGES,
        "{:?}",
        watch.duration
    );
}

pub(super) fn it_ignores_the_polite_signal(with: With) {
    let watch = with.sh(
        "trap '' TERM; echo ready; while :; do sleep 1; done",
        hurried(),
    );
    assert_eq!(watch.cause, Cause::TimedOut(HURRY));
    assert_eq!(watch.output.stdout.text(), "ready\n");
    assert!(
        watch.duration >= HURRY + ms(200) && watch.duration < AGES,
        "{:?}",
        watch.duration
    );
}

pub(super) fn it_obeys_and_leaves_somebody_behind(with: With) {
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
    assert_eq!(watch.cause, Cause::TimedOut(HURRY));
    let text = watch.output.stdout.text();
    assert!(text.ends_with("bye\n"), "{text}");
    assert!(watch.duration < AGES, "the grace is for who needs it");
    assert_eq!(process.kills, 1);
    let left = text.lines().next().unwrap().to_owned();
    soon("the one left behind ends", || !runs(&left));
}

pub(super) fn somebody_cancels(with: With) {
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
    assert!(watch.duration < AGES);

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

pub(super) fn a_flood_starves_nobody(with: With) {
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
    assert!(watch.duration < AGES, "{:?}", watch.duration);

    let watch = with.sh("cat /dev/zero & cat /dev/zero >&2", hurried());
    assert_eq!(watch.cause, Cause::TimedOut(HURRY));
    assert!(watch.output.stderr.total() > 0 && watch.output.stdout.total() > 0);
    assert!(watch.duration < AGES, "{:?}", watch.duration);

    // A grandchild that floods gets no more than the drain time.
    let watch = with.sh("cat /dev/zero & exit 0", patient());
    assert_eq!(watch.cause, Cause::Exited(0));
    assert!(watch.duration < AGES, "{:?}", watch.duration);
}

/// Time that this thread has had on a processor.
fn busy() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanos = text.split_whitespace().next()?.parse().ok()?;
    Some(Duration::from_nanos(nanos))
}

pub(super) fn waiting_is_not_working(with: With) {
    let Some(before) = busy() else {
        let why = "skipped: this kernel does not count the time of threads";
        let _ = std::io::Write::write_fmt(&mut std::io::stderr(), format_args!("{why}\n"));
        return;
    };
    // The command hung up on its input while the queue is still open, and on its output while a chunk waits for who
    // looks on: both descriptors are ready for ever, and nobody wants them.
    let (input, source) = mpsc::channel::<Vec<u8>>(1);
    let (live, output) = mpsc::channel(1);
    let plan = Plan {
        live: Live::Queue(live),
        timing: Timing::default().with_drain(ms(1000)),
        ..patient()
    };
    let script = "exec <&-; echo a; sleep 0.1; echo b; exec >&-; sleep 1";
    let watch = with.feed(script, Some(Stdin::Queue(source)), plan);
    assert_eq!(watch.cause, Cause::Exited(0));
    assert_eq!(watch.output.stdout.text(), "a\nb\n");
    assert!(watch.duration >= ms(2000), "{:?}", watch.duration);
    let worked = busy().unwrap() - before;
    assert!(worked < ms(300), "{worked:?} of {:?}", watch.duration);
    drop((input, output));
}

/// A process whose end cannot be told.
struct Lost(Bare);

impl Watched for Lost {
    fn status(&self) -> BorrowedFd<'_> {
        self.0.status()
    }
    fn try_end(&mut self) -> Result<Option<Ended>, NoEnd> {
        Err(NoEnd::Lost("the helper is gone".to_owned()))
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
    assert!(matches!(watch.cause, Cause::Lost(why) if why == "the helper is gone"));
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
fn the_future_can_be_sent_and_kills_even_if_it_never_ran() {
    fn sent<T: Send>(value: T) -> T {
        value
    }
    let (mut process, streams) = Bare::start(Command::new("true").arg(""), None);
    drop(sent(drive_tokio(&mut process, streams, patient())));
    assert_eq!(process.kills, 1);
}

#[test]
fn a_panic_of_who_looks_on_leaves_nobody_behind() {
    let (mut process, streams) = Bare::start(
        Command::new("sh").args(["-c", "echo hello; exec sleep 60"]),
        None,
    );
    let plan = Plan {
        live: Live::Call(Box::new(|_| panic!("on purpose"))),
        ..patient()
    };
    let run = std::panic::AssertUnwindSafe(|| drive_blocking(&mut process, streams, plan));
    assert!(std::panic::catch_unwind(run).is_err());
    assert_eq!(process.kills, 1);
}

#[test]
fn without_a_runtime_it_is_killed_and_says_so() {
    let (mut process, streams) = Bare::start(Command::new("sleep").arg("60"), None);
    let watch = block_on::block_on(drive_tokio(&mut process, streams, patient()));
    assert!(matches!(watch.cause, Cause::Lost(why) if why.contains("runtime")));
    assert_eq!(process.kills, 1);
}

#[test]
fn many_at_once_leave_nothing_behind() {
    if !is_alone() {
        return alone("many_at_once_leave_nothing_behind");
    }
    let open = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    let threads = || std::fs::read_dir("/proc/self/task").unwrap().count();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let cancel = Cancellation::new();
    let one = |number: i32, cancel: &Cancellation| {
        let script = if number % 2 == 0 {
            format!("echo {number}; exit {number}")
        } else {
            "exec sleep 60".to_owned()
        };
        let (mut process, streams) = Bare::start(Command::new("sh").args(["-c", &script]), None);
        let plan = Plan {
            cancel: cancel.clone(),
            wall: None,
            ..Plan::default()
        };
        runtime.spawn(async move { drive_tokio(&mut process, streams, plan).await })
    };
    // The runtime opens what it needs once.
    let first = one(0, &cancel);
    assert_eq!(runtime.block_on(first).unwrap().cause, Cause::Exited(0));
    let before = (open(), threads());
    let runs: Vec<_> = (0..100).map(|number| one(number, &cancel)).collect();
    let (by_themselves, by_wish): (Vec<_>, Vec<_>) = runs
        .into_iter()
        .enumerate()
        .partition(|(number, _)| number % 2 == 0);
    for (number, run) in by_themselves {
        let watch = runtime.block_on(run).unwrap();
        assert_eq!(watch.cause, Cause::Exited(i32::try_from(number).unwrap()));
        assert_eq!(watch.output.stdout.text(), format!("{number}\n"));
    }
    cancel.cancel();
    for (_, run) in by_wish {
        assert_eq!(runtime.block_on(run).unwrap().cause, Cause::Cancelled);
    }
    assert_eq!((open(), threads()), before);
}
