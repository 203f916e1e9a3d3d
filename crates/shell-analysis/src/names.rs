//! Program names: the last path component, and the names the allow side looks through.

use std::borrow::Cow;
use std::cmp::Ordering;

/// Directories whose wrappers the allow side trusts to be the wrapper they are named after.
///
/// Anything else (`./nice`, `/tmp/env`) stays a program of its own, which no bare-name rule matches.
const SYSTEM_DIRECTORIES: &[&[u8]] = &[
    b"/bin/",
    b"/usr/bin/",
    b"/usr/local/bin/",
    b"/opt/homebrew/bin/",
];

/// The name a wrapper is looked up by on the allow side: bare, or in a system directory, case kept.
pub(crate) fn trusted_base(program: &[u8]) -> Option<&[u8]> {
    if !program.contains(&b'/') {
        return Some(program);
    }
    SYSTEM_DIRECTORIES
        .iter()
        .find_map(|directory| program.strip_prefix(*directory))
        .filter(|base| !base.contains(&b'/'))
}

/// The order of sorted name tables: most names differ in the first byte, which is much cheaper than a call to compare.
pub(crate) fn order(known: &[u8], name: &[u8]) -> Ordering {
    known
        .first()
        .cmp(&name.first())
        .then_with(|| known.cmp(name))
}

/// The last component of a program's path, without `.exe`.
pub(crate) fn base(program: &[u8]) -> &[u8] {
    let base = program
        .rsplit(|&b| b == b'/' || b == b'\\')
        .next()
        .unwrap_or(program);
    match base.split_at_checked(base.len().saturating_sub(4)) {
        Some((stem, extension)) if !stem.is_empty() && extension.eq_ignore_ascii_case(b".exe") => {
            stem
        }
        _ => base,
    }
}

/// The name a program is looked up by on the forbid side: any directory, any case, with or without `.exe`.
pub(crate) fn folded_base(program: &[u8]) -> Cow<'_, [u8]> {
    let base = base(program);
    if base.iter().any(u8::is_ascii_uppercase) {
        Cow::Owned(base.to_ascii_lowercase())
    } else {
        Cow::Borrowed(base)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_bare_names_and_system_directories_are_trusted() {
        for (program, expected) in [
            (&b"nice"[..], Some(&b"nice"[..])),
            (b"/usr/bin/nice", Some(b"nice")),
            (b"./nice", None),
            (b"/tmp/nice", None),
            (b"/usr/bin/../../tmp/nice", None),
            (b"/usr/bin/x/nice", None),
        ] {
            assert_eq!(trusted_base(program), expected);
        }
    }

    #[test]
    fn the_forbid_side_folds() {
        assert_eq!(*folded_base(b"/tmp/RM"), *b"rm");
        assert_eq!(*folded_base(b"C:\\bin\\Bash.EXE"), *b"bash");
        assert_eq!(*folded_base(b""), *b"");
    }
}
