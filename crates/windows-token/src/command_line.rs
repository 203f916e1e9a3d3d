//! Arguments to the one string that Windows passes to a program, and back; and the environment as one block.
//!
//! Windows has no list of arguments: every program takes the string apart by itself. Nearly all do it by the rules of the C
//! runtime, and these are quoted for. `cmd.exe` has other rules, which no quoting satisfies in all cases, and it is what
//! runs batch files: so these are refused.
//!
//! Text is in units of sixteen bits, as Windows takes it, so that names which are no Unicode pass unchanged.

use std::cmp::Ordering;
use std::ffi::OsStr;
use std::path::Path;

/// What Windows allows for a command line, the end included.
pub const MAX_UNITS: usize = 32_767;

const SPACE: u16 = b' ' as u16;
const TAB: u16 = b'\t' as u16;
const QUOTE: u16 = b'"' as u16;
const BACKSLASH: u16 = b'\\' as u16;
const EQUALS: u16 = b'=' as u16;
const COLON: u16 = b':' as u16;
const DOT: u16 = b'.' as u16;
const SLASH: u16 = b'/' as u16;

/// A command that cannot be handed to Windows as it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CommandLineError {
    /// No program.
    #[error("there is no program to run")]
    Empty,
    /// An argument ends before it does.
    #[error("argument {index} contains a NUL, and Windows would cut it there")]
    Nul {
        /// Which argument; 0 is the program.
        index: usize,
    },
    /// A program whose name cannot be quoted: the rules for it know no way to write a quotation mark.
    #[error("the name of the program contains a quotation mark")]
    QuotedProgram,
    /// More than Windows takes.
    #[error(
        "the command line takes {units} units, and Windows takes {MAX_UNITS}; pass the arguments in a file, if the program can read one"
    )]
    TooLong {
        /// What it takes.
        units: usize,
    },
    /// A batch file, whose arguments `cmd.exe` would read by rules of its own.
    #[error(
        "`{}` is a batch file, and cmd.exe would read its arguments as commands; run `cmd.exe /d /c` with a line that you wrote for it, or what the batch file starts",
        .program.escape_debug()
    )]
    BatchFile {
        /// The program.
        program: String,
    },
    /// A name or a value that is not text here; on Windows every one is.
    #[error("`{}` cannot be written for Windows", .0.escape_debug())]
    NotText(String),
}

/// An environment that cannot be handed to Windows as it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EnvironmentError {
    /// A variable without a name.
    #[error("a variable has no name")]
    NoName,
    /// A name or value that ends before it does.
    #[error("the variable `{}` contains a NUL", .name.escape_debug())]
    Nul {
        /// The name.
        name: String,
    },
    /// A name that would be read as a shorter name and a value.
    #[error("the name `{}` contains `=`", .name.escape_debug())]
    Equals {
        /// The name.
        name: String,
    },
    /// Two names that Windows takes for the same.
    #[error("the variable `{}` is there twice; Windows does not tell names apart by case", .name.escape_debug())]
    Twice {
        /// The name.
        name: String,
    },
}

/// Text in the units of Windows.
///
/// # Errors
/// It cannot be written so; on Windows that does not happen.
pub fn wide(text: &OsStr) -> Result<Vec<u16>, CommandLineError> {
    #[cfg(windows)]
    {
        use std::os::windows::ffi::OsStrExt as _;
        Ok(text.encode_wide().collect())
    }
    #[cfg(not(windows))]
    {
        let unicode = text
            .to_str()
            .ok_or_else(|| CommandLineError::NotText(text.to_string_lossy().into_owned()))?;
        Ok(unicode.encode_utf16().collect())
    }
}

/// The string for a program and its arguments, without the end that Windows wants after it.
///
/// ```
/// use palisade_windows_token::command_line::{join, split};
///
/// let line = join(["tool.exe", "a b", r#"say "hi""#, r"C:\dir\", ""])?;
/// assert_eq!(String::from_utf16(&line)?, r#""tool.exe" "a b" "say \"hi\"" C:\dir\ """#);
/// assert_eq!(split(&line).len(), 5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// There is no program, it is a batch file, something contains a NUL, or the string is longer than Windows takes.
pub fn join<I>(arguments: I) -> Result<Vec<u16>, CommandLineError>
where
    I: IntoIterator,
    I::Item: AsRef<OsStr>,
{
    let arguments: Result<Vec<Vec<u16>>, CommandLineError> = arguments
        .into_iter()
        .map(|argument| wide(argument.as_ref()))
        .collect();
    join_wide(&arguments?)
}

/// As [`join`], for arguments in the units of Windows.
///
/// # Errors
/// As [`join`].
pub fn join_wide(arguments: &[Vec<u16>]) -> Result<Vec<u16>, CommandLineError> {
    if let Some(index) = arguments.iter().position(|text| text.contains(&0)) {
        return Err(CommandLineError::Nul { index });
    }
    let Some((program, rest)) = arguments.split_first() else {
        return Err(CommandLineError::Empty);
    };
    if program.is_empty() {
        return Err(CommandLineError::Empty);
    }
    if program.contains(&QUOTE) {
        return Err(CommandLineError::QuotedProgram);
    }
    if is_batch_file(program) {
        return Err(CommandLineError::BatchFile {
            program: String::from_utf16_lossy(program),
        });
    }
    // The name of the program has no escapes: what is between the quotation marks is the name.
    let mut line = vec![QUOTE];
    line.extend(program);
    line.push(QUOTE);
    for argument in rest {
        line.push(SPACE);
        quote(argument, &mut line);
    }
    let units = line.len() + 1;
    match units > MAX_UNITS {
        true => Err(CommandLineError::TooLong { units }),
        false => Ok(line),
    }
}

/// Appends one argument, in quotation marks if it needs them.
fn quote(argument: &[u16], line: &mut Vec<u16>) {
    // Only the first two separate arguments; the others are quoted for programs with rules of their own.
    let needs = |unit: &u16| matches!(*unit, SPACE | TAB | QUOTE | 0x0A | 0x0B | 0x0C | 0x0D);
    if !argument.is_empty() && !argument.iter().any(needs) {
        line.extend(argument);
        return;
    }
    line.push(QUOTE);
    let mut backslashes = 0;
    for unit in argument {
        match *unit {
            BACKSLASH => backslashes += 1,
            // Backslashes count double before a quotation mark, and nowhere else.
            QUOTE => {
                line.extend(std::iter::repeat_n(BACKSLASH, backslashes + 1));
                backslashes = 0;
            }
            _ => backslashes = 0,
        }
        line.push(*unit);
    }
    line.extend(std::iter::repeat_n(BACKSLASH, backslashes));
    line.push(QUOTE);
}

/// The arguments that a program of the C runtime finds in a string: what [`join`] is the inverse of.
#[must_use]
pub fn split(line: &[u16]) -> Vec<Vec<u16>> {
    let mut arguments = Vec::new();
    let mut rest = line;
    // The program: up to a space outside quotation marks, which are left out.
    let mut program = Vec::new();
    let mut quoted = false;
    while let Some((unit, after)) = rest.split_first() {
        rest = after;
        match *unit {
            QUOTE => quoted = !quoted,
            SPACE | TAB if !quoted => break,
            other => program.push(other),
        }
    }
    arguments.push(program);
    loop {
        while let Some((&(SPACE | TAB), after)) = rest.split_first() {
            rest = after;
        }
        if rest.is_empty() {
            return arguments;
        }
        let (argument, after) = split_one(rest);
        arguments.push(argument);
        rest = after;
    }
}

/// One argument after the program, and what follows it.
fn split_one(mut rest: &[u16]) -> (Vec<u16>, &[u16]) {
    let mut argument = Vec::new();
    let mut quoted = false;
    loop {
        let backslashes = rest.iter().take_while(|unit| **unit == BACKSLASH).count();
        rest = rest.get(backslashes..).unwrap_or_default();
        let before_quote = rest.first() == Some(&QUOTE);
        let written = if before_quote {
            backslashes / 2
        } else {
            backslashes
        };
        argument.extend(std::iter::repeat_n(BACKSLASH, written));
        let escaped = before_quote && backslashes % 2 == 1;
        let Some((unit, after)) = rest.split_first() else {
            return (argument, rest);
        };
        match *unit {
            QUOTE if escaped => argument.push(QUOTE),
            // Two of them inside a quoted part are one, and the part goes on.
            QUOTE if quoted && after.first() == Some(&QUOTE) => {
                argument.push(QUOTE);
                rest = after.get(1..).unwrap_or_default();
                continue;
            }
            QUOTE => quoted = !quoted,
            SPACE | TAB if !quoted => return (argument, rest),
            other => argument.push(other),
        }
        rest = after;
    }
}

/// Whether Windows would hand a program to `cmd.exe`. It does not see dots and spaces at the end of a name, nor what
/// follows a colon there.
fn is_batch_file(program: &[u16]) -> bool {
    let name = program
        .rsplit(|unit| matches!(*unit, BACKSLASH | SLASH))
        .next()
        .unwrap_or_default();
    // In `C:run.bat` the colon is that of a drive.
    let name = match name {
        [_, COLON, name @ ..] => name,
        name => name,
    };
    let name = name.split(|unit| *unit == COLON).next().unwrap_or_default();
    let end = name
        .iter()
        .rposition(|unit| !matches!(*unit, DOT | SPACE))
        .map_or(0, |last| last + 1);
    let name = String::from_utf16_lossy(name.get(..end).unwrap_or_default()).to_ascii_lowercase();
    [".bat", ".cmd"].iter().any(|kind| name.ends_with(kind))
}

/// Whether Windows would hand a program to `cmd.exe`, by its path.
#[must_use]
pub fn runs_in_cmd(program: &Path) -> bool {
    wide(program.as_os_str()).is_ok_and(|program| is_batch_file(&program))
}

/// The environment as one block: `NAME=value` with an end after each, sorted as Windows wants it, and one more end.
///
/// # Errors
/// A name is empty, contains `=` (but for those in which Windows keeps the directory of a drive, such as `=C:`) or is
/// there twice; something contains a NUL.
pub fn environment_block(
    variables: impl IntoIterator<Item = (Vec<u16>, Vec<u16>)>,
) -> Result<Vec<u16>, EnvironmentError> {
    let mut variables: Vec<(Vec<u16>, Vec<u16>)> = variables.into_iter().collect();
    for (name, value) in &variables {
        let shown = || String::from_utf16_lossy(name);
        if name.is_empty() {
            return Err(EnvironmentError::NoName);
        }
        if name.contains(&0) || value.contains(&0) {
            return Err(EnvironmentError::Nul { name: shown() });
        }
        if name.contains(&EQUALS) && !is_drive(name) {
            return Err(EnvironmentError::Equals { name: shown() });
        }
    }
    variables.sort_by(|(one, _), (other, _)| compare_names(one, other));
    let twice = variables
        .iter()
        .zip(variables.iter().skip(1))
        .find(|((one, _), (other, _))| compare_names(one, other) == Ordering::Equal);
    if let Some((_, (name, _))) = twice {
        return Err(EnvironmentError::Twice {
            name: String::from_utf16_lossy(name),
        });
    }
    let mut block = Vec::new();
    for (name, value) in &variables {
        block.extend(name);
        block.push(EQUALS);
        block.extend(value);
        block.push(0);
    }
    // A block without variables ends twice as well.
    if variables.is_empty() {
        block.push(0);
    }
    block.push(0);
    Ok(block)
}

/// `=C:`: where the command line of a drive was. Such a variable comes from the system, not from a person.
fn is_drive(name: &[u16]) -> bool {
    matches!(name, [EQUALS, letter, COLON] if u8::try_from(*letter).is_ok_and(|letter| letter.is_ascii_alphabetic()))
}

/// By their units in capitals, as the system compares names.
fn compare_names(one: &[u16], other: &[u16]) -> Ordering {
    let capital = |unit: &u16| {
        let mut capitals = char::from_u32(u32::from(*unit))
            .into_iter()
            .flat_map(char::to_uppercase);
        // A letter whose capital is two stays as it is.
        match (capitals.next().map(u32::from), capitals.next()) {
            (Some(capital), None) => u16::try_from(capital).unwrap_or(*unit),
            _ => *unit,
        }
    };
    one.iter().map(capital).cmp(other.iter().map(capital))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn units(text: &str) -> Vec<u16> {
        text.encode_utf16().collect()
    }

    fn line(arguments: &[&str]) -> String {
        String::from_utf16(&join(arguments).unwrap()).unwrap()
    }

    /// What the documentation of the C runtime lists, and what others got wrong before.
    #[test]
    fn arguments_are_quoted_as_the_c_runtime_reads_them() {
        for (argument, quoted) in [
            ("plain", "plain"),
            ("", "\"\""),
            ("a b", "\"a b\""),
            ("a\tb", "\"a\tb\""),
            (r#"a"b"#, r#""a\"b""#),
            (r#"a\"b"#, r#""a\\\"b""#),
            (r"a\\b", r"a\\b"),
            (r"a b\", r#""a b\\""#),
            (r"C:\dir\", r"C:\dir\"),
            ("%PATH% & calc | ^more", "\"%PATH% & calc | ^more\""),
            ("%PATH%&calc", "%PATH%&calc"),
        ] {
            assert_eq!(line(&["p", argument]), format!("\"p\" {quoted}"));
        }
        assert_eq!(
            line(&[r"C:\Program Files\a.exe"]),
            r#""C:\Program Files\a.exe""#
        );
    }

    #[test]
    fn the_reader_knows_what_we_never_write() {
        let read = |text: &str| -> Vec<String> {
            split(&units(text))
                .iter()
                .map(|argument| String::from_utf16(argument).unwrap())
                .collect()
        };
        // From the documentation of the C runtime.
        assert_eq!(read(r#"p "a b c" d e"#), ["p", "a b c", "d", "e"]);
        assert_eq!(read(r#"p "ab\"c" "\\" d"#), ["p", r#"ab"c"#, r"\", "d"]);
        assert_eq!(read(r#"p a\\\b d"e f"g h"#), ["p", r"a\\\b", "de fg", "h"]);
        assert_eq!(read(r#"p a\\\"b c d"#), ["p", r#"a\"b"#, "c", "d"]);
        assert_eq!(read(r#"p a\\\\"b c" d e"#), ["p", r"a\\b c", "d", "e"]);
        assert_eq!(read(r#"p a"b"" c d"#), ["p", "ab\" c d"]);
        assert_eq!(read("p   "), ["p"]);
    }

    #[test]
    fn batch_files_are_refused_however_they_are_written() {
        for program in [
            "run.bat",
            "RUN.BAT",
            r"C:\tools\run.Cmd",
            "C:/tools/run.cmd",
            "run.bat.",
            "run.bat . .",
            "run.cmd ",
            "C:run.bat",
            "run.bat::$DATA",
            ".bat",
        ] {
            let error = join([program, "a"]).unwrap_err();
            assert!(
                matches!(error, CommandLineError::BatchFile { .. }),
                "{program}"
            );
            assert!(runs_in_cmd(Path::new(program)), "{program}");
        }
        for program in ["run.exe", "bat", "cmd.exe", "run.bat.exe", r"x.bat\run.exe"] {
            assert!(join([program, "a"]).is_ok(), "{program}");
        }
        let said = join([r"C:\tools\run.bat"]).unwrap_err().to_string();
        assert!(said.contains("cmd.exe /d /c"), "{said}");
    }

    #[test]
    fn what_windows_cannot_be_told_is_refused() {
        assert_eq!(join::<[&str; 0]>([]), Err(CommandLineError::Empty));
        assert_eq!(join([""]), Err(CommandLineError::Empty));
        assert_eq!(join(["a\"b"]), Err(CommandLineError::QuotedProgram));
        assert_eq!(
            join(["p", "a", "b\0c"]),
            Err(CommandLineError::Nul { index: 2 })
        );
        // Three for the program in its marks, one for the space, one for the end.
        let longest = "a".repeat(MAX_UNITS - 5);
        assert_eq!(join(["p", &longest]).unwrap().len(), MAX_UNITS - 1);
        let longer = format!("{longest}a");
        let units = MAX_UNITS + 1;
        assert_eq!(
            join(["p", &longer]),
            Err(CommandLineError::TooLong { units })
        );
    }

    #[test]
    fn an_environment_is_sorted_and_ended() {
        let block = |variables: &[(&str, &str)]| {
            let variables = variables
                .iter()
                .map(|(name, value)| (units(name), units(value)));
            environment_block(variables).map(|block| String::from_utf16(&block).unwrap())
        };
        assert_eq!(block(&[]).unwrap(), "\0\0");
        assert_eq!(
            block(&[("b", "2"), ("A", "1"), ("=C:", r"C:\x"), ("C", "")]).unwrap(),
            "=C:=C:\\x\0A=1\0b=2\0C=\0\0"
        );
        assert_eq!(block(&[("", "x")]), Err(EnvironmentError::NoName));
        let name = || "Path".to_owned();
        assert_eq!(
            block(&[("PATH", "x"), ("Path", "y")]),
            Err(EnvironmentError::Twice { name: name() })
        );
        assert_eq!(
            block(&[("Path", "x\0y")]),
            Err(EnvironmentError::Nul { name: name() })
        );
        for bad in ["a=b", "=", "=C", "=CC:", "=1:", "C:="] {
            assert_eq!(
                block(&[(bad, "x")]),
                Err(EnvironmentError::Equals {
                    name: bad.to_owned()
                })
            );
        }
    }

    /// Units that mean something, lone halves of pairs, and anything.
    fn any_argument() -> impl Strategy<Value = Vec<u16>> {
        let special = prop::sample::select(units("\"\\ \t\n=%&|^a\u{e9}"));
        let unit = prop_oneof![6 => special, 1 => 1u16..=u16::MAX];
        prop::collection::vec(unit, 0..12)
    }

    proptest! {
        #[test]
        fn every_argument_arrives_as_it_was(
            program in any_argument(),
            arguments in prop::collection::vec(any_argument(), 0..6),
        ) {
            let program: Vec<u16> = program.into_iter().filter(|unit| *unit != QUOTE).collect();
            let all: Vec<Vec<u16>> = std::iter::once(program).chain(arguments).collect();
            match join_wide(&all) {
                Ok(line) => prop_assert_eq!(split(&line), all),
                Err(error) => {
                    prop_assert_eq!(error, CommandLineError::Empty);
                    prop_assert!(all[0].is_empty());
                }
            }
        }

        #[test]
        fn any_line_can_be_read(line in prop::collection::vec(any::<u16>(), 0..40)) {
            prop_assert!(!split(&line).is_empty());
        }

        #[test]
        fn a_block_says_what_it_was_told(
            variables in prop::collection::btree_map("[a-z]{1,3}", "[ -~]{0,8}", 0..8),
        ) {
            let wide = variables.iter().map(|(name, value)| (units(name), units(value)));
            let text = String::from_utf16(&environment_block(wide).unwrap()).unwrap();
            let read: Vec<(&str, &str)> = text
                .trim_end_matches('\0')
                .split('\0')
                .filter_map(|line| line.split_once('='))
                .collect();
            let told: Vec<(&str, &str)> = variables
                .iter()
                .map(|(name, value)| (name.as_str(), value.as_str()))
                .collect();
            prop_assert_eq!(read, told);
            prop_assert!(text.ends_with("\0\0"));
        }
    }
}
