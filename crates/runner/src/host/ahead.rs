//! A helper that is started before anything is known about what it is for.

#[cfg(all(target_os = "linux", feature = "linux-landlock"))]
use palisade_linux_landlock::Helper;

/// A helper that loads while the caller still works out what to ask of it. If no session takes it, it ends with the last
/// clone of this.
#[derive(Clone, Debug)]
pub struct HelperAhead {
    #[cfg(all(target_os = "linux", feature = "linux-landlock"))]
    helper: Option<Helper>,
}

impl HelperAhead {
    /// None: sessions start their helpers as usual.
    #[must_use]
    pub const fn none() -> Self {
        Self {
            #[cfg(all(target_os = "linux", feature = "linux-landlock"))]
            helper: None,
        }
    }

    /// Starts the running program as a helper, if it has called [`dispatch`](super::dispatch); otherwise it is
    /// [`none`](Self::none). The earlier this is called, the less a session waits for it.
    #[must_use]
    pub fn start() -> Self {
        #[cfg(all(target_os = "linux", feature = "linux-landlock"))]
        if super::dispatch::dispatches() {
            let program = std::env::current_exe().ok();
            return Self {
                helper: program.as_deref().and_then(crate::os::helper_ahead),
            };
        }
        Self::none()
    }

    /// The helper, if it is this program.
    #[cfg(all(target_os = "linux", feature = "linux-landlock"))]
    pub(crate) fn of(&self, program: &std::path::Path) -> Option<Helper> {
        let helper = self.helper.as_ref();
        helper.filter(|helper| helper.program() == program).cloned()
    }
}

#[cfg(test)]
#[cfg(all(target_os = "linux", feature = "linux-landlock"))]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_never_dispatches_is_not_started_as_a_helper() {
        assert!(HelperAhead::start().helper.is_none());
    }
}
