//! Spans of `tracing`, with the names of spans and fields in one place.
//!
//! | span | fields |
//! |---|---|
//! | `decide` | `call_id`, `decision`, `source` |
//! | `approve` | `call_id`, `decision`, `source` |
//! | `launch` | `call_id`, `sandbox`, `outcome` |
//! | `run` | `call_id`, `sandbox`, `outcome`, `bytes` |
//! | `escalate` | `call_id`, `sandbox`, `decision`, `source`, `outcome` |
//!
//! Each has `duration_ms`, recorded when the step is dropped. The target is [`TARGET`]. Commands are not recorded here,
//! and what is recorded is redacted.

use std::time::Instant;

use palisade_policy::SandboxType;
use tracing::field::Empty;
use tracing::{Instrument as _, Span};

use super::record::{AnswerSource, DecisionWord, outcome_name};
use super::redact;
use crate::environment::sandbox_name;
use crate::outcome::Outcome;

/// The target of every span, for filters.
pub const TARGET: &str = "palisade";

/// One step of a call, while it lasts.
#[derive(Debug)]
pub struct Step {
    span: Span,
    started: Instant,
}

macro_rules! step {
    ($name:literal, $call_id:expr $(, $field:ident = $value:expr)*) => {
        Step::of(tracing::info_span!(
            target: TARGET,
            $name,
            call_id = redact::text($call_id).as_str(),
            duration_ms = Empty
            $(, $field = $value)*
        ))
    };
}

/// The rules are asked.
#[must_use]
pub fn decide(call_id: &str) -> Step {
    step!("decide", call_id, decision = Empty, source = Empty)
}

/// Somebody is asked.
#[must_use]
pub fn approve(call_id: &str) -> Step {
    step!("approve", call_id, decision = Empty, source = Empty)
}

/// A sandbox and a command are set up.
#[must_use]
pub fn launch(call_id: &str, sandbox: SandboxType) -> Step {
    step!(
        "launch",
        call_id,
        sandbox = sandbox_name(sandbox),
        outcome = Empty
    )
}

/// A command runs.
#[must_use]
pub fn run(call_id: &str, sandbox: SandboxType) -> Step {
    step!(
        "run",
        call_id,
        sandbox = sandbox_name(sandbox),
        outcome = Empty,
        bytes = Empty
    )
}

/// A command is run again with more. `sandbox` is what it gets now.
#[must_use]
pub fn escalate(call_id: &str, sandbox: SandboxType) -> Step {
    step!(
        "escalate",
        call_id,
        sandbox = sandbox_name(sandbox),
        decision = Empty,
        source = Empty,
        outcome = Empty
    )
}

impl Step {
    fn of(span: Span) -> Self {
        Self {
            span,
            started: Instant::now(),
        }
    }

    /// What the rules said, and which of them.
    pub fn decided(&self, decision: DecisionWord, source: &str) {
        let word = match decision {
            DecisionWord::Allow => "allow",
            DecisionWord::Ask => "ask",
            DecisionWord::Forbid => "forbid",
        };
        self.span.record("decision", word);
        self.span.record("source", redact::text(source).as_str());
    }

    /// What the answer was, and who gave it.
    pub fn answered(&self, answer: &str, source: AnswerSource) {
        let source = match source {
            AnswerSource::Config => "config",
            AnswerSource::User => "user",
        };
        self.span.record("decision", redact::text(answer).as_str());
        self.span.record("source", source);
    }

    /// How it ended.
    pub fn ended(&self, outcome: &Outcome) {
        self.span.record("outcome", outcome_name(outcome));
    }

    /// How much the command wrote.
    pub fn wrote(&self, bytes: u64) {
        self.span.record("bytes", bytes);
    }

    /// Does something as part of the step.
    pub fn in_scope<T>(&self, work: impl FnOnce() -> T) -> T {
        self.span.in_scope(work)
    }

    /// Waits for something as part of the step.
    pub async fn wait<F: Future>(&self, work: F) -> F::Output {
        work.instrument(self.span.clone()).await
    }
}

impl Drop for Step {
    fn drop(&mut self) {
        let millis = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.span.record("duration_ms", millis);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fmt::Debug;
    use std::sync::{Arc, Mutex};

    use tracing::field::{Field, Visit};
    use tracing::span::{Attributes, Id, Record};
    use tracing::{Event, Metadata, Subscriber};

    use super::*;

    type Fields = BTreeMap<String, String>;

    /// Collects spans and what is recorded in them.
    #[derive(Clone, Default)]
    struct Collector(Arc<Mutex<Vec<(String, Fields, usize)>>>);

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
            metadata.target() == TARGET
        }

        fn new_span(&self, span: &Attributes<'_>) -> Id {
            let mut spans = self.0.lock().unwrap();
            let mut fields = Fields::new();
            span.record(&mut Into(&mut fields));
            spans.push((span.metadata().name().to_owned(), fields, 0));
            Id::from_u64(spans.len() as u64)
        }

        fn record(&self, id: &Id, values: &Record<'_>) {
            let mut spans = self.0.lock().unwrap();
            let at = usize::try_from(id.into_u64()).unwrap() - 1;
            values.record(&mut Into(&mut spans[at].1));
        }

        fn record_follows_from(&self, _: &Id, _: &Id) {}
        fn event(&self, _: &Event<'_>) {}

        fn enter(&self, id: &Id) {
            let at = usize::try_from(id.into_u64()).unwrap() - 1;
            self.0.lock().unwrap()[at].2 += 1;
        }

        fn exit(&self, _: &Id) {}
    }

    #[test]
    fn every_step_says_what_it_promises() {
        let collector = Collector::default();
        tracing::subscriber::with_default(collector.clone(), || {
            let step = decide("call-1");
            step.in_scope(|| ());
            step.decided(DecisionWord::Ask, "rule:git-push");
            drop(step);
            let step = approve("call-1");
            step.answered("approved", AnswerSource::User);
            drop(step);
            launch("call-1", SandboxType::LinuxLandlock).ended(&Outcome::Cancelled);
            let step = run("call-1", SandboxType::LinuxLandlock);
            step.ended(&Outcome::Exited { code: 0 });
            step.wrote(42);
            drop(step);
            let step = escalate("token=abc", SandboxType::None);
            step.answered("--password hunter2", AnswerSource::Config);
            step.ended(&Outcome::Exited { code: 1 });
        });
        let spans = collector.0.lock().unwrap();
        let seen: Vec<String> = spans
            .iter()
            .map(|(name, fields, _)| {
                let fields: Vec<_> = fields
                    .iter()
                    .filter(|(name, _)| *name != "duration_ms")
                    .map(|(name, value)| format!("{name}={value}"))
                    .collect();
                format!("{name}: {}", fields.join(" "))
            })
            .collect();
        assert_eq!(
            seen,
            [
                "decide: call_id=call-1 decision=ask source=rule:git-push",
                "approve: call_id=call-1 decision=approved source=user",
                "launch: call_id=call-1 outcome=cancelled sandbox=landlock",
                "run: bytes=42 call_id=call-1 outcome=exited sandbox=landlock",
                "escalate: call_id=token=[redacted] decision=--password [redacted] outcome=exited sandbox=none source=config",
            ]
        );
        assert!(
            spans
                .iter()
                .all(|(_, fields, _)| fields["duration_ms"].parse::<u64>().is_ok())
        );
        assert_eq!(spans[0].2, 1);
    }
}
