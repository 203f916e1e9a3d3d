//! The filter compiler: against its own rules, against a list of expectations, against another compiler, and against
//! the kernel.
#![expect(clippy::unwrap_used, reason = "a test ends where its assumption fails")]
#![expect(clippy::print_stdout, reason = "a test says what it skipped")]

mod agree;
mod expected;
#[cfg(target_os = "linux")]
mod kernel;
mod listing;
mod machine;
mod names;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod peer;
mod shape;
#[cfg(target_os = "linux")]
mod sys;

use palisade_linux_landlock::seccomp::model::{SyscallData, calls};
use palisade_linux_landlock::seccomp::{Arch, Namespaces, Sockets};
use palisade_policy::{SeccompProfile, SyscallName};

const ARCHES: [Arch; 2] = [Arch::X86_64, Arch::Aarch64];
const SOCKETS: [Sockets; 3] = [
    Sockets::PairsOnly,
    Sockets::OwnNetwork,
    Sockets::HostNetwork,
];
const NAMESPACES: [Namespaces; 2] = [Namespaces::Own, Namespaces::Host];

fn number(arch: Arch, name: &str) -> u32 {
    let call = calls(arch).iter().find(|call| call.0 == name);
    assert!(call.is_some(), "{name} on {arch:?}");
    call.unwrap().1
}

fn call(arch: Arch, nr: u32, args: [u64; 6]) -> SyscallData {
    SyscallData {
        nr,
        arch: arch.audit(),
        instruction_pointer: 0x7f00_1234_5678,
        args,
    }
}

/// Arguments, the rest zero.
fn padded(given: &[u64]) -> [u64; 6] {
    std::array::from_fn(|index| given.get(index).copied().unwrap_or(0))
}

/// Nothing blocked by name, so that every other rule shows.
fn bare() -> SeccompProfile {
    let mut profile = SeccompProfile::strict();
    profile.blocked_syscalls.clear();
    profile
}

/// Every second call of a table blocked: the most stretches that a profile can make, and so the longest jumps.
fn ragged(arch: Arch) -> SeccompProfile {
    let every_second = calls(arch).iter().step_by(2);
    bare().with_blocked(every_second.map(|call| SyscallName::new(call.0).unwrap()))
}

fn profiles() -> Vec<(&'static str, SeccompProfile)> {
    let mut bare_logging = bare();
    bare_logging.log_only = true;
    vec![
        ("strict", SeccompProfile::strict()),
        (
            "strict with network",
            SeccompProfile::strict().with_network(),
        ),
        ("permissive", SeccompProfile::permissive()),
        ("logging", SeccompProfile::logging()),
        ("bare", bare()),
        ("bare logging", bare_logging),
        ("ragged on x86_64", ragged(Arch::X86_64)),
        ("ragged on aarch64", ragged(Arch::Aarch64)),
    ]
}
