//! A workspace, a home, an outside and some services of the host, on the real disk.

use std::fs;
use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};

use palisade_policy::{AbsolutePath, HostFacts, Os, PathCase, PolicyContext, WorkspaceRoot};
use tempfile::TempDir;

/// The names of the sockets in [`Stage::services`].
pub(crate) const SOCKETS: [&str; 2] = ["one.sock", "two.sock"];

/// A throw-away tree, with servers that listen as long as it is there.
pub(crate) struct Stage {
    base: TempDir,
    pub(crate) workspace: PathBuf,
    pub(crate) home: PathBuf,
    pub(crate) outside: PathBuf,
    /// Where programs of the host listen on sockets.
    pub(crate) services: PathBuf,
    /// Where a session has its temporary files, on systems where somebody makes such a directory.
    pub(crate) session: PathBuf,
    /// The port of a server on the host's loopback.
    pub(crate) port: u16,
    /// The name of an abstract socket of the host.
    pub(crate) abstract_name: String,
    _servers: (TcpListener, Vec<UnixListener>),
}

impl Stage {
    pub(crate) fn new() -> Self {
        // Not in `/tmp` itself, which sessions replace: what is there could not be seen from inside.
        let base = directory("palisade-differential-");
        // One level down, so that what a link finds above it is ours as well.
        let root = fs::canonicalize(base.path()).unwrap().join("stage");
        fs::create_dir(&root).unwrap();
        let at = |name: &str| root.join(name);
        for name in ["workspace", "home", "outside", "services", "session"] {
            fs::create_dir(at(name)).unwrap();
        }
        let home = at("home");
        fs::create_dir(home.join(".ssh")).unwrap();
        fs::write(home.join(".ssh/id_ed25519"), "secret key").unwrap();
        fs::write(home.join(".netrc"), "secret password").unwrap();
        fs::write(at("outside/victim"), "precious").unwrap();
        // As much of a repository as it takes to be one.
        let git = at("workspace/.git");
        for name in ["hooks", "objects", "refs/heads"] {
            fs::create_dir_all(git.join(name)).unwrap();
        }
        fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        let abstract_name = format!("palisade-differential-{}", base.path().display());
        let address = SocketAddr::from_abstract_name(&abstract_name).unwrap();
        let mut sockets = vec![UnixListener::bind_addr(&address).unwrap()];
        sockets.extend(SOCKETS.map(|name| UnixListener::bind(at("services").join(name)).unwrap()));
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        Self {
            workspace: at("workspace"),
            home,
            outside: at("outside"),
            services: at("services"),
            session: at("session"),
            port: server.local_addr().unwrap().port(),
            abstract_name,
            _servers: (server, sockets),
            base,
        }
    }

    /// A name that no other stage has.
    pub(crate) fn name(&self) -> &str {
        self.base.path().file_name().unwrap().to_str().unwrap()
    }

    /// What a policy is resolved with. Names are compared as on the disk that is really there.
    pub(crate) fn context(&self, os: Os) -> PolicyContext {
        let facts = HostFacts::new(os)
            .with_uid(rustix::process::geteuid().as_raw())
            .with_home(absolute(&self.home))
            .with_case(PathCase::Sensitive);
        PolicyContext::new(facts, WorkspaceRoot::new(&self.workspace).unwrap())
    }
}

/// A fresh directory that a session can see.
pub(crate) fn directory(prefix: &str) -> TempDir {
    tempfile::Builder::new()
        .prefix(prefix)
        .tempdir_in("/var/tmp")
        .unwrap()
}

pub(crate) fn absolute(path: &Path) -> AbsolutePath {
    AbsolutePath::new(path).unwrap()
}
