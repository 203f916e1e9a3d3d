//! Installs a compiled filter.

use rustix::io::Errno;

use super::check;
use crate::seccomp::Instruction;

const SET_MODE_FILTER: libc::c_uint = 1;

/// Installs a filter on the calling thread, for good. Needs `no_new_privs` or a capability.
///
/// The filter is given as the array that the kernel reads: nothing is allocated, so this can run between fork and exec.
pub(crate) fn install(filter: &[Instruction]) -> Result<(), Errno> {
    let program = libc::sock_fprog {
        len: libc::c_ushort::try_from(filter.len()).map_err(|_| Errno::TOOBIG)?,
        // The kernel only reads it; `Instruction` has the layout of `sock_filter`, which the test below checks.
        filter: filter.as_ptr().cast_mut().cast(),
    };
    // SAFETY: program and instructions outlive the call.
    check(unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            SET_MODE_FILTER,
            0_u32,
            &raw const program,
        )
    })
    .map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::offset_of;

    #[test]
    fn an_instruction_is_what_the_kernel_reads() {
        assert_eq!(size_of::<Instruction>(), size_of::<libc::sock_filter>());
        assert_eq!(align_of::<Instruction>(), align_of::<libc::sock_filter>());
        assert_eq!(
            offset_of!(Instruction, code),
            offset_of!(libc::sock_filter, code)
        );
        assert_eq!(
            offset_of!(Instruction, jt),
            offset_of!(libc::sock_filter, jt)
        );
        assert_eq!(
            offset_of!(Instruction, jf),
            offset_of!(libc::sock_filter, jf)
        );
        assert_eq!(offset_of!(Instruction, k), offset_of!(libc::sock_filter, k));
    }
}
