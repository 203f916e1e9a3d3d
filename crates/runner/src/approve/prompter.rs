//! Who can put a question to a person.

use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Poll;

use palisade_exec_policy::ReviewDecision;

use super::BoxFuture;
use super::prompt::Prompt;

/// Somebody who can put a question to a person, and waits for the answer.
///
/// A function from a prompt to an answer is one, too:
///
/// ```
/// use palisade_exec_policy::ReviewDecision;
/// use palisade_runner::approve::{Prompt, Prompter};
///
/// let careful = |prompt: &Prompt| {
///     if prompt.display_line() == "cargo test" { ReviewDecision::Approved } else { ReviewDecision::Denied }
/// };
/// let _prompter: &dyn Prompter = &careful;
/// ```
pub trait Prompter: Send + Sync {
    /// Asks. The future can be dropped at any time: then nobody waits for the answer any more, and it counts as no.
    fn ask<'a>(&'a self, prompt: &'a Prompt) -> BoxFuture<'a, ReviewDecision>;

    /// Whether somebody can be asked while a command runs, such as about a host that it wants to reach. Not where the command
    /// has the screen and the keys that a question would need.
    fn answers_while_running(&self) -> bool {
        true
    }
}

impl<F> Prompter for F
where
    F: Fn(&Prompt) -> ReviewDecision + Send + Sync,
{
    fn ask<'a>(&'a self, prompt: &'a Prompt) -> BoxFuture<'a, ReviewDecision> {
        Box::pin(async move { self(prompt) })
    }
}

impl Prompter for Box<dyn Prompter> {
    fn ask<'a>(&'a self, prompt: &'a Prompt) -> BoxFuture<'a, ReviewDecision> {
        (**self).ask(prompt)
    }

    fn answers_while_running(&self) -> bool {
        (**self).answers_while_running()
    }
}

/// Nobody is there: every answer is no.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "there is nothing to say about nobody"
)]
pub struct NoPrompter;

impl Prompter for NoPrompter {
    fn ask<'a>(&'a self, _: &'a Prompt) -> BoxFuture<'a, ReviewDecision> {
        Box::pin(std::future::ready(ReviewDecision::Denied))
    }

    fn answers_while_running(&self) -> bool {
        false
    }
}

/// Asks, whatever the prompter does: one that panics has said no.
pub async fn ask(prompter: &dyn Prompter, prompt: &Prompt) -> ReviewDecision {
    no_on_panic(|| prompter.ask(prompt)).await
}

/// The answer of a future, or no if making or driving it panics.
pub async fn no_on_panic<F, Answer>(asking: F) -> ReviewDecision
where
    F: FnOnce() -> Answer,
    Answer: Future<Output = ReviewDecision> + Unpin,
{
    let Ok(mut answer) = catch_unwind(AssertUnwindSafe(asking)) else {
        return broken();
    };
    poll_fn(|context| {
        // After a panic the future is dropped and never looked at again.
        let mut poll = || std::pin::Pin::new(&mut answer).poll(context);
        match catch_unwind(AssertUnwindSafe(&mut poll)) {
            Ok(polled) => polled,
            Err(_) => Poll::Ready(broken()),
        }
    })
    .await
}

fn broken() -> ReviewDecision {
    tracing::error!("the prompter panicked; that counts as no");
    ReviewDecision::Denied
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::supervise::block_on;

    fn prompt() -> Prompt {
        Prompt::new("call-1", ["make"], "/srv/app")
    }

    #[test]
    fn nobody_says_no() {
        let answer = block_on(ask(&NoPrompter, &prompt()));
        assert_eq!(answer, ReviewDecision::Denied);
    }

    #[test]
    fn a_function_is_a_prompter() {
        let yes = |prompt: &Prompt| {
            assert_eq!(prompt.call_id, "call-1");
            ReviewDecision::ApprovedForSession
        };
        let answer = block_on(ask(&yes, &prompt()));
        assert_eq!(answer, ReviewDecision::ApprovedForSession);
    }

    #[test]
    fn a_prompter_that_panics_before_or_while_it_waits_has_said_no() {
        struct AtOnce;
        impl Prompter for AtOnce {
            fn ask<'a>(&'a self, _: &'a Prompt) -> BoxFuture<'a, ReviewDecision> {
                panic!("no window")
            }
        }
        struct Later;
        impl Prompter for Later {
            fn ask<'a>(&'a self, _: &'a Prompt) -> BoxFuture<'a, ReviewDecision> {
                Box::pin(async {
                    tokio::task::yield_now().await;
                    panic!("the window went away")
                })
            }
        }
        assert_eq!(block_on(ask(&AtOnce, &prompt())), ReviewDecision::Denied);
        assert_eq!(block_on(ask(&Later, &prompt())), ReviewDecision::Denied);
    }
}
