//! 32-bit system calls from a 64-bit program.

use std::arch::asm;
use std::io;
use std::path::Path;
use std::ptr;

/// # Safety
/// The arguments must be fit for the call.
unsafe fn call(number: u32, first: u32, second: u32) -> i32 {
    let result: u32;
    // SAFETY: the kernel saves every register but the result, and r8 to r11 on older versions; rbx cannot be named as
    // an operand, so it is exchanged.
    unsafe {
        asm!(
            "xchg {first:r}, rbx",
            "int 0x80",
            "xchg {first:r}, rbx",
            first = inout(reg) u64::from(first) => _,
            inlateout("eax") number => result,
            in("ecx") second,
            in("edx") 0,
            in("esi") 0,
            in("edi") 0,
            out("r8") _,
            out("r9") _,
            out("r10") _,
            out("r11") _,
        );
    }
    result.cast_signed()
}

fn checked(result: i32) -> io::Result<i32> {
    if result < 0 {
        Err(io::Error::from_raw_os_error(-result))
    } else {
        Ok(result)
    }
}

/// The number of this process.
pub(crate) fn process_id() -> io::Result<i32> {
    const GETPID: u32 = 20;
    // SAFETY: the call takes no arguments.
    checked(unsafe { call(GETPID, 0, 0) })
}

/// A new page below 4 GiB, which 32-bit pointers reach.
fn low_page() -> io::Result<(*mut u8, u32)> {
    // SAFETY: a new mapping; no existing memory is touched.
    let at = unsafe {
        libc::mmap(
            ptr::null_mut(),
            PAGE,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_32BIT,
            -1,
            0,
        )
    };
    if at == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    let low = u32::try_from(at as usize).map_err(|_| io::Error::from_raw_os_error(libc::EFAULT))?;
    Ok((at.cast(), low))
}

const PAGE: usize = 4096;

/// Makes a datagram socket, and leaves it to the end of the process.
pub(crate) fn socket() -> io::Result<i32> {
    const SOCKETCALL: u32 = 102;
    const SOCKET: u32 = 1;
    const INET_DATAGRAM: [u32; 3] = [2, 2, 0];
    let (at, low) = low_page()?;
    // SAFETY: the mapping is new, writable and has room; the kernel reads three words there.
    checked(unsafe {
        at.cast::<[u32; 3]>().write(INET_DATAGRAM);
        call(SOCKETCALL, SOCKET, low)
    })
}

/// Empties a file.
pub(crate) fn empty(path: &Path) -> io::Result<()> {
    const OPEN: u32 = 5;
    let flags = (libc::O_WRONLY | libc::O_TRUNC).cast_unsigned();
    let path = super::terminated(path)?;
    let bytes = path.as_bytes_with_nul();
    if bytes.len() > PAGE {
        return Err(io::Error::from_raw_os_error(libc::ENAMETOOLONG));
    }
    let (at, low) = low_page()?;
    // SAFETY: the mapping is new, writable and has room for the terminated string that the kernel reads.
    checked(unsafe {
        ptr::copy_nonoverlapping(bytes.as_ptr(), at, bytes.len());
        call(OPEN, low, flags)
    })
    .map(drop)
}
