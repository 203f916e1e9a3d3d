//! What must come out, call by call: written from what each rule is for, not from the rules.

use palisade_linux_landlock::seccomp::model::{Verdict, run};
use palisade_linux_landlock::seccomp::{Arch, Namespaces, Sockets, compile, compile_for};
use palisade_policy::{SeccompProfile, SyscallName};

use crate::{ARCHES, SOCKETS, bare, call, number, padded};

const ALLOW: Verdict = Verdict::Allow;
const EPERM: Verdict = Verdict::Errno(1);
const ENOSYS: Verdict = Verdict::Errno(38);

const HIGH: u64 = 1 << 32;
const UNIX: u64 = 1;
const INET: u64 = 2;
const INET6: u64 = 10;
const NETLINK: u64 = 16;
const VSOCK: u64 = 40;
const STREAM: u64 = 1;
const DGRAM: u64 = 2;
const RAW: u64 = 3;
const SEQPACKET: u64 = 5;
const NONBLOCK: u64 = 0x800;
const CLOEXEC: u64 = 0x8_0000;

fn expect(profile: &SeccompProfile, sockets: Sockets, rows: &[(&str, &[u64], Verdict)]) {
    for arch in ARCHES {
        let filter = compile(profile, sockets, arch).unwrap();
        for (name, given, verdict) in rows {
            let data = call(arch, number(arch, name), padded(given));
            let ran = run(filter.instructions(), &data).unwrap();
            assert_eq!(ran, *verdict, "{sockets:?} {arch:?} {name}({given:x?})");
        }
    }
}

#[test]
fn strict_in_every_tier() {
    for sockets in SOCKETS {
        expect(
            &SeccompProfile::strict(),
            sockets,
            &[
                ("read", &[], ALLOW),
                ("execve", &[], ALLOW),
                ("landlock_restrict_self", &[], ALLOW),
                ("seccomp", &[1, 8], ALLOW),
                ("memfd_create", &[], ALLOW),
                ("unshare", &[0], EPERM),
                ("setns", &[], EPERM),
                ("keyctl", &[], EPERM),
                ("mount", &[], EPERM),
                ("open_tree_attr", &[], EPERM),
                ("statmount", &[], EPERM),
                ("io_uring_setup", &[], EPERM),
                ("clone3", &[], ENOSYS),
                // A thread, a process, and one for each namespace.
                ("clone", &[0x003d_0f00], ALLOW),
                ("clone", &[17], ALLOW),
                ("clone", &[17 | 0x80], ALLOW),
                ("clone", &[0x0002_0000 | 17], EPERM),
                ("clone", &[0x0200_0000 | 17], EPERM),
                ("clone", &[0x0400_0000 | 17], EPERM),
                ("clone", &[0x0800_0000 | 17], EPERM),
                ("clone", &[0x1000_0000 | 17], EPERM),
                ("clone", &[0x2000_0000 | 17], EPERM),
                ("clone", &[0x4000_0000 | 17], EPERM),
                ("clone", &[HIGH | 0x1000_0000], EPERM),
                ("ioctl", &[0, 0x5401], ALLOW),
                ("ioctl", &[0, 0x5412], EPERM),
                ("ioctl", &[0, HIGH | 0x5412], EPERM),
                ("ioctl", &[0, 0xffff_ffff_0000_541c], EPERM),
                ("prctl", &[22], ALLOW),
                ("prctl", &[38, 1], ALLOW),
                ("prctl", &[35], EPERM),
                ("prctl", &[HIGH | 62], EPERM),
                ("personality", &[0xffff_ffff], ALLOW),
                ("personality", &[u64::MAX], ALLOW),
                ("personality", &[0], ALLOW),
                ("personality", &[0x0004_0000], EPERM),
                ("personality", &[8], EPERM),
                ("prlimit64", &[0, 7, 0x7fff_0000], ALLOW),
                ("prlimit64", &[HIGH, 7, 0x7fff_0000], ALLOW),
                ("prlimit64", &[77, 7, 0], ALLOW),
                ("prlimit64", &[77, 7, 0x7fff_0000], EPERM),
                ("prlimit64", &[77, 7, HIGH], EPERM),
                ("socketpair", &[UNIX, STREAM | CLOEXEC], ALLOW),
                ("socketpair", &[UNIX, SEQPACKET | NONBLOCK], ALLOW),
                ("socketpair", &[30, STREAM], EPERM),
                ("socket", &[VSOCK, STREAM], EPERM),
                ("socket", &[NETLINK, RAW, 9], EPERM),
                ("socket", &[INET, RAW, 1], EPERM),
            ],
        );
    }
}

#[test]
fn pairs_only() {
    expect(
        &SeccompProfile::strict().with_network(),
        Sockets::PairsOnly,
        &[
            ("socket", &[UNIX, STREAM], EPERM),
            ("socket", &[INET, STREAM], EPERM),
            ("socket", &[NETLINK, RAW, 0], EPERM),
            // One end of such a pair sends to any path.
            ("socketpair", &[UNIX, DGRAM], EPERM),
            ("socketpair", &[UNIX, DGRAM | CLOEXEC], EPERM),
            ("socketpair", &[UNIX, RAW], EPERM),
            ("sched_setaffinity", &[0], ALLOW),
            ("sched_setaffinity", &[77], EPERM),
            ("sched_setattr", &[77], EPERM),
            ("sched_setparam", &[77], EPERM),
            ("sched_setscheduler", &[77], EPERM),
            ("sched_getaffinity", &[77], ALLOW),
            ("setpriority", &[0, 0, 5], ALLOW),
            ("setpriority", &[1, 0, 5], ALLOW),
            ("setpriority", &[0, 77, 5], EPERM),
            // Every process of the user.
            ("setpriority", &[2, 0, 5], EPERM),
            ("ioprio_set", &[1, 0], ALLOW),
            ("ioprio_set", &[1, 77], EPERM),
            ("ioprio_set", &[3, 0], EPERM),
            ("shmget", &[], EPERM),
            ("shmat", &[], EPERM),
            ("semop", &[], EPERM),
            ("msgrcv", &[], EPERM),
            ("mq_open", &[], EPERM),
            ("mq_unlink", &[], EPERM),
            ("futex", &[], ALLOW),
        ],
    );
}

const INTERNET: &[(&str, &[u64], Verdict)] = &[
    ("socket", &[UNIX, SEQPACKET], ALLOW),
    ("socket", &[UNIX, DGRAM | CLOEXEC], ALLOW),
    ("socketpair", &[UNIX, DGRAM], ALLOW),
    ("socket", &[INET, STREAM | CLOEXEC | NONBLOCK], ALLOW),
    ("socket", &[INET, STREAM, 6], ALLOW),
    ("socket", &[INET6, STREAM, 262], ALLOW),
    ("socket", &[INET6, DGRAM, 17], ALLOW),
    ("socket", &[HIGH | INET, HIGH | STREAM, HIGH | 6], ALLOW),
    ("socket", &[NETLINK, RAW | CLOEXEC, 0], ALLOW),
    ("socket", &[NETLINK, DGRAM, 0], ALLOW),
    ("socket", &[NETLINK, DGRAM, 4], EPERM),
    ("socket", &[NETLINK, STREAM, 0], EPERM),
    // Ping, SCTP, UDP-Lite, SMC.
    ("socket", &[INET, DGRAM, 1], EPERM),
    ("socket", &[INET6, DGRAM, 58], EPERM),
    ("socket", &[INET, STREAM, 132], EPERM),
    ("socket", &[INET, SEQPACKET, 132], EPERM),
    ("socket", &[INET, DGRAM, 136], EPERM),
    ("socket", &[INET, STREAM, 256], EPERM),
    // SOCK_PACKET, which the kernel turns into AF_PACKET; a flag that does not exist.
    ("socket", &[INET, 10], EPERM),
    ("socket", &[INET, 0x10 | STREAM], EPERM),
    // Packet, ALG, Bluetooth, CAN, TIPC, SMC, XDP, MCTP, unspecified.
    ("socket", &[17, RAW], EPERM),
    ("socket", &[38, SEQPACKET], EPERM),
    ("socket", &[31, RAW], EPERM),
    ("socket", &[29, RAW], EPERM),
    ("socket", &[30, STREAM], EPERM),
    ("socket", &[43, STREAM], EPERM),
    ("socket", &[44, RAW], EPERM),
    ("socket", &[45, DGRAM], EPERM),
    ("socket", &[0, STREAM], EPERM),
    ("shmget", &[], ALLOW),
    ("sched_setaffinity", &[77], ALLOW),
    ("setpriority", &[2, 0], ALLOW),
];

#[test]
fn with_a_network() {
    // Whether the profile opens the host's network changes nothing in a network of its own.
    let strict = SeccompProfile::strict();
    expect(&strict, Sockets::OwnNetwork, INTERNET);
    expect(
        &strict.clone().with_network(),
        Sockets::OwnNetwork,
        INTERNET,
    );
    expect(&strict.with_network(), Sockets::HostNetwork, INTERNET);
}

#[test]
fn host_network_that_the_profile_does_not_open() {
    expect(
        &bare(),
        Sockets::HostNetwork,
        &[
            ("socket", &[UNIX, STREAM], ALLOW),
            ("socket", &[INET, STREAM], EPERM),
            ("socket", &[INET6, DGRAM], EPERM),
            ("socket", &[NETLINK, RAW, 0], EPERM),
            ("io_uring_setup", &[], EPERM),
        ],
    );
}

#[test]
fn profile_that_blocks_nothing_still_keeps_the_tier() {
    for sockets in SOCKETS {
        expect(
            &bare(),
            sockets,
            &[
                ("unshare", &[0], ALLOW),
                ("unshare", &[0x400], ALLOW),
                ("unshare", &[0x1000_0000], EPERM),
                ("unshare", &[0x80], EPERM),
                ("unshare", &[HIGH | 0x0002_0000], EPERM),
                ("setns", &[], EPERM),
                ("clone", &[0x1000_0000], EPERM),
                ("clone3", &[], ENOSYS),
                ("io_uring_setup", &[], EPERM),
                ("personality", &[8], ALLOW),
                ("ptrace", &[], ALLOW),
            ],
        );
    }
    expect(
        &bare().with_network(),
        Sockets::HostNetwork,
        &[("io_uring_setup", &[], ALLOW)],
    );
}

#[test]
fn namespaces_where_they_are_allowed() {
    expect(
        &SeccompProfile::permissive(),
        Sockets::HostNetwork,
        &[
            ("clone", &[0x1000_0000], ALLOW),
            ("unshare", &[0x1000_0000], ALLOW),
            ("setns", &[], ALLOW),
            ("clone3", &[], ENOSYS),
            ("mount", &[], ALLOW),
            ("io_uring_setup", &[], ALLOW),
            ("ptrace", &[], EPERM),
            ("reboot", &[], EPERM),
        ],
    );
}

#[test]
fn what_a_profile_blocks_is_blocked_outright() {
    let names = ["socket", "socketpair", "clone", "clone3", "prctl", "ioctl"];
    let profile = bare().with_blocked(names.map(|name| SyscallName::new(name).unwrap()));
    expect(
        &profile,
        Sockets::OwnNetwork,
        &[
            ("socket", &[UNIX, STREAM], EPERM),
            ("socketpair", &[UNIX, STREAM], EPERM),
            ("clone", &[17], EPERM),
            ("clone3", &[], ENOSYS),
            ("prctl", &[22], EPERM),
            ("ioctl", &[0, 0x5401], EPERM),
        ],
    );
}

#[test]
fn denials_are_logged_where_nothing_is_enforced() {
    expect(
        &SeccompProfile::logging(),
        Sockets::PairsOnly,
        &[
            ("keyctl", &[], Verdict::Log),
            ("socket", &[UNIX, STREAM], Verdict::Log),
            ("ioctl", &[0, 0x5412], Verdict::Log),
            ("clone3", &[], ALLOW),
            ("clone", &[0x1000_0000], Verdict::Log),
            ("read", &[], ALLOW),
        ],
    );
}

#[test]
fn without_namespaces_on_an_open_network() {
    let network = SeccompProfile::strict().with_network();
    for arch in ARCHES {
        let host = Namespaces::Host;
        let filter = compile_for(&network, Sockets::HostNetwork, host, arch).unwrap();
        for (name, args, verdict) in [
            ("socket", [INET, STREAM, 0, 0, 0, 0], ALLOW),
            ("socket", [NETLINK, RAW, 0, 0, 0, 0], ALLOW),
            ("socket", [VSOCK, STREAM, 0, 0, 0, 0], EPERM),
            // Nothing masks the container engine's socket here.
            ("socket", [UNIX, STREAM, 0, 0, 0, 0], EPERM),
            ("socketpair", [UNIX, STREAM, 0, 0, 0, 0], ALLOW),
            ("socketpair", [UNIX, DGRAM, 0, 0, 0, 0], EPERM),
            ("shmget", [0; 6], EPERM),
            ("setpriority", [0, 77, 0, 0, 0, 0], EPERM),
        ] {
            let data = call(arch, number(arch, name), args);
            let ran = run(filter.instructions(), &data);
            assert_eq!(ran, Ok(verdict), "{name}({args:?})");
        }
        // A ring would open that socket, whatever the profile says.
        let ring = bare().with_network();
        let filter = compile_for(&ring, Sockets::HostNetwork, host, arch).unwrap();
        let data = call(arch, number(arch, "io_uring_setup"), [0; 6]);
        assert_eq!(run(filter.instructions(), &data), Ok(EPERM));
        // Nothing at all where the profile contradicts the tier.
        let strict = SeccompProfile::strict();
        let filter = compile_for(&strict, Sockets::HostNetwork, host, arch).unwrap();
        for family in [UNIX, INET, NETLINK] {
            let socket = call(arch, number(arch, "socket"), [family, STREAM, 0, 0, 0, 0]);
            assert_eq!(run(filter.instructions(), &socket), Ok(EPERM), "{family}");
        }
    }
}

#[test]
fn numbers_that_nobody_has_looked_at() {
    for sockets in SOCKETS {
        for (_, profile) in crate::profiles() {
            if profile.log_only {
                continue;
            }
            for arch in ARCHES {
                let filter = compile(&profile, sockets, arch).unwrap();
                // Above the ceiling, in a hole, x32 (plain and in its old range), -1.
                for nr in [470, 600, 400, 0x4000_0000, 0x4000_0200, 512, 520, u32::MAX] {
                    let data = call(arch, nr, [0; 6]);
                    assert_eq!(run(filter.instructions(), &data), Ok(ENOSYS), "{nr:#x}");
                }
                for audit in [0, 0x4000_0003, 0x4000_0028, 0xc000_00f3] {
                    let mut data = call(arch, 0, [0; 6]);
                    data.arch = audit;
                    let ran = run(filter.instructions(), &data);
                    assert_eq!(ran, Ok(Verdict::KillProcess), "{audit:#x}");
                }
            }
        }
    }
}

#[test]
fn each_processor_kills_the_other() {
    let strict = SeccompProfile::strict();
    for (here, there) in [(Arch::X86_64, Arch::Aarch64), (Arch::Aarch64, Arch::X86_64)] {
        let filter = compile(&strict, Sockets::OwnNetwork, here).unwrap();
        let ran = run(filter.instructions(), &call(there, 0, [0; 6]));
        assert_eq!(ran, Ok(Verdict::KillProcess));
    }
}
