//! The kernel takes our programs, and answers as they say.

use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixDatagram, UnixListener};
use std::path::Path;

use palisade_linux_landlock::seccomp::{Arch, Filter, Instruction, Sockets, compile};
use palisade_policy::SeccompProfile;
use rustix::net::{self, AddressFamily, SocketAddrUnix, SocketType};

use crate::sys::{self, Attempt, Outcome};
use crate::{SOCKETS, number, padded, profiles};

#[cfg(target_arch = "x86_64")]
const HERE: Arch = Arch::X86_64;
#[cfg(target_arch = "aarch64")]
const HERE: Arch = Arch::Aarch64;

/// Whom to be: whoever runs the tests and, where that is root, nobody too.
fn users() -> Vec<Option<u32>> {
    if sys::is_root() {
        vec![None, Some(65534)]
    } else {
        vec![None]
    }
}

fn strict(sockets: Sockets) -> Filter {
    compile(&SeccompProfile::strict(), sockets, HERE).unwrap()
}

fn attempt(name: &str, given: &[u64]) -> Attempt {
    Attempt {
        number: i64::from(number(HERE, name)),
        args: padded(given),
    }
}

/// Lets everything through: what the kernel says without us.
const OPEN: [Instruction; 1] = [Instruction {
    code: 6,
    jt: 0,
    jf: 0,
    k: 0x7fff_0000,
}];

#[test]
fn kernel_takes_every_program() {
    for (name, profile) in profiles() {
        for sockets in SOCKETS {
            let filter = compile(&profile, sockets, HERE).unwrap();
            if profile.blocks("write") || profile.blocks("exit_group") {
                // Such a child cannot report; the model has judged the program.
                continue;
            }
            let outcome = sys::under_filter(filter.instructions(), None, &[]);
            assert_eq!(outcome, Outcome::Errnos(vec![]), "{name} {sockets:?}");
        }
    }
}

#[test]
fn strict_filter_answers_as_it_says() {
    let rows: &[(Attempt, i32)] = &[
        (attempt("unshare", &[0]), libc::EPERM),
        (attempt("keyctl", &[0, 0]), libc::EPERM),
        (attempt("bpf", &[99]), libc::EPERM),
        (attempt("io_uring_setup", &[0]), libc::EPERM),
        (attempt("ptrace", &[99]), libc::EPERM),
        (attempt("statmount", &[]), libc::EPERM),
        (attempt("personality", &[0x0004_0000]), libc::EPERM),
        (attempt("personality", &[0xffff_ffff]), 0),
        (attempt("socket", &[40, 1, 0]), libc::EPERM),
        (attempt("socket", &[38, 5, 0]), libc::EPERM),
        (attempt("ioctl", &[u64::MAX, 0x5412]), libc::EPERM),
        (attempt("ioctl", &[u64::MAX, 1 << 32 | 0x5412]), libc::EPERM),
        (attempt("ioctl", &[u64::MAX, 0x5401]), libc::EBADF),
        (attempt("clone", &[0x1000_0000 | 17]), libc::EPERM),
        // A signal that does not exist would still make a process: so an impossible combination.
        (attempt("clone", &[0x0001_0000]), libc::EINVAL),
        (attempt("clone3", &[]), libc::ENOSYS),
        (attempt("prctl", &[35]), libc::EPERM),
        (attempt("prlimit64", &[1, 7, 1]), libc::EPERM),
        (attempt("prlimit64", &[0, 7, 0, 0]), 0),
        (attempt("socketpair", &[16, 3, 0, 0]), libc::EPERM),
        (attempt("socketpair", &[1, 1, 0, 0]), libc::EFAULT),
        (
            Attempt {
                number: 470,
                args: [0; 6],
            },
            libc::ENOSYS,
        ),
        (
            Attempt {
                number: 600,
                args: [0; 6],
            },
            libc::ENOSYS,
        ),
        (
            Attempt {
                number: 0x4000_0000,
                args: [0; 6],
            },
            libc::ENOSYS,
        ),
        (
            Attempt {
                number: -1,
                args: [0; 6],
            },
            libc::ENOSYS,
        ),
    ];
    let attempts: Vec<_> = rows.iter().map(|row| row.0).collect();
    let expected: Vec<_> = rows.iter().map(|row| row.1).collect();
    for sockets in SOCKETS {
        for uid in users() {
            let outcome = sys::under_filter(strict(sockets).instructions(), uid, &attempts);
            assert_eq!(
                outcome,
                Outcome::Errnos(expected.clone()),
                "{sockets:?} {uid:?}"
            );
        }
    }
    // The control: without us the kernel says something else to most of these.
    let Outcome::Errnos(open) = sys::under_filter(&OPEN, None, &attempts[..1]) else {
        panic!("the control did not run");
    };
    assert_eq!(open, [0]);
}

#[test]
fn sockets_are_those_of_the_tier() {
    let attempts = [
        attempt("socket", &[1, 1, 0]),
        attempt("socket", &[2, 1, 0]),
        attempt("socket", &[2, 2 | 0x8_0800, 17]),
        attempt("socket", &[16, 3, 0]),
        attempt("socket", &[16, 3, 9]),
    ];
    let (yes, no) = (0, libc::EPERM);
    for (sockets, expected) in [
        (Sockets::PairsOnly, [no, no, no, no, no]),
        (Sockets::OwnNetwork, [yes, yes, yes, yes, no]),
        (Sockets::HostNetwork, [yes, no, no, no, no]),
    ] {
        for uid in users() {
            let outcome = sys::under_filter(strict(sockets).instructions(), uid, &attempts);
            let expected = Outcome::Errnos(expected.to_vec());
            assert_eq!(outcome, expected, "{sockets:?} {uid:?}");
        }
    }
}

#[test]
fn others_cannot_be_scheduled_without_namespaces() {
    let attempts = [
        attempt("setpriority", &[0, 0, 19]),
        attempt("setpriority", &[0, 1, 19]),
        attempt("setpriority", &[2, 0, 19]),
        attempt("sched_setscheduler", &[1, 0, 0]),
        attempt("shmget", &[0, 4096, 0]),
        attempt("mq_unlink", &[0]),
    ];
    let no = libc::EPERM;
    for uid in users() {
        let filter = strict(Sockets::PairsOnly);
        let outcome = sys::under_filter(filter.instructions(), uid, &attempts);
        assert_eq!(outcome, Outcome::Errnos(vec![0, no, no, no, no, no]));
    }
}

fn listen_for_packets(path: &Path) -> OwnedFd {
    let socket = net::socket(AddressFamily::UNIX, SocketType::SEQPACKET, None).unwrap();
    net::bind(&socket, &SocketAddrUnix::new(path).unwrap()).unwrap();
    net::listen(&socket, 4).unwrap();
    socket
}

#[test]
fn pair_reaches_no_path() {
    let directory = tempfile::tempdir().unwrap();
    let (stream, datagram) = (directory.path().join("s"), directory.path().join("d"));
    let packets = directory.path().join("p");
    let _listener = UnixListener::bind(&stream).unwrap();
    let _packets = listen_for_packets(&packets);
    let receiver = UnixDatagram::bind(&datagram).unwrap();
    receiver.set_nonblocking(true).unwrap();
    let filter = strict(Sockets::PairsOnly);
    let reach = |filter: &[Instruction], kind, path: &Path| {
        sys::pair_reaches(filter, kind, path.to_str().unwrap())
    };
    // Without the filter, a datagram pair does reach: that is why it is refused.
    let open = reach(&OPEN, libc::SOCK_DGRAM, &datagram);
    assert_eq!(open, Outcome::Errnos(vec![0, 0, 0]));
    assert!(receiver.recv(&mut [0]).is_ok());
    for kind in [libc::SOCK_DGRAM, libc::SOCK_RAW] {
        let Outcome::Errnos(errnos) = reach(filter.instructions(), kind, &datagram) else {
            panic!("the child died");
        };
        assert_eq!(errnos[0], libc::EPERM);
    }
    assert!(receiver.recv(&mut [0]).is_err(), "a datagram arrived");
    // A connected pair works, and reaches nothing.
    for kind in [libc::SOCK_STREAM, libc::SOCK_SEQPACKET] {
        for path in [&stream, &packets, &datagram] {
            let Outcome::Errnos(errnos) = reach(filter.instructions(), kind, path) else {
                panic!("the child died");
            };
            assert_eq!(errnos[0], 0);
            assert_ne!(errnos[1], 0, "connected");
        }
    }
    assert!(receiver.recv(&mut [0]).is_err(), "a datagram arrived");
}

#[test]
#[cfg(target_arch = "x86_64")]
fn foreign_architecture_dies() {
    // getpid of 32-bit x86.
    if sys::int80_under_filter(&OPEN, 20) != Outcome::Errnos(vec![0]) {
        println!("skipped: this kernel has no 32-bit calls");
        return;
    }
    let filter = strict(Sockets::OwnNetwork);
    let outcome = sys::int80_under_filter(filter.instructions(), 20);
    assert_eq!(outcome, Outcome::Signal(libc::SIGSYS));
}

#[test]
fn logging_filter_refuses_nothing() {
    let filter = compile(&SeccompProfile::logging(), Sockets::PairsOnly, HERE).unwrap();
    let attempts = [attempt("unshare", &[0]), attempt("socket", &[1, 1, 0])];
    let outcome = sys::under_filter(filter.instructions(), None, &attempts);
    assert_eq!(outcome, Outcome::Errnos(vec![0, 0]));
}
