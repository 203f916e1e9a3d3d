//! Without a sandbox built in, only policies that need none can run. Test it with `--no-default-features`.
#![cfg(all(unix, not(feature = "linux-landlock")))]

use palisade_exec_policy::{AskForApproval, ReviewDecision};
use palisade_policy::SandboxType;
use palisade_runner::approve::Prompt;
use palisade_runner::judge::RuleBook;
use palisade_runner::session::{Error, Policy, Sandbox};

fn yes(_: &Prompt) -> ReviewDecision {
    ReviewDecision::Approved
}

#[test]
fn a_policy_that_needs_a_sandbox_is_refused_and_nothing_runs_bare_in_its_place() {
    let stage = tempfile::tempdir_in("/var/tmp").unwrap();
    for policy in [
        Policy::workspace(stage.path()),
        Policy::read_only(stage.path()),
        Policy::full_access(stage.path()).never_leave_the_sandbox(),
    ] {
        let session = Sandbox::probe(policy).and_then(|sandbox| {
            let session = sandbox.session(RuleBook::builtin().unwrap(), yes)?;
            // A sandbox that is required is required of each command, at the latest.
            session
                .script("echo hello")
                .output_blocking()
                .map(|run| run.sandbox)
        });
        let refused = session.unwrap_err();
        assert!(
            matches!(
                refused,
                Error::Unavailable(_) | Error::Sandbox(_) | Error::Refused(_)
            ),
            "{refused:?}"
        );
    }
}

#[test]
fn full_access_runs_bare_with_its_time_and_its_whole_tree() {
    let stage = tempfile::tempdir_in("/var/tmp").unwrap();
    let policy = Policy::full_access(stage.path()).approval(AskForApproval::OnRequest);
    let session = Sandbox::probe(policy)
        .unwrap()
        .session(RuleBook::builtin().unwrap(), yes)
        .unwrap();
    let run = session.script("echo hello").output_blocking().unwrap();
    assert!(run.outcome.success());
    assert_eq!(run.sandbox, SandboxType::None);
    assert_eq!(run.output.stdout.text(), "hello\n");
    let late = session
        .script("sleep 60")
        .timeout(std::time::Duration::from_millis(200))
        .output_blocking()
        .unwrap();
    assert_eq!(late.outcome.exit_code(), 124);
}
