//! How a path is written on Windows: what means something else than it seems to is refused. Pure, and tested everywhere.
//!
//! Windows gives some names a meaning of their own, wherever they are: `C:\srv\NUL.txt` is not a file, `a:b` is a
//! second content of the file `a`, and `a.` is `a`. Whoever compares paths by their text is misled by each of them.

use std::fmt;

/// What is wrong with a spelling.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SpellingProblem {
    /// Nothing there.
    #[error("the path is empty")]
    Empty,
    /// It depends on the working directory.
    #[error("the path is relative; write it with its drive, as in `C:\\srv\\app`")]
    Relative,
    /// It depends on the working directory of a drive.
    #[error(
        "the path is relative to the working directory of a drive; write a backslash after the colon"
    )]
    DriveRelative,
    /// It depends on the current drive.
    #[error("the path names no drive; write it with its drive, as in `C:\\srv\\app`")]
    NoDrive,
    /// It is on another machine.
    #[error(
        "the path is on the network, where access lists are kept by somebody else; use a local disk"
    )]
    Network,
    /// It names a device or a place of the kernel.
    #[error("the path names a device or an object of the system; write it with its drive")]
    Device,
    /// A `..`, whose meaning depends on links.
    #[error("the path contains `..`; write the path that it leads to")]
    Parent,
    /// A name that is a device wherever it is.
    #[error("`{0}` is the name of a device, in every directory")]
    DeviceName(String),
    /// A second content of a file.
    #[error("`{0}` names a stream of a file; name the file")]
    Stream(String),
    /// A name that Windows silently shortens.
    #[error("`{0}` ends with a dot or a space, which Windows drops; write it without")]
    Trailing(String),
    /// A character that names cannot have.
    #[error("`{name}` contains {character:?}, which no name can")]
    Character {
        /// The name.
        name: String,
        /// The character.
        character: char,
    },
    /// Longer than any file system has it.
    #[error("a name of the path has more than 255 units, or the path more than 32000")]
    TooLong,
    /// No text: there is half of a pair of units in it.
    #[error("the path is not Unicode; rename what it names")]
    NotUnicode,
}

/// A path in its plain form: a drive, and names that mean what they say.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Spelled(String);

impl Spelled {
    /// As text, such as `C:\srv\app`: the drive in capitals, backslashes, none at the end except after the drive.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Spelled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

const MAX_NAME: usize = 255;
const MAX_PATH: usize = 32_000;

/// Judges the spelling of a path, and gives its plain form: without `\\?\` before the drive, without `.` and doubled
/// separators.
///
/// ```
/// use palisade_windows_token::survey::{SpellingProblem, spelled};
///
/// assert_eq!(spelled(r"\\?\c:\srv\app")?.as_str(), r"C:\srv\app");
/// assert_eq!(spelled("c:/srv//app/./")?.as_str(), r"C:\srv\app");
/// assert_eq!(spelled(r"C:\srv\nul.txt"), Err(SpellingProblem::DeviceName("nul.txt".to_owned())));
/// assert_eq!(spelled(r"\\server\share"), Err(SpellingProblem::Network));
/// # Ok::<(), SpellingProblem>(())
/// ```
///
/// # Errors
/// Says what the path really means, or that it means nothing.
pub fn spelled(path: &str) -> Result<Spelled, SpellingProblem> {
    if path.is_empty() {
        return Err(SpellingProblem::Empty);
    }
    if path.encode_utf16().count() > MAX_PATH {
        return Err(SpellingProblem::TooLong);
    }
    let after_prefix = without_prefix(path)?;
    let (drive, names) = drive_and_names(after_prefix)?;
    let mut plain = format!("{drive}:");
    for name in names.split(is_separator) {
        match name {
            "" | "." => {}
            ".." => return Err(SpellingProblem::Parent),
            name => {
                check_name(name)?;
                plain.push('\\');
                plain.push_str(name);
            }
        }
    }
    if plain.len() == 2 {
        plain.push('\\');
    }
    Ok(Spelled(plain))
}

const fn is_separator(c: char) -> bool {
    matches!(c, '\\' | '/')
}

/// Takes `\\?\` away where a drive follows. Everything else that starts with two separators is not a disk of this machine.
fn without_prefix(path: &str) -> Result<&str, SpellingProblem> {
    // The system's own name for what `\\?\` means.
    if path.starts_with(r"\??\") {
        return Err(SpellingProblem::Device);
    }
    let mut characters = path.chars();
    let starts: [Option<char>; 4] = std::array::from_fn(|_| characters.next());
    let separator = |c: Option<char>| c.is_some_and(is_separator);
    let [first, second, kind, fourth] = starts;
    if !(separator(first) && separator(second)) {
        return Ok(path);
    }
    match kind {
        Some('?') if separator(fourth) => {
            let rest = path.get(4..).unwrap_or_default();
            // There a slash is a character, and `.` is a name: what follows is not what it looks like.
            let twisted = rest.contains('/')
                || rest.split('\\').skip(1).any(|name| name == ".")
                || rest.contains(r"\\")
                || !path.starts_with(r"\\?\");
            match rest.as_bytes() {
                [letter, b':', b'\\', ..] if letter.is_ascii_alphabetic() && !twisted => Ok(rest),
                _ if is_network(rest) => Err(SpellingProblem::Network),
                _ => Err(SpellingProblem::Device),
            }
        }
        Some('?' | '.') if fourth.is_none() || separator(fourth) => Err(SpellingProblem::Device),
        _ => Err(SpellingProblem::Network),
    }
}

fn is_network(rest: &str) -> bool {
    let mut names = rest.split(is_separator);
    names
        .next()
        .is_some_and(|name| name.eq_ignore_ascii_case("UNC"))
}

fn drive_and_names(path: &str) -> Result<(char, &str), SpellingProblem> {
    match path.as_bytes() {
        [letter, b':', b'\\' | b'/', ..] if letter.is_ascii_alphabetic() => {
            let drive = char::from(letter.to_ascii_uppercase());
            Ok((drive, path.get(3..).unwrap_or_default()))
        }
        [letter, b':', ..] if letter.is_ascii_alphabetic() => Err(SpellingProblem::DriveRelative),
        [b'\\' | b'/', ..] => Err(SpellingProblem::NoDrive),
        _ => Err(SpellingProblem::Relative),
    }
}

fn check_name(name: &str) -> Result<(), SpellingProblem> {
    if name.contains(':') {
        return Err(SpellingProblem::Stream(name.to_owned()));
    }
    let bad = |c: &char| matches!(c, '<' | '>' | '"' | '|' | '?' | '*') || u32::from(*c) < 0x20;
    if let Some(character) = name.chars().find(bad) {
        return Err(SpellingProblem::Character {
            name: name.to_owned(),
            character,
        });
    }
    if is_device_name(name) {
        return Err(SpellingProblem::DeviceName(name.to_owned()));
    }
    if name.ends_with(['.', ' ']) {
        return Err(SpellingProblem::Trailing(name.to_owned()));
    }
    if name.encode_utf16().count() > MAX_NAME {
        return Err(SpellingProblem::TooLong);
    }
    Ok(())
}

/// Whether a name is a device: also with an extension, with spaces before it, and with a superscript for the number.
fn is_device_name(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default();
    let stem = stem.trim_end_matches(' ').to_ascii_uppercase();
    if matches!(
        stem.as_str(),
        "CON" | "PRN" | "AUX" | "NUL" | "CONIN$" | "CONOUT$" | "CLOCK$"
    ) {
        return true;
    }
    let number = ["COM", "LPT"]
        .iter()
        .find_map(|device| stem.strip_prefix(device));
    let mut number = number.unwrap_or_default().chars();
    matches!(
        (number.next(), number.next()),
        (Some('0'..='9' | '¹' | '²' | '³'), None)
    )
}

#[cfg(test)]
mod tests {
    use super::SpellingProblem as P;
    use super::*;

    fn plain(path: &str) -> String {
        spelled(path).unwrap().to_string()
    }

    #[test]
    fn one_path_has_one_plain_form() {
        for path in [
            r"C:\srv\app",
            r"c:\srv\app\",
            "C:/srv/app",
            r"C:\srv\\app",
            r"C:\.\srv\.\app",
            r"\\?\C:\srv\app",
            r"\\?\c:\srv\app",
        ] {
            assert_eq!(plain(path), r"C:\srv\app", "{path}");
        }
        assert_eq!(plain(r"d:\"), r"D:\");
        assert_eq!(plain(r"\\?\D:\"), r"D:\");
        assert_eq!(
            plain(r"C:\Users\dev\Прое́кт 項目"),
            r"C:\Users\dev\Прое́кт 項目"
        );
    }

    #[test]
    fn what_depends_on_where_one_is_is_refused() {
        for (path, problem) in [
            ("", P::Empty),
            ("srv", P::Relative),
            (r".\srv", P::Relative),
            (r"..\srv", P::Relative),
            ("C:", P::DriveRelative),
            ("C:srv", P::DriveRelative),
            (r"\srv", P::NoDrive),
            ("/srv", P::NoDrive),
            (r"C:\srv\..\app", P::Parent),
            (r"\\?\C:\srv\..\app", P::Parent),
            (r"1:\srv", P::Relative),
            ("ä:\\srv", P::Relative),
        ] {
            assert_eq!(spelled(path), Err(problem), "{path}");
        }
    }

    #[test]
    fn other_machines_and_devices_are_refused() {
        for path in [
            r"\\server\share\app",
            "//server/share",
            r"\\?\UNC\server\share",
            r"\\?\unc\server\share",
            r"\\127.0.0.1\c$\srv",
            r"\\",
        ] {
            assert_eq!(spelled(path), Err(P::Network), "{path}");
        }
        for path in [
            r"\\.\C:\srv",
            "//./C:/srv",
            r"\\.\PhysicalDrive0",
            r"\\.\pipe\x",
            r"\\?\GLOBALROOT\Device\HarddiskVolume1\srv",
            r"\\?\Volume{b75e2c83-0000-0000-0000-602f00000000}\srv",
            r"\\?\C:",
            r"\\?\C:srv",
            r"\\?\C:\srv/app",
            r"\\?\C:\srv\.\app",
            r"\\?\C:\srv\\app",
            "//?/C:/srv",
            r"\??\C:\srv",
            r"\\.",
            r"\\?",
        ] {
            assert_eq!(spelled(path), Err(P::Device), "{path}");
        }
    }

    #[test]
    fn names_of_devices_are_refused_wherever_they_are() {
        for name in [
            "CON",
            "con",
            "PRN",
            "AUX",
            "NUL",
            "nul.txt",
            "Nul.tar.gz",
            "NUL .txt",
            "COM1",
            "com9.log",
            "COM¹",
            "LPT²",
            "lpt³.x",
            "COM0",
            "CONIN$",
            "conout$",
            "CLOCK$",
            "NUL.",
            "aux ",
        ] {
            for path in [format!(r"C:\srv\{name}"), format!(r"C:\{name}\file")] {
                assert_eq!(
                    spelled(&path),
                    Err(P::DeviceName(name.to_owned())),
                    "{path}"
                );
            }
        }
        for name in [
            "CONSOLE",
            "nullable",
            "COM",
            "COM10",
            "COM¹2",
            "LPT",
            "com1x",
            "a.nul",
            "auxiliary",
            " con1",
            "COM⁴",
        ] {
            assert_eq!(plain(&format!(r"C:\srv\{name}")), format!(r"C:\srv\{name}"));
        }
    }

    #[test]
    fn streams_dropped_ends_and_impossible_characters_are_refused() {
        let name = |path: &str| spelled(&format!(r"C:\srv\{path}")).unwrap_err();
        assert_eq!(name("a:b"), P::Stream("a:b".to_owned()));
        assert_eq!(name(r"a::$DATA"), P::Stream("a::$DATA".to_owned()));
        assert_eq!(
            name(r".git::$INDEX_ALLOCATION\config"),
            P::Stream(".git::$INDEX_ALLOCATION".to_owned())
        );
        assert_eq!(name(r"a.\b"), P::Trailing("a.".to_owned()));
        assert_eq!(name("a "), P::Trailing("a ".to_owned()));
        assert_eq!(name(".git. . "), P::Trailing(".git. . ".to_owned()));
        assert_eq!(name("..."), P::Trailing("...".to_owned()));
        for character in ['<', '>', '"', '|', '?', '*', '\u{1}', '\n', '\u{1f}'] {
            let bad = format!("a{character}b");
            assert_eq!(
                name(&bad),
                P::Character {
                    name: bad.clone(),
                    character
                }
            );
        }
        assert_eq!(name(&"a".repeat(256)), P::TooLong);
        assert!(spelled(&format!(r"C:\{}", "a".repeat(255))).is_ok());
        assert_eq!(
            spelled(&format!(r"C:{}", r"\abc".repeat(9000))),
            Err(P::TooLong)
        );
    }

    mod properties {
        use proptest::prelude::*;

        use super::*;

        proptest! {
            /// Whatever comes in: what comes out is plain, and judged the same when asked again.
            #[test]
            fn a_plain_form_is_its_own_plain_form(
                path in r"(\\\\\?\\|)[a-zA-Z]:[\\/][a-z.:A-Z \\/~*$]{0,24}"
            ) {
                if let Ok(first) = spelled(&path) {
                    let again = spelled(first.as_str());
                    prop_assert_eq!(again.as_ref(), Ok(&first));
                    let verbatim = format!(r"\\?\{first}");
                    prop_assert_eq!(spelled(&verbatim), Ok(first));
                }
            }

            #[test]
            fn nothing_makes_it_panic(path in ".{0,40}") {
                let _ = spelled(&path);
            }
        }
    }
}
