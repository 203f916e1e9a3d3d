//! The tables: against the kernel's headers where they are installed, and against the profiles.

use std::collections::BTreeMap;
use std::fs;

use palisade_linux_landlock::seccomp::model::{calls, is_name};
use palisade_linux_landlock::seccomp::{Arch, Sockets, compile};
use palisade_policy::{PolicyProblem, SeccompProfile, SyscallName};

use crate::{ARCHES, SOCKETS, bare, number};

#[test]
fn every_name_of_the_profiles_is_known() {
    for profile in [SeccompProfile::strict(), SeccompProfile::permissive()] {
        for name in &profile.blocked_syscalls {
            assert!(is_name(name.as_str()), "{name}");
        }
    }
}

#[test]
fn unknown_name_is_refused_on_every_processor() {
    for arch in ARCHES {
        for sockets in SOCKETS {
            let profile = bare().with_blocked([SyscallName::new("open_sesame").unwrap()]);
            let error = compile(&profile, sockets, arch).unwrap_err();
            assert_eq!(error.field(), "blocked_syscalls");
            assert_eq!(
                error.problem(),
                &PolicyProblem::Syscall("open_sesame".to_owned())
            );
        }
    }
}

#[test]
fn name_of_another_processor_is_no_mistake() {
    for name in ["iopl", "modify_ldt", "socketcall", "umount"] {
        let profile = bare().with_blocked([SyscallName::new(name).unwrap()]);
        let with = compile(&profile, Sockets::OwnNetwork, Arch::Aarch64).unwrap();
        let without = compile(&bare(), Sockets::OwnNetwork, Arch::Aarch64).unwrap();
        assert_eq!(with, without, "{name}");
    }
}

#[test]
fn newest_calls_have_their_numbers() {
    for arch in ARCHES {
        for (name, nr) in [
            ("clone3", 435),
            ("quotactl_fd", 443),
            ("statmount", 457),
            ("listmount", 458),
            ("lsm_get_self_attr", 459),
            ("mseal", 462),
            ("setxattrat", 463),
            ("removexattrat", 466),
            ("open_tree_attr", 467),
            ("file_getattr", 468),
            ("file_setattr", 469),
        ] {
            assert_eq!(number(arch, name), nr, "{name}");
        }
    }
}

/// `#define __NR_name number` lines, without those of the 32-bit variants.
fn defines(header: &str) -> BTreeMap<&str, u32> {
    let lines = header.lines().filter_map(|line| {
        let (name, rest) = line.strip_prefix("#define __NR_")?.split_once(' ')?;
        let nr = rest.split_whitespace().next()?.parse().ok()?;
        Some((name, nr))
    });
    lines.collect()
}

#[test]
fn x86_64_numbers_are_those_of_the_headers() {
    let paths = [
        "/usr/include/x86_64-linux-gnu/asm/unistd_64.h",
        "/usr/include/asm/unistd_64.h",
    ];
    let Some(header) = paths.iter().find_map(|path| fs::read_to_string(path).ok()) else {
        println!("skipped: no kernel headers here");
        return;
    };
    let defines = defines(&header);
    assert!(defines.len() > 300, "{}", defines.len());
    for (name, nr) in defines {
        if nr <= 469 {
            assert_eq!(number(Arch::X86_64, name), nr, "{name}");
        }
    }
}

#[test]
fn aarch64_numbers_are_those_of_the_generic_headers() {
    let Ok(header) = fs::read_to_string("/usr/include/asm-generic/unistd.h") else {
        println!("skipped: no kernel headers here");
        return;
    };
    // The generic table is that of all newer processors: it has holes where each fills in its own, and calls that only
    // 32-bit ones have.
    let not_here = ["arch_specific_syscall", "syscalls", "sync_file_range2"];
    let mut compared = 0;
    for (name, nr) in defines(&header) {
        let narrow =
            name.starts_with("3264_") || name.contains("time64") || name.ends_with("64_64");
        if narrow || not_here.contains(&name) || (244..260).contains(&nr) || nr > 469 {
            continue;
        }
        let ours = calls(Arch::Aarch64).iter().find(|call| call.1 == nr);
        if let Some((ours, _)) = ours {
            assert_eq!(*ours, name, "{nr}");
            compared += 1;
        } else {
            assert!((403..=423).contains(&nr), "{name} {nr} is missing");
        }
    }
    assert!(compared > 250, "{compared}");
}
