//! What is reported, in words for people: names come from whoever wrote the files, so they are never shown as they are.

use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt as _;

use palisade_policy::AbsolutePath;

/// What kind of thing was found; the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum FindingKind {
    /// A directory that git takes for a repository although it is not called `.git`: git that starts in it or below it
    /// obeys its configuration.
    PlantedBareRepository,
    /// A `.git` that was not there before, or that leads elsewhere now.
    NestedRepository,
    /// A file in a directory that git is configured to take hooks from.
    HooksPath,
    /// Something changed at a path that the policy protects: the tier could not keep it.
    Protected,
    /// A file that runs with the rights of its owner or group, whoever runs it.
    SetId,
    /// A file that tools of the user execute, or that tells them what to execute.
    RunsLater,
    /// A file that a denied pattern covers and that was made after the pattern was expanded: it was not guarded.
    LaterMatch,
    /// A file that changed and has another name outside: it changed there too.
    HardLink,
    /// Something that was not looked at, so that nothing is known about it.
    Incomplete,
}

impl FindingKind {
    /// A short name, for logs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::PlantedBareRepository => "planted-bare-repository",
            Self::NestedRepository => "nested-repository",
            Self::HooksPath => "hooks-path",
            Self::Protected => "protected",
            Self::SetId => "set-id",
            Self::RunsLater => "runs-later",
            Self::LaterMatch => "later-match",
            Self::HardLink => "hard-link",
            Self::Incomplete => "incomplete",
        }
    }
}

impl fmt::Display for FindingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Something that a person should know before going on in a workspace.
///
/// Its `Display` is one line without control characters, whatever the path holds.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Finding {
    /// What kind of thing.
    pub kind: FindingKind,
    /// Where.
    pub path: AbsolutePath,
    /// What about it, in a few words; safe to show.
    pub what: String,
}

impl Finding {
    pub(super) const fn new(kind: FindingKind, path: AbsolutePath, what: String) -> Self {
        Self { kind, path, what }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = escaped(self.path.as_path().as_os_str());
        write!(f, "{}: {path}: {}", self.kind, self.what)
    }
}

/// A name as it can be shown: what is not printable, what changes the direction of text and what is not UTF-8 is
/// written as an escape.
pub(super) fn escaped(name: &OsStr) -> String {
    let mut text = String::new();
    for chunk in name.as_bytes().utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '"' | '\'' => text.push(character),
                _ => text.extend(character.escape_debug()),
            }
        }
        text.extend(chunk.invalid().escape_ascii().map(char::from));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_names_become_one_line_of_printable_text() {
        for (name, shown) in [
            (&b"plain \xc3\xa9"[..], "plain \u{e9}"),
            (b"a\nruns-later: /etc", "a\\nruns-later: /etc"),
            (b"\x1b[2J\x07", "\\u{1b}[2J\\u{7}"),
            (b"\xff\xfe", "\\xff\\xfe"),
            ("txt.\u{202e}exe".as_bytes(), "txt.\\u{202e}exe"),
            ("zero\u{200b}width".as_bytes(), "zero\\u{200b}width"),
            ("c1\u{9b}31m".as_bytes(), "c1\\u{9b}31m"),
            (b"back\\slash", "back\\\\slash"),
        ] {
            assert_eq!(escaped(OsStr::from_bytes(name)), shown);
        }
    }

    #[test]
    fn two_names_are_never_shown_alike() {
        let (newline, literal) = (OsStr::new("a\nb"), OsStr::new("a\\nb"));
        assert_ne!(escaped(newline), escaped(literal));
    }
}
