//! From prepared bytes to a running program. Between its making and exec, a child makes system calls only.

use std::ffi::{CStr, CString};
use std::mem;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use std::ptr;

use rustix::io::Errno;

#[cfg(target_os = "linux")]
use super::inherit_linux::{close_others_on_exec, reset_dispositions};
#[cfg(target_os = "macos")]
use super::inherit_macos::{close_others_on_exec, reset_dispositions};
use super::{check, last_error};

/// The descriptor that a helper in the command's place talks over.
pub(in crate::os) const REPORT: i32 = 3;

/// The steps of a child on its way to exec.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(in crate::os) enum SpawnStep {
    Process = 1,
    Signals,
    Session,
    Stdio,
    Terminal,
    Descriptors,
    WorkingDirectory,
    ProgramChanged,
    Exec,
}

impl SpawnStep {
    const ALL: [Self; 9] = [
        Self::Process,
        Self::Signals,
        Self::Session,
        Self::Stdio,
        Self::Terminal,
        Self::Descriptors,
        Self::WorkingDirectory,
        Self::ProgramChanged,
        Self::Exec,
    ];
}

/// A step that failed.
pub(in crate::os) type Failed = (SpawnStep, Errno);

/// Strings as exec wants them: pointers with a null at the end.
pub(in crate::os) struct ExecStrings {
    pointers: Vec<*const libc::c_char>,
    _owned: Vec<CString>,
}

impl ExecStrings {
    pub(in crate::os) fn new(strings: Vec<CString>) -> Self {
        let pointers = strings
            .iter()
            .map(|string| string.as_ptr())
            .chain([ptr::null()])
            .collect();
        Self {
            pointers,
            _owned: strings,
        }
    }
}

/// Everything that a child needs, ready.
pub(in crate::os) struct Prepared {
    /// Where the program may be, in order.
    pub(in crate::os) candidates: Vec<CString>,
    /// What the only candidate must be: its device and inode number.
    pub(in crate::os) identity: Option<(u64, u64)>,
    pub(in crate::os) argv: ExecStrings,
    pub(in crate::os) env: ExecStrings,
    pub(in crate::os) cwd: CString,
    /// What the directory must be: its device and inode number.
    pub(in crate::os) directory: Option<(u64, u64)>,
    pub(in crate::os) terminal: bool,
}

/// Starts a program and returns when it runs: its number, and a handle that can mean no other process.
///
/// The descriptors must be above 3, so that none is overwritten before it is used. `report` becomes descriptor 3.
#[cfg(target_os = "linux")]
pub(in crate::os) fn spawn(
    prepared: &Prepared,
    stdio: [BorrowedFd<'_>; 3],
) -> Result<(i32, OwnedFd), Failed> {
    use super::vfork::{GuardedStack, vfork};

    let during = |errno| (SpawnStep::Process, errno);
    let stack = GuardedStack::new().map_err(during)?;
    let (failures, theirs) = failure_pipe().map_err(during)?;
    // The child has left our memory by exec or by its end when we go on: what it had to say is in the pipe, and nobody
    // else, who may have inherited the other end by a fork of this program, is waited for.
    rustix::io::ioctl_fionbio(&failures, true).map_err(during)?;
    let child = || become_or_tell(prepared, stdio, None, theirs.as_fd());
    let (pid, handle) = vfork(&stack, &child).map_err(during)?;
    drop(theirs);
    match failure(&failures) {
        Some(failed) => {
            let _ = super::wait_pidfd::end_of(handle.as_fd(), super::wait::Reap::Wait);
            Err(failed)
        }
        None => Ok((pid, handle)),
    }
}

/// The same by a plain fork, where the system has no other way: its number, which means nobody else until it is reaped.
#[cfg(any(target_os = "macos", test))]
pub(in crate::os) fn spawn_forked(
    prepared: &Prepared,
    stdio: [BorrowedFd<'_>; 3],
    report: Option<BorrowedFd<'_>>,
) -> Result<i32, Failed> {
    let during = |errno| (SpawnStep::Process, errno);
    let (failures, theirs) = failure_pipe().map_err(during)?;
    let child = || become_or_tell(prepared, stdio, report, theirs.as_fd());
    let pid = super::fork::fork(&child).map_err(during)?;
    drop(theirs);
    // Until exec closes the other end. Every child of this module closes it then; a child that another part of this
    // program forks meanwhile keeps us waiting until its own exec.
    match failure(&failures) {
        Some(failed) => {
            let _ = super::wait_pid::end_of(pid, super::wait::Reap::Wait);
            Err(failed)
        }
        None => Ok(pid),
    }
}

/// Becomes the command, or says why not and ends. System calls only.
fn become_or_tell(
    prepared: &Prepared,
    stdio: [BorrowedFd<'_>; 3],
    report: Option<BorrowedFd<'_>>,
    failures: BorrowedFd<'_>,
) {
    let (step, errno) = become_command(prepared, stdio, report);
    let mut record = [0_u8; 8];
    let parts = [step as u8, 0, 0, 0]
        .into_iter()
        .chain(errno.raw_os_error().to_le_bytes());
    for (slot, byte) in record.iter_mut().zip(parts) {
        *slot = byte;
    }
    // SAFETY: the record is ours; the child ends without touching anything else.
    unsafe {
        libc::write(failures.as_raw_fd(), record.as_ptr().cast(), record.len());
        libc::_exit(127)
    }
}

/// What a child had to say, if it did not become the command.
fn failure(failures: &OwnedFd) -> Option<Failed> {
    let mut record = [0_u8; 8];
    let read = rustix::io::retry_on_intr(|| rustix::io::read(failures, &mut record));
    let [step, _, _, _, errno @ ..] = record;
    (read == Ok(8)).then(|| {
        let known = SpawnStep::ALL
            .into_iter()
            .find(|known| *known as u8 == step);
        let errno = Errno::from_raw_os_error(i32::from_le_bytes(errno));
        (known.unwrap_or(SpawnStep::Process), errno)
    })
}

/// A pipe that exec closes; its writing end is out of the way of descriptors 0-3.
fn failure_pipe() -> Result<(OwnedFd, OwnedFd), Errno> {
    let pipe = std::io::pipe();
    let (reader, writer) =
        pipe.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    let writer = rustix::io::fcntl_dupfd_cloexec(&writer, REPORT + 1)?;
    Ok((reader.into(), writer))
}

/// Turns the new process into the command; returns only if a step fails. System calls only: nothing allocates, locks or
/// panics here.
fn become_command(
    prepared: &Prepared,
    stdio: [BorrowedFd<'_>; 3],
    report: Option<BorrowedFd<'_>>,
) -> Failed {
    if let Err(failed) = set_up(prepared, stdio, report) {
        return failed;
    }
    let mut last = Errno::NOENT;
    for candidate in &prepared.candidates {
        if let Some(judged) = prepared.identity {
            match rustix::fs::stat(candidate.as_c_str()) {
                Err(errno) => return (SpawnStep::Exec, errno),
                Ok(now) if identity(&now) != judged => {
                    return (SpawnStep::ProgramChanged, Errno::STALE);
                }
                Ok(_) => {}
            }
        }
        match exec(candidate, &prepared.argv, &prepared.env) {
            Errno::NOENT | Errno::NOTDIR => {}
            // Another directory may have one that can be run; if none has, this is the better answer.
            errno @ Errno::ACCESS => last = errno,
            errno => return (SpawnStep::Exec, errno),
        }
    }
    (SpawnStep::Exec, last)
}

fn set_up(
    prepared: &Prepared,
    stdio: [BorrowedFd<'_>; 3],
    report: Option<BorrowedFd<'_>>,
) -> Result<(), Failed> {
    let during = |step: SpawnStep| move |errno: Errno| (step, errno);
    reset_dispositions();
    rustix::process::setsid().map_err(during(SpawnStep::Session))?;
    let [stdin, stdout, stderr] = stdio;
    rustix::stdio::dup2_stdin(stdin).map_err(during(SpawnStep::Stdio))?;
    rustix::stdio::dup2_stdout(stdout).map_err(during(SpawnStep::Stdio))?;
    rustix::stdio::dup2_stderr(stderr).map_err(during(SpawnStep::Stdio))?;
    if prepared.terminal {
        // The first of the three that is one. Of those that are not, the kernel says so.
        let taken = [
            rustix::stdio::stdin(),
            rustix::stdio::stdout(),
            rustix::stdio::stderr(),
        ]
        .into_iter()
        .map(rustix::process::ioctl_tiocsctty)
        .find(|taken| *taken != Err(Errno::NOTTY));
        taken
            .unwrap_or(Err(Errno::NOTTY))
            .map_err(during(SpawnStep::Terminal))?;
    }
    close_others_on_exec().map_err(during(SpawnStep::Descriptors))?;
    if let Some(report) = report {
        // SAFETY: no memory is passed; what is at that number is not used any more.
        check(libc::c_long::from(unsafe {
            libc::dup2(report.as_raw_fd(), REPORT)
        }))
        .map_err(during(SpawnStep::Descriptors))?;
    }
    rustix::process::chdir(prepared.cwd.as_c_str()).map_err(during(SpawnStep::WorkingDirectory))?;
    if let Some(judged) = prepared.directory {
        // After it was entered: no link can lead elsewhere any more.
        let now = rustix::fs::stat(c".").map_err(during(SpawnStep::WorkingDirectory))?;
        if identity(&now) != judged {
            return Err((SpawnStep::WorkingDirectory, Errno::STALE));
        }
    }
    // Last, so that no signal of this program's can end the child before it is one of its own.
    empty_mask().map_err(during(SpawnStep::Signals))
}

/// A device and inode number, as everybody here writes them.
#[cfg_attr(
    target_os = "macos",
    expect(
        clippy::cast_sign_loss,
        reason = "the number of a device, kept as it is"
    )
)]
#[cfg_attr(
    target_os = "linux",
    expect(clippy::unnecessary_cast, reason = "the types differ between systems")
)]
const fn identity(found: &rustix::fs::Stat) -> (u64, u64) {
    (found.st_dev as u64, found.st_ino)
}

fn empty_mask() -> Result<(), Errno> {
    // SAFETY: an all-zero set is valid storage for sigemptyset.
    let mut none: libc::sigset_t = unsafe { mem::zeroed() };
    // SAFETY: the set is ours and initialised by the first call.
    check(libc::c_long::from(unsafe {
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, ptr::null_mut())
    }))
    .map(drop)
}

/// Starts a program in place of this process; returns only if that fails.
fn exec(program: &CStr, argv: &ExecStrings, env: &ExecStrings) -> Errno {
    // SAFETY: program and both arrays are terminated and outlive the call.
    unsafe {
        libc::execve(
            program.as_ptr(),
            argv.pointers.as_ptr(),
            env.pointers.as_ptr(),
        )
    };
    last_error()
}
