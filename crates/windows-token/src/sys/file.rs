//! Files and directories by handle: where they really are, and what their volume can do.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::windows::ffi::OsStrExt as _;
use std::os::windows::fs::OpenOptionsExt as _;
use std::os::windows::io::{AsHandle as _, BorrowedHandle};
use std::path::{Component, Path, PathBuf, Prefix};
use std::ptr;

use palisade_policy::AbsolutePath;
use windows_sys::Win32::Storage::FileSystem::{
    BY_HANDLE_FILE_INFORMATION, CreateDirectoryW, ExtendedFileIdType, FILE_FLAG_BACKUP_SEMANTICS,
    FILE_FLAG_OPEN_REPARSE_POINT, FILE_ID_128, FILE_ID_DESCRIPTOR, FILE_ID_DESCRIPTOR_0,
    FILE_ID_INFO, FILE_SHARE_DELETE, FILE_SHARE_READ, FILE_SHARE_WRITE, FILE_TYPE_CHAR,
    FILE_TYPE_DISK, FILE_TYPE_PIPE, FileIdInfo, GetDriveTypeW, GetFileInformationByHandle,
    GetFileInformationByHandleEx, GetFileType, GetFinalPathNameByHandleW, GetLogicalDrives,
    GetVolumeInformationByHandleW, OpenFileById,
};
use windows_sys::Win32::System::SystemServices::FILE_PERSISTENT_ACLS;
use windows_sys::Win32::System::WindowsProgramming::{DRIVE_FIXED, DRIVE_RAMDISK, DRIVE_REMOVABLE};
use windows_sys::Win32::UI::Shell::GetUserProfileDirectoryW;

use super::security::Descriptor;
use super::token::Token;
use super::{check, length, own, raw, text};
use crate::acl::Rights;
use crate::journal::FileId;
use crate::survey::is_missing;

/// Whether the last name of a path is followed, if it is a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LastName {
    /// It is: what it leads to is opened.
    Followed,
    /// It is not: the link itself is opened.
    Itself,
}

/// Opens a file or directory with these rights and no others, shared with everybody.
///
/// # Errors
/// The system refused.
pub(crate) fn open(path: &Path, rights: Rights, last: LastName) -> io::Result<File> {
    let flags = match last {
        LastName::Followed => FILE_FLAG_BACKUP_SEMANTICS,
        LastName::Itself => FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT,
    };
    OpenOptions::new()
        .access_mode(rights.0)
        .share_mode(FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE)
        .custom_flags(flags)
        .open(path)
}

/// Opens something so that nobody removes or moves it while the handle lives, nor a directory above it: the system asks
/// about open handles, whoever the other is. Nothing is read by it, and everybody may go on writing.
///
/// # Errors
/// The system refused, or somebody has it open to remove it.
pub(crate) fn hold(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .access_mode(Rights::READ_DATA.0)
        .share_mode(FILE_SHARE_READ | FILE_SHARE_WRITE)
        .custom_flags(FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT)
        .open(path)
}

/// Where something really is: without links, junctions and short names. The path starts with `\\?\`.
///
/// # Errors
/// The system refused, or it has no name with a drive letter.
pub(crate) fn final_path(file: BorrowedHandle<'_>) -> io::Result<PathBuf> {
    let mut units = vec![0_u16; 512];
    loop {
        // SAFETY: the buffer is ours and as long as is said.
        let count = unsafe {
            GetFinalPathNameByHandleW(raw(file), units.as_mut_ptr(), length(units.len())?, 0)
        };
        match count as usize {
            0 => return Err(io::Error::last_os_error()),
            count if count < units.len() => return Ok(PathBuf::from(text::narrow(&units))),
            // Too short: this is how many it needs, the zero at the end included.
            count => units = vec![0; count + 1],
        }
    }
}

/// Whether the volume of a file keeps access lists: it says so, and it is a disk of this machine. What a server makes
/// of identifiers that only we know is its own business.
///
/// # Errors
/// The system refused.
pub(crate) fn volume_has_acls(file: BorrowedHandle<'_>) -> io::Result<bool> {
    let mut flags = 0;
    // SAFETY: only the flags are asked for; their place is ours.
    check(unsafe {
        GetVolumeInformationByHandleW(
            raw(file),
            ptr::null_mut(),
            0,
            ptr::null_mut(),
            ptr::null_mut(),
            &raw mut flags,
            ptr::null_mut(),
            0,
        )
    })?;
    Ok(flags & FILE_PERSISTENT_ACLS != 0 && is_local(&final_path(file)?)?)
}

/// The drives whose files have no access lists that we could rely on, by their roots. A drive without a medium has no
/// files.
///
/// # Errors
/// The system refused to list the drives.
pub(crate) fn volumes_without_acls() -> io::Result<Vec<AbsolutePath>> {
    // SAFETY: no arguments.
    let drives = unsafe { GetLogicalDrives() };
    if drives == 0 {
        return Err(io::Error::last_os_error());
    }
    let mut without = Vec::new();
    for (bit, letter) in ('A'..='Z').enumerate() {
        if drives & (1 << bit) == 0 {
            continue;
        }
        let root = format!("{letter}:\\");
        let Ok(root) = AbsolutePath::new(&root) else {
            continue;
        };
        let opened = open(root.as_path(), Rights::READ_ATTRIBUTES, LastName::Followed);
        let has_acls = match opened {
            Ok(opened) => volume_has_acls(opened.as_handle()).unwrap_or(false),
            // No medium: nothing to read, and nothing to write.
            Err(error) if is_missing(&error) => continue,
            // Whoever may not look at the root may still reach what is below it.
            Err(_) => false,
        };
        if !has_acls {
            without.push(root);
        }
    }
    Ok(without)
}

/// Whether a path with a drive letter is on a disk of this machine.
fn is_local(path: &Path) -> io::Result<bool> {
    let Some(Component::Prefix(prefix)) = path.components().next() else {
        return Ok(false);
    };
    let (Prefix::Disk(letter) | Prefix::VerbatimDisk(letter)) = prefix.kind() else {
        return Ok(false);
    };
    let root = text::wide(OsString::from(format!("{}:\\", char::from(letter))).as_ref())?;
    // SAFETY: the text ends with a zero.
    let kind = unsafe { GetDriveTypeW(root.as_ptr()) };
    Ok(matches!(
        kind,
        DRIVE_FIXED | DRIVE_REMOVABLE | DRIVE_RAMDISK
    ))
}

/// Which file it is.
///
/// # Errors
/// The system refused.
pub(crate) fn file_id(file: BorrowedHandle<'_>) -> io::Result<FileId> {
    let mut info = FILE_ID_INFO::default();
    // SAFETY: the structure is ours, and is the one that this question is answered with.
    check(unsafe {
        GetFileInformationByHandleEx(
            raw(file),
            FileIdInfo,
            (&raw mut info).cast(),
            length(size_of::<FILE_ID_INFO>())?,
        )
    })?;
    Ok(FileId {
        volume: info.VolumeSerialNumber,
        file: info.FileId.Identifier,
    })
}

/// Opens what has this number on the volume of another file, wherever it is now.
///
/// # Errors
/// There is no such file, or the file system cannot be asked like this.
pub(crate) fn open_by_id(
    on_volume_of: BorrowedHandle<'_>,
    id: FileId,
    rights: Rights,
) -> io::Result<File> {
    let descriptor = FILE_ID_DESCRIPTOR {
        dwSize: length(size_of::<FILE_ID_DESCRIPTOR>())?,
        Type: ExtendedFileIdType,
        Anonymous: FILE_ID_DESCRIPTOR_0 {
            ExtendedFileId: FILE_ID_128 {
                Identifier: id.file,
            },
        },
    };
    // SAFETY: the handle is borrowed for the call, and the description is whole.
    let handle = unsafe {
        OpenFileById(
            raw(on_volume_of),
            &raw const descriptor,
            rights.0,
            FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
            ptr::null(),
            FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT,
        )
    };
    // SAFETY: the handle is ours, or the value for "none".
    unsafe { own(handle) }.map(File::from)
}

/// The profile directory of the user of this process, as the system knows it: no variable is asked.
///
/// # Errors
/// The user has none.
pub(crate) fn profile_directory(token: &Token) -> io::Result<PathBuf> {
    let mut units = [0_u16; 1024];
    let mut count = 1024;
    // SAFETY: the buffer is ours and as long as is said, and the token is open for queries.
    check(unsafe {
        GetUserProfileDirectoryW(raw(token.handle()), units.as_mut_ptr(), &raw mut count)
    })?;
    Ok(PathBuf::from(text::narrow(&units)))
}

/// How many names a file has.
///
/// # Errors
/// The system refused.
pub(crate) fn link_count(file: BorrowedHandle<'_>) -> io::Result<u32> {
    let mut info = BY_HANDLE_FILE_INFORMATION::default();
    // SAFETY: the structure is ours.
    check(unsafe { GetFileInformationByHandle(raw(file), &raw mut info) })?;
    Ok(info.nNumberOfLinks)
}

/// What a handle leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HandleKind {
    /// A file or a directory.
    Disk,
    /// A console, the null device, a printer.
    Character,
    /// A pipe or a socket.
    Pipe,
    /// Something else, or nothing.
    Unknown,
}

/// What a handle leads to.
pub(crate) fn kind(handle: BorrowedHandle<'_>) -> HandleKind {
    // SAFETY: the handle is borrowed for the call.
    match unsafe { GetFileType(raw(handle)) } {
        FILE_TYPE_DISK => HandleKind::Disk,
        FILE_TYPE_CHAR => HandleKind::Character,
        FILE_TYPE_PIPE => HandleKind::Pipe,
        _ => HandleKind::Unknown,
    }
}

/// Makes a directory with this access list from the start.
///
/// # Errors
/// It exists, or the system refused.
pub(crate) fn make_directory(path: &Path, descriptor: &Descriptor) -> io::Result<()> {
    let path = text::wide(long(path).as_os_str())?;
    let attributes = descriptor.attributes()?;
    // SAFETY: the text ends with a zero, and the attributes point to what lives until after the call.
    check(unsafe { CreateDirectoryW(path.as_ptr(), &raw const attributes) })
}

/// An absolute path in the form that has no limit of length. Others stay as they are.
fn long(path: &Path) -> PathBuf {
    match path.components().next() {
        Some(Component::Prefix(prefix)) if matches!(prefix.kind(), Prefix::Disk(_)) => {
            // That form knows backslashes only.
            let plain: PathBuf = path.components().collect();
            let mut verbatim = OsString::from(r"\\?\");
            verbatim.push(plain.as_os_str());
            debug_assert!(!verbatim.encode_wide().any(|unit| unit == u16::from(b'/')));
            PathBuf::from(verbatim)
        }
        _ => path.to_path_buf(),
    }
}
