//! Writing outside.

use super::{NO_CAPABILITY, elsewhere};
use crate::probe::Alone::{Cannot, Depends};
use crate::probe::Class::Files;
use crate::probe::Mode::{self, Both, ReadOnly, Write};
use crate::probe::Probe;
use crate::report::Report;
use crate::site::Site;

const fn probe(
    number: u16,
    name: &'static str,
    mode: Mode,
    about: &'static str,
    attempt: Option<fn(&Site) -> Report>,
) -> Probe {
    Probe::new(Files, Some(number), name, mode, about, attempt)
}

const DEVICE_MAY_BE_ABSENT: &str = "the device may be absent, or not for this user";

pub(super) const PROBES: &[Probe] = &[
    probe(
        1,
        "fs-open-write",
        Both,
        "writes an existing file outside",
        attempt!(attempts::files::open_write),
    ),
    probe(
        2,
        "fs-create",
        Both,
        "makes a file outside",
        attempt!(attempts::files::create),
    ),
    probe(
        3,
        "fs-mkdir-symlink-fifo-sock",
        Both,
        "makes a directory, a link, a pipe and a socket outside",
        attempt!(attempts::files::make_others),
    ),
    probe(
        4,
        "fs-truncate-path",
        Both,
        "truncates a file outside by path",
        attempt!(attempts::files::truncate),
    ),
    probe(
        6,
        "fs-unlink",
        Both,
        "removes a file and a directory outside",
        attempt!(attempts::files::unlink),
    ),
    probe(
        7,
        "fs-rename-in",
        Both,
        "moves a file from outside into the workspace",
        attempt!(attempts::files::rename_in),
    ),
    probe(
        8,
        "fs-rename-out",
        Both,
        "moves a file of the workspace outside",
        attempt!(attempts::files::rename_out),
    ),
    probe(
        10,
        "fs-link-in",
        Both,
        "links a file from outside into the workspace and writes the link",
        attempt!(attempts::files::link_in),
    ),
    probe(
        11,
        "fs-link-out",
        Both,
        "links a file of the workspace outside",
        attempt!(attempts::files::link_out),
    ),
    probe(
        13,
        "fs-hardlink-preexisting",
        Write,
        "writes a file of the workspace that has a second name outside",
        attempt!(attempts::files::write_alias),
    )
    .residue("a file has no path: both names are the same file"),
    probe(
        14,
        "fs-symlink-file",
        Both,
        "writes outside through a symbolic link in the workspace",
        attempt!(attempts::files::through_symlink),
    ),
    elsewhere(
        Files,
        15,
        "fs-symlink-swap-race",
        Write,
        "swaps a directory for a link while the supervisor walks",
        "a race against the supervisor: tried by the tests of what walks",
    ),
    probe(
        18,
        "fs-proc-self-root",
        Both,
        "writes outside through /proc/self/root",
        attempt!(attempts::files::proc_root),
    ),
    probe(
        19,
        "fs-proc-cwd-dotdot",
        Both,
        "writes outside through /proc/self/cwd/..",
        attempt!(attempts::files::proc_cwd),
    ),
    probe(
        20,
        "fs-inherited-write-fd",
        Both,
        "writes a leaked descriptor",
        attempt!(attempts::files::leaked),
    ),
    probe(
        22,
        "fs-scm-rights",
        Both,
        "receives a writable descriptor from a server outside",
        attempt!(attempts::files::received),
    ),
    probe(
        23,
        "fs-handle-open",
        Both,
        "opens a file outside by its handle",
        attempt!(attempts::files::by_handle),
    )
    .user(NO_CAPABILITY),
    probe(
        25,
        "fs-shared-tmp",
        Both,
        "plants a file and a link in the host's /tmp",
        attempt!(attempts::files::shared_tmp),
    ),
    probe(
        26,
        "fs-dev-shm",
        Both,
        "plants a file in the host's /dev/shm",
        attempt!(attempts::files::dev_shm),
    ),
    probe(
        27,
        "fs-shell-rc",
        Both,
        "appends to what shells and desktops start",
        attempt!(attempts::files::shell_rc),
    ),
    probe(
        28,
        "fs-user-unit-cron",
        Both,
        "plants a user unit and a crontab",
        attempt!(attempts::files::user_unit),
    ),
    probe(
        29,
        "fs-cache-poison",
        Write,
        "changes what a later build takes from the caches",
        attempt!(attempts::files::cache_poison),
    ),
    probe(
        30,
        "fs-path-shadow",
        Write,
        "plants a program in a directory on the user's PATH",
        attempt!(attempts::files::path_shadow),
    ),
    probe(
        31,
        "fs-readonly-any-write",
        ReadOnly,
        "writes anywhere on the host",
        attempt!(attempts::files::any_write),
    ),
    elsewhere(
        Files,
        32,
        "fs-workspace-too-wide",
        Write,
        "asks for a whole home as the workspace",
        "the policy's business: it refuses before there is a sandbox",
    ),
    probe(
        33,
        "fs-bind-over",
        Both,
        "mounts over a path of the workspace",
        attempt!(attempts::mounts::bind_over),
    )
    .user(NO_CAPABILITY),
    probe(
        35,
        "fs-remount-rw",
        Write,
        "remounts a protected path writable",
        attempt!(attempts::mounts::remount),
    )
    .user(NO_CAPABILITY),
    probe(
        36,
        "fs-mount-setattr-rw",
        Write,
        "clears the read-only attribute of a protected path",
        attempt!(attempts::mounts::set_attributes),
    )
    .user(NO_CAPABILITY),
    probe(
        38,
        "fs-nested-userns-remount",
        Write,
        "takes capabilities in a namespace of its own and mounts",
        attempt!(attempts::mounts::nested),
    )
    .user(Depends("some hosts forbid user namespaces to users")),
    probe(
        39,
        "fs-detached-tmpfs",
        Both,
        "makes a mount that is attached nowhere",
        attempt!(attempts::mounts::detached),
    )
    .user(NO_CAPABILITY),
    probe(
        40,
        "fs-chroot",
        Both,
        "changes its root",
        attempt!(attempts::mounts::chroot),
    )
    .user(NO_CAPABILITY),
    probe(
        41,
        "fs-pivot-root",
        Both,
        "calls pivot_root with no paths",
        attempt!(attempts::mounts::pivot),
    )
    .user(NO_CAPABILITY),
    probe(
        43,
        "fs-fuse-setuid-helper",
        Both,
        "opens the device of user file systems",
        attempt!(attempts::mounts::fuse),
    )
    .alone(Depends(DEVICE_MAY_BE_ABSENT)),
    probe(
        44,
        "fs-loop-device",
        Both,
        "opens loop devices and disks",
        attempt!(attempts::mounts::disks),
    )
    .root(Depends(DEVICE_MAY_BE_ABSENT))
    .user(Cannot("disks belong to root")),
];
