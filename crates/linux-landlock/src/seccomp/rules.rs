//! What happens to each system call: the profile and the tier, as one action for every number.

use std::collections::BTreeMap;

use palisade_policy::{PolicyError, SeccompProfile};

use super::conditions as when;
use super::{Arch, Namespaces, Sockets, tables};

/// Set in the number of a call that was made through the x32 interface, which shares the name of its architecture.
pub(super) const X32: u32 = 0x4000_0000;

/// What happens to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Action {
    /// It runs.
    Allow,
    /// It runs, and the kernel logs it.
    Log,
    /// It is forbidden.
    Eperm,
    /// It is answered as a kernel does that has no such call.
    Enosys,
    /// The process dies by SIGSYS.
    Kill,
}

/// A number with its name in the kernel's headers.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Named(pub(super) &'static str, pub(super) u32);

/// The part of an argument that is looked at: its low 32 bits under a mask.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Argument {
    pub(super) index: u8,
    pub(super) name: &'static str,
    pub(super) mask: u32,
}

/// A question about one argument.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Test {
    /// Whether it is one of these.
    OneOf(Argument, &'static [Named]),
    /// Whether it has one of these bits, which have this name together.
    AnyBit(Argument, u32, &'static str),
    /// Whether all its 64 bits are zero.
    Null(Argument),
}

/// What happens if all tests hold.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Clause {
    pub(super) tests: &'static [Test],
    pub(super) action: Action,
}

/// What happens to one call: the first clause that holds decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Decision {
    pub(super) clauses: &'static [Clause],
    pub(super) otherwise: Action,
}

impl Decision {
    pub(super) const fn always(action: Action) -> Self {
        Self {
            clauses: &[],
            otherwise: action,
        }
    }
}

/// A call that is not simply allowed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rule {
    pub(super) name: &'static str,
    pub(super) decision: Decision,
}

/// What happens to every call.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    pub(super) arch: Arch,
    pub(super) sockets: Sockets,
    pub(super) namespaces: Namespaces,
    /// By number; a call of the table that is not here is allowed.
    pub(super) rules: BTreeMap<u32, Rule>,
    log_only: bool,
}

impl Rules {
    /// What a profile means in a tier.
    pub(super) fn new(
        profile: &SeccompProfile,
        sockets: Sockets,
        namespaces: Namespaces,
        arch: Arch,
    ) -> Result<Self, PolicyError> {
        for name in &profile.blocked_syscalls {
            if !tables::is_name(name.as_str()) {
                return Err(PolicyError::unknown_syscall(name));
            }
        }
        let rules = tables::calls(arch)
            .iter()
            .filter_map(|&(name, number)| {
                let decision = decide(profile, sockets, namespaces, name);
                (decision != Decision::always(Action::Allow))
                    .then_some((number, Rule { name, decision }))
            })
            .collect();
        Ok(Self {
            arch,
            sockets,
            namespaces,
            rules,
            log_only: profile.log_only,
        })
    }

    /// What happens to a call of a foreign architecture.
    pub(super) const fn foreign(&self) -> Action {
        self.enforced(Action::Kill)
    }

    /// What happens to a number that is not in the table, and to all of x32.
    pub(super) const fn unknown(&self) -> Action {
        self.enforced(Action::Enosys)
    }

    /// What an action becomes where nothing is enforced.
    pub(super) const fn enforced(&self, action: Action) -> Action {
        match action {
            Action::Eperm | Action::Enosys | Action::Kill if self.log_only => Action::Log,
            _ => action,
        }
    }

    /// Where the action changes along the numbers: the first number of each stretch, from 0 to the highest there is.
    pub(super) fn stretches(&self) -> Vec<(u32, Decision)> {
        let unknown = Decision::always(Action::Enosys);
        let mut stretches = Vec::new();
        let mut next = 0;
        for &(_, number) in tables::calls(self.arch) {
            if number != next {
                stretches.push((next, unknown));
            }
            let known = self.rules.get(&number).map(|rule| rule.decision);
            let decision = known.unwrap_or(Decision::always(Action::Allow));
            stretches.push((number, decision));
            next = number + 1;
        }
        stretches.push((next, unknown));
        stretches
    }
}

/// What happens to one call, before anybody asks whether it is only logged.
///
/// What the profile blocks is blocked outright, with two exceptions: `clone3` is always refused in the way that makes a
/// libc fall back, and `personality` may still be asked.
fn decide(
    profile: &SeccompProfile,
    sockets: Sockets,
    namespaces: Namespaces,
    name: &str,
) -> Decision {
    let allow = Decision::always(Action::Allow);
    let eperm = Decision::always(Action::Eperm);
    let blocked = profile.blocks(name);
    let shared = namespaces == Namespaces::Host;
    // Without namespaces nothing masks the sockets of others.
    let unix = sockets != Sockets::PairsOnly && !shared;
    let network = match sockets {
        Sockets::PairsOnly => false,
        Sockets::OwnNetwork => true,
        Sockets::HostNetwork => profile.allow_network_sockets,
    };
    match name {
        // Only there to be answered, so nothing to log: every new thread would be.
        "clone3" if profile.log_only => allow,
        "clone3" => Decision::always(Action::Enosys),
        "personality" if blocked => when::PERSONALITY,
        _ if blocked => eperm,
        "clone" if !profile.allow_namespaces => when::CLONE,
        "unshare" if !profile.allow_namespaces => when::UNSHARE,
        "setns" if !profile.allow_namespaces => eperm,
        "socket" => match (unix, network) {
            (true, true) => when::SOCKET_NETWORK,
            (true, false) => when::SOCKET_UNIX,
            (false, true) => when::SOCKET_INTERNET,
            (false, false) => eperm,
        },
        "socketpair" if unix => when::SOCKETPAIR_UNIX,
        "socketpair" => when::SOCKETPAIR_CONNECTED,
        // A ring opens sockets of any family past the rule for `socket`. Only where the host's network is open anyway,
        // and Unix sockets are masked, does no guarantee stand on that rule: there the profile alone decides.
        "io_uring_enter" | "io_uring_register" | "io_uring_setup"
            if sockets != Sockets::HostNetwork || !network || !unix =>
        {
            eperm
        }
        "ioctl" => when::IOCTL,
        "prctl" => when::PRCTL,
        "prlimit64" => when::PRLIMIT,
        "sched_setaffinity" | "sched_setattr" | "sched_setparam" | "sched_setscheduler"
            if shared =>
        {
            when::SCHEDULE_CALLER
        }
        "setpriority" if shared => when::PRIORITY_CALLER,
        "ioprio_set" if shared => when::IO_PRIORITY_CALLER,
        // Queues and segments of others, by number or name; `shmdt` needs a segment that is already there.
        "mq_open" | "mq_unlink" | "msgctl" | "msgget" | "msgrcv" | "msgsnd" | "semctl"
        | "semget" | "semop" | "semtimedop" | "shmat" | "shmctl" | "shmget"
            if shared =>
        {
            eperm
        }
        _ => allow,
    }
}
