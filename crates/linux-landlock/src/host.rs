//! What must be known about a Linux host before a policy can be lowered for it: values, so that any host can be
//! emulated.

use std::collections::BTreeMap;

use palisade_policy::AbsolutePath;

use crate::seccomp::Arch;

/// The facts that a plan is made from.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LinuxHost {
    /// The processor's system-call table.
    pub arch: Arch,
    /// What Landlock offers.
    pub landlock: LandlockSupport,
    /// Whether namespaces work end to end.
    pub namespaces: NamespaceSupport,
    /// Whether a control group for the session can be made, for each controller.
    pub cgroups: CgroupSupport,
    /// Whether an overlay can be mounted: without one there is no private git directory and no private cache.
    pub overlays: bool,
    /// A directory of the host for what sessions write to the caches of tools, so that the next session finds it;
    /// without one it ends with the session. It exists, and nobody else can write it; only one session at a time uses
    /// it, and another that runs meanwhile keeps what it writes to itself.
    pub cache_store: Option<AbsolutePath>,
    /// Whether whoever starts the session serves its proxy: then a policy that lists hosts reaches just those.
    pub proxy: bool,
    /// Whom commands have to trust there besides, if the proxy opens TLS.
    pub trust: Option<TrustFiles>,
    /// What is at the paths that the policy names.
    pub places: Places,
    /// What else was seen and is worth knowing: it ends up in every report.
    pub notes: Vec<String>,
}

impl LinuxHost {
    /// A host on which everything works and of whose files nothing is known: a start for emulated hosts.
    #[must_use]
    pub fn new(arch: Arch, landlock: LandlockSupport, namespaces: NamespaceSupport) -> Self {
        Self {
            arch,
            landlock,
            namespaces,
            cgroups: CgroupSupport::default(),
            overlays: true,
            cache_store: None,
            proxy: false,
            trust: None,
            places: Places::default(),
            notes: Vec::new(),
        }
    }

    /// The same host, for a caller who serves a proxy to every session whose policy lists hosts: who takes its listener
    /// from the session (`Session::take_proxy_listener`) and connects to the listed hosts, and to no other.
    #[must_use]
    pub const fn with_proxy(mut self) -> Self {
        self.proxy = true;
        self
    }

    /// The same host, for a caller whose proxy opens TLS: commands are told to trust these files.
    #[must_use]
    pub fn with_trust(mut self, trust: TrustFiles) -> Self {
        self.trust = Some(trust);
        self
    }
}

/// Certificates that commands of a session trust where its proxy opens TLS: two files in a directory of the host, which has
/// nothing else in it and stays for as long as the session.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TrustFiles {
    /// The directory, without links in its path. Commands read it at the same place, and cannot change or replace it.
    pub directory: AbsolutePath,
    /// The file in it for programs that trust one file and nothing else.
    pub bundle: AbsolutePath,
    /// The file in it for programs that trust it besides.
    pub extra: AbsolutePath,
}

impl TrustFiles {
    /// These files in this directory; nothing if they are not in it.
    #[must_use]
    pub fn new(directory: AbsolutePath, bundle: AbsolutePath, extra: AbsolutePath) -> Option<Self> {
        let is_in = |file: &AbsolutePath| file.parent().as_ref() == Some(&directory);
        (is_in(&bundle) && is_in(&extra)).then_some(Self {
            directory,
            bundle,
            extra,
        })
    }
}

/// What Landlock offers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LandlockSupport {
    /// This ABI.
    Abi(u32),
    /// Nothing.
    Missing {
        /// Why: not built, off at boot, or refused by an outer filter.
        why: String,
    },
}

impl LandlockSupport {
    /// The ABI; 0 if there is none.
    #[must_use]
    pub const fn abi(&self) -> u32 {
        match self {
            Self::Abi(abi) => *abi,
            Self::Missing { .. } => 0,
        }
    }
}

/// Whether namespaces work end to end.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NamespaceSupport {
    /// They do, as far as anybody knows: the launch itself is the probe, and says which step fails.
    Works,
    /// They do not.
    Refused {
        /// Why: what refuses, at which step.
        why: String,
        /// What would mend it.
        cure: Option<String>,
    },
}

/// Which limits a control group can keep.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CgroupSupport {
    /// A directory in which a group that limits processes can be made.
    pub pids: Option<AbsolutePath>,
    /// A directory in which a group that limits memory can be made.
    pub memory: Option<AbsolutePath>,
}

/// What is at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Entry {
    /// Nothing.
    Missing,
    /// A directory.
    Directory,
    /// A regular file.
    File,
    /// A symbolic link.
    Symlink {
        /// What it leads to, without any link left in it, whether or not that exists; `None` if it leads in a circle,
        /// or through `..` behind something that does not exist.
        target: Option<AbsolutePath>,
    },
    /// A socket, a pipe, a device.
    Other,
}

/// What is where, as the survey saw it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Places {
    /// What is at each path that the policy names, the links in the directories above it resolved.
    pub entries: BTreeMap<AbsolutePath, Located>,
    /// What each glob of the policy matches now, by the text of the glob.
    pub globs: BTreeMap<String, Expansion>,
    /// The entries of the directories above denied paths: what an allow-list must name in the landlock tier. Symbolic
    /// links are left out, because a rule would open what they lead to.
    pub listings: BTreeMap<AbsolutePath, Vec<AbsolutePath>>,
    /// Other names of guarded paths, where a file system is mounted twice.
    pub aliases: Vec<Alias>,
    /// Where the host shows its processes besides `/proc`, as in directories that somebody changes his root to.
    pub other_procs: Vec<AbsolutePath>,
    /// Sockets of the host that are bound to a path.
    pub sockets: Vec<AbsolutePath>,
    /// Directories that hold sockets of the host, such as `/run`, and what in them must stay visible.
    pub socket_dirs: Vec<SocketDir>,
    /// The git directory of each root whose `.git` exists.
    pub git: BTreeMap<AbsolutePath, GitDirs>,
    /// Caches of tools that exist and can be overlaid.
    pub caches: Vec<AbsolutePath>,
    /// Files in writable roots that have a second name somewhere, as far as they were looked for.
    pub hard_links: HardLinks,
}

/// Where a path really is, and what is there.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Located {
    /// The path with the links in the directories above it resolved; the last name is not followed.
    pub real: AbsolutePath,
    /// What is there.
    pub entry: Entry,
    /// The links that were followed on the way, each where it really is.
    pub links: Vec<AbsolutePath>,
    /// How many directories directly above the path are missing too.
    pub missing_above: usize,
    /// What is in the way, if a directory above the path is none.
    pub below_file: Option<AbsolutePath>,
}

impl Located {
    /// Something at a path without any link above it.
    #[must_use]
    pub const fn new(real: AbsolutePath, entry: Entry) -> Self {
        Self {
            real,
            entry,
            links: Vec::new(),
            missing_above: 0,
            below_file: None,
        }
    }

    /// With the links that were followed on the way.
    #[must_use]
    pub fn through(self, links: Vec<AbsolutePath>) -> Self {
        Self { links, ..self }
    }

    /// With this many directories missing directly above it.
    #[must_use]
    pub fn below_missing(self, missing_above: usize) -> Self {
        Self {
            missing_above,
            ..self
        }
    }

    /// With what is in the way, where a directory should be.
    #[must_use]
    pub fn below_file(self, file: AbsolutePath) -> Self {
        Self {
            below_file: Some(file),
            ..self
        }
    }
}

/// Another name of a guarded path, or of something below it: the same file through another mount.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Alias {
    /// The guarded path, as the policy names it.
    pub of: AbsolutePath,
    /// The other name.
    pub path: AbsolutePath,
    /// What is there.
    pub entry: Entry,
}

impl Alias {
    /// Another name of a path.
    #[must_use]
    pub const fn new(of: AbsolutePath, path: AbsolutePath, entry: Entry) -> Self {
        Self { of, path, entry }
    }
}

/// What a glob matches now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Expansion {
    /// The matches, each with what is there.
    pub matches: Vec<(AbsolutePath, Entry)>,
    /// Whether there were more than the survey looks at.
    pub truncated: bool,
}

impl Expansion {
    /// These matches and no others.
    #[must_use]
    pub const fn new(matches: Vec<(AbsolutePath, Entry)>, truncated: bool) -> Self {
        Self { matches, truncated }
    }
}

/// A directory that holds sockets of the host.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SocketDir {
    /// The directory.
    pub path: AbsolutePath,
    /// Links in it that lead elsewhere and must stay.
    pub links: Vec<(AbsolutePath, AbsolutePath)>,
    /// Files in it that the network needs, such as the resolver's configuration.
    pub network_files: Vec<AbsolutePath>,
}

impl SocketDir {
    /// A directory in which nothing needs to stay visible.
    #[must_use]
    pub const fn new(path: AbsolutePath) -> Self {
        Self {
            path,
            links: Vec::new(),
            network_files: Vec::new(),
        }
    }
}

/// Where git keeps what belongs to a work tree.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GitDirs {
    /// The git directory of the work tree.
    pub git_dir: AbsolutePath,
    /// The directory that holds objects and refs.
    pub common_dir: AbsolutePath,
    /// Whether the directories exist and belong to this work tree. A pointer that somebody planted leads elsewhere:
    /// it is guarded all the same, but nothing is ever brought back to where it leads.
    pub sound: bool,
}

impl GitDirs {
    /// A git directory that belongs to its work tree, and what holds its objects and refs.
    #[must_use]
    pub const fn new(git_dir: AbsolutePath, common_dir: AbsolutePath) -> Self {
        Self {
            git_dir,
            common_dir,
            sound: true,
        }
    }

    /// Whether a private layer over the common directory is all that git needs.
    #[must_use]
    pub fn can_be_overlaid(&self) -> bool {
        self.sound
            && self
                .git_dir
                .as_path()
                .starts_with(self.common_dir.as_path())
    }
}

/// Files that have a second name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct HardLinks {
    /// Some of them.
    pub examples: Vec<AbsolutePath>,
    /// How many were seen.
    pub count: u64,
    /// Whether the survey gave up before it had looked at everything.
    pub truncated: bool,
}
