//! Processes.

use super::elsewhere;
use crate::probe::Alone::Depends;
use crate::probe::Class::Processes;
use crate::probe::Mode::Both;
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
];
