//! What is judged by its arguments, as data.

use super::rules::Action::{Allow, Eperm};
use super::rules::{Argument, Clause, Decision, Named, Test};

const fn argument(index: u8, name: &'static str) -> Argument {
    Argument {
        index,
        name,
        mask: u32::MAX,
    }
}

/// The flags of `clone` that make a namespace: all but `CLONE_NEWTIME`, whose bit is part of the exit signal there.
const CLONE_NAMESPACES: u32 = 0x7e02_0000;
/// The same for `unshare`, with `CLONE_NEWTIME`.
const UNSHARE_NAMESPACES: u32 = CLONE_NAMESPACES | 0x80;

/// The type of a socket without `SOCK_NONBLOCK` and `SOCK_CLOEXEC`; a flag that is not known yet stays, and matches
/// nothing.
const TYPE: Argument = Argument {
    mask: !(0x800 | 0x8_0000),
    ..argument(1, "type")
};
const FAMILY: Argument = argument(0, "family");
const PROTOCOL: Argument = argument(2, "protocol");

const AF_UNIX: Named = Named("AF_UNIX", 1);
const AF_INET: Named = Named("AF_INET", 2);
const AF_INET6: Named = Named("AF_INET6", 10);
const AF_NETLINK: Named = Named("AF_NETLINK", 16);
const SOCK_STREAM: Named = Named("SOCK_STREAM", 1);
const SOCK_DGRAM: Named = Named("SOCK_DGRAM", 2);
const SOCK_RAW: Named = Named("SOCK_RAW", 3);
const SOCK_SEQPACKET: Named = Named("SOCK_SEQPACKET", 5);

const UNIX: Test = Test::OneOf(FAMILY, &[AF_UNIX]);
const ALLOW_UNIX: Clause = Clause {
    tests: &[UNIX],
    action: Allow,
};

/// Streams and datagrams over TCP, MPTCP (what Go listens with) and UDP: no raw packets, no ping, no SCTP, no SMC.
const ALLOW_INTERNET: Clause = Clause {
    tests: &[
        Test::OneOf(FAMILY, &[AF_INET, AF_INET6]),
        Test::OneOf(TYPE, &[SOCK_STREAM, SOCK_DGRAM]),
        Test::OneOf(
            PROTOCOL,
            &[
                Named("default", 0),
                Named("IPPROTO_TCP", 6),
                Named("IPPROTO_UDP", 17),
                Named("IPPROTO_MPTCP", 262),
            ],
        ),
    ],
    action: Allow,
};

/// What `getaddrinfo` and `getifaddrs` ask for the addresses of this host.
const ALLOW_ROUTES: Clause = Clause {
    tests: &[
        Test::OneOf(FAMILY, &[AF_NETLINK]),
        Test::OneOf(TYPE, &[SOCK_DGRAM, SOCK_RAW]),
        Test::OneOf(PROTOCOL, &[Named("NETLINK_ROUTE", 0)]),
    ],
    action: Allow,
};

/// `socket` where there is a network: an allow-list, because the rare families (vsock above all, which ignores network
/// namespaces) are many and grow.
pub(super) const SOCKET_NETWORK: Decision = Decision {
    clauses: &[ALLOW_UNIX, ALLOW_INTERNET, ALLOW_ROUTES],
    otherwise: Eperm,
};

/// The same where the Unix sockets of others would be in reach.
pub(super) const SOCKET_INTERNET: Decision = Decision {
    clauses: &[ALLOW_INTERNET, ALLOW_ROUTES],
    otherwise: Eperm,
};

/// `socket` on the host's network when the profile does not open it.
pub(super) const SOCKET_UNIX: Decision = Decision {
    clauses: &[ALLOW_UNIX],
    otherwise: Eperm,
};

/// `socketpair`, where `socket` can open Unix sockets as well.
pub(super) const SOCKETPAIR_UNIX: Decision = SOCKET_UNIX;

/// `socketpair` where nothing else may be reached: one end of a datagram pair can `sendto` or `connect` to any path, and
/// the address of a `sendmsg` lies in memory; a connected stream can do neither.
pub(super) const SOCKETPAIR_CONNECTED: Decision = Decision {
    clauses: &[Clause {
        tests: &[UNIX, Test::OneOf(TYPE, &[SOCK_STREAM, SOCK_SEQPACKET])],
        action: Allow,
    }],
    otherwise: Eperm,
};

/// `clone`: threads and processes, but no namespaces.
pub(super) const CLONE: Decision = Decision {
    clauses: &[Clause {
        tests: &[Test::AnyBit(
            argument(0, "flags"),
            CLONE_NAMESPACES,
            "CLONE_NEW*",
        )],
        action: Eperm,
    }],
    otherwise: Allow,
};

/// `unshare`: descriptors and the like, but no namespaces.
pub(super) const UNSHARE: Decision = Decision {
    clauses: &[Clause {
        tests: &[Test::AnyBit(
            argument(0, "flags"),
            UNSHARE_NAMESPACES,
            "CLONE_NEW*",
        )],
        action: Eperm,
    }],
    otherwise: Allow,
};

/// `ioctl`: no typing into the terminal, no pasting on a console, and no snapshot of a subvolume into a writable root,
/// which would show what is masked: the kernel asks who owns the subvolume, not what may be read of it. The kernel reads
/// 32 bits.
pub(super) const IOCTL: Decision = Decision {
    clauses: &[Clause {
        tests: &[Test::OneOf(
            argument(1, "request"),
            &[
                Named("TIOCSTI", 0x5412),
                Named("TIOCLINUX", 0x541c),
                Named("BTRFS_IOC_SNAP_CREATE", 0x5000_9401),
                Named("BTRFS_IOC_SNAP_CREATE_V2", 0x5000_9417),
            ],
        )],
        action: Eperm,
    }],
    otherwise: Allow,
};

/// `prctl`: what would make a process look like another one, blind whoever profiles it, or bind its cores to those of
/// another process.
///
/// The rest is left: `PR_SET_SECCOMP` and `PR_SET_NO_NEW_PRIVS` only add, `PR_SET_DUMPABLE`, `PR_SET_PTRACER` and
/// `PR_SET_SYSCALL_USER_DISPATCH` concern the caller alone, and what would loosen anything needs a capability.
pub(super) const PRCTL: Decision = Decision {
    clauses: &[Clause {
        tests: &[Test::OneOf(
            argument(0, "option"),
            &[
                Named("PR_TASK_PERF_EVENTS_DISABLE", 31),
                Named("PR_TASK_PERF_EVENTS_ENABLE", 32),
                Named("PR_SET_MM", 35),
                Named("PR_SCHED_CORE", 62),
            ],
        )],
        action: Eperm,
    }],
    otherwise: Allow,
};

/// `personality`, where a profile blocks it: asking changes nothing, and neither does the plain one.
pub(super) const PERSONALITY: Decision = Decision {
    clauses: &[Clause {
        tests: &[Test::OneOf(
            argument(0, "persona"),
            &[Named("PER_LINUX", 0), Named("query", u32::MAX)],
        )],
        action: Allow,
    }],
    otherwise: Eperm,
};

const PID: Argument = argument(0, "pid");
const CALLER: Named = Named("caller", 0);

/// `prlimit64`: limits of the caller; those of others can be read, never set. The pointer is compared whole.
pub(super) const PRLIMIT: Decision = Decision {
    clauses: &[
        Clause {
            tests: &[Test::OneOf(PID, &[CALLER])],
            action: Allow,
        },
        Clause {
            tests: &[Test::Null(argument(2, "new_limit"))],
            action: Allow,
        },
    ],
    otherwise: Eperm,
};

/// `sched_setaffinity` and its like, where others could be named.
pub(super) const SCHEDULE_CALLER: Decision = Decision {
    clauses: &[Clause {
        tests: &[Test::OneOf(PID, &[CALLER])],
        action: Allow,
    }],
    otherwise: Eperm,
};

const WHO: Argument = argument(1, "who");

/// `setpriority`, where others could be named: by user, even a `who` of zero means every process of the user.
pub(super) const PRIORITY_CALLER: Decision = Decision {
    clauses: &[Clause {
        tests: &[
            Test::OneOf(
                argument(0, "which"),
                &[Named("PRIO_PROCESS", 0), Named("PRIO_PGRP", 1)],
            ),
            Test::OneOf(WHO, &[CALLER]),
        ],
        action: Allow,
    }],
    otherwise: Eperm,
};

/// `ioprio_set`, likewise.
pub(super) const IO_PRIORITY_CALLER: Decision = Decision {
    clauses: &[Clause {
        tests: &[
            Test::OneOf(
                argument(0, "which"),
                &[Named("IOPRIO_WHO_PROCESS", 1), Named("IOPRIO_WHO_PGRP", 2)],
            ),
            Test::OneOf(WHO, &[CALLER]),
        ],
        action: Allow,
    }],
    otherwise: Eperm,
};
