//! `find` without an action that writes or executes.

use super::Arg;

/// Tests, operators and printing actions, by their names. Everything else that starts with a dash is refused.
const HARMLESS: &[&str] = &[
    "-H",
    "-L",
    "-P",
    "-a",
    "-amin",
    "-and",
    "-anewer",
    "-atime",
    "-cmin",
    "-cnewer",
    "-ctime",
    "-daystart",
    "-depth",
    "-empty",
    "-executable",
    "-false",
    "-follow",
    "-fstype",
    "-gid",
    "-group",
    "-ilname",
    "-iname",
    "-inum",
    "-ipath",
    "-iregex",
    "-links",
    "-lname",
    "-ls",
    "-maxdepth",
    "-mindepth",
    "-mmin",
    "-mount",
    "-mtime",
    "-name",
    "-newer",
    "-nogroup",
    "-noleaf",
    "-not",
    "-nouser",
    "-o",
    "-or",
    "-path",
    "-perm",
    "-print",
    "-print0",
    "-printf",
    "-prune",
    "-quit",
    "-readable",
    "-regex",
    "-regextype",
    "-samefile",
    "-size",
    "-true",
    "-type",
    "-uid",
    "-used",
    "-user",
    "-warn",
    "-nowarn",
    "-wholename",
    "-writable",
    "-xdev",
    "-xtype",
    "-newermt",
    "-newerct",
    "-newerat",
    "-help",
    "--help",
    "-version",
    "--version",
    "-E",
    "-X",
    "-x",
    "-s",
    "-d",
    "-ignore_readdir_race",
    "-context",
];

pub(super) fn has_no_action(words: &[Arg<'_>]) -> bool {
    words.iter().all(|word| match word {
        Arg::Known(word) if word.first() == Some(&b'-') => {
            // `-1` in `-mtime -1` is a value.
            HARMLESS.iter().any(|name| name.as_bytes() == *word)
                || word.get(1).is_some_and(u8::is_ascii_digit)
        }
        Arg::Known(_) => true,
        // `*` may expand to a file named `-delete`; `src/*` cannot.
        Arg::Pattern { .. } => !word.may_be_option(),
        Arg::Pipe(_) | Arg::Unknown => false,
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::tests_support::{args, glob};
    use super::*;

    #[test]
    fn searching_is_no_action() {
        for line in [
            ". -name *.rs -type f",
            "src -mtime -1 -maxdepth 2",
            ". -not -path ./target -print0",
            ". ( -name a -o -name b ) -prune -o -print",
            "-L . -empty",
        ] {
            assert!(has_no_action(&args(line)), "{line}");
        }
    }

    #[test]
    fn actions_that_write_or_run_are_refused() {
        for line in [
            ". -delete",
            ". -exec rm {} ;",
            ". -execdir sh x ;",
            ". -ok rm {} ;",
            ". -okdir rm {} ;",
            ". -fprint /etc/x",
            ". -fprintf x %p",
            ". -fls x",
            ". -fprint0 x",
            ". -files0-from list",
            ". -unknown",
        ] {
            assert!(!has_no_action(&args(line)), "{line}");
        }
        assert!(!has_no_action(&[glob("*")]));
        assert!(has_no_action(&[glob("src/*")]));
    }
}
