//! How large and how deep the programs are.

use palisade_linux_landlock::seccomp::compile_for;
use palisade_linux_landlock::seccomp::model::{Verdict, calls, check, run_counted};

use crate::{ARCHES, NAMESPACES, SOCKETS, call, profiles};

#[test]
fn programs_are_small_and_flat() {
    for (name, profile) in profiles() {
        let mut sizes = Vec::new();
        let mut deepest = 0;
        for arch in ARCHES {
            for sockets in SOCKETS {
                for namespaces in NAMESPACES {
                    let filter = compile_for(&profile, sockets, namespaces, arch).unwrap();
                    assert_eq!(check(filter.instructions()), Ok(()));
                    sizes.push(filter.instructions().len());
                    for (_, nr) in calls(arch) {
                        let data = call(arch, *nr, [0; 6]);
                        let ran = run_counted(filter.instructions(), &data).unwrap();
                        deepest = deepest.max(ran.1);
                    }
                }
            }
        }
        let largest = sizes.iter().max().copied().unwrap();
        println!("{name}: at most {largest} instructions, of which at most {deepest} run");
        let ragged = name.starts_with("ragged");
        let (size, depth) = if ragged { (1000, 24) } else { (200, 20) };
        assert!(largest <= size, "{name}: {largest}");
        assert!(deepest <= depth, "{name}: {deepest}");
        // Or the longest jumps are not tested.
        assert!(!ragged || largest > 300, "{name}: {largest}");
    }
}

#[test]
fn plain_calls_are_decided_quickly() {
    // What the kernel caches: calls that need none of their arguments.
    for arch in ARCHES {
        for sockets in SOCKETS {
            for namespaces in NAMESPACES {
                let profile = palisade_policy::SeccompProfile::strict();
                let filter = compile_for(&profile, sockets, namespaces, arch).unwrap();
                for name in ["read", "write", "openat", "futex", "execve", "mount", "bpf"] {
                    let data = call(arch, crate::number(arch, name), [0; 6]);
                    let (_, steps) = run_counted(filter.instructions(), &data).unwrap();
                    assert!(steps <= 14, "{name} took {steps} on {arch:?}");
                }
            }
        }
    }
}

#[test]
fn equal_inputs_make_equal_programs() {
    for (_, profile) in profiles() {
        for arch in ARCHES {
            let make = || compile_for(&profile, SOCKETS[0], NAMESPACES[1], arch).unwrap();
            assert_eq!(make(), make());
            assert_eq!(make().to_string(), make().to_string());
        }
    }
}

#[test]
fn only_logging_enforces_nothing() {
    for (name, profile) in profiles() {
        if !profile.log_only {
            continue;
        }
        for arch in ARCHES {
            for sockets in SOCKETS {
                let filter = compile_for(&profile, sockets, NAMESPACES[1], arch).unwrap();
                for nr in (0..600).chain([u32::MAX, 1 << 30]) {
                    for (audit, args) in [(arch.audit(), [0; 6]), (0, [u64::MAX; 6])] {
                        let mut data = call(arch, nr, args);
                        data.arch = audit;
                        let (verdict, _) = run_counted(filter.instructions(), &data).unwrap();
                        let runs = matches!(verdict, Verdict::Allow | Verdict::Log);
                        assert!(runs, "{name} {data:x?}: {verdict:?}");
                    }
                }
            }
        }
    }
}
