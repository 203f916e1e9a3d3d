//! Resources.

use super::elsewhere;
use crate::probe::Class::Resources;
use crate::probe::Expected::Residue;
use crate::probe::Mode::{Both, Write};
use crate::probe::Probe;

pub(super) const PROBES: &[Probe] = &[
    Probe::new(
        Resources,
        Some(181),
        "res-fork-bomb",
        Both,
        "starts many processes",
        attempt!(attempts::resources::processes),
    )
    .landlock(Residue(
        "without a user namespace the limit counts all processes of the user",
    )),
    Probe::new(
        Resources,
        Some(182),
        "res-thread-bomb",
        Both,
        "starts many threads",
        attempt!(attempts::resources::threads),
    )
    .landlock(Residue(
        "without a user namespace the limit counts all processes of the user",
    )),
    Probe::new(
        Resources,
        Some(183),
        "res-memory",
        Both,
        "touches much memory",
        attempt!(attempts::resources::memory),
    ),
    elsewhere(
        Resources,
        185,
        "res-disk-fill",
        Write,
        "fills the disk",
        "the runner's business: it watches the free space",
    ),
    Probe::new(
        Resources,
        Some(187),
        "res-sparse-file",
        Write,
        "makes a huge file with nothing in it",
        attempt!(attempts::resources::sparse),
    ),
    elsewhere(
        Resources,
        188,
        "res-output-flood",
        Both,
        "prints without end",
        "the runner's business: it keeps so much and drops the rest",
    ),
    elsewhere(
        Resources,
        189,
        "res-fd-exhaust",
        Both,
        "opens files until there are no more descriptors",
        "the host's own limit for each process holds; there is none of ours",
    ),
    Probe::new(
        Resources,
        Some(190),
        "res-cpu-spin",
        Both,
        "uses processor time",
        attempt!(attempts::resources::spin),
    ),
    Probe::new(
        Resources,
        Some(192),
        "res-inotify-pty-keys",
        Both,
        "takes many of the user's inotify instances",
        attempt!(attempts::resources::inotify),
    )
    .residue("counted for the user as long as the command runs"),
    elsewhere(
        Resources,
        193,
        "res-names",
        Write,
        "makes names that are no text",
        "for whoever prints names: the tests of the reports",
    ),
];
