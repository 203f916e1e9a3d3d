//! A job: it holds a process and all that it starts.

use std::io;
use std::os::windows::io::{AsHandle as _, AsRawHandle as _, BorrowedHandle, OwnedHandle};
use std::ptr;
use std::time::Duration;

use windows_sys::Win32::System::JobObjects::{
    CreateJobObjectW, JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION,
    JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE, JOBOBJECT_BASIC_ACCOUNTING_INFORMATION,
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION, JobObjectBasicAccountingInformation,
    JobObjectExtendedLimitInformation, QueryInformationJobObject, SetInformationJobObject,
    TerminateJobObject,
};

use super::{check, own, size_of_structure};
use crate::supervise::Usage;

/// A job without a name: only who has a handle reaches it. Nothing in it can leave it.
#[derive(Debug)]
pub(crate) struct Job(OwnedHandle);

impl Job {
    /// A job that ends all that is in it when it is closed, also when this program ends.
    pub(crate) fn new() -> io::Result<Self> {
        // SAFETY: no attributes and no name: both may be null.
        let handle = unsafe { CreateJobObjectW(ptr::null(), ptr::null()) };
        // SAFETY: the handle is ours, or null.
        let job = Self(unsafe { own(handle) }?);
        // A window that nobody sees must not ask what to do about a crash.
        job.limit(
            JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION,
        )?;
        Ok(job)
    }

    /// From now on, what is in it goes on when it is closed.
    pub(crate) fn release(&self) -> io::Result<()> {
        self.limit(JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION)
    }

    fn limit(&self, flags: u32) -> io::Result<()> {
        let mut limits = JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default();
        limits.BasicLimitInformation.LimitFlags = flags;
        // SAFETY: the structure is the one for this class, and lives during the call.
        check(unsafe {
            SetInformationJobObject(
                self.handle().as_raw_handle(),
                JobObjectExtendedLimitInformation,
                (&raw const limits).cast(),
                size_of_structure::<JOBOBJECT_EXTENDED_LIMIT_INFORMATION>(),
            )
        })
    }

    /// Ends everything in it, with this exit code.
    pub(crate) fn terminate(&self, code: u32) -> io::Result<()> {
        // SAFETY: the handle is that of a job, and has all rights.
        check(unsafe { TerminateJobObject(self.handle().as_raw_handle(), code) })
    }

    /// What all that was in it has used.
    pub(crate) fn usage(&self) -> io::Result<Usage> {
        let mut times = JOBOBJECT_BASIC_ACCOUNTING_INFORMATION::default();
        let mut limits = JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default();
        // SAFETY: each structure is the one for its class, and is ours to write.
        check(unsafe {
            QueryInformationJobObject(
                self.handle().as_raw_handle(),
                JobObjectBasicAccountingInformation,
                (&raw mut times).cast(),
                size_of_structure::<JOBOBJECT_BASIC_ACCOUNTING_INFORMATION>(),
                ptr::null_mut(),
            )
        })?;
        // SAFETY: as above.
        check(unsafe {
            QueryInformationJobObject(
                self.handle().as_raw_handle(),
                JobObjectExtendedLimitInformation,
                (&raw mut limits).cast(),
                size_of_structure::<JOBOBJECT_EXTENDED_LIMIT_INFORMATION>(),
                ptr::null_mut(),
            )
        })?;
        let time = |ticks: i64| {
            let ticks = u64::try_from(ticks).unwrap_or(0);
            Duration::from_nanos(ticks.saturating_mul(100))
        };
        Ok(Usage {
            user: time(times.TotalUserTime),
            system: time(times.TotalKernelTime),
            max_rss_kib: u64::try_from(limits.PeakProcessMemoryUsed).unwrap_or(0) / 1024,
        })
    }

    pub(super) fn handle(&self) -> BorrowedHandle<'_> {
        self.0.as_handle()
    }
}
