//! Somebody cancels before anything runs, or while it waits for others.

use std::time::{Duration, Instant};

use palisade_policy::GitAccess;
use palisade_runner::approve::{BoxFuture, Prompt, Prompter};
use palisade_runner::judge::RuleBook;
use palisade_runner::outcome::Outcome;
use palisade_runner::session::{Error, Sandbox, SessionOptions};
use palisade_runner::supervise::Cancellation;

use crate::support::Stage;

/// Somebody who cancels as soon as somebody is asked, and never answers.
struct Never(Cancellation);

impl Prompter for Never {
    fn ask<'a>(&'a self, _: &'a Prompt) -> BoxFuture<'a, palisade_exec_policy::ReviewDecision> {
        let cancel = self.0.clone();
        Box::pin(async move {
            std::thread::spawn(move || cancel.cancel());
            std::future::pending().await
        })
    }
}

#[test]
fn a_command_that_is_cancelled_while_somebody_is_asked_says_so_with_and_without_a_runtime() {
    let stage = Stage::new();
    let run = |tokio: bool| {
        let cancel = Cancellation::new();
        let session = Sandbox::on(stage.host(), stage.policy())
            .unwrap()
            .session(RuleBook::builtin().unwrap(), Never(cancel.clone()))
            .unwrap();
        let command = session.script("rm -rf notes.txt").cancelled_by(cancel);
        match tokio {
            false => command.output_blocking().unwrap(),
            true => tokio::runtime::Runtime::new()
                .unwrap()
                .block_on(command.output())
                .unwrap(),
        }
    };
    for tokio in [false, true] {
        assert_eq!(run(tokio).outcome, Outcome::Cancelled);
    }
    assert!(stage.path("workspace/notes.txt").exists());
    let cancel = Cancellation::new();
    let session = Sandbox::on(stage.host(), stage.policy())
        .unwrap()
        .session(RuleBook::builtin().unwrap(), Never(cancel.clone()))
        .unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let spawned = session.script("rm -rf notes.txt").cancelled_by(cancel);
    let refused = runtime.block_on(spawned.spawn()).unwrap_err();
    assert!(matches!(refused, Error::Cancelled), "{refused}");
}

#[test]
fn a_command_that_is_cancelled_while_it_waits_for_another_says_so() {
    let stage = Stage::new();
    let guards_more = stage.quiet();
    let weaker = Sandbox::on(stage.host(), stage.policy().git(GitAccess::Full))
        .unwrap()
        .session_with(
            RuleBook::builtin().unwrap(),
            palisade_runner::approve::NoPrompter,
            SessionOptions::default().waiting_for_others(Duration::from_secs(60)),
        )
        .unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let first = guards_more.script("sleep 60").no_timeout().spawn();
        let first = first.await.unwrap();
        let cancel = Cancellation::new();
        let waiting = weaker
            .script("echo hello")
            .cancelled_by(cancel.clone())
            .output();
        let waiting = tokio::spawn(waiting);
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert!(!waiting.is_finished());
        let asked = Instant::now();
        cancel.cancel();
        let ended = waiting.await.unwrap().unwrap();
        assert_eq!(ended.outcome, Outcome::Cancelled);
        assert!(asked.elapsed() < Duration::from_secs(10));
        first.cancel();
        let _ended = first.wait().await;
    });
}
