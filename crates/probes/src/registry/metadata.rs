//! Metadata and information.

use crate::probe::Class::Metadata;
use crate::probe::Expected::Residue;
use crate::probe::Mode::Both;
use crate::probe::{Expected, Probe};
use crate::report::Report;
use crate::site::Site;

const NO_METADATA_RIGHTS: Expected = Residue("Landlock has no right for metadata");

const fn meta(
    name: &'static str,
    about: &'static str,
    attempt: Option<fn(&Site) -> Report>,
) -> Probe {
    Probe::new(Metadata, None, name, Both, about, attempt)
}

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
    )
    .landlock(Residue(
        "what `/proc` tells everybody about a process can be read without a pid namespace",
    )),
    meta(
        "meta-attributes-outside",
        "sets and removes an attribute of a file outside",
        attempt!(attempts::metadata::attributes),
    )
    .landlock(NO_METADATA_RIGHTS),
    meta(
        "meta-access-list-outside",
        "gives another user rights to a file outside",
        attempt!(attempts::metadata::access_list),
    )
    .landlock(NO_METADATA_RIGHTS),
    meta(
        "meta-flags-outside",
        "sets flags of a file outside, by request and by call",
        attempt!(attempts::metadata::flags),
    )
    .landlock(NO_METADATA_RIGHTS),
    meta(
        "meta-by-descriptor-outside",
        "sets mode and times outside by descriptors that are open for reading or nothing",
        attempt!(attempts::metadata::by_descriptor),
    )
    .landlock(NO_METADATA_RIGHTS),
    meta(
        "meta-watch-outside",
        "watches a directory outside",
        attempt!(attempts::metadata::watch),
    )
    .residue("what may be read may be watched; only masked paths are hidden"),
    meta(
        "meta-handle",
        "asks for the handle of a file outside",
        attempt!(attempts::metadata::handle),
    ),
    meta(
        "meta-lease-dos",
        "takes a lease on a file outside that it can read",
        attempt!(attempts::metadata::lease),
    )
    .residue("whoever owns a file and can read it can take a lease: availability only"),
    meta(
        "meta-size-of-secrets",
        "asks how large files with secrets are",
        attempt!(attempts::metadata::sizes_of_secrets),
    )
    .landlock(Residue(
        "Landlock has no right for names: what cannot be read can still be found",
    )),
];
