//! Processes.

use super::{NO_CAPABILITY, elsewhere};
use crate::probe::Alone::{Cannot, Depends};
use crate::probe::Class::Processes;
use crate::probe::Mode::{Both, Write};
use crate::probe::Probe;

pub(super) const PROBES: &[Probe] = &[
    Probe::new(
        Processes,
        Some(137),
        "proc-ptrace",
        Both,
        "traces another process",
        attempt!(attempts::processes::trace),
    )
    .alone(Depends("Yama may forbid it")),
    Probe::new(
        Processes,
        Some(138),
        "proc-vm-writev",
        Both,
        "reads and writes the memory of another process by system call",
        attempt!(attempts::processes::vm),
    )
    .alone(Depends("Yama may forbid it")),
    Probe::new(
        Processes,
        Some(139),
        "proc-mem",
        Both,
        "reads and writes the memory of another process by file",
        attempt!(attempts::processes::memory),
    )
    .alone(Depends("Yama may forbid it")),
    Probe::new(
        Processes,
        Some(140),
        "proc-pidfd-getfd",
        Both,
        "takes a descriptor of another process",
        attempt!(attempts::processes::take_descriptor),
    )
    .alone(Depends("Yama may forbid it")),
    Probe::new(
        Processes,
        Some(141),
        "proc-kill",
        Both,
        "ends another process, in three ways",
        attempt!(attempts::processes::kill),
    ),
    Probe::new(
        Processes,
        Some(143),
        "proc-prlimit",
        Both,
        "changes limit, priority and processors of another process",
        attempt!(attempts::processes::limits),
    ),
    Probe::new(
        Processes,
        Some(145),
        "proc-oom-score",
        Both,
        "makes another process the first to be killed",
        attempt!(attempts::processes::oom),
    ),
    Probe::new(
        Processes,
        Some(146),
        "proc-setsid-survive",
        Both,
        "leaves a process behind in a session of its own",
        attempt!(attempts::processes::survive),
    ),
    Probe::new(
        Processes,
        Some(149),
        "proc-ignore-sigterm",
        Both,
        "leaves a process behind that ignores signals",
        attempt!(attempts::processes::deaf),
    ),
    elsewhere(
        Processes,
        150,
        "proc-hold-pipe",
        Both,
        "leaves a process behind that holds its output",
        "the runner's business: it must not wait for the end of output",
    ),
    elsewhere(
        Processes,
        151,
        "proc-orphan-on-supervisor-death",
        Both,
        "runs on after the supervisor was killed",
        "needs the supervisor killed: tried by the tests of the launcher",
    ),
    Probe::new(
        Processes,
        Some(153),
        "proc-setuid",
        Both,
        "runs a program of another user",
        attempt!(attempts::processes::elevate),
    )
    .alone(Depends(
        "only root can lay out such a program, and file systems may forbid it",
    )),
    elsewhere(
        Processes,
        154,
        "proc-ld-preload-launcher",
        Both,
        "loads code into the launcher by its environment",
        "aims at the launcher before it starts: tried by its tests",
    ),
    elsewhere(
        Processes,
        155,
        "proc-layer-exhaustion",
        Both,
        "uses up the layers of Landlock",
        "harms only the command itself, which then cannot make a sandbox of its own",
    ),
    Probe::new(
        Processes,
        None,
        "proc-shared-memory",
        Both,
        "attaches a segment of System V shared memory",
        attempt!(attempts::processes::segment),
    ),
    Probe::new(
        Processes,
        None,
        "proc-schedule",
        Both,
        "makes another process run last on processors and disks",
        attempt!(attempts::others::schedule),
    ),
    Probe::new(
        Processes,
        None,
        "proc-peek",
        Both,
        "asks for locks, memory and pages of another process",
        attempt!(attempts::others::peek),
    ),
    Probe::new(
        Processes,
        None,
        "proc-settings",
        Both,
        "changes what a dump of another process holds",
        attempt!(attempts::others::settings),
    ),
    Probe::new(
        Processes,
        None,
        "proc-messages",
        Both,
        "sends to message queues of another process",
        attempt!(attempts::others::messages),
    ),
    Probe::new(
        Processes,
        None,
        "proc-first-descriptor",
        Both,
        "takes a descriptor of the first process",
        attempt!(attempts::others::first_descriptor),
    )
    .root(Depends("Yama may forbid it"))
    .user(Cannot("the first process is root's")),
    Probe::new(
        Processes,
        None,
        "proc-end-watcher",
        Both,
        "stops and ends what watches over the sandbox, then writes outside and leaves a process behind",
        attempt!(attempts::others::watcher),
    ),
    Probe::new(
        Processes,
        None,
        "proc-own-reaper",
        Both,
        "leaves a process behind that takes in its own orphans",
        attempt!(attempts::others::own_reaper),
    ),
    Probe::new(
        Processes,
        None,
        "proc-sibling",
        Both,
        "leaves a process behind that is a child of its parent",
        attempt!(attempts::others::sibling),
    ),
    Probe::new(
        Processes,
        None,
        "proc-stopped",
        Both,
        "leaves a stopped process behind",
        attempt!(attempts::others::stopped_child),
    ),
    Probe::new(
        Processes,
        None,
        "proc-late-write",
        Write,
        "leaves a process behind that writes in the workspace after the run",
        attempt!(attempts::races::after_the_end),
    ),
    Probe::new(
        Processes,
        None,
        "proc-fork-storm",
        Both,
        "leaves processes behind that run on as new ones again and again",
        attempt!(attempts::races::storm),
    ),
    Probe::new(
        Processes,
        None,
        "proc-other-user",
        Both,
        "becomes another user",
        attempt!(attempts::others::other_user),
    )
    .user(NO_CAPABILITY),
    Probe::new(
        Processes,
        None,
        "proc-capabilities",
        Both,
        "looks for capabilities, before and after another exec",
        attempt!(attempts::others::regain),
    )
    .user(NO_CAPABILITY),
    Probe::new(
        Processes,
        None,
        "proc-raise",
        Both,
        "raises its own priority",
        attempt!(attempts::others::raise),
    )
    .user(NO_CAPABILITY),
    Probe::new(
        Processes,
        None,
        "proc-raise-limits",
        Both,
        "raises its own limits and shields itself from the end of memory",
        attempt!(attempts::others::raise_limits),
    )
    .root(Depends("containers take the capability away"))
    .user(NO_CAPABILITY),
    Probe::new(
        Processes,
        None,
        "proc-signal-by-pipe",
        Both,
        "has the kernel send a signal to another process when a pipe is written",
        attempt!(attempts::others::signal_by_pipe),
    ),
];
