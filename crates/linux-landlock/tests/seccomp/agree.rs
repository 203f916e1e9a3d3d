//! The compiled program says what the rules say, for every call.

use palisade_linux_landlock::seccomp::model::{Reference, SyscallData, run};
use palisade_linux_landlock::seccomp::{Arch, Namespaces, Sockets, compile_for};
use palisade_policy::SeccompProfile;
use proptest::prelude::*;

use crate::{ARCHES, NAMESPACES, SOCKETS, call, number, profiles};

const I386: u32 = 0x4000_0003;
const ARM: u32 = 0x4000_0028;

/// Values at which some rule changes its mind, each also with high bits.
const EDGES: [u64; 32] = [
    0,
    1,
    2,
    3,
    5,
    6,
    10,
    16,
    17,
    31,
    32,
    35,
    40,
    62,
    0x80,
    262,
    0x5412,
    0x541c,
    0x5000_9401,
    0x5000_9417,
    0x0002_0000,
    0x0200_0000,
    0x1000_0000,
    0x4000_0000,
    0x0008_0801,
    0x0008_0802,
    0x0010_0001,
    0xffff_ffff,
    0x1_0000_0000,
    0x1_0000_0001,
    0x1_0000_5412,
    0xffff_ffff_ffff_ffff,
];

fn for_all(mut check: impl FnMut(&str, &SeccompProfile, Sockets, Namespaces, Arch)) {
    for (name, profile) in profiles() {
        for sockets in SOCKETS {
            for namespaces in NAMESPACES {
                for arch in ARCHES {
                    check(name, &profile, sockets, namespaces, arch);
                }
            }
        }
    }
}

#[test]
fn every_number_on_every_architecture() {
    for_all(|name, profile, sockets, namespaces, arch| {
        let filter = compile_for(profile, sockets, namespaces, arch).unwrap();
        let rules = Reference::new(profile, sockets, namespaces, arch).unwrap();
        let same = |nr, audit, args| {
            let mut data = call(arch, nr, args);
            data.arch = audit;
            let ran = run(filter.instructions(), &data).unwrap();
            assert_eq!(ran, rules.verdict(&data), "{name} {sockets:?} {data:x?}");
        };
        for nr in (0..600).chain([u32::MAX, u32::MAX - 1, 1 << 31]) {
            for args in [[0; 6], [1, 1, 0, 0, 0, 0], [u64::MAX; 6]] {
                same(nr, arch.audit(), args);
            }
            same(nr | 1 << 30, arch.audit(), [0; 6]);
        }
        for nr in (0..600).step_by(7).chain([u32::MAX, 1 << 30]) {
            for audit in [Arch::X86_64.audit(), Arch::Aarch64.audit(), I386, ARM, 0] {
                same(nr, audit, [0; 6]);
            }
        }
    });
}

#[test]
fn every_edge_of_the_first_three_arguments() {
    // In full for the one call that looks at three arguments; the others are covered by the random test too.
    for_all(|name, profile, sockets, namespaces, arch| {
        let filter = compile_for(profile, sockets, namespaces, arch).unwrap();
        let rules = Reference::new(profile, sockets, namespaces, arch).unwrap();
        let same = |nr, args| {
            let data = call(arch, nr, args);
            let ran = run(filter.instructions(), &data).unwrap();
            assert_eq!(ran, rules.verdict(&data), "{name} {sockets:?} {data:x?}");
        };
        if name == "bare" {
            let socket = number(arch, "socket");
            for family in [0, 1, 2, 10, 16, 40, 0x1_0000_0002] {
                for kind in EDGES {
                    for protocol in EDGES {
                        same(socket, [family, kind, protocol, 0, 0, 0]);
                    }
                }
            }
        }
        let judged = [
            "socketpair",
            "clone",
            "unshare",
            "ioctl",
            "prctl",
            "personality",
            "prlimit64",
            "sched_setaffinity",
            "setpriority",
            "ioprio_set",
        ];
        for nr in judged.map(|name| number(arch, name)) {
            for edge in EDGES {
                for other in [0, 1, 2, 3, 0x1_0000_0000] {
                    same(nr, [edge, other, edge, 0, 0, 0]);
                    same(nr, [other, edge, 0, 0, 0, 0]);
                }
            }
        }
    });
}

proptest! {
    #[test]
    fn random_calls(
        which in 0..profiles().len(),
        sockets in prop::sample::select(SOCKETS.to_vec()),
        namespaces in prop::sample::select(NAMESPACES.to_vec()),
        arch in prop::sample::select(ARCHES.to_vec()),
        numbers in prop::collection::vec(prop_oneof![0_u32..480, any::<u32>()], 64),
        args in prop::array::uniform6(prop_oneof![prop::sample::select(EDGES.to_vec()), any::<u64>()]),
        instruction_pointer in any::<u64>(),
    ) {
        let (name, profile) = profiles().swap_remove(which);
        let filter = compile_for(&profile, sockets, namespaces, arch).unwrap();
        let rules = Reference::new(&profile, sockets, namespaces, arch).unwrap();
        for nr in numbers {
            let data = SyscallData { instruction_pointer, ..call(arch, nr, args) };
            let ran = run(filter.instructions(), &data).unwrap();
            prop_assert_eq!(ran, rules.verdict(&data), "{} {:x?}", name, data);
        }
    }
}
