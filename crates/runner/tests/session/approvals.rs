//! Asking: once, for the session, for a prefix, for a grant, for leaving the sandbox.

use palisade_exec_policy::{ApprovalPurpose, AskForApproval, GrantScope, ReviewDecision};
use palisade_policy::{AbsolutePath, Grant, SandboxType};
use palisade_runner::outcome::Outcome;
use palisade_runner::session::Error;

use crate::support::{Stage, says};

#[test]
fn a_no_keeps_a_dangerous_command_from_running() {
    let stage = Stage::new();
    let (session, asked) = stage.session(stage.policy(), &[ReviewDecision::Denied]);
    let refused = session
        .script("rm -rf notes.txt")
        .output_blocking()
        .unwrap_err();
    assert!(matches!(refused, Error::Refused(_)), "{refused}");
    assert!(stage.path("workspace/notes.txt").exists());
    assert_eq!(asked.prompts().len(), 1);
    assert_eq!(asked.prompts()[0].purpose, ApprovalPurpose::Run);
}

#[test]
fn a_yes_for_the_session_is_not_asked_again_and_never_leaves_the_sandbox() {
    let stage = Stage::new();
    let (session, asked) = stage.session(stage.policy(), &[ReviewDecision::ApprovedForSession]);
    for _ in 0..3 {
        let run = session.script("rm -rf scratch").output_blocking().unwrap();
        assert_eq!(run.sandbox, SandboxType::LinuxLandlock);
        assert!(run.outcome.success());
    }
    assert_eq!(asked.prompts().len(), 1);
    let other = session.script("rm -rf other").output_blocking();
    assert!(other.is_err(), "another command is another question");
}

#[test]
fn a_grant_lets_a_denied_write_through_and_nothing_else() {
    let stage = Stage::new();
    let policy = stage.policy().approval(AskForApproval::OnFailure);
    let (session, asked) = stage.session(policy, &[ReviewDecision::Approved]);
    let (wanted, other) = (stage.path("outside/wanted"), stage.path("home/other"));
    let run = session
        .command("touch")
        .arg(&wanted)
        .output_blocking()
        .unwrap();
    assert!(
        run.outcome.success(),
        "{:?} {}",
        run.outcome,
        run.output.stderr.text()
    );
    assert_eq!(run.sandbox, SandboxType::LinuxLandlock);
    assert!(wanted.exists());
    assert!(asked.prompts()[0].proposed_grant.is_some());
    // The grant was for that run.
    let run = session
        .command("touch")
        .arg(&wanted)
        .output_blocking()
        .unwrap();
    assert!(
        matches!(run.outcome, Outcome::Denied { .. }),
        "{:?}",
        run.outcome
    );
    let run = session
        .command("touch")
        .arg(&other)
        .output_blocking()
        .unwrap();
    assert!(!run.outcome.success() && !other.exists());
}

#[test]
fn a_grant_for_the_session_lasts_and_shares_its_tmp() {
    let stage = Stage::new();
    let grant = ReviewDecision::ApprovedWithGrant {
        grant: Grant::Write(AbsolutePath::new(stage.path("outside")).unwrap()),
        scope: GrantScope::Session,
        expires: None,
    };
    let policy = stage.policy().approval(AskForApproval::OnFailure);
    let (session, asked) = stage.session(policy, &[grant]);
    for name in ["outside/a", "outside/b"] {
        let run = session
            .command("touch")
            .arg(stage.path(name))
            .output_blocking()
            .unwrap();
        assert!(run.outcome.success(), "{:?}", run.outcome);
    }
    assert_eq!(asked.prompts().len(), 1);
    assert!(
        session
            .script("echo x > /tmp/shared")
            .output_blocking()
            .unwrap()
            .outcome
            .success()
    );
    let read = session.script("cat /tmp/shared").output_blocking().unwrap();
    assert_eq!(read.output.stdout.text(), "x\n");
}

#[test]
fn leaving_the_sandbox_is_asked_and_told() {
    let stage = Stage::new();
    let policy = stage.policy().approval(AskForApproval::OnFailure);
    let (session, asked) = stage.session(policy, &vec![ReviewDecision::Approved; 8]);
    // It says nothing that a grant could be made of: a system call that the sandbox kills for.
    let target = stage.path("outside/left");
    let text = "[ -z \"$PALISADE_SANDBOX\" ] || kill -SYS $$; touch $1";
    let program = stage.program(text);
    let run = session
        .command(program)
        .arg(&target)
        .output_blocking()
        .unwrap();
    assert!(
        !run.outcome.success(),
        "the markers are the same outside: {:?}",
        run.outcome
    );
    let purposes: Vec<_> = asked
        .prompts()
        .iter()
        .map(|prompt| prompt.purpose)
        .collect();
    assert_eq!(purposes, [ApprovalPurpose::RunUnsandboxed]);
    assert_eq!(run.sandbox, SandboxType::None);
    assert!(
        run.notes
            .iter()
            .any(|note| note.contains("without the sandbox")),
        "{:?}",
        run.notes
    );
}

#[test]
fn under_never_a_denial_is_told_and_nobody_is_asked() {
    let stage = Stage::new();
    let policy = stage.policy().approval(AskForApproval::Never);
    let (session, asked) = stage.session(policy, &[ReviewDecision::Approved]);
    let target = stage.path("outside/file");
    let run = session
        .command("touch")
        .arg(&target)
        .output_blocking()
        .unwrap();
    assert!(
        matches!(run.outcome, Outcome::Denied { .. }),
        "{:?}",
        run.outcome
    );
    assert!(asked.prompts().is_empty() && !target.exists());
}

#[test]
fn a_policy_that_never_leaves_asks_for_nothing_larger() {
    let stage = Stage::new();
    let policy = stage
        .policy()
        .approval(AskForApproval::OnFailure)
        .never_leave_the_sandbox();
    let (session, asked) = stage.session(policy, &vec![ReviewDecision::Approved; 4]);
    let target = stage.path("outside/file");
    let run = session
        .command("touch")
        .arg(&target)
        .output_blocking()
        .unwrap();
    assert_eq!(run.sandbox, SandboxType::LinuxLandlock);
    for prompt in asked.prompts() {
        assert_eq!(prompt.purpose, ApprovalPurpose::Run);
    }
}

#[test]
fn a_prompter_that_is_gone_says_no() {
    let stage = Stage::new();
    let gone = |_: &palisade_runner::approve::Prompt| -> ReviewDecision { panic!("no window") };
    let session = palisade_runner::session::Sandbox::on(stage.host(), stage.policy())
        .unwrap()
        .session(palisade_runner::judge::RuleBook::builtin().unwrap(), gone)
        .unwrap();
    assert!(
        session
            .script("rm -rf notes.txt")
            .output_blocking()
            .is_err()
    );
    assert!(says(stage.path("workspace/notes.txt"), "notes\n"));
}
