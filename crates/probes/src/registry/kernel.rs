//! The surface of the kernel.

use super::NO_CAPABILITY;
use crate::probe::Alone::{Cannot, Depends};
use crate::probe::Class::Kernel;
use crate::probe::Mode::Both;
use crate::probe::Probe;

const NAMESPACES: &str = "some hosts forbid user namespaces to users";

pub(super) const PROBES: &[Probe] = &[
    Probe::new(
        Kernel,
        Some(156),
        "krn-userns-unshare",
        Both,
        "makes a user namespace by unshare",
        attempt!(attempts::kernel::unshare),
    )
    .user(Depends(NAMESPACES)),
    Probe::new(
        Kernel,
        Some(157),
        "krn-userns-clone",
        Both,
        "makes a user namespace by clone and clone3",
        attempt!(attempts::kernel::clone),
    )
    .user(Depends(NAMESPACES)),
    Probe::new(
        Kernel,
        Some(159),
        "krn-setns",
        Both,
        "calls setns with no descriptor",
        attempt!(attempts::kernel::setns),
    ),
    Probe::new(
        Kernel,
        Some(160),
        "krn-mount-api",
        Both,
        "calls each way to mount with nothing to mount",
        attempt!(attempts::kernel::mount),
    ),
    Probe::new(
        Kernel,
        Some(161),
        "krn-io-uring",
        Both,
        "calls io_uring with no parameters",
        attempt!(attempts::kernel::io_uring),
    )
    .alone(Depends("may be switched off")),
    Probe::new(
        Kernel,
        Some(162),
        "krn-bpf",
        Both,
        "calls bpf with no program",
        attempt!(attempts::kernel::bpf),
    )
    .user(Depends("a sysctl may forbid it")),
    Probe::new(
        Kernel,
        Some(163),
        "krn-perf",
        Both,
        "calls perf_event_open with no event",
        attempt!(attempts::kernel::perf),
    )
    .user(Depends("a sysctl may forbid it")),
    Probe::new(
        Kernel,
        Some(164),
        "krn-userfaultfd",
        Both,
        "handles page faults itself",
        attempt!(attempts::kernel::userfaultfd),
    )
    .alone(Depends("not always built")),
    Probe::new(
        Kernel,
        Some(165),
        "krn-keyctl",
        Both,
        "calls for keys with nothing named",
        attempt!(attempts::kernel::keys),
    )
    .alone(Depends("containers may forbid it")),
    Probe::new(
        Kernel,
        Some(166),
        "krn-kexec",
        Both,
        "calls for another kernel with none named",
        attempt!(attempts::kernel::kexec),
    )
    .root(Depends("not always built"))
    .user(Depends("not always built")),
    Probe::new(
        Kernel,
        Some(167),
        "krn-modules",
        Both,
        "calls for modules with none named",
        attempt!(attempts::kernel::modules),
    )
    .root(Depends("not always built"))
    .user(Depends("not always built")),
    Probe::new(
        Kernel,
        Some(168),
        "krn-clock",
        Both,
        "calls for another time with none given",
        attempt!(attempts::kernel::clock),
    ),
    Probe::new(
        Kernel,
        Some(169),
        "krn-swap-reboot-acct",
        Both,
        "calls that administer the machine, with arguments that do nothing",
        attempt!(attempts::kernel::administer),
    ),
    Probe::new(
        Kernel,
        Some(171),
        "krn-modify-ldt-iopl",
        Both,
        "calls for segments and ports of x86",
        attempt!(attempts::kernel::ports),
    )
    .alone(Depends("only on x86, and not always built")),
    Probe::new(
        Kernel,
        Some(172),
        "krn-i386",
        Both,
        "makes a 32-bit system call",
        attempt!(attempts::kernel::i386),
    )
    .alone(Depends("only where a 64-bit x86 kernel has 32-bit calls")),
    Probe::new(
        Kernel,
        Some(175),
        "krn-seccomp-relax",
        Both,
        "adds a filter that allows everything, then makes a user namespace",
        attempt!(attempts::kernel::relax),
    )
    .user(Depends(NAMESPACES)),
    Probe::new(
        Kernel,
        Some(176),
        "krn-noexec-ldso-memfd",
        Both,
        "runs a program from memory",
        attempt!(attempts::kernel::from_memory),
    )
    .residue("what can be read can be run: the right to execute is no barrier"),
    Probe::new(
        Kernel,
        Some(177),
        "krn-memfd-secret",
        Both,
        "makes memory that nobody else can read",
        attempt!(attempts::kernel::secret_memory),
    )
    .alone(Depends("not always built")),
    Probe::new(
        Kernel,
        Some(179),
        "krn-posix-mq",
        Both,
        "makes a message queue",
        attempt!(attempts::kernel::queue),
    ),
    Probe::new(
        Kernel,
        Some(180),
        "krn-proc-sys",
        Both,
        "opens settings of the kernel for writing",
        attempt!(attempts::kernel::settings),
    )
    .root(Depends("containers make them read-only"))
    .user(Cannot("the files are for root alone")),
    Probe::new(
        Kernel,
        None,
        "krn-personality",
        Both,
        "switches address randomisation off for what it starts",
        attempt!(attempts::kernel::personality),
    ),
    Probe::new(
        Kernel,
        None,
        "krn-peers",
        Both,
        "calls what looks into other processes with none named",
        attempt!(attempts::surface::peers),
    ),
    Probe::new(
        Kernel,
        None,
        "krn-places",
        Both,
        "calls for another root, quotas and handles with nothing named",
        attempt!(attempts::surface::places),
    ),
    Probe::new(
        Kernel,
        None,
        "krn-newer-calls",
        Both,
        "calls numbers that only newer kernels have",
        attempt!(attempts::surface::newer),
    )
    .alone(Depends("only newer kernels have any of them")),
    Probe::new(
        Kernel,
        None,
        "krn-x32",
        Both,
        "calls by the numbers of x32",
        attempt!(attempts::surface::other_interface),
    )
    .alone(Depends("only on x86-64, and seldom built")),
    Probe::new(
        Kernel,
        None,
        "krn-i386-open",
        Both,
        "empties a file outside by a 32-bit system call",
        attempt!(attempts::surface::i386_open),
    )
    .alone(Depends("only where a 64-bit x86 kernel has 32-bit calls")),
    Probe::new(
        Kernel,
        None,
        "krn-prctl",
        Both,
        "calls prctl about counters and groups of cores, of which there are none",
        attempt!(attempts::surface::settings_of_own),
    ),
    Probe::new(
        Kernel,
        None,
        "krn-set-mm",
        Both,
        "calls prctl for another layout of its memory with none given",
        attempt!(attempts::surface::own_memory),
    )
    .root(Depends("containers take the capability away"))
    .user(NO_CAPABILITY),
    Probe::new(
        Kernel,
        None,
        "krn-wide",
        Both,
        "calls with bits set that the kernel does not read",
        attempt!(attempts::surface::wide),
    ),
    Probe::new(
        Kernel,
        None,
        "krn-fanotify",
        Both,
        "asks to see and decide every access to files",
        attempt!(attempts::surface::watch_everything),
    )
    .root(Depends("not always built"))
    .user(NO_CAPABILITY),
    Probe::new(
        Kernel,
        None,
        "krn-namespaces",
        Both,
        "makes each kind of namespace but that of users",
        attempt!(attempts::surface::namespaces),
    )
    .user(NO_CAPABILITY),
    Probe::new(
        Kernel,
        None,
        "krn-read-implies-exec",
        Both,
        "makes readable memory executable for what it starts",
        attempt!(attempts::surface::executable_data),
    ),
    Probe::new(
        Kernel,
        None,
        "krn-vhangup",
        Both,
        "hangs up a terminal that it has not",
        attempt!(attempts::surface::hang_up),
    )
    .user(NO_CAPABILITY),
    Probe::new(
        Kernel,
        None,
        "krn-seccomp-listener",
        Both,
        "adds a filter with a listener of its own, then makes a user namespace",
        attempt!(attempts::surface::listener),
    )
    .user(Depends(NAMESPACES)),
    Probe::new(
        Kernel,
        None,
        "krn-more-settings",
        Both,
        "opens more settings of the kernel for writing",
        attempt!(attempts::surface::settings),
    )
    .root(Depends("containers make them read-only"))
    .user(Cannot("the files are for root alone")),
    Probe::new(
        Kernel,
        None,
        "krn-cgroup-files",
        Both,
        "opens files of control groups for writing",
        attempt!(attempts::surface::groups),
    )
    .root(Depends("containers make them read-only"))
    .user(Depends("a part of them may be delegated to the user")),
];
