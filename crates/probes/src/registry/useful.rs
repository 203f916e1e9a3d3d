//! What must work in a sandbox.

use crate::probe::Alone::NotRun;
use crate::probe::Class::Useful;
use crate::probe::Expected::{NotApplicable, Works};
use crate::probe::Mode::{self, Both, Write};
use crate::probe::{Alone, Probe};
use crate::report::Report;
use crate::site::Site;

const fn useful(
    name: &'static str,
    mode: Mode,
    about: &'static str,
    attempt: Option<fn(&Site) -> Report>,
) -> Probe {
    Probe::new(Useful, None, name, mode, about, attempt)
        .full(Works)
        .landlock(Works)
        .alone(Alone::Works)
}

pub(super) const PROBES: &[Probe] = &[
    useful(
        "use-files",
        Write,
        "makes, renames, links and removes files in the workspace",
        attempt!(useful::files::files),
    ),
    useful(
        "use-metadata",
        Write,
        "sets mode and times of its own files",
        attempt!(useful::files::metadata),
    ),
    useful(
        "use-temporary-file",
        Write,
        "makes a file where temporary files go",
        attempt!(useful::files::temporary),
    ),
    useful(
        "use-locks",
        Write,
        "locks a file of the workspace",
        attempt!(useful::files::locks),
    ),
    useful(
        "use-map",
        Write,
        "maps a file of the workspace into memory, shared",
        attempt!(useful::files::map),
    ),
    useful(
        "use-watch",
        Write,
        "watches a directory of the workspace",
        attempt!(useful::files::watch),
    ),
    useful(
        "use-large-file",
        Write,
        "writes 16 MiB and reads them back",
        attempt!(useful::files::large),
    ),
    useful(
        "use-read-system",
        Both,
        "reads files of the system",
        attempt!(useful::files::system),
    ),
    useful(
        "use-read-workspace",
        Both,
        "reads and lists the workspace",
        attempt!(useful::files::workspace),
    ),
    useful(
        "use-read-git",
        Both,
        "reads the protected history",
        attempt!(useful::files::git),
    ),
    useful(
        "use-devices",
        Both,
        "uses null, zero, full and random",
        attempt!(useful::files::devices),
    ),
    useful(
        "use-shared-memory-file",
        Write,
        "makes a file in /dev/shm",
        attempt!(useful::files::shared_memory),
    )
    .landlock(NotApplicable("the host's /dev/shm is not granted")),
    useful(
        "use-memory-file",
        Both,
        "writes and maps a file in memory",
        attempt!(useful::processes::memory_file),
    ),
    useful(
        "use-shell",
        Both,
        "runs a pipeline in /bin/sh",
        attempt!(useful::processes::shell),
    ),
    useful(
        "use-own-proc",
        Both,
        "reads /proc about itself",
        attempt!(useful::processes::own_proc),
    ),
    useful(
        "use-children",
        Both,
        "starts children, talks by pipes and waits",
        attempt!(useful::processes::children),
    ),
    useful(
        "use-signals",
        Both,
        "stops and ends its own children",
        attempt!(useful::processes::signals),
    ),
    useful(
        "use-threads",
        Both,
        "runs threads",
        attempt!(useful::processes::threads),
    ),
    useful(
        "use-limits",
        Both,
        "lowers its own limits",
        attempt!(useful::processes::limits),
    ),
    useful(
        "use-clock",
        Both,
        "reads clocks and sleeps",
        attempt!(useful::processes::clock),
    ),
    useful(
        "use-user-name",
        Both,
        "finds its user in /etc/passwd",
        attempt!(useful::processes::user),
    ),
    useful(
        "use-affinity",
        Both,
        "asks on which processors it may run",
        attempt!(useful::processes::affinity),
    ),
    useful(
        "use-session",
        Both,
        "makes a session of its own and waits for the child in it",
        attempt!(useful::processes::session),
    ),
    useful(
        "use-random",
        Both,
        "asks the kernel for random bytes",
        attempt!(useful::processes::random),
    ),
    useful(
        "use-own-server",
        Both,
        "serves on its own loopback and connects to it",
        attempt!(useful::network::own_server),
    )
    .landlock(NotApplicable("sockets are pairs only")),
    useful(
        "use-own-datagram",
        Both,
        "sends itself a datagram",
        attempt!(useful::network::own_datagram),
    )
    .landlock(NotApplicable("sockets are pairs only")),
    useful(
        "use-own-socket-file",
        Write,
        "serves on a socket file in the workspace and connects to it",
        attempt!(useful::network::own_socket_file),
    )
    .landlock(NotApplicable("sockets are pairs only")),
    useful(
        "use-pass-descriptor",
        Both,
        "passes a descriptor over a pair of sockets",
        attempt!(useful::network::pass),
    ),
    Probe::new(
        Useful,
        None,
        "use-terminal",
        Both,
        "makes a pseudo-terminal",
        None,
    )
    .full(NotApplicable(
        "there is no ptmx in the sandbox: a terminal comes from the runner",
    ))
    .landlock(NotApplicable(
        "there is no ptmx in the sandbox: a terminal comes from the runner",
    ))
    .alone(NotRun(
        "there is no ptmx in the sandbox: a terminal comes from the runner",
    )),
];
