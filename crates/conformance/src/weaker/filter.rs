//! The filter of a weaker host: refuses namespaces as the profiles of containers do, and sends questions about Landlock
//! to a supervisor.

use libc::sock_filter;

use super::Weakness;

/// Every kind of namespace.
const NAMESPACES: u32 = (libc::CLONE_NEWNS
    | libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET)
    .cast_unsigned();

/// A rule about a TCP port, and the first version that has them.
const RULE_NET_PORT: u32 = 2;
const WITH_PORTS: u32 = 4;
/// The first version that has flags of restrict_self.
const WITH_FLAGS: u32 = 7;

#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: u32 = 0xc000_00b7;

/// Where things are in what a filter sees.
const NUMBER: u32 = 0;
const ARCH: u32 = 4;
/// The lower half of an argument.
const fn argument(index: u32) -> u32 {
    16 + 8 * index
}

const fn errno(number: i32) -> u32 {
    libc::SECCOMP_RET_ERRNO | number.cast_unsigned()
}

/// The filter.
pub(super) fn program(weakness: Weakness) -> Vec<sock_filter> {
    let mut program = vec![
        load(ARCH),
        // Another architecture has its own numbers: it is left alone.
        jump(libc::BPF_JEQ, ARCHITECTURE, 1, 0),
        give(libc::SECCOMP_RET_ALLOW),
    ];
    let eperm = errno(libc::EPERM);
    if weakness.no_user_namespaces {
        program.extend(on(libc::SYS_clone, &if_any(0, NAMESPACES, eperm)));
        program.extend(on(libc::SYS_unshare, &if_any(0, NAMESPACES, eperm)));
        // Its flags are in memory, which no filter sees: callers fall back to clone.
        program.extend(on(libc::SYS_clone3, &[give(errno(libc::ENOSYS))]));
    }
    let rulesets = libc::SYS_landlock_create_ruleset;
    let rules = libc::SYS_landlock_add_rule;
    let restriction = libc::SYS_landlock_restrict_self;
    match weakness.landlock {
        None => {}
        Some(0) => {
            for number in [rulesets, rules, restriction] {
                program.extend(on(number, &[give(errno(libc::ENOSYS))]));
            }
        }
        Some(abi) => {
            program.extend(on(rulesets, &[give(libc::SECCOMP_RET_USER_NOTIF)]));
            let einval = errno(libc::EINVAL);
            if abi < WITH_PORTS {
                program.extend(on(rules, &if_equal(1, RULE_NET_PORT, einval)));
            }
            if abi < WITH_FLAGS {
                program.extend(on(restriction, &if_any(1, u32::MAX, einval)));
            }
        }
    }
    program.push(give(libc::SECCOMP_RET_ALLOW));
    program
}

/// What happens on this system call: it is jumped over for every other.
fn on(number: libc::c_long, then: &[sock_filter]) -> Vec<sock_filter> {
    let number = u32::try_from(number).unwrap_or(u32::MAX);
    let over = u8::try_from(then.len()).unwrap_or(u8::MAX);
    let mut block = vec![load(NUMBER), jump(libc::BPF_JEQ, number, 0, over)];
    block.extend_from_slice(then);
    block
}

/// This action if an argument has any of these bits; otherwise the next block.
fn if_any(index: u32, bits: u32, action: u32) -> [sock_filter; 3] {
    [
        load(argument(index)),
        jump(libc::BPF_JSET, bits, 0, 1),
        give(action),
    ]
}

fn if_equal(index: u32, value: u32, action: u32) -> [sock_filter; 3] {
    [
        load(argument(index)),
        jump(libc::BPF_JEQ, value, 0, 1),
        give(action),
    ]
}

fn load(offset: u32) -> sock_filter {
    instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, offset, 0, 0)
}

fn give(action: u32) -> sock_filter {
    instruction(libc::BPF_RET | libc::BPF_K, action, 0, 0)
}

fn jump(kind: u32, value: u32, if_so: u8, if_not: u8) -> sock_filter {
    instruction(libc::BPF_JMP | kind | libc::BPF_K, value, if_so, if_not)
}

fn instruction(code: u32, k: u32, jt: u8, jf: u8) -> sock_filter {
    sock_filter {
        // Codes have 16 bits.
        code: u16::try_from(code).unwrap_or_default(),
        jt,
        jf,
        k,
    }
}
