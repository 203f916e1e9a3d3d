//! Refusals that are about processes and the kernel, not about a path or a host: no grant turns them around.

use std::path::Path;

use palisade_policy::{Clause, ResolvedPolicy};

use super::refusal::{Refusal, find, lower};

/// Words that a line speaks of a system call with, the call, and what it does.
const CALLS: &[(&[&str], &str, &str)] = &[
    (&["ptrace", "strace: attach"], "ptrace", "trace a process"),
    (&["mount: "], "mount", "mount a file system"),
    (
        &["unshare: ", "unshare failed"],
        "unshare",
        "make a namespace",
    ),
    (&["chroot: "], "chroot", "change the root directory"),
];

/// LeakSanitizer says nothing of the system call that it could not make, and always this.
const LEAK_SANITIZER: &str = "leaksanitizer has encountered a fatal error";

/// What a line says was refused for good, and by what.
pub(super) fn refused(line: &str, policy: &ResolvedPolicy) -> Option<(String, Clause)> {
    let lower = lower(line);
    let profile = policy.canonical().seccomp_profile();
    let blocks = |call: &str| {
        let mut blocked = profile.blocked_syscalls.iter();
        !profile.log_only && blocked.any(|name| name.as_str() == call)
    };
    let called = |call: &str, does: &str| {
        let resource = format!("{does} (system call {call})");
        blocks(call).then_some((resource, Clause::FilteredCall))
    };
    if lower.contains(LEAK_SANITIZER) {
        return called("ptrace", "trace a process");
    }
    let refusal = find(line).map(|refused| refused.what);
    if matches!(refusal, Some(Refusal::Access | Refusal::NotPermitted)) {
        let mut calls = CALLS.iter();
        let spoken = calls.find(|(words, _, _)| words.iter().any(|word| lower.contains(word)));
        return spoken.and_then(|(_, call, does)| called(call, does));
    }
    missing_process(&lower).map(|number| (format!("signal process {number}"), Clause::OwnProcesses))
}

/// A process that a line calls missing, and that this host has: `kill: (123) - No such process`.
fn missing_process(lower: &str) -> Option<u32> {
    let (before, _) = lower.split_once("no such process")?;
    let (_, named) = before.split_once("kill: ")?;
    let digits: String = named
        .chars()
        .skip_while(|character| !character.is_ascii_digit())
        .take_while(char::is_ascii_digit)
        .collect();
    let number: u32 = digits.parse().ok()?;
    Path::new("/proc")
        .join(number.to_string())
        .exists()
        .then_some(number)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::missing_process;

    #[test]
    fn only_a_process_of_this_host_was_hidden() {
        let own = std::process::id();
        let shell = format!("bash: line 1: kill: ({own}) - no such process");
        assert_eq!(missing_process(&shell), Some(own));
        let program = format!("/bin/kill: ({own}): no such process");
        assert_eq!(missing_process(&program), Some(own));
        assert_eq!(missing_process("kill: (4194305): no such process"), None);
        assert_eq!(missing_process("no such process"), None);
    }
}
