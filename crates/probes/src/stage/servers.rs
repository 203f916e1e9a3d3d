//! Servers of the stage: whoever reaches one is noticed, and told the secret.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::net::{Ipv4Addr, Ipv6Addr, TcpListener, UdpSocket};
use std::os::fd::AsFd as _;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::sys::net::{METADATA, send_fd};

/// Socket files that answer, below the stage's directory and below the one for services.
const BELOW_ROOT: [&str; 5] = [
    "outside/service.sock",
    "outside/agent.sock",
    "outside/editor.sock",
    "outside/X11-unix/X0",
    "home/.ssh/master.sock",
];
const BELOW_RUN: [&str; 5] = [
    "docker.sock",
    "user/bus",
    "user/wayland-0",
    "dbus/system_bus_socket",
    "snapd.socket",
];

/// One thread that looks after all of them.
#[derive(Debug)]
pub(super) struct Servers {
    pub(super) tcp4: u16,
    pub(super) tcp6: u16,
    pub(super) metadata: u16,
    pub(super) udp4: u16,
    pub(super) udp6: u16,
    pub(super) abstract_name: String,
    heard: Arc<Mutex<Vec<String>>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// All that is listened on.
struct Ears {
    tcp: Vec<TcpListener>,
    udp: Vec<UdpSocket>,
    unix: Vec<(String, UnixListener)>,
    log: UnixDatagram,
    giver: UnixListener,
    given: File,
    secret: String,
}

impl Servers {
    pub(super) fn start(
        root: &Path,
        run: &Path,
        token: &str,
        secret: &str,
        own_network: bool,
    ) -> io::Result<Self> {
        let tcp4 = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let udp4 = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        // A host may be without IPv6.
        let tcp6 = TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).ok();
        let udp6 = UdpSocket::bind((Ipv6Addr::LOCALHOST, 0)).ok();
        let port = |address: io::Result<std::net::SocketAddr>| address.map(|at| at.port());
        let (port4, port_udp4) = (port(tcp4.local_addr())?, port(udp4.local_addr())?);
        let port6 = tcp6.as_ref().map_or(Ok(0), |at| port(at.local_addr()))?;
        let port_udp6 = udp6.as_ref().map_or(Ok(0), |at| port(at.local_addr()))?;

        let metadata = own_network
            .then(|| TcpListener::bind((METADATA, 0)))
            .transpose()?;
        let port_metadata = metadata
            .as_ref()
            .map_or(Ok(0), |at| port(at.local_addr()))?;

        let mut unix = Vec::new();
        for (base, names) in [(root, BELOW_ROOT), (run, BELOW_RUN)] {
            for name in names {
                unix.push((name.to_owned(), UnixListener::bind(base.join(name))?));
            }
        }
        let abstract_name = format!("palisade-stage-{token}");
        let address = SocketAddr::from_abstract_name(&abstract_name)?;
        unix.push((
            "the abstract socket".to_owned(),
            UnixListener::bind_addr(&address)?,
        ));
        let ears = Ears {
            tcp: std::iter::once(tcp4).chain(tcp6).chain(metadata).collect(),
            udp: std::iter::once(udp4).chain(udp6).collect(),
            unix,
            log: UnixDatagram::bind(root.join("outside/log"))?,
            giver: UnixListener::bind(root.join("outside/giver.sock"))?,
            given: OpenOptions::new()
                .write(true)
                .open(root.join("outside/given"))?,
            secret: secret.to_owned(),
        };
        ears.never_wait()?;
        let heard = Arc::new(Mutex::new(Vec::new()));
        let stop = Arc::new(AtomicBool::new(false));
        let (noted, stopped) = (Arc::clone(&heard), Arc::clone(&stop));
        let thread = thread::Builder::new()
            .name("stage".to_owned())
            .spawn(move || {
                while !stopped.load(Ordering::Relaxed) {
                    for what in ears.listen() {
                        noted
                            .lock()
                            .unwrap_or_else(PoisonError::into_inner)
                            .push(what);
                    }
                    thread::sleep(Duration::from_millis(3));
                }
            })?;
        Ok(Self {
            tcp4: port4,
            tcp6: port6,
            metadata: port_metadata,
            udp4: port_udp4,
            udp6: port_udp6,
            abstract_name,
            heard,
            stop,
            thread: Some(thread),
        })
    }

    /// Who came.
    pub(super) fn heard(&self) -> Vec<String> {
        // What was sent at the last moment is noticed in the next round.
        thread::sleep(Duration::from_millis(10));
        self.heard
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Ears {
    fn never_wait(&self) -> io::Result<()> {
        self.tcp
            .iter()
            .try_for_each(|at| at.set_nonblocking(true))?;
        self.udp
            .iter()
            .try_for_each(|at| at.set_nonblocking(true))?;
        self.unix
            .iter()
            .try_for_each(|(_, at)| at.set_nonblocking(true))?;
        self.log.set_nonblocking(true)?;
        self.giver.set_nonblocking(true)
    }

    /// Answers whoever came since the last time. An answer is a few bytes, which no socket makes wait.
    fn listen(&self) -> Vec<String> {
        let mut heard = Vec::new();
        let secret = self.secret.as_bytes();
        for at in &self.tcp {
            if let Ok((mut stream, from)) = at.accept() {
                let _ = stream.write_all(secret);
                heard.push(format!("a TCP connection from {from}"));
            }
        }
        let mut message = [0_u8; 512];
        for at in &self.udp {
            if let Ok((_, from)) = at.recv_from(&mut message) {
                let _ = at.send_to(secret, from);
                heard.push(format!("a datagram from {from}"));
            }
        }
        for (name, at) in &self.unix {
            if let Ok((mut stream, _)) = at.accept() {
                let _ = stream.write_all(secret);
                heard.push(format!("a connection to {name}"));
            }
        }
        if self.log.recv_from(&mut message).is_ok() {
            heard.push("a line for the log".to_owned());
        }
        if let Ok((stream, _)) = self.giver.accept() {
            let _ = send_fd(&stream, self.given.as_fd());
            heard.push("a connection to what hands out descriptors".to_owned());
        }
        heard
    }
}
