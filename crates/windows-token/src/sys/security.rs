//! Access lists of objects, as bytes.

use std::ffi::c_void;
use std::io;
use std::os::windows::io::BorrowedHandle;
use std::ptr;

use windows_sys::Win32::Foundation::LocalFree;
use windows_sys::Win32::Security::Authorization::{
    GetSecurityInfo, SE_FILE_OBJECT, SetSecurityInfo,
};
use windows_sys::Win32::Security::{
    ACL, DACL_SECURITY_INFORMATION, GetSecurityDescriptorControl, InitializeSecurityDescriptor,
    IsValidAcl, OWNER_SECURITY_INFORMATION, PROTECTED_DACL_SECURITY_INFORMATION, PSID,
    SE_DACL_PROTECTED, SECURITY_ATTRIBUTES, SECURITY_DESCRIPTOR, SetSecurityDescriptorControl,
    SetSecurityDescriptorDacl, UNPROTECTED_DACL_SECURITY_INFORMATION,
};
use windows_sys::Win32::System::SystemServices::SECURITY_DESCRIPTOR_REVISION;

use super::buffer::Buffer;
use super::{check, length, raw, status};
use crate::sid::Sid;

/// The access list of an object, and whether it takes part in inheritance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Dacl {
    /// Its bytes; `None` if the object has no list at all, so that everybody may do everything.
    pub(crate) bytes: Option<Vec<u8>>,
    /// Whether nothing is inherited from above.
    pub(crate) protected: bool,
}

/// Memory that Windows allocated and that `LocalFree` gives back.
struct Local(*mut c_void);

impl Drop for Local {
    fn drop(&mut self) {
        // SAFETY: a call of Windows allocated it for us, and nobody else frees it. Null is allowed.
        unsafe { LocalFree(self.0) };
    }
}

/// The access list of a file or directory, by a handle with `READ_CONTROL`.
///
/// # Errors
/// The system refused.
pub(crate) fn file_dacl(file: BorrowedHandle<'_>) -> io::Result<Dacl> {
    let mut dacl: *mut ACL = ptr::null_mut();
    let mut descriptor: *mut c_void = ptr::null_mut();
    // SAFETY: the handle is borrowed for the call, and the places for the answers are ours.
    status(unsafe {
        GetSecurityInfo(
            raw(file),
            SE_FILE_OBJECT,
            DACL_SECURITY_INFORMATION,
            ptr::null_mut(),
            ptr::null_mut(),
            &raw mut dacl,
            ptr::null_mut(),
            &raw mut descriptor,
        )
    })?;
    let descriptor = Local(descriptor);
    let (mut control, mut revision) = (0, 0);
    // SAFETY: the call above succeeded, so this is a descriptor, and it is not freed yet.
    check(unsafe {
        GetSecurityDescriptorControl(descriptor.0, &raw mut control, &raw mut revision)
    })?;
    let bytes = match dacl.is_null() {
        true => None,
        // SAFETY: the list lies in the descriptor, which is not freed yet.
        false => Some(unsafe { acl_bytes(dacl) }?),
    };
    Ok(Dacl {
        bytes,
        protected: control & SE_DACL_PROTECTED != 0,
    })
}

/// Sets the access list of a file or directory, by a handle with `READ_CONTROL` and `WRITE_DAC`. What is inheritable goes
/// on to everything below that takes part in inheritance.
///
/// # Errors
/// The bytes are no list, or the system refused.
pub(crate) fn set_file_dacl(
    file: BorrowedHandle<'_>,
    acl: &[u8],
    protected: bool,
) -> io::Result<()> {
    let acl = checked_acl(acl)?;
    let inheritance = match protected {
        true => PROTECTED_DACL_SECURITY_INFORMATION,
        false => UNPROTECTED_DACL_SECURITY_INFORMATION,
    };
    // SAFETY: the handle is borrowed for the call, and the list is valid, as was checked, and copied by it.
    status(unsafe {
        SetSecurityInfo(
            raw(file),
            SE_FILE_OBJECT,
            DACL_SECURITY_INFORMATION | inheritance,
            ptr::null_mut(),
            ptr::null_mut(),
            acl.as_ptr().cast(),
            ptr::null(),
        )
    })
}

/// Who owns a file or directory, by a handle with `READ_CONTROL`.
///
/// # Errors
/// The system refused, or answered nonsense.
pub(crate) fn file_owner(file: BorrowedHandle<'_>) -> io::Result<Sid> {
    let mut owner: PSID = ptr::null_mut();
    let mut descriptor: *mut c_void = ptr::null_mut();
    // SAFETY: the handle is borrowed for the call, and the places for the answers are ours.
    status(unsafe {
        GetSecurityInfo(
            raw(file),
            SE_FILE_OBJECT,
            OWNER_SECURITY_INFORMATION,
            &raw mut owner,
            ptr::null_mut(),
            ptr::null_mut(),
            ptr::null_mut(),
            &raw mut descriptor,
        )
    })?;
    let _descriptor = Local(descriptor);
    if owner.is_null() {
        return Err(io::Error::from(io::ErrorKind::InvalidData));
    }
    // SAFETY: the identifier lies in the descriptor, which is not freed yet, and says its own length.
    let bytes = unsafe {
        let length = windows_sys::Win32::Security::GetLengthSid(owner);
        std::slice::from_raw_parts(owner.cast::<u8>(), length as usize)
    };
    let (sid, _) = Sid::from_bytes(bytes).map_err(io::Error::other)?;
    Ok(sid)
}

/// A copy of an access list.
///
/// # Safety
/// It is a list that the system made, and lives until the call returns.
pub(super) unsafe fn acl_bytes(acl: *const ACL) -> io::Result<Vec<u8>> {
    // SAFETY: as the caller says.
    if unsafe { IsValidAcl(acl) } == 0 {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "the system returned an access list that is none",
        ));
    }
    // SAFETY: the list is valid, so its header says how long it is.
    unsafe {
        let length = usize::from((*acl).AclSize);
        Ok(std::slice::from_raw_parts(acl.cast::<u8>(), length).to_vec())
    }
}

/// A copy of these bytes that Windows takes for a list.
pub(super) fn checked_acl(acl: &[u8]) -> io::Result<Buffer> {
    let bad = || {
        io::Error::new(
            io::ErrorKind::InvalidInput,
            "these bytes are not an access list",
        )
    };
    // The size in the header must be the size that we have, or the system would read on.
    let size = match acl {
        [_, _, low, high, _, _, _, _, ..] => usize::from(u16::from_le_bytes([*low, *high])),
        _ => return Err(bad()),
    };
    if size != acl.len() {
        return Err(bad());
    }
    let buffer = Buffer::copy_of(acl);
    // SAFETY: the header is there, and all that it claims to hold is, too.
    match unsafe { IsValidAcl(buffer.as_ptr().cast()) } {
        0 => Err(bad()),
        _ => Ok(buffer),
    }
}

/// What a new object is made with: an access list that nothing is inherited into.
pub(crate) struct Descriptor {
    /// Points into `_acl`. Boxed, so that it stays where it is when this moves.
    descriptor: Box<SECURITY_DESCRIPTOR>,
    _acl: Buffer,
}

impl Descriptor {
    /// With this list.
    ///
    /// # Errors
    /// The bytes are no list.
    pub(crate) fn new(acl: &[u8]) -> io::Result<Self> {
        let acl = checked_acl(acl)?;
        let mut descriptor = Box::<SECURITY_DESCRIPTOR>::default();
        let at: *mut c_void = (&raw mut *descriptor).cast();
        // SAFETY: there is room for a descriptor, and the list it points to lives as long as `Self`: the memory of a
        // vector stays where it is when the vector moves.
        unsafe {
            check(InitializeSecurityDescriptor(
                at,
                SECURITY_DESCRIPTOR_REVISION,
            ))?;
            check(SetSecurityDescriptorDacl(at, 1, acl.as_ptr().cast(), 0))?;
            check(SetSecurityDescriptorControl(
                at,
                SE_DACL_PROTECTED,
                SE_DACL_PROTECTED,
            ))?;
        }
        Ok(Self {
            descriptor,
            _acl: acl,
        })
    }

    /// Without any list, so that everybody may do everything.
    #[cfg(test)]
    pub(super) fn without_list() -> io::Result<Self> {
        let descriptor = Self::new(&[2, 0, 8, 0, 0, 0, 0, 0])?;
        let at = descriptor.as_ptr().cast_mut();
        // SAFETY: the descriptor was initialised; null is no list.
        check(unsafe { SetSecurityDescriptorDacl(at, 1, ptr::null(), 0) })?;
        Ok(descriptor)
    }

    /// As the calls that make objects take it: for an object that is not inherited by other processes. It points into
    /// `self`.
    pub(super) fn attributes(&self) -> io::Result<SECURITY_ATTRIBUTES> {
        Ok(SECURITY_ATTRIBUTES {
            nLength: length(size_of::<SECURITY_ATTRIBUTES>())?,
            lpSecurityDescriptor: self.as_ptr().cast_mut(),
            bInheritHandle: 0,
        })
    }

    pub(super) fn as_ptr(&self) -> *const c_void {
        (&raw const *self.descriptor).cast()
    }
}
