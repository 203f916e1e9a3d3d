//! Devices and the terminal.

use super::{NO_CAPABILITY, elsewhere};
use crate::probe::Alone::{Cannot, Depends};
use crate::probe::Class::Devices;
use crate::probe::Mode::Both;
use crate::probe::Probe;

pub(super) const PROBES: &[Probe] = &[
    Probe::new(
        Devices,
        Some(91),
        "dev-mknod",
        Both,
        "makes a device in the workspace",
        attempt!(attempts::devices::make),
    )
    .root(Depends("containers may forbid it"))
    .user(NO_CAPABILITY),
    Probe::new(
        Devices,
        Some(92),
        "dev-mem",
        Both,
        "opens memory as a file, for reading",
        attempt!(attempts::devices::memory),
    )
    .root(Depends("kernels may have no such device"))
    .user(Cannot("the devices are for root alone")),
    Probe::new(
        Devices,
        Some(94),
        "dev-gpu-kvm",
        Both,
        "opens devices with large interfaces",
        attempt!(attempts::devices::large),
    )
    .alone(Depends("the devices may be absent, or not for this user")),
    Probe::new(
        Devices,
        Some(95),
        "dev-ptmx",
        Both,
        "makes a pseudo-terminal",
        attempt!(attempts::devices::pseudo_terminal),
    ),
    Probe::new(
        Devices,
        Some(96),
        "tty-tiocsti",
        Both,
        "asks to type into a terminal, on a descriptor that is none",
        attempt!(attempts::devices::type_into),
    ),
    Probe::new(
        Devices,
        Some(98),
        "tty-tioclinux",
        Both,
        "asks to paste on a console, on a descriptor that is none",
        attempt!(attempts::devices::paste),
    ),
    elsewhere(
        Devices,
        99,
        "tty-escape-output",
        Both,
        "prints what a terminal obeys",
        "the runner's business: it decides what becomes of output",
    ),
    Probe::new(
        Devices,
        None,
        "tty-tiocsti-wide",
        Both,
        "asks to type into a terminal with a bit set that the kernel does not read",
        attempt!(attempts::devices::type_into_wide),
    ),
    Probe::new(
        Devices,
        None,
        "tty-other-terminal",
        Both,
        "writes to another terminal of the user",
        attempt!(attempts::devices::other_terminal),
    ),
];
