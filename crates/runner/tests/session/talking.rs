//! Talking to a command while it runs.

use palisade_runner::capture::Stream;
use palisade_runner::launch::WindowSize;
use palisade_runner::outcome::Outcome;

use crate::support::Stage;

#[tokio::test]
async fn what_is_written_comes_back_as_it_is_read() {
    let stage = Stage::new();
    let session = stage.quiet();
    let mut child = session.command("cat").spawn().await.unwrap();
    for word in ["one\n", "two\n"] {
        assert!(child.write(word).await);
        let chunk = child.next().await.unwrap();
        assert_eq!((chunk.stream, chunk.bytes), (Stream::Stdout, word.into()));
    }
    child.close_stdin();
    assert!(child.next().await.is_none());
    let run = child.wait().await;
    assert!(run.outcome.success());
    assert_eq!(run.output.stdout.text(), "one\ntwo\n");
}

#[tokio::test]
async fn a_terminal_has_the_size_that_it_was_given_and_then_another() {
    let stage = Stage::new();
    let session = stage.quiet();
    let size = |rows, columns| WindowSize { rows, columns };
    let mut child = session
        .script("trap 'stty size; exit 0' WINCH; stty size; while :; do sleep 0.05; done")
        .terminal(size(24, 80))
        .spawn()
        .await
        .unwrap();
    let mut seen = String::new();
    while !seen.contains("24 80") {
        seen.push_str(&String::from_utf8_lossy(&child.next().await.unwrap().bytes));
    }
    child.resize(size(50, 132));
    let run = child.wait().await;
    assert!(
        run.output.stdout.text().contains("50 132"),
        "{}",
        run.output.stdout.text()
    );
}

#[tokio::test]
async fn a_signal_reaches_it_and_dropping_it_ends_it() {
    let stage = Stage::new();
    let session = stage.quiet();
    let child = session
        .script("trap 'exit 7' USR1; echo ready; while :; do sleep 0.05; done")
        .spawn()
        .await;
    let mut child = child.unwrap();
    assert!(child.next().await.is_some());
    child.signal(10);
    assert_eq!(child.wait().await.outcome, Outcome::Exited { code: 7 });

    let mut child = session
        .script("echo ready; while :; do date +%N > beat; sleep 0.02; done")
        .spawn()
        .await
        .unwrap();
    assert!(child.next().await.is_some());
    drop(child);
    let beat = stage.path("workspace/beat");
    let mut last = Vec::new();
    let mut same = 0;
    for _ in 0..200 {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        let now = std::fs::read(&beat).unwrap_or_default();
        same = if now == last { same + 1 } else { 0 };
        last = now;
        if same == 10 {
            return;
        }
    }
    panic!("it goes on after its handle is gone");
}
