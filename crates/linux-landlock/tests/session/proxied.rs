//! The socket that a proxy of the caller's listens on: the only way out of a session, and reached from nowhere else.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsRawFd as _;
use std::thread::JoinHandle;
use std::time::Duration;

use palisade_linux_landlock::plan::{NetworkNamespace, PROXY};
use palisade_linux_landlock::survey::{self, SurveyOptions};
use palisade_linux_landlock::{LinuxLandlock, Plan, Session, Tier, private_places};
use palisade_policy::{
    AcceptedLosses, Backend as _, CanonicalSandboxPolicy, NetworkAllowlistEntry,
};

use crate::support::{Stage, start};

fn plan(stage: &Stage) -> Plan {
    let listed = NetworkAllowlistEntry::https("docs.example.com").unwrap();
    let policy = CanonicalSandboxPolicy::workspace_write_with_network([stage.root()], [listed]);
    let mut host = stage.host(Tier::Full).with_proxy();
    let context = stage.context().with_private(private_places(&host));
    let policy = policy.resolve(&context).unwrap();
    survey::look(&mut host, &policy, &SurveyOptions::launch());
    let lowered = LinuxLandlock.lower(&policy, &host).unwrap();
    // No loss is accepted: with a proxy there is none.
    lowered.admit(&AcceptedLosses::none()).unwrap().0
}

fn session(stage: &Stage) -> (Session, TcpListener) {
    let plan = plan(stage);
    assert_eq!(plan.network, NetworkNamespace::Proxied);
    let mut session = start(&plan).unwrap();
    let listener = session.take_proxy_listener().unwrap();
    assert!(session.take_proxy_listener().is_none());
    (session, listener)
}

/// Answers one connection with what it said, backwards.
fn answer_one(listener: TcpListener) -> JoinHandle<TcpListener> {
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut said = [0; 5];
        stream.read_exact(&mut said).unwrap();
        said.reverse();
        stream.write_all(&said).unwrap();
        listener
    })
}

const SAY: &str = "exec 3<>/dev/tcp/127.0.0.1/3128 && printf hello >&3 && head -c 5 <&3";

#[test]
fn whoever_starts_a_session_accepts_from_inside_it() {
    let stage = Stage::new();
    let (session, listener) = session(&stage);
    assert_eq!(listener.local_addr().unwrap(), PROXY.into());
    let served = answer_one(listener);
    let said = stage.run(&session, &format!("bash -c '{SAY}'"));
    assert_eq!(said.assert_success().text, "olleh");
    drop(served.join().unwrap());
    // Whose proxy is gone reaches nobody, at once.
    let gone = stage.run(&session, &format!("bash -c '{SAY}'"));
    assert!(gone.text.contains("refused"), "{gone:?}");
    // It is not the host's loopback.
    let control = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = control.local_addr().unwrap().port();
    assert!(
        TcpStream::connect_timeout(&control.local_addr().unwrap(), Duration::from_secs(5)).is_ok()
    );
    let outside = stage.run(
        &session,
        &format!("bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}'"),
    );
    assert!(outside.text.contains("refused"), "{outside:?}");
    session.end();
}

#[test]
fn no_command_gets_the_listener_or_its_place() {
    let stage = Stage::new();
    let (session, listener) = session(&stage);
    let number = listener.as_raw_fd();
    let inherited = stage.run(&session, "ls /proc/self/fd | wc -l; ls -l /proc/$$/fd");
    assert!(
        !inherited.text.contains("socket:"),
        "{number} {inherited:?}"
    );
    if !std::path::Path::new("/usr/bin/python3").exists() {
        #[expect(clippy::print_stderr, reason = "a test says what it skips")]
        {
            eprintln!("skipped: there is no python3 to bind with");
        }
        return;
    }
    let bind = "
import socket
for address in ('127.0.0.1', '0.0.0.0', '127.0.0.2'):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    try:
        s.bind((address, 3128))
        s.listen()
        print(address, 'taken')
    except OSError as e:
        print(address, e.strerror)
";
    std::fs::write(stage.workspace.join("bind.py"), bind).unwrap();
    let bound = stage.run(&session, "/usr/bin/python3 bind.py");
    // Another address of the loopback is another place, and nobody is told to go there.
    assert_eq!(
        bound.text,
        "127.0.0.1 Address already in use\n0.0.0.0 Address already in use\n127.0.0.2 taken\n"
    );
    drop(listener);
    session.end();
}
