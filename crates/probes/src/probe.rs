//! What a probe is, and what is expected of it.

use std::fmt;

use crate::report::Report;
use crate::site::Site;

/// One attempt, or one useful act.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Probe {
    /// Its name, for ever.
    pub name: &'static str,
    /// Its number in the corpus of escapes; none for useful acts and for attempts that are not in it.
    pub number: Option<u16>,
    /// What it is about.
    pub class: Class,
    /// Under which policies it makes sense.
    pub mode: Mode,
    /// What it does, in a few words.
    pub about: &'static str,
    /// What it is without a sandbox.
    pub control: Control,
    full: Expected,
    landlock: Expected,
    attempt: Option<fn(&Site) -> Report>,
}

impl Probe {
    pub(crate) const fn new(
        class: Class,
        number: Option<u16>,
        name: &'static str,
        mode: Mode,
        about: &'static str,
        attempt: Option<fn(&Site) -> Report>,
    ) -> Self {
        Self {
            name,
            number,
            class,
            mode,
            about,
            control: Control {
                root: Alone::Escapes,
                user: Alone::Escapes,
            },
            full: Expected::Contained,
            landlock: Expected::Contained,
            attempt,
        }
    }

    pub(crate) const fn full(self, full: Expected) -> Self {
        Self { full, ..self }
    }

    pub(crate) const fn landlock(self, landlock: Expected) -> Self {
        Self { landlock, ..self }
    }

    pub(crate) const fn residue(self, why: &'static str) -> Self {
        self.full(Expected::Residue(why))
            .landlock(Expected::Residue(why))
    }

    pub(crate) const fn root(self, root: Alone) -> Self {
        Self {
            control: Control {
                root,
                ..self.control
            },
            ..self
        }
    }

    pub(crate) const fn user(self, user: Alone) -> Self {
        Self {
            control: Control {
                user,
                ..self.control
            },
            ..self
        }
    }

    pub(crate) const fn alone(self, alone: Alone) -> Self {
        self.root(alone).user(alone)
    }

    /// What is expected in this tier.
    #[must_use]
    pub const fn expected(&self, tier: Tier) -> Expected {
        match tier {
            Tier::Full => self.full,
            Tier::Landlock => self.landlock,
        }
    }

    /// Whether it makes sense under this policy.
    #[must_use]
    pub fn suits(&self, mode: Mode) -> bool {
        self.mode == Mode::Both || mode == Mode::Both || self.mode == mode
    }

    /// Whether it must work instead of being contained.
    #[must_use]
    pub fn is_useful(&self) -> bool {
        matches!(self.control.root, Alone::Works)
    }

    /// Tries, in this process.
    #[must_use]
    pub fn attempt(&self, site: &Site) -> Report {
        self.attempt.map_or_else(
            || Report::Unavailable("not built on this system".to_owned()),
            |attempt| attempt(site),
        )
    }

    /// Whether there is something to run: a probe may be listed only for its reason not to be.
    #[must_use]
    pub const fn is_built(&self) -> bool {
        self.attempt.is_some()
    }
}

/// What a probe is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Class {
    /// Writing outside.
    Files,
    /// Protected paths inside the workspace.
    Protected,
    /// Metadata and information.
    Metadata,
    /// Secrets.
    Secrets,
    /// Devices and the terminal.
    Devices,
    /// Network.
    Network,
    /// Unix sockets.
    UnixSockets,
    /// Processes.
    Processes,
    /// The surface of the kernel.
    Kernel,
    /// Resources.
    Resources,
    /// What must work.
    Useful,
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Files => "writing outside",
            Self::Protected => "protected paths",
            Self::Metadata => "metadata",
            Self::Secrets => "secrets",
            Self::Devices => "devices",
            Self::Network => "network",
            Self::UnixSockets => "unix sockets",
            Self::Processes => "processes",
            Self::Kernel => "kernel surface",
            Self::Resources => "resources",
            Self::Useful => "useful acts",
        })
    }
}

/// Under which policies a probe makes sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a third would be both")]
pub enum Mode {
    /// The workspace is writable.
    Write,
    /// Nothing is writable.
    ReadOnly,
    /// Either.
    Both,
}

/// How strong the sandbox is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a new tier needs an expectation for every probe"
)]
pub enum Tier {
    /// Namespaces, Landlock and seccomp.
    Full,
    /// Landlock and seccomp.
    Landlock,
}

/// What is expected of a probe in a tier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "every caller must judge every kind"
)]
pub enum Expected {
    /// It fails, and nothing outside changed.
    Contained,
    /// It gets through, for this reason, and that is reported.
    Residue(&'static str),
    /// It is not run, for this reason.
    NotApplicable(&'static str),
    /// It works.
    Works,
}

/// What a probe does without a sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Control {
    /// As root.
    pub root: Alone,
    /// As an ordinary user.
    pub user: Alone,
}

/// What a probe does without a sandbox, as one kind of user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "every caller must judge every kind"
)]
pub enum Alone {
    /// It gets through: if it does not, it proves nothing in a sandbox.
    Escapes,
    /// It gets through on some hosts, for this reason.
    Depends(&'static str),
    /// It fails even so, for this reason: if it does not, the reason is stale.
    Cannot(&'static str),
    /// It works, as in a sandbox.
    Works,
    /// It is not run, for this reason.
    NotRun(&'static str),
}
