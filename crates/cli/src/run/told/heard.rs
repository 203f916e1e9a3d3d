//! What was heard on the way of a command, for what is said at its end.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use palisade::runner::approve::{BoxFuture, Prompt, Prompter};
use palisade::runner::exec_policy::{Refusal, ReviewDecision, Rules};
use palisade::runner::judge::Judgement;

use super::programs;
use crate::ask;
use crate::events::{Events, Place};

/// What was heard so far.
#[derive(Debug, Default)]
pub(super) struct Heard {
    judgement: Mutex<Option<Judgement>>,
    attempts: AtomicU64,
    /// Each rule, and where it stands.
    places: OnceLock<Vec<Place>>,
}

impl Heard {
    /// The rules that will judge.
    pub(super) fn rules(&self, rules: &Rules) {
        let places = rules.policy().rules().iter().map(|rule| Place {
            id: rule.id.clone(),
            file: rule.origin.source.clone(),
            line: rule.origin.line,
        });
        // Told once; a second time changes nothing.
        let _ = self.places.set(places.collect());
    }

    pub(super) fn judged(&self, judgement: &Judgement) {
        let mut heard = self
            .judgement
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *heard = Some(judgement.clone());
    }

    pub(super) fn judgement(&self) -> Option<Judgement> {
        let heard = self.judgement.lock();
        heard.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Where the rule stands that spoke, if one did.
    pub(super) fn place(&self, judgement: &Judgement) -> Option<Place> {
        let places = self.places.get()?;
        places
            .iter()
            .find(|place| place.id == judgement.source)
            .cloned()
    }

    /// One more attempt: which, from 1.
    pub(super) fn count(&self) -> u64 {
        self.attempts.fetch_add(1, Ordering::Relaxed) + 1
    }
}

/// Whether a refusal is that of nobody.
pub(super) fn nobody(refusal: &Refusal) -> bool {
    match refusal {
        Refusal::Denied { note } => note
            .as_deref()
            .is_some_and(|note| note.starts_with(ask::NOBODY)),
        Refusal::Unanswered => true,
        _ => false,
    }
}

/// Somebody who is asked, while events tell what.
pub(crate) struct Overheard {
    asked: Arc<dyn Prompter>,
    events: Events,
}

impl Overheard {
    pub(super) fn new(asked: Box<dyn Prompter>, events: Events) -> Self {
        Self {
            asked: Arc::from(asked),
            events,
        }
    }
}

impl Prompter for Overheard {
    fn ask<'a>(&'a self, prompt: &'a Prompt) -> BoxFuture<'a, ReviewDecision> {
        Box::pin(async move {
            self.events.tell(&programs::question(prompt));
            let answer = self.asked.ask(prompt).await;
            self.events.tell(&programs::answer(&answer));
            answer
        })
    }

    fn answers_while_running(&self) -> bool {
        self.asked.answers_while_running()
    }
}
