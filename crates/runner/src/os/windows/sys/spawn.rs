//! Starting a process in a job, with exactly three handles; and how it ended.

use std::ffi::{OsStr, c_void};
use std::io;
use std::os::windows::ffi::OsStrExt as _;
use std::os::windows::io::{AsHandle as _, AsRawHandle as _, BorrowedHandle, OwnedHandle};
use std::path::Path;
use std::ptr;

use windows_sys::Win32::Foundation::{
    DUPLICATE_SAME_ACCESS, DuplicateHandle, HANDLE, WAIT_OBJECT_0, WAIT_TIMEOUT,
};
use windows_sys::Win32::System::Threading::{
    CREATE_NO_WINDOW, CREATE_UNICODE_ENVIRONMENT, CreateProcessW, DeleteProcThreadAttributeList,
    EXTENDED_STARTUPINFO_PRESENT, GetCurrentProcess, GetExitCodeProcess,
    InitializeProcThreadAttributeList, LPPROC_THREAD_ATTRIBUTE_LIST,
    PROC_THREAD_ATTRIBUTE_HANDLE_LIST, PROC_THREAD_ATTRIBUTE_JOB_LIST, PROCESS_INFORMATION,
    STARTF_USESTDHANDLES, STARTUPINFOEXW, UpdateProcThreadAttribute, WaitForSingleObject,
};

use super::job::Job;
use super::{check, own, size_of_structure};

/// Everything that a new process is.
#[derive(Debug)]
pub(crate) struct Launch<'a> {
    /// The file that is run, absolute.
    pub(crate) program: &'a Path,
    /// Its arguments, as one line without its end.
    pub(crate) command_line: &'a [u16],
    /// Its environment, as a block that ends with two zeros.
    pub(crate) environment: &'a [u16],
    /// Its working directory.
    pub(crate) directory: &'a Path,
    /// The job that it is in from its first moment.
    pub(crate) job: &'a Job,
    /// Its standard handles, and all that it inherits.
    pub(crate) stdio: [BorrowedHandle<'a>; 3],
}

/// Where a start failed.
#[derive(Debug)]
pub(crate) enum Failed {
    /// The handles could not be passed.
    Handles(io::Error),
    /// The system did not start it.
    Start(io::Error),
}

impl Launch<'_> {
    /// Starts it; the answer is its handle.
    pub(crate) fn start(&self) -> Result<OwnedHandle, Failed> {
        let [stdin, stdout, stderr] = self.stdio;
        let inherited = || -> io::Result<[OwnedHandle; 3]> {
            Ok([
                inheritable(stdin)?,
                inheritable(stdout)?,
                inheritable(stderr)?,
            ])
        };
        let copies = inherited().map_err(Failed::Handles)?;
        self.start_with(&copies).map_err(Failed::Start)
    }

    fn start_with(&self, copies: &[OwnedHandle; 3]) -> io::Result<OwnedHandle> {
        let program = wide(self.program.as_os_str())?;
        // The call may write into it.
        let mut command_line = ended(self.command_line.to_vec())?;
        let directory = wide(self.directory.as_os_str())?;
        if !matches!(self.environment, [.., 0, 0]) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let handles = copies
            .each_ref()
            .map(|copy| copy.as_handle().as_raw_handle());
        let jobs = [self.job.handle().as_raw_handle()];
        let mut attributes = Attributes::new(2)?;
        // SAFETY: both arrays live until after the start, and the list is dropped before them.
        unsafe {
            attributes.set(PROC_THREAD_ATTRIBUTE_HANDLE_LIST, &handles)?;
            attributes.set(PROC_THREAD_ATTRIBUTE_JOB_LIST, &jobs)?;
        }
        let mut startup = STARTUPINFOEXW::default();
        startup.StartupInfo.cb = size_of_structure::<STARTUPINFOEXW>();
        startup.StartupInfo.dwFlags = STARTF_USESTDHANDLES;
        [
            startup.StartupInfo.hStdInput,
            startup.StartupInfo.hStdOutput,
            startup.StartupInfo.hStdError,
        ] = handles;
        startup.lpAttributeList = attributes.as_list();
        let mut started = PROCESS_INFORMATION::default();
        // SAFETY: every text ends with a zero and every structure lives during the call; the block ends with two zeros.
        check(unsafe {
            CreateProcessW(
                program.as_ptr(),
                command_line.as_mut_ptr(),
                ptr::null(),
                ptr::null(),
                1,
                CREATE_UNICODE_ENVIRONMENT | EXTENDED_STARTUPINFO_PRESENT | CREATE_NO_WINDOW,
                self.environment.as_ptr().cast(),
                directory.as_ptr(),
                (&raw const startup).cast(),
                &raw mut started,
            )
        })?;
        // SAFETY: both handles are ours from now on.
        let (process, thread) = unsafe { (own(started.hProcess), own(started.hThread)) };
        drop(thread);
        process
    }
}

/// The exit code of a process; `None` while it runs.
pub(crate) fn exit_code(process: BorrowedHandle<'_>) -> io::Result<Option<u32>> {
    // SAFETY: the handle is borrowed for the call. It does not wait.
    match unsafe { WaitForSingleObject(process.as_raw_handle(), 0) } {
        WAIT_OBJECT_0 => {}
        WAIT_TIMEOUT => return Ok(None),
        _ => return Err(io::Error::last_os_error()),
    }
    let mut code = 0;
    // SAFETY: the handle is borrowed for the call, and the place for the answer is ours.
    check(unsafe { GetExitCodeProcess(process.as_raw_handle(), &raw mut code) })?;
    Ok(Some(code))
}

/// A copy of a handle that a child can inherit. Only a child whose list names it, or that is started without a list,
/// does: it is open for as long as one start takes.
pub(in crate::os::windows) fn inheritable(handle: BorrowedHandle<'_>) -> io::Result<OwnedHandle> {
    let mut copy: HANDLE = ptr::null_mut();
    // SAFETY: this process is asked to copy a handle that is borrowed for the call; the place for the answer is ours.
    check(unsafe {
        let this = GetCurrentProcess();
        DuplicateHandle(
            this,
            handle.as_raw_handle(),
            this,
            &raw mut copy,
            0,
            1,
            DUPLICATE_SAME_ACCESS,
        )
    })?;
    // SAFETY: the call succeeded, so the copy is ours.
    unsafe { own(copy) }
}

/// A text with a zero at its end.
fn wide(text: &OsStr) -> io::Result<Vec<u16>> {
    ended(text.encode_wide().collect())
}

fn ended(mut units: Vec<u16>) -> io::Result<Vec<u16>> {
    if units.contains(&0) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    units.push(0);
    Ok(units)
}

/// What else a new process is told.
#[derive(Debug)]
struct Attributes(Vec<usize>);

impl Attributes {
    fn new(count: u32) -> io::Result<Self> {
        let mut bytes = 0;
        // SAFETY: without a list it only says how long one is, and fails.
        unsafe { InitializeProcThreadAttributeList(ptr::null_mut(), count, 0, &raw mut bytes) };
        // In whole words, so that it is aligned.
        let mut list = vec![0_usize; bytes.div_ceil(size_of::<usize>())];
        // SAFETY: the buffer is as long as was asked for.
        check(unsafe {
            InitializeProcThreadAttributeList(list.as_mut_ptr().cast(), count, 0, &raw mut bytes)
        })?;
        Ok(Self(list))
    }

    /// Names handles.
    ///
    /// # Safety
    /// The handles live as long as the list is used.
    unsafe fn set(&mut self, attribute: u32, handles: &[HANDLE]) -> io::Result<()> {
        let value: *const c_void = handles.as_ptr().cast();
        // SAFETY: the list was initialised with room for it, and the value is as long as is said and stays, as the
        // caller says.
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
        self.0.as_mut_ptr().cast()
    }
}

impl Drop for Attributes {
    fn drop(&mut self) {
        // SAFETY: it was initialised, or this would not exist.
        unsafe { DeleteProcThreadAttributeList(self.as_list()) };
    }
}
