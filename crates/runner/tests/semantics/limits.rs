//! How the time and the limits of command, rule, policy and host add up.

use std::time::{Duration, Instant};

use palisade_policy::{LimitKind, ResourceLimits};
use palisade_runner::judge::RuleBook;
use palisade_runner::outcome::{Finished, Outcome};
use palisade_runner::session::{Policy, Sandbox, Session};

use crate::support::{Asked, Stage};

const RULES: &str = "version = 1\n[[rule]]\nid = \"short\"\nprefix = [\"sleep\"]\ndecision = \"allow\"\nwhy = \"x\"\n\
                     sandbox.limits = { wall = \"1s\" }\n\
                     [[rule]]\nid = \"many\"\nprefix = [\"tail\"]\ndecision = \"allow\"\nwhy = \"x\"\n\
                     sandbox.limits = { procs = 64 }\n";

fn session(stage: &Stage, policy: Policy) -> Session {
    Sandbox::on(stage.host(), policy)
        .unwrap()
        .session(
            RuleBook::from_text("rules", RULES).unwrap(),
            Asked::new(&[]).prompter(),
        )
        .unwrap()
}

#[track_caller]
fn timed_out(run: &Finished, after: Duration) {
    assert_eq!(run.outcome, Outcome::TimedOut { after });
    assert_eq!(run.outcome.exit_code(), 124);
}

#[test]
fn the_smallest_of_request_rule_and_policy_is_the_time() {
    let stage = Stage::new();
    let usual = session(&stage, stage.policy());
    let run = usual.command("sleep").arg("60").output_blocking().unwrap();
    timed_out(&run, Duration::from_secs(1));
    let asked_for_more = usual
        .command("sleep")
        .arg("60")
        .timeout(Duration::from_secs(50));
    timed_out(
        &asked_for_more.output_blocking().unwrap(),
        Duration::from_secs(1),
    );
    let asked_for_none = usual.command("sleep").arg("60").no_timeout();
    timed_out(
        &asked_for_none.output_blocking().unwrap(),
        Duration::from_secs(1),
    );
    let asked_for_less = usual
        .command("sleep")
        .arg("60")
        .timeout(Duration::from_millis(200));
    timed_out(
        &asked_for_less.output_blocking().unwrap(),
        Duration::from_millis(200),
    );
    let limits = ResourceLimits::default().with_timeout_secs(1);
    let short = session(&stage, stage.policy().limits(limits));
    let run = short.script("sleep 60 & wait").output_blocking().unwrap();
    timed_out(&run, Duration::from_secs(1));
}

#[test]
fn a_rule_does_not_lift_the_limits_that_the_host_program_set() {
    let stage = Stage::new();
    let limits = ResourceLimits::default().with_timeout_secs(1);
    let session = session(&stage, stage.policy().limits(limits));
    // Its rule says nothing about time, and the files that it is in say five minutes.
    let began = Instant::now();
    let run = session
        .command("tail")
        .args(["-f", "notes.txt"])
        .output_blocking()
        .unwrap();
    timed_out(&run, Duration::from_secs(1));
    assert!(began.elapsed() < Duration::from_secs(60));
}

#[test]
fn processes_and_memory_that_run_out_are_named_where_they_are_enforced() {
    let stage = Stage::new();
    let limits = ResourceLimits::default().with_memory_mb(64).with_pids(32);
    let session = session(&stage, stage.policy().limits(limits));
    let run = session
        .script("head -c 400000000 /dev/zero | tail")
        .output_blocking()
        .unwrap();
    match run.outcome {
        Outcome::LimitExceeded { which } => assert_eq!(which, LimitKind::Memory),
        // Where limits hold for each process, a program that is refused memory says so itself.
        ref other => assert!(!other.success(), "{other:?}"),
    }
    let run = session
        .script("for i in $(seq 200); do sleep 5 & done; wait")
        .output_blocking()
        .unwrap();
    let told = run.output.stderr.text().into_owned();
    assert!(
        matches!(
            run.outcome,
            Outcome::LimitExceeded {
                which: LimitKind::Pids
            }
        ) || told.contains("fork"),
        "{:?} {told}",
        run.outcome
    );
}

#[test]
fn without_any_limit_a_command_gets_thirty_seconds_and_not_for_ever() {
    use palisade_policy::ExecExpiration;
    let unlimited = ResourceLimits::unlimited();
    let thirty = Duration::from_millis(ExecExpiration::DEFAULT_TIMEOUT_MS);
    assert_eq!(thirty, Duration::from_secs(30));
    let stage = Stage::new();
    let session = session(&stage, stage.policy().limits(unlimited));
    // No rule says anything about it.
    let program = stage.program("exec sleep 100");
    let began = Instant::now();
    let run = session.command(&program).output_blocking().unwrap();
    timed_out(&run, thirty);
    assert!(began.elapsed() >= thirty);
}
