//! The five spans, under both drivers, across awaits, with what each promises.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use palisade_exec_policy::{AskForApproval, ReviewDecision};
use palisade_runner::session::{Command, Session};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::support::Stage;

type Fields = BTreeMap<String, String>;

/// Collects spans of Palisade and what is recorded in them.
#[derive(Clone, Default)]
struct Collector(Arc<Mutex<Vec<(String, Fields)>>>);

struct Into<'a>(&'a mut Fields);

impl Visit for Into<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().to_owned(), value.to_owned());
    }
}

impl Subscriber for Collector {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "palisade"
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut spans = self.0.lock().unwrap();
        let mut fields = Fields::new();
        span.record(&mut Into(&mut fields));
        spans.push((span.metadata().name().to_owned(), fields));
        Id::from_u64(spans.len() as u64)
    }

    fn record(&self, id: &Id, values: &Record<'_>) {
        let mut spans = self.0.lock().unwrap();
        let at = usize::try_from(id.into_u64()).unwrap() - 1;
        values.record(&mut Into(&mut spans[at].1));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, _: &Event<'_>) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

impl Collector {
    fn lines(&self) -> Vec<String> {
        let spans = self.0.lock().unwrap();
        spans
            .iter()
            .map(|(name, fields)| {
                assert!(
                    fields["duration_ms"].parse::<u64>().is_ok(),
                    "{name} has no duration"
                );
                let fields: Vec<_> = fields
                    .iter()
                    .filter(|(name, _)| *name != "duration_ms")
                    .map(|(name, value)| format!("{name}={value}"))
                    .collect();
                format!("{name}: {}", fields.join(" "))
            })
            .collect()
    }
}

/// The spans of one command, without a runtime and with one.
fn spans(session: &Session, make: impl Fn(&Session) -> Command, tokio: bool) -> Vec<String> {
    let collector = Collector::default();
    tracing::subscriber::with_default(collector.clone(), || {
        let command = make(session).call_id("call-7");
        let _outcome = match tokio {
            false => command.output_blocking(),
            true => tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap()
                .block_on(command.output()),
        };
    });
    collector.lines()
}

#[test]
fn a_run_is_traced_from_the_decision_to_its_end() {
    for tokio in [false, true] {
        let stage = Stage::new();
        let session = stage.quiet();
        let seen = spans(&session, |session| session.script("echo hello"), tokio);
        assert_eq!(
            seen,
            [
                "decide: call_id=call-7 decision=allow source=builtin/echo".to_owned(),
                "launch: call_id=call-7 sandbox=landlock".to_owned(),
                "run: bytes=6 call_id=call-7 outcome=exited sandbox=landlock".to_owned(),
            ]
            .map(|line| match line.strip_prefix("decide") {
                // Which rule knows `echo` is not what this is about.
                Some(_) => seen[0].clone(),
                None => line,
            })
        );
        assert!(
            seen[0].starts_with("decide: call_id=call-7 decision=allow source="),
            "{seen:?}"
        );
    }
}

#[test]
fn questions_and_second_attempts_are_traced_with_who_answered() {
    for tokio in [false, true] {
        let stage = Stage::new();
        let policy = stage.policy().approval(AskForApproval::UnlessTrusted);
        let answers = [ReviewDecision::Approved, ReviewDecision::Approved];
        let (session, _) = stage.session(policy, &answers);
        let target = stage.path("outside/made");
        let seen = spans(
            &session,
            |session| session.command("touch").arg(&target),
            tokio,
        );
        assert!(target.exists());
        let names: Vec<&str> = seen
            .iter()
            .filter_map(|line| line.split(':').next())
            .collect();
        assert_eq!(
            names,
            [
                "decide", "approve", "launch", "run", "escalate", "launch", "run"
            ]
        );
        assert!(seen[0].contains("decision=ask"), "{seen:?}");
        assert_eq!(
            seen[1],
            "approve: call_id=call-7 decision=approved source=user"
        );
        assert!(seen[3].contains("outcome=denied"), "{seen:?}");
        assert_eq!(
            seen[4],
            "escalate: call_id=call-7 decision=approved outcome=exited sandbox=landlock source=user"
        );
        assert!(seen[6].contains("outcome=exited"), "{seen:?}");
    }
}

#[test]
fn what_is_refused_or_cannot_be_started_is_traced_too() {
    let stage = Stage::new();
    let (session, _) = stage.session(stage.policy(), &[]);
    let refused = spans(
        &session,
        |session| session.script("rm -rf notes.txt"),
        false,
    );
    assert_eq!(refused.len(), 2, "{refused:?}");
    assert_eq!(
        refused[1],
        "approve: call_id=call-7 decision=denied source=user"
    );
    let missing = spans(
        &session,
        |session| session.command("no-such-program"),
        false,
    );
    let last = missing.last().unwrap();
    assert!(last.contains("outcome=setup-failed"), "{missing:?}");
}

#[test]
fn a_child_is_traced_although_a_task_watches_it() {
    let stage = Stage::new();
    let session = stage.quiet();
    let collector = Collector::default();
    tracing::subscriber::with_default(collector.clone(), || {
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap()
            .block_on(async {
                let child = session.script("echo hello").call_id("call-7").spawn();
                let ended = child.await.unwrap().wait().await;
                assert!(ended.outcome.success());
            });
    });
    let seen = collector.lines();
    assert_eq!(
        seen[1..],
        [
            "launch: call_id=call-7 sandbox=landlock",
            "run: bytes=6 call_id=call-7 outcome=exited sandbox=landlock",
        ]
    );
}
