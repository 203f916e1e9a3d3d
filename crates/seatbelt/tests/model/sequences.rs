//! Sequences of calls: whatever is renamed, swapped, linked, cloned, made and removed, nothing that the oracle denies is
//! reached in the end.
//!
//! Every call that the profile allows is really done to the disk, whole trees and all; then every path of the disk is tried.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use palisade_policy::{AbsolutePath, Access, Clause, RelativePath};
use palisade_seatbelt::model::SystemCall;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::TestRunner;

use crate::disk::{Disk, Inode, abs};
use crate::policies::{Flavour, any_context, any_entries, any_policy, populated};
use crate::subject::{Subject, config};

/// A step, before it is known what there is on the disk.
#[derive(Clone, Debug)]
struct Step {
    kind: u8,
    one: Index,
    other: Index,
    /// A name for something new; `None` to take what is there.
    name: Option<&'static str>,
    /// Whether to start from anywhere on the disk, and not from what is in a root.
    from_anywhere: bool,
}

fn any_step() -> impl Strategy<Value = Step> {
    let names = vec![
        "a", "b", ".git", "K", "A", "\u{212a}", ".GIT", ".ssh", ".\u{df}h", "\u{e9}", "e\u{301}",
        "k", "x;",
    ];
    (
        0..18_u8,
        any::<Index>(),
        any::<Index>(),
        prop::option::weighted(0.8, prop::sample::select(names)),
        prop::bool::weighted(0.2),
    )
        .prop_map(|(kind, one, other, name, from_anywhere)| Step {
            kind,
            one,
            other,
            name,
            from_anywhere,
        })
}

impl Step {
    /// The call that it comes to on a disk: from something that is there, to something that is there or new in a
    /// directory that is.
    fn call(&self, subject: &Subject, disk: &Disk) -> SystemCall {
        let case = subject.policy.context().facts.case;
        let all: Vec<AbsolutePath> = disk.paths().into_iter().map(|(path, _)| path).collect();
        let roots = subject.policy.roots();
        let inside: Vec<AbsolutePath> = all
            .iter()
            .filter(|path| roots.iter().any(|root| root.root.covers(path, case)))
            .cloned()
            .collect();
        let inside = match inside.is_empty() {
            true => &all,
            false => &inside,
        };
        let from = match self.from_anywhere {
            true => self.one.get(&all).clone(),
            false => self.one.get(inside).clone(),
        };
        let to = match self.name {
            None => self.other.get(inside).clone(),
            Some(name) => {
                let directories: Vec<&AbsolutePath> = inside
                    .iter()
                    .filter(|path| disk.is_directory(path))
                    .collect();
                let directory = match directories.is_empty() {
                    true => abs("/srv/app"),
                    false => (*self.other.get(&directories)).clone(),
                };
                directory.join(&RelativePath::new(name).unwrap())
            }
        };
        match self.kind {
            0..=6 => SystemCall::Rename {
                from,
                to,
                replaces: false,
            },
            7 => SystemCall::Swap {
                one: from,
                other: to,
            },
            8 => SystemCall::Link {
                existing: from,
                new: to,
            },
            9 => SystemCall::Clone {
                existing: from,
                new: to,
            },
            10..=12 => SystemCall::MakeDirectory(to),
            13..=15 => SystemCall::Create(to),
            16 => SystemCall::Unlink(from),
            _ => SystemCall::RemoveDirectory(from),
        }
    }
}

/// What must hold after every step.
struct Promise {
    /// Content that must not be read.
    secret: BTreeSet<Inode>,
    /// Entries that must not be changed.
    guarded: BTreeSet<Inode>,
    /// Entries that could not be changed from the start: what is brought where a glob guards is not of the command's making.
    untouched: BTreeSet<Inode>,
    /// Paths that must not be written, by what was there at first.
    frozen: BTreeMap<AbsolutePath, Option<Inode>>,
}

impl Promise {
    fn new(subject: &Subject) -> Self {
        let denied = |access: Access| !subject.oracle(&access);
        let mut promise = Self {
            secret: BTreeSet::new(),
            guarded: BTreeSet::new(),
            untouched: BTreeSet::new(),
            frozen: BTreeMap::new(),
        };
        for (path, inode) in subject.disk.paths() {
            if denied(Access::Read(path.clone())) {
                promise.secret.insert(inode);
            }
            if !subject.may_allow(&SystemCall::OpenForWriting(path.clone())) {
                promise.untouched.insert(inode);
            }
            if denied(Access::Write(path)) {
                promise.guarded.insert(inode);
            }
        }
        let disk = subject.disk.paths().into_iter().map(|(path, _)| path);
        let literals = subject
            .policy
            .guards()
            .iter()
            .filter_map(|guard| guard.matcher.path().cloned());
        for path in disk.chain(literals) {
            // What a glob guards may move, as long as it stays guarded.
            let write = Access::Write(path.clone());
            if denied(write.clone()) && !is_glob(&subject.verdict(&write).clause) {
                let there = subject.disk.lookup(&path);
                promise.frozen.insert(path, there);
            }
        }
        promise
    }

    fn holds(
        &self,
        subject: &Subject,
        disk: &Disk,
        done: &[SystemCall],
    ) -> Result<(), TestCaseError> {
        let allows = |call: SystemCall| subject.may_allow(&call);
        let broken = |what: &str, path: &AbsolutePath| {
            let steps: Vec<String> = done.iter().map(|call| format!("{call:?}")).collect();
            Err(subject.explain(&format!("{path}: {what}, after\n{}", steps.join("\n"))))
        };
        for (path, inode) in disk.paths() {
            if self.secret.contains(&disk.content(inode))
                && allows(SystemCall::OpenForReading(path.clone()))
            {
                return broken("a secret can be read", &path);
            }
            if self.guarded.contains(&inode) && allows(SystemCall::OpenForWriting(path.clone())) {
                return broken("what is guarded can be written", &path);
            }
        }
        for (path, inode) in disk.paths() {
            let write = Access::Write(path.clone());
            if !self.guarded.contains(&inode) && !subject.oracle(&write) {
                let clause = subject.verdict(&write).clause;
                if is_glob(&clause) && self.untouched.contains(&inode) {
                    continue;
                }
                return broken(
                    &format!("something was brought there, although {clause}"),
                    &path,
                );
            }
        }
        for (path, there) in &self.frozen {
            if disk.lookup(path) != *there {
                return broken("something else is there now", path);
            }
        }
        Ok(())
    }
}

fn is_glob(clause: &Clause) -> bool {
    match clause {
        Clause::Sensitive(matcher) | Clause::DenyRead(matcher) | Clause::ReadOnlyPath(matcher) => {
            matcher.is_glob()
        }
        _ => false,
    }
}

/// How much was really done.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    cases: usize,
    tried: usize,
    done: usize,
    moved_trees: usize,
}

fn run(flavour: Flavour, cases: u32) -> Tally {
    let tally = RefCell::new(Tally::default());
    let input = (
        any_policy(flavour),
        any_context(),
        any_entries(),
        prop::collection::vec(any_step(), 1..40),
    );
    let result = TestRunner::new(config(cases)).run(&input, |(policy, context, entries, steps)| {
        let disk = populated(context.facts.case, &entries);
        let Some(subject) = Subject::new(&policy, &context, disk) else {
            return Ok(());
        };
        let mut tally = tally.borrow_mut();
        tally.cases += 1;
        let promise = Promise::new(&subject);
        let mut disk = subject.disk.clone();
        let mut done = Vec::new();
        for step in &steps {
            let call = step.call(&subject, &disk);
            let Some(call) = disk.kernel_call(&call) else {
                continue;
            };
            tally.tried += 1;
            // Done if either model allows it: one of them is how the Mac is.
            if !subject.may_allow(&call) {
                continue;
            }
            if let SystemCall::Rename { from, .. } = &call {
                tally.moved_trees += usize::from(disk.is_directory(from));
            }
            disk.apply(&call);
            tally.done += 1;
            done.push(call);
            promise.holds(&subject, &disk, &done)?;
        }
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
    tally.into_inner()
}

/// Enough was done: most policies could be lowered, calls go through, and whole trees move.
fn assert_not_empty(tally: &Tally, cases: u32) {
    let cases = config(cases).cases as usize;
    assert!(tally.cases * 2 > cases, "{tally:?}");
    assert!(tally.done > cases, "{tally:?}");
    assert!(tally.moved_trees * 10 > cases, "{tally:?}");
}

#[test]
fn no_sequence_of_calls_reaches_what_is_denied() {
    let tally = run(Flavour::NAMES, 250);
    assert_not_empty(&tally, 250);
}

#[test]
fn nor_what_globs_deny() {
    let tally = run(Flavour::ALL, 250);
    assert_not_empty(&tally, 250);
}
