//! The same denials, compiled by seccompiler from libc's numbers: its program must say what ours says.

use std::collections::BTreeMap;

use palisade_linux_landlock::seccomp::model::{Verdict, calls, run};
use palisade_linux_landlock::seccomp::{
    Arch, Filter, Instruction, Namespaces, Sockets, compile_for,
};
use palisade_policy::SeccompProfile;
use proptest::prelude::*;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

use crate::call;

/// The blocked calls of the strict profile that libc has a number for, and those that it has none for.
fn denied() -> Vec<i64> {
    use libc::*;
    let mut numbers = vec![
        SYS_acct,
        SYS_add_key,
        SYS_adjtimex,
        SYS_bpf,
        SYS_chroot,
        SYS_clock_adjtime,
        SYS_clock_settime,
        SYS_delete_module,
        SYS_finit_module,
        SYS_fsconfig,
        SYS_fsmount,
        SYS_fsopen,
        SYS_fspick,
        SYS_init_module,
        SYS_io_uring_enter,
        SYS_io_uring_register,
        SYS_io_uring_setup,
        SYS_ioperm,
        SYS_iopl,
        SYS_kcmp,
        SYS_kexec_file_load,
        SYS_kexec_load,
        SYS_keyctl,
        SYS_lookup_dcookie,
        SYS_memfd_secret,
        SYS_modify_ldt,
        SYS_mount,
        SYS_mount_setattr,
        SYS_move_mount,
        SYS_name_to_handle_at,
        SYS_open_by_handle_at,
        SYS_open_tree,
        SYS_perf_event_open,
        SYS_pidfd_getfd,
        SYS_pivot_root,
        SYS_process_madvise,
        SYS_process_vm_readv,
        SYS_process_vm_writev,
        SYS_ptrace,
        SYS_quotactl,
        SYS_quotactl_fd,
        SYS_reboot,
        SYS_request_key,
        SYS_setdomainname,
        SYS_sethostname,
        SYS_setns,
        SYS_settimeofday,
        SYS_swapoff,
        SYS_swapon,
        SYS_syslog,
        SYS_umount2,
        SYS_unshare,
        SYS_userfaultfd,
        SYS_vhangup,
    ];
    // statmount, listmount and open_tree_attr are newer than this libc.
    numbers.extend([457, 458, 467]);
    numbers
}

/// What is denied besides where there are no namespaces and only pairs of sockets are left.
fn denied_when_shared() -> Vec<i64> {
    use libc::*;
    vec![
        SYS_socket,
        SYS_mq_open,
        SYS_mq_unlink,
        SYS_msgctl,
        SYS_msgget,
        SYS_msgrcv,
        SYS_msgsnd,
        SYS_semctl,
        SYS_semget,
        SYS_semop,
        SYS_semtimedop,
        SYS_shmat,
        SYS_shmctl,
        SYS_shmget,
    ]
}

fn dword(index: u8, op: SeccompCmpOp, value: u64) -> SeccompCondition {
    SeccompCondition::new(index, SeccompCmpArgLen::Dword, op, value).unwrap()
}

fn all(conditions: Vec<SeccompCondition>) -> SeccompRule {
    SeccompRule::new(conditions).unwrap()
}

/// The denials that depend on arguments, each as alternatives of conditions that hold together.
fn conditional(shared: bool) -> BTreeMap<i64, Vec<SeccompRule>> {
    use SeccompCmpOp::{Eq, Ge, Gt, MaskedEq, Ne};
    let namespace_bits = [17, 25, 26, 27, 28, 29, 30].map(|bit| 1_u64 << bit);
    let flag = |bit| all(vec![dword(0, MaskedEq(bit), bit)]);
    let is = |index, value| all(vec![dword(index, Eq, value)]);
    let not = |index, value| all(vec![dword(index, Ne, value)]);
    let new_limit = SeccompCondition::new(2, SeccompCmpArgLen::Qword, Ne, 0).unwrap();
    let mut rules = BTreeMap::from([
        (libc::SYS_clone, namespace_bits.map(flag).to_vec()),
        (
            libc::SYS_ioctl,
            vec![
                is(1, 0x5412),
                is(1, 0x541c),
                is(1, 0x5000_9401),
                is(1, 0x5000_9417),
            ],
        ),
        (
            libc::SYS_prctl,
            vec![is(0, 31), is(0, 32), is(0, 35), is(0, 62)],
        ),
        (
            libc::SYS_personality,
            vec![all(vec![dword(0, Ne, 0), dword(0, Ne, 0xffff_ffff)])],
        ),
        (
            libc::SYS_prlimit64,
            vec![all(vec![dword(0, Ne, 0), new_limit])],
        ),
    ]);
    if shared {
        for number in [
            libc::SYS_sched_setaffinity,
            libc::SYS_sched_setattr,
            libc::SYS_sched_setparam,
            libc::SYS_sched_setscheduler,
        ] {
            rules.insert(number, vec![not(0, 0)]);
        }
        let gt = |value| all(vec![dword(0, Gt, value)]);
        rules.insert(libc::SYS_setpriority, vec![not(1, 0), gt(1)]);
        let ge = all(vec![dword(0, Ge, 3)]);
        rules.insert(libc::SYS_ioprio_set, vec![not(1, 0), is(0, 0), ge]);
    } else {
        rules.insert(libc::SYS_socketpair, vec![not(0, 1)]);
    }
    rules
}

/// What may be opened: its own program, because seccompiler has one action for all matches.
fn allowed(pairs: bool) -> BTreeMap<i64, Vec<SeccompRule>> {
    use SeccompCmpOp::{Eq, MaskedEq};
    let kind = |value| dword(1, MaskedEq(0xfff7_f7ff), value);
    let is = |index, value| dword(index, Eq, value);
    if pairs {
        let pair = |value| all(vec![is(0, 1), kind(value)]);
        return BTreeMap::from([(libc::SYS_socketpair, vec![pair(1), pair(5)])]);
    }
    let mut rules = vec![all(vec![is(0, 1)])];
    for family in [2, 10] {
        for value in [1, 2] {
            for protocol in [0, 6, 17, 262] {
                rules.push(all(vec![is(0, family), kind(value), is(2, protocol)]));
            }
        }
    }
    for value in [2, 3] {
        rules.push(all(vec![is(0, 16), kind(value), is(2, 0)]));
    }
    BTreeMap::from([(libc::SYS_socket, rules)])
}

fn program(
    rules: BTreeMap<i64, Vec<SeccompRule>>,
    mismatch: SeccompAction,
    matched: SeccompAction,
) -> Vec<Instruction> {
    let filter = SeccompFilter::new(rules, mismatch, matched, TargetArch::x86_64).unwrap();
    let program = BpfProgram::try_from(filter).unwrap();
    let ours = program.iter().map(|one| Instruction {
        code: one.code,
        jt: one.jt,
        jf: one.jf,
        k: one.k,
    });
    ours.collect()
}

struct Peer {
    denying: Vec<Instruction>,
    allowing: Vec<Instruction>,
    allowed: i64,
    ours: Filter,
}

impl Peer {
    fn new(pairs: bool) -> Self {
        let eperm = || SeccompAction::Errno(1);
        let (sockets, namespaces) = if pairs {
            (Sockets::PairsOnly, Namespaces::Host)
        } else {
            (Sockets::OwnNetwork, Namespaces::Own)
        };
        let mut rules = conditional(pairs);
        let more = if pairs { denied_when_shared() } else { vec![] };
        rules.extend(denied().into_iter().chain(more).map(|nr| (nr, vec![])));
        let allowed = allowed(pairs);
        Self {
            allowed: *allowed.keys().next().unwrap(),
            denying: program(rules, SeccompAction::Allow, eperm()),
            allowing: program(allowed, eperm(), SeccompAction::Allow),
            ours: compile_for(&SeccompProfile::strict(), sockets, namespaces, Arch::X86_64)
                .unwrap(),
        }
    }

    fn compare(&self, nr: u32, arch: u32, args: [u64; 6]) {
        let mut data = call(Arch::X86_64, nr, args);
        data.arch = arch;
        let ours = run(self.ours.instructions(), &data).unwrap();
        let theirs = if i64::from(nr) == self.allowed {
            run(&self.allowing, &data).unwrap()
        } else {
            run(&self.denying, &data).unwrap()
        };
        // What seccompiler does not have: clone3, and numbers that nobody has looked at.
        let known = calls(Arch::X86_64).iter().any(|known| known.1 == nr);
        let native = arch == Arch::X86_64.audit();
        let expected = if native && (!known || i64::from(nr) == libc::SYS_clone3) {
            Verdict::Errno(38)
        } else {
            theirs
        };
        assert_eq!(ours, expected, "{data:x?}");
    }
}

#[test]
fn every_call() {
    for pairs in [false, true] {
        let peer = Peer::new(pairs);
        for nr in 0..600 {
            for arch in [Arch::X86_64.audit(), Arch::Aarch64.audit(), 0x4000_0003] {
                peer.compare(nr, arch, [0; 6]);
                peer.compare(nr, arch, [1; 6]);
                peer.compare(nr, arch, [u64::MAX; 6]);
            }
        }
    }
}

#[test]
fn every_call_that_is_judged_by_its_arguments() {
    for pairs in [false, true] {
        let peer = Peer::new(pairs);
        let judged = conditional(pairs).into_keys().chain([peer.allowed]);
        for nr in judged.map(|nr| u32::try_from(nr).unwrap()) {
            for first in [
                0,
                1,
                2,
                3,
                10,
                16,
                35,
                40,
                0x1000_0011,
                0xffff_ffff,
                1 << 32,
            ] {
                for second in [0, 1, 2, 3, 5, 0x80801, 0x5412, 0x1_0000_541c] {
                    for third in [0, 1, 6, 262, 1 << 40] {
                        peer.compare(nr, Arch::X86_64.audit(), [first, second, third, 0, 0, 0]);
                    }
                }
            }
        }
    }
}

proptest! {
    #[test]
    fn random_arguments(
        pairs in any::<bool>(),
        nr in 0_u32..600,
        args in prop::array::uniform6(prop_oneof![0_u64..64, any::<u64>(), any::<u32>().prop_map(u64::from)]),
    ) {
        Peer::new(pairs).compare(nr, Arch::X86_64.audit(), args);
    }
}
