//! A policy, lowered on a disk and put to the question.

use std::cell::RefCell;
use std::collections::HashMap;

use palisade_policy::{
    AbsolutePath, AcceptedLosses, Access, Backend as _, CanonicalSandboxPolicy, Guarantee,
    PolicyContext, ResolvedPolicy, Verdict,
};
use palisade_seatbelt::host::SandboxExec;
use palisade_seatbelt::model::{Model, Precedence, Request, SystemCall, read};
use palisade_seatbelt::{MacHost, Profile, Seatbelt};
use proptest::prelude::*;

use crate::disk::{Disk, abs};
use crate::policies::{SESSION_TMP, make_roots};

pub(crate) const PROXY_PORT: u16 = 3128;

/// How many cases a property is tried on: more or fewer if `PROPTEST_CASES` says so, which is 256 otherwise.
pub(crate) fn config(cases: u32) -> ProptestConfig {
    let default = ProptestConfig::default();
    ProptestConfig {
        cases: (cases * default.cases / 256).max(1),
        failure_persistence: None,
        ..default
    }
}

/// What is asked, and whom.
pub(crate) struct Subject {
    pub(crate) policy: ResolvedPolicy,
    pub(crate) disk: Disk,
    pub(crate) profile: Profile,
    pub(crate) answers: Answers,
}

/// The facts about a Mac with this disk that matter to a policy.
pub(crate) fn host(policy: &ResolvedPolicy, disk: &Disk) -> MacHost {
    let mut host = MacHost::new(SandboxExec::Works)
        .with_session_tmp(abs(SESSION_TMP))
        .with_proxy_ports([PROXY_PORT]);
    for path in palisade_seatbelt::survey::paths(policy) {
        host = host.with_place(path.clone(), disk.locate(&path));
    }
    host
}

/// The profile, with every loss accepted.
pub(crate) fn lower(policy: &ResolvedPolicy, disk: &Disk) -> Option<Profile> {
    let all: AcceptedLosses = Guarantee::ALL.into_iter().collect();
    let lowered = Seatbelt.lower(policy, &host(policy, disk)).ok()?;
    let (plan, _) = lowered.admit(&all).unwrap();
    Some(plan.profile)
}

/// The profile as a Mac would get it: its text is read back, so that nothing is judged that is not in the text.
pub(crate) fn compile(profile: &Profile) -> Model {
    let text = profile.text();
    let rules = read(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    Model::new(&rules, &profile.parameters).unwrap()
}

impl Subject {
    /// `None` where the policy makes no sense or cannot be lowered.
    pub(crate) fn new(
        policy: &CanonicalSandboxPolicy,
        context: &PolicyContext,
        mut disk: Disk,
    ) -> Option<Self> {
        if !make_roots(&mut disk, policy, context) {
            return None;
        }
        let policy = policy.resolve(context).ok()?;
        let profile = lower(&policy, &disk)?;
        let answers = Answers::new(compile(&profile));
        Some(Self {
            policy,
            disk,
            profile,
            answers,
        })
    }

    /// What both models of precedence say; that they say the same is the first thing that is tested.
    pub(crate) fn allows(&self, call: &SystemCall) -> Result<bool, TestCaseError> {
        let [per_operation, last_match] = self.answers.to(call);
        match per_operation == last_match {
            true => Ok(per_operation),
            false => Err(self.explain(&format!(
                "{call:?}: allowed per operation: {per_operation}, by the last match: {last_match}"
            ))),
        }
    }

    /// Whether either model of precedence allows it: one of them is how a Mac is.
    pub(crate) fn may_allow(&self, call: &SystemCall) -> bool {
        self.answers.to(call).contains(&true)
    }

    /// Whether the oracle allows an access.
    pub(crate) fn oracle(&self, access: &Access) -> bool {
        self.policy.place(access).is_some()
    }

    /// What the oracle says and why. It also looks for a remedy, which takes its time.
    pub(crate) fn verdict(&self, access: &Access) -> Verdict {
        self.policy.permits(access)
    }

    pub(crate) fn explain(&self, problem: &str) -> TestCaseError {
        TestCaseError::fail(format!("{problem}\n{}", self.profile))
    }
}

/// A model that remembers what it was asked: the same questions come again and again.
pub(crate) struct Answers {
    model: Model,
    known: RefCell<HashMap<String, [bool; 2]>>,
}

impl Answers {
    pub(crate) fn new(model: Model) -> Self {
        Self {
            model,
            known: RefCell::new(HashMap::new()),
        }
    }

    /// Whether a call is allowed under each model of precedence, in the order of [`Precedence::ALL`].
    pub(crate) fn to(&self, call: &SystemCall) -> [bool; 2] {
        let mut allowed = [true; 2];
        for request in call.requests() {
            let answer = self.about(&request);
            allowed = [allowed[0] && answer[0], allowed[1] && answer[1]];
        }
        allowed
    }

    fn about(&self, request: &Request) -> [bool; 2] {
        let path = request.path.as_ref();
        let key = match (&request.remote, &request.local, &request.name) {
            (None, None, None) => format!(
                "{} {:?} {}",
                request.operation,
                request.vnode_type,
                path.map(ToString::to_string).unwrap_or_default()
            ),
            _ => format!("{request:?}"),
        };
        *self.known.borrow_mut().entry(key).or_insert_with(|| {
            Precedence::ALL.map(|precedence| {
                let ruling = self.model.decide(request, precedence).unwrap();
                ruling.is_allowed()
            })
        })
    }
}

/// The calls that change what is there, content or not.
pub(crate) fn writes(path: &AbsolutePath) -> Vec<SystemCall> {
    [
        SystemCall::OpenForWriting,
        SystemCall::Truncate,
        SystemCall::ChangeMode,
        SystemCall::ChangeOwner,
        SystemCall::ChangeFlags,
        SystemCall::ChangeTimes,
        SystemCall::WriteAttribute,
        SystemCall::ChangeAcl,
    ]
    .map(|call| call(path.clone()))
    .to_vec()
}
