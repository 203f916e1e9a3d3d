//! What people agreed to keep: two sessions at once, reading again, expiry.

use std::time::{Duration, Instant};

use palisade_exec_policy::approvals::Moment;
use palisade_exec_policy::{AskForApproval, GrantScope, ReviewDecision};
use palisade_policy::{AbsolutePath, Grant};
use palisade_runner::config::{State, StoredGrant};
use palisade_runner::judge::RuleBook;
use palisade_runner::session::{Sandbox, Session, SessionOptions};

use crate::support::{Asked, Stage};

/// Asks about a harmless program, so that there is something to agree to.
const RULES: &str = "version = 1\n[[rule]]\nid = \"locale\"\nprefix = [\"locale\"]\ndecision = \"prompt\"\nwhy = \"x\"\n";

fn state(stage: &Stage) -> State {
    State::new(stage.path("home/.local/state/palisade"))
}

fn session(stage: &Stage, approval: AskForApproval, asked: &Asked) -> Session {
    Sandbox::on(stage.host(), stage.policy().approval(approval))
        .unwrap()
        .session_with(
            RuleBook::from_text("rules", RULES).unwrap(),
            asked.prompter(),
            SessionOptions::default().with_state(state(stage)),
        )
        .unwrap()
}

fn clock() -> u64 {
    std::time::UNIX_EPOCH.elapsed().unwrap().as_secs()
}

#[test]
fn a_prefix_that_was_kept_in_one_session_holds_in_the_other_once_it_looks_again() {
    let stage = Stage::new();
    // Whoever is asked keeps what is offered.
    let keeper = move |prompt: &palisade_runner::approve::Prompt| match &prompt.proposed_amendment {
        Some(amendment) => ReviewDecision::ApprovedExecpolicyAmendment {
            proposed_execpolicy_amendment: amendment.clone(),
        },
        None => ReviewDecision::Denied,
    };
    let first = Sandbox::on(
        stage.host(),
        stage.policy().approval(AskForApproval::OnRequest),
    )
    .unwrap()
    .session_with(
        RuleBook::from_text("rules", RULES).unwrap(),
        keeper,
        SessionOptions::default().with_state(state(&stage)),
    )
    .unwrap();
    let asked = Asked::new(&[]);
    let second = session(&stage, AskForApproval::OnRequest, &asked);
    let runs = |session: &Session| {
        let run = session.command("locale").arg("charmap").output_blocking();
        run.is_ok_and(|run| run.outcome.success())
    };
    assert!(runs(&first));
    assert!(
        !runs(&second),
        "it has not looked since, so it asks, and nobody answers"
    );
    second.reload().unwrap();
    assert!(runs(&second));
    assert_eq!(asked.prompts().len(), 1);
    let third = session(&stage, AskForApproval::OnRequest, &Asked::new(&[]));
    assert!(runs(&third), "and a later one has it");
}

#[test]
fn a_grant_for_the_project_is_there_in_the_next_session_and_gone_when_it_is_taken_back() {
    let stage = Stage::new();
    let outside = Grant::Write(AbsolutePath::new(stage.path("outside")).unwrap());
    let given = ReviewDecision::ApprovedWithGrant {
        grant: outside.clone(),
        scope: GrantScope::Project,
        expires: None,
    };
    let first = session(&stage, AskForApproval::OnFailure, &Asked::new(&[given]));
    let touch = |session: &Session, name: &str| {
        let run = session.command("touch").arg(stage.path(name));
        run.output_blocking().unwrap().outcome.success()
    };
    assert!(touch(&first, "outside/a"));
    let second = session(&stage, AskForApproval::OnRequest, &Asked::new(&[]));
    assert_eq!(second.granted(), std::slice::from_ref(&outside));
    assert!(touch(&second, "outside/b"));
    let project = AbsolutePath::new(stage.workspace().canonicalize().unwrap()).unwrap();
    assert!(state(&stage).grants().remove(&project, &outside).unwrap());
    second.reload().unwrap();
    assert!(second.granted().is_empty());
    assert!(!touch(&second, "outside/c"));
}

#[test]
fn a_grant_that_expires_does_so_in_the_middle_of_a_session() {
    let stage = Stage::new();
    let project = AbsolutePath::new(stage.workspace().canonicalize().unwrap()).unwrap();
    let grant = |below: &str| Grant::Write(AbsolutePath::new(stage.path(below)).unwrap());
    let (past, soon) = (clock() - 5, clock() + 2);
    for (below, expires) in [("home/past", past), ("outside", soon)] {
        let kept = StoredGrant::new(
            project.clone(),
            grant(below),
            Moment::of_clock(clock() - 10),
        );
        let kept = kept.until(Moment::of_clock(expires));
        state(&stage).grants().keep(&kept).unwrap();
    }
    let session = session(&stage, AskForApproval::OnRequest, &Asked::new(&[]));
    if clock() < soon {
        assert!(!session.granted().contains(&grant("home/past")));
    }
    let began = Instant::now();
    while clock() < soon {
        assert!(began.elapsed() < Duration::from_secs(20));
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(session.granted().is_empty());
    let run = session.command("touch").arg(stage.path("outside/late"));
    assert!(!run.output_blocking().unwrap().outcome.success());
    assert!(!stage.path("outside/late").exists());
}
