//! What has no safe wrapper: becoming another program, Seatbelt's own question, and the table of processes.
#![expect(
    unsafe_code,
    reason = "exec, sandbox_check and libproc have no safe wrapper"
)]

#[cfg(target_os = "macos")]
pub(crate) mod processes;
#[cfg(target_os = "macos")]
pub(crate) mod seatbelt;
pub(crate) mod stage;
