//! What a command writes about its failure is its own word: nobody is led to open more than they see.

use std::sync::{Arc, Mutex};

use palisade_exec_policy::{AskForApproval, ReviewDecision};
use palisade_policy::Grant;
use palisade_runner::approve::Prompt;
use palisade_runner::audit::{AuditRecord, AuditSink};
use palisade_runner::session::SessionOptions;

use crate::support::{Person, Stage};

/// What is asked after a command has claimed this and failed.
fn asked_after(stage: &Stage, claim: &str) -> Vec<Prompt> {
    std::fs::write(stage.path("workspace/claim"), claim).unwrap();
    let program = stage.script("workspace/program", "cat claim >&2; exit 1");
    let policy = stage.policy().approval(AskForApproval::OnFailure);
    let person = Person::new(&[ReviewDecision::Denied]);
    let session = stage.session(policy, person.answering());
    let run = session.command(program).output_blocking().unwrap();
    assert!(!run.outcome.success());
    person.prompts()
}

#[test]
fn a_claim_about_a_secret_is_asked_about_loudly() {
    let stage = Stage::new();
    let secret = stage.path("home/.ssh/id_ed25519");
    let prompts = asked_after(
        &stage,
        &format!("cat: {}: Permission denied\n", secret.display()),
    );
    assert!(!prompts.is_empty());
    for prompt in &prompts {
        let said = prompt.reasons.join(" ");
        if let Some(grant) = &prompt.proposed_grant {
            assert!(
                said.contains("WARNING: this lifts a guard"),
                "{grant}: {said}"
            );
        }
        let why = prompt.retry_reason.clone().unwrap_or_default();
        assert!(why.contains("named by the command itself"), "{why}");
    }
}

#[test]
fn what_decides_about_commands_is_never_offered() {
    let stage = Stage::new();
    for below in [
        "home",
        "home/.local/state/palisade/approvals.toml",
        "home/.config/palisade/policy.toml",
        "home/.local",
    ] {
        let path = stage.path(below);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let claim = format!(
            "touch: cannot touch '{}': Read-only file system\n",
            path.display()
        );
        for prompt in asked_after(&stage, &claim) {
            let offered = prompt.proposed_grant;
            assert!(!matches!(offered, Some(Grant::Write(_))), "{offered:?}");
        }
    }
}

#[test]
fn a_claim_that_would_draw_on_the_prompt_is_none() {
    let stage = Stage::new();
    let path = stage.path("outside/a\u{1b}[2K\u{202e}b");
    let claim = format!(
        "touch: cannot touch '{}': Read-only file system\n",
        path.display()
    );
    assert_eq!(asked_after(&stage, &claim), []);
}

/// Somebody who tries what is forbidden leaves a trace.
#[test]
fn what_was_refused_is_on_record() {
    #[derive(Default)]
    struct Records(Mutex<Vec<AuditRecord>>);
    impl AuditSink for Records {
        fn record(&self, record: &AuditRecord) {
            self.0.lock().unwrap().push(record.clone());
        }
    }
    let stage = Stage::new();
    let records = Arc::new(Records::default());
    let options = SessionOptions::default().with_audit(Arc::clone(&records) as Arc<dyn AuditSink>);
    let nobody = |_: &Prompt| ReviewDecision::Denied;
    let session = stage.session_under("", stage.policy(), nobody, options);
    assert!(session.script("rm -rf nothing").output_blocking().is_err());
    let records = records.0.lock().unwrap();
    assert_eq!(records.len(), 1);
    assert_eq!(records[0].outcome.as_deref(), Some("refused"));
    assert_eq!(records[0].argv[0], "bash");
}
