//! What must become of a system call, from what a policy is for: written from the policy, not from the filter's rules.

use palisade_linux_landlock::Tier;
use palisade_policy::{CanonicalSandboxPolicy, NetworkScope, SeccompProfile};

/// What must become of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// The kernel does what it does.
    Runs,
    /// It fails with this errno.
    Fails(u16),
    /// The process ends.
    Dies,
}

const EPERM: Meaning = Meaning::Fails(1);
const ENOSYS: Meaning = Meaning::Fails(38);

/// A session, as far as its system calls go.
#[derive(Clone, Debug)]
pub(crate) struct Session {
    profile: SeccompProfile,
    /// Whether processes, queues and sockets of others have names here.
    shared: bool,
    /// Whether the network is the host's, because the policy opens all of it.
    open: bool,
}

impl Session {
    pub(crate) fn of(policy: &CanonicalSandboxPolicy, tier: Tier) -> Self {
        Self {
            profile: policy.seccomp_profile(),
            shared: tier == Tier::Landlock,
            open: policy.network() == NetworkScope::Full,
        }
    }

    /// A call by a number that means something else elsewhere: of another processor, or of its 32-bit half.
    pub(crate) fn foreign(&self) -> Meaning {
        self.enforced(Meaning::Dies)
    }

    /// A call of this processor, by its name; `None` if the number is nobody's, or of x32.
    pub(crate) fn means(&self, name: Option<&str>, args: &[u64; 6]) -> Meaning {
        self.enforced(name.map_or(ENOSYS, |name| self.named(name, args)))
    }

    /// A profile that only logs refuses nothing.
    fn enforced(&self, meaning: Meaning) -> Meaning {
        match self.profile.log_only {
            true => Meaning::Runs,
            false => meaning,
        }
    }

    fn named(&self, name: &str, args: &[u64; 6]) -> Meaning {
        let refused_if = |refused: bool| if refused { EPERM } else { Meaning::Runs };
        let [first, second, third, ..] = args.map(low);
        let listed = |name: &str| {
            let mut names = self.profile.blocked_syscalls.iter();
            names.any(|blocked| blocked.as_str() == name)
        };
        // Its flags lie in memory: a libc that is told that there is no such call makes `clone` instead.
        if name == "clone3" {
            return ENOSYS;
        }
        if listed(name) {
            let harmless = name == "personality" && matches!(first, 0 | u32::MAX);
            return refused_if(!harmless);
        }
        match name {
            // New namespaces: mount, cgroup, uts, ipc, user, pid, net, and time where its bit is not a signal.
            "clone" => refused_if(!self.profile.allow_namespaces && first & 0x7e02_0000 != 0),
            "unshare" => refused_if(!self.profile.allow_namespaces && first & 0x7e02_0080 != 0),
            "setns" => refused_if(!self.profile.allow_namespaces),
            "socket" => refused_if(!self.opens(first, second, third)),
            "socketpair" => refused_if(first != 1 || (self.shared && !is_connected(second))),
            // Rings open sockets that no filter sees.
            "io_uring_enter" | "io_uring_register" | "io_uring_setup" => {
                refused_if(self.shared || !self.open || !self.profile.allow_network_sockets)
            }
            // Typing into a terminal, pasting on a console, snapshots of what is masked.
            "ioctl" => refused_if([0x5412, 0x541c, 0x5000_9401, 0x5000_9417].contains(&second)),
            // Looking like another program, blinding a profiler, sharing cores with others.
            "prctl" => refused_if([31, 32, 35, 62].contains(&first)),
            "prlimit64" => refused_if(first != 0 && args[2] != 0),
            // Of others: how they are scheduled, and their queues, segments and semaphores.
            "sched_setaffinity" | "sched_setattr" | "sched_setparam" | "sched_setscheduler" => {
                refused_if(self.shared && first != 0)
            }
            "setpriority" => refused_if(self.shared && !(first <= 1 && second == 0)),
            "ioprio_set" => refused_if(self.shared && !(matches!(first, 1 | 2) && second == 0)),
            _ => {
                let ipc = [
                    "mq_open",
                    "mq_unlink",
                    "semctl",
                    "semget",
                    "semop",
                    "semtimedop",
                ];
                let more = [
                    "msgctl", "msgget", "msgrcv", "msgsnd", "shmat", "shmctl", "shmget",
                ];
                refused_if(self.shared && (ipc.contains(&name) || more.contains(&name)))
            }
        }
    }

    /// Which sockets there are: local ones where those of others are masked; the usual ones of the internet, and the
    /// questions about addresses that go with them, in a network of its own or in one that is open.
    fn opens(&self, family: u32, kind: u32, protocol: u32) -> bool {
        let internet = match (self.shared, self.open) {
            (_, true) => self.profile.allow_network_sockets,
            (false, false) => true,
            (true, false) => false,
        };
        match family {
            1 => !self.shared,
            2 | 10 => {
                let kinds = matches!(plain(kind), 1 | 2);
                internet && kinds && matches!(protocol, 0 | 6 | 17 | 262)
            }
            16 => internet && matches!(plain(kind), 2 | 3) && protocol == 0,
            _ => false,
        }
    }
}

/// What the kernel reads of an argument of 32 bits.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the low half is what the kernel reads"
)]
const fn low(argument: u64) -> u32 {
    argument as u32
}

/// The type of a socket, without how its descriptor behaves.
const fn plain(kind: u32) -> u32 {
    kind & !(0x800 | 0x8_0000)
}

/// A pair that cannot send to anybody else.
const fn is_connected(kind: u32) -> bool {
    matches!(plain(kind), 1 | 5)
}
