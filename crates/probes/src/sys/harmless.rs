//! Calls that could do harm, with arguments with which they cannot.
//!
//! Every row ends in an error, or in nothing, even for root without a sandbox; which error it is tells whether the call
//! was stopped before the kernel looked at its arguments.

use std::io;

use super::check;

/// A call with harmless arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Harmless {
    /// Its name.
    pub(crate) name: &'static str,
    number: libc::c_long,
    arguments: [libc::c_long; 6],
}

impl Harmless {
    /// Makes the call.
    pub(crate) fn call(self) -> io::Result<i64> {
        let [a, b, c, d, e, f] = self.arguments;
        // SAFETY: values of this type are made only in this module, and no row of it passes an address of memory: where
        // the call takes a pointer, it gets zero or an address that is never mapped, and the kernel refuses that.
        check(unsafe { libc::syscall(self.number, a, b, c, d, e, f) })
    }
}

macro_rules! rows {
    ($($(#[$cfg:meta])* $set:ident: [$($name:ident($number:expr; $($argument:expr),*),)*];)*) => {$(
        $(#[$cfg])*
        pub(crate) const $set: &[Harmless] = &[$(Harmless {
            name: stringify!($name),
            number: $number,
            arguments: six(&[$($argument),*]),
        },)*];
    )*};
}

const fn six(given: &[libc::c_long]) -> [libc::c_long; 6] {
    match given {
        [] => [0; 6],
        [a] => [*a, 0, 0, 0, 0, 0],
        [a, b] => [*a, *b, 0, 0, 0, 0],
        [a, b, c] => [*a, *b, *c, 0, 0, 0],
        [a, b, c, d] => [*a, *b, *c, *d, 0, 0],
        [a, b, c, d, e, ..] => [*a, *b, *c, *d, *e, 0],
    }
}

/// Never mapped: the first page.
const NOWHERE: libc::c_long = 1;
const OPEN_TREE_ATTR: libc::c_long = 467;
const STATMOUNT: libc::c_long = 457;
/// A bit that a call with arguments of 32 bits does not read.
const HIGH: libc::c_long = 1 << 32;
/// No flags have all of these bits.
const NO_SUCH_FLAGS: libc::c_long = 0x7fff_0000;

rows! {
    SETNS: [setns(libc::SYS_setns; -1, 0),];
    MOUNT: [
        mount(libc::SYS_mount; 0, 0, 0, 0, 0),
        umount2(libc::SYS_umount2; 0, 0),
        fsopen(libc::SYS_fsopen; 0, 0),
        fsconfig(libc::SYS_fsconfig; -1, 0, 0, 0, 0),
        fsmount(libc::SYS_fsmount; -1, 0, 0),
        fspick(libc::SYS_fspick; -1, 0, 0),
        move_mount(libc::SYS_move_mount; -1, 0, -1, 0, 0),
        open_tree(libc::SYS_open_tree; -1, 0, 0),
        open_tree_attr(OPEN_TREE_ATTR; -1, 0, 0, 0, 0),
        mount_setattr(libc::SYS_mount_setattr; -1, 0, 0, 0, 0),
        statmount(STATMOUNT; 0, 0, 0, 0),
    ];
    PIVOT: [pivot_root(libc::SYS_pivot_root; 0, 0),];
    IO_URING: [
        io_uring_setup(libc::SYS_io_uring_setup; 1, 0),
        io_uring_enter(libc::SYS_io_uring_enter; -1, 0, 0, 0, 0),
        io_uring_register(libc::SYS_io_uring_register; -1, 0, 0, 0),
    ];
    BPF: [bpf(libc::SYS_bpf; 0xffff, 0, 0),];
    PERF: [perf_event_open(libc::SYS_perf_event_open; 0, 0, -1, -1, 0),];
    USERFAULTFD: [userfaultfd(libc::SYS_userfaultfd; 1),];
    KEYS: [
        add_key(libc::SYS_add_key; 0, 0, 0, 0, 0),
        request_key(libc::SYS_request_key; 0, 0, 0, 0),
        keyctl(libc::SYS_keyctl; 0x7fff, 0, 0),
    ];
    // More segments than there can be; flags that do not exist.
    KEXEC: [
        kexec_load(libc::SYS_kexec_load; 0, 4096, 0, 0),
        kexec_file_load(libc::SYS_kexec_file_load; -1, -1, 0, 0, NO_SUCH_FLAGS),
    ];
    MODULES: [
        init_module(libc::SYS_init_module; 0, 0, 0),
        finit_module(libc::SYS_finit_module; -1, 0, NO_SUCH_FLAGS),
        delete_module(libc::SYS_delete_module; 0, 0),
    ];
    // No time and no zone: settimeofday has nothing to set.
    CLOCK: [
        clock_settime(libc::SYS_clock_settime; 0, NOWHERE),
        settimeofday(libc::SYS_settimeofday; 0, 0),
        adjtimex(libc::SYS_adjtimex; NOWHERE),
        clock_adjtime(libc::SYS_clock_adjtime; 0, NOWHERE),
    ];
    // No magic numbers, no path, a negative length, a flush of quotas. There is no harmless vhangup.
    ADMINISTER: [
        swapon(libc::SYS_swapon; NOWHERE, 0),
        swapoff(libc::SYS_swapoff; NOWHERE),
        reboot(libc::SYS_reboot; 0, 0, 0, 0),
        acct(libc::SYS_acct; NOWHERE),
        sethostname(libc::SYS_sethostname; 0, -1),
        setdomainname(libc::SYS_setdomainname; 0, -1),
        quotactl(libc::SYS_quotactl; NO_SUCH_FLAGS, NOWHERE, 0, 0),
    ];
    // Reads the table, asks for what it has, and gives back nothing.
    #[cfg(target_arch = "x86_64")]
    PORTS: [
        modify_ldt(libc::SYS_modify_ldt; 0, 0, 0),
        iopl(libc::SYS_iopl; 0),
        ioperm(libc::SYS_ioperm; 0, 1, 0),
    ];
    MEMFD_SECRET: [memfd_secret(libc::SYS_memfd_secret; 0),];
    // Asks how large the log is.
    SYSLOG: [syslog(libc::SYS_syslog; 10, 0, 0),];
    // No descriptors, no memory, kinds and requests that do not exist. There is no harmless way to look up a cookie.
    PEERS: [
        process_madvise(libc::SYS_process_madvise; -1, 0, 0, 0, 0),
        pidfd_getfd(libc::SYS_pidfd_getfd; -1, 0, 0),
        process_vm_readv(libc::SYS_process_vm_readv; 0, NOWHERE, 1, 0, 0),
        process_vm_writev(libc::SYS_process_vm_writev; 0, NOWHERE, 1, 0, 0),
        ptrace(libc::SYS_ptrace; 0x7fff, 0, 0, 0),
        kcmp(libc::SYS_kcmp; 0, 0, 0x7fff, 0, 0),
    ];
    PLACES: [
        chroot(libc::SYS_chroot; NOWHERE),
        quotactl_fd(libc::SYS_quotactl_fd; -1, 0, 0, 0),
        name_to_handle_at(libc::SYS_name_to_handle_at; -1, NOWHERE, NOWHERE, NOWHERE, 0),
    ];
    // Numbers that the kernels of today do not have, or only the newest.
    NEWER: [
        number_470(470; -1, -1, -1, -1, -1),
        number_471(471; -1, -1, -1, -1, -1),
        number_480(480; -1, -1, -1, -1, -1),
        number_1000(1000; -1, -1, -1, -1, -1),
    ];
    // The other interface of the same architecture: the caller's number, and a descriptor that is none.
    #[cfg(target_arch = "x86_64")]
    X32: [
        x32_getpid(0x4000_0000 + 39; 0),
        x32_ptrace(0x4000_0000 + 521; 0x7fff, 0, 0, 0),
    ];
    // Performance counters of its own, of which there are none; a group of cores that does not exist.
    PRCTL: [
        perf_events_disable(libc::SYS_prctl; 31, 0, 0, 0, 0),
        sched_core(libc::SYS_prctl; 62, 0x7fff, 0, 0, 0),
    ];
    SET_MM: [prctl_set_mm(libc::SYS_prctl; 35, 0x7fff, 0, 0, 0),];
    // What is judged by an argument: a filter that compares all 64 bits would let these pass.
    WIDE: [
        perf_events_disable(libc::SYS_prctl; 31 + HIGH, 0, 0, 0, 0),
        sched_core(libc::SYS_prctl; 62 + HIGH, 0x7fff, 0, 0, 0),
    ];
    FANOTIFY: [fanotify_init(libc::SYS_fanotify_init; 4, NO_SUCH_FLAGS),];
    GETRANDOM: [getrandom(libc::SYS_getrandom; 0, 0, 0),];
}
