//! The end of one child by its number, which means nobody else until it is reaped.

use std::mem;

use rustix::io::Errno;

use super::check;
use super::wait::Reap;
use crate::supervise::{Ended, How, Usage};

/// How a child ended; `None` if it has not.
///
/// # Errors
/// `ECHILD`: somebody else has reaped it.
pub(in crate::os) fn end_of(pid: i32, reap: Reap) -> Result<Option<Ended>, Errno> {
    let id = libc::id_t::try_from(pid).map_err(|_| Errno::CHILD)?;
    // Before it is reaped: afterwards nobody knows.
    let usage = usage_of(pid);
    // SAFETY: an all-zero record is valid storage.
    let mut info: libc::siginfo_t = unsafe { mem::zeroed() };
    loop {
        // SAFETY: the record is ours and outlives the call.
        let asked = check(libc::c_long::from(unsafe {
            libc::waitid(libc::P_PID, id, &raw mut info, reap.options())
        }));
        match asked {
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
            Ok(_) => break,
        }
    }
    // SAFETY: waitid fills these fields in, or leaves the zeroes.
    let (ended, status) = unsafe { (info.si_pid(), info.si_status()) };
    if ended == 0 {
        return Ok(None);
    }
    let how = match info.si_code {
        libc::CLD_EXITED => How::Code(status),
        _ => How::Signal(status),
    };
    Ok(Some(Ended { how, usage }))
}

/// How many nanoseconds a tick of the clock of this machine is: so many of these for so many of those.
#[cfg(target_os = "macos")]
#[repr(C)]
struct Timebase {
    numer: u32,
    denom: u32,
}

#[cfg(target_os = "macos")]
unsafe extern "C" {
    fn mach_timebase_info(info: *mut Timebase) -> libc::c_int;
}

/// What a process used that was not reaped, its own reaped children included; zero where the system does not say.
#[cfg(target_os = "macos")]
fn usage_of(pid: i32) -> Usage {
    use std::time::Duration;

    // SAFETY: an all-zero record is valid storage.
    let mut used: libc::rusage_info_v4 = unsafe { mem::zeroed() };
    let mut base = Timebase { numer: 0, denom: 0 };
    // SAFETY: the record is ours and of the flavour that is asked for.
    let asked = unsafe {
        libc::proc_pid_rusage(
            pid,
            libc::RUSAGE_INFO_V4,
            (&raw mut used).cast::<libc::rusage_info_t>(),
        )
    };
    // SAFETY: the record is ours, and as the system has it.
    let based = unsafe { mach_timebase_info(&raw mut base) };
    if asked != 0 || based != 0 || base.denom == 0 {
        return Usage::default();
    }
    // Times are in ticks of the clock of this machine.
    let time = |own: u64, children: u64| {
        let ticks = u128::from(own) + u128::from(children);
        let nanoseconds = ticks * u128::from(base.numer) / u128::from(base.denom);
        Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(u64::MAX))
    };
    Usage {
        user: time(used.ri_user_time, used.ri_child_user_time),
        system: time(used.ri_system_time, used.ri_child_system_time),
        max_rss_kib: used.ri_lifetime_max_phys_footprint / 1024,
    }
}

/// Elsewhere this is only tried: handles tell more.
#[cfg(not(target_os = "macos"))]
fn usage_of(_: i32) -> Usage {
    Usage::default()
}
