//! What a Landlock ruleset grants, by the rules of the kernel: on the way from a path up to the root every rule adds its
//! rights, and whatever is handled and was added by none is refused.

use palisade_policy::AbsolutePath;

use crate::plan::{FsRights, Ruleset};

/// The rights on a path: those of every rule on it and above it.
///
/// `is_directory` says what is at the path of a rule: a rule on anything else has no rights of directories.
#[must_use]
pub fn grants(
    ruleset: &Ruleset,
    path: &AbsolutePath,
    is_directory: &dyn Fn(&AbsolutePath) -> bool,
) -> FsRights {
    let mut found = FsRights::default();
    for rule in &ruleset.paths {
        if path.as_path().starts_with(rule.path.as_path()) {
            let rights = match is_directory(&rule.path) {
                true => rule.rights,
                false => rule.rights & FsRights::FILE,
            };
            found = found | rights;
        }
    }
    found
}

/// Whether these rights are granted on a path; what the ruleset does not handle always is.
#[must_use]
pub fn is_granted(
    ruleset: &Ruleset,
    path: &AbsolutePath,
    asked: FsRights,
    is_directory: &dyn Fn(&AbsolutePath) -> bool,
) -> bool {
    grants(ruleset, path, is_directory).contains(asked & ruleset.handled_fs)
}

/// What kind of entry is moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the kernel tells these apart")]
pub enum Moved {
    /// A directory.
    Directory,
    /// A file.
    File,
    /// A symbolic link.
    Link,
}

impl Moved {
    const fn made_by(self) -> FsRights {
        match self {
            Self::Directory => FsRights::MAKE_DIR,
            Self::File => FsRights::MAKE_REG,
            Self::Link => FsRights::MAKE_SYM,
        }
    }

    const fn removed_by(self) -> FsRights {
        match self {
            Self::Directory => FsRights::REMOVE_DIR,
            Self::File | Self::Link => FsRights::REMOVE_FILE,
        }
    }
}

/// A rename of something to a name that is free; an exchange is two of them.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "a rename has no other parts")]
pub struct Move<'a> {
    /// The old name.
    pub from: &'a AbsolutePath,
    /// The new name.
    pub to: &'a AbsolutePath,
    /// What has it.
    pub what: Moved,
}

/// Whether a rename is granted: removing here, making there, and between two directories also the right to refer, with
/// no right on what is moved that it did not have before.
#[must_use]
pub fn may_move(
    ruleset: &Ruleset,
    rename: Move<'_>,
    is_directory: &dyn Fn(&AbsolutePath) -> bool,
) -> bool {
    let (Some(before), Some(after)) = (rename.from.parent(), rename.to.parent()) else {
        return false;
    };
    let granted = |path: &AbsolutePath, asked| is_granted(ruleset, path, asked, is_directory);
    let entries =
        granted(&before, rename.what.removed_by()) && granted(&after, rename.what.made_by());
    if before == after {
        return entries;
    }
    // An ABI without the right to refer refuses every such rename.
    let refers =
        |path| ruleset.handled_fs.contains(FsRights::REFER) && granted(path, FsRights::REFER);
    let about = match rename.what {
        Moved::Directory => ruleset.handled_fs,
        Moved::File | Moved::Link => ruleset.handled_fs & FsRights::FILE,
    };
    let had = grants(ruleset, rename.from, is_directory);
    let gains = grants(ruleset, &after, is_directory) & about;
    entries && refers(&before) && refers(&after) && had.contains(gains)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::PathRule;

    fn abs(path: &str) -> AbsolutePath {
        match AbsolutePath::new(path) {
            Ok(path) => path,
            Err(error) => panic!("{error}"),
        }
    }

    fn ruleset(rules: &[(&str, FsRights)]) -> Ruleset {
        Ruleset {
            handled_fs: FsRights::handled(7),
            paths: rules
                .iter()
                .map(|(path, rights)| PathRule::new(abs(path), *rights))
                .collect(),
            ..Ruleset::default()
        }
    }

    fn all_directories(_: &AbsolutePath) -> bool {
        true
    }

    #[test]
    fn rights_add_up_on_the_way_to_the_root() {
        let rules = ruleset(&[("/", FsRights::READ_FILE), ("/a/b", FsRights::WRITE_FILE)]);
        let both = FsRights::READ_FILE | FsRights::WRITE_FILE;
        assert!(is_granted(&rules, &abs("/a/b/c"), both, &all_directories));
        assert!(!is_granted(&rules, &abs("/a/bc"), both, &all_directories));
        assert!(!is_granted(&rules, &abs("/a"), both, &all_directories));
    }

    #[test]
    fn a_rule_on_a_file_has_no_rights_of_directories() {
        let rules = ruleset(&[("/a", FsRights::READ | FsRights::WRITE)]);
        let list = FsRights::READ_DIR;
        assert!(is_granted(&rules, &abs("/a"), list, &all_directories));
        assert!(!is_granted(&rules, &abs("/a"), list, &|_| false));
    }

    #[test]
    fn what_is_not_handled_is_granted() {
        let rules = Ruleset {
            handled_fs: FsRights::handled(3),
            ..Ruleset::default()
        };
        let device = FsRights::IOCTL_DEV;
        assert!(is_granted(&rules, &abs("/a"), device, &all_directories));
        assert!(!is_granted(
            &rules,
            &abs("/a"),
            FsRights::TRUNCATE,
            &all_directories
        ));
    }

    #[test]
    fn a_move_never_brings_rights() {
        let narrow = FsRights::WRITE;
        let rules = ruleset(&[
            ("/narrow", narrow),
            ("/wide", narrow | FsRights::READ),
            ("/other", narrow),
        ]);
        let may = |from, to| {
            let (from, to) = (abs(from), abs(to));
            let what = Moved::File;
            may_move(
                &rules,
                Move {
                    from: &from,
                    to: &to,
                    what,
                },
                &all_directories,
            )
        };
        assert!(may("/narrow/a", "/narrow/b"));
        assert!(may("/narrow/a", "/other/a"));
        assert!(may("/wide/a", "/narrow/a"));
        assert!(!may("/narrow/a", "/wide/a"));
        assert!(!may("/narrow/a", "/elsewhere/a"));
        assert!(!may("/elsewhere/a", "/narrow/a"));
    }
}
