//! What was answered in this session, by key.

use std::collections::HashMap;
use std::future::Future;
use std::sync::Arc;

use palisade_exec_policy::ReviewDecision;
use serde::Serialize;
use tokio::sync::Mutex;

/// What was answered, by key. Clones are the same store. It needs no runtime.
#[derive(Clone, Debug, Default)]
pub struct ApprovalStore {
    answers: Arc<Mutex<HashMap<String, ReviewDecision>>>,
}

impl ApprovalStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A copy of what was answered to this key last.
    pub async fn get(&self, key: &str) -> Option<ReviewDecision> {
        self.answers.lock().await.get(key).cloned()
    }

    /// Keeps an answer in place of the one before it.
    pub async fn set(&self, key: impl Into<String>, decision: ReviewDecision) {
        self.answers.lock().await.insert(key.into(), decision);
    }

    /// Whether anything was answered to this key, be it no.
    pub async fn contains(&self, key: &str) -> bool {
        self.answers.lock().await.contains_key(key)
    }
}

/// The answer to a question that may have been answered for the whole session already.
///
/// Only [`ReviewDecision::ApprovedForSession`] answers later questions: then nobody is asked, and the answer is
/// [`ReviewDecision::Approved`]. Otherwise `fetch` asks, once, and its answer is kept whatever it is. A key that cannot be
/// written as JSON is asked every time and never kept. While somebody is asked nothing is locked, so other questions go
/// on; an asking that is dropped or panics keeps nothing.
pub async fn with_cached_approval<F, Answer>(
    store: &ApprovalStore,
    key: impl Serialize,
    fetch: F,
) -> ReviewDecision
where
    F: FnOnce() -> Answer,
    Answer: Future<Output = ReviewDecision>,
{
    let written = serde_json::to_string(&key);
    drop(key);
    let Ok(key) = written else {
        return fetch().await;
    };
    if store.get(&key).await == Some(ReviewDecision::ApprovedForSession) {
        return ReviewDecision::Approved;
    }
    let decision = fetch().await;
    store.set(key, decision.clone()).await;
    decision
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};
    use std::sync::atomic::{AtomicUsize, Ordering};

    use palisade_exec_policy::{ExecPolicyAmendment, GrantScope};
    use palisade_policy::Grant;

    use super::*;
    use crate::supervise::block_on;

    fn every_decision() -> Vec<ReviewDecision> {
        vec![
            ReviewDecision::Approved,
            ReviewDecision::Denied,
            ReviewDecision::DeniedWithNote {
                note: "use make".to_owned(),
            },
            ReviewDecision::Abort,
            ReviewDecision::ApprovedForSession,
            ReviewDecision::ApprovedExecpolicyAmendment {
                proposed_execpolicy_amendment: ExecPolicyAmendment::new(["cargo", "add"]).unwrap(),
            },
            ReviewDecision::ApprovedWithGrant {
                grant: Grant::HostLoopback,
                scope: GrantScope::Session,
                expires: None,
            },
        ]
    }

    #[test]
    fn approval_store_is_empty_at_first_and_clones_share_one_map() {
        block_on(async {
            let store = ApprovalStore::new();
            assert!(!store.contains("a").await);
            let clone = store.clone();
            clone.set("a", ReviewDecision::Approved).await;
            assert_eq!(store.get("a").await, Some(ReviewDecision::Approved));
            assert!(!ApprovalStore::default().contains("a").await);
        });
    }

    #[test]
    fn approval_store_get_set_contains_by_string_and_the_last_set_wins() {
        block_on(async {
            let store = ApprovalStore::new();
            assert_eq!(store.get("a").await, None);
            store.set("a", ReviewDecision::ApprovedForSession).await;
            store.set(String::from("a"), ReviewDecision::Denied).await;
            assert_eq!(store.get("a").await, Some(ReviewDecision::Denied));
            assert_eq!(store.get("a").await, Some(ReviewDecision::Denied), "a copy");
            assert!(store.contains("a").await, "a no is an answer, too");
            assert!(!store.contains("b").await);
        });
    }

    #[test]
    fn only_approved_for_session_is_a_hit_and_reads_as_approved_without_asking() {
        for stored in every_decision() {
            let store = ApprovalStore::new();
            let asked = AtomicUsize::new(0);
            let answer = block_on(async {
                store.set("\"key\"", stored.clone()).await;
                with_cached_approval(&store, "key", || {
                    asked.fetch_add(1, Ordering::Relaxed);
                    ready(ReviewDecision::Abort)
                })
                .await
            });
            let hit = stored == ReviewDecision::ApprovedForSession;
            assert_eq!(
                asked.load(Ordering::Relaxed),
                usize::from(!hit),
                "{stored:?}"
            );
            let expected = if hit {
                ReviewDecision::Approved
            } else {
                ReviewDecision::Abort
            };
            assert_eq!(answer, expected, "{stored:?}");
        }
    }

    #[test]
    fn a_miss_asks_once_and_keeps_and_returns_any_decision() {
        for decision in every_decision() {
            let store = ApprovalStore::new();
            let asked = AtomicUsize::new(0);
            block_on(async {
                let answer = with_cached_approval(&store, ("a", 1), || {
                    asked.fetch_add(1, Ordering::Relaxed);
                    ready(decision.clone())
                })
                .await;
                assert_eq!(answer, decision);
                assert_eq!(store.get(r#"["a",1]"#).await, Some(decision.clone()));
            });
            assert_eq!(asked.load(Ordering::Relaxed), 1);
        }
    }

    #[test]
    fn a_key_that_cannot_be_written_is_never_kept() {
        // JSON has no objects with such keys.
        let unwritable = HashMap::from([((1, 2), 3)]);
        let store = ApprovalStore::new();
        let asked = AtomicUsize::new(0);
        for _ in 0..2 {
            let answer = block_on(with_cached_approval(&store, &unwritable, || {
                asked.fetch_add(1, Ordering::Relaxed);
                ready(ReviewDecision::ApprovedForSession)
            }));
            assert_eq!(answer, ReviewDecision::ApprovedForSession);
        }
        assert_eq!(asked.load(Ordering::Relaxed), 2);
        assert!(block_on(store.answers.lock()).is_empty());
    }

    #[tokio::test]
    async fn an_asking_that_panics_or_is_dropped_keeps_nothing() {
        let store = ApprovalStore::new();
        let shared = store.clone();
        let panicked = tokio::spawn(async move {
            with_cached_approval(&shared, "key", || async { panic!("the prompt broke") }).await
        });
        assert!(panicked.await.unwrap_err().is_panic());
        let shared = store.clone();
        let waiting =
            tokio::spawn(async move { with_cached_approval(&shared, "key", pending).await });
        tokio::task::yield_now().await;
        waiting.abort();
        assert!(waiting.await.unwrap_err().is_cancelled());
        assert!(store.answers.lock().await.is_empty());
        // The store still works.
        store.set("key", ReviewDecision::Approved).await;
        assert!(store.contains("key").await);
    }

    #[test]
    fn while_one_is_asked_others_are_answered() {
        let store = ApprovalStore::new();
        let answer = block_on(with_cached_approval(&store, "outer", || async {
            with_cached_approval(&store, "inner", || ready(ReviewDecision::Denied)).await
        }));
        assert_eq!(answer, ReviewDecision::Denied);
    }
}
