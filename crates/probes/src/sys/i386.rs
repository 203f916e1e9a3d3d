//! 32-bit system calls from a 64-bit program.

use std::arch::asm;
use std::io;
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

/// Makes a datagram socket, and leaves it to the end of the process.
pub(crate) fn socket() -> io::Result<i32> {
    const SOCKETCALL: u32 = 102;
    const SOCKET: u32 = 1;
    const INET_DATAGRAM: [u32; 3] = [2, 2, 0];
    // SAFETY: a new mapping below 4 GiB, which 32-bit pointers reach.
    let at = unsafe {
        libc::mmap(
            ptr::null_mut(),
            4096,
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
    // SAFETY: the mapping is new, writable and has room; the kernel reads three words there.
    checked(unsafe {
        at.cast::<[u32; 3]>().write(INET_DATAGRAM);
        call(SOCKETCALL, SOCKET, low)
    })
}
