//! What macOS makes of the system calls that a policy blocks. The names are those of Linux; what counts is that the same
//! thing cannot be done.

/// What stands in the way of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counterpart {
    /// The operation that Seatbelt asks about for the same thing, which no rule of ours allows.
    Denied(&'static str),
    /// macOS has no such call, and nothing that does the same.
    NoSuchCall,
}

use Counterpart::{Denied, NoSuchCall};

/// Calls of Linux, sorted, and what stands in the way of the same on macOS.
static CALLS: &[(&str, Counterpart)] = &[
    ("acct", Denied("system-acct")),
    ("add_key", NoSuchCall),
    ("adjtimex", Denied("system-set-time")),
    ("bpf", NoSuchCall),
    ("chroot", Denied("file-chroot")),
    ("clock_adjtime", Denied("system-set-time")),
    ("clock_settime", Denied("system-set-time")),
    ("delete_module", Denied("system-kext-unload")),
    ("finit_module", Denied("system-kext-load")),
    ("fsconfig", Denied("file-mount")),
    ("fsmount", Denied("file-mount")),
    ("fsopen", Denied("file-mount")),
    ("fspick", Denied("file-mount-update")),
    ("init_module", Denied("system-kext-load")),
    ("io_uring_enter", NoSuchCall),
    ("io_uring_register", NoSuchCall),
    ("io_uring_setup", NoSuchCall),
    ("ioperm", NoSuchCall),
    ("iopl", NoSuchCall),
    ("kcmp", NoSuchCall),
    ("kexec_file_load", NoSuchCall),
    ("kexec_load", NoSuchCall),
    ("keyctl", NoSuchCall),
    ("listmount", NoSuchCall),
    ("lookup_dcookie", NoSuchCall),
    ("memfd_secret", NoSuchCall),
    ("modify_ldt", NoSuchCall),
    ("mount", Denied("file-mount")),
    ("mount_setattr", Denied("file-mount-update")),
    ("move_mount", Denied("file-mount")),
    ("name_to_handle_at", NoSuchCall),
    // `fhopen` is for the superuser, and what it opens is judged by its path like everything that is opened.
    ("open_by_handle_at", NoSuchCall),
    ("open_tree", NoSuchCall),
    ("open_tree_attr", NoSuchCall),
    // Counters are reached through kernel values, none of which may be set.
    ("perf_event_open", Denied("sysctl-write")),
    ("personality", NoSuchCall),
    ("pidfd_getfd", NoSuchCall),
    ("pivot_root", Denied("file-mount")),
    ("process_madvise", NoSuchCall),
    ("process_vm_readv", Denied("mach-priv-task-port")),
    ("process_vm_writev", Denied("mach-priv-task-port")),
    ("ptrace", Denied("mach-priv-task-port")),
    ("quotactl", Denied("fs-quota*")),
    ("quotactl_fd", Denied("fs-quota*")),
    ("reboot", Denied("system-reboot")),
    ("request_key", NoSuchCall),
    // The names of the machine are kernel values, none of which may be set.
    ("setdomainname", Denied("sysctl-write")),
    ("sethostname", Denied("sysctl-write")),
    ("setns", NoSuchCall),
    ("settimeofday", Denied("system-set-time")),
    ("statmount", NoSuchCall),
    ("swapoff", NoSuchCall),
    ("swapon", Denied("system-swap")),
    // The kernel's log is a kernel value that is not among those that may be read.
    ("syslog", Denied("sysctl-read")),
    ("umount", Denied("file-unmount")),
    ("umount2", Denied("file-unmount")),
    ("unshare", NoSuchCall),
    ("userfaultfd", NoSuchCall),
    ("vhangup", Denied("file-revoke")),
];

/// What stands in the way of a call; `None` if that is not known.
pub(super) fn counterpart(name: &str) -> Option<Counterpart> {
    let at = CALLS.binary_search_by_key(&name, |(call, _)| call).ok()?;
    CALLS.get(at).map(|(_, counterpart)| *counterpart)
}

#[cfg(test)]
mod tests {
    use palisade_policy::SeccompProfile;

    use super::*;
    use crate::profile::BasePart;

    #[test]
    fn the_table_is_sorted_and_knows_every_call_that_is_blocked_by_default() {
        assert!(CALLS.is_sorted_by_key(|(name, _)| *name));
        for profile in [SeccompProfile::strict(), SeccompProfile::permissive()] {
            for name in &profile.blocked_syscalls {
                assert!(counterpart(name.as_str()).is_some(), "{name}");
            }
        }
        assert_eq!(counterpart("openat"), None);
    }

    #[test]
    fn no_base_allows_what_the_table_calls_denied() {
        for part in BasePart::ALL {
            for (name, counterpart) in CALLS {
                let Denied(operation) = counterpart else {
                    continue;
                };
                // The base lists the kernel values that may be read; the log is none of them.
                if *operation == "sysctl-read" {
                    assert!(!part.text().contains("kern.msgbuf"));
                    continue;
                }
                assert!(!part.text().contains(operation), "{name}: {operation}");
            }
        }
    }
}
