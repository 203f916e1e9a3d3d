//! A prompter for programs with a loop of their own: questions go into a queue, answers come back.

use palisade_exec_policy::ReviewDecision;
use tokio::sync::{mpsc, oneshot};

use super::BoxFuture;
use super::prompt::Prompt;
use super::prompter::Prompter;

/// A question that waits in a queue. Whoever drops it has said no.
#[derive(Debug)]
#[must_use = "a question that is dropped is answered with no"]
pub struct Asked {
    prompt: Prompt,
    answer: oneshot::Sender<ReviewDecision>,
}

impl Asked {
    /// The question.
    #[must_use]
    pub const fn prompt(&self) -> &Prompt {
        &self.prompt
    }

    /// Whether nobody waits for the answer any more, such as after a cancellation.
    #[must_use]
    pub fn is_moot(&self) -> bool {
        self.answer.is_closed()
    }

    /// Answers it. If nobody waits any more, the answer changes nothing.
    pub fn answer(self, decision: ReviewDecision) {
        let _ = self.answer.send(decision);
    }
}

/// Puts questions into a queue, and waits for the answers. Clones use the same queue.
#[derive(Clone, Debug)]
pub struct QueuePrompter {
    queue: mpsc::Sender<Asked>,
}

/// A prompter, and the queue that it fills; it holds this many questions that nobody has looked at, at least one.
#[must_use]
pub fn prompt_queue(capacity: usize) -> (QueuePrompter, mpsc::Receiver<Asked>) {
    let (queue, questions) = mpsc::channel(capacity.max(1));
    (QueuePrompter { queue }, questions)
}

impl Prompter for QueuePrompter {
    fn ask<'a>(&'a self, prompt: &'a Prompt) -> BoxFuture<'a, ReviewDecision> {
        Box::pin(async move {
            let (answer, answered) = oneshot::channel();
            let asked = Asked {
                prompt: prompt.clone(),
                answer,
            };
            if self.queue.send(asked).await.is_err() {
                return ReviewDecision::Denied;
            }
            answered.await.unwrap_or_default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::approve::ask;
    use crate::supervise::block_on;

    fn prompt() -> Prompt {
        Prompt::new("call-1", ["make"], "/srv/app")
    }

    #[test]
    fn questions_are_answered_from_another_thread_without_a_runtime() {
        let (prompter, mut questions) = prompt_queue(1);
        let person = std::thread::spawn(move || {
            let asked = questions.blocking_recv().unwrap();
            assert_eq!(asked.prompt().display_line(), "make");
            asked.answer(ReviewDecision::Approved);
        });
        assert_eq!(
            block_on(ask(&prompter, &prompt())),
            ReviewDecision::Approved
        );
        person.join().unwrap();
    }

    #[test]
    fn a_dropped_question_or_queue_means_no() {
        let (prompter, mut questions) = prompt_queue(1);
        let person = std::thread::spawn(move || {
            drop(questions.blocking_recv());
            drop(questions);
        });
        assert_eq!(block_on(ask(&prompter, &prompt())), ReviewDecision::Denied);
        person.join().unwrap();
        assert_eq!(block_on(ask(&prompter, &prompt())), ReviewDecision::Denied);
    }

    #[tokio::test]
    async fn whoever_looks_at_the_queue_sees_that_nobody_waits_any_more() {
        let (prompter, mut questions) = prompt_queue(1);
        let waiting = tokio::spawn(async move { ask(&prompter, &prompt()).await });
        let asked = questions.recv().await.unwrap();
        assert!(!asked.is_moot());
        waiting.abort();
        let _ = waiting.await;
        assert!(asked.is_moot());
        asked.answer(ReviewDecision::Approved);
    }
}
