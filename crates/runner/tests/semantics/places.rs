//! Homes, directories, and running without a sandbox.

use palisade_policy::{Environment, SandboxType};
use palisade_runner::host::{Host, HostParts};
use palisade_runner::judge::RuleBook;
use palisade_runner::outcome::Outcome;
use palisade_runner::session::{Policy, Sandbox};

use crate::support::{Asked, Stage, helper};

#[test]
fn the_home_of_the_user_database_is_guarded_like_the_one_of_the_environment() {
    let stage = Stage::new();
    let other = stage.path("database/.ssh");
    std::fs::create_dir_all(&other).unwrap();
    std::fs::write(other.join("id_ed25519"), "another secret\n").unwrap();
    let environment = Environment::from([
        ("PATH".into(), "/usr/bin:/bin".into()),
        ("HOME".into(), stage.path("home").into()),
    ]);
    let parts = HostParts::look()
        .with_environment(environment)
        .with_database_home(stage.path("database"));
    let host = Host::from_parts(parts).with_helper(helper());
    let session = Sandbox::on(host, stage.policy())
        .unwrap()
        .session(RuleBook::builtin().unwrap(), Asked::new(&[]).prompter())
        .unwrap();
    for secret in ["home/.ssh/id_ed25519", "database/.ssh/id_ed25519"] {
        // Not `cat` itself, which the built-in rules keep away from keys.
        let program = stage.program("cat \"$1\"");
        let run = session
            .command(&program)
            .arg(stage.path(secret))
            .output_blocking()
            .unwrap();
        assert!(
            matches!(run.outcome, Outcome::Denied { .. }),
            "{secret}: {:?}",
            run.outcome
        );
        assert!(!run.output.stdout.text().contains("secret"));
    }
}

#[test]
fn full_access_runs_bare_and_says_so_and_the_rules_still_hold() {
    let stage = Stage::new();
    let policy = Policy::full_access(stage.workspace())
        .approval(palisade_exec_policy::AskForApproval::OnRequest);
    let (session, asked) = stage.session(policy, &[]);
    let made = stage.path("outside/made");
    let run = session
        .command("touch")
        .arg(&made)
        .output_blocking()
        .unwrap();
    assert!(run.outcome.success() && made.exists());
    assert_eq!(run.sandbox, SandboxType::None);
    let marker = session
        .script("echo sandbox=${PALISADE_SANDBOX-unset}")
        .output_blocking()
        .unwrap();
    assert!(!marker.output.stdout.text().contains("landlock"));
    assert!(
        session
            .script("rm -rf notes.txt")
            .output_blocking()
            .is_err()
    );
    assert_eq!(asked.prompts().len(), 1);
    assert!(stage.path("workspace/notes.txt").exists());
}

#[test]
fn a_bare_run_that_takes_too_long_ends_with_its_daemons() {
    let stage = Stage::new();
    let policy = Policy::full_access(stage.workspace())
        .approval(palisade_exec_policy::AskForApproval::OnRequest);
    let (session, _) = stage.session(policy, &[]);
    let file = stage.path("workspace/pid");
    let run = session
        .script(
            "setsid bash -c 'trap \"\" TERM; echo $$ > pid; while :; do sleep 1; done' & sleep 60",
        )
        .timeout(std::time::Duration::from_millis(1500))
        .output_blocking()
        .unwrap();
    assert!(
        matches!(run.outcome, Outcome::TimedOut { .. }),
        "{:?}",
        run.outcome
    );
    let pid = std::fs::read_to_string(&file).unwrap();
    let status = format!("/proc/{}/stat", pid.trim());
    for _ in 0..200 {
        match std::fs::read_to_string(&status) {
            Err(_) => return,
            Ok(text) if text.contains(") Z ") => return,
            Ok(_) => std::thread::sleep(std::time::Duration::from_millis(25)),
        }
    }
    panic!("the daemon {pid} lives");
}
