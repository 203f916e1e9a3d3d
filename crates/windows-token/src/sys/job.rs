//! Jobs: what holds processes together, limits and ends them.

use std::io;
use std::os::windows::io::{AsHandle as _, BorrowedHandle, OwnedHandle};
use std::ptr;
use std::time::{Duration, Instant};

use windows_sys::Win32::Foundation::ERROR_MORE_DATA;
use windows_sys::Win32::System::JobObjects::{
    CreateJobObjectW, IsProcessInJob, JOB_OBJECT_LIMIT_ACTIVE_PROCESS,
    JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION, JOB_OBJECT_LIMIT_JOB_MEMORY,
    JOB_OBJECT_LIMIT_JOB_TIME, JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE, JOB_OBJECT_UILIMIT_DESKTOP,
    JOB_OBJECT_UILIMIT_DISPLAYSETTINGS, JOB_OBJECT_UILIMIT_EXITWINDOWS,
    JOB_OBJECT_UILIMIT_GLOBALATOMS, JOB_OBJECT_UILIMIT_HANDLES, JOB_OBJECT_UILIMIT_READCLIPBOARD,
    JOB_OBJECT_UILIMIT_SYSTEMPARAMETERS, JOB_OBJECT_UILIMIT_WRITECLIPBOARD,
    JOBOBJECT_BASIC_ACCOUNTING_INFORMATION, JOBOBJECT_BASIC_UI_RESTRICTIONS,
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION, JobObjectBasicAccountingInformation,
    JobObjectBasicProcessIdList, JobObjectBasicUIRestrictions, JobObjectExtendedLimitInformation,
    QueryInformationJobObject, SetInformationJobObject, TerminateJobObject,
};
use windows_sys::Win32::System::Threading::GetCurrentProcess;

use super::buffer::Buffer;
use super::{check, length, own, raw};
use crate::plan::{JobPlan, UiLimit};

/// A job without a name: only who has a handle reaches it.
#[derive(Debug)]
pub(crate) struct Job(OwnedHandle);

/// What the processes of a job have used, those that ended included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Accounting {
    pub(crate) user: Duration,
    pub(crate) kernel: Duration,
    pub(crate) active: u32,
    pub(crate) total: u32,
}

impl Job {
    /// A job without limits, for a command within a session. It does not end what is in it when it is closed.
    ///
    /// # Errors
    /// The system refused.
    pub(crate) fn unlimited() -> io::Result<Self> {
        // SAFETY: no attributes, no name: both are allowed to be null.
        let handle = unsafe { CreateJobObjectW(ptr::null(), ptr::null()) };
        // SAFETY: the handle is ours, or null.
        unsafe { own(handle) }.map(Self)
    }

    /// A job as a plan wants it.
    ///
    /// # Errors
    /// The system refused a limit.
    pub(crate) fn new(plan: &JobPlan) -> io::Result<Self> {
        let job = Self::unlimited()?;
        let mut limits = JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default();
        // A window that nobody sees must not ask what to do about a crash. Nothing may leave the job: the flags that
        // would let it are never set.
        let mut flags = JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION;
        if plan.kill_on_close {
            flags |= JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
        }
        if let Some(count) = plan.active_processes {
            flags |= JOB_OBJECT_LIMIT_ACTIVE_PROCESS;
            limits.BasicLimitInformation.ActiveProcessLimit = count;
        }
        if let Some(bytes) = plan.job_memory {
            flags |= JOB_OBJECT_LIMIT_JOB_MEMORY;
            limits.JobMemoryLimit = usize::try_from(bytes).unwrap_or(usize::MAX);
        }
        if let Some(seconds) = plan.cpu_seconds {
            flags |= JOB_OBJECT_LIMIT_JOB_TIME;
            // In units of 100 nanoseconds.
            limits.BasicLimitInformation.PerJobUserTimeLimit =
                i64::try_from(seconds.saturating_mul(10_000_000)).unwrap_or(i64::MAX);
        }
        limits.BasicLimitInformation.LimitFlags = flags;
        job.set(JobObjectExtendedLimitInformation, &limits)?;

        let ui = plan
            .ui_limits
            .iter()
            .fold(0, |flags, limit| flags | ui_flag(*limit));
        if ui != 0 {
            let limits = JOBOBJECT_BASIC_UI_RESTRICTIONS {
                UIRestrictionsClass: ui,
            };
            job.set(JobObjectBasicUIRestrictions, &limits)?;
        }
        Ok(job)
    }

    fn set<T>(&self, class: i32, value: &T) -> io::Result<()> {
        // SAFETY: the callers pair a class with its structure, which is as long as is said.
        check(unsafe {
            SetInformationJobObject(
                raw(self.handle()),
                class,
                (&raw const *value).cast(),
                length(size_of::<T>())?,
            )
        })
    }

    /// Ends everything in it, with this exit code.
    ///
    /// # Errors
    /// The system refused.
    pub(crate) fn terminate(&self, code: u32) -> io::Result<()> {
        // SAFETY: the handle has all rights.
        check(unsafe { TerminateJobObject(raw(self.handle()), code) })
    }

    /// What its processes have used, and how many there are.
    ///
    /// # Errors
    /// The system refused.
    pub(crate) fn accounting(&self) -> io::Result<Accounting> {
        let mut info = JOBOBJECT_BASIC_ACCOUNTING_INFORMATION::default();
        // SAFETY: the structure is ours, and is the one that this question is answered with.
        check(unsafe {
            QueryInformationJobObject(
                raw(self.handle()),
                JobObjectBasicAccountingInformation,
                (&raw mut info).cast(),
                length(size_of::<JOBOBJECT_BASIC_ACCOUNTING_INFORMATION>())?,
                ptr::null_mut(),
            )
        })?;
        let time = |ticks: i64| {
            Duration::from_nanos(u64::try_from(ticks).unwrap_or(0).saturating_mul(100))
        };
        Ok(Accounting {
            user: time(info.TotalUserTime),
            kernel: time(info.TotalKernelTime),
            active: info.ActiveProcesses,
            total: info.TotalProcesses,
        })
    }

    /// The ids of the processes in it.
    ///
    /// # Errors
    /// The system refused.
    pub(crate) fn process_ids(&self) -> io::Result<Vec<u32>> {
        // Two counts, and then the ids.
        const HEADER: usize = 8;
        let mut room = 64;
        loop {
            let mut list = Buffer::zeroed(HEADER + room * size_of::<usize>());
            // SAFETY: the buffer is ours and as long as is said.
            let asked = check(unsafe {
                QueryInformationJobObject(
                    raw(self.handle()),
                    JobObjectBasicProcessIdList,
                    list.as_mut_ptr(),
                    length(list.length())?,
                    ptr::null_mut(),
                )
            });
            // SAFETY: any bytes are a pair of counts.
            let [assigned, listed]: [u32; 2] = unsafe { list.read() }.unwrap_or_default();
            match asked {
                Ok(()) if assigned <= listed => {
                    return Ok((0..listed as usize)
                        // SAFETY: any bytes are an id.
                        .filter_map(|index| unsafe { list.entry::<usize>(HEADER, index) })
                        .filter_map(|id| u32::try_from(id).ok())
                        .collect());
                }
                Ok(()) => {}
                Err(error) if error.raw_os_error() == Some(ERROR_MORE_DATA.cast_signed()) => {}
                Err(error) => return Err(error),
            }
            room = (assigned as usize).max(room) * 2;
        }
    }

    /// Waits until nothing is left in it; says whether that came to be in time.
    ///
    /// # Errors
    /// The system refused to say.
    pub(crate) fn wait_until_empty(&self, patience: Duration) -> io::Result<bool> {
        let deadline = Instant::now() + patience;
        let mut pause = Duration::from_millis(1);
        loop {
            if self.accounting()?.active == 0 {
                return Ok(true);
            }
            if Instant::now() >= deadline {
                return Ok(false);
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(20));
        }
    }

    /// Whether a process is in it, or in a job within it.
    ///
    /// # Errors
    /// The system refused to say.
    #[cfg(test)]
    pub(crate) fn contains(&self, process: BorrowedHandle<'_>) -> io::Result<bool> {
        let mut answer = 0;
        // SAFETY: both handles are borrowed for the call, and the place for the answer is ours.
        check(unsafe { IsProcessInJob(raw(process), raw(self.handle()), &raw mut answer) })?;
        Ok(answer != 0)
    }

    pub(super) fn handle(&self) -> BorrowedHandle<'_> {
        self.0.as_handle()
    }
}

/// Whether this process is in a job.
///
/// # Errors
/// The system refused to say.
pub(crate) fn is_in_job() -> io::Result<bool> {
    let mut answer = 0;
    // SAFETY: the pseudo handle of this process is always valid, null is any job, and the place for the answer is ours.
    check(unsafe { IsProcessInJob(GetCurrentProcess(), ptr::null_mut(), &raw mut answer) })?;
    Ok(answer != 0)
}

const fn ui_flag(limit: UiLimit) -> u32 {
    match limit {
        UiLimit::Desktop => JOB_OBJECT_UILIMIT_DESKTOP,
        UiLimit::DisplaySettings => JOB_OBJECT_UILIMIT_DISPLAYSETTINGS,
        UiLimit::ExitWindows => JOB_OBJECT_UILIMIT_EXITWINDOWS,
        UiLimit::GlobalAtoms => JOB_OBJECT_UILIMIT_GLOBALATOMS,
        UiLimit::Handles => JOB_OBJECT_UILIMIT_HANDLES,
        UiLimit::ReadClipboard => JOB_OBJECT_UILIMIT_READCLIPBOARD,
        UiLimit::WriteClipboard => JOB_OBJECT_UILIMIT_WRITECLIPBOARD,
        UiLimit::SystemParameters => JOB_OBJECT_UILIMIT_SYSTEMPARAMETERS,
    }
}
