//! One record for each command, whatever becomes of it.

use std::sync::{Arc, Mutex};

use palisade_exec_policy::ReviewDecision;
use palisade_runner::audit::{AnswerSource, AuditRecord, AuditSink, DecisionWord};
use palisade_runner::judge::RuleBook;
use palisade_runner::session::{Sandbox, SessionOptions};

use crate::support::{Asked, Stage};

#[derive(Default)]
struct Kept(Mutex<Vec<AuditRecord>>);

impl AuditSink for Kept {
    fn record(&self, record: &AuditRecord) {
        self.0.lock().unwrap().push(record.clone());
    }
}

#[test]
fn what_runs_what_is_forbidden_and_what_somebody_refuses_is_recorded_once() {
    let stage = Stage::new();
    let kept = Arc::new(Kept::default());
    let asked = Asked::new(&[ReviewDecision::Denied]);
    let session = Sandbox::on(stage.host(), stage.policy())
        .unwrap()
        .session_with(
            RuleBook::builtin().unwrap(),
            asked.prompter(),
            SessionOptions::default().with_audit(Arc::clone(&kept) as _),
        )
        .unwrap();
    let command = |program: &str, argument: &str| session.command(program).arg(argument);
    let run = command("cat", "notes.txt")
        .call_id("reads")
        .output_blocking();
    assert!(run.unwrap().outcome.success());
    let forbidden = session
        .command("rm")
        .args(["-rf", "/"])
        .call_id("forbidden");
    forbidden.output_blocking().unwrap_err();
    let refused = session
        .command("rm")
        .args(["-rf", "x"])
        .call_id("refused")
        .cwd("sub");
    refused.output_blocking().unwrap_err();

    let records = kept.0.lock().unwrap();
    let [ran, forbidden, refused] = &records[..] else {
        panic!("{records:?}");
    };
    assert_eq!((ran.call_id.as_str(), ran.exit_code), ("reads", Some(0)));
    assert_eq!(ran.sandbox.as_deref(), Some("landlock"));
    assert_eq!(ran.bytes_out, 6);
    assert_eq!(forbidden.call_id, "forbidden");
    assert_eq!(forbidden.decision, Some(DecisionWord::Forbid));
    assert!(
        forbidden
            .refusal
            .as_deref()
            .unwrap()
            .contains("Removes the system")
    );
    assert_eq!(refused.argv, ["rm", "-rf", "x"]);
    assert!(refused.cwd.ends_with("workspace/sub"), "{}", refused.cwd);
    assert_eq!(refused.decision, Some(DecisionWord::Ask));
    assert_eq!(refused.answer.as_deref(), Some("denied"));
    assert_eq!(refused.answer_source, Some(AnswerSource::User));
    for record in [forbidden, refused] {
        assert_eq!(record.exit_code, None, "it never ran");
        assert!(record.refusal.is_some());
    }
}
