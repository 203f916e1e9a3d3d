//! Where git is configured to take hooks from, if that is somewhere a command can write.

use std::ffi::OsStr;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use palisade_policy::ResolvedPolicy;

use crate::host::LinuxHost;

/// A configuration that is larger says nothing here; no real one is.
const MAX_CONFIG: u64 = 1 << 20;

/// The directories of hooks that lie in writable roots, by the configuration of each root and of the user.
pub(super) fn directories(policy: &ResolvedPolicy, host: &LinuxHost) -> Vec<PathBuf> {
    let home = policy.context().facts.home.as_ref();
    let home = home.map(|home| home.as_path());
    let of_user: Vec<Vec<u8>> = home
        .into_iter()
        .flat_map(|home| [home.join(".gitconfig"), home.join(".config/git/config")])
        .flat_map(|file| hooks_paths(&file))
        .collect();
    let mut found = Vec::new();
    for root in policy.roots() {
        let root = root.root.as_path();
        let git = host.places.git.iter().find(|(of, _)| of.as_path() == root);
        let directories = match git {
            Some((_, git)) => vec![
                git.common_dir.as_path().to_path_buf(),
                git.git_dir.as_path().to_path_buf(),
            ],
            None => vec![root.join(".git")],
        };
        let of_root = directories
            .iter()
            .flat_map(|directory| [directory.join("config"), directory.join("config.worktree")])
            .flat_map(|file| hooks_paths(&file));
        // Whichever of them wins: all are watched.
        for value in of_root.chain(of_user.iter().cloned()) {
            let Some(path) = expand(root, home, &value) else {
                continue;
            };
            let real = std::fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
            for path in [path, real] {
                let inside = policy
                    .roots()
                    .iter()
                    .any(|root| path.starts_with(root.root.as_path()));
                if inside && !found.contains(&path) {
                    found.push(path);
                }
            }
        }
    }
    found
}

/// Where a value leads: `~` is the home directory, and what is relative starts at the work tree.
fn expand(root: &Path, home: Option<&Path>, value: &[u8]) -> Option<PathBuf> {
    let path = match value.strip_prefix(b"~/") {
        Some(below) => home?.join(OsStr::from_bytes(below)),
        None => root.join(OsStr::from_bytes(value)),
    };
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            std::path::Component::ParentDir => {
                plain.pop();
            }
            std::path::Component::CurDir => {}
            _ => plain.push(component),
        }
    }
    Some(plain)
}

/// Every `core.hooksPath` of a file. Files that it includes are not followed.
fn hooks_paths(file: &Path) -> Vec<Vec<u8>> {
    let opened = std::fs::OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(file);
    let Ok(opened) = opened else {
        return Vec::new();
    };
    if !opened.metadata().is_ok_and(|found| found.is_file()) {
        return Vec::new();
    }
    let mut text = Vec::new();
    if opened.take(MAX_CONFIG).read_to_end(&mut text).is_err() {
        return Vec::new();
    }
    parse(&text)
}

/// Reads the lines of a configuration that matter here.
pub(super) fn parse(text: &[u8]) -> Vec<Vec<u8>> {
    let mut in_core = false;
    let mut found = Vec::new();
    for line in text.split(|byte| *byte == b'\n') {
        let mut line = line.trim_ascii();
        if let Some(header) = line.strip_prefix(b"[") {
            let Some(end) = header.iter().position(|byte| *byte == b']') else {
                in_core = false;
                continue;
            };
            let (name, rest) = header.split_at(end);
            in_core = name.trim_ascii().eq_ignore_ascii_case(b"core");
            // A key may follow on the same line.
            line = rest.get(1..).unwrap_or_default().trim_ascii();
        }
        let Some(equals) = line.iter().position(|byte| *byte == b'=') else {
            continue;
        };
        let (key, value) = line.split_at(equals);
        if in_core && key.trim_ascii().eq_ignore_ascii_case(b"hookspath") {
            let value = unquote(value.get(1..).unwrap_or_default().trim_ascii());
            if !value.is_empty() && !value.contains(&0) {
                found.push(value);
            }
        }
    }
    found
}

/// A value without its quotes, its escapes and the comment after it.
fn unquote(text: &[u8]) -> Vec<u8> {
    let mut value = Vec::new();
    let mut quoted = false;
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => quoted = !quoted,
            b'\\' => value.extend(bytes.next()),
            b'#' | b';' if !quoted => break,
            _ => value.push(*byte),
        }
    }
    value.trim_ascii_end().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hooks_paths_are_found_however_they_are_written() {
        let text = b"[user]\n hooksPath = no\n[core]\n\teditor = vi\n\tHooksPath = .hooks # mine\n\
            [CORE] hookspath=\"two words\"\n[core \"sub\"]\nhooksPath = no\n[core]\nhooksPath =\nhooksPath\n";
        assert_eq!(parse(text), [&b".hooks"[..], b"two words"]);
    }

    #[test]
    fn garbage_says_nothing() {
        for text in [
            &b"["[..],
            b"[core",
            b"=",
            b"[core]\n=\n\\",
            b"\xff\x00[core]\nhooksPath=\x00",
        ] {
            assert_eq!(parse(text), Vec::<Vec<u8>>::new());
        }
    }

    #[test]
    fn values_lead_below_the_work_tree_or_home() {
        let root = Path::new("/srv/app");
        let home = Some(Path::new("/home/dev"));
        let leads = |value: &[u8]| expand(root, home, value).unwrap();
        assert_eq!(leads(b"./tools/../hooks"), Path::new("/srv/app/hooks"));
        assert_eq!(leads(b"~/hooks"), Path::new("/home/dev/hooks"));
        assert_eq!(leads(b"/etc/hooks"), Path::new("/etc/hooks"));
        assert_eq!(expand(root, None, b"~/hooks"), None);
    }
}
