//! Short spellings, and a small host.

use palisade_policy::{AbsolutePath, PathCase};
use palisade_windows_token::Sid;
use palisade_windows_token::acl::{Ace, AceFlags, AceKind, Rights};
use palisade_windows_token::model::{
    Descriptor, Failed, FileSystem, Kind, Operation, Switches, Token,
};

/// What `icacls` calls M: everything but `FILE_DELETE_CHILD`, `WRITE_DAC` and `WRITE_OWNER`.
pub(crate) const MODIFY: Rights = Rights(0x0013_01BF);
/// What it calls RX.
pub(crate) const READ: Rights = Rights(0x0012_00A9);
/// What it calls F.
pub(crate) const FULL: Rights = Rights::FILE_ALL;

/// A path of the system that compiles, written as on Linux.
pub(crate) fn abs(path: &str) -> AbsolutePath {
    AbsolutePath::new(spelled(path)).unwrap()
}

/// The spelling of a path on the system that compiles.
pub(crate) fn spelled(path: &str) -> String {
    match cfg!(windows) {
        true if path.starts_with('/') => format!("C:{}", path.replace('/', "\\")),
        _ => path.to_owned(),
    }
}

pub(crate) fn sid(text: &str) -> Sid {
    text.parse().unwrap()
}

pub(crate) fn user() -> Sid {
    sid("S-1-5-21-1-2-3-1001")
}

pub(crate) fn logon() -> Sid {
    sid("S-1-5-5-0-77777")
}

pub(crate) fn users() -> Sid {
    sid("S-1-5-32-545")
}

pub(crate) fn capability(number: u32) -> Sid {
    Sid::capability([number, 2, 3, 4])
}

pub(crate) fn allow(rights: Rights, whom: Sid) -> Ace {
    Ace::new(AceKind::Allow, rights, whom).with_flags(AceFlags::TREE)
}

pub(crate) fn deny(rights: Rights, whom: Sid) -> Ace {
    Ace::new(AceKind::Deny, rights, whom).with_flags(AceFlags::TREE)
}

/// Only for the object itself.
pub(crate) fn here(ace: Ace) -> Ace {
    ace.with_flags(AceFlags::NONE)
}

/// The user without a sandbox.
pub(crate) fn unconfined() -> Token {
    Token::of(user(), [Sid::everyone(), users(), logon()])
}

/// The user, restricted for writing to these.
pub(crate) fn confined(restricting: impl IntoIterator<Item = Sid>) -> Token {
    unconfined().restricted(restricting, true)
}

/// A disk of the system: everybody reads, administrators write.
pub(crate) fn disk() -> FileSystem {
    let root = Descriptor::new(
        Sid::local_system(),
        [
            allow(FULL, Sid::local_system()),
            allow(FULL, Sid::administrators()),
            allow(READ, users()),
        ],
    );
    FileSystem::new(root, PathCase::Insensitive)
}

/// With a directory that belongs to the user, who has these rights on it and below.
pub(crate) fn with_directory(mut files: FileSystem, path: &str, rights: Rights) -> FileSystem {
    let path = abs(path);
    if let Some(parent) = path.parent()
        && files.find(&parent).is_none()
    {
        files.put_inheriting(&parent, Kind::Directory).unwrap();
    }
    let own = Descriptor::new(user(), [allow(rights, user())]).protected();
    files.put(&path, Kind::Directory, own).unwrap();
    files
}

pub(crate) fn with_file(mut files: FileSystem, path: &str) -> FileSystem {
    files.put_inheriting(&abs(path), Kind::File).unwrap();
    files
}

/// With one more entry of its own on an object, handed down.
pub(crate) fn with_entry(mut files: FileSystem, path: &str, ace: Ace) -> FileSystem {
    let id = files.find(&abs(path)).unwrap();
    let mut descriptor = files.object(id).unwrap().descriptor.clone();
    descriptor.dacl.insert(ace).unwrap();
    files.set_descriptor(id, descriptor);
    files.propagate(id);
    files
}

/// Tries something on a copy, as published observations have it.
pub(crate) fn attempt(files: &FileSystem, token: &Token, operation: &Operation) -> bool {
    attempt_with(files, token, operation, Switches::PUBLISHED)
}

pub(crate) fn attempt_with(
    files: &FileSystem,
    token: &Token,
    operation: &Operation,
    switches: Switches,
) -> bool {
    let outcome = operation.attempt(files, token, switches);
    let impossible = matches!(outcome, Err(Failed::Impossible(_)));
    assert!(!impossible, "{operation:?} makes no sense: {outcome:?}");
    outcome.is_ok()
}

pub(crate) fn rename(from: &str, to: &str) -> Operation {
    Operation::Rename {
        from: abs(from),
        to: abs(to),
    }
}
