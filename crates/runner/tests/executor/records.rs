//! What a command is told about its place, and what is kept of its run.

use std::sync::{Arc, Mutex};

use palisade_exec_policy::{AskForApproval, ReviewDecision};
use palisade_policy::{CanonicalSandboxPolicy, NetworkAllowlistEntry};
use palisade_runner::audit::{AnswerSource, AuditRecord, AuditSink, DecisionWord};
use palisade_runner::executor::{Executor, ExecutorConfig, Foundation};

use crate::support::{Scripted, Stage};

#[tokio::test]
async fn a_command_has_its_environment_and_true_markers_and_nothing_else() {
    let stage = Stage::new();
    let Some(executor) = stage.executor() else {
        return;
    };
    let host = Scripted::new([ReviewDecision::Approved]);
    let mut request = stage.script("env");
    let env = &mut request.params.env;
    env.insert("GIVEN".into(), "yes".into());
    env.insert("PALISADE_SANDBOX".into(), "forged".into());
    let inside = host
        .run(&executor, request.clone(), AskForApproval::OnFailure)
        .await
        .unwrap()
        .stdout
        .text;
    let has = |text: &str, line: &str| text.lines().any(|found| found == line);
    assert!(has(&inside, "GIVEN=yes"), "{inside}");
    assert!(has(&inside, "PALISADE_SANDBOX=landlock"), "{inside}");
    assert!(
        has(&inside, "PALISADE_SANDBOX_NETWORK_DISABLED=1"),
        "{inside}"
    );
    assert!(!inside.contains("CARGO"), "nothing is inherited: {inside}");

    // The same command, approved without a sandbox, is told so.
    request.params.with_escalated_permissions = true;
    let outside = host
        .run(&executor, request, AskForApproval::OnRequest)
        .await
        .unwrap()
        .stdout
        .text;
    assert!(has(&outside, "PALISADE_SANDBOX=none"), "{outside}");
    assert!(!outside.contains("NETWORK_DISABLED"), "{outside}");
}

#[derive(Default)]
struct Kept(Mutex<Vec<AuditRecord>>);

impl AuditSink for Kept {
    fn record(&self, record: &AuditRecord) {
        self.0.lock().unwrap().push(record.clone());
    }
}

fn audited(stage: &Stage, executor: &Executor, kept: &Arc<Kept>) -> Executor {
    let config = ExecutorConfig::new(stage.policy(), stage.root(), Some(stage.helper.clone()));
    let foundation: Foundation = executor.foundation().clone();
    Executor::new(config, foundation.audited_by(Arc::clone(kept) as _))
}

#[tokio::test]
async fn every_call_leaves_one_record_that_tells_what_became_of_it() {
    let stage = Stage::new();
    let Some(executor) = stage.executor() else {
        return;
    };
    let kept = Arc::new(Kept::default());
    let executor = audited(&stage, &executor, &kept);
    let target = stage.outside.join("made");
    let script = format!("echo x > '{}'", target.display());
    let host = Scripted::new([ReviewDecision::Approved]);
    let granted = host.run(&executor, stage.script(&script), AskForApproval::OnFailure);
    granted.await.unwrap();
    let dropped = host.run(
        &executor,
        stage.script("frobnicate"),
        AskForApproval::UnlessTrusted,
    );
    dropped.await.unwrap_err();
    let mut refused = stage.script("rm -rf x");
    refused.params.command = ["rm", "-rf", "x"].map(Into::into).to_vec();
    let refused = host.run(&executor, refused, AskForApproval::Never);
    refused.await.unwrap_err();

    let records = kept.0.lock().unwrap();
    let [ran, denied, forbidden] = &records[..] else {
        panic!("{records:?}");
    };
    assert_eq!(ran.call_id, "call-1");
    assert_eq!(ran.decision, Some(DecisionWord::Allow));
    assert_eq!(ran.sandbox.as_deref(), Some("landlock"));
    assert_eq!(ran.escalation.as_deref(), Some("narrower"));
    assert_eq!(ran.exit_code, Some(0));
    assert_eq!(denied.decision, Some(DecisionWord::Ask));
    assert_eq!(denied.answer.as_deref(), Some("denied"));
    assert_eq!(denied.answer_source, Some(AnswerSource::User));
    assert_eq!(denied.outcome.as_deref(), Some("refused"));
    assert_eq!(denied.exit_code, None, "it never ran");
    assert_eq!(forbidden.decision, Some(DecisionWord::Forbid));
    assert_eq!(forbidden.outcome.as_deref(), Some("refused"));
    assert_eq!(forbidden.argv, ["rm", "-rf", "x"]);
}

#[tokio::test]
async fn every_connection_of_a_call_is_a_record() {
    use std::io::{Read as _, Write as _};

    let stage = Stage::new();
    let Some(executor) = stage.executor() else {
        return;
    };
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut stream in server.incoming().flatten() {
            drop(stream.read(&mut [0; 1024]));
            let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nfine\n";
            drop(stream.write_all(answer));
        }
    });
    let kept = Arc::new(Kept::default());
    let listed = NetworkAllowlistEntry::with_port("127.0.0.1", port).unwrap();
    let policy = CanonicalSandboxPolicy::workspace_write_with_network([stage.root()], [listed]);
    let config = ExecutorConfig::new(policy, stage.root(), Some(stage.helper.clone()));
    let foundation: Foundation = executor.foundation().clone();
    let executor = Executor::new(config, foundation.audited_by(Arc::clone(&kept) as _));
    let host = Scripted::new([ReviewDecision::Approved, ReviewDecision::Denied]);
    let script = format!(
        "for url in 127.0.0.1:{port} evil.test; do curl -s --noproxy '' http://$url/; done; true"
    );
    let run = host.run(&executor, stage.script(&script), AskForApproval::OnFailure);
    let output = run.await.unwrap().stdout.text;
    assert!(output.starts_with("fine\n"), "{output}");
    let records = kept.0.lock().unwrap();
    let connections: Vec<_> = records
        .iter()
        .filter(|one| one.connection.is_some())
        .collect();
    let [fine, refused] = &connections[..] else {
        panic!("{records:?}");
    };
    for record in [fine, refused] {
        assert_eq!(
            (record.call_id.as_str(), record.tool.as_str()),
            ("call-1", "network")
        );
        assert_eq!(record.cwd, stage.workspace.display().to_string());
    }
    assert_eq!(fine.decision, Some(DecisionWord::Allow));
    assert_eq!(fine.outcome.as_deref(), Some("complete"));
    let connection = refused.connection.as_ref().unwrap();
    assert_eq!(connection.host.as_deref(), Some("evil.test"));
    assert!(refused.refusal.as_ref().unwrap().contains("does not list"));
}
