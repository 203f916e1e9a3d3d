//! Other names of guarded paths, where a file system or a part of it is mounted twice, and every other list of processes.
//!
//! Home directories that are bound from elsewhere, the physical root of an image-based system, the top level of a
//! file system with subvolumes: a mask at one name leaves the file open at the other.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use palisade_policy::{AbsolutePath, PathCase, PathMatcher, ResolvedPolicy};
use rustix::fs::{AtFlags, CWD, statat};

use super::kernel_file;
use crate::host::{Alias, Entry, Places};

/// Notes the other names of every guarded path that exists.
pub(super) fn find(places: &mut Places, policy: &ResolvedPolicy) {
    let Ok(list) = kernel_file::read("/proc/self/mountinfo", u64::MAX) else {
        return;
    };
    let mounts = parse(&list);
    // The one at `/proc` is replaced by the session's own.
    let of_processes = mounts
        .iter()
        .filter(|mount| mount.kind == b"proc" && !mount.at.as_path().starts_with("/proc"))
        // What we do not reach, a command of the same user does not reach either.
        .filter(|mount| std::fs::symlink_metadata(&mount.at).is_ok_and(|found| found.is_dir()));
    places.other_procs = of_processes.map(|mount| mount.at.clone()).collect();
    let guards = policy.guards().iter().map(|guard| &guard.matcher);
    let literal = guards
        .chain(policy.read_only())
        .filter_map(PathMatcher::path)
        .filter_map(|name| Some((name, places.entries.get(name)?)))
        .map(|(name, located)| (name, &located.real, &located.entry));
    let matches = places
        .globs
        .values()
        .flat_map(|expansion| &expansion.matches)
        .map(|(name, entry)| {
            let located = places.entries.get(name);
            let real = located.map_or(name, |located| &located.real);
            (name, real, entry)
        });
    let mut aliases = Vec::new();
    for (name, real, entry) in literal.chain(matches) {
        let (real, kind) = match entry {
            Entry::Missing | Entry::Symlink { target: None } => continue,
            Entry::Symlink {
                target: Some(target),
            } => match places.entries.get(target) {
                Some(located) => (target, &located.entry),
                None => continue,
            },
            _ => (real, entry),
        };
        for (alias, original) in other_names(&mounts, real) {
            // Something else may be mounted over one of them.
            if !is_same(&original, &alias) {
                continue;
            }
            let entry = match std::fs::symlink_metadata(&alias) {
                _ if original == real.as_path() => kind.clone(),
                Ok(found) if found.is_dir() => Entry::Directory,
                Ok(_) => Entry::File,
                Err(_) => continue,
            };
            if let Ok(path) = AbsolutePath::new(alias) {
                aliases.push(Alias::new(name.clone(), path, entry));
            }
        }
    }
    aliases.sort_by(|a, b| (&a.path, &a.of).cmp(&(&b.path, &b.of)));
    aliases.dedup();
    places.aliases = aliases;
}

/// A line of the kernel's list.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Mounted {
    device: Vec<u8>,
    /// Which part of the file system is mounted.
    root: PathBuf,
    pub(super) at: AbsolutePath,
    /// The kind of the file system.
    kind: Vec<u8>,
}

pub(super) fn parse(list: &[u8]) -> Vec<Mounted> {
    list.split(|byte| *byte == b'\n')
        .filter_map(|line| {
            let mut fields = line.split(|byte| *byte == b' ').skip(2);
            Some(Mounted {
                device: fields.next()?.to_vec(),
                root: unescape(fields.next()?),
                at: AbsolutePath::new(unescape(fields.next()?)).ok()?,
                // After any number of optional fields and a dash.
                kind: fields.skip_while(|field| *field != b"-").nth(1)?.to_vec(),
            })
        })
        .collect()
}

/// Blanks and the like are written as three octal digits.
fn unescape(field: &[u8]) -> PathBuf {
    if !field.contains(&b'\\') {
        return PathBuf::from(OsString::from_vec(field.to_vec()));
    }
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((first, after)) = rest.split_first() {
        let digits = |at: usize| {
            let digit = after.get(at).copied()?;
            (b'0'..=b'7').contains(&digit).then(|| digit - b'0')
        };
        match (first, digits(0), digits(1), digits(2)) {
            (b'\\', Some(a @ 0..=3), Some(b), Some(c)) => {
                bytes.push(a * 64 + b * 8 + c);
                rest = after.get(3..).unwrap_or_default();
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    PathBuf::from(OsString::from_vec(bytes))
}

/// Where else a path or something below it is mounted, each with its name at the path.
fn other_names(mounts: &[Mounted], path: &AbsolutePath) -> Vec<(PathBuf, PathBuf)> {
    // Of those at one place, the last one covers the others.
    let holder = mounts
        .iter()
        .filter(|mount| mount.at.covers(path, PathCase::Sensitive))
        .max_by_key(|mount| mount.at.depth());
    let path = path.as_path();
    let Some((holder, below)) = holder.and_then(|at| Some((at, path.strip_prefix(&at.at).ok()?)))
    else {
        return Vec::new();
    };
    let inside = join(&holder.root, below);
    let mut names = Vec::new();
    for mount in mounts.iter().filter(|mount| mount.device == holder.device) {
        let whole = inside.strip_prefix(&mount.root);
        let part = mount.root.strip_prefix(&inside);
        let name = match (whole, part) {
            (Ok(rest), _) => (join(mount.at.as_path(), rest), path.to_path_buf()),
            (Err(_), Ok(rest)) => (mount.at.as_path().to_path_buf(), join(path, rest)),
            (Err(_), Err(_)) => continue,
        };
        // What is mounted below the path itself is hidden with it.
        if !name.0.starts_with(path) && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Without the separator that joining nothing would leave at the end.
fn join(path: &Path, below: &Path) -> PathBuf {
    match below.as_os_str().is_empty() {
        true => path.to_path_buf(),
        false => path.join(below),
    }
}

fn is_same(one: &Path, other: &Path) -> bool {
    let identity = |path: &Path| {
        let stat = statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        Some((stat.st_dev, stat.st_ino))
    };
    identity(one).is_some_and(|found| identity(other) == Some(found))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &[u8] = b"1 0 254:0 / / rw - ext4 /dev/vda rw\n\
        2 1 254:0 /data/home /home rw - ext4 /dev/vda rw\n\
        3 1 0:9 / /run rw - tmpfs tmpfs rw\n\
        4 1 254:0 /data/home/dev/.ssh/old /mnt/old\\040keys rw - ext4 /dev/vda rw\n";

    fn names(path: &str) -> Vec<(String, String)> {
        other_names(&parse(LIST), &AbsolutePath::new(path).unwrap())
            .into_iter()
            .map(|(alias, original)| (alias.display().to_string(), original.display().to_string()))
            .collect()
    }

    #[test]
    fn every_mount_that_shows_a_path_or_a_part_of_it_is_found() {
        let pair = |alias: &str, original: &str| (alias.to_owned(), original.to_owned());
        assert_eq!(
            names("/home/dev/.ssh"),
            [
                pair("/data/home/dev/.ssh", "/home/dev/.ssh"),
                pair("/mnt/old keys", "/home/dev/.ssh/old")
            ]
        );
        assert_eq!(
            names("/data/home/dev/.ssh/id"),
            [pair("/home/dev/.ssh/id", "/data/home/dev/.ssh/id")]
        );
        assert!(names("/run/secret").is_empty());
        assert!(names("/etc/shadow").is_empty());
    }

    #[test]
    fn a_broken_list_yields_nothing() {
        assert!(parse(b"\n1 2\n1 2 3:4\n").is_empty());
        assert_eq!(unescape(b"a\\1"), Path::new("a\\1"));
        assert_eq!(unescape(b"a\\777b"), Path::new("a\\777b"));
    }
}
