//! Metadata and information.

use crate::probe::Class::Metadata;
use crate::probe::Expected::Residue;
use crate::probe::Mode::Both;
use crate::probe::{Expected, Probe};

const NO_METADATA_RIGHTS: Expected = Residue("Landlock has no right for metadata");

pub(super) const PROBES: &[Probe] = &[
    Probe::new(
        Metadata,
        Some(66),
        "meta-chmod-outside",
        Both,
        "takes the mode bits of a file and a directory outside",
        attempt!(attempts::metadata::chmod),
    )
    .landlock(NO_METADATA_RIGHTS),
    Probe::new(
        Metadata,
        Some(67),
        "meta-chown-outside",
        Both,
        "sets the group of a file outside",
        attempt!(attempts::metadata::chown_group),
    )
    .landlock(NO_METADATA_RIGHTS),
    Probe::new(
        Metadata,
        Some(68),
        "meta-utime-outside",
        Both,
        "sets the times of a file outside",
        attempt!(attempts::metadata::times),
    )
    .landlock(NO_METADATA_RIGHTS),
    Probe::new(
        Metadata,
        Some(72),
        "meta-lock-dos",
        Both,
        "locks a file outside that it can read",
        attempt!(attempts::metadata::lock),
    )
    .residue("whoever can read a file can lock it: availability only"),
    Probe::new(
        Metadata,
        Some(73),
        "meta-stat-probe",
        Both,
        "asks whether a file outside exists, and how large it is",
        attempt!(attempts::metadata::stat),
    )
    .residue("what may be read may be found; only masked paths are hidden"),
    Probe::new(
        Metadata,
        Some(75),
        "meta-mount-list",
        Both,
        "lists the mounts of the host",
        attempt!(attempts::metadata::list_mounts),
    ),
];
