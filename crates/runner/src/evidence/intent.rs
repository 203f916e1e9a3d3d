//! What a command wanted of a path, from the words around it.

use super::refusal::{Refusal, lower};

/// What was wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Intent {
    /// To read it, to list it, to go there.
    Read,
    /// To make or to change it.
    Write,
    /// To remove it.
    Delete,
    /// To run it.
    Execute,
    /// The words do not say.
    Unknown,
}

/// In this order: what says most comes first.
const WORDS: &[(Intent, &[&str])] = &[
    (Intent::Read, &["for reading", "for input"]),
    (Intent::Write, &["for writing", "for output", "for append"]),
    (
        Intent::Delete,
        &[
            "cannot remove",
            "can't remove",
            "failed to remove",
            "could not remove",
            "unlink",
            "rmdir",
            "failed to delete",
            "could not delete",
        ],
    ),
    (
        Intent::Read,
        &[
            "cannot access",
            "cannot stat",
            "can't stat",
            "cannot read",
            "can't read",
            "could not read",
            "unable to read",
            "failed to read",
            "error reading",
            "cannot open directory",
            "reading directory",
            "opendir",
            "scandir",
            "lstat ",
            "unable to access",
            "can't open file",
            "can't cd to",
            "chdir",
            "cannot change to directory",
            "could not load",
            "failed to load",
            "can't load",
        ],
    ),
    (
        Intent::Write,
        &[
            "creat",
            "cannot touch",
            "cannot move",
            "cannot make",
            "cannot write",
            "can't write",
            "could not write",
            "unable to write",
            "failed to write",
            "error writing",
            "write error",
            "write failed",
            "cannot overwrite",
            "mkdir",
            "rename",
            "symlink",
            "chmod",
            "chown",
            "truncat",
            "copyfile",
            "changing permissions",
            "changing ownership",
            "setting times",
            "setting permissions",
            "cannot set",
            "could not lock",
            "output file",
            "unable to append",
            "failed to open output",
            "failed to install",
            "couldn't open temporary",
            "utime",
            "cannot link",
            "could not rename",
        ],
    ),
];

const READERS: &[&str] = &[
    "cat",
    "head",
    "tail",
    "less",
    "more",
    "grep",
    "egrep",
    "fgrep",
    "rg",
    "find",
    "fd",
    "ls",
    "wc",
    "diff",
    "cmp",
    "stat",
    "file",
    "md5sum",
    "sha1sum",
    "sha256sum",
    "sha512sum",
    "cksum",
    "du",
    "od",
    "xxd",
    "hexdump",
    "strings",
    "readlink",
    "realpath",
    "cut",
    "nl",
    "tac",
    "jq",
    "comm",
    "join",
    "paste",
    "fold",
    "cd",
    "tree",
    "base64",
    "source",
];
const WRITERS: &[&str] = &[
    "touch", "mkdir", "mv", "cp", "ln", "tee", "install", "chmod", "chown", "chgrp", "truncate",
    "mktemp", "mkfifo", "mknod", "shred", "patch",
];
const REMOVERS: &[&str] = &["rm", "rmdir", "unlink"];

/// What a line says about what was wanted.
pub(super) fn of(line: &str, what: Refusal, code: Option<i32>) -> Intent {
    let lower = lower(line);
    let said = WORDS
        .iter()
        .find(|(_, words)| words.iter().any(|word| lower.contains(word)))
        .map(|(intent, _)| *intent);
    let by_program = || {
        // `bash: line 1: cd: /x: ...` names the builtin second.
        lower.split(": ").take(3).find_map(|part| {
            let name = part.trim().rsplit('/').next().unwrap_or_default();
            [
                (Intent::Delete, REMOVERS),
                (Intent::Write, WRITERS),
                (Intent::Read, READERS),
            ]
            .into_iter()
            .find_map(|(intent, names)| names.contains(&name).then_some(intent))
        })
    };
    // 126 is what shells say about a file that they could not run.
    let run = || {
        let words = [
            "cannot execute",
            "to execute",
            "exec failed",
            "exec: ",
            "spawn ",
        ];
        let run = code == Some(126) || words.iter().any(|word| lower.contains(word));
        run.then_some(Intent::Execute)
    };
    match (what, said.or_else(by_program).or_else(run)) {
        (Refusal::ReadOnly, Some(Intent::Delete)) => Intent::Delete,
        (Refusal::ReadOnly, _) => Intent::Write,
        (_, intent) => intent.unwrap_or(Intent::Unknown),
    }
}
