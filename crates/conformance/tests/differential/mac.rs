//! The printed Seatbelt profile of a policy, read back and evaluated, against the oracle.

use palisade_linux_landlock::Tier;
use palisade_policy::{
    AcceptedLosses, Access, Backend as _, CanonicalSandboxPolicy, Clause, Enforcement, Guarantee,
    Level, LoopbackAccess, NetworkScope, Os, PathMatcher, ResolvedPolicy, Stance, UnixAddress,
};
use palisade_seatbelt::host::SandboxExec;
use palisade_seatbelt::model::{Address, Model, Precedence, SystemCall, Transport as Spoken, read};
use palisade_seatbelt::{MacHost, Profile, Seatbelt, private_places, survey};

use crate::attempt::{Attempt, Transport};
use crate::oracle::{Expected, Judge, accesses};
use crate::random::try_cases;
use crate::stage::{Stage, absolute};
use crate::tries;

/// What was compared.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    attempts: usize,
    allowed: usize,
    /// Denied by the profile although the oracle allows it, and may be.
    stricter: usize,
    /// Allowed by the profile although the oracle denies it, where the report promises nothing.
    unpromised: usize,
}

/// A policy as a Mac would get it.
pub(crate) struct Mac {
    pub(crate) policy: ResolvedPolicy,
    pub(crate) profile: Profile,
    pub(crate) enforcement: Enforcement,
}

impl Mac {
    /// `None` where the policy makes no sense on this tree.
    pub(crate) fn new(stage: &Stage, policy: &CanonicalSandboxPolicy) -> Option<Self> {
        let mut host = MacHost::new(SandboxExec::Works).with_session_tmp(absolute(&stage.session));
        let context = stage.context(Os::Macos).with_private(private_places(&host));
        let policy = policy.resolve(&context).ok()?;
        survey::look(&mut host, &policy);
        let all: AcceptedLosses = Guarantee::ALL.into_iter().collect();
        let (plan, enforcement) = Seatbelt.lower(&policy, &host).ok()?.admit(&all).unwrap();
        Some(Self {
            policy,
            profile: plan.profile,
            enforcement,
        })
    }

    /// Compares this profile, which may be another one than was made for the policy.
    pub(crate) fn compare(
        &self,
        profile: &Profile,
        stage: &Stage,
        attempts: &[Attempt],
        tally: &mut Tally,
    ) -> Result<(), String> {
        let text = profile.text();
        let rules = read(&text).map_err(|error| format!("{error}\n{text}"))?;
        let model = Model::new(&rules, &profile.parameters).map_err(|error| error.to_string())?;
        let tree = crate::case::entries(stage.workspace.parent().unwrap());
        let judge = Judge::new(&self.policy, &self.enforcement, Tier::Full, tree.iter());
        for attempt in attempts {
            let calls = calls(attempt);
            if calls.is_empty() {
                continue;
            }
            let answers = Precedence::ALL.map(|precedence| {
                let mut calls = calls.iter();
                calls.all(|call| model.allows(&call.requests(), precedence).unwrap())
            });
            let [one, other] = answers;
            if one != other {
                return Err(format!(
                    "Seatbelt: {attempt}: it depends on precedence: {answers:?}\n{profile}"
                ));
            }
            let expected = judge.expect(attempt);
            tally.attempts += 1;
            tally.allowed += usize::from(expected.is_allowed());
            let say = |what: &str| {
                Err(format!(
                    "Seatbelt: {attempt}\n  {what} by the profile, but the oracle says {expected}\n{profile}"
                ))
            };
            match (one, expected.is_allowed()) {
                (true, true) | (false, false) => {}
                (true, false) if self.promises(&judge, attempt, &expected) => {
                    return say("allowed");
                }
                (true, false) => tally.unpromised += 1,
                (false, true) if self.may_be_stricter(&judge, attempt, &expected) => {
                    tally.stricter += 1;
                }
                (false, true) => return say("denied"),
            }
        }
        Ok(())
    }

    fn promises(&self, judge: &Judge<'_>, attempt: &Attempt, expected: &Expected) -> bool {
        // The oracle forbids moves by where they come from and go to, which two separate questions cannot; the profile
        // guards the names at both ends in its place.
        let moved = matches!(expected.clause(), Some(Clause::MovesGuarded(_)));
        let guarantee = judge.guarantee(attempt, expected);
        self.enforcement.level(guarantee) == Level::Enforced && !moved
    }

    fn may_be_stricter(&self, judge: &Judge<'_>, attempt: &Attempt, expected: &Expected) -> bool {
        let guards = self.policy.guards();
        // What is on the way to a match is denied as well.
        let globs = guards
            .iter()
            .map(|guard| &guard.matcher)
            .chain(self.policy.read_only())
            .any(PathMatcher::is_glob);
        // What must not be read must not be moved to where it could be: it is not written at all.
        let write_only = guards
            .iter()
            .any(|guard| guard.read == Some(Stance::Denies) && guard.write != Some(Stance::Denies));
        let unreadable = expected.touched.iter().any(|path| {
            let access = Access::Read(absolute(path));
            self.policy.place(&access).is_none()
        });
        let (_, local) = self.policy.canonical().rules().unwrap();
        match attempt {
            Attempt::Connect(..) | Attempt::Bind(_) => {
                // Listed hosts are reached through a proxy, which there is none of.
                matches!(self.policy.canonical().network(), NetworkScope::Only(_))
                    || local.loopback == LoopbackAccess::Off
            }
            _ if globs || judge.has_other_names() => true,
            _ if attempt.reads() => false,
            Attempt::Change(_) | Attempt::Append(_) => unreadable,
            _ => write_only,
        }
    }
}

/// What an attempt asks of a Mac; nothing, if it is not about what profiles judge.
fn calls(attempt: &Attempt) -> Vec<SystemCall> {
    let asked = accesses(attempt);
    let Some(first) = asked.first() else {
        return Vec::new();
    };
    match (attempt, first) {
        (Attempt::Read(_) | Attempt::List(_), Access::Read(path)) => {
            vec![SystemCall::OpenForReading(path.clone())]
        }
        (Attempt::Change(_), Access::Write(path)) => vec![SystemCall::ChangeMode(path.clone())],
        (_, Access::Write(path)) => vec![SystemCall::OpenForWriting(path.clone())],
        (Attempt::MakeDirectory(_), Access::Create(path)) => {
            vec![SystemCall::MakeDirectory(path.clone())]
        }
        (_, Access::Create(path)) => vec![SystemCall::Create(path.clone())],
        (Attempt::RemoveDirectory(_), Access::Delete(path)) => {
            vec![SystemCall::RemoveDirectory(path.clone())]
        }
        (_, Access::Delete(path)) => vec![SystemCall::Unlink(path.clone())],
        (Attempt::Exchange(..), Access::Rename { from, to }) => vec![SystemCall::Swap {
            one: from.clone(),
            other: to.clone(),
        }],
        (_, Access::Rename { from, to }) => vec![SystemCall::Rename {
            from: from.clone(),
            to: to.clone(),
            replaces: false,
        }],
        (_, Access::Execute(path)) => vec![SystemCall::Execute(path.clone())],
        (Attempt::Connect(transport, ..), Access::Connect { host, port, .. }) => {
            vec![SystemCall::Connect(Address::Internet {
                transport: match transport {
                    Transport::Tcp => Spoken::Tcp,
                    Transport::Udp => Spoken::Udp,
                },
                loopback: host.is_loopback(),
                port: *port,
            })]
        }
        (_, Access::Bind { host, port }) => {
            let address = Address::Internet {
                transport: Spoken::Tcp,
                loopback: host.is_loopback(),
                port: *port,
            };
            vec![
                SystemCall::Bind(address.clone()),
                SystemCall::Listen(address),
            ]
        }
        (
            _,
            Access::Unix {
                address: UnixAddress::Path(path),
                ..
            },
        ) => vec![SystemCall::Connect(Address::Unix(path.clone()))],
        // Macs have no abstract sockets.
        _ => Vec::new(),
    }
}

#[test]
fn profiles_mean_what_the_oracle_says() {
    let mut tally = Tally::default();
    let (mut cases, mut refused) = (0, 0);
    try_cases(60, |case, stage, policy| {
        cases += 1;
        let Some(mac) = Mac::new(stage, policy) else {
            refused += 1;
            return Ok(());
        };
        let attempts = tries::all(stage, case.named(stage), &case.moves);
        mac.compare(&mac.profile, stage, &attempts, &mut tally)
    });
    println!("Seatbelt: {cases} policies, {refused} refused, {tally:?}");
    assert!(refused * 2 < cases, "{refused} of {cases}");
    assert!(tally.allowed * 5 > tally.attempts, "{tally:?}");
    assert!(tally.allowed * 5 < tally.attempts * 4, "{tally:?}");
    assert!(tally.stricter * 4 < tally.attempts, "{tally:?}");
    assert!(tally.unpromised * 8 < tally.attempts, "{tally:?}");
}
