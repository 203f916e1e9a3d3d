//! Unix sockets.

use crate::probe::Class::UnixSockets;
use crate::probe::Expected::Works;
use crate::probe::Mode::Both;
use crate::probe::{Alone, Probe};

pub(super) const PROBES: &[Probe] = &[
    Probe::new(
        UnixSockets,
        Some(122),
        "unix-abstract",
        Both,
        "connects to an abstract socket",
        attempt!(attempts::unix::abstract_name),
    ),
    Probe::new(
        UnixSockets,
        Some(123),
        "unix-path-stream",
        Both,
        "connects to a socket file outside",
        attempt!(attempts::unix::stream),
    ),
    Probe::new(
        UnixSockets,
        Some(125),
        "unix-docker",
        Both,
        "connects to a stand-in of a container daemon",
        attempt!(attempts::unix::docker),
    ),
    Probe::new(
        UnixSockets,
        Some(126),
        "unix-ssh-agent",
        Both,
        "connects to a stand-in of an ssh agent",
        attempt!(attempts::unix::agent),
    ),
    Probe::new(
        UnixSockets,
        Some(128),
        "unix-dbus-systemd-run",
        Both,
        "connects to a stand-in of the session bus",
        attempt!(attempts::unix::session_bus),
    ),
    Probe::new(
        UnixSockets,
        Some(129),
        "unix-dbus-system",
        Both,
        "connects to a stand-in of the system bus",
        attempt!(attempts::unix::system_bus),
    ),
    Probe::new(
        UnixSockets,
        Some(130),
        "unix-x11-wayland",
        Both,
        "connects to stand-ins of displays",
        attempt!(attempts::unix::displays),
    ),
    Probe::new(
        UnixSockets,
        Some(132),
        "unix-editor-ipc",
        Both,
        "connects to a stand-in of an editor",
        attempt!(attempts::unix::editor),
    ),
    Probe::new(
        UnixSockets,
        Some(134),
        "unix-syslog",
        Both,
        "sends a line to a stand-in of the system log",
        attempt!(attempts::unix::syslog),
    ),
    Probe::new(
        UnixSockets,
        Some(135),
        "unix-snapd-libvirt",
        Both,
        "connects to a stand-in of a package daemon",
        attempt!(attempts::unix::snapd),
    ),
    Probe::new(
        UnixSockets,
        Some(136),
        "unix-socketpair-ok",
        Both,
        "talks over a pair of sockets",
        attempt!(attempts::unix::pair),
    )
    .full(Works)
    .landlock(Works)
    .alone(Alone::Works),
];
