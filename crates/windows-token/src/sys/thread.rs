//! Acting as another token, for a moment, on a thread that does nothing else.

use std::io;
use std::ptr;

use windows_sys::Win32::Security::RevertToSelf;
use windows_sys::Win32::System::Threading::SetThreadToken;

use super::token::ImpersonationToken;
use super::{check, raw};

/// Does something as this token. A thread of its own does it and ends, so that nothing else of this process is ever done
/// as somebody else, and nothing that the token may do is done as ourselves.
///
/// # Errors
/// The thread could not become the token; then nothing was done.
pub(crate) fn acting_as<T: Send>(
    token: &ImpersonationToken,
    act: impl FnOnce() -> T + Send,
) -> io::Result<T> {
    std::thread::scope(|scope| {
        let actor = std::thread::Builder::new().spawn_scoped(scope, || {
            // SAFETY: null is the calling thread, and the token is open for impersonation.
            check(unsafe { SetThreadToken(ptr::null(), raw(token.handle())) })?;
            let outcome = act();
            // SAFETY: no arguments. If it fails the thread still ends, and its token with it.
            let _ = unsafe { RevertToSelf() };
            Ok(outcome)
        })?;
        match actor.join() {
            Ok(outcome) => outcome,
            Err(_) => Err(io::Error::other("the thread that acted did not finish")),
        }
    })
}
