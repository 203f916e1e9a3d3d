//! What an audit sink is told about commands that ran, that ran again, and that did not.

use std::sync::{Arc, Mutex};

use palisade_exec_policy::{AskForApproval, ReviewDecision};
use palisade_policy::Grant;
use palisade_runner::audit::{AnswerSource, AuditRecord, AuditSink, DecisionWord};
use palisade_runner::judge::RuleBook;
use palisade_runner::session::{Policy, Sandbox, Session, SessionOptions};

use crate::support::{Asked, Stage};

#[derive(Default)]
struct Kept(Mutex<Vec<AuditRecord>>);

impl AuditSink for Kept {
    fn record(&self, record: &AuditRecord) {
        self.0.lock().unwrap().push(record.clone());
    }
}

impl Kept {
    fn only(&self) -> AuditRecord {
        let mut records = std::mem::take(&mut *self.0.lock().unwrap());
        assert_eq!(records.len(), 1, "{records:?}");
        records.remove(0)
    }
}

fn audited(stage: &Stage, policy: Policy, answers: &[ReviewDecision]) -> (Session, Arc<Kept>) {
    let kept = Arc::new(Kept::default());
    let options = SessionOptions::default().with_audit(Arc::clone(&kept) as Arc<dyn AuditSink>);
    let asked = Asked::new(answers);
    let book = RuleBook::from_text(
        "rules",
        "version = 1\n[[rule]]\nid = \"no-nc\"\nprefix = [\"nc\"]\ndecision = \"forbid\"\nwhy = \"it leaks\"\n",
    )
    .unwrap();
    let session = Sandbox::on(stage.host(), policy)
        .unwrap()
        .session_with(book, asked.prompter(), options)
        .unwrap();
    (session, kept)
}

#[test]
fn what_the_rules_forbid_is_recorded_with_the_rule_and_the_reason() {
    let stage = Stage::new();
    let (session, kept) = audited(&stage, stage.policy(), &[]);
    session
        .command("nc")
        .args(["-e", "--password", "hunter2"])
        .call_id("call-1")
        .output_blocking()
        .unwrap_err();
    let record = kept.only();
    assert_eq!(record.call_id, "call-1");
    assert_eq!(record.outcome.as_deref(), Some("refused"));
    assert_eq!(record.decision, Some(DecisionWord::Forbid));
    assert_eq!(record.rule.as_deref(), Some("no-nc"));
    assert!(record.refusal.unwrap().contains("it leaks"));
    assert_eq!(record.exit_code, None, "nothing ran");
    assert!(!record.argv.iter().any(|word| word.contains("hunter2")));
}

#[test]
fn what_a_person_refuses_is_recorded_with_the_answer() {
    let stage = Stage::new();
    let denied = ReviewDecision::DeniedWithNote {
        note: "use the trash".to_owned(),
    };
    let (session, kept) = audited(&stage, stage.policy(), &[denied]);
    session
        .script("rm -rf notes.txt")
        .output_blocking()
        .unwrap_err();
    let record = kept.only();
    assert_eq!(record.decision, Some(DecisionWord::Ask));
    assert_eq!(record.answer.as_deref(), Some("denied"));
    assert_eq!(record.answer_source, Some(AnswerSource::User));
    assert_eq!(record.outcome.as_deref(), Some("refused"));
    assert!(record.refusal.unwrap().contains("use the trash"));
}

#[test]
fn a_second_attempt_is_recorded_with_what_was_granted_for_it() {
    let stage = Stage::new();
    let policy = stage.policy().approval(AskForApproval::OnFailure);
    let (session, kept) = audited(&stage, policy, &[ReviewDecision::Approved]);
    let target = stage.path("outside/made");
    let run = session.command("touch").arg(&target).output_blocking();
    assert!(run.unwrap().outcome.success());
    let record = kept.only();
    assert_eq!(record.escalation.as_deref(), Some("narrower"));
    assert!(
        matches!(&record.grants[..], [Grant::Write(path)] if target.starts_with(path.as_path())),
        "{record:?}"
    );
    assert_eq!(record.outcome.as_deref(), Some("exited"));
    assert_eq!(record.sandbox.as_deref(), Some("landlock"));
}

#[test]
fn what_cannot_be_started_and_what_is_spawned_are_recorded() {
    let stage = Stage::new();
    let (session, kept) = audited(&stage, stage.policy(), &[]);
    let gone = session.command("no-such-program").output_blocking();
    assert!(!gone.unwrap().outcome.success());
    assert_eq!(kept.only().outcome.as_deref(), Some("setup-failed"));
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let child = session.script("echo hello; exit 3").spawn().await.unwrap();
        assert_eq!(child.wait().await.outcome.exit_code(), 3);
    });
    let record = kept.only();
    assert_eq!((record.exit_code, record.bytes_out), (Some(3), 6));
    assert!(record.policy.is_some());
}
