//! Which file a handle leads to.

#![expect(unsafe_code, reason = "the numbers of files are only told through C")]

use std::fs::File;
use std::io;
use std::os::windows::io::AsRawHandle as _;

use windows_sys::Win32::Storage::FileSystem::{
    BY_HANDLE_FILE_INFORMATION, FILE_BASIC_INFO, FILE_ID_INFO, FILE_TYPE_DISK, FileBasicInfo,
    FileIdInfo, GetFileInformationByHandle, GetFileInformationByHandleEx, GetFileType,
};

/// Which file it is, and when it was last changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    /// The serial number of its volume.
    pub(super) volume: u64,
    /// Its number there.
    pub(super) file: u64,
    /// Seconds since 1601, and nanoseconds.
    pub(super) changed: (i64, i64),
}

impl Identity {
    /// Whether both are the same file, whenever it was changed.
    pub(super) fn is_same_file(&self, other: &Self) -> bool {
        (self.volume, self.file) == (other.volume, other.file)
    }
}

/// Ticks of 100 nanoseconds in a second.
const TICKS: i64 = 10_000_000;

/// Which file it is.
///
/// # Errors
/// The system does not say.
pub(super) fn identify(file: &File) -> io::Result<Identity> {
    let (volume, number) = long_id(file).or_else(|_| short_id(file))?;
    let basic: FILE_BASIC_INFO = ask(file, FileBasicInfo)?;
    // Some file systems only know when the content was written.
    let ticks = match basic.ChangeTime {
        0 => basic.LastWriteTime,
        ticks => ticks,
    };
    Ok(Identity {
        volume,
        file: number,
        changed: (ticks.div_euclid(TICKS), ticks.rem_euclid(TICKS) * 100),
    })
}

/// Whether it is a file of a file system, and no device, pipe or console.
pub(super) fn is_on_disk(file: &File) -> bool {
    // SAFETY: the handle lives during the call.
    (unsafe { GetFileType(file.as_raw_handle()) }) == FILE_TYPE_DISK
}

/// Numbers of up to 128 bits, as ReFS has them. Where they are no longer than 64, they are the short ones.
fn long_id(file: &File) -> io::Result<(u64, u64)> {
    let info: FILE_ID_INFO = ask(file, FileIdInfo)?;
    let number = u128::from_le_bytes(info.FileId.Identifier);
    let low = u64::try_from(number & u128::from(u64::MAX)).unwrap_or(u64::MAX);
    let high = u64::try_from(number >> 64).unwrap_or(u64::MAX);
    // An odd factor, so that no two numbers with the same lower half become one.
    let folded = low ^ high.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    Ok((info.VolumeSerialNumber, folded))
}

/// For file systems that know no longer ones, such as FAT.
fn short_id(file: &File) -> io::Result<(u64, u64)> {
    let mut info = BY_HANDLE_FILE_INFORMATION::default();
    // SAFETY: the handle lives during the call, and the structure is ours to write.
    match unsafe { GetFileInformationByHandle(file.as_raw_handle(), &raw mut info) } {
        0 => Err(io::Error::last_os_error()),
        _ => Ok((
            u64::from(info.dwVolumeSerialNumber),
            (u64::from(info.nFileIndexHigh) << 32) | u64::from(info.nFileIndexLow),
        )),
    }
}

/// A structure that is all numbers, and may hold any.
trait Plain: Default {}

impl Plain for FILE_BASIC_INFO {}
impl Plain for FILE_ID_INFO {}

fn ask<T: Plain>(file: &File, class: i32) -> io::Result<T> {
    let mut info = T::default();
    let size = u32::try_from(size_of::<T>()).unwrap_or(u32::MAX);
    // SAFETY: the handle lives during the call; the structure is ours to write, is as long as is said, and the callers
    // pair it with its class.
    let answered = unsafe {
        GetFileInformationByHandleEx(file.as_raw_handle(), class, (&raw mut info).cast(), size)
    };
    match answered {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(info),
    }
}
