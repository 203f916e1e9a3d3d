//! What no grant may open: approvals, records, claims, the helper, policy files.

use std::path::Path;
use std::sync::Arc;

use palisade_exec_policy::{AskForApproval, GrantScope, ReviewDecision};
use palisade_policy::{AbsolutePath, Grant, SandboxPermissions};
use palisade_runner::audit::{JsonLines, Rotation, read};
use palisade_runner::config::State;
use palisade_runner::judge::RuleBook;
use palisade_runner::outcome::Outcome;
use palisade_runner::session::{Error, Sandbox, Session, SessionOptions};

use crate::support::{Asked, Stage};

fn options(stage: &Stage, audit: &Path) -> SessionOptions {
    let sink = JsonLines::open(audit, Rotation::default()).unwrap();
    SessionOptions::default()
        .with_state(State::new(stage.path("home/.local/state/palisade")))
        .with_audit(Arc::new(sink))
}

fn session(stage: &Stage, answers: &[ReviewDecision]) -> (Session, Asked) {
    let asked = Asked::new(answers);
    let audit = stage.path("records/audit.jsonl");
    let policy = stage.policy().approval(AskForApproval::OnFailure);
    let session = Sandbox::on(stage.host(), policy)
        .unwrap()
        .session_with(
            RuleBook::builtin().unwrap(),
            asked.prompter(),
            options(stage, &audit),
        )
        .unwrap();
    (session, asked)
}

fn giving(path: impl AsRef<Path>, scope: GrantScope) -> ReviewDecision {
    ReviewDecision::ApprovedWithGrant {
        grant: Grant::Write(AbsolutePath::new(path.as_ref()).unwrap()),
        scope,
        expires: None,
    }
}

#[test]
fn a_record_that_commands_could_write_refuses_the_session() {
    let stage = Stage::new();
    let inside = stage.path("workspace/records/audit.jsonl");
    let refused = Sandbox::on(stage.host(), stage.policy())
        .unwrap()
        .session_with(
            RuleBook::builtin().unwrap(),
            Asked::new(&[]).prompter(),
            options(&stage, &inside),
        )
        .unwrap_err();
    assert!(matches!(refused, Error::Audit(_)), "{refused}");
    assert!(refused.to_string().contains("audit.jsonl"), "{refused}");
}

#[test]
fn a_grant_that_would_open_what_decides_is_refused_in_every_scope() {
    for scope in [GrantScope::Run, GrantScope::Session, GrantScope::Project] {
        for target in [
            "records",
            "records/audit.jsonl.1",
            "home/.local/state/palisade",
            "home/.local/state/palisade/grants.json",
            "home/.local/state/palisade/run",
            "home/.config/palisade",
            "home",
        ] {
            let stage = Stage::new();
            let (session, asked) = session(&stage, &[giving(stage.path(target), scope)]);
            let made = stage.path("outside/made");
            let run = session
                .command("touch")
                .arg(&made)
                .output_blocking()
                .unwrap();
            assert!(
                matches!(run.outcome, Outcome::Denied { .. }),
                "{target} {scope:?}: what ran is told: {:?}",
                run.outcome
            );
            assert!(!made.exists());
            assert_eq!(asked.prompts().len(), 1);
            assert!(session.granted().is_empty(), "{target} {scope:?}");
            assert!(
                run.notes
                    .iter()
                    .any(|note| note.contains("not tried again")),
                "{:?}",
                run.notes
            );
        }
    }
}

#[test]
fn asking_for_what_decides_is_refused_although_a_person_agrees() {
    let stage = Stage::new();
    let asked = Asked::new(&[ReviewDecision::Approved]);
    let audit = stage.path("records/audit.jsonl");
    let session = Sandbox::on(stage.host(), stage.policy())
        .unwrap()
        .session_with(
            RuleBook::builtin().unwrap(),
            asked.prompter(),
            options(&stage, &audit),
        )
        .unwrap();
    let wanted = SandboxPermissions::WithAdditionalPermissions {
        fs_read: Vec::new(),
        fs_write: vec![AbsolutePath::new(stage.path("home/.local/state/palisade")).unwrap()],
        network: Vec::new(),
    };
    let refused = session
        .script("touch ~/.local/state/palisade/approvals.toml")
        .asking_for(wanted, "let me approve myself")
        .output_blocking()
        .unwrap_err();
    assert!(matches!(refused, Error::Kept(_)), "{refused}");
    assert_eq!(read(&audit).unwrap().count(), 1, "and it is on record");
}

#[test]
fn the_helper_is_never_granted_and_never_offered() {
    let stage = Stage::new();
    let helper = stage.path("bin/palisade-linux-sandbox");
    std::fs::create_dir(stage.path("bin")).unwrap();
    std::fs::copy(crate::support::helper(), &helper).unwrap();
    let asked = Asked::new(&[ReviewDecision::Approved]);
    let policy = stage.policy().approval(AskForApproval::OnFailure);
    let session = Sandbox::on(stage.host().with_helper(&helper), policy)
        .unwrap()
        .session(RuleBook::builtin().unwrap(), asked.prompter())
        .unwrap();
    let run = session
        .command("touch")
        .arg(&helper)
        .output_blocking()
        .unwrap();
    // What remains to be asked for is to leave the sandbox, which a person sees as that.
    for prompt in asked.prompts() {
        assert_eq!(prompt.proposed_grant, None, "{prompt:?}");
    }
    drop(run);
}
