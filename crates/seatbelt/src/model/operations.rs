//! The operations that are known, and what each falls back to.
//!
//! The names are those of the library that compiles profiles on macOS 14, as published. An operation whose rules say
//! nothing is decided by those of its parent: `file-write-data` by `file-write*`, that by `file*`, that by `default`.

use crate::profile::Operation;

/// What everything falls back to.
const ROOT: &str = "default";

/// Each operation, and its parent.
static TREE: &[(&str, &str)] = &[
    ("appleevent-send", "default"),
    ("authorization-right-obtain", "default"),
    ("boot-arg-set", "default"),
    ("device*", "default"),
    ("device-camera", "device*"),
    ("device-microphone", "device*"),
    ("darwin-notification-post", "default"),
    ("distributed-notification-post", "default"),
    ("dynamic-code-generation", "default"),
    ("file*", "default"),
    ("file-chroot", "file*"),
    ("file-clone", "file*"),
    ("file-ioctl", "file*"),
    ("file-issue-extension", "file*"),
    ("file-link", "file*"),
    ("file-lock", "file*"),
    ("file-map-executable", "file*"),
    ("file-mknod", "file*"),
    ("file-mount", "file*"),
    ("file-mount-update", "file*"),
    ("file-read*", "file*"),
    ("file-read-data", "file-read*"),
    ("file-read-metadata", "file-read*"),
    ("file-read-xattr", "file-read*"),
    ("file-revoke", "file*"),
    ("file-search", "file*"),
    ("file-test-existence", "file*"),
    ("file-unmount", "file*"),
    ("file-write*", "file*"),
    ("file-write-acl", "file-write*"),
    ("file-write-create", "file-write*"),
    ("file-write-data", "file-write*"),
    ("file-write-finderinfo", "file-write*"),
    ("file-write-flags", "file-write*"),
    ("file-write-mode", "file-write*"),
    ("file-write-owner", "file-write*"),
    ("file-write-setugid", "file-write*"),
    ("file-write-times", "file-write*"),
    ("file-write-unlink", "file-write*"),
    ("file-write-xattr", "file-write*"),
    ("fs-quota*", "default"),
    ("fs-quota-get", "fs-quota*"),
    ("fs-quota-on", "fs-quota*"),
    ("fs-quota-off", "fs-quota*"),
    ("fs-quota-set*", "fs-quota*"),
    ("fs-quota-set-limits", "fs-quota-set*"),
    ("fs-quota-set-usage", "fs-quota-set*"),
    ("fs-quota-stat", "fs-quota*"),
    ("fs-quota-sync", "fs-quota*"),
    ("fs-rename", "default"),
    ("fs-snapshot*", "default"),
    ("fs-snapshot-create", "fs-snapshot*"),
    ("fs-snapshot-delete", "fs-snapshot*"),
    ("fs-snapshot-mount", "fs-snapshot*"),
    ("fs-snapshot-revert", "fs-snapshot*"),
    ("generic-issue-extension", "default"),
    ("hid-control", "default"),
    ("iokit*", "default"),
    ("iokit-get-properties", "iokit*"),
    ("iokit-issue-extension", "iokit*"),
    ("iokit-open*", "iokit*"),
    ("iokit-open-user-client", "iokit-open*"),
    ("iokit-open-service", "iokit-open*"),
    ("iokit-set-properties", "iokit*"),
    ("ipc*", "default"),
    ("ipc-posix*", "ipc*"),
    ("ipc-posix-issue-extension", "ipc-posix*"),
    ("ipc-posix-sem*", "ipc-posix*"),
    ("ipc-posix-sem-create", "ipc-posix-sem*"),
    ("ipc-posix-sem-open", "ipc-posix-sem*"),
    ("ipc-posix-sem-post", "ipc-posix-sem*"),
    ("ipc-posix-sem-unlink", "ipc-posix-sem*"),
    ("ipc-posix-sem-wait", "ipc-posix-sem*"),
    ("ipc-posix-shm*", "ipc-posix*"),
    ("ipc-posix-shm-read-data", "ipc-posix-shm*"),
    ("ipc-posix-shm-write*", "ipc-posix-shm*"),
    ("ipc-posix-shm-write-create", "ipc-posix-shm-write*"),
    ("ipc-posix-shm-write-data", "ipc-posix-shm-write*"),
    ("ipc-posix-shm-write-unlink", "ipc-posix-shm-write*"),
    ("ipc-sysv*", "ipc*"),
    ("ipc-sysv-msg", "ipc-sysv*"),
    ("ipc-sysv-sem", "ipc-sysv*"),
    ("ipc-sysv-shm", "ipc-sysv*"),
    ("job-creation", "default"),
    ("lsopen", "default"),
    ("mach*", "default"),
    ("mach-bootstrap", "mach*"),
    ("mach-cross-domain-lookup", "mach*"),
    ("mach-derive-port", "mach*"),
    ("mach-host*", "mach*"),
    ("mach-host-exception-port-set", "mach-host*"),
    ("mach-host-special-port-set", "mach-host*"),
    ("mach-issue-extension", "mach*"),
    ("mach-kernel-endpoint", "mach*"),
    ("mach-lookup", "mach*"),
    ("mach-priv*", "mach*"),
    ("mach-priv-host-port", "mach-priv*"),
    ("mach-priv-task-port", "mach-priv*"),
    ("mach-register", "mach*"),
    ("mach-task*", "mach*"),
    ("mach-task-inspect", "mach-task*"),
    ("mach-task-name", "mach-task*"),
    ("mach-task-read", "mach-task*"),
    ("mach-task-special-port*", "mach-task*"),
    ("mach-task-special-port-get", "mach-task-special-port*"),
    ("mach-task-special-port-set", "mach-task-special-port*"),
    ("necp-client-open", "default"),
    ("network*", "default"),
    ("network-inbound", "network*"),
    ("network-bind", "network*"),
    ("network-outbound", "network*"),
    ("nvram*", "default"),
    ("nvram-delete", "nvram*"),
    ("nvram-get", "nvram*"),
    ("nvram-set", "nvram*"),
    ("opendirectory-user-modify", "default"),
    ("process*", "default"),
    ("process-codesigning", "process*"),
    ("process-exec*", "process*"),
    ("process-exec-interpreter", "process-exec*"),
    ("process-fork", "process*"),
    ("process-info*", "process*"),
    ("process-info-codesignature", "process-info*"),
    ("process-info-dirtycontrol", "process-info*"),
    ("process-info-ledger", "process-info*"),
    ("process-info-listpids", "process-info*"),
    ("process-info-rusage", "process-info*"),
    ("process-info-pidinfo", "process-info*"),
    ("process-info-pidfdinfo", "process-info*"),
    ("process-info-pidfileportinfo", "process-info*"),
    ("process-info-setcontrol", "process-info*"),
    ("pseudo-tty", "default"),
    ("signal", "default"),
    ("socket-ioctl", "default"),
    ("socket-option*", "default"),
    ("socket-option-get", "socket-option*"),
    ("socket-option-set", "socket-option*"),
    ("syscall*", "default"),
    ("syscall-unix", "syscall*"),
    ("syscall-mach", "syscall*"),
    ("syscall-mig", "syscall*"),
    ("sysctl*", "default"),
    ("sysctl-read", "sysctl*"),
    ("sysctl-write", "sysctl*"),
    ("system*", "default"),
    ("system-acct", "system*"),
    ("system-audit", "system*"),
    ("system-automount", "system*"),
    ("system-debug", "system*"),
    ("system-fcntl", "system*"),
    ("system-fsctl", "system*"),
    ("system-info", "system*"),
    ("system-kas-info", "system*"),
    ("system-kext*", "system*"),
    ("system-kext-load", "system-kext*"),
    ("system-kext-unload", "system-kext*"),
    ("system-kext-query", "system-kext*"),
    ("system-mac*", "system*"),
    ("system-mac-label", "system-mac*"),
    ("system-mac-syscall", "system-mac*"),
    ("system-memorystatus-control", "system*"),
    ("system-necp-client-action", "system*"),
    ("system-nfssvc", "system*"),
    ("system-package-check", "system*"),
    ("system-privilege", "system*"),
    ("system-reboot", "system*"),
    ("system-sched", "system*"),
    ("system-set-time", "system*"),
    ("system-socket", "system*"),
    ("system-suspend-resume", "system*"),
    ("system-swap", "system*"),
    ("user-preference*", "default"),
    ("user-preference-read", "user-preference*"),
    ("user-preference-write", "user-preference*"),
];

/// Older names that the compiler still takes, and what they stand for.
static ALIASES: &[(&str, &str)] = &[
    ("iokit-open", "iokit-open*"),
    ("ipc-posix-sem", "ipc-posix-sem*"),
    ("ipc-posix-shm", "ipc-posix-shm*"),
    ("process-exec", "process-exec*"),
];

/// Every operation that is known, without aliases.
pub fn known_operations() -> impl Iterator<Item = Operation> {
    std::iter::once(ROOT)
        .chain(TREE.iter().map(|(name, _)| *name))
        .map(Operation::constant)
}

/// The operation with a name, if it is known.
pub(super) fn operation(name: &str) -> Option<Operation> {
    let aliases = ALIASES.iter().map(|(alias, _)| *alias);
    std::iter::once(ROOT)
        .chain(TREE.iter().map(|(known, _)| *known))
        .chain(aliases)
        .find(|known| *known == name)
        .map(Operation::constant)
}

/// The name that an operation has in the tree, if it is known: aliases are replaced.
pub(super) fn canonical(name: &str) -> Option<&'static str> {
    if name == ROOT {
        return Some(ROOT);
    }
    let name = ALIASES
        .iter()
        .find(|(alias, _)| *alias == name)
        .map_or(name, |(_, stands_for)| stands_for);
    let entry = TREE.iter().find(|(known, _)| *known == name);
    entry.map(|(known, _)| *known)
}

/// An operation and what it falls back to, nearest first; ends with `default`.
pub(super) fn chain(name: &'static str) -> impl Iterator<Item = &'static str> {
    std::iter::successors(Some(name), |name| {
        let entry = TREE.iter().find(|(known, _)| known == name);
        entry.map(|(_, parent)| *parent)
    })
}

/// The operation that decides where the rules of this one say nothing; `None` for `default` and for what is not known.
#[must_use]
pub fn parent(operation: &Operation) -> Option<Operation> {
    let name = canonical(operation.name())?;
    chain(name).nth(1).map(Operation::constant)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_leads_to_default() {
        for operation in known_operations() {
            let name = canonical(operation.name()).unwrap();
            let chain: Vec<_> = chain(name).collect();
            assert_eq!(chain.last(), Some(&ROOT), "{name}");
            assert!(chain.len() <= 6, "{name}: {chain:?}");
        }
    }

    #[test]
    fn a_parent_is_the_longest_wildcard_that_a_name_begins_with() {
        let stem = |name: &str| name.trim_end_matches('*').to_owned();
        for (name, parent) in TREE {
            let expected = TREE
                .iter()
                .map(|(wildcard, _)| *wildcard)
                .filter(|wildcard| wildcard.ends_with('*'))
                .filter(|wildcard| stem(name).starts_with(&format!("{}-", stem(wildcard))))
                .max_by_key(|wildcard| wildcard.len())
                .unwrap_or(ROOT);
            assert_eq!(*parent, expected, "{name}");
        }
    }

    #[test]
    fn no_name_is_there_twice() {
        let mut names: Vec<_> = known_operations().collect();
        names.extend(ALIASES.iter().map(|(alias, _)| Operation::constant(alias)));
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn an_alias_is_what_it_stands_for() {
        assert_eq!(canonical("process-exec"), Some("process-exec*"));
        assert_eq!(canonical("file-frobnicate"), None);
        let exec = Operation::constant("process-exec");
        assert_eq!(parent(&exec), Some(Operation::constant("process*")));
        assert_eq!(parent(&Operation::DEFAULT), None);
    }
}
