//! Unix sockets.

use crate::probe::Class::UnixSockets;
use crate::probe::Expected::{Residue, Works};
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
    Probe::new(
        UnixSockets,
        None,
        "unix-by-link",
        Both,
        "connects to a socket file outside by links in the workspace",
        attempt!(attempts::unix::by_link),
    ),
    Probe::new(
        UnixSockets,
        None,
        "unix-by-descriptor",
        Both,
        "opens a socket file outside for nothing and connects to that",
        attempt!(attempts::unix::by_descriptor),
    ),
    Probe::new(
        UnixSockets,
        None,
        "unix-nearby",
        Both,
        "goes where a socket file is and connects by its name alone",
        attempt!(attempts::unix::nearby),
    ),
    Probe::new(
        UnixSockets,
        None,
        "unix-packets",
        Both,
        "connects to a socket file for packets",
        attempt!(attempts::unix::packets),
    ),
    Probe::new(
        UnixSockets,
        None,
        "unix-from-pair",
        Both,
        "sends from one of a pair of sockets to a socket file outside",
        attempt!(attempts::unix::from_pair),
    ),
    Probe::new(
        UnixSockets,
        None,
        "unix-abstract-datagram",
        Both,
        "sends to an abstract socket for datagrams",
        attempt!(attempts::unix::abstract_datagram),
    ),
    Probe::new(
        UnixSockets,
        None,
        "unix-bound-late",
        Both,
        "connects to a socket file that was bound after the launch",
        attempt!(attempts::unix::late),
    )
    .full(Residue(
        "sockets are masked as they are found at the launch; later ones need Landlock ABI 9",
    )),
    Probe::new(
        UnixSockets,
        None,
        "unix-renamed",
        Both,
        "connects to a socket file that got another name after it was bound",
        attempt!(attempts::unix::renamed),
    ),
    Probe::new(
        UnixSockets,
        None,
        "unix-moved",
        Both,
        "connects to a socket file that was moved to another directory after it was bound",
        attempt!(attempts::unix::moved),
    )
    .full(Residue(
        "the kernel lists a socket where it was bound: elsewhere nobody finds it without Landlock ABI 9",
    )),
];
