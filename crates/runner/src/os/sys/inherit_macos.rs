//! What a child would inherit and a command must not: descriptors and the meaning of signals.

use std::mem;

use rustix::io::Errno;

use super::check;

/// How many descriptors are asked for at once, on the stack of a child that must not allocate.
const LISTED: usize = 1024;

/// Marks everything but descriptors 0-2 to be closed by exec. What is open is not asked about again by Seatbelt, so
/// nothing may be left.
pub(super) fn close_others_on_exec() -> Result<(), Errno> {
    // SAFETY: all-zero records are valid storage.
    let mut open: [libc::proc_fdinfo; LISTED] = unsafe { mem::zeroed() };
    let size = size_of_val(&open);
    // SAFETY: the records are ours and as large as they are said to be.
    let filled = unsafe {
        libc::proc_pidinfo(
            libc::getpid(),
            libc::PROC_PIDLISTFDS,
            0,
            open.as_mut_ptr().cast(),
            libc::c_int::try_from(size).unwrap_or(0),
        )
    };
    match usize::try_from(filled) {
        Ok(filled) if filled > 0 && filled < size => {
            let listed = open.iter().take(filled / size_of::<libc::proc_fdinfo>());
            for descriptor in listed
                .map(|listed| listed.proc_fd)
                .filter(|number| *number > 2)
            {
                close_on_exec(descriptor)?;
            }
            Ok(())
        }
        // More than can be listed, or the list is kept from us: all that there can be.
        _ => {
            // SAFETY: no memory is passed.
            let most = unsafe { libc::getdtablesize() };
            (3..most).try_for_each(close_on_exec)
        }
    }
}

fn close_on_exec(descriptor: libc::c_int) -> Result<(), Errno> {
    // SAFETY: no memory is passed; nothing is closed now.
    let marked = unsafe { libc::fcntl(descriptor, libc::F_SETFD, libc::FD_CLOEXEC) };
    match check(libc::c_long::from(marked)) {
        Err(Errno::BADF) | Ok(_) => Ok(()),
        Err(errno) => Err(errno),
    }
}

/// Gives every signal its default meaning: nothing that this program ignores is ignored by the command.
pub(super) fn reset_dispositions() {
    for signal in 1..32 {
        // SAFETY: the default action is a valid one, and no handler is involved; signals that cannot be changed are
        // refused, which is fine.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
}
