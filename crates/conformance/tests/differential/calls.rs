//! The compiled filter against the policy: every number of both processors, of x32 and of i386, in an interpreter.

use palisade_linux_landlock::Tier;
use palisade_linux_landlock::seccomp::model::{SyscallData, Verdict, calls, check, run};
use palisade_linux_landlock::seccomp::{Arch, Instruction};
use palisade_policy::{CanonicalSandboxPolicy, Guarantee, Level};

use crate::lowered::{TIERS, lower_for};
use crate::meaning::{Meaning, Session};
use crate::random::try_cases;

pub(crate) const ARCHES: [Arch; 2] = [Arch::X86_64, Arch::Aarch64];
const I386: u32 = 0x4000_0003;
const ARM: u32 = 0x4000_0028;
const X32: u32 = 0x4000_0000;
const HIGH: u64 = 1 << 32;
const NOBODY: u64 = 0x7fff_fff0;
const BAD: u64 = u64::MAX;

/// Calls that do nothing, whoever makes them: no pointer is good, no process is there, no descriptor is open.
pub(crate) const HARMLESS: [(&str, [u64; 6]); 36] = [
    ("socket", [1, 1, 0, 0, 0, 0]),
    ("socket", [1, 2, 0, 0, 0, 0]),
    ("socket", [2, 1, 0, 0, 0, 0]),
    ("socket", [2, 2, 17, 0, 0, 0]),
    ("socket", [10, 1, 6, 0, 0, 0]),
    ("socket", [2, 1, 132, 0, 0, 0]),
    ("socket", [16, 3, 0, 0, 0, 0]),
    ("socket", [16, 3, 9, 0, 0, 0]),
    ("socket", [17, 3, 0, 0, 0, 0]),
    ("socket", [40, 1, 0, 0, 0, 0]),
    ("socketpair", [1, 1, 0, 0, 0, 0]),
    ("socketpair", [1, 2, 0, 0, 0, 0]),
    ("unshare", [0; 6]),
    // A namespace, and a bit that is none.
    ("unshare", [0x1000_0001, 0, 0, 0, 0, 0]),
    ("clone3", [0; 6]),
    ("setns", [BAD, 0, 0, 0, 0, 0]),
    ("io_uring_setup", [0; 6]),
    ("personality", [0xffff_ffff, 0, 0, 0, 0, 0]),
    ("prctl", [21, 0, 0, 0, 0, 0]),
    ("prctl", [35, 0, 0, 0, 0, 0]),
    ("ioctl", [BAD, 0x5401, 0, 0, 0, 0]),
    ("ioctl", [BAD, 0x5412, 0, 0, 0, 0]),
    ("keyctl", [BAD, 0, 0, 0, 0, 0]),
    ("pidfd_open", [0; 6]),
    ("memfd_create", [0; 6]),
    ("shmget", [0; 6]),
    ("mq_unlink", [0; 6]),
    ("sched_setaffinity", [NOBODY, 0, 0, 0, 0, 0]),
    ("setpriority", [0, NOBODY, 0, 0, 0, 0]),
    ("ioprio_set", [1, NOBODY, 0x4000, 0, 0, 0]),
    ("prlimit64", [NOBODY, 7, 0, 0, 0, 0]),
    ("prlimit64", [NOBODY, 7, 1, 0, 0, 0]),
    ("ptrace", [BAD, NOBODY, 0, 0, 0, 0]),
    ("chroot", [0; 6]),
    ("bpf", [BAD, 0, 0, 0, 0, 0]),
    ("userfaultfd", [BAD, 0, 0, 0, 0, 0]),
];

/// Whether a kernel may refuse this row to an ordinary user, or not have the call at all, filter or not.
pub(crate) fn is_refused_anyway(row: usize) -> bool {
    let (name, args) = HARMLESS[row];
    let names = ["bpf", "io_uring_setup", "keyctl", "prctl", "userfaultfd"];
    // Packets need a capability.
    names.contains(&name) || (name == "socket" && args[0] == 17)
}

/// More arguments for what is judged by them.
const JUDGED: [(&str, &[[u64; 3]]); 13] = [
    (
        "socket",
        &[
            [1, 1, 0],
            [1, 2 | 0x8_0000, 0],
            [1, 5, 0],
            [2, 1, 0],
            [2, 1 | 0x800, 6],
            [10, 2, 17],
            [10, 1, 262],
            [2, 3, 1],
            [2, 2, 1],
            [2, 1, 132],
            [2, 10, 0],
            [HIGH | 2, HIGH | 1, HIGH | 6],
            [16, 3, 0],
            [16, 2, 0],
            [16, 1, 0],
            [16, 3, 9],
            [17, 3, 0],
            [40, 1, 0],
            [38, 5, 0],
            [0, 1, 0],
        ],
    ),
    (
        "socketpair",
        &[
            [1, 1, 0],
            [1, 2, 0],
            [1, 5 | 0x8_0000, 0],
            [1, 3, 0],
            [30, 1, 0],
        ],
    ),
    (
        "clone",
        &[
            [17, 0, 0],
            [17 | 0x80, 0, 0],
            [0x0002_0000, 0, 0],
            [0x0200_0000, 0, 0],
            [0x0400_0000, 0, 0],
            [0x0800_0000, 0, 0],
            [0x1000_0000, 0, 0],
            [0x2000_0000, 0, 0],
            [HIGH | 0x4000_0000, 0, 0],
            [0x003d_0f00, 0, 0],
        ],
    ),
    (
        "unshare",
        &[
            [0x400, 0, 0],
            [0x80, 0, 0],
            [0x1000_0000, 0, 0],
            [HIGH | 0x2_0000, 0, 0],
        ],
    ),
    (
        "ioctl",
        &[
            [0, 0x5401, 0],
            [0, 0x5412, 0],
            [0, HIGH | 0x541c, 0],
            [0, 0x5000_9401, 0],
            [0, 0x5000_9417, 0],
        ],
    ),
    (
        "prctl",
        &[
            [22, 0, 0],
            [31, 0, 0],
            [32, 0, 0],
            [35, 0, 0],
            [HIGH | 62, 0, 0],
            [38, 1, 0],
        ],
    ),
    (
        "personality",
        &[
            [0xffff_ffff, 0, 0],
            [BAD, 0, 0],
            [8, 0, 0],
            [0x0004_0000, 0, 0],
        ],
    ),
    (
        "prlimit64",
        &[
            [77, 7, 0],
            [77, 7, 1],
            [0, 7, 1],
            [77, 7, HIGH],
            [HIGH, 7, 1],
        ],
    ),
    ("sched_setaffinity", &[[77, 0, 0], [HIGH, 0, 0]]),
    ("sched_setscheduler", &[[77, 0, 0], [HIGH, 0, 0]]),
    (
        "setpriority",
        &[[0, 77, 0], [1, 0, 0], [2, 0, 0], [1, 77, 0]],
    ),
    ("ioprio_set", &[[1, 0, 0], [2, 0, 0], [3, 0, 0], [1, 77, 0]]),
    ("setns", &[[3, 0, 0]]),
];

/// The processor that the tests run on.
pub(crate) const fn here() -> Arch {
    if cfg!(target_arch = "aarch64") {
        Arch::Aarch64
    } else {
        Arch::X86_64
    }
}

pub(crate) fn number(arch: Arch, name: &str) -> Option<u32> {
    let call = calls(arch).iter().find(|call| call.0 == name);
    call.map(|call| call.1)
}

/// What is wrong with a program, if anything is: the first call of which it makes something else than the policy means.
pub(crate) fn wrong_with(
    program: &[Instruction],
    session: &Session,
    arch: Arch,
) -> Result<usize, String> {
    check(program).map_err(|fault| format!("the kernel would not take it: {fault}"))?;
    let mut asked = 0;
    let mut ask = |nr: u32, audit: u32, args: [u64; 6], meant: Meaning, name: &str| {
        asked += 1;
        let data = SyscallData {
            nr,
            arch: audit,
            instruction_pointer: 0x7f00_1234_5678,
            args,
        };
        let said = run(program, &data).map_err(|fault| fault.to_string())?;
        let same = match meant {
            Meaning::Runs => matches!(said, Verdict::Allow | Verdict::Log),
            Meaning::Fails(errno) => said == Verdict::Errno(errno),
            Meaning::Dies => said == Verdict::KillProcess,
        };
        match same {
            true => Ok(()),
            false => Err(format!(
                "{arch:?} {name} (number {nr:#x} of {audit:#x}){args:x?}: the filter says {said:?}, the policy means {meant:?}"
            )),
        }
    };
    let names = calls(arch);
    for nr in (0..600).chain([u32::MAX, 1 << 31]) {
        let name = names.iter().find(|call| call.1 == nr).map(|call| call.0);
        let text = name.unwrap_or("no call");
        let own = arch.audit();
        let mut own_args = vec![[0; 6], [1, 1, 0, 0, 0, 0], [BAD; 6]];
        let judged = JUDGED.iter().filter(|row| Some(row.0) == name);
        own_args.extend(
            judged
                .flat_map(|row| row.1)
                .map(|[a, b, c]| [*a, *b, *c, 0, 0, 0]),
        );
        for args in own_args {
            ask(nr, own, args, session.means(name, &args), text)?;
        }
        // The same numbers through x32, which is nobody's on the other processor, and through other processors.
        ask(nr | X32, own, [0; 6], session.means(None, &[0; 6]), "x32")?;
        for audit in [I386, ARM, Arch::X86_64.audit(), Arch::Aarch64.audit()] {
            if audit != own {
                ask(nr, audit, [0; 6], session.foreign(), "foreign")?;
            }
        }
    }
    Ok(asked)
}

/// The filters of a policy in a tier, for both processors; how many calls were asked about.
fn compare(
    stage: &crate::stage::Stage,
    policy: &CanonicalSandboxPolicy,
    tier: Tier,
) -> Result<usize, String> {
    let session = Session::of(policy, tier);
    let mut asked = 0;
    for arch in ARCHES {
        let Some(lowered) = lower_for(stage, policy, tier, Some(arch))? else {
            return Ok(asked);
        };
        // What only logs promises nothing, and must refuse nothing; both are in what the session means.
        let promised = lowered.enforcement.level(Guarantee::SystemCalls) == Level::Enforced;
        if promised == policy.seccomp_profile().log_only {
            return Err(format!(
                "the report is wrong about system calls\n{}",
                lowered.enforcement
            ));
        }
        asked += wrong_with(lowered.plan.filter.instructions(), &session, arch)
            .map_err(|why| format!("{tier:?}: {why}"))?;
    }
    Ok(asked)
}

#[test]
fn filters_do_what_the_policy_means() {
    let mut asked = 0;
    let mut cases = 0;
    try_cases(20, |_, stage, policy| {
        cases += 1;
        for tier in TIERS {
            asked += compare(stage, policy, tier)?;
        }
        Ok(())
    });
    println!("seccomp: {asked} calls of {cases} policies in two tiers, on two processors");
    assert!(asked > cases * 8_000, "{asked} of {cases}");
}
