//! What the child asks of Windows itself.
#![expect(unsafe_code, reason = "Windows is asked through C only")]

use std::ptr;

use windows_sys::Win32::Foundation::{GetHandleInformation, HANDLE};
use windows_sys::Win32::Security::{
    GetTokenInformation, LUID_AND_ATTRIBUTES, LookupPrivilegeNameW, TOKEN_QUERY, TokenPrivileges,
};
use windows_sys::Win32::System::StationsAndDesktops::{
    GetThreadDesktop, GetUserObjectInformationW, UOI_NAME,
};
use windows_sys::Win32::System::Threading::{
    GetCurrentProcess, GetCurrentThreadId, OpenProcessToken,
};

/// Writes to an address where nothing is.
pub(crate) fn crash() -> ! {
    let nowhere = std::hint::black_box(16_usize) as *mut u32;
    // SAFETY: there is nothing to keep safe: the system ends the process here, and that is what the test looks at.
    unsafe { nowhere.write_volatile(1) };
    std::process::abort()
}

/// Whether a number is a handle of this process.
pub(crate) fn is_handle(number: usize) -> bool {
    let mut flags = 0;
    // SAFETY: any number may be asked about.
    unsafe { GetHandleInformation(number as HANDLE, &raw mut flags) != 0 }
}

/// The name of the desktop of this thread.
pub(crate) fn desktop() -> String {
    let mut name = [0_u16; 256];
    // SAFETY: the buffer is ours and as long as is said.
    let found = unsafe {
        GetUserObjectInformationW(
            GetThreadDesktop(GetCurrentThreadId()),
            UOI_NAME,
            name.as_mut_ptr().cast(),
            512,
            ptr::null_mut(),
        )
    };
    assert_ne!(found, 0);
    String::from_utf16_lossy(name.split(|unit| *unit == 0).next().unwrap())
}

/// The privileges of this process, by name.
pub(crate) fn privileges() -> Vec<String> {
    let mut answer = [0_u32; 1024];
    let mut token: HANDLE = ptr::null_mut();
    let mut used = 0;
    // SAFETY: the places for the answers are ours and as long as is said.
    unsafe {
        assert_ne!(
            OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &raw mut token),
            0
        );
        let asked = GetTokenInformation(
            token,
            TokenPrivileges,
            answer.as_mut_ptr().cast(),
            4096,
            &raw mut used,
        );
        assert_ne!(asked, 0);
    }
    let count = answer.first().copied().unwrap() as usize;
    (0..count)
        .map(|index| {
            let mut name = [0_u16; 128];
            let mut length = 128;
            // SAFETY: the system wrote so many of them after the count, and the buffer is as long as is said.
            unsafe {
                let first = answer.as_ptr().add(1).cast::<LUID_AND_ATTRIBUTES>();
                let privilege = first.add(index).read_unaligned();
                LookupPrivilegeNameW(
                    ptr::null(),
                    &raw const privilege.Luid,
                    name.as_mut_ptr(),
                    &raw mut length,
                );
            }
            String::from_utf16_lossy(name.split(|unit| *unit == 0).next().unwrap())
        })
        .collect()
}
