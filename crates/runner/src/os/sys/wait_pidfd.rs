//! The end of one child, asked for by a handle that can mean no other.

use std::mem;
use std::os::fd::{AsRawFd as _, BorrowedFd};
use std::time::Duration;

use rustix::io::Errno;

use super::check;
use super::wait::Reap;
use crate::supervise::{Ended, How, Usage};

/// How a child ended; `None` if it has not.
///
/// # Errors
/// `ECHILD`: somebody else has reaped it.
pub(in crate::os) fn end_of(child: BorrowedFd<'_>, reap: Reap) -> Result<Option<Ended>, Errno> {
    // SAFETY: all-zero records are valid storage.
    let (mut info, mut usage): (libc::siginfo_t, libc::rusage) =
        unsafe { (mem::zeroed(), mem::zeroed()) };
    loop {
        // SAFETY: both records are ours and outlive the call.
        let asked = check(unsafe {
            libc::syscall(
                libc::SYS_waitid,
                libc::P_PIDFD,
                child.as_raw_fd(),
                &raw mut info,
                reap.options(),
                &raw mut usage,
            )
        });
        match asked {
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
            Ok(_) => break,
        }
    }
    // SAFETY: waitid fills these fields in, or leaves the zeroes.
    let (pid, status) = unsafe { (info.si_pid(), info.si_status()) };
    if pid == 0 {
        return Ok(None);
    }
    let how = match info.si_code {
        libc::CLD_EXITED => How::Code(status),
        _ => How::Signal(status),
    };
    let time = |time: libc::timeval| {
        let seconds = Duration::from_secs(u64::try_from(time.tv_sec).unwrap_or(0));
        seconds + Duration::from_micros(u64::try_from(time.tv_usec).unwrap_or(0))
    };
    Ok(Some(Ended {
        how,
        usage: Usage {
            user: time(usage.ru_utime),
            system: time(usage.ru_stime),
            max_rss_kib: u64::try_from(usage.ru_maxrss).unwrap_or(0),
        },
    }))
}
