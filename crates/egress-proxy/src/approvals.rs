//! Questions about hosts: each is asked once at a time, and what was answered is remembered for the session.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use tokio::sync::watch;
use tokio::time::timeout;

use crate::hooks::{Answer, Approval, Approver};
use crate::lease::Lease;
use crate::limits::Limits;
use crate::refusal::Refusal;
use crate::wire::Authority;

/// More answers than this are not remembered: then nobody is asked any more.
const MOST_ANSWERS: usize = 4096;

/// What was agreed to, and for how long if that is not for as long as the proxy.
pub(crate) type Agreed = (Approval, Option<Lease>);

type Verdict = Result<Agreed, Refusal>;

#[derive(Default)]
struct State {
    answers: BTreeMap<Authority, Verdict>,
    waiting: BTreeMap<Authority, watch::Receiver<Option<Verdict>>>,
}

/// What was asked and answered in one session.
pub(crate) struct Approvals {
    approver: Option<Arc<dyn Approver>>,
    limits: Limits,
    state: Mutex<State>,
}

impl Approvals {
    pub(crate) fn new(approver: Option<Arc<dyn Approver>>, limits: Limits) -> Arc<Self> {
        Arc::new(Self {
            approver,
            limits,
            state: Mutex::default(),
        })
    }

    /// The answer for a host, once there is one.
    pub(crate) async fn ask(self: &Arc<Self>, authority: &Authority) -> Verdict {
        let Some(approver) = self.approver.as_ref() else {
            return Err(Refusal::NotListed);
        };
        let mut answer = {
            // Somebody panicked while it was locked: what it says is not known.
            let Ok(mut state) = self.state.lock() else {
                return Err(Refusal::Denied);
            };
            if let Some(verdict) = state.answers.get(authority) {
                return verdict.clone();
            }
            match state.waiting.get(authority) {
                Some(answer) => answer.clone(),
                None => {
                    let is_full = state.waiting.len() >= self.limits.questions
                        || state.answers.len() >= MOST_ANSWERS;
                    if is_full {
                        return Err(Refusal::TooManyQuestions);
                    }
                    let answer = self.put(approver, authority);
                    state.waiting.insert(authority.clone(), answer.clone());
                    answer
                }
            }
        };
        match answer.wait_for(Option::is_some).await.as_deref() {
            Ok(Some(verdict)) => verdict.clone(),
            // Whoever was asked panicked.
            _ => {
                self.settle(authority, None);
                Err(Refusal::Unanswered)
            }
        }
    }

    /// Puts the question, in a task of its own: whoever asked first may be gone before the answer comes.
    fn put(
        self: &Arc<Self>,
        approver: &Arc<dyn Approver>,
        authority: &Authority,
    ) -> watch::Receiver<Option<Verdict>> {
        let (tell, answer) = watch::channel(None);
        let (approver, approvals) = (Arc::clone(approver), Arc::clone(self));
        let authority = authority.clone();
        tokio::spawn(async move {
            let asked = approver.ask(&authority.host, authority.port);
            let (verdict, keep) = match timeout(approvals.limits.approval_time, asked).await {
                Ok(Answer::Granted(Approval::Once)) => (Ok((Approval::Once, None)), false),
                Ok(Answer::Granted(approval)) => (Ok((approval, None)), true),
                Ok(Answer::Leased(approval, lease)) => (Ok((approval, Some(lease))), false),
                Ok(Answer::Denied) => (Err(Refusal::Denied), true),
                Ok(Answer::NotAsked) => (Err(Refusal::NotListed), false),
                // Not a no: whoever was asked may not have seen it.
                Err(_) => (Err(Refusal::Unanswered), false),
            };
            approvals.settle(&authority, keep.then(|| verdict.clone()));
            tell.send_replace(Some(verdict));
        });
        answer
    }

    /// Ends a question, with an answer to remember or without.
    fn settle(&self, authority: &Authority, verdict: Option<Verdict>) {
        if let Ok(mut state) = self.state.lock() {
            state.waiting.remove(authority);
            if let Some(verdict) = verdict {
                state.answers.insert(authority.clone(), verdict);
            }
        }
    }
}
