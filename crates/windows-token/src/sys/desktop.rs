//! Desktops: where the windows of a process are.

use std::ffi::OsString;
use std::io;
use std::ptr;

use windows_sys::Win32::Foundation::GENERIC_ALL;
use windows_sys::Win32::System::StationsAndDesktops::{
    CloseDesktop, CreateDesktopW, GetProcessWindowStation, GetUserObjectInformationW, HDESK,
    UOI_NAME,
};

use super::security::Descriptor;
use super::{check, length, text};

/// A desktop of our own in the window station of this process.
#[derive(Debug)]
pub(crate) struct Desktop {
    handle: HDESK,
    name: OsString,
}

// SAFETY: a desktop's handle is a number that any thread of the process can use; it is only read here, and closed once.
unsafe impl Send for Desktop {}
// SAFETY: as above.
unsafe impl Sync for Desktop {}

impl Desktop {
    /// Makes one of this name with this access list.
    ///
    /// # Errors
    /// The process has no window station, or the system refused.
    pub(crate) fn create(name: &str, descriptor: &Descriptor) -> io::Result<Self> {
        let mut full = station()?;
        full.push("\\");
        full.push(name);
        let name = text::wide(name.as_ref())?;
        let attributes = descriptor.attributes()?;
        // SAFETY: the name ends with a zero, and the attributes point to what lives until after the call. Device and
        // mode must be null.
        let handle = unsafe {
            CreateDesktopW(
                name.as_ptr(),
                ptr::null(),
                ptr::null(),
                0,
                GENERIC_ALL,
                &raw const attributes,
            )
        };
        match handle.is_null() {
            true => Err(io::Error::last_os_error()),
            false => Ok(Self { handle, name: full }),
        }
    }

    /// Its name with the window station, as a process is told.
    pub(crate) fn name(&self) -> &OsString {
        &self.name
    }
}

impl Drop for Desktop {
    fn drop(&mut self) {
        // SAFETY: it is ours, and closed nowhere else. It lives on while a process is on it.
        let _ = unsafe { CloseDesktop(self.handle) };
    }
}

/// The name of the window station that this process is in.
fn station() -> io::Result<OsString> {
    // SAFETY: no arguments; the handle that it returns is not ours and is not closed.
    let handle = unsafe { GetProcessWindowStation() };
    if handle.is_null() {
        return Err(io::Error::last_os_error());
    }
    let mut name = [0_u16; 256];
    // SAFETY: the buffer is ours and as long as is said.
    check(unsafe {
        GetUserObjectInformationW(
            handle,
            UOI_NAME,
            name.as_mut_ptr().cast(),
            length(size_of_val(&name))?,
            ptr::null_mut(),
        )
    })?;
    Ok(text::narrow(&name))
}
