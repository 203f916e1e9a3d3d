//! Live output that was not taken before the end, handed over afterwards.

use std::collections::VecDeque;
use std::task::{Context, Poll};
use std::time::Duration;

use super::cancel::Listener;
use super::live::Held;
use crate::launch::Live;

/// Live output that was not taken before the end.
pub(super) struct Backlog<'a> {
    pub(super) live: Live,
    pub(super) held: VecDeque<Held>,
    pub(super) patience: Duration,
    /// When waiting is over; nothing is waited for without it.
    pub(super) until: Option<Duration>,
    pub(super) cancel: Option<Listener<'a>>,
}

impl Backlog<'_> {
    /// Hands over in order. Ready when all is taken, or who looks on has taken nothing for the drain time.
    pub(super) fn step(&mut self, cx: &mut Context<'_>, now: Duration) -> Poll<()> {
        let before = self.held.len();
        while let Some(held) = self.held.front_mut() {
            if held.poll(&mut self.live, cx).is_pending() {
                break;
            }
            self.held.pop_front();
        }
        let cancelled = self
            .cancel
            .as_mut()
            .is_some_and(|cancel| cancel.poll(cx).is_ready());
        if self.held.is_empty() || cancelled {
            return Poll::Ready(());
        }
        if self.held.len() < before && self.until.is_some() {
            self.until = Some(now.saturating_add(self.patience));
        }
        match self.until {
            Some(until) if now < until => Poll::Pending,
            _ => Poll::Ready(()),
        }
    }

    /// When a step is due even if nobody was woken.
    pub(super) const fn deadline(&self) -> Option<Duration> {
        self.until
    }

    /// What to tell where something was not taken.
    pub(super) fn note(self) -> Option<String> {
        (!self.held.is_empty()).then(|| {
            "the end of the live output was not taken in time; it is in the captured output"
                .to_owned()
        })
    }
}
