//! Limits: what ends a command that wants too much, and that the session goes on.
#![expect(clippy::print_stderr, reason = "a test says what it skips")]

use std::path::Path;
use std::time::{Duration, Instant};

use palisade_linux_landlock::plan::LimitMechanism;
use palisade_linux_landlock::{ExitCause, Plan, Stdio, Step, Tier};
use palisade_policy::{CanonicalSandboxPolicy, ResourceLimits};
use rustix::io::Errno;

use crate::failures::step_of;
use crate::processes::wait_until;
use crate::support::{Output, Stage, TIERS, run, start};

fn plan(stage: &Stage, tier: Tier, limits: ResourceLimits) -> Plan {
    let policy = CanonicalSandboxPolicy::workspace_write_with_limits([stage.root()], limits);
    stage.plan(&policy, tier)
}

/// Runs a script under limits, and then another one in the same session, which must work.
#[track_caller]
fn try_with(stage: &Stage, plan: &Plan, script: &str) -> Output {
    let session = start(plan).unwrap();
    let output = stage.run(&session, script);
    let next = stage.run(&session, "echo still here");
    assert_eq!(next.text, "still here\n", "{next:?} after {output:?}");
    output
}

const UNLIMITED: ResourceLimits = ResourceLimits::unlimited();

#[test]
fn a_file_over_its_size_ends_who_writes_it() {
    for tier in TIERS {
        let stage = Stage::new();
        let plan = plan(&stage, tier, UNLIMITED.with_disk_mb(1));
        let output = try_with(&stage, &plan, "exec head -c 2000000 /dev/zero > large");
        assert_eq!(output.exit.cause, ExitCause::FileSizeLimit, "{tier:?}");
        let written = std::fs::metadata(stage.workspace.join("large"))
            .unwrap()
            .len();
        assert_eq!(written, 1 << 20, "{tier:?}");
        // The same signal from elsewhere is no limit where none is set.
        let session = start(&self::plan(&stage, tier, UNLIMITED)).unwrap();
        let output = stage.run(&session, "kill -XFSZ $$");
        assert_eq!(output.exit.cause, ExitCause::Signal(25), "{tier:?}");
    }
}

#[test]
fn processor_time_over_its_limit_ends_who_used_it() {
    let start = Instant::now();
    std::thread::scope(|scope| {
        for tier in TIERS {
            scope.spawn(move || {
                let stage = Stage::new();
                let plan = plan(&stage, tier, UNLIMITED.with_cpu_secs(1));
                let output = try_with(&stage, &plan, "while :; do :; done");
                assert_eq!(output.exit.cause, ExitCause::CpuLimit, "{tier:?}");
            });
            scope.spawn(move || {
                // Who does not heed the first signal gets a second more.
                let stage = Stage::new();
                let plan = plan(&stage, tier, UNLIMITED.with_cpu_secs(1));
                let output = try_with(&stage, &plan, "trap '' XCPU; while :; do :; done");
                assert_eq!(output.exit.cause, ExitCause::Signal(9), "{tier:?}");
            });
        }
    });
    assert!(start.elapsed() < Duration::from_secs(60));
}

/// Makes processes until one cannot be made, or there are far too many.
const BOMB: &str = r#"
    for i in $(seq 40); do
        sleep 1000 2>/dev/null >/dev/null & echo started
    done
    echo all
"#;

#[test]
fn more_processes_than_allowed_are_not_made_or_not_kept() {
    for tier in TIERS {
        let stage = Stage::new();
        let plan = plan(&stage, tier, UNLIMITED.with_pids(12));
        let (_, mechanism) = plan.limits.pids.unwrap();
        let session = start(&plan).unwrap();
        let script = format!("{BOMB}\nexec sleep 10");
        let output = stage.run(&session, &script);
        let started = output.text.matches("started").count();
        match mechanism {
            LimitMechanism::Sampled => {
                assert_eq!(output.exit.cause, ExitCause::ProcessLimit, "{tier:?}");
                assert_eq!(stage.run(&session, "echo on").text, "on\n", "{tier:?}");
            }
            _ => {
                // Eleven more than the shell.
                assert_eq!(started, 11, "{tier:?} {mechanism:?} {}", output.text);
                assert!(output.text.contains("fork"), "{tier:?} {}", output.text);
                assert!(!output.text.contains("all"), "{tier:?}");
            }
        }
        let before = Instant::now();
        session.end();
        assert!(before.elapsed() < Duration::from_secs(10));
    }
}

#[test]
fn a_full_session_says_that_it_cannot_start_another_command() {
    let stage = Stage::new();
    let plan = plan(&stage, Tier::Full, UNLIMITED.with_pids(4));
    if plan.limits.pids.unwrap().1 != LimitMechanism::Cgroup {
        // The limit that is set after the fork is checked by the next fork only.
        // An ordinary user has one only where somebody has delegated it; root's run is the one that counts.
        let why = if rustix::process::geteuid().is_root() {
            "skipped"
        } else {
            "for root alone"
        };
        eprintln!("{why}: no control group here");
        return;
    }
    let session = start(&plan).unwrap();
    let fill = "for i in 1 2 3; do sleep 1000 >/dev/null 2>&1 & done; exec sleep 0.1";
    stage.run(&session, fill);
    let stdio = Stdio::null().unwrap();
    let mut last = session
        .spawn(&stage.script("exec sleep 1000"), &stdio)
        .unwrap();
    last.pid().unwrap();
    let error = run(&session, &stage.script("echo no")).unwrap_err();
    assert_eq!(step_of(&error), (Step::Fork, Errno::AGAIN));
    assert!(
        error
            .explain()
            .unwrap()
            .to_string()
            .contains("limit on processes")
    );
}

#[test]
fn the_limit_counts_the_session_and_nobody_else() {
    // The user has more processes outside than the session may have.
    let mut outside: Vec<_> = (0..16)
        .map(|_| {
            std::process::Command::new("sleep")
                .arg("1000")
                .spawn()
                .unwrap()
        })
        .collect();
    for tier in TIERS {
        let stage = Stage::new();
        let plan = plan(&stage, tier, UNLIMITED.with_pids(6));
        let ordinary = !rustix::process::geteuid().is_root();
        if tier == Tier::Full && ordinary {
            assert_eq!(plan.limits.pids, Some((6, LimitMechanism::Rlimit)));
        }
        let output = try_with(
            &stage,
            &plan,
            "for i in 1 2 3; do sleep 0.1 & done; wait; echo fine",
        );
        assert_eq!(output.text, "fine\n", "{tier:?}");
    }
    for process in &mut outside {
        process.kill().unwrap();
        process.wait().unwrap();
    }
}

/// Asks for memory piece by piece, each of which is written to.
const HUNGRY: &str = "exec perl -e '$| = 1; my @all; for (1..200) { push @all, \"x\" x (1 << 20); \
                      select undef, undef, undef, 0.002 } print \"ate all\"; sleep 5'";

#[test]
fn memory_over_its_limit_ends_who_holds_it() {
    if !Path::new("/usr/bin/perl").exists() {
        eprintln!("skipped: no perl");
        return;
    }
    for tier in TIERS {
        let stage = Stage::new();
        let plan = plan(&stage, tier, UNLIMITED.with_memory_mb(64));
        let output = try_with(&stage, &plan, HUNGRY);
        assert_eq!(
            output.exit.cause,
            ExitCause::MemoryLimit,
            "{tier:?} {output:?}"
        );
    }
}

#[test]
fn the_sum_over_the_tree_counts_also_where_it_is_only_sampled() {
    if !Path::new("/usr/bin/perl").exists() {
        eprintln!("skipped: no perl");
        return;
    }
    for tier in TIERS {
        let stage = Stage::new();
        let mut plan = plan(&stage, tier, UNLIMITED.with_memory_mb(64));
        plan.limits.memory = Some((64 << 20, LimitMechanism::Sampled));
        plan.cgroups = Default::default();
        // None of the four is over the limit, and the command itself is small.
        let eater = "perl -e 'my $x = \"x\" x (30 << 20); sleep 20' &";
        let output = try_with(
            &stage,
            &plan,
            &format!("{eater} {eater} {eater} {eater} wait"),
        );
        assert_eq!(
            output.exit.cause,
            ExitCause::MemoryLimit,
            "{tier:?} {output:?}"
        );
        // What a command has left behind is measured after its end as well.
        let session = start(&plan).unwrap();
        let left = "(perl -e 'select undef, undef, undef, 0.3; my $x = \"x\" x (120 << 20); sleep 1000' >/dev/null 2>&1 & echo $!)";
        let pid = stage.run(&session, left).text;
        // Nothing else runs while it grows. Whoever looks too early may be ended with it, and looks again.
        std::thread::sleep(Duration::from_millis(800));
        let look = format!("kill -0 {} 2>/dev/null || echo gone", pid.trim());
        let gone = wait_until(Duration::from_secs(20), || {
            std::thread::sleep(Duration::from_millis(100));
            (stage.run(&session, &look).text == "gone\n").then_some(())
        });
        assert!(gone.is_some(), "{tier:?}");
    }
}

#[test]
fn a_kill_for_memory_does_not_explain_later_ends() {
    if !Path::new("/usr/bin/perl").exists() {
        eprintln!("skipped: no perl");
        return;
    }
    let stage = Stage::new();
    let plan = plan(&stage, Tier::Full, UNLIMITED.with_memory_mb(64));
    let session = start(&plan).unwrap();
    let output = stage.run(&session, HUNGRY);
    assert_eq!(output.exit.cause, ExitCause::MemoryLimit, "{output:?}");
    let output = stage.run(&session, "kill -KILL $$");
    assert_eq!(output.exit.cause, ExitCause::Signal(9));
}

#[test]
fn no_core_is_written() {
    for tier in TIERS {
        let stage = Stage::new();
        let plan = plan(&stage, tier, UNLIMITED);
        let output = try_with(
            &stage,
            &plan,
            "ulimit -c unlimited 2>/dev/null; kill -SEGV $$",
        );
        assert_eq!(output.exit.cause, ExitCause::Signal(11), "{tier:?}");
        let left: Vec<_> = std::fs::read_dir(&stage.workspace)
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .filter(|name| name.to_string_lossy().contains("core"))
            .collect();
        assert!(left.is_empty(), "{left:?}");
    }
}
