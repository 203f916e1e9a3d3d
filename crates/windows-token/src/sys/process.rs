//! Starting a process with a token, in jobs, on a desktop, with exactly three handles; and waiting for it.

use std::ffi::c_void;
use std::io;
use std::os::windows::io::{AsHandle as _, BorrowedHandle, OwnedHandle};
use std::path::Path;
use std::ptr;
use std::time::Duration;

use windows_sys::Win32::Foundation::{
    DUPLICATE_SAME_ACCESS, DuplicateHandle, ERROR_INVALID_PARAMETER, FILETIME, HANDLE,
    WAIT_OBJECT_0, WAIT_TIMEOUT,
};
use windows_sys::Win32::System::Threading::{
    CREATE_NO_WINDOW, CREATE_UNICODE_ENVIRONMENT, CreateProcessAsUserW,
    DeleteProcThreadAttributeList, EXTENDED_STARTUPINFO_PRESENT, GetCurrentProcess,
    GetExitCodeProcess, GetProcessTimes, INFINITE, InitializeProcThreadAttributeList,
    LPPROC_THREAD_ATTRIBUTE_LIST, OpenProcess, PROC_THREAD_ATTRIBUTE_HANDLE_LIST,
    PROC_THREAD_ATTRIBUTE_JOB_LIST, PROCESS_CREATE_PROCESS, PROCESS_CREATE_THREAD,
    PROCESS_DUP_HANDLE, PROCESS_INFORMATION, PROCESS_QUERY_LIMITED_INFORMATION,
    PROCESS_SET_INFORMATION, PROCESS_SYNCHRONIZE, PROCESS_VM_OPERATION, PROCESS_VM_WRITE,
    STARTF_USESTDHANDLES, STARTUPINFOEXW, UpdateProcThreadAttribute, WaitForSingleObject,
};

use super::buffer::Buffer;
use super::desktop::Desktop;
use super::job::Job;
use super::token::Token;
use super::{check, length, own, raw, text};
use crate::acl::Rights;

/// Everything that a new process is.
#[derive(Debug)]
pub(crate) struct Launch<'a> {
    /// The file that is run, absolute.
    pub(crate) program: &'a Path,
    /// Its arguments, as one string without a NUL.
    pub(crate) command_line: &'a [u16],
    /// Its environment: names and values, each ended by a zero, and one more zero.
    pub(crate) environment: &'a [u16],
    /// Its working directory.
    pub(crate) directory: &'a Path,
    /// Who it is.
    pub(crate) token: &'a Token,
    /// The jobs that it is in from its first moment, the outermost first.
    pub(crate) jobs: &'a [&'a Job],
    /// Where its windows are.
    pub(crate) desktop: &'a Desktop,
    /// Its standard handles, and all that it inherits.
    pub(crate) stdio: [BorrowedHandle<'a>; 3],
}

/// A process that was started.
#[derive(Debug)]
pub(crate) struct Process {
    handle: OwnedHandle,
    id: u32,
}

impl Launch<'_> {
    /// Starts it.
    ///
    /// # Errors
    /// The system refused; then nothing ran.
    pub(crate) fn start(&self) -> io::Result<Process> {
        let program = text::wide(self.program.as_os_str())?;
        let mut command_line = self.command_line.to_vec();
        command_line.push(0);
        let directory = text::wide(self.directory.as_os_str())?;
        let mut desktop = text::wide(self.desktop.name())?;
        if !matches!(self.environment, [.., 0, 0]) {
            return Err(io::Error::from(io::ErrorKind::InvalidInput));
        }
        let [stdin, stdout, stderr] = self.stdio;
        let copies = [
            inheritable(stdin)?,
            inheritable(stdout)?,
            inheritable(stderr)?,
        ];
        let handles = copies.each_ref().map(|copy| raw(copy.as_handle()));
        let jobs: Vec<HANDLE> = self.jobs.iter().map(|job| raw(job.handle())).collect();
        let mut attributes = Attributes::new(2)?;
        // SAFETY: both arrays live until after the launch, and the attribute list is dropped before them.
        unsafe {
            attributes.set(PROC_THREAD_ATTRIBUTE_HANDLE_LIST, &handles)?;
            if !jobs.is_empty() {
                attributes.set(PROC_THREAD_ATTRIBUTE_JOB_LIST, &jobs)?;
            }
        }

        let mut startup = STARTUPINFOEXW::default();
        startup.StartupInfo.cb = length(size_of::<STARTUPINFOEXW>())?;
        startup.StartupInfo.lpDesktop = desktop.as_mut_ptr();
        startup.StartupInfo.dwFlags = STARTF_USESTDHANDLES;
        [
            startup.StartupInfo.hStdInput,
            startup.StartupInfo.hStdOutput,
            startup.StartupInfo.hStdError,
        ] = handles;
        startup.lpAttributeList = attributes.as_list();

        let flags = EXTENDED_STARTUPINFO_PRESENT | CREATE_UNICODE_ENVIRONMENT | CREATE_NO_WINDOW;
        let mut information = PROCESS_INFORMATION::default();
        // SAFETY: all texts end with a zero, the command line may be written to, the environment ends with two zeros,
        // and the startup information is the extended one, as the flag says. All of it lives until after the call.
        check(unsafe {
            CreateProcessAsUserW(
                raw(self.token.handle()),
                program.as_ptr(),
                command_line.as_mut_ptr(),
                ptr::null(),
                ptr::null(),
                1,
                flags,
                self.environment.as_ptr().cast(),
                directory.as_ptr(),
                (&raw const startup).cast(),
                &raw mut information,
            )
        })?;
        // SAFETY: the call succeeded, so both handles are ours.
        let (handle, _thread) = unsafe { (own(information.hProcess)?, own(information.hThread)) };
        Ok(Process {
            handle,
            id: information.dwProcessId,
        })
    }
}

impl Process {
    /// Somebody else's process, to wait for it.
    #[cfg(test)]
    pub(crate) fn open(id: u32) -> io::Result<Self> {
        let access = PROCESS_QUERY_LIMITED_INFORMATION | PROCESS_SYNCHRONIZE;
        // SAFETY: no pointers; the handle is ours, or null.
        let handle = unsafe { own(OpenProcess(access, 0, id)) }?;
        Ok(Self { handle, id })
    }

    /// Its id. While this lives, nobody else gets it.
    pub(crate) const fn id(&self) -> u32 {
        self.id
    }

    pub(crate) fn handle(&self) -> BorrowedHandle<'_> {
        self.handle.as_handle()
    }

    /// Waits until it ends, and says with which code; `None` if it has not ended in time. Without a time it waits for
    /// ever.
    ///
    /// # Errors
    /// The system refused.
    pub(crate) fn wait(&self, patience: Option<Duration>) -> io::Result<Option<u32>> {
        let milliseconds = match patience {
            None => INFINITE,
            // The largest number means for ever.
            Some(patience) => u32::try_from(patience.as_millis())
                .unwrap_or(INFINITE - 1)
                .min(INFINITE - 1),
        };
        // SAFETY: the handle is ours and open.
        match unsafe { WaitForSingleObject(raw(self.handle()), milliseconds) } {
            WAIT_OBJECT_0 => {}
            WAIT_TIMEOUT => return Ok(None),
            _ => return Err(io::Error::last_os_error()),
        }
        let mut code = 0;
        // SAFETY: the handle is ours and open, and the place for the answer, too. The process has ended, so 259 is its
        // code and not the word for "still running".
        check(unsafe { GetExitCodeProcess(raw(self.handle()), &raw mut code) })?;
        Ok(Some(code))
    }
}

/// When this process was started, in the system's own unit.
///
/// # Errors
/// The system refused.
pub(crate) fn own_start() -> io::Result<u64> {
    // SAFETY: the pseudo handle of this process is always valid.
    start_of(unsafe { BorrowedHandle::borrow_raw(GetCurrentProcess()) })
}

pub(super) fn start_of(process: BorrowedHandle<'_>) -> io::Result<u64> {
    let mut created = FILETIME::default();
    let [mut exited, mut kernel, mut user] = [FILETIME::default(); 3];
    // SAFETY: the handle is borrowed for the call, and the places for the answers are ours.
    check(unsafe {
        GetProcessTimes(
            raw(process),
            &raw mut created,
            &raw mut exited,
            &raw mut kernel,
            &raw mut user,
        )
    })?;
    Ok(u64::from(created.dwHighDateTime) << 32 | u64::from(created.dwLowDateTime))
}

/// Whether the process with this id that was started at this moment still runs. If nobody may say, it does: what belongs
/// to somebody who may be alive is not taken from him.
pub(crate) fn is_alive(id: u32, started: u64) -> bool {
    let access = PROCESS_QUERY_LIMITED_INFORMATION | PROCESS_SYNCHRONIZE;
    // SAFETY: no pointers.
    let handle = unsafe { OpenProcess(access, 0, id) };
    // SAFETY: the handle is ours, or null.
    let handle = match unsafe { own(handle) } {
        Ok(handle) => handle,
        // There is no such process.
        Err(error) if error.raw_os_error() == Some(ERROR_INVALID_PARAMETER.cast_signed()) => {
            return false;
        }
        Err(_) => return true,
    };
    // SAFETY: the handle is ours and open.
    let ended = unsafe { WaitForSingleObject(raw(handle.as_handle()), 0) } == WAIT_OBJECT_0;
    // Numbers are used again; moments are not.
    let same = start_of(handle.as_handle()).map_or(true, |moment| moment == started);
    same && !ended
}

/// Rights on a process, each of which is enough to make it do something, or is part of what is.
pub(crate) const TAKES_OVER: [u32; 8] = [
    PROCESS_CREATE_THREAD,
    PROCESS_VM_OPERATION,
    PROCESS_VM_WRITE,
    PROCESS_DUP_HANDLE,
    PROCESS_CREATE_PROCESS,
    PROCESS_SET_INFORMATION,
    Rights::WRITE_DAC.0,
    Rights::WRITE_OWNER.0,
];

/// Opens this process as a stranger would, with this right, and closes it again.
///
/// # Errors
/// The system refused.
pub(crate) fn open_own(right: u32) -> io::Result<()> {
    // SAFETY: no pointers; the handle is ours, or null.
    unsafe { own(OpenProcess(right, 0, std::process::id())) }.map(drop)
}

/// A copy of a handle that a child inherits, if it is in its list.
fn inheritable(handle: BorrowedHandle<'_>) -> io::Result<OwnedHandle> {
    let mut copy: HANDLE = ptr::null_mut();
    // SAFETY: the pseudo handle of this process is always valid, the handle is borrowed for the call, and the place for
    // the answer is ours.
    check(unsafe {
        DuplicateHandle(
            GetCurrentProcess(),
            raw(handle),
            GetCurrentProcess(),
            &raw mut copy,
            0,
            1,
            DUPLICATE_SAME_ACCESS,
        )
    })?;
    // SAFETY: the call succeeded, so the handle is ours.
    unsafe { own(copy) }
}

/// What a new process gets that does not fit into the old structure.
struct Attributes(Buffer);

impl Attributes {
    fn new(count: u32) -> io::Result<Self> {
        let mut size = 0;
        // SAFETY: with no list, the call says how large one is; its error says the same and is no error.
        let _ =
            unsafe { InitializeProcThreadAttributeList(ptr::null_mut(), count, 0, &raw mut size) };
        let mut list = Buffer::zeroed(size);
        // SAFETY: the list is as large as it wants to be.
        check(unsafe {
            InitializeProcThreadAttributeList(list.as_mut_ptr(), count, 0, &raw mut size)
        })?;
        Ok(Self(list))
    }

    /// Sets an attribute that is an array of handles.
    ///
    /// # Safety
    /// The array lives until this is dropped, and the attribute is one that takes such an array.
    unsafe fn set(&mut self, attribute: u32, handles: &[HANDLE]) -> io::Result<()> {
        let value: *const c_void = handles.as_ptr().cast();
        // SAFETY: the list was initialised, and the value is as long as is said; it stays, as the caller says.
        check(unsafe {
            UpdateProcThreadAttribute(
                self.as_list(),
                0,
                attribute as usize,
                value,
                size_of_val(handles),
                ptr::null_mut(),
                ptr::null(),
            )
        })
    }

    fn as_list(&mut self) -> LPPROC_THREAD_ATTRIBUTE_LIST {
        self.0.as_mut_ptr()
    }
}

impl Drop for Attributes {
    fn drop(&mut self) {
        // SAFETY: it was initialised, or this would not exist.
        unsafe { DeleteProcThreadAttributeList(self.as_list()) };
    }
}
