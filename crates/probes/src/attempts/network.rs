//! Network. Everything goes to loopback, where a server of the stage answers with its secret.

use std::ffi::c_int;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6, TcpListener, TcpStream, UdpSocket};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use super::secrets::text;
use super::{PATIENCE, Tries, unavailable};
use crate::report::Report;
use crate::site::Site;
use crate::sys::{files, net, privilege, process, sockets};

fn answer(mut stream: TcpStream) -> io::Result<String> {
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut told = Vec::new();
    stream.read_to_end(&mut told)?;
    Ok(text(&told))
}

fn connect(address: impl Into<SocketAddr>) -> io::Result<String> {
    answer(TcpStream::connect_timeout(&address.into(), PATIENCE)?)
}

fn connect_by(family: c_int, protocol: c_int, port: u16) -> io::Result<String> {
    let socket = net::socket(family, libc::SOCK_STREAM, protocol)?;
    net::connect_ipv4(&socket, port)?;
    answer(TcpStream::from(socket))
}

pub(crate) fn tcp(site: &Site) -> Report {
    let mapped = Ipv4Addr::LOCALHOST.to_ipv6_mapped();
    let mut tries = Tries::default()
        .escape("IPv4", connect((Ipv4Addr::LOCALHOST, site.tcp4)))
        .escape("mapped IPv4", connect((mapped, site.tcp4)))
        .escape(
            "multipath TCP",
            connect_by(libc::AF_INET, libc::IPPROTO_MPTCP, site.tcp4),
        );
    if site.tcp6 != 0 {
        tries = tries.escape("IPv6", connect((Ipv6Addr::LOCALHOST, site.tcp6)));
    }
    tries.report()
}

pub(crate) fn sctp_smc(site: &Site) -> Report {
    const AF_SMC: c_int = 43;
    Tries::default()
        .escape(
            "SCTP",
            connect_by(libc::AF_INET, libc::IPPROTO_SCTP, site.tcp4),
        )
        .escape("SMC", connect_by(AF_SMC, 0, site.tcp4))
        .report()
}

fn exchange(from: SocketAddr, to: SocketAddr, message: &[u8]) -> io::Result<String> {
    let socket = UdpSocket::bind(from)?;
    socket.set_read_timeout(Some(PATIENCE))?;
    socket.connect(to)?;
    socket.send(message)?;
    let mut told = [0_u8; 200];
    let length = socket.recv(&mut told)?;
    Ok(text(told.get(..length).unwrap_or_default()))
}

fn by_udp4(site: &Site, message: &[u8]) -> io::Result<String> {
    exchange(
        (Ipv4Addr::UNSPECIFIED, 0).into(),
        (Ipv4Addr::LOCALHOST, site.udp4).into(),
        message,
    )
}

pub(crate) fn udp(site: &Site) -> Report {
    let mut tries = Tries::default().escape("IPv4", by_udp4(site, site.token.as_bytes()));
    if site.udp6 != 0 {
        let sent = exchange(
            (Ipv6Addr::UNSPECIFIED, 0).into(),
            (Ipv6Addr::LOCALHOST, site.udp6).into(),
            site.token.as_bytes(),
        );
        tries = tries.escape("IPv6", sent);
    }
    tries.report()
}

pub(crate) fn dns(site: &Site) -> Report {
    // A query for the addresses of TOKEN.example.
    let mut query = vec![0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    for label in [site.token.as_str(), "example"] {
        let label = label.as_bytes();
        query.push(u8::try_from(label.len()).unwrap_or_default());
        query.extend_from_slice(label);
    }
    query.extend_from_slice(&[0, 0, 1, 0, 1]);
    Tries::default()
        .escape("query", by_udp4(site, &query))
        .report()
}

fn made(family: c_int, kind: c_int, protocol: c_int) -> io::Result<&'static str> {
    net::socket(family, kind, protocol).map(|_| "was made")
}

pub(crate) fn ping(_: &Site) -> Report {
    let kind = libc::SOCK_DGRAM;
    Tries::default()
        .escape("IPv4", made(libc::AF_INET, kind, libc::IPPROTO_ICMP))
        .escape("IPv6", made(libc::AF_INET6, kind, libc::IPPROTO_ICMPV6))
        .report()
}

pub(crate) fn raw(_: &Site) -> Report {
    Tries::default()
        .escape(
            "raw IPv4",
            made(libc::AF_INET, libc::SOCK_RAW, libc::IPPROTO_ICMP),
        )
        .escape(
            "raw IPv6",
            made(libc::AF_INET6, libc::SOCK_RAW, libc::IPPROTO_ICMPV6),
        )
        .escape("packet", made(libc::AF_PACKET, libc::SOCK_DGRAM, 0))
        .report()
}

pub(crate) fn xdp(_: &Site) -> Report {
    Tries::default()
        .escape("XDP", made(libc::AF_XDP, libc::SOCK_RAW, 0))
        .report()
}

pub(crate) fn vsock(_: &Site) -> Report {
    // Made, not connected: on the other side is the machine's host.
    Tries::default()
        .escape("stream", made(libc::AF_VSOCK, libc::SOCK_STREAM, 0))
        .escape("datagram", made(libc::AF_VSOCK, libc::SOCK_DGRAM, 0))
        .report()
}

pub(crate) fn alg(_: &Site) -> Report {
    Tries::default()
        .escape("ciphers", made(libc::AF_ALG, libc::SOCK_SEQPACKET, 0))
        .report()
}

pub(crate) fn rare(_: &Site) -> Report {
    const AF_KCM: c_int = 41;
    const AF_QIPCRTR: c_int = 42;
    const AF_MCTP: c_int = 45;
    let families = [
        ("Bluetooth", libc::AF_BLUETOOTH, libc::SOCK_RAW),
        ("CAN", libc::AF_CAN, libc::SOCK_RAW),
        ("TIPC", libc::AF_TIPC, libc::SOCK_SEQPACKET),
        ("RDS", libc::AF_RDS, libc::SOCK_SEQPACKET),
        ("KCM", AF_KCM, libc::SOCK_DGRAM),
        ("NFC", libc::AF_NFC, libc::SOCK_SEQPACKET),
        ("QRTR", AF_QIPCRTR, libc::SOCK_DGRAM),
        ("LLC", libc::AF_LLC, libc::SOCK_STREAM),
        ("X.25", libc::AF_X25, libc::SOCK_SEQPACKET),
        ("AppleTalk", libc::AF_APPLETALK, libc::SOCK_DGRAM),
        ("IEEE 802.15.4", libc::AF_IEEE802154, libc::SOCK_DGRAM),
        ("MCTP", AF_MCTP, libc::SOCK_DGRAM),
    ];
    families
        .iter()
        .fold(Tries::default(), |tries, (name, family, kind)| {
            tries.escape(name, made(*family, *kind, 0))
        })
        .report()
}

pub(crate) fn service(site: &Site) -> Report {
    Tries::default()
        .escape("service", connect((Ipv4Addr::LOCALHOST, site.tcp4)))
        .report()
}

pub(crate) fn metadata(site: &Site) -> Report {
    if site.metadata == 0 {
        return unavailable("no network namespace of the test");
    }
    Tries::default()
        .escape("metadata service", connect((net::METADATA, site.metadata)))
        .report()
}

pub(crate) fn socketcall(_: &Site) -> Report {
    #[cfg(target_arch = "x86_64")]
    {
        super::kernel::in_child("32-bit socket", || crate::sys::i386::socket().map(drop))
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        unavailable("32-bit calls are tried on x86-64 only")
    }
}

pub(crate) fn join(site: &Site) -> Report {
    let joined = File::open(format!("/proc/{}/ns/net", site.victim))
        .map(OwnedFd::from)
        .and_then(|namespace| process::join_network(&namespace));
    Tries::default()
        .escape("namespace", joined.map(|()| "was joined"))
        .report()
}

pub(crate) fn leaked(site: &Site) -> Report {
    let sent = files::copy_of(site.leaked_socket)
        .map(File::from)
        .and_then(|mut socket| socket.write_all(site.token.as_bytes()));
    Tries::default()
        .act("socket", sent.map(|()| "was written"))
        .report()
}

pub(crate) fn fast_open(site: &Site) -> Report {
    let told = sockets::fast_open(site.tcp4, site.token.as_bytes())
        .and_then(|socket| answer(TcpStream::from(socket)));
    Tries::default().escape("first data", told).report()
}

pub(crate) fn other_addresses(site: &Site) -> Report {
    let mut tries = Tries::default().escape("0.0.0.0", connect((Ipv4Addr::UNSPECIFIED, site.tcp4)));
    if site.tcp6 != 0 {
        // Loopback is the first interface everywhere.
        let scoped = SocketAddrV6::new(Ipv6Addr::LOCALHOST, site.tcp6, 0, 1);
        tries = tries
            .escape("::", connect((Ipv6Addr::UNSPECIFIED, site.tcp6)))
            .escape("::1 of the first interface", connect(scoped));
    }
    tries.report()
}

pub(crate) fn by_device(site: &Site) -> Report {
    let told = net::socket(libc::AF_INET, libc::SOCK_STREAM, 0).and_then(|socket| {
        sockets::bind_to_loopback(&socket)?;
        net::connect_ipv4(&socket, site.tcp4)?;
        answer(TcpStream::from(socket))
    });
    Tries::default().escape("by device", told).report()
}

pub(crate) fn wide(site: &Site) -> Report {
    let told = sockets::wide(libc::AF_INET, libc::SOCK_STREAM).and_then(|socket| {
        net::connect_ipv4(&socket, site.tcp4)?;
        answer(TcpStream::from(socket))
    });
    Tries::default().escape("connection", told).report()
}

pub(crate) fn kernel_channels(_: &Site) -> Report {
    // Made, not used.
    let protocols = [
        ("sockets of the host", 4),
        ("packet filter", 12),
        ("events of devices", 15),
        ("generic", 16),
        ("audit", 9),
        ("tunnels", 6),
        ("connector", 11),
    ];
    protocols
        .iter()
        .fold(Tries::default(), |tries, (name, protocol)| {
            tries.escape(name, made(libc::AF_NETLINK, libc::SOCK_RAW, *protocol))
        })
        .report()
}

pub(crate) fn rare_datagrams(_: &Site) -> Report {
    Tries::default()
        .escape(
            "UDP-Lite",
            made(libc::AF_INET, libc::SOCK_DGRAM, libc::IPPROTO_UDPLITE),
        )
        .escape(
            "DCCP",
            made(libc::AF_INET, libc::SOCK_DCCP, libc::IPPROTO_DCCP),
        )
        .escape(
            "SCTP packets",
            made(libc::AF_INET, libc::SOCK_SEQPACKET, libc::IPPROTO_SCTP),
        )
        .report()
}

pub(crate) fn listen(site: &Site) -> Report {
    // A private network may be listened on, where nobody comes: only evidence counts.
    let heard = TcpListener::bind((Ipv4Addr::LOCALHOST, site.knock)).and_then(|listener| {
        listener.set_nonblocking(true)?;
        let begin = Instant::now();
        while listener.accept().is_err() && begin.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok("was bound")
    });
    Tries::default().act("port", heard).report()
}

pub(crate) fn list_sockets(site: &Site) -> Report {
    let listed = |path: &str, wanted: &str| {
        let text = std::fs::read_to_string(path)?;
        if text.contains(wanted) {
            Ok("tells of a socket of the host")
        } else {
            Err(io::Error::from_raw_os_error(libc::ENOENT))
        }
    };
    let port = format!("0100007F:{:04X}", site.tcp4);
    Tries::default()
        .escape("unix", listed("/proc/net/unix", &site.abstract_name))
        .escape("tcp", listed("/proc/self/net/tcp", &port))
        .report()
}

pub(crate) fn join_by_process(site: &Site) -> Report {
    let join = |which| {
        process::open(site.victim)
            .and_then(|victim| privilege::join(&victim, which))
            .map(|()| "was joined")
    };
    Tries::default()
        .escape("names", join(libc::CLONE_NEWUTS))
        .escape("network", join(libc::CLONE_NEWNET))
        .report()
}
