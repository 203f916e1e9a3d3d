//! The table of processes, by libproc.

use std::ffi::{c_int, c_void};
use std::mem;
use std::ptr;

use crate::tree::ProcessEntry;

/// More processes than any Mac has.
const MOST: usize = 1 << 20;

/// How much of a process's arguments and environment is read.
const ARGUMENTS: usize = 1024 * 1024;

/// Every process that can be seen now.
pub(crate) fn all() -> Vec<ProcessEntry> {
    pids().into_iter().filter_map(look_at).collect()
}

fn pids() -> Vec<c_int> {
    // SAFETY: without a buffer it only says how many there are.
    let count = unsafe { libc::proc_listallpids(ptr::null_mut(), 0) };
    // Others start meanwhile.
    let mut room = usize::try_from(count).unwrap_or(0).saturating_mul(2) + 64;
    loop {
        let mut pids: Vec<c_int> = vec![0; room];
        let size = c_int::try_from(room * size_of::<c_int>()).unwrap_or(c_int::MAX);
        // SAFETY: the buffer is as large as it is said to be, in bytes.
        let filled = unsafe { libc::proc_listallpids(pids.as_mut_ptr().cast(), size) };
        let filled = usize::try_from(filled).unwrap_or(0);
        if filled < room || room >= MOST {
            pids.truncate(filled);
            return pids;
        }
        room *= 2;
    }
}

/// A process as the system shows it.
pub(crate) fn look_at(pid: c_int) -> Option<ProcessEntry> {
    // SAFETY: an all-zero record is valid storage.
    let mut info: libc::proc_bsdinfo = unsafe { mem::zeroed() };
    let size = c_int::try_from(size_of::<libc::proc_bsdinfo>()).ok()?;
    // SAFETY: the record is ours and as large as it is said to be. The fourth argument lets those be seen that have ended
    // and wait to be reaped.
    let filled = unsafe {
        libc::proc_pidinfo(
            pid,
            libc::PROC_PIDTBSDINFO,
            1,
            ptr::from_mut(&mut info).cast::<c_void>(),
            size,
        )
    };
    if filled != size {
        return None;
    }
    // SAFETY: no memory is passed.
    let session = unsafe { libc::getsid(pid) };
    Some(ProcessEntry {
        pid,
        parent: c_int::try_from(info.pbi_ppid).ok()?,
        group: c_int::try_from(info.pbi_pgid).unwrap_or(0),
        session,
        born: info
            .pbi_start_tvsec
            .saturating_mul(1_000_000)
            .saturating_add(info.pbi_start_tvusec),
        dead: info.pbi_status == libc::SZOMB,
    })
}

/// The arguments and the environment of a process, each with a zero byte after it; empty if the system does not show them.
pub(crate) fn arguments(pid: c_int) -> Vec<u8> {
    let mut name = [libc::CTL_KERN, libc::KERN_PROCARGS2, pid];
    let mut buffer = vec![0_u8; ARGUMENTS];
    let mut size = buffer.len();
    // SAFETY: name and buffer are ours and as large as they are said to be; nothing is set.
    let asked = unsafe {
        libc::sysctl(
            name.as_mut_ptr(),
            3,
            buffer.as_mut_ptr().cast(),
            &raw mut size,
            ptr::null_mut(),
            0,
        )
    };
    match asked {
        0 => {
            buffer.truncate(size);
            buffer
        }
        _ => Vec::new(),
    }
}

/// Sends a signal to one process.
pub(crate) fn signal(pid: c_int, signal: c_int) {
    if pid > 1 {
        // SAFETY: no memory is passed.
        unsafe { libc::kill(pid, signal) };
    }
}

/// Sends a signal to a process group.
pub(crate) fn signal_group(group: c_int, signal: c_int) {
    if group > 1 {
        // SAFETY: no memory is passed.
        unsafe { libc::kill(-group, signal) };
    }
}
