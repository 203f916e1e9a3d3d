//! What must be known about a Mac before a policy can be lowered: facts as values, so that tests pass what they like.

use std::collections::BTreeMap;
use std::ffi::OsString;

use palisade_policy::AbsolutePath;

/// A Mac, as far as a profile depends on it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MacHost {
    /// Whether and how a profile can be applied.
    pub sandbox_exec: SandboxExec,
    /// Where the paths that a policy names really are. The kernel compares resolved paths: `/tmp` is `/private/tmp`.
    pub places: BTreeMap<AbsolutePath, Located>,
    /// The directory of developer tools that is switched on, if there is one.
    pub developer_dir: Option<AbsolutePath>,
    /// The directory that the session has for temporary files, and nobody else. It exists.
    pub session_tmp: Option<AbsolutePath>,
    /// Ports on this host's loopback where a proxy of ours listens, which lets the listed hosts through.
    pub proxy_ports: Vec<u16>,
}

impl MacHost {
    /// A Mac of which nothing else is known.
    #[must_use]
    pub const fn new(sandbox_exec: SandboxExec) -> Self {
        Self {
            sandbox_exec,
            places: BTreeMap::new(),
            developer_dir: None,
            session_tmp: None,
            proxy_ports: Vec::new(),
        }
    }

    /// With this directory for temporary files.
    #[must_use]
    pub fn with_session_tmp(mut self, session_tmp: AbsolutePath) -> Self {
        self.session_tmp = Some(session_tmp);
        self
    }

    /// With proxies on these ports.
    #[must_use]
    pub fn with_proxy_ports(mut self, ports: impl IntoIterator<Item = u16>) -> Self {
        self.proxy_ports = ports.into_iter().collect();
        self
    }

    /// With a path that is there.
    #[must_use]
    pub fn with_place(mut self, path: AbsolutePath, located: Located) -> Self {
        self.places.insert(path, located);
        self
    }
}

/// Whether a profile can be applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SandboxExec {
    /// `/usr/bin/sandbox-exec` is there, and this process is in no sandbox.
    Works,
    /// `/usr/bin/sandbox-exec` is not there.
    Missing,
    /// This process is in a sandbox, in which no other can be made.
    Nested,
    /// This is no Mac.
    NotMacos,
}

/// Where a path really is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Located {
    /// The deepest part of it that exists, without links and spelled as the file system spells it.
    pub existing: AbsolutePath,
    /// The names below that do not exist. Empty if everything does.
    pub missing: Vec<OsString>,
    /// What is there.
    pub entry: Entry,
    /// The links that were followed on the way, each where it really is. Who replaces one leads the path elsewhere.
    pub links: Vec<AbsolutePath>,
}

impl Located {
    /// Something that is there, without any link above it.
    #[must_use]
    pub const fn new(existing: AbsolutePath, entry: Entry) -> Self {
        Self {
            existing,
            missing: Vec::new(),
            entry,
            links: Vec::new(),
        }
    }

    /// Something that is not there, below what is.
    #[must_use]
    pub fn missing(
        existing: AbsolutePath,
        missing: impl IntoIterator<Item = impl Into<OsString>>,
    ) -> Self {
        Self {
            missing: missing.into_iter().map(Into::into).collect(),
            ..Self::new(existing, Entry::Missing)
        }
    }

    /// With the links that were followed on the way.
    #[must_use]
    pub fn through(self, links: Vec<AbsolutePath>) -> Self {
        Self { links, ..self }
    }
}

/// What is at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Entry {
    /// Nothing.
    Missing,
    /// A directory.
    Directory,
    /// A link that leads in a circle, or through `..` behind something that does not exist.
    DeadLink,
    /// Anything else.
    Other,
}
