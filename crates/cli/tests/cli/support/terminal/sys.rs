//! Giving a program a controlling terminal, which has to happen between fork and exec.
#![expect(
    unsafe_code,
    reason = "what runs between fork and exec is unsafe to say"
)]

use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

/// Makes the program the leader of a session with this controlling terminal.
pub(super) fn control(command: &mut Command, terminal: OwnedFd) {
    let lead = move || {
        rustix::process::setsid()?;
        rustix::process::ioctl_tiocsctty(&terminal)?;
        Ok(())
    };
    // SAFETY: two system calls, which allocate nothing and lock nothing; the descriptor lives in the closure.
    unsafe { command.pre_exec(lead) };
}
