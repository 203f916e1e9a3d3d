//! Which layer refuses a step, and what would help: looked up when a launch has failed, not before.

use std::fmt;
use std::fs;

use rustix::io::Errno;

use crate::step::Step;

/// What refused a step, and the remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Explanation {
    /// What refused.
    pub layer: String,
    /// What would help.
    pub cure: Option<String>,
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.layer)?;
        match &self.cure {
            Some(cure) => write!(f, "; {cure}"),
            None => Ok(()),
        }
    }
}

impl Explanation {
    fn new(layer: &str, cure: &str) -> Self {
        Self {
            layer: layer.to_owned(),
            cure: Some(cure.to_owned()),
        }
    }

    pub(super) fn of(step: Step, errno: i32) -> Option<Self> {
        Self::from_facts(step, Errno::from_raw_os_error(errno), &|path| {
            fs::read_to_string(path)
                .ok()
                .map(|text| text.trim().to_owned())
        })
    }

    /// The same from files that a test can make up.
    fn from_facts(step: Step, errno: Errno, read: &dyn Fn(&str) -> Option<String>) -> Option<Self> {
        let is = |path: &str, value: &str| read(path).as_deref() == Some(value);
        let filtered = read("/proc/thread-self/status").is_some_and(|status| {
            status
                .lines()
                .any(|line| line.split_ascii_whitespace().eq(["Seccomp:", "2"]))
        });
        match (step, errno) {
            (Step::Namespaces, Errno::NOSPC | Errno::USERS)
                if is("/proc/sys/user/max_user_namespaces", "0") =>
            {
                Some(Self::new(
                    "user namespaces are switched off (user.max_user_namespaces = 0)",
                    "raise it: sysctl user.max_user_namespaces=15000",
                ))
            }
            (Step::Namespaces, Errno::NOSPC | Errno::USERS) => Some(Self::new(
                "too many namespaces, or too deeply nested",
                "end other sandboxes, or run this one outside of them",
            )),
            (Step::Namespaces, Errno::PERM)
                if is("/proc/sys/kernel/unprivileged_userns_clone", "0") =>
            {
                Some(Self::new(
                    "unprivileged user namespaces are switched off (kernel.unprivileged_userns_clone = 0)",
                    "switch them on: sysctl kernel.unprivileged_userns_clone=1",
                ))
            }
            (Step::Namespaces, Errno::PERM | Errno::NOSYS) if filtered => Some(Self::new(
                "an outer system-call filter refuses namespaces: a container's profile, or another sandbox",
                "let the outer sandbox allow them, or accept the losses of the landlock tier by name",
            )),
            (Step::Namespaces, Errno::INVAL) => Some(Self::new(
                "this kernel is built without one of the namespaces",
                "accept the losses of the landlock tier by name",
            )),
            (step, Errno::PERM | Errno::ACCESS)
                if step.needs_namespaces()
                    && is(
                        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
                        "1",
                    ) =>
            {
                Some(Self::new(
                    "AppArmor lets unprivileged programs make user namespaces and denies them everything inside",
                    "install an AppArmor profile that grants `userns` to the helper's path",
                ))
            }
            (Step::Proc, Errno::PERM) => Some(Self::new(
                "the host's /proc is partly hidden, as in a container, so a fresh one is refused",
                "start the container with an unmasked /proc, or accept the losses of the landlock tier by name",
            )),
            (Step::Namespaces | Step::Fork | Step::Janitor, Errno::AGAIN) => Some(Self::new(
                "a limit on processes is reached: the session's own, the user's, or the control group's",
                "end other processes, or raise the limit",
            )),
            (Step::LandlockRules | Step::Landlock, Errno::TOOBIG) => Some(Self::new(
                "16 Landlock layers are in force already: sandboxes are nested too deeply",
                "run this one outside of the others",
            )),
            (
                Step::Janitor
                | Step::KeepTree
                | Step::AttachTree
                | Step::Pin
                | Step::Protect
                | Step::Mask
                | Step::Overlay,
                Errno::LOOP,
            ) => Some(Self::new(
                "a symbolic link has appeared on the way to the path since the policy was resolved",
                "name the path without links, and try again",
            )),
            (Step::ProgramChanged, Errno::STALE) => Some(Self::new(
                "the program's path leads to another file than when the command was judged",
                "judge the command again",
            )),
            (Step::Canary, Errno::NOTRECOVERABLE) => Some(Self {
                layer: "a write outside the sandbox succeeded, so nothing was started".to_owned(),
                cure: None,
            }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn explain(step: Step, errno: Errno, files: &[(&str, &str)]) -> String {
        let read = |path: &str| {
            files
                .iter()
                .find(|(known, _)| *known == path)
                .map(|(_, text)| (*text).to_owned())
        };
        Explanation::from_facts(step, errno, &read)
            .map_or_else(String::new, |explanation| explanation.to_string())
    }

    #[test]
    fn the_layer_that_refuses_is_named() {
        let apparmor = [(
            "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
            "1",
        )];
        assert!(explain(Step::UserMap, Errno::PERM, &apparmor).contains("AppArmor profile"));
        assert!(explain(Step::ReadOnlyRoot, Errno::ACCESS, &apparmor).contains("AppArmor profile"));
        let container = [("/proc/thread-self/status", "Name:\tx\nSeccomp:\t2\n")];
        assert!(
            explain(Step::Namespaces, Errno::PERM, &container).contains("outer system-call filter")
        );
        let debian = [("/proc/sys/kernel/unprivileged_userns_clone", "0")];
        assert!(
            explain(Step::Namespaces, Errno::PERM, &debian)
                .contains("kernel.unprivileged_userns_clone=1")
        );
        let off = [("/proc/sys/user/max_user_namespaces", "0")];
        assert!(explain(Step::Namespaces, Errno::NOSPC, &off).contains("max_user_namespaces"));
        assert!(explain(Step::Proc, Errno::PERM, &[]).contains("/proc"));
        assert!(
            explain(Step::ProgramChanged, Errno::STALE, &[]).contains("judge the command again")
        );
        assert_eq!(explain(Step::Exec, Errno::NOENT, &[]), "");
    }
}
