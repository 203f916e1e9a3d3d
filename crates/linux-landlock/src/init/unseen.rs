//! Keeps git from tripping over placeholders.
//!
//! An empty directory means nothing to git, until it removes what it does not know: `git clean -d` and `git stash -u` then
//! fail, because a mount stands on each placeholder. So the session's own view of `info/exclude` names them as well. Nothing
//! can be hidden by that: while the session lasts, nobody in it can put anything there. What the host has stays as it is.
//! Where it cannot be done the session goes on without; it is a courtesy to git, and guards nothing.

use std::ffi::OsStr;
use std::io::{Read as _, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::ffi::OsStrExt as _;

use palisade_policy::AbsolutePath;
use rustix::fs::{FileType, Mode, OFlags, fstat, mkdirat, openat};
use rustix::io::Errno;
use rustix::mount::{OpenTreeFlags, open_tree};

use super::mounts::{attach, find, resolve, tame};
use crate::plan::{Mount, Plan};
use crate::sys::mount::READ_ONLY;

/// What stands above the names, for whoever reads the list; an import knows by it that nobody has changed the rest.
const TITLE: &[u8] = b"# Guarded in this session, and not there:\n";

/// The largest list of names that is read: longer ones are left alone.
const LARGEST: u64 = 1 << 20;

/// Tells git about the placeholders of a plan whose mounts are done. `scratch` is a private file system.
pub(super) fn hide(plan: &Plan, scratch: BorrowedFd<'_>) {
    let mut trees: Vec<AbsolutePath> = plan
        .placeholders
        .iter()
        .filter_map(AbsolutePath::parent)
        .collect();
    trees.sort();
    trees.dedup();
    for (index, tree) in trees.iter().enumerate() {
        let lines = lines(plan, tree);
        let Ok(git) = AbsolutePath::new(tree.as_path().join(".git")) else {
            continue;
        };
        let layer = plan.git.iter().find(|overlay| {
            // A linked work tree has a file there, which says where its directory is.
            overlay.common_dir == git
                || (overlay.git_dir != overlay.common_dir && is_regular(&git) == Ok(true))
        });
        let protected = || {
            let mut mounts = plan.mounts.iter();
            mounts.any(|mount| matches!(mount, Mount::Protect { path } if *path == git))
        };
        let _ = match layer {
            Some(layer) => append(&layer.common_dir, &lines),
            None if protected() => cover(&git, &lines, scratch, index),
            None => Ok(()),
        };
    }
}

/// The placeholders in a directory, as git writes patterns that mean one directory.
fn lines(plan: &Plan, tree: &AbsolutePath) -> Vec<u8> {
    let here = plan
        .placeholders
        .iter()
        .filter(|path| path.parent().as_ref() == Some(tree));
    let names = here.filter_map(|path| path.as_path().file_name());
    names.flat_map(pattern).collect()
}

fn pattern(name: &OsStr) -> Vec<u8> {
    let bytes = name.as_bytes();
    if bytes.contains(&b'\n') {
        return Vec::new();
    }
    let mut line = vec![b'/'];
    for byte in bytes {
        if matches!(byte, b'\\' | b'*' | b'?' | b'[') {
            line.push(b'\\');
        }
        line.push(*byte);
    }
    line.extend(b"/\n");
    line
}

/// In a private layer the list itself is changed, and a command can go on changing it.
fn append(common_dir: &AbsolutePath, lines: &[u8]) -> Result<(), Errno> {
    let directory = resolve(common_dir, OFlags::RDONLY | OFlags::DIRECTORY)?;
    match mkdirat(&directory, "info", Mode::from(0o755)) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(errno) => return Err(errno),
    }
    let info = AbsolutePath::new(common_dir.as_path().join("info")).map_err(|_| Errno::INVAL)?;
    let info = resolve(&info, OFlags::RDONLY | OFlags::DIRECTORY)?;
    let flags = OFlags::RDWR | OFlags::APPEND | OFlags::CREATE | OFlags::NOFOLLOW;
    // What is no regular file must not keep the session waiting.
    let flags = flags | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let list = openat(&info, "exclude", flags, Mode::from(0o644))?;
    let mut file = std::fs::File::from(list);
    let mut whole = contents(&mut file)?;
    let before = whole.len();
    extend(&mut whole, lines);
    let added = whole.get(before..).unwrap_or_default();
    file.write_all(added).map_err(|_| Errno::IO)
}

/// Where the directory of git cannot be written, a longer list is mounted over the one that is there.
fn cover(
    git: &AbsolutePath,
    lines: &[u8],
    scratch: BorrowedFd<'_>,
    index: usize,
) -> Result<(), Errno> {
    let path = git.as_path().join("info/exclude");
    let path = AbsolutePath::new(path).map_err(|_| Errno::INVAL)?;
    let list = resolve(&path, OFlags::RDONLY | OFlags::NONBLOCK)?;
    let mut whole = contents(&mut std::fs::File::from(list))?;
    extend(&mut whole, lines);
    let name = format!("exclude-{index}");
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
    let copy = openat(scratch, &name, flags, Mode::from(0o644))?;
    let mut copy = std::fs::File::from(copy);
    copy.write_all(&whole).map_err(|_| Errno::IO)?;
    let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
    let tree = open_tree(scratch, &name, flags)?;
    tame(tree.as_fd(), READ_ONLY)?;
    attach(tree.as_fd(), find(&path)?.as_fd())
}

fn extend(list: &mut Vec<u8>, lines: &[u8]) {
    if list.last().is_some_and(|last| *last != b'\n') {
        list.push(b'\n');
    }
    list.extend(TITLE);
    list.extend(lines);
}

/// Whether a list is another one and nothing but what was added here.
pub(crate) fn is_only_longer(list: &[u8], before: &[u8]) -> bool {
    let Some(added) = list.strip_prefix(before) else {
        return false;
    };
    let added = match before.last() {
        None | Some(b'\n') => added,
        Some(_) => added.strip_prefix(b"\n").unwrap_or(added),
    };
    let Some(names) = added.strip_prefix(TITLE) else {
        return false;
    };
    let mut lines = names.split_inclusive(|byte| *byte == b'\n');
    lines.all(|line| line.starts_with(b"/") && line.ends_with(b"/\n"))
}

/// What a list holds that is a regular file and not too long.
fn contents(file: &mut std::fs::File) -> Result<Vec<u8>, Errno> {
    let stat = fstat(&*file)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(Errno::INVAL);
    }
    let mut bytes = Vec::new();
    let read = file.take(LARGEST + 1).read_to_end(&mut bytes);
    match read {
        Ok(count) if u64::try_from(count).is_ok_and(|count| count <= LARGEST) => Ok(bytes),
        Ok(_) => Err(Errno::FBIG),
        Err(_) => Err(Errno::IO),
    }
}

fn is_regular(path: &AbsolutePath) -> Result<bool, Errno> {
    let stat = fstat(find(path)?)?;
    Ok(FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_directory_whatever_is_in_it() {
        let of = |name: &str| String::from_utf8(pattern(OsStr::new(name))).unwrap();
        assert_eq!(of(".claude"), "/.claude/\n");
        assert_eq!(of("a*b[c]?\\"), "/a\\*b\\[c]\\?\\\\/\n");
        assert_eq!(of("#!"), "/#!/\n");
        assert_eq!(of("two\nlines"), "");
    }

    #[test]
    fn a_list_without_an_end_of_line_gets_one() {
        let mut list = b"*.o".to_vec();
        extend(&mut list, b"/.claude/\n");
        assert!(list.starts_with(b"*.o\n#"));
        assert!(list.ends_with(b":\n/.claude/\n"));
    }

    #[test]
    fn what_was_added_is_told_from_what_a_command_adds() {
        for before in [&b""[..], b"*.o\n", b"*.o"] {
            let mut list = before.to_vec();
            extend(&mut list, b"/.claude/\n/.vscode/\n");
            assert!(is_only_longer(&list, before));
            assert!(!is_only_longer(&list, b"*.a\n"));
            assert!(!is_only_longer(before, before));
            list.extend(b"more\n");
            assert!(!is_only_longer(&list, before));
        }
    }
}
