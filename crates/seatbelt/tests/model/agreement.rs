//! The profile of every policy against the oracle, call by call, under both models of precedence.
//!
//! What the profile allows, the oracle allows. Where nothing forces the profile to be stricter, it also allows all that
//! the oracle allows. What may be stricter is said in one place, and counted, so that the tests cannot run dry.

use std::cell::RefCell;

use palisade_policy::{AbsolutePath, Access, Clause, Stance};
use palisade_seatbelt::model::SystemCall;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use crate::policies::{
    Exactness, Flavour, any_entries, any_path, any_policy, context_of, has_globs, populated,
};
use crate::subject::{Subject, config, writes};

/// What was compared, and how it came out.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    cases: usize,
    allowed: usize,
    denied: usize,
    /// Denied by the profile where the oracle allows, and may be.
    stricter: usize,
    /// Renames that the oracle denies because of a glob, and the profile does otherwise.
    moves: usize,
}

impl Tally {
    fn note(&mut self, model: bool, oracle: bool) {
        match (model, oracle) {
            (true, _) => self.allowed += 1,
            (false, false) => self.denied += 1,
            (false, true) => self.stricter += 1,
        }
    }
}

/// Where a profile may be stricter than the oracle.
fn exactness(subject: &Subject, call: &SystemCall, path: &AbsolutePath) -> Exactness {
    // What is compared loosely beyond ASCII is denied more broadly, and so is a name that no pattern can hold.
    let is_loose = |path: &AbsolutePath| {
        let text = path.to_string();
        !text.is_ascii() || text.contains('"')
    };
    let named = palisade_seatbelt::survey::paths(&subject.policy);
    let loose = is_loose(path) || named.iter().any(|path| !path.to_string().is_ascii());
    // A secret that may be written but not read must not be moved to where it could be read: it is not written at all.
    let unreadable = || !subject.oracle(&Access::Read(path.clone()));
    let write_only = subject
        .policy
        .guards()
        .iter()
        .any(|guard| guard.read == Some(Stance::Denies) && guard.write != Some(Stance::Denies));
    let stricter = match call {
        SystemCall::OpenForReading(_)
        | SystemCall::ReadAttribute(_)
        | SystemCall::Stat(_)
        | SystemCall::Execute(_) => false,
        // Nothing that stays where it is needs other lists of who may do what.
        SystemCall::ChangeAcl(_) => true,
        SystemCall::Unlink(_)
        | SystemCall::RemoveDirectory(_)
        | SystemCall::Create(_)
        | SystemCall::MakeDirectory(_)
        | SystemCall::MakeSymlink(_)
        | SystemCall::Rename { .. } => write_only,
        _ => unreadable(),
    };
    match loose || stricter || has_globs(&subject.policy) {
        true => Exactness::Stricter,
        false => Exactness::Exact,
    }
}

fn compare(
    subject: &Subject,
    call: &SystemCall,
    access: &Access,
    path: &AbsolutePath,
    tally: &mut Tally,
) -> Result<(), TestCaseError> {
    let model = subject.allows(call)?;
    let oracle = subject.oracle(access);
    let say = |what| {
        let verdict = subject.verdict(access);
        Err(subject.explain(&format!("{call:?} is {what}, the oracle says {verdict}")))
    };
    if model && !oracle {
        return say("allowed");
    }
    if model != oracle && exactness(subject, call, path) == Exactness::Exact {
        return say("denied");
    }
    tally.note(model, oracle);
    Ok(())
}

/// Everything that can be done at one path.
fn compare_path(
    subject: &Subject,
    path: &AbsolutePath,
    tally: &mut Tally,
) -> Result<(), TestCaseError> {
    let Some(path) = subject.disk.kernel_path(path) else {
        return Ok(());
    };
    let mut check =
        |call: SystemCall, access: Access| compare(subject, &call, &access, &path, tally);
    if !subject.disk.exists(&path) {
        let create = || Access::Create(path.clone());
        check(SystemCall::Create(path.clone()), create())?;
        check(SystemCall::MakeDirectory(path.clone()), create())?;
        return check(SystemCall::MakeSymlink(path.clone()), create());
    }
    let read = || Access::Read(path.clone());
    check(SystemCall::OpenForReading(path.clone()), read())?;
    check(SystemCall::ReadAttribute(path.clone()), read())?;
    for call in writes(&path) {
        check(call, Access::Write(path.clone()))?;
    }
    match subject.disk.is_directory(&path) {
        true => check(
            SystemCall::RemoveDirectory(path.clone()),
            Access::Delete(path.clone()),
        )?,
        false => {
            check(
                SystemCall::Execute(path.clone()),
                Access::Execute(path.clone()),
            )?;
            check(
                SystemCall::Unlink(path.clone()),
                Access::Delete(path.clone()),
            )?;
        }
    }
    // What is known without opening may be known of everything that is not denied.
    let stat = subject.allows(&SystemCall::Stat(path.clone()))?;
    let readable = subject.oracle(&read());
    prop_assert!(
        stat || !readable
            || exactness(subject, &SystemCall::Stat(path.clone()), &path) == Exactness::Stricter,
        "{path} is readable, and nothing is known about it"
    );
    Ok(())
}

fn compare_rename(
    subject: &Subject,
    from: &AbsolutePath,
    to: &AbsolutePath,
    tally: &mut Tally,
) -> Result<(), TestCaseError> {
    let call = SystemCall::Rename {
        from: from.clone(),
        to: to.clone(),
        replaces: false,
    };
    let Some(call) = subject.disk.kernel_call(&call) else {
        return Ok(());
    };
    let SystemCall::Rename { from, to, .. } = &call else {
        return Ok(());
    };
    let access = Access::Rename {
        from: from.clone(),
        to: to.clone(),
    };
    // The oracle forbids moves by where they come from and go to, which two separate questions cannot; the profile
    // guards the names at both ends in its place. That nothing gets away is what the sequences show.
    if subject.allows(&call)?
        && !subject.oracle(&access)
        && matches!(subject.verdict(&access).clause, Clause::MovesGuarded(_))
    {
        tally.moves += 1;
        return Ok(());
    }
    let loose = match from.to_string().is_ascii() {
        true => to,
        false => from,
    };
    compare(subject, &call, &access, loose, tally)
}

fn compare_random_policies(flavour: Flavour, cases: u32) -> Tally {
    let tally = RefCell::new(Tally::default());
    let input = (
        any_policy(flavour),
        context_of(flavour),
        any_entries(),
        prop::collection::vec(any_path(), 1..12),
    );
    let result = TestRunner::new(config(cases)).run(&input, |(policy, context, entries, asked)| {
        let disk = populated(context.facts.case, &entries);
        let Some(subject) = Subject::new(&policy, &context, disk) else {
            return Ok(());
        };
        let mut tally = tally.borrow_mut();
        tally.cases += 1;
        let mut paths: Vec<AbsolutePath> = subject
            .disk
            .paths()
            .into_iter()
            .map(|(path, _)| path)
            .filter(|path| !path.as_path().starts_with("/dev"))
            .collect();
        paths.extend(asked);
        for path in &paths {
            compare_path(&subject, path, &mut tally)?;
        }
        for (i, from) in paths.iter().enumerate() {
            for to in paths.iter().skip(i % 7).step_by(7) {
                compare_rename(&subject, from, to, &mut tally)?;
            }
        }
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
    tally.into_inner()
}

/// Enough was compared: most policies could be lowered, and both answers are common.
fn assert_not_empty(tally: &Tally, cases: u32) {
    let cases = config(cases).cases as usize;
    assert!(tally.cases * 2 > cases, "{tally:?}");
    assert!(tally.allowed > 50 * cases, "{tally:?}");
    assert!(tally.denied > 50 * cases, "{tally:?}");
}

#[test]
fn without_globs_profile_and_oracle_agree() {
    let tally = compare_random_policies(Flavour::PLAIN, 120);
    assert_not_empty(&tally, 120);
    assert!(tally.stricter * 10 < tally.allowed, "{tally:?}");
    assert_eq!(tally.moves, 0, "{tally:?}");
}

#[test]
fn with_names_beyond_ascii_a_profile_never_allows_more() {
    let tally = compare_random_policies(Flavour::NAMES, 60);
    assert_not_empty(&tally, 60);
    assert!(tally.stricter * 4 < tally.allowed, "{tally:?}");
    assert_eq!(tally.moves, 0, "{tally:?}");
}

#[test]
fn with_globs_a_profile_never_allows_more() {
    let tally = compare_random_policies(Flavour::ALL, 120);
    assert_not_empty(&tally, 120);
    assert!(tally.stricter * 4 < tally.allowed, "{tally:?}");
}
