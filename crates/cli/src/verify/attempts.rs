//! Runs the attempts and the useful acts.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use palisade::runner::policy::{GitAccess, Guarantee};
use palisade_probes::run::launch;
use palisade_probes::stage::Stage;
use palisade_probes::{Alone, Class, Expected, Outcome, Probe};

use super::subject::Subject;
use super::{commits, denied, guarantees};
use crate::complaint::Complaint;

/// More at once make a small machine slow.
const MOST_AT_ONCE: usize = 4;

/// Attempts that are left to the tests: one needs a copy of this program that runs as another user, and no such thing is
/// left lying about on a machine that people use.
const LEFT_OUT: [&str; 1] = ["proc-setuid"];

/// One attempt or useful act, and what came of it.
#[derive(Clone, Debug)]
pub(super) struct Tried {
    pub(super) name: &'static str,
    /// What it does.
    pub(super) about: String,
    /// The promise that it puts to the test; none for useful acts.
    pub(super) guarantee: Option<Guarantee>,
    pub(super) came: Came,
    /// What it said, or what was seen.
    pub(super) said: String,
}

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Came {
    /// The attempt failed, or the useful act worked: as it should be.
    Good,
    /// The attempt got through.
    Escaped,
    /// The attempt got through, as it is known to, for this reason.
    Known(&'static str),
    /// The useful act failed, or nothing can be said about the attempt.
    Broken,
    /// There was nothing to try on this host.
    Nothing,
}

/// Tries everything that says something about the policy.
///
/// # Errors
/// A stage cannot be set.
pub(super) fn all(subject: &Subject) -> Result<Vec<Tried>, Complaint> {
    let groups = groups(subject);
    let next = AtomicUsize::new(0);
    let found = Mutex::new(Vec::new());
    let failed = Mutex::new(None);
    let at_once = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..at_once.min(MOST_AT_ONCE) {
            scope.spawn(|| {
                while let Some(group) = groups.get(next.fetch_add(1, Ordering::Relaxed)) {
                    match try_group(subject, group) {
                        Ok(tried) => lock(&found).extend(tried),
                        Err(error) => *lock(&failed) = Some(error),
                    }
                }
            });
        }
    });
    if let Some(error) = lock(&failed).take() {
        return Err(Complaint::failed(format!(
            "nothing more can be tried: {error}"
        )));
    }
    let mut found = std::mem::take(&mut *lock(&found));
    found.extend(commits::all(subject));
    found.extend(denied::all(subject));
    found.sort_by_key(|tried| (tried.guarantee, tried.name));
    Ok(found)
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What is tried, in groups that share a stage as long as nothing gets through.
fn groups(subject: &Subject) -> Vec<Vec<&'static Probe>> {
    let root = rustix::process::geteuid().is_root();
    let mut groups: Vec<(Class, Vec<&'static Probe>)> = Vec::new();
    for probe in palisade_probes::all() {
        let alone = match root {
            true => probe.control.root,
            false => probe.control.user,
        };
        // What fails without a sandbox, too, says nothing about one.
        let says_nothing = matches!(alone, Alone::Cannot(_) | Alone::NotRun(_));
        let expected = probe.expected(subject.tier());
        let promised = match guarantees::of(probe) {
            _ if probe.is_useful() => true,
            Some(guarantee) => subject.promised.contains(&guarantee),
            None => false,
        };
        if !probe.is_built()
            || LEFT_OUT.contains(&probe.name)
            || is_about_git(probe) && subject.git == GitAccess::Full
            || !probe.suits(subject.mode)
            || says_nothing
            || !promised
            || matches!(expected, Expected::NotApplicable(_))
        {
            continue;
        }
        match groups.iter_mut().find(|(class, _)| *class == probe.class) {
            Some((_, group)) => group.push(probe),
            None => groups.push((probe.class, vec![probe])),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

/// Whether an attempt is one on `.git`, which a policy may open.
fn is_about_git(probe: &Probe) -> bool {
    probe.class == Class::Protected && probe.name.starts_with("git-")
}

fn try_group(subject: &Subject, group: &[&'static Probe]) -> std::io::Result<Vec<Tried>> {
    let mut tried = Vec::new();
    let mut stage: Option<Stage> = None;
    for probe in group {
        let here = match stage.take() {
            Some(stage) => stage,
            None => subject.stage()?,
        };
        let one = try_one(subject, probe, &here);
        // A stage on which something happened is used no more.
        if one.came == Came::Good {
            stage = Some(here);
        }
        tried.push(one);
    }
    Ok(tried)
}

fn try_one(subject: &Subject, probe: &'static Probe, stage: &Stage) -> Tried {
    let guarantee = match probe.is_useful() {
        true => None,
        false => guarantees::of(probe),
    };
    let verdict = launch(probe, stage, &mut |line| subject.run(stage, line));
    let (came, said) = match verdict {
        Err(error) => (Came::Broken, error.to_string()),
        Ok(verdict) => {
            let came = match (verdict.outcome, probe.expected(subject.tier())) {
                (Outcome::Contained, _) | (Outcome::Works, Expected::Works) => Came::Good,
                // Its `.git` is a copy, of which history alone comes back: what counts is what is seen from outside.
                (Outcome::Escaped, Expected::Contained)
                    if is_about_git(probe)
                        && subject.git == GitAccess::Commit
                        && verdict.evidence.is_empty() =>
                {
                    Came::Good
                }
                (Outcome::Escaped, Expected::Residue(why)) => Came::Known(why),
                (Outcome::Escaped, _) => Came::Escaped,
                (Outcome::Unavailable, _) => Came::Nothing,
                (Outcome::Works | Outcome::Broken, _) => Came::Broken,
            };
            let said = match verdict.evidence.is_empty() {
                true => verdict.said,
                false => verdict.evidence.join(", "),
            };
            (came, said)
        }
    };
    Tried {
        name: probe.name,
        about: probe.about.to_owned(),
        guarantee,
        came,
        said,
    }
}
