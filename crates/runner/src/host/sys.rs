//! The user database.
#![expect(unsafe_code, reason = "the user database is only reached through libc")]

use std::ffi::{CStr, OsStr};
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

/// An entry larger than this is not a person's.
const MAX_ENTRY: usize = 1 << 20;

/// The home directory of a user, if the database knows the user and one is written there.
pub(super) fn home_of(uid: u32) -> Option<PathBuf> {
    let mut size: usize = 1024;
    while size <= MAX_ENTRY {
        let mut buffer: Vec<libc::c_char> = vec![0; size];
        let mut entry = MaybeUninit::<libc::passwd>::uninit();
        let mut found: *mut libc::passwd = std::ptr::null_mut();
        // SAFETY: every pointer is to a live value of the type that is asked for, and the length is the buffer's own.
        let error = unsafe {
            libc::getpwuid_r(
                uid,
                entry.as_mut_ptr(),
                buffer.as_mut_ptr(),
                buffer.len(),
                &raw mut found,
            )
        };
        match error {
            libc::ERANGE => size = size.saturating_mul(4),
            libc::EINTR => {}
            0 if !found.is_null() => {
                // SAFETY: the call succeeded and found an entry, so `entry` is filled in.
                let directory = unsafe { entry.assume_init_ref() }.pw_dir;
                if directory.is_null() {
                    return None;
                }
                // SAFETY: it points to a text in `buffer`, which is alive, that ends with a NUL.
                let directory = unsafe { CStr::from_ptr(directory) };
                let path = PathBuf::from(OsStr::from_bytes(directory.to_bytes()));
                return path.is_absolute().then_some(path);
            }
            _ => return None,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the file says, where the database is the file; `None` if nobody of that number is in it.
    fn in_file(uid: u32) -> Option<PathBuf> {
        let text = std::fs::read_to_string("/etc/passwd").unwrap();
        text.lines().find_map(|line| {
            let fields: Vec<&str> = line.split(':').collect();
            (fields.get(2)?.parse() == Ok(uid)).then(|| PathBuf::from(fields[5]))
        })
    }

    #[test]
    fn the_database_is_asked() {
        for uid in [0, 1, 65534] {
            if let Some(home) = in_file(uid) {
                assert_eq!(home_of(uid), Some(home), "{uid}");
            }
        }
        assert_eq!(home_of(4_000_000_001), None);
    }
}
