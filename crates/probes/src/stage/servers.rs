//! Servers of the stage: whoever reaches one is noticed, and told the secret.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, Ipv6Addr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::remains::has_started;
use crate::sys::net::{METADATA, send_fd};
use crate::sys::sockets::{accept, listen_for_packets};

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

/// A socket file that was moved after it was bound.
const RENAMED: &str = "outside/renamed.sock";
/// One that was moved to another directory.
const MOVED: &str = "late/moved.sock";
/// Where a socket appears after the launch, below the stage's directory; nobody looks for changes there.
const LATE: &str = "late/service.sock";
/// How long after the subject was first seen that is: it must be set up by then.
const LATE_AFTER: Duration = Duration::from_millis(250);

/// One thread that looks after all of them.
#[derive(Debug)]
pub(super) struct Servers {
    pub(super) late: PathBuf,
    pub(super) knock: u16,
    late_wanted: Arc<AtomicBool>,
    knock_wanted: Arc<AtomicBool>,
    pub(super) tcp4: u16,
    pub(super) tcp6: u16,
    pub(super) metadata: u16,
    pub(super) udp4: u16,
    pub(super) udp6: u16,
    pub(super) abstract_name: String,
    /// Where to ask who came; gone when nobody asks any more.
    questions: Option<Sender<Question>>,
    thread: Option<JoinHandle<()>>,
}

/// Where the answer goes.
type Question = Sender<Vec<String>>;

/// How long nobody is looked for, unless somebody asks.
const ROUND: Duration = Duration::from_millis(3);

/// All that is listened on.
struct Ears {
    tcp: Vec<TcpListener>,
    udp: Vec<UdpSocket>,
    unix: Vec<(String, UnixListener)>,
    packets: OwnedFd,
    logs: [UnixDatagram; 2],
    pipe: File,
    /// A port that nobody serves: who listens there came later.
    knock: u16,
    knock_wanted: Arc<AtomicBool>,
    late: Late,
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
        // The kernel goes on to list them under their old name.
        let bound = root.join("outside/bound.sock");
        for name in [RENAMED, MOVED] {
            unix.push((name.to_owned(), UnixListener::bind(&bound)?));
            fs::rename(&bound, root.join(name))?;
        }
        let abstract_name = format!("palisade-stage-{token}");
        let address = SocketAddr::from_abstract_name(&abstract_name)?;
        unix.push((
            "the abstract socket".to_owned(),
            UnixListener::bind_addr(&address)?,
        ));
        let late_wanted = Arc::new(AtomicBool::new(false));
        let knock = quiet_port(token);
        let knock_wanted = Arc::new(AtomicBool::new(false));
        let late = Late {
            path: root.join(LATE),
            token: token.to_owned(),
            wanted: Arc::clone(&late_wanted),
            seen: None,
            listener: None,
        };
        let ears = Ears {
            tcp: std::iter::once(tcp4).chain(tcp6).chain(metadata).collect(),
            udp: std::iter::once(udp4).chain(udp6).collect(),
            unix,
            packets: listen_for_packets(&root.join("outside/packets.sock"))?,
            logs: [
                UnixDatagram::bind(root.join("outside/log"))?,
                UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(log_name(
                    &abstract_name,
                ))?)?,
            ],
            // For both, so that it stays open when a writer leaves.
            pipe: OpenOptions::new()
                .read(true)
                .write(true)
                .custom_flags(libc::O_NONBLOCK)
                .open(root.join("outside/pipe"))?,
            knock,
            knock_wanted: Arc::clone(&knock_wanted),
            late,
            giver: UnixListener::bind(root.join("outside/giver.sock"))?,
            given: OpenOptions::new()
                .write(true)
                .open(root.join("outside/given"))?,
            secret: secret.to_owned(),
        };
        ears.never_wait()?;
        let (questions, asked) = channel();
        let thread = thread::Builder::new()
            .name("stage".to_owned())
            .spawn(move || ears.serve(&asked))?;
        Ok(Self {
            late: root.join(LATE),
            knock,
            knock_wanted,
            late_wanted,
            tcp4: port4,
            tcp6: port6,
            metadata: port_metadata,
            udp4: port_udp4,
            udp6: port_udp6,
            abstract_name,
            questions: Some(questions),
            thread: Some(thread),
        })
    }

    /// Asks for the socket that appears after the launch.
    pub(super) fn want_late(&self) {
        self.late_wanted.store(true, Ordering::Relaxed);
    }

    /// Asks for somebody who tries the port that nobody serves.
    pub(super) fn want_knock(&self) {
        self.knock_wanted.store(true, Ordering::Relaxed);
    }

    /// Who came, at the last moment too: whoever answers has looked everywhere since this was asked.
    pub(super) fn heard(&self) -> Vec<String> {
        let (answer, answers) = channel();
        let asked = self.questions.as_ref().map(|to| to.send(answer));
        match (asked, answers.recv()) {
            (Some(Ok(())), Ok(heard)) => heard,
            // Nobody can say that nothing happened.
            _ => vec!["the servers of the stage are gone".to_owned()],
        }
    }
}

/// The name of the abstract socket for datagrams, beside that for streams.
pub(crate) fn log_name(abstract_name: &str) -> String {
    format!("{abstract_name}-log")
}

/// A port below those that kernels hand out, by chance another one for each stage.
fn quiet_port(token: &str) -> u16 {
    let chance = token
        .get(..4)
        .and_then(|text| u16::from_str_radix(text, 16).ok());
    20_000 + chance.unwrap_or_default() % 10_000
}

/// A socket that is bound when the subject already runs.
struct Late {
    path: PathBuf,
    token: String,
    wanted: Arc<AtomicBool>,
    seen: Option<Instant>,
    listener: Option<UnixListener>,
}

impl Late {
    fn listener(&mut self) -> Option<&UnixListener> {
        if self.listener.is_none() && self.wanted.load(Ordering::Relaxed) {
            if self.seen.is_none() && has_started(&self.token) {
                self.seen = Some(Instant::now());
            }
            if self.seen.is_some_and(|seen| seen.elapsed() > LATE_AFTER) {
                // Whoever the probe runs as may connect.
                self.listener = UnixListener::bind(&self.path)
                    .and_then(|listener| {
                        listener.set_nonblocking(true)?;
                        fs::set_permissions(&self.path, Permissions::from_mode(0o777))?;
                        Ok(listener)
                    })
                    .ok();
                self.wanted
                    .store(self.listener.is_none(), Ordering::Relaxed);
            }
        }
        self.listener.as_ref()
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        self.questions = None;
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
        self.logs
            .iter()
            .try_for_each(|at| at.set_nonblocking(true))?;
        self.giver.set_nonblocking(true)
    }

    /// Looks after all of them until nobody can ask any more.
    fn serve(mut self, questions: &Receiver<Question>) {
        let mut heard = Vec::new();
        loop {
            let asked = questions.recv_timeout(ROUND);
            if matches!(asked, Err(RecvTimeoutError::Disconnected)) {
                return;
            }
            heard.extend(self.listen());
            if let Ok(answer) = asked {
                let _ = answer.send(heard.clone());
            }
        }
    }

    /// Answers whoever came since the last time. An answer is a few bytes, which no socket makes wait.
    fn listen(&mut self) -> Vec<String> {
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
        for log in &self.logs {
            if log.recv_from(&mut message).is_ok() {
                heard.push("a line for the log".to_owned());
            }
        }
        if let Ok(peer) = accept(&self.packets) {
            let _ = File::from(peer).write_all(secret);
            heard.push("a connection for packets".to_owned());
        }
        if matches!(self.pipe.read(&mut message), Ok(1..)) {
            heard.push("a line in the pipe".to_owned());
        }
        if self.knock_wanted.load(Ordering::Relaxed)
            && TcpStream::connect((Ipv4Addr::LOCALHOST, self.knock)).is_ok()
        {
            heard.push(format!("somebody listens on port {}", self.knock));
        }
        if let Some(late) = self.late.listener()
            && let Ok((mut stream, _)) = late.accept()
        {
            let _ = stream.write_all(secret);
            heard.push("a connection to a socket that was bound later".to_owned());
        }
        if let Ok((stream, _)) = self.giver.accept() {
            let _ = send_fd(&stream, self.given.as_fd());
            heard.push("a connection to what hands out descriptors".to_owned());
        }
        heard
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stage::{layout, random_name, remains};

    #[test]
    fn who_comes_at_the_last_moment_is_heard() {
        let token = random_name().unwrap();
        let root = std::env::temp_dir().join(format!("palisade-servers-{token}"));
        layout::make(&root, "secret").unwrap();
        for directory in ["user", "dbus"] {
            fs::create_dir_all(root.join(directory)).unwrap();
        }
        let servers = Servers::start(&root, &root, &token, "secret", false).unwrap();
        for came in 1..=50 {
            let _stream = TcpStream::connect((Ipv4Addr::LOCALHOST, servers.tcp4)).unwrap();
            assert_eq!(servers.heard().len(), came);
        }
        remains::remove(&root);
    }
}
