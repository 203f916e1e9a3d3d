//! Writing outside by seldom calls, in several steps, and in races.

use super::NO_CAPABILITY;
use crate::probe::Alone::{Cannot, Depends};
use crate::probe::Class::Files;
use crate::probe::Mode::{self, Both, Write};
use crate::probe::Probe;
use crate::report::Report;
use crate::site::Site;

const fn probe(
    name: &'static str,
    mode: Mode,
    about: &'static str,
    attempt: Option<fn(&Site) -> Report>,
) -> Probe {
    Probe::new(Files, None, name, mode, about, attempt)
}

pub(super) const PROBES: &[Probe] = &[
    probe(
        "fs-open-truncate",
        Both,
        "empties a file outside by opening it for reading",
        attempt!(attempts::rarer::truncate_by_reading),
    ),
    probe(
        "fs-nameless-link",
        Both,
        "makes a file without a name and names it outside",
        attempt!(attempts::rarer::nameless),
    ),
    probe(
        "fs-rename-exchange",
        Both,
        "exchanges a file of the workspace with one outside",
        attempt!(attempts::rarer::exchange),
    ),
    probe(
        "fs-rename-whiteout",
        Both,
        "moves a file outside and leaves a whiteout",
        attempt!(attempts::rarer::whiteout),
    ),
    probe(
        "fs-directory-descriptor",
        Both,
        "makes and removes below a descriptor of a directory outside",
        attempt!(attempts::rarer::below_descriptor),
    ),
    probe(
        "fs-reopen-descriptor",
        Both,
        "opens a file outside for nothing or for reading, then once more for writing",
        attempt!(attempts::rarer::reopened),
    ),
    probe(
        "fs-write-by-reader",
        Both,
        "writes by a descriptor that is open for reading, in six ways",
        attempt!(attempts::rarer::through_reader),
    )
    .alone(Cannot("the kernel asks how the descriptor was opened")),
    probe(
        "fs-open-resolved",
        Both,
        "opens a file outside with another root, and upwards, by openat2",
        attempt!(attempts::rarer::resolved),
    ),
    probe(
        "fs-pipe-outside",
        Both,
        "writes to a named pipe outside, which a read-only mount does not stop",
        attempt!(attempts::rarer::pipe),
    ),
    probe(
        "fs-replace-program",
        Both,
        "puts another program where a later run starts this one",
        attempt!(attempts::rarer::own_program),
    ),
    probe(
        "fs-dev-shm-existing",
        Both,
        "reads and writes a file of another program in /dev/shm",
        attempt!(attempts::rarer::shared_memory),
    ),
    probe(
        "fs-link-renamed",
        Both,
        "plants a link, moves it, and writes through a link to it",
        attempt!(attempts::chains::renamed_link),
    ),
    probe(
        "fs-climb-renamed",
        Both,
        "climbs out of a directory that was moved while it was open",
        attempt!(attempts::chains::climb),
    ),
    probe(
        "fs-descriptor-to-grandchild",
        Both,
        "hands a directory outside to a grandchild in another session, which makes a file there",
        attempt!(attempts::chains::to_grandchild),
    ),
    probe(
        "fs-working-directory",
        Both,
        "writes below a directory outside that it was in before",
        attempt!(attempts::chains::working_directory),
    ),
    probe(
        "fs-first-process-root",
        Both,
        "writes outside through the root of the first process",
        attempt!(attempts::chains::first_process),
    )
    .root(Depends("containers take the capability away"))
    .user(Cannot("the first process is root's")),
    probe(
        "fs-any-process-root",
        Both,
        "writes outside through the root of each process that it sees",
        attempt!(attempts::chains::seen_processes),
    ),
    probe(
        "fs-userns-bind",
        Both,
        "mounts the outside into the workspace in namespaces of its own, and writes there",
        attempt!(attempts::chains::own_mounts),
    )
    .user(Depends("some hosts forbid user namespaces to users")),
    probe(
        "fs-other-programs",
        Both,
        "has a shell, cp, a clean environment and another session write outside",
        attempt!(attempts::chains::other_programs),
    ),
    probe(
        "fs-program-in-memory",
        Both,
        "runs itself from memory, which then writes outside",
        attempt!(attempts::chains::from_memory),
    ),
    probe(
        "fs-planted-script",
        Both,
        "plants a script and runs it, which then writes outside",
        attempt!(attempts::chains::from_script),
    ),
    probe(
        "fs-puppet-child",
        Both,
        "changes the memory of a child, which then writes outside",
        attempt!(attempts::chains::puppet),
    )
    .alone(Depends("Yama may forbid it")),
    probe(
        "fs-own-landlock",
        Both,
        "adds rules of its own that allow writing everywhere, then writes outside",
        attempt!(attempts::chains::own_rules),
    ),
    probe(
        "race-link-swap",
        Write,
        "writes through a name that is now a directory, now a link outside",
        attempt!(attempts::races::swapped_link),
    ),
    probe(
        "race-directory-move",
        Write,
        "climbs out of a directory while another thread moves it",
        attempt!(attempts::races::moved_directory),
    ),
    probe(
        "fs-plant-setuid",
        Write,
        "gives a file of the workspace the bit that makes it run as its owner",
        attempt!(attempts::rarer::elevating),
    )
    .residue("part of the work: what it owns it may give any mode"),
    probe(
        "fs-plant-capabilities",
        Write,
        "gives a file of the workspace capabilities, of which there are none",
        attempt!(attempts::rarer::capable),
    )
    .user(NO_CAPABILITY),
];
