//! Numbers that nobody can guess.

use std::io;
use std::ptr;

use windows_sys::Win32::Security::Cryptography::{
    BCRYPT_USE_SYSTEM_PREFERRED_RNG, BCryptGenRandom,
};

/// Random bytes of the system.
///
/// # Errors
/// The system has none.
pub(crate) fn bytes<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    let length = super::length(N)?;
    // SAFETY: the buffer is ours and as long as is said; without an algorithm the flag names the system's own.
    let answer = unsafe {
        BCryptGenRandom(
            ptr::null_mut(),
            bytes.as_mut_ptr(),
            length,
            BCRYPT_USE_SYSTEM_PREFERRED_RNG,
        )
    };
    match answer {
        0.. => Ok(bytes),
        status => Err(io::Error::other(format!(
            "the system gave no random numbers (status {status:#010x})"
        ))),
    }
}

/// Random numbers of the system.
///
/// # Errors
/// The system has none.
pub(crate) fn numbers() -> io::Result<[u32; 4]> {
    let bytes = bytes::<16>()?;
    let mut numbers = [0; 4];
    for (number, chunk) in numbers.iter_mut().zip(bytes.chunks_exact(4)) {
        *number = chunk
            .iter()
            .fold(0, |value, byte| value << 8 | u32::from(*byte));
    }
    Ok(numbers)
}
