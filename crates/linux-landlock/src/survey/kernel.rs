//! What the kernel offers, as far as that can be known without trying.

use palisade_policy::HostFacts;

use super::{caches, cgroups, kernel_file, sys};
use crate::host::{LandlockSupport, LinuxHost, NamespaceSupport};
use crate::seccomp::Arch;

#[cfg(target_arch = "x86_64")]
pub(crate) const ARCH: Arch = Arch::X86_64;
#[cfg(target_arch = "aarch64")]
pub(crate) const ARCH: Arch = Arch::Aarch64;

/// The kernel's facts and the caches of tools: what must be known before a policy is resolved.
#[must_use]
pub fn kernel(facts: &HostFacts) -> LinuxHost {
    let mut host = LinuxHost::new(ARCH, landlock(), NamespaceSupport::Works);
    let root = rustix::process::geteuid().is_root();
    if setting("/proc/sys/user/max_user_namespaces").as_deref() == Some("0") {
        host.namespaces = NamespaceSupport::Refused {
            why: "user.max_user_namespaces is 0".to_owned(),
            cure: Some("set user.max_user_namespaces to a number such as 10000".to_owned()),
        };
    } else if !root && setting("/proc/sys/kernel/unprivileged_userns_clone").as_deref() == Some("0")
    {
        host.namespaces = NamespaceSupport::Refused {
            why: "kernel.unprivileged_userns_clone is 0".to_owned(),
            cure: Some("set kernel.unprivileged_userns_clone to 1".to_owned()),
        };
    }
    let apparmor = setting("/proc/sys/kernel/apparmor_restrict_unprivileged_userns");
    if !root && apparmor.as_deref() == Some("1") {
        host.notes.push(
            "AppArmor restricts user namespaces: without a profile that allows them to the helper, the launch fails"
                .to_owned(),
        );
    }
    if outer_filter() {
        host.notes.push(
            "this process already runs under a system-call filter, which may refuse namespaces"
                .to_owned(),
        );
    }
    host.cgroups = cgroups::find();
    host.places.caches = caches::find(facts);
    host
}

fn landlock() -> LandlockSupport {
    match sys::landlock_abi() {
        Ok(abi) => LandlockSupport::Abi(abi),
        Err(error) => LandlockSupport::Missing {
            why: match error.raw_os_error() {
                Some(libc::ENOSYS) => "the kernel was built without it".to_owned(),
                Some(libc::EOPNOTSUPP) => "it is turned off at boot".to_owned(),
                Some(libc::EPERM) => "an outer system-call filter refuses it".to_owned(),
                _ => error.to_string(),
            },
        },
    }
}

/// A setting of the kernel, if there is one and it can be read.
fn setting(path: &str) -> Option<String> {
    let text = kernel_file::read_text(path).ok()?;
    Some(text.trim().to_owned())
}

fn outer_filter() -> bool {
    kernel_file::read_text("/proc/self/status").is_ok_and(|status| {
        status
            .lines()
            .filter_map(|line| line.strip_prefix("Seccomp:"))
            .any(|mode| mode.trim() == "2")
    })
}
