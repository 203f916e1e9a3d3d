//! Program names: the last path component, and the names the allow side looks through.

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

/// The name a program is looked up by on the forbid side: any directory, any case, with or without `.exe`.
pub(crate) fn folded_base(program: &[u8]) -> Vec<u8> {
    let base = program
        .rsplit(|&b| b == b'/' || b == b'\\')
        .next()
        .unwrap_or(program);
    let mut base = base.to_ascii_lowercase();
    if base.len() > 4 && base.ends_with(b".exe") {
        base.truncate(base.len().saturating_sub(4));
    }
    base
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
        assert_eq!(folded_base(b"/tmp/RM"), b"rm");
        assert_eq!(folded_base(b"C:\\bin\\Bash.EXE"), b"bash");
        assert_eq!(folded_base(b""), b"");
    }
}
