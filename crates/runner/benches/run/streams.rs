//! Output as it arrives, against a plain read of a pipe in the same runtime.

use std::io::ErrorKind;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use palisade_runner::session::{Command, Session};
use tokio::net::unix::pipe::Receiver;
use tokio::runtime::Runtime;

use crate::rounds::{Subject, medians, rounds};
use crate::stage::Stage;

/// What the command writes.
const MANY: u64 = 1024 * 1024 * 1024;

pub(crate) fn compare(stage: &Stage) {
    let rounds = rounds(7);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let (confined, bare) = (stage.confined(), stage.bare());
    // Large writes, so that whoever reads is what is measured.
    let writer = stage.program("exec dd if=/dev/zero bs=1M count=1024 status=none");
    let writer = writer.as_path();
    let mut subjects = [
        Subject::new("a pipe, read by tokio", || plain(&runtime, writer, None)),
        Subject::new("the same, with a pipe as large as a flood gets", || {
            plain(&runtime, writer, Some(256 * 1024));
        }),
        Subject::new("session, Child::next", || {
            next(&runtime, command(&confined, writer))
        }),
        Subject::new("session, output() with live", || {
            live(&runtime, command(&confined, writer))
        }),
        Subject::new("session, output()", || {
            quiet(&runtime, command(&confined, writer))
        }),
        Subject::new("no sandbox, output() with live", || {
            live(&runtime, command(&bare, writer))
        }),
        Subject::new("session, output_blocking()", || {
            blocking(command(&confined, writer))
        }),
    ];
    let medians = medians(&mut subjects, rounds);
    let first = medians.first().copied().unwrap_or_default().as_secs_f64();
    println!("1 GiB of output, {rounds} rounds\n");
    println!("| what | GiB/s | of a plain pipe |\n|---|---:|---:|");
    for (subject, median) in subjects.iter().zip(&medians) {
        let seconds = median.as_secs_f64();
        println!(
            "| {} | {:.2} | {:.2} |",
            subject.name,
            1.0 / seconds,
            first / seconds
        );
    }
    println!();
}

fn plain(runtime: &Runtime, writer: &Path, size: Option<usize>) {
    let mut child = std::process::Command::new(writer)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let pipe = OwnedFd::from(child.stdout.take().unwrap());
    if let Some(size) = size {
        rustix::pipe::fcntl_setpipe_size(&pipe, size).unwrap();
    }
    let read = runtime.block_on(async {
        let task = tokio::spawn(async move {
            let pipe = Receiver::from_owned_fd(pipe).unwrap();
            let mut buffer = vec![0; 64 * 1024];
            let mut total = 0;
            loop {
                pipe.readable().await.unwrap();
                match pipe.try_read(&mut buffer) {
                    Ok(0) => return total,
                    Ok(many) => total += many as u64,
                    Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
                }
            }
        });
        task.await.unwrap()
    });
    assert_eq!(read, MANY);
    assert!(child.wait().unwrap().success());
}

fn command(session: &Session, writer: &Path) -> Command {
    session.command(writer).no_timeout()
}

fn next(runtime: &Runtime, command: Command) {
    let read = runtime.block_on(async {
        let task = tokio::spawn(async move {
            let mut child = command.spawn().await.unwrap();
            let mut total = 0;
            while let Some(chunk) = child.next().await {
                total += chunk.bytes.len() as u64;
            }
            assert!(child.wait().await.outcome.success());
            total
        });
        task.await.unwrap()
    });
    assert_eq!(read, MANY);
}

fn live(runtime: &Runtime, command: Command) {
    let seen = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&seen);
    let command = command.live(move |chunk| {
        counter.fetch_add(chunk.bytes.len() as u64, Ordering::Relaxed);
    });
    let finished = runtime.block_on(async { tokio::spawn(command.output()).await.unwrap() });
    assert!(finished.unwrap().outcome.success());
    assert_eq!(seen.load(Ordering::Relaxed), MANY);
}

fn quiet(runtime: &Runtime, command: Command) {
    let finished = runtime.block_on(async { tokio::spawn(command.output()).await.unwrap() });
    assert!(finished.unwrap().outcome.success());
}

fn blocking(command: Command) {
    assert!(command.output_blocking().unwrap().outcome.success());
}
