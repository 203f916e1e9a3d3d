//! A thousand launches, some at a time, against as many bare ones.

use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use palisade_runner::session::Session;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

use crate::rounds::{Subject, medians, rounds};
use crate::stage::Stage;

/// Launches in a round.
const MANY: usize = 1000;

pub(crate) fn compare(stage: &Stage) {
    let rounds = rounds(5);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let (confined, bare) = (stage.confined(), stage.bare());
    println!("{MANY} launches of /bin/true, {rounds} rounds\n");
    println!("| at a time | what | each | times bare |\n|---:|---|---:|---:|");
    for at_a_time in [1, 8, 64] {
        let mut subjects = [
            Subject::new("posix_spawn and wait", || spawned(at_a_time)),
            Subject::new("session, output()", || {
                awaited(&runtime, &confined, at_a_time)
            }),
            Subject::new("session, output_blocking()", || {
                blocking(&confined, at_a_time)
            }),
            Subject::new("no sandbox, output()", || {
                awaited(&runtime, &bare, at_a_time)
            }),
        ];
        let medians = medians(&mut subjects, rounds);
        let first = medians.first().copied().unwrap_or_default().as_secs_f64();
        for (subject, median) in subjects.iter().zip(&medians) {
            println!(
                "| {at_a_time} | {} | {:.0} us | {:.2} |",
                subject.name,
                median.as_secs_f64() * 1e6 / MANY as f64,
                median.as_secs_f64() / first
            );
        }
    }
}

/// So many threads that each launch until all have been launched.
fn threads(at_a_time: usize, launch: impl Fn() + Sync) {
    let begun = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..at_a_time {
            scope.spawn(|| {
                while begun.fetch_add(1, Ordering::Relaxed) < MANY {
                    launch();
                }
            });
        }
    });
}

fn spawned(at_a_time: usize) {
    threads(at_a_time, || {
        let status = Command::new("/bin/true")
            .env_clear()
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        assert!(status.unwrap().success());
    });
}

fn blocking(session: &Session, at_a_time: usize) {
    threads(at_a_time, || {
        let run = session.command("/bin/true").output_blocking().unwrap();
        assert!(run.outcome.success(), "{:?}", run.outcome);
    });
}

fn awaited(runtime: &Runtime, session: &Session, at_a_time: usize) {
    let begun = std::sync::Arc::new(AtomicUsize::new(0));
    runtime.block_on(async {
        let mut tasks = JoinSet::new();
        for _ in 0..at_a_time {
            let (session, begun) = (session.clone(), std::sync::Arc::clone(&begun));
            tasks.spawn(async move {
                while begun.fetch_add(1, Ordering::Relaxed) < MANY {
                    let run = session.command("/bin/true").output().await.unwrap();
                    assert!(run.outcome.success(), "{:?}", run.outcome);
                }
            });
        }
        tasks.join_all().await;
    });
}
