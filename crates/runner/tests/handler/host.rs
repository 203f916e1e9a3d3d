//! A host whose person follows a script, and what happened to it.

use std::collections::VecDeque;
use std::future::ready;
use std::sync::{Arc, Mutex};

use palisade_exec_policy::{ExecPolicyAmendment, GrantScope, ReviewDecision};
use palisade_policy::{Availability, Grant, HostFacts, Os};
use palisade_runner::approve::{ApprovalStore, BoxFuture, Prompt, Prompter};
use palisade_runner::handler::{KeepError, ToolEvent, ToolSession};
use palisade_runner::select::SandboxManager;

/// Answers one after another; then no.
#[derive(Default)]
pub(crate) struct Person {
    pub(crate) answers: Mutex<VecDeque<ReviewDecision>>,
    pub(crate) asked: Mutex<Vec<Prompt>>,
}

impl Prompter for Person {
    fn ask<'a>(&'a self, prompt: &'a Prompt) -> BoxFuture<'a, ReviewDecision> {
        self.asked.lock().unwrap().push(prompt.clone());
        let answer = self.answers.lock().unwrap().pop_front();
        Box::pin(ready(answer.unwrap_or_default()))
    }
}

pub(crate) struct FakeHost {
    pub(crate) person: Person,
    pub(crate) sandboxes: SandboxManager,
    pub(crate) approvals: ApprovalStore,
    pub(crate) amendments: Mutex<Vec<ExecPolicyAmendment>>,
    pub(crate) grants: Mutex<Vec<Grant>>,
    pub(crate) events: Mutex<Vec<String>>,
    pub(crate) keeps: bool,
}

impl FakeHost {
    pub(crate) fn new(sandboxes: SandboxManager, answers: &[ReviewDecision]) -> Arc<Self> {
        Arc::new(Self {
            person: Person {
                answers: Mutex::new(answers.iter().cloned().collect()),
                asked: Mutex::default(),
            },
            sandboxes,
            approvals: ApprovalStore::new(),
            amendments: Mutex::default(),
            grants: Mutex::default(),
            events: Mutex::default(),
            keeps: true,
        })
    }

    /// One where a sandbox works, or not, without looking.
    pub(crate) fn told(works: bool, answers: &[ReviewDecision]) -> Arc<Self> {
        let availability = match works {
            true => Availability::Works,
            false => Availability::Missing {
                why: "for a test".to_owned(),
                cure: None,
            },
        };
        Self::new(
            SandboxManager::told(HostFacts::new(Os::Linux), availability),
            answers,
        )
    }

    pub(crate) fn asked(&self) -> Vec<Prompt> {
        self.person.asked.lock().unwrap().clone()
    }

    pub(crate) fn events(&self) -> Vec<String> {
        self.events.lock().unwrap().clone()
    }

    fn kept(&self) -> Result<(), KeepError> {
        match self.keeps {
            true => Ok(()),
            false => Err(KeepError("the disk is full".to_owned())),
        }
    }
}

impl ToolSession for FakeHost {
    fn prompter(&self) -> &dyn Prompter {
        &self.person
    }

    fn approvals(&self) -> &ApprovalStore {
        &self.approvals
    }

    fn sandboxes(&self) -> &SandboxManager {
        &self.sandboxes
    }

    fn keep_amendment<'a>(
        &'a self,
        amendment: &'a ExecPolicyAmendment,
    ) -> BoxFuture<'a, Result<(), KeepError>> {
        let kept = self.kept();
        if kept.is_ok() {
            self.amendments.lock().unwrap().push(amendment.clone());
        }
        Box::pin(ready(kept))
    }

    fn keep_grant<'a>(
        &'a self,
        grant: &'a Grant,
        _: GrantScope,
        _: Option<u64>,
    ) -> BoxFuture<'a, Result<(), KeepError>> {
        let kept = self.kept();
        if kept.is_ok() {
            self.grants.lock().unwrap().push(grant.clone());
        }
        Box::pin(ready(kept))
    }

    fn grants(&self) -> Vec<Grant> {
        self.grants.lock().unwrap().clone()
    }

    fn report<'a>(&'a self, _: &'a str, event: ToolEvent<'a>) -> BoxFuture<'a, ()> {
        let text = match event {
            ToolEvent::Notice(text) => text.to_owned(),
            ToolEvent::Decided {
                decision,
                source,
                purpose,
                ..
            } => format!("{decision:?} by {source:?} to {purpose:?}"),
            ToolEvent::NotKept { why } => format!("not kept: {why}"),
            _ => String::from("something else"),
        };
        self.events.lock().unwrap().push(text);
        Box::pin(ready(()))
    }
}
