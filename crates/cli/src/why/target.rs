//! What a person asks about, and the accesses that this means.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use palisade::runner::policy::{AbsolutePath, Access, HostName, Peer, Protocol, UnixAddress};

use super::Wanted;
use super::walk::{Walk, walk};
use crate::complaint::Complaint;
use crate::ground::Ground;
use crate::say::shown;

/// What is asked about.
#[derive(Debug)]
pub(super) enum Target {
    /// A path.
    Path(Found),
    /// A host and a port.
    Host(HostName, u16),
}

/// A path, looked up.
#[derive(Debug)]
pub(super) struct Found {
    /// As it was named, made absolute.
    pub(super) named: PathBuf,
    pub(super) walk: Walk,
    pub(super) exists: bool,
    pub(super) is_socket: bool,
}

/// One access that is asked about.
#[derive(Debug)]
pub(super) struct Question {
    pub(super) access: Access,
    /// What must be readable on the way there: every link.
    pub(super) through: Vec<Access>,
    /// The name, where it is another than the one that decides.
    pub(super) named: Option<PathBuf>,
    /// The path whose ordinary permissions count.
    pub(super) path: Option<PathBuf>,
    pub(super) exists: bool,
}

impl Target {
    /// # Errors
    /// It is neither a path nor a host and a port.
    pub(super) fn parse(what: &OsStr, ground: &Ground) -> Result<Self, Complaint> {
        if what.is_empty() {
            return Err(Complaint::usage("the path is empty"));
        }
        let path = ground.cwd.join(what);
        let is_there = path.symlink_metadata().is_ok();
        if !is_there && let Some((host, port)) = what.to_str().and_then(host) {
            return Ok(Self::Host(host, port));
        }
        let path = match is_there {
            true => path,
            // A shell that saw quotes left the tilde in.
            false => below_home(what, ground).unwrap_or(path),
        };
        let walk = walk(&path).ok_or_else(|| {
            Complaint::usage(format!("{}: its links lead in a circle", shown(&path)))
        })?;
        let found = walk.end.symlink_metadata().ok();
        Ok(Self::Path(Found {
            exists: found.is_some(),
            is_socket: found.as_ref().is_some_and(is_socket),
            named: path,
            walk,
        }))
    }

    /// The accesses that are meant.
    ///
    /// # Errors
    /// Nobody does that to such a thing.
    pub(super) fn questions(&self, wanted: Option<Wanted>) -> Result<Vec<Question>, Complaint> {
        match self {
            Self::Host(host, port) => {
                let host = host.clone();
                let access = match wanted {
                    None | Some(Wanted::Connect) => Access::Connect {
                        host,
                        port: *port,
                        protocol: Protocol::Tcp,
                    },
                    Some(Wanted::Listen) => Access::Bind { host, port: *port },
                    Some(_) => {
                        return Err(Complaint::usage(
                            "a host is connected to or listened on: --access connect or --access listen",
                        ));
                    }
                };
                Ok(vec![Question {
                    access,
                    through: Vec::new(),
                    named: None,
                    path: None,
                    exists: true,
                }])
            }
            Self::Path(found) => {
                let wanted = match wanted {
                    Some(wanted) => vec![wanted],
                    None if found.is_socket => vec![Wanted::Connect],
                    None => vec![Wanted::Read, Wanted::Write],
                };
                wanted
                    .into_iter()
                    .map(|wanted| found.question(wanted))
                    .collect()
            }
        }
    }
}

impl Found {
    fn question(&self, wanted: Wanted) -> Result<Question, Complaint> {
        let absolute = |path: &Path| {
            AbsolutePath::new(path)
                .map_err(|error| Complaint::usage(format!("{}: {error}", shown(path))))
        };
        let end = absolute(&self.walk.end)?;
        let entry = absolute(&self.walk.entry)?;
        let on_entry = matches!(wanted, Wanted::Create | Wanted::Delete);
        let access = match wanted {
            Wanted::Read | Wanted::List => Access::Read(end),
            Wanted::Write if self.exists => Access::Write(end),
            Wanted::Write => Access::Create(end),
            Wanted::Create => Access::Create(entry),
            Wanted::Delete => Access::Delete(entry),
            Wanted::Execute => Access::Execute(end),
            Wanted::Connect => Access::Unix {
                address: UnixAddress::Path(end),
                peer: Peer::Host,
            },
            Wanted::Listen => {
                return Err(Complaint::usage(
                    "--access listen is about HOST:PORT; a socket in the file system is made with --access create",
                ));
            }
        };
        let path = match on_entry {
            true => &self.walk.entry,
            false => &self.walk.end,
        };
        let through = match on_entry {
            true => Vec::new(),
            false => self
                .walk
                .links
                .iter()
                .map(|link| absolute(link))
                .collect::<Result<_, _>>()?,
        };
        Ok(Question {
            access,
            through: through.into_iter().map(Access::Read).collect(),
            named: (self.named != *path).then(|| self.named.clone()),
            path: Some(path.clone()),
            exists: self.exists,
        })
    }
}

/// `HOST:PORT`, `[IPV6]:PORT`, or a URL of the web.
fn host(text: &str) -> Option<(HostName, u16)> {
    let schemes = [("https://", 443), ("http://", 80)];
    let scheme = schemes
        .iter()
        .find_map(|(scheme, port)| text.strip_prefix(scheme).map(|rest| (rest, *port)));
    let (authority, port) = match scheme {
        Some((rest, port)) => {
            let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
            let (authority, _) = rest.split_at_checked(end)?;
            (authority, Some(port))
        }
        None => (text, None),
    };
    let (name, port) = match authority.rsplit_once(':') {
        Some((name, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => {
            (name, number.parse().ok()?)
        }
        _ => (authority, port?),
    };
    HostName::parse(name).ok().map(|name| (name, port))
}

fn below_home(what: &OsStr, ground: &Ground) -> Option<PathBuf> {
    let below = Path::new(what).strip_prefix("~").ok()?;
    let home = ground.host.facts.home.as_ref()?;
    Some(home.as_path().join(below))
}

#[cfg(unix)]
fn is_socket(found: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    found.file_type().is_socket()
}

#[cfg(not(unix))]
fn is_socket(_: &std::fs::Metadata) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::host;

    #[test]
    fn hosts_are_told_from_paths() {
        let rows = [
            ("example.org:443", Some("example.org 443")),
            ("localhost:3000", Some("localhost 3000")),
            ("[::1]:80", Some("::1 80")),
            ("https://example.org/a?b", Some("example.org 443")),
            ("http://127.0.0.1:8080/", Some("127.0.0.1 8080")),
            ("example.org", None),
            ("src/main.rs:12:4", None),
            ("main.rs:70000", None),
            ("a b:80", None),
        ];
        for (text, expected) in rows {
            let found = host(text).map(|(host, port)| format!("{host} {port}"));
            assert_eq!(found.as_deref(), expected, "{text}");
        }
    }
}
