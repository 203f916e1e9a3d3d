//! The steps of a launch, so that a failure has a name: what failed, and which guarantee that takes away.
//!
//! What refused a step, and what would help, is looked up when one has failed (`LaunchError::explain`).
#![expect(
    clippy::exhaustive_enums,
    reason = "a new step must be explained wherever steps are"
)]

use std::fmt;

use palisade_policy::Guarantee;

/// One step between a plan and a running command. The numbers travel between processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u16)]
pub enum Step {
    /// The helper reads the plan.
    ReadPlan = 1,
    /// Placeholders and private directories are made, and someone is appointed to remove them.
    Janitor,
    /// The session's control group is made.
    ControlGroup,
    /// The namespaces are made.
    Namespaces,
    /// The user is mapped to itself in the user namespace.
    UserMap,
    /// A tree of the host is taken aside.
    KeepTree,
    /// The root of the file system is made read-only.
    ReadOnlyRoot,
    /// A private directory is mounted.
    PrivateDirectory,
    /// The private `/dev` is made.
    Devices,
    /// A kept tree is mounted where it belongs.
    AttachTree,
    /// A link in a private directory is made.
    Link,
    /// A directory or link is mounted on itself, so that it cannot be moved.
    Pin,
    /// A protected path is made read-only.
    Protect,
    /// A secret is hidden.
    Mask,
    /// A private layer is mounted over a directory.
    Overlay,
    /// A `/proc` of the session's own processes is mounted.
    Proc,
    /// The loopback interface is brought up.
    Loopback,
    /// The Landlock rules are built.
    LandlockRules,
    /// Capabilities are given up.
    Capabilities,
    /// No new privileges can be gained.
    NoNewPrivileges,
    /// The session begins to serve.
    Serve,
    /// A request for a command is read.
    Request,
    /// A process for the command is made.
    Fork,
    /// The command gets a session of its own.
    ProcessSession,
    /// The command gets its descriptors.
    Stdio,
    /// The command gets its terminal.
    Terminal,
    /// Other descriptors are closed.
    Descriptors,
    /// Limits are set.
    Limits,
    /// The working directory is entered.
    WorkingDirectory,
    /// The Landlock rules are enforced.
    Landlock,
    /// A write outside must fail before anything is started.
    Canary,
    /// The system-call filter is installed.
    Filter,
    /// The program must still be the file that was judged. If it is not, judge the command again: nothing else helps.
    ProgramChanged,
    /// The program is started.
    Exec,
}

impl Step {
    /// Every step, in order.
    pub const ALL: [Self; 34] = [
        Self::ReadPlan,
        Self::Janitor,
        Self::ControlGroup,
        Self::Namespaces,
        Self::UserMap,
        Self::KeepTree,
        Self::ReadOnlyRoot,
        Self::PrivateDirectory,
        Self::Devices,
        Self::AttachTree,
        Self::Link,
        Self::Pin,
        Self::Protect,
        Self::Mask,
        Self::Overlay,
        Self::Proc,
        Self::Loopback,
        Self::LandlockRules,
        Self::Capabilities,
        Self::NoNewPrivileges,
        Self::Serve,
        Self::Request,
        Self::Fork,
        Self::ProcessSession,
        Self::Stdio,
        Self::Terminal,
        Self::Descriptors,
        Self::Limits,
        Self::WorkingDirectory,
        Self::Landlock,
        Self::Canary,
        Self::Filter,
        Self::ProgramChanged,
        Self::Exec,
    ];

    /// The number that stands for the step between processes.
    #[must_use]
    pub const fn code(self) -> u16 {
        self as u16
    }

    /// The step behind a number.
    #[must_use]
    pub fn from_code(code: u16) -> Option<Self> {
        Self::ALL.into_iter().find(|step| step.code() == code)
    }

    /// The guarantee that is gone if this step fails; `None` if the step is not about one.
    #[must_use]
    pub const fn guarantee(self) -> Option<Guarantee> {
        match self {
            Self::KeepTree | Self::ReadOnlyRoot | Self::AttachTree | Self::Canary => {
                Some(Guarantee::WritesOutside)
            }
            Self::Janitor | Self::Pin | Self::Protect => Some(Guarantee::ProtectedPaths),
            Self::Mask => Some(Guarantee::DeniedReads),
            Self::Proc | Self::Namespaces | Self::UserMap => Some(Guarantee::ProcessIsolation),
            Self::Loopback => Some(Guarantee::Network),
            Self::LandlockRules | Self::Landlock => Some(Guarantee::WritesOutside),
            Self::Filter => Some(Guarantee::SystemCalls),
            Self::Overlay => Some(Guarantee::GitImport),
            _ => None,
        }
    }

    /// Whether the step needs namespaces: if it fails, a weaker tier may still work.
    #[must_use]
    pub const fn needs_namespaces(self) -> bool {
        let code = self.code();
        code >= Self::Namespaces.code() && code <= Self::Loopback.code()
    }

    /// Whether the step fails because of one path rather than of what the host supports.
    #[must_use]
    pub const fn is_about_a_path(self) -> bool {
        matches!(
            self,
            Self::KeepTree
                | Self::PrivateDirectory
                | Self::AttachTree
                | Self::Link
                | Self::Pin
                | Self::Protect
                | Self::Mask
                | Self::Overlay
        )
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ReadPlan => "reading the plan",
            Self::Janitor => "making placeholders",
            Self::ControlGroup => "making a control group",
            Self::Namespaces => "making namespaces",
            Self::UserMap => "mapping the user into its namespace",
            Self::KeepTree => "taking a tree of the host aside",
            Self::ReadOnlyRoot => "making the root of the file system read-only",
            Self::PrivateDirectory => "mounting a private directory",
            Self::Devices => "making a private /dev",
            Self::AttachTree => "mounting a tree of the host",
            Self::Link => "making a link",
            Self::Pin => "pinning a path",
            Self::Protect => "protecting a path",
            Self::Mask => "hiding a path",
            Self::Overlay => "mounting a private layer",
            Self::Proc => "mounting /proc",
            Self::Loopback => "bringing loopback up",
            Self::LandlockRules => "building Landlock rules",
            Self::Capabilities => "giving up capabilities",
            Self::NoNewPrivileges => "renouncing new privileges",
            Self::Serve => "serving the session",
            Self::Request => "reading a request",
            Self::Fork => "making a process",
            Self::ProcessSession => "starting a process session",
            Self::Stdio => "passing descriptors",
            Self::Terminal => "taking the terminal",
            Self::Descriptors => "closing descriptors",
            Self::Limits => "setting limits",
            Self::WorkingDirectory => "entering the working directory",
            Self::Landlock => "enforcing Landlock rules",
            Self::Canary => "checking that a write outside fails",
            Self::Filter => "installing the system-call filter",
            Self::ProgramChanged => "checking that the program is the judged one",
            Self::Exec => "starting the program",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_leads_back_to_its_step() {
        for (index, step) in Step::ALL.into_iter().enumerate() {
            assert_eq!(usize::from(step.code()), index + 1, "{step}");
            assert_eq!(Step::from_code(step.code()), Some(step));
        }
        assert_eq!(Step::from_code(0), None);
        assert_eq!(Step::from_code(35), None);
    }
}
