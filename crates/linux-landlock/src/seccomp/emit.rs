//! From rules to instructions: a binary tree over the numbers.
//!
//! The kernel runs every number through a new filter once, to learn which ones need no filter any more, so the depth of
//! the program is what its installation costs. It is written from the last instruction to the first: then the way to
//! every target is known when a jump is written, and a target that is too far for the eight bits of a jump gets a
//! stepping stone in between.

use std::collections::BTreeMap;

use super::rules::{Action, Clause, Decision, Rules, Test, X32};
use super::{Arch, Instruction};

const LOAD: u16 = 0x20;
const AND: u16 = 0x54;
const JUMP: u16 = 0x05;
const JUMP_EQUAL: u16 = 0x15;
const JUMP_AT_LEAST: u16 = 0x35;
const JUMP_ANY_BIT: u16 = 0x45;
const RETURN: u16 = 0x06;

/// Where the kernel puts things for a filter.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const ARGUMENTS: u32 = 16;

/// How far a jump may reach when its targets are fixed: two stepping stones may still come in between.
const REACH: usize = u8::MAX as usize - 2;

/// An instruction, counted from the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place(usize);

/// Where to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    At(Place),
    Return(Action),
}

/// The program for these rules.
///
/// Each number of a table costs at most three instructions, and the conditions about a hundred: no profile comes near
/// the 4,096 that the kernel takes.
pub(super) fn emit(rules: &Rules) -> Vec<Instruction> {
    let mut program = Program::default();
    let targets = targets(&mut program, rules);
    let tree = program.tree(&targets);
    let tree = match rules.arch {
        // Said apart from the ceiling, which it lies above: x32 must stay out even if the ceiling is ever wrong.
        Arch::X86_64 => program.branch(JUMP_ANY_BIT, X32, Target::Return(rules.unknown()), tree),
        Arch::Aarch64 => tree,
    };
    let tree = program.load(NUMBER, tree);
    let start = program.branch(
        JUMP_EQUAL,
        rules.arch.audit(),
        tree,
        Target::Return(rules.foreign()),
    );
    program.load(ARCHITECTURE, start);
    program.reversed.reverse();
    program.reversed
}

/// Where each stretch of numbers goes, neighbours with the same target merged; writes what the conditions need.
fn targets(program: &mut Program, rules: &Rules) -> Vec<(u32, Target)> {
    let mut written: Vec<(Decision, Target)> = Vec::new();
    let mut targets: Vec<(u32, Target)> = Vec::new();
    for (first, decision) in rules.stretches() {
        let known = written.iter().find(|known| known.0 == decision);
        let target = match known {
            Some((_, target)) => *target,
            None => {
                let target = program.decision(rules, decision);
                written.push((decision, target));
                target
            }
        };
        if targets.last().is_none_or(|last| last.1 != target) {
            targets.push((first, target));
        }
    }
    targets
}

/// A program that grows at its front.
#[derive(Default)]
struct Program {
    reversed: Vec<Instruction>,
    /// The nearest instruction that returns each action.
    returns: BTreeMap<Action, Place>,
}

impl Program {
    fn push(&mut self, code: u16, jt: u8, jf: u8, k: u32) -> Place {
        self.reversed.push(Instruction { code, jt, jf, k });
        Place(self.reversed.len())
    }

    /// How many instructions lie between the front and a place.
    const fn distance(&self, place: Place) -> usize {
        self.reversed.len() - place.0
    }

    /// A place within reach that leads to the target.
    fn near(&mut self, target: Target) -> Place {
        match target {
            Target::At(place) if self.distance(place) <= REACH => place,
            Target::At(place) => {
                let distance = self.distance(place);
                self.push(JUMP, 0, 0, word(distance))
            }
            Target::Return(action) => match self.returns.get(&action) {
                Some(place) if self.distance(*place) <= REACH => *place,
                _ => {
                    let place = self.push(RETURN, 0, 0, value(action));
                    self.returns.insert(action, place);
                    place
                }
            },
        }
    }

    fn branch(&mut self, code: u16, k: u32, yes: Target, no: Target) -> Target {
        let yes = self.near(yes);
        let no = self.near(no);
        let (jt, jf) = (self.offset(yes), self.offset(no));
        Target::At(self.push(code, jt, jf, k))
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "`near` leaves room for what was written since"
    )]
    const fn offset(&self, place: Place) -> u8 {
        self.distance(place) as u8
    }

    /// Loads a word, and goes on.
    fn load(&mut self, offset: u32, then: Target) -> Target {
        self.fall_through(then);
        Target::At(self.push(LOAD, 0, 0, offset))
    }

    /// Makes sure that the instruction at the front is the target.
    fn fall_through(&mut self, target: Target) {
        let place = self.near(target);
        let distance = self.distance(place);
        if distance != 0 {
            self.push(JUMP, 0, 0, word(distance));
        }
    }

    /// A search for the number among sorted stretches.
    fn tree(&mut self, stretches: &[(u32, Target)]) -> Target {
        let (low, high) = stretches.split_at(stretches.len() / 2);
        match (low, high) {
            (_, []) => Target::Return(Action::Kill),
            ([], [(_, target), ..]) => *target,
            (_, [(first, _), ..]) => {
                let high = self.tree(high);
                let low = self.tree(low);
                self.branch(JUMP_AT_LEAST, *first, high, low)
            }
        }
    }

    fn decision(&mut self, rules: &Rules, decision: Decision) -> Target {
        let mut next = Target::Return(rules.enforced(decision.otherwise));
        for Clause { tests, action } in decision.clauses.iter().rev() {
            let mut then = Target::Return(rules.enforced(*action));
            for test in tests.iter().rev() {
                then = self.test(test, then, next);
            }
            next = then;
        }
        next
    }

    fn test(&mut self, test: &Test, yes: Target, no: Target) -> Target {
        match test {
            Test::OneOf(argument, values) => {
                let found = values
                    .iter()
                    .rev()
                    .fold(no, |no, value| self.branch(JUMP_EQUAL, value.1, yes, no));
                let found = if argument.mask == u32::MAX {
                    found
                } else {
                    self.fall_through(found);
                    Target::At(self.push(AND, 0, 0, argument.mask))
                };
                self.load(low(argument.index), found)
            }
            Test::AnyBit(argument, bits, _) => {
                let found = self.branch(JUMP_ANY_BIT, argument.mask & bits, yes, no);
                self.load(low(argument.index), found)
            }
            Test::Null(argument) => {
                let found = self.branch(JUMP_EQUAL, 0, yes, no);
                let found = self.load(low(argument.index) + 4, found);
                let found = self.branch(JUMP_EQUAL, 0, found, no);
                self.load(low(argument.index), found)
            }
        }
    }
}

/// Where the low half of an argument is; both processors are little-endian.
const fn low(index: u8) -> u32 {
    ARGUMENTS + 8 * index as u32
}

/// The length of a jump, which is at most that of a program.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a program has a few thousand instructions"
)]
const fn word(distance: usize) -> u32 {
    distance as u32
}

/// What a filter returns for an action.
const fn value(action: Action) -> u32 {
    match action {
        Action::Allow => 0x7fff_0000,
        Action::Log => 0x7ffc_0000,
        Action::Eperm => 0x0005_0000 | 1,
        Action::Enosys => 0x0005_0000 | 38,
        Action::Kill => 0x8000_0000,
    }
}
