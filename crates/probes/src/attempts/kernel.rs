//! The surface of the kernel. Calls that could do harm are made with arguments with which they cannot.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::fd::AsRawFd as _;
use std::process::Command;

use super::secrets::text;
use super::{Tries, WHOAMI};
use crate::report::Report;
use crate::site::Site;
use crate::sys::harmless::{self, Harmless};
use crate::sys::process::{self, End};
use crate::sys::{files, ipc};

fn reach(calls: &[Harmless]) -> Report {
    Tries::default().reach_all(calls).report()
}

pub(crate) fn setns(_: &Site) -> Report {
    reach(harmless::SETNS)
}

pub(crate) fn mount(_: &Site) -> Report {
    reach(harmless::MOUNT)
}

pub(crate) fn io_uring(_: &Site) -> Report {
    reach(harmless::IO_URING)
}

pub(crate) fn bpf(_: &Site) -> Report {
    reach(harmless::BPF)
}

pub(crate) fn perf(_: &Site) -> Report {
    reach(harmless::PERF)
}

pub(crate) fn userfaultfd(_: &Site) -> Report {
    reach(harmless::USERFAULTFD)
}

pub(crate) fn keys(_: &Site) -> Report {
    reach(harmless::KEYS)
}

pub(crate) fn kexec(_: &Site) -> Report {
    reach(harmless::KEXEC)
}

pub(crate) fn modules(_: &Site) -> Report {
    reach(harmless::MODULES)
}

pub(crate) fn clock(_: &Site) -> Report {
    reach(harmless::CLOCK)
}

pub(crate) fn administer(_: &Site) -> Report {
    reach(harmless::ADMINISTER)
}

pub(crate) fn ports(_: &Site) -> Report {
    #[cfg(target_arch = "x86_64")]
    {
        reach(harmless::PORTS)
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        super::unavailable("x86 only")
    }
}

pub(crate) fn secret_memory(_: &Site) -> Report {
    reach(harmless::MEMFD_SECRET)
}

pub(crate) fn unshare(_: &Site) -> Report {
    Tries::default()
        .escape(
            "unshare",
            process::unshare(process::NEW_USER).map(|()| "worked"),
        )
        .report()
}

pub(crate) fn clone(_: &Site) -> Report {
    Tries::default()
        .escape("clone", process::clone_user().map(|()| "worked"))
        .escape("clone3", process::clone3_user().map(|()| "worked"))
        .report()
}

/// Tries in a child, because the answer may be a signal.
#[cfg(target_arch = "x86_64")]
pub(super) fn in_child(what: &str, attempt: impl FnOnce() -> io::Result<()>) -> Report {
    let ended = process::fork(|| match attempt() {
        Ok(()) => 0,
        Err(error) => error
            .raw_os_error()
            .and_then(|number| u8::try_from(number).ok())
            .unwrap_or(u8::MAX),
    })
    .and_then(|pid| process::wait(pid, false));
    let tries = Tries::default();
    match ended {
        Ok(End::Code(0)) => tries.escape(what, Ok("worked")),
        Ok(End::Code(number)) => {
            tries.escape(what, Err::<&str, _>(io::Error::from_raw_os_error(number)))
        }
        Ok(End::Signal(libc::SIGSYS)) => tries.stopped(what, "SIGSYS"),
        // Without 32-bit calls the instruction is a fault.
        Ok(End::Signal(_) | End::Stopped) => tries.missing("32-bit calls"),
        Err(error) => tries.escape("fork", Err::<&str, _>(error)),
    }
    .report()
}

pub(crate) fn i386(_: &Site) -> Report {
    #[cfg(target_arch = "x86_64")]
    {
        in_child("32-bit getpid", || crate::sys::i386::process_id().map(drop))
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        super::unavailable("32-bit calls are tried on x86-64 only")
    }
}

pub(crate) fn relax(_: &Site) -> Report {
    let escape = process::allow_everything()
        .and_then(|()| process::unshare(process::NEW_USER))
        .map(|()| "worked");
    Tries::default()
        .escape("user namespace after a filter of its own", escape)
        .report()
}

pub(crate) fn from_memory(_: &Site) -> Report {
    let run = || {
        let program = fs::read("/proc/self/exe")?;
        let mut file = files::memory_file("palisade-probe", true)?;
        file.write_all(&program)?;
        // By this name: the child inherits the descriptor.
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        // A file that is open for writing cannot be run.
        let output = Command::new(reopened(file, &path)?).arg(WHOAMI).output()?;
        Ok::<_, io::Error>(text(&output.stdout))
    };
    Tries::default().escape("ran as", run()).report()
}

/// Lets go of the writable descriptor, and keeps a readable one that a child inherits.
fn reopened(file: fs::File, path: &str) -> io::Result<String> {
    let readable = fs::File::open(path)?;
    drop(file);
    let kept = files::leak(&readable)?;
    let path = format!("/proc/self/fd/{}", kept.as_raw_fd());
    // Stays open until the process ends.
    std::mem::forget(kept);
    Ok(path)
}

/// The name of the queue that the stage looks for.
pub(crate) fn queue_name(token: &str) -> String {
    format!("/palisade-probe-{token}")
}

pub(crate) fn queue(site: &Site) -> Report {
    Tries::default()
        .act(
            "queue",
            ipc::make_queue(&queue_name(&site.token)).map(|()| "was made"),
        )
        .report()
}

pub(crate) fn settings(_: &Site) -> Report {
    // Opened and closed; nothing is written.
    let open = |path: &str| {
        OpenOptions::new()
            .write(true)
            .open(path)
            .map(|_| "was opened for writing")
    };
    [
        "/proc/sys/kernel/core_pattern",
        "/proc/sys/kernel/hostname",
        "/proc/sysrq-trigger",
        "/sys/kernel/mm/transparent_hugepage/enabled",
        "/sys/fs/cgroup/cgroup.procs",
    ]
    .iter()
    .fold(Tries::default(), |tries, path| {
        tries.escape(path, open(path))
    })
    .report()
}

pub(crate) fn personality(_: &Site) -> Report {
    Tries::default()
        .escape(
            "personality",
            process::no_randomisation().map(|()| "was set"),
        )
        .report()
}
