//! The helper's descriptor, and becoming another program.

use std::collections::BTreeMap;
use std::ffi::{CString, OsStr, OsString};
use std::os::fd::{FromRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::ptr;

use rustix::io::Errno;
use rustix::io::{FdFlags, fcntl_setfd};

use crate::apply::stage::DESCRIPTOR;

/// The end of the pipe that the helper talks over.
pub(crate) struct Report(OwnedFd);

impl Report {
    /// Takes the descriptor, and has exec close it.
    pub(crate) fn take() -> Result<Self, Errno> {
        // SAFETY: no memory is passed. Only a descriptor that is open is taken, once, before anything else could use it.
        let open = unsafe { libc::fcntl(DESCRIPTOR, libc::F_GETFD) };
        if open < 0 {
            return Err(Errno::BADF);
        }
        // SAFETY: it is open, and nobody else in this program knows of it: it was passed by whoever started it.
        let report = unsafe { OwnedFd::from_raw_fd(DESCRIPTOR) };
        fcntl_setfd(&report, FdFlags::CLOEXEC)?;
        Ok(Self(report))
    }

    /// Writes all of it; a pipe takes so little at once.
    pub(crate) fn say(&self, bytes: &[u8]) {
        // Whoever does not listen any more has nobody to tell either.
        let _ = rustix::io::retry_on_intr(|| rustix::io::write(&self.0, bytes));
    }
}

/// Becomes a program; returns only if that fails. Unlike a shell, it takes nothing for a script that says not so.
pub(crate) fn exec(
    program: &OsStr,
    argv: &[OsString],
    environment: &BTreeMap<OsString, OsString>,
) -> Errno {
    let text = |word: &OsStr| CString::new(word.as_bytes());
    let variable = |(name, value): (&OsString, &OsString)| {
        let mut entry = name.clone();
        entry.push("=");
        entry.push(value);
        text(&entry)
    };
    let argv: Result<Vec<_>, _> = argv.iter().map(|word| text(word)).collect();
    let environment: Result<Vec<_>, _> = environment.iter().map(variable).collect();
    let (Ok(program), Ok(argv), Ok(environment)) = (text(program), argv, environment) else {
        return Errno::INVAL;
    };
    let pointers = |strings: &[CString]| -> Vec<*const libc::c_char> {
        let each = strings.iter().map(|string| string.as_ptr());
        each.chain([ptr::null()]).collect()
    };
    let (words, variables) = (pointers(&argv), pointers(&environment));
    // Rust programs ignore broken pipes, which commands do not expect.
    // SAFETY: the default action is a valid one, and no handler is involved.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
    // SAFETY: program, arguments and environment are terminated and outlive the call.
    unsafe { libc::execve(program.as_ptr(), words.as_ptr(), variables.as_ptr()) };
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)
}
