//! Many commands, at once and in sequence: nothing is left behind.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::sync::Arc;
use std::time::Instant;

use palisade_policy::{CommandSpec, SandboxType};
use palisade_runner::launch::{self, Driver, Launch, Placed};
use palisade_runner::outcome::Outcome;
use palisade_runner::session::{Policy, Session};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::alone::alone;
use crate::counts::Counts;
use crate::support::{Stage, runtime, wait_until};

/// Each command holds a few descriptors, and the usual limit is for programs that run few.
fn many_descriptors() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let most = Rlimit {
        current: limit.maximum,
        ..limit
    };
    setrlimit(Resource::Nofile, most).unwrap();
}

#[test]
fn five_hundred_at_once_in_one_session() {
    alone("many::five_hundred_at_once_in_one_session", || {
        at_once(500, Stage::confined);
    });
}

#[test]
fn two_hundred_at_once_without_a_sandbox() {
    alone("many::two_hundred_at_once_without_a_sandbox", || {
        at_once(200, Stage::bare);
    });
}

/// All of them wait for the same gate, so that none ends before all have begun.
fn at_once(many: usize, policy: impl Fn(&Stage) -> Policy) {
    many_descriptors();
    let stage = Stage::new();
    let gate = stage.path("workspace/gate");
    let begun = stage.path("workspace/begun");
    std::fs::create_dir(&begun).unwrap();
    make_gate(&stage);
    let before = Counts::now(stage.root());
    {
        let runtime = runtime();
        let session = stage.session(policy(&stage));
        let mut keeper = OpenOptions::new()
            .read(true)
            .write(true)
            .open(&gate)
            .unwrap();
        let finished = runtime.block_on(async {
            let mut runs = JoinSet::new();
            for number in 0..many {
                let script = format!(
                    ": > begun/{number}; read -r line < gate; echo out {number}; exit {}",
                    number % 100
                );
                let command = session.script(script).no_timeout();
                runs.spawn(async move { (number, command.output().await.unwrap()) });
            }
            let all = tokio::task::spawn_blocking(move || {
                wait_until("all have begun", || {
                    (std::fs::read_dir(&begun).unwrap().count() == many).then_some(())
                });
                // One line for each: a shell reads no further than a line.
                keeper.write_all(&vec![b'\n'; many]).unwrap();
                keeper
            });
            let keeper: File = all.await.unwrap();
            let finished = runs.join_all().await;
            drop(keeper);
            finished
        });
        assert_eq!(finished.len(), many);
        for (number, run) in finished {
            let code = i32::try_from(number % 100).unwrap();
            assert_eq!(run.outcome, Outcome::Exited { code }, "{number}");
            assert_eq!(run.output.stdout.text(), format!("out {number}\n"));
        }
    }
    before.hold_again(stage.root());
}

fn make_gate(stage: &Stage) {
    let made = std::process::Command::new("mkfifo")
        .arg(stage.path("workspace/gate"))
        .status();
    assert!(made.unwrap().success());
}

/// Each has namespaces of its own, which are made and taken down in milliseconds: some at a time.
#[test]
fn a_hundred_sessions_of_their_own() {
    alone("many::a_hundred_sessions_of_their_own", || {
        const SESSIONS: usize = 96;
        const AT_A_TIME: usize = 24;
        let stage = Stage::new();
        let before = Counts::now(stage.root());
        {
            let session = stage.session(stage.confined());
            let sandbox = session.sandbox();
            let kind = SandboxType::LinuxLandlock;
            let placed = Placed::new(kind, sandbox.policy().clone(), sandbox.workspace().clone());
            let (host, placed) = (Arc::new(stage.host()), Arc::new(placed));
            let turn = Arc::new(Semaphore::new(AT_A_TIME));
            let workspace = stage.workspace();
            let finished = runtime().block_on(async {
                let mut runs = JoinSet::new();
                for number in 0..SESSIONS {
                    let spec = CommandSpec::new("/bin/sh")
                        .with_args([
                            "-c",
                            &format!("echo out {number} > /tmp/private; cat /tmp/private"),
                        ])
                        .with_cwd(&workspace);
                    let (host, placed, turn) =
                        (Arc::clone(&host), Arc::clone(&placed), Arc::clone(&turn));
                    runs.spawn(async move {
                        let _turn = turn.acquire().await.unwrap();
                        let launch = Launch::new(spec);
                        (
                            number,
                            launch::run(&host, &placed, launch, Driver::Tokio).await,
                        )
                    });
                }
                runs.join_all().await
            });
            assert_eq!(finished.len(), SESSIONS);
            for (number, run) in finished {
                assert_eq!(run.outcome, Outcome::Exited { code: 0 }, "{number}");
                assert_eq!(run.output.stdout.text(), format!("out {number}\n"));
            }
        }
        before.hold_again(stage.root());
    });
}

/// How many commands run in sequence, unless somebody has less time.
const SEQUENCE: usize = 20_000;

fn sequence() -> usize {
    std::env::var("PALISADE_TEST_LOAD_SEQUENCE")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(SEQUENCE)
}

#[test]
fn thousands_in_sequence_in_one_session() {
    alone("many::thousands_in_sequence_in_one_session", || {
        let stage = Stage::new();
        let before = Counts::now(stage.root());
        {
            let session = stage.session(stage.confined());
            let runtime = runtime();
            in_sequence(&session, &runtime, 100);
            // The session goes on: whatever it needs, it has by now.
            let warm = Counts::now(stage.root());
            let started = Instant::now();
            let many = sequence();
            in_sequence(&session, &runtime, many);
            let each = started.elapsed() / u32::try_from(many).unwrap();
            println!("note: {many} commands in sequence, {each:?} each");
            warm.hold_again(stage.root());
        }
        before.hold_again(stage.root());
    });
}

fn in_sequence(session: &Session, runtime: &tokio::runtime::Runtime, many: usize) {
    runtime.block_on(async {
        for number in 0..many {
            let run = session.command("true").output().await.unwrap();
            assert!(run.outcome.success(), "{number}: {:?}", run.outcome);
        }
    });
}
