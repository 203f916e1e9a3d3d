//! Everything that can be tried on a stage: at each entry, at names that are free, at services, and by system calls.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use crate::attempt::{Attempt, Transport};
use crate::calls::HARMLESS;
use crate::case::entries;
use crate::oracle::entry;
use crate::stage::{SOCKETS, Stage};

/// What is at a path on the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    Directory,
    File(String),
    Link(PathBuf),
    Socket,
}

pub(crate) fn node_at(path: &Path) -> Option<Node> {
    let metadata = fs::symlink_metadata(path).ok()?;
    Some(if metadata.is_dir() {
        Node::Directory
    } else if metadata.is_symlink() {
        Node::Link(fs::read_link(path).unwrap())
    } else if metadata.file_type().is_socket() {
        Node::Socket
    } else {
        Node::File(fs::read_to_string(path).unwrap())
    })
}

/// The whole tree of a stage.
pub(crate) fn snapshot(stage: &Stage) -> BTreeMap<PathBuf, Node> {
    [&stage.workspace, &stage.home, &stage.outside]
        .into_iter()
        .flat_map(|top| entries(top))
        .map(|path| {
            let node = node_at(&path).unwrap();
            (path, node)
        })
        .collect()
}

/// All of it. `named` are paths that the policy names, `moves` pairs of entries by their number.
pub(crate) fn all(stage: &Stage, named: Vec<PathBuf>, moves: &[(u8, u8)]) -> Vec<Attempt> {
    let tree = snapshot(stage);
    let mut points: Vec<PathBuf> = tree.keys().cloned().collect();
    for (path, node) in &tree {
        if let (Node::Link(_), Ok(inside)) = (node, fs::read_dir(path)) {
            let names = inside.map(|entry| entry.unwrap().file_name());
            let mut names: Vec<_> = names.collect();
            names.sort();
            points.extend(names.iter().take(3).map(|name| path.join(name)));
        }
    }
    points.extend(named);
    points.sort();
    points.dedup();

    let mut attempts = Vec::new();
    for point in &points {
        try_content(point, &mut attempts);
        try_entry(point, &mut attempts);
    }
    for (from, to) in moves {
        let point = |number: &u8| &points[usize::from(*number) % points.len()];
        try_move(point(from), point(to), &mut attempts);
    }
    try_system(stage, &mut attempts);
    try_services(stage, &mut attempts);
    attempts.extend((0..HARMLESS.len()).map(Attempt::Call));
    // What stays comes last, so that everything else meets the tree as it was.
    attempts.sort_by_key(|attempt| matches!(attempt, Attempt::Append(_)));
    attempts
}

/// Reading, listing, changing and running what is there.
fn try_content(point: &Path, attempts: &mut Vec<Attempt>) {
    match fs::metadata(point) {
        Ok(found) if found.is_dir() => attempts.extend([
            Attempt::List(point.into()),
            Attempt::Change(point.into()),
            Attempt::MakeFile(point.join("new")),
            Attempt::MakeDirectory(point.join("fresh")),
        ]),
        Ok(found) => {
            if found.permissions().mode() & 0o100 != 0 {
                attempts.push(Attempt::Execute(point.into()));
            }
            attempts.extend([
                Attempt::Read(point.into()),
                Attempt::Change(point.into()),
                Attempt::Append(point.into()),
            ]);
        }
        Err(_) => {}
    }
}

/// Removing what is there, or making what is not.
fn try_entry(point: &Path, attempts: &mut Vec<Attempt>) {
    match node_at(point) {
        Some(Node::File(text)) => attempts.push(Attempt::RemoveFile(point.into(), text)),
        Some(Node::Link(target)) => attempts.push(Attempt::RemoveLink(point.into(), target)),
        Some(Node::Directory) => {
            let empty = fs::read_dir(point).unwrap().next().is_none();
            attempts.extend(empty.then(|| Attempt::RemoveDirectory(point.into())));
        }
        Some(Node::Socket) => {}
        None if point.parent().is_some_and(Path::is_dir) => {
            attempts.push(Attempt::MakeFile(point.into()));
            attempts.push(Attempt::MakeDirectory(point.into()));
        }
        None => {}
    }
}

fn try_move(from: &Path, to: &Path, attempts: &mut Vec<Attempt>) {
    // Moving an entry to where it is does nothing.
    if entry(from) == entry(to) || node_at(from).is_none() {
        return;
    }
    if node_at(to).is_some() {
        attempts.push(Attempt::Exchange(from.into(), to.into()));
        attempts.push(Attempt::Rename(from.into(), to.with_file_name("moved")));
    } else if to.parent().is_some_and(Path::is_dir) {
        attempts.push(Attempt::Rename(from.into(), to.into()));
    }
}

/// Some places of the system.
fn try_system(stage: &Stage, attempts: &mut Vec<Attempt>) {
    for directory in ["/", "/tmp", "/dev/shm", "/var/tmp"] {
        if Path::new(directory).is_dir() {
            attempts.push(Attempt::MakeFile(
                Path::new(directory).join(format!("{}-new", stage.name())),
            ));
        }
    }
    attempts.push(Attempt::Append("/dev/null".into()));
    attempts.push(Attempt::Execute("/bin/true".into()));
}

/// Servers, sockets and processes of the host.
fn try_services(stage: &Stage, attempts: &mut Vec<Attempt>) {
    for transport in [Transport::Tcp, Transport::Udp] {
        for host in ["127.0.0.1", "192.0.2.1", "a.test"] {
            for port in [stage.port, 443] {
                // Nobody listens on the other port here.
                if host != "127.0.0.1" || port == stage.port {
                    attempts.push(Attempt::Connect(transport, host.to_owned(), port));
                }
            }
        }
    }
    attempts.push(Attempt::Bind("127.0.0.1".to_owned()));
    attempts.extend(SOCKETS.map(|name| Attempt::Unix(stage.services.join(name))));
    attempts.push(Attempt::Abstract(stage.abstract_name.clone()));
    attempts.push(Attempt::Signal(std::process::id()));
}
