//! Network.

use super::{NO_CAPABILITY, elsewhere};
use crate::probe::Alone::Depends;
use crate::probe::Class::Network;
use crate::probe::Expected::Residue;
use crate::probe::Mode::{Both, Write};
use crate::probe::Probe;

pub(super) const PROBES: &[Probe] = &[
    Probe::new(
        Network,
        Some(100),
        "net-tcp4-tcp6",
        Both,
        "connects to the host by IPv4, IPv6 and mapped addresses, by TCP and multipath TCP",
        attempt!(attempts::network::tcp),
    ),
    Probe::new(
        Network,
        Some(103),
        "net-sctp-smc",
        Both,
        "connects to the host by SCTP and SMC",
        attempt!(attempts::network::sctp_smc),
    )
    .alone(Depends("seldom built")),
    Probe::new(
        Network,
        Some(104),
        "net-udp",
        Both,
        "sends a datagram to the host by IPv4 and IPv6",
        attempt!(attempts::network::udp),
    ),
    Probe::new(
        Network,
        Some(105),
        "net-dns-udp",
        Both,
        "sends a name query to the host",
        attempt!(attempts::network::dns),
    ),
    Probe::new(
        Network,
        Some(107),
        "net-icmp-ping-socket",
        Both,
        "makes a socket for pings",
        attempt!(attempts::network::ping),
    )
    .alone(Depends("ping_group_range decides")),
    Probe::new(
        Network,
        Some(108),
        "net-raw-packet",
        Both,
        "makes raw and packet sockets",
        attempt!(attempts::network::raw),
    )
    .root(Depends("containers may forbid it"))
    .user(NO_CAPABILITY),
    Probe::new(
        Network,
        Some(109),
        "net-xdp",
        Both,
        "makes an XDP socket",
        attempt!(attempts::network::xdp),
    )
    .root(Depends("not always built"))
    .user(Depends("needs a capability, or is not built")),
    Probe::new(
        Network,
        Some(111),
        "net-vsock",
        Both,
        "makes a socket to the hypervisor",
        attempt!(attempts::network::vsock),
    )
    .alone(Depends("not always built")),
    Probe::new(
        Network,
        Some(112),
        "net-af-alg",
        Both,
        "makes a socket to the kernel's ciphers",
        attempt!(attempts::network::alg),
    )
    .alone(Depends("not always built")),
    Probe::new(
        Network,
        Some(113),
        "net-rare-families",
        Both,
        "makes sockets of a dozen rare families",
        attempt!(attempts::network::rare),
    )
    .alone(Depends("seldom built")),
    Probe::new(
        Network,
        Some(114),
        "net-loopback-services",
        Both,
        "reads from a service on 127.0.0.1",
        attempt!(attempts::network::service),
    ),
    Probe::new(
        Network,
        Some(115),
        "net-cloud-metadata",
        Both,
        "reads from the metadata service of a cloud",
        attempt!(attempts::network::metadata),
    )
    .alone(Depends(
        "tried only in a network namespace that the test made",
    )),
    Probe::new(
        Network,
        Some(117),
        "net-i386-socketcall",
        Both,
        "makes a socket by a 32-bit system call",
        attempt!(attempts::network::socketcall),
    )
    .alone(Depends("only where a 64-bit x86 kernel has 32-bit calls")),
    Probe::new(
        Network,
        Some(118),
        "net-setns-host",
        Both,
        "joins the network namespace of another process",
        attempt!(attempts::network::join),
    )
    .user(NO_CAPABILITY),
    Probe::new(
        Network,
        Some(120),
        "net-inherited-socket",
        Both,
        "writes to a leaked socket",
        attempt!(attempts::network::leaked),
    ),
    elsewhere(
        Network,
        121,
        "net-proxy-abuse",
        Write,
        "asks the proxy for another host",
        "where hosts are listed: runner, tests/session/hosts.rs",
    ),
    Probe::new(
        Network,
        None,
        "net-fast-open",
        Both,
        "connects to the host by the first data it sends",
        attempt!(attempts::network::fast_open),
    ),
    Probe::new(
        Network,
        None,
        "net-other-addresses",
        Both,
        "connects to the host by 0.0.0.0, :: and an address with an interface",
        attempt!(attempts::network::other_addresses),
    ),
    Probe::new(
        Network,
        None,
        "net-by-device",
        Both,
        "binds a socket to the loopback device and connects to the host",
        attempt!(attempts::network::by_device),
    ),
    Probe::new(
        Network,
        None,
        "net-wide",
        Both,
        "connects to the host by a socket whose family has a bit set that the kernel does not read",
        attempt!(attempts::network::wide),
    ),
    Probe::new(
        Network,
        None,
        "net-kernel-channels",
        Both,
        "makes sockets to the kernel for seven purposes",
        attempt!(attempts::network::kernel_channels),
    ),
    Probe::new(
        Network,
        None,
        "net-rare-datagrams",
        Both,
        "makes sockets for UDP-Lite, DCCP and SCTP packets",
        attempt!(attempts::network::rare_datagrams),
    )
    .alone(Depends("not always built")),
    Probe::new(
        Network,
        None,
        "net-listen",
        Both,
        "listens on a port of the host",
        attempt!(attempts::network::listen),
    ),
    Probe::new(
        Network,
        None,
        "net-socket-list",
        Both,
        "reads which sockets the host has",
        attempt!(attempts::network::list_sockets),
    )
    .landlock(Residue(
        "without a network namespace `/proc/net` tells of the host's sockets",
    )),
    Probe::new(
        Network,
        None,
        "net-setns-process",
        Both,
        "joins namespaces of another process by a descriptor of it",
        attempt!(attempts::network::join_by_process),
    )
    .user(NO_CAPABILITY),
];
