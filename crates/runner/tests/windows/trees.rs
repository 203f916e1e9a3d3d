//! Time, cancellation, and everything that a command started.

use std::time::{Duration, Instant};

use palisade_runner::host::Host;
use palisade_runner::launch::{self, Driver, Launch, Live};
use palisade_runner::outcome::Outcome;
use palisade_runner::supervise::{Cancellation, Timing};

use super::harness::Test;
use super::stage::{DRIVERS, Stage, block_on, is_held, until};

pub(crate) const TESTS: &[Test] = &[
    ("a_timeout_ends_grandchildren", a_timeout_ends_grandchildren),
    (
        "a_cancelled_run_ends_grandchildren",
        a_cancelled_run_ends_grandchildren,
    ),
    (
        "a_dropped_future_ends_grandchildren",
        a_dropped_future_ends_grandchildren,
    ),
    (
        "what_is_left_behind_is_not_waited_for",
        what_is_left_behind_is_not_waited_for,
    ),
    (
        "who_does_not_look_throttles_a_flood",
        who_does_not_look_throttles_a_flood,
    ),
];

fn a_timeout_ends_grandchildren() {
    let stage = Stage::new();
    for (driver, name) in DRIVERS.into_iter().zip(["one", "two"]) {
        let file = stage.file(name);
        let mut launch = Launch::new(stage.act("parent", &[&file]));
        let wall = Duration::from_secs(4);
        launch.wall = Some(wall);
        let run = stage.run(launch, driver);
        assert_eq!(run.outcome, Outcome::TimedOut { after: wall });
        assert_eq!(run.output.stdout.text(), "started", "or nothing was tried");
        assert!(run.duration < wall + Duration::from_secs(20), "{run:?}");
        until("the grandchild is gone", || !is_held(&file));
    }
}

fn a_cancelled_run_ends_grandchildren() {
    let stage = Stage::new();
    for (driver, name) in DRIVERS.into_iter().zip(["one", "two"]) {
        let file = stage.file(name);
        let cancel = Cancellation::new();
        let mut launch = Launch::new(stage.act("parent", &[&file]));
        launch.cancel = cancel.clone();
        let theirs = file.clone();
        let other = std::thread::spawn(move || {
            until("the grandchild is there", || is_held(&theirs));
            cancel.cancel();
        });
        let run = stage.run(launch, driver);
        other.join().unwrap();
        assert_eq!(run.outcome, Outcome::Cancelled);
        until("the grandchild is gone", || !is_held(&file));
    }
}

fn a_dropped_future_ends_grandchildren() {
    let stage = Stage::new();
    let file = stage.file("held");
    let host = Host::new(palisade_policy::HostFacts::new(
        palisade_policy::Os::Windows,
    ));
    let placed = stage.bare();
    block_on(async {
        let launch = Launch::new(stage.act("parent", &[&file]));
        let run = launch::run(&host, &placed, launch, Driver::Tokio);
        let there = async {
            while !is_held(&file) {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::select! {
            run = run => panic!("{run:?}"),
            () = there => {}
        }
    });
    until("the grandchild is gone", || !is_held(&file));
}

fn what_is_left_behind_is_not_waited_for() {
    let stage = Stage::new();
    for (driver, name) in DRIVERS.into_iter().zip(["one", "two"]) {
        let file = stage.file(name);
        let mut launch = Launch::new(stage.act("leave", &[&file]));
        launch.timing = Timing::default().with_drain(Duration::from_millis(100));
        let started = Instant::now();
        let run = stage.run(launch, driver);
        assert_eq!(run.outcome, Outcome::Exited { code: 0 });
        assert_eq!(run.output.stdout.text(), "started");
        assert!(run.notes[0].contains("still held its output"), "{run:?}");
        assert!(started.elapsed() < Duration::from_secs(30), "{run:?}");
        assert!(is_held(&file), "it was left on purpose");
        std::fs::write(file.with_extension("stop"), "").unwrap();
        until("the grandchild is gone", || !is_held(&file));
    }
}

fn who_does_not_look_throttles_a_flood() {
    let stage = Stage::new();
    for driver in DRIVERS {
        let (sender, mut queue) = tokio::sync::mpsc::channel(1);
        let mut launch = Launch::new(stage.act("flood", &["64"]));
        launch.live = Live::Queue(sender);
        launch.wall = Some(Duration::from_secs(3));
        // What nobody takes is not waited for.
        launch.timing = Timing::default().with_drain(Duration::from_millis(300));
        let run = stage.run(launch, driver);
        // Nobody took anything, so it could not come to its end.
        assert!(matches!(run.outcome, Outcome::TimedOut { .. }), "{run:?}");
        let total = run.output.stdout.total();
        assert!(total < 8 * 1024 * 1024, "{total} bytes were taken");
        assert!(queue.try_recv().is_ok());
    }
}
