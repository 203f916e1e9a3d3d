//! Names and numbers of system calls, as data: one file for each processor.

mod aarch64;
mod elsewhere;
mod x86_64;

use super::Arch;

/// Every call of a processor, in the order of its number.
pub(super) const fn calls(arch: Arch) -> &'static [(&'static str, u32)] {
    match arch {
        Arch::X86_64 => x86_64::CALLS,
        Arch::Aarch64 => aarch64::CALLS,
    }
}

/// The highest number that somebody has looked at.
pub(super) const fn ceiling(arch: Arch) -> u32 {
    match arch {
        Arch::X86_64 => x86_64::CEILING,
        Arch::Aarch64 => aarch64::CEILING,
    }
}

/// Whether any processor has a call of this name.
pub(super) fn is_name(name: &str) -> bool {
    let in_table = |arch| calls(arch).iter().any(|(known, _)| *known == name);
    in_table(Arch::X86_64) || in_table(Arch::Aarch64) || elsewhere::NAMES.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_in_order_and_name_each_call_once() {
        for arch in [Arch::X86_64, Arch::Aarch64] {
            let calls = calls(arch);
            assert!(calls.is_sorted_by(|a, b| a.1 < b.1), "{arch:?}");
            let mut names: Vec<_> = calls.iter().map(|call| call.0).collect();
            names.sort_unstable();
            assert!(names.is_sorted_by(|a, b| a < b), "{arch:?}");
            assert_eq!(calls.last().map(|call| call.1), Some(ceiling(arch)));
        }
        assert!(elsewhere::NAMES.is_sorted_by(|a, b| a < b));
        for name in elsewhere::NAMES {
            let known = |arch| calls(arch).iter().any(|call| call.0 == *name);
            assert!(!known(Arch::X86_64) && !known(Arch::Aarch64), "{name}");
        }
    }

    #[test]
    fn newest_calls_have_the_same_number_everywhere() {
        // From 424 on, the kernel gives a new call one number for all processors.
        let newest = |arch| {
            let from = calls(arch).partition_point(|call| call.1 < 424);
            &calls(arch)[from..]
        };
        assert_eq!(newest(Arch::X86_64), newest(Arch::Aarch64));
        assert_eq!(newest(Arch::X86_64).len(), 46);
    }
}
