//! The system-call filter: from a profile to instructions that the kernel runs, on every system.
//!
//! ```text
//! tables/        names and numbers, as data
//! conditions.rs  what is judged by its arguments, as data
//! rules.rs       profile + sockets + namespaces + processor -> an action for every call
//! emit.rs        rules -> instructions, as a binary tree over the numbers
//! listing.rs     rules -> text for whoever writes a policy
//! model/         an interpreter and the rules as a reference (feature `model`)
//! ```
//!
//! Whatever the profile says:
//!
//! - A foreign architecture ends the process: its numbers mean other calls.
//! - A number that is not in the table (x32, -1, a hole, anything newer than the ceiling) is answered `ENOSYS`, which
//!   programs take for an older kernel.
//! - `clone3` is answered `ENOSYS` too: its flags lie in memory, where no filter can see them, and every libc then falls
//!   back to `clone`, whose flags are an argument.
//! - Arguments are compared with 32 bits where the kernel reads 32, so that no high bit slips past.

mod conditions;
mod emit;
mod listing;
#[cfg(feature = "model")]
pub mod model;
mod rules;
mod tables;

use std::fmt;

use palisade_policy::{PolicyError, SeccompProfile};

use self::rules::Rules;

/// A processor, as far as its system calls are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a new one needs a table")]
pub enum Arch {
    /// 64-bit x86.
    X86_64,
    /// 64-bit ARM.
    Aarch64,
}

impl Arch {
    /// What the kernel calls it when it asks a filter.
    #[must_use]
    pub const fn audit(self) -> u32 {
        match self {
            Self::X86_64 => 0xc000_003e,
            Self::Aarch64 => 0xc000_00b7,
        }
    }
}

/// Which sockets a command may open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "every tier must choose one")]
pub enum Sockets {
    /// Pairs of sockets only: for a tier whose network is the host's and must not be reached.
    ///
    /// Pairs of datagram sockets are refused as well: such a socket can still send to any path.
    PairsOnly,
    /// Unix sockets and the internet families: for a session with a network of its own.
    ///
    /// [`SeccompProfile::allow_network_sockets`] speaks of the network of the host and changes nothing here.
    OwnNetwork,
    /// The same on the host's network, because the policy opens it.
    ///
    /// If the profile does not allow network sockets, only Unix sockets remain: the narrower of the two wins.
    HostNetwork,
}

/// Whose processes, queues and Unix sockets a command can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "every tier must choose one")]
pub enum Namespaces {
    /// Those of its session: it has namespaces, and the sockets of others are masked.
    Own,
    /// Those of the host: scheduling others, System V IPC, message queues and Unix sockets are refused.
    ///
    /// The price: `pthread_setaffinity_np` and `pthread_setschedparam` name a thread by its number, and fail; and a
    /// server of the session's own cannot listen on a Unix socket.
    Host,
}

/// One instruction of classic BPF, as the kernel wants it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "the kernel's layout")]
#[repr(C)]
pub struct Instruction {
    /// The operation.
    pub code: u16,
    /// Where to go if the comparison holds.
    pub jt: u8,
    /// Where to go if it does not.
    pub jf: u8,
    /// The operand.
    pub k: u32,
}

/// A compiled filter; two are equal if the kernel would run the same instructions.
///
/// Its text says what is refused, and how many instructions that takes.
#[derive(Clone)]
pub struct Filter {
    instructions: Vec<Instruction>,
    /// What it was made from; not known for one that came over a socket.
    rules: Option<Rules>,
}

impl Filter {
    /// The instructions.
    #[must_use]
    pub fn instructions(&self) -> &[Instruction] {
        &self.instructions
    }

    pub(crate) const fn from_instructions(instructions: Vec<Instruction>) -> Self {
        Self {
            instructions,
            rules: None,
        }
    }
}

impl PartialEq for Filter {
    fn eq(&self, other: &Self) -> bool {
        self.instructions == other.instructions
    }
}

impl Eq for Filter {}

impl fmt::Debug for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Filter({} instructions)", self.instructions.len())
    }
}

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(rules) = &self.rules {
            write!(f, "{rules}")?;
        }
        writeln!(f, "{} instructions", self.instructions.len())
    }
}

/// Compiles a profile for a tier with namespaces, or for one without them where only pairs of sockets are left.
///
/// # Errors
/// The profile names a system call that does not exist.
pub fn compile(
    profile: &SeccompProfile,
    sockets: Sockets,
    arch: Arch,
) -> Result<Filter, PolicyError> {
    let namespaces = match sockets {
        Sockets::PairsOnly => Namespaces::Host,
        Sockets::OwnNetwork | Sockets::HostNetwork => Namespaces::Own,
    };
    compile_for(profile, sockets, namespaces, arch)
}

/// Compiles a profile, with the namespaces said apart: for a tier that has none and whose policy opens the network.
///
/// # Errors
/// The profile names a system call that does not exist.
pub fn compile_for(
    profile: &SeccompProfile,
    sockets: Sockets,
    namespaces: Namespaces,
    arch: Arch,
) -> Result<Filter, PolicyError> {
    let rules = Rules::new(profile, sockets, namespaces, arch)?;
    Ok(Filter {
        rules: Some(rules.clone()),
        ..Filter::from_instructions(emit::emit(&rules))
    })
}
