//! Calls that only tests make: who is asked here is the system itself.

use std::io::{self, Write as _};
use std::os::windows::io::OwnedHandle;
use std::ptr;

use windows_sys::Win32::Security::{
    ACL, AccessCheck, CheckTokenMembership, GENERIC_MAPPING, GetAce, MapGenericMask, PRIVILEGE_SET,
    SetSecurityDescriptorGroup, SetSecurityDescriptorOwner,
};
use windows_sys::Win32::System::LibraryLoader::{GetModuleHandleW, GetProcAddress};
use windows_sys::Win32::System::Threading::{CreateEventW, OpenEventW};

use super::buffer::Buffer;
use super::security::{Descriptor, checked_acl};
use super::token::ImpersonationToken;
use super::{check, length, own, raw, text};
use crate::acl::Rights;
use crate::sid::Sid;

/// Whether this is Wine, which accepts much and enforces little.
pub(crate) fn is_wine() -> bool {
    let name = text::wide("ntdll.dll".as_ref()).unwrap();
    // SAFETY: both names end with a zero, and the library is part of every process.
    unsafe {
        let ntdll = GetModuleHandleW(name.as_ptr());
        GetProcAddress(ntdll, c"wine_get_version".as_ptr().cast()).is_some()
    }
}

/// Says that a test has shown nothing here, and whether that is so.
pub(crate) fn skipped_on_wine(what: &str) -> bool {
    let wine = is_wine();
    if wine {
        // Past the harness, which keeps back what passing tests say.
        let _ = writeln!(io::stderr(), "skipped: Wine {what}");
    }
    wine
}

/// The kinds, flags and sizes of the entries that the system finds in a list.
pub(crate) fn walk(acl: &[u8]) -> io::Result<Vec<(u8, u8, u16)>> {
    let buffer = checked_acl(acl)?;
    let list: *const ACL = buffer.as_ptr().cast();
    // SAFETY: the list is valid, and lives until the end.
    let count = unsafe { (*list).AceCount };
    (0..u32::from(count))
        .map(|index| {
            let mut entry = ptr::null_mut();
            // SAFETY: the list is valid, and an entry starts with its kind, its flags and its size.
            unsafe {
                check(GetAce(list, index, &raw mut entry))?;
                let header = entry.cast::<windows_sys::Win32::Security::ACE_HEADER>();
                Ok(((*header).AceType, (*header).AceFlags, (*header).AceSize))
            }
        })
        .collect()
}

/// What a generic right means for files.
fn file_mapping() -> GENERIC_MAPPING {
    GENERIC_MAPPING {
        GenericRead: Rights::FILE_READ.0,
        GenericWrite: Rights::FILE_WRITE.0,
        GenericExecute: Rights::FILE_EXECUTE.0,
        GenericAll: Rights::FILE_ALL.0,
    }
}

/// Asks the system whether a token may do this to a file with such a list and owner. `None` is no list at all.
pub(crate) fn access_check(
    acl: Option<&[u8]>,
    owner: &Sid,
    token: &ImpersonationToken,
    wanted: Rights,
) -> io::Result<bool> {
    let owner = Buffer::copy_of(&owner.to_bytes());
    let descriptor = match acl {
        Some(acl) => Descriptor::new(acl)?,
        None => Descriptor::without_list()?,
    };
    let at = descriptor.as_ptr().cast_mut();
    // SAFETY: the descriptor was initialised, and the identifier lives until the end.
    unsafe {
        check(SetSecurityDescriptorOwner(at, owner.as_ptr().cast_mut(), 0))?;
        check(SetSecurityDescriptorGroup(at, owner.as_ptr().cast_mut(), 0))?;
    }
    let mapping = file_mapping();
    let mut desired = wanted.0;
    let mut privileges = Buffer::zeroed(1024);
    let mut size = length(privileges.length())?;
    let (mut granted, mut allowed) = (0, 0);
    // SAFETY: all structures are ours, and the buffer is as long as is said.
    check(unsafe {
        MapGenericMask(&raw mut desired, &raw const mapping);
        AccessCheck(
            at,
            raw(token.handle()),
            desired,
            &raw const mapping,
            privileges.as_mut_ptr().cast::<PRIVILEGE_SET>(),
            &raw mut size,
            &raw mut granted,
            &raw mut allowed,
        )
    })?;
    Ok(allowed != 0)
}

/// Whether a token has an identifier in a way that allows something.
pub(crate) fn is_member(token: &ImpersonationToken, sid: &Sid) -> io::Result<bool> {
    let sid = Buffer::copy_of(&sid.to_bytes());
    let mut answer = 0;
    // SAFETY: the identifier lives until the end, and the place for the answer is ours.
    check(unsafe {
        CheckTokenMembership(
            raw(token.handle()),
            sid.as_ptr().cast_mut(),
            &raw mut answer,
        )
    })?;
    Ok(answer != 0)
}

/// An event with a name and an access list.
pub(crate) fn make_event(name: &str, acl: &[u8]) -> io::Result<OwnedHandle> {
    let name = text::wide(name.as_ref())?;
    let descriptor = Descriptor::new(acl)?;
    let attributes = descriptor.attributes()?;
    // SAFETY: the name ends with a zero, and the attributes point to what lives until after the call.
    unsafe {
        let handle = CreateEventW(&raw const attributes, 1, 0, name.as_ptr());
        own(handle)
    }
}

/// Opens an event by its name.
pub(crate) fn open_event(name: &str, rights: u32) -> io::Result<OwnedHandle> {
    let name = text::wide(name.as_ref())?;
    // SAFETY: the name ends with a zero.
    unsafe { own(OpenEventW(rights, 0, name.as_ptr())) }
}

/// Lets children inherit a file, if nobody says otherwise.
pub(crate) fn make_inheritable(file: &std::fs::File) -> io::Result<()> {
    use std::os::windows::io::AsHandle as _;
    use windows_sys::Win32::Foundation::{HANDLE_FLAG_INHERIT, SetHandleInformation};
    // SAFETY: the handle is borrowed for the call.
    check(unsafe {
        SetHandleInformation(
            raw(file.as_handle()),
            HANDLE_FLAG_INHERIT,
            HANDLE_FLAG_INHERIT,
        )
    })
}
