//! The words that start a command under a profile.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::error::ApplyError;
use crate::profile::Parameters;

/// What applies a profile. Never another of the same name, wherever a search path leads.
pub const SANDBOX_EXEC: &str = "/usr/bin/sandbox-exec";

/// What macOS takes for the arguments and the environment of a program, with their pointers.
const ARGUMENTS_MAX: usize = 1024 * 1024;

/// What the system itself adds: the path, its own strings, alignment.
const RESERVED: usize = 16 * 1024;

/// A profile, ready to have commands started under it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// `sandbox-exec`, the text, and a word for each parameter.
    prefix: Vec<OsString>,
}

impl Launch {
    /// Of a profile's text and its parameters.
    ///
    /// # Errors
    /// One of them cannot be passed on.
    pub fn new(text: &str, parameters: &Parameters) -> Result<Self, ApplyError> {
        let text = passable("text of the profile", OsStr::new(text))?;
        let mut prefix: Vec<OsString> = vec![SANDBOX_EXEC.into(), "-p".into(), text.into()];
        for (name, path) in parameters.iter() {
            let path = passable("path of a parameter", path.as_path().as_os_str())?;
            if path.as_encoded_bytes().contains(&b'\n') {
                return Err(ApplyError::Unpassable {
                    what: "path of a parameter",
                    byte: "a line break",
                });
            }
            let mut word = OsString::from(format!("-D{name}="));
            word.push(path);
            prefix.push(word);
        }
        Ok(Self { prefix })
    }

    /// The words that start this program with these arguments under the profile; the first is `sandbox-exec`.
    ///
    /// `environment` is the size of the environment that it will have, in bytes, for the limit that both share.
    ///
    /// # Errors
    /// The program's path is not absolute, a word cannot be passed on, or all of them are too large.
    pub fn words<A: AsRef<OsStr>>(
        &self,
        program: &Path,
        arguments: impl IntoIterator<Item = A>,
        environment: usize,
    ) -> Result<Vec<OsString>, ApplyError> {
        if program.as_os_str().is_empty() {
            return Err(ApplyError::NoProgram);
        }
        if !program.is_absolute() {
            return Err(ApplyError::Relative {
                what: "program",
                path: program.to_owned(),
            });
        }
        let mut words = self.prefix.clone();
        words.push("--".into());
        words.push(passable("path of the program", program.as_os_str())?.into());
        for argument in arguments {
            words.push(passable("argument", argument.as_ref())?.into());
        }
        let own: usize = words.iter().map(|word| taken(word)).sum();
        let bytes = own.saturating_add(environment);
        let limit = ARGUMENTS_MAX - RESERVED;
        match bytes > limit {
            true => Err(ApplyError::TooLarge { bytes, limit }),
            false => Ok(words),
        }
    }
}

/// What a word takes: itself, its end, and a pointer.
fn taken(word: &OsStr) -> usize {
    word.len().saturating_add(1 + size_of::<u64>())
}

fn passable<'t>(what: &'static str, text: &'t OsStr) -> Result<&'t OsStr, ApplyError> {
    match text.as_encoded_bytes().contains(&0) {
        true => Err(ApplyError::Unpassable {
            what,
            byte: "a zero byte",
        }),
        false => Ok(text),
    }
}

#[cfg(test)]
mod tests {
    use palisade_policy::AbsolutePath;

    use super::*;
    use crate::profile::ParameterName;

    fn parameters(paths: &[(&str, &str)]) -> Parameters {
        let each = paths.iter().map(|(name, path)| {
            let path = AbsolutePath::new(path).unwrap();
            (ParameterName((*name).to_owned()), path)
        });
        Parameters(each.collect())
    }

    const TEXT: &str = "(version 1)\n(deny default)\n";

    #[test]
    fn the_words_are_those_of_the_absolute_sandbox_exec() {
        let paths = [
            ("ROOT_1", "/private/tmp/a \"b\" (c)"),
            ("ROOT_0", "/Users/dev/app"),
        ];
        let launch = Launch::new(TEXT, &parameters(&paths)).unwrap();
        let words = launch
            .words(Path::new("/bin/sh"), ["-c", "exit 71", "--"], 0)
            .unwrap();
        let expected = [
            "/usr/bin/sandbox-exec",
            "-p",
            TEXT,
            "-DROOT_0=/Users/dev/app",
            "-DROOT_1=/private/tmp/a \"b\" (c)",
            "--",
            "/bin/sh",
            "-c",
            "exit 71",
            "--",
        ];
        assert_eq!(words, expected);
    }

    #[test]
    fn what_depends_on_a_search_path_or_a_directory_is_refused() {
        let launch = Launch::new(TEXT, &Parameters::default()).unwrap();
        for program in ["make", "./make", "../make", "bin/make"] {
            let refused = launch.words(Path::new(program), [""; 0], 0);
            assert!(
                matches!(refused, Err(ApplyError::Relative { .. })),
                "{program}"
            );
        }
        assert!(matches!(
            launch.words(Path::new(""), [""; 0], 0),
            Err(ApplyError::NoProgram)
        ));
    }

    #[test]
    fn what_cannot_be_passed_on_is_refused_and_not_cut() {
        let launch = Launch::new(TEXT, &Parameters::default()).unwrap();
        for (program, argument) in [("/bin/a\0b", ""), ("/bin/a", "b\0c")] {
            let refused = launch.words(Path::new(program), [argument], 0);
            assert!(matches!(refused, Err(ApplyError::Unpassable { .. })));
        }
        assert!(matches!(
            Launch::new("(version 1)\0(allow default)", &Parameters::default()),
            Err(ApplyError::Unpassable { .. })
        ));
        // A line break in an argument is an argument's own business.
        assert!(
            launch
                .words(Path::new("/bin/sh"), ["-c", "a\nb"], 0)
                .is_ok()
        );
        if AbsolutePath::new("/srv/a\nb").is_ok() {
            let paths = parameters(&[("ROOT_0", "/srv/a\nb")]);
            assert!(matches!(
                Launch::new(TEXT, &paths),
                Err(ApplyError::Unpassable { .. })
            ));
        }
    }

    #[test]
    fn what_the_system_would_not_take_is_refused_before_it_is_asked() {
        let launch = Launch::new(TEXT, &Parameters::default()).unwrap();
        let long = "x".repeat(ARGUMENTS_MAX);
        let refused = launch.words(Path::new("/bin/echo"), [&long], 0);
        assert!(matches!(refused, Err(ApplyError::TooLarge { .. })));
        let half = "x".repeat(ARGUMENTS_MAX / 2);
        assert!(launch.words(Path::new("/bin/echo"), [&half], 0).is_ok());
        let refused = launch.words(Path::new("/bin/echo"), [&half], ARGUMENTS_MAX / 2);
        assert!(matches!(refused, Err(ApplyError::TooLarge { .. })));
        let many = vec![""; ARGUMENTS_MAX / 8];
        let refused = launch.words(Path::new("/bin/echo"), &many, 0);
        assert!(matches!(refused, Err(ApplyError::TooLarge { .. })));
    }
}
