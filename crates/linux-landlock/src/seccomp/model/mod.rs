//! A filter's kernel, as a model: what the kernel would accept, what it would answer, and what the rules say it should.
//!
//! For tests, and for those who check us. [`check`] and [`run`] know nothing of how our programs are made: they take
//! any program that a kernel takes.

mod check;
mod run;

use palisade_policy::{PolicyError, SeccompProfile};

use super::rules::{Action, Rules, Test, X32};
use super::{Arch, Namespaces, Sockets, tables};

pub use self::check::check;
pub use self::run::{run, run_counted};

/// What the kernel shows a filter of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "the kernel's layout")]
pub struct SyscallData {
    /// The number; -1 is `u32::MAX`.
    pub nr: u32,
    /// The architecture, in the numbers of the audit system.
    pub arch: u32,
    /// Where the call was made.
    pub instruction_pointer: u64,
    /// Its arguments.
    pub args: [u64; 6],
}

/// What the kernel does with a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Verdict {
    /// It runs.
    Allow,
    /// It runs, and is logged.
    Log,
    /// A tracer decides.
    Trace(u16),
    /// A supervisor decides.
    Notify,
    /// It fails with this errno.
    Errno(u16),
    /// The thread gets SIGSYS.
    Trap(u16),
    /// The thread dies.
    KillThread,
    /// The process dies.
    KillProcess,
}

/// Why the kernel would not take a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// No instructions, or more than 4,096.
    #[error("a program of {0} instructions")]
    Length(usize),
    /// An operation that filters do not have.
    #[error("instruction {0}: not an operation of filters")]
    Operation(usize),
    /// An operand out of range: a load, a shift, a division by zero, a memory cell.
    #[error("instruction {0}: the operand is out of range")]
    Operand(usize),
    /// A jump past the end.
    #[error("instruction {0}: a jump past the end")]
    Jump(usize),
    /// A memory cell that is read before anything is stored there.
    #[error("instruction {0}: a memory cell is read before it is written")]
    Unwritten(usize),
    /// The last instruction does not return.
    #[error("the last instruction does not return")]
    NoReturn,
}

/// What the rules say, evaluated one by one instead of compiled.
#[derive(Clone, Debug)]
pub struct Reference {
    rules: Rules,
}

impl Reference {
    /// The rules of a profile in a tier.
    ///
    /// # Errors
    /// The profile names a system call that does not exist.
    pub fn new(
        profile: &SeccompProfile,
        sockets: Sockets,
        namespaces: Namespaces,
        arch: Arch,
    ) -> Result<Self, PolicyError> {
        Ok(Self {
            rules: Rules::new(profile, sockets, namespaces, arch)?,
        })
    }

    /// What should happen to a call.
    #[must_use]
    pub fn verdict(&self, data: &SyscallData) -> Verdict {
        match self.action(data) {
            Action::Allow => Verdict::Allow,
            Action::Log => Verdict::Log,
            Action::Eperm => Verdict::Errno(1),
            Action::Enosys => Verdict::Errno(38),
            Action::Kill => Verdict::KillProcess,
        }
    }

    fn action(&self, data: &SyscallData) -> Action {
        let rules = &self.rules;
        if data.arch != rules.arch.audit() {
            return rules.foreign();
        }
        let known = || calls(rules.arch).iter().any(|call| call.1 == data.nr);
        if (rules.arch == Arch::X86_64 && data.nr & X32 != 0) || !known() {
            return rules.unknown();
        }
        let Some(rule) = rules.rules.get(&data.nr) else {
            return Action::Allow;
        };
        let holds = |tests: &[Test]| tests.iter().all(|test| holds(test, &data.args));
        let clause = rule.decision.clauses.iter().find(|one| holds(one.tests));
        rules.enforced(clause.map_or(rule.decision.otherwise, |clause| clause.action))
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the low half is what the kernel reads"
)]
fn holds(test: &Test, args: &[u64; 6]) -> bool {
    let argument = match test {
        Test::OneOf(argument, _) | Test::AnyBit(argument, ..) | Test::Null(argument) => argument,
    };
    let Some(whole) = args.get(usize::from(argument.index)) else {
        return false;
    };
    let seen = *whole as u32 & argument.mask;
    match test {
        Test::OneOf(_, values) => values.iter().any(|value| value.1 == seen),
        Test::AnyBit(_, bits, _) => seen & bits != 0,
        Test::Null(_) => *whole == 0,
    }
}

/// Every system call of a processor that the compiler knows, in the order of its number.
#[must_use]
pub const fn calls(arch: Arch) -> &'static [(&'static str, u32)] {
    tables::calls(arch)
}

/// Whether a profile may name this call: one of any processor.
#[must_use]
pub fn is_name(name: &str) -> bool {
    tables::is_name(name)
}
