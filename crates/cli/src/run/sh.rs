//! `palisade sh` and `palisade-sh`: the arguments that callers of shells pass, and what is judged and run for them.
//!
//! Options go to the shell as they are. With `-c` every word does; a file is read here, once, under the policy of the
//! command, and its text is what is judged and run: nobody can change the file in between.

use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::path::Path;

use palisade::runner::approve::visible;
use palisade::runner::evidence::shell_line;
use palisade::runner::files::{FileError, GuardedFiles};
use palisade::runner::policy::{AbsolutePath, HomeRoot, PolicyContext};

use super::{SHELL, What};
use crate::complaint::Complaint;
use crate::exit::Code;
use crate::ground::Ground;

/// What a system takes as one argument at most (128 KiB on Linux, with the NUL behind it).
const MOST: u64 = 128 * 1024 - 1;

/// Options of the shell that are followed by a value.
const WITH_VALUE: &[&str] = &["--rcfile", "--init-file"];

/// Shells, as the first line of a script names them.
const SHELLS: &[&str] = &[
    "sh",
    "bash",
    "dash",
    "ash",
    "ksh",
    "mksh",
    "zsh",
    "palisade-sh",
];

/// What the words of a shell's caller ask for.
///
/// # Errors
/// They ask for a shell that reads commands from a person or from standard input, or name no script.
pub(super) fn read(words: &[OsString]) -> Result<What, Complaint> {
    let mut at = 0;
    let mut script = false;
    while let Some(word) = words.get(at) {
        let bytes = word.as_encoded_bytes();
        match bytes {
            b"--" | b"-" => {
                at += 1;
                break;
            }
            [b'-', b'-', ..] => {
                at += match WITH_VALUE.iter().any(|option| word == option) {
                    true => 2,
                    false => 1,
                };
            }
            [sign @ (b'-' | b'+'), letters @ ..] => {
                script |= *sign == b'-' && letters.contains(&b'c');
                if *sign == b'-' && letters.contains(&b's') {
                    return Err(no_script("-s"));
                }
                // Each `o` is followed by a name.
                at += 1 + letters
                    .iter()
                    .filter(|letter| matches!(letter, b'o' | b'O'))
                    .count();
            }
            _ => break,
        }
    }
    let Some(first) = words.get(at) else {
        return Err(match script {
            true => Complaint::usage("-c needs a script behind it")
                .help("palisade sh -c 'make && make test'"),
            false => no_script("no script"),
        });
    };
    let after_dashes = at > 0 && words.get(at - 1).is_some_and(|word| word == "--");
    if !script && !after_dashes && words.len() == at + 1 && is_text(first) {
        // One string, as those pass it who put a prefix before what they would have given to a shell.
        let options = words.iter().take(at).cloned();
        let words = [OsString::from(SHELL)].into_iter().chain(options);
        let words = words.chain([OsString::from("-c"), first.clone()]);
        return Ok(What::Command(words.collect()));
    }
    if script {
        let words = [OsString::from(SHELL)].into_iter().chain(words.to_vec());
        return Ok(What::Command(words.collect()));
    }
    let options = words
        .iter()
        .take(at)
        .filter(|word| *word != "--" && *word != "-");
    Ok(What::File {
        options: options.cloned().collect(),
        file: first.clone(),
        arguments: words.iter().skip(at + 1).cloned().collect(),
    })
}

/// Whether a single word is the text of a script, not the name of a file: nobody names a file like a command line, and
/// if one does, two dashes before it say so.
fn is_text(word: &OsStr) -> bool {
    let bytes = word.as_encoded_bytes();
    let like_a_line = bytes
        .iter()
        .any(|byte| byte.is_ascii_whitespace() || b";|&<>()$`\"'*?!#~{}[]\\".contains(byte));
    like_a_line || !(bytes.contains(&b'/') || Path::new(word).exists())
}

fn no_script(what: &str) -> Complaint {
    Complaint::usage(format!(
        "{what}: palisade sh runs scripts; it is no shell to type into, and reads no script from standard input"
    ))
    .help("a script:  palisade sh -c 'make && make test'    or    palisade sh build.sh")
    .help("a shell to type into, in the sandbox:  palisade run -- bash")
}

/// The words that run the text of a file: `$0` is its name, and its arguments are its own.
///
/// # Errors
/// It cannot be read under the policy of the command, or is no script of a shell.
pub(super) fn of_file(
    options: &[OsString],
    file: &OsStr,
    arguments: &[OsString],
    ground: &Ground,
) -> Result<Vec<OsString>, Complaint> {
    let name = visible(&file.to_string_lossy());
    let wrong = |why: String| Complaint::refused(format!("{name}: {why}"));
    let text = text(file, ground)?;
    if text.contains(&0) {
        return Err(wrong("it is no script: it contains a NUL".to_owned()));
    }
    if let Some(program) = interpreter(&text)
        && !SHELLS.contains(&program.as_str())
    {
        return Err(
            wrong(format!("it is a script for {program}, not for a shell"))
                .help(format!("palisade run -- {program} {name}")),
        );
    }
    let mut words: Vec<OsString> = vec![SHELL.into()];
    words.extend(options.iter().cloned());
    words.push("-c".into());
    if matches!(text.first(), Some(b'-' | b'+')) {
        words.push("--".into());
    }
    words.push(os_string(text).ok_or_else(|| wrong("it is no text".to_owned()))?);
    words.push(file.to_owned());
    words.extend(arguments.iter().cloned());
    Ok(words)
}

/// The text of a script, if a command under this policy could read it: this program reads nothing for a command that
/// the command could not.
fn text(file: &OsStr, ground: &Ground) -> Result<Vec<u8>, Complaint> {
    let name = visible(&file.to_string_lossy());
    let (policy, root) = ground.canonical()?;
    let context =
        PolicyContext::new(ground.host.facts.clone(), root).with_home_root(HomeRoot::Allow);
    let policy = policy.resolve(&context).map_err(Complaint::usage)?;
    let real = std::fs::canonicalize(ground.cwd.join(file)).map_err(|error| {
        let code = match error.kind() {
            ErrorKind::NotFound => Code::NotFound,
            _ => Code::Refused,
        };
        Complaint::new(code, format!("the script {name} cannot be read: {error}"))
    })?;
    let path = AbsolutePath::new(real).map_err(Complaint::usage)?;
    let files = GuardedFiles::new(policy).with_limit(MOST);
    let read = files.read(&path).map_err(|error| {
        let line = shell_line(&[
            "palisade".into(),
            "run".into(),
            "--".into(),
            SHELL.into(),
            file.to_owned(),
        ]);
        match error {
            FileError::TooLarge { .. } => Complaint::refused(format!(
                "the script {name} is too long to be judged as a whole: more than {MOST} bytes"
            ))
            .help(format!("to run it unread:  {line}")),
            other => Complaint::refused(format!(
                "the script {name} cannot be read: {}",
                visible(&other.to_string())
            )),
        }
    })?;
    Ok(read.bytes)
}

/// The program that the first line of a script names.
fn interpreter(text: &[u8]) -> Option<String> {
    let line = text.strip_prefix(b"#!")?;
    let line = line.split(|byte| *byte == b'\n').next()?;
    let line = String::from_utf8_lossy(line).into_owned();
    let mut words = line
        .split_ascii_whitespace()
        .map(|word| visible(&base(word)));
    let first = words.next()?;
    match first.as_str() {
        "env" => words.find(|word| !word.starts_with('-') && !word.contains('=')),
        _ => Some(first),
    }
}

fn base(word: &str) -> String {
    word.rsplit('/').next().unwrap_or(word).to_owned()
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere not all bytes are text")]
fn os_string(bytes: Vec<u8>) -> Option<OsString> {
    use std::os::unix::ffi::OsStringExt as _;
    Some(OsString::from_vec(bytes))
}

#[cfg(not(unix))]
fn os_string(bytes: Vec<u8>) -> Option<OsString> {
    String::from_utf8(bytes).ok().map(OsString::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split(' ')
            .filter(|word| !word.is_empty())
            .map(OsString::from)
            .collect()
    }

    fn argv(text: &str) -> Vec<OsString> {
        match read(&words(text)).unwrap() {
            What::Command(words) => words,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_word_of_a_script_reaches_the_shell() {
        for text in [
            "-c x",
            "-lc x",
            "-e -c x name a -- -c b",
            "-euo pipefail -c x",
            "-o errexit -ec x",
            "-c -- -x",
            "--login -c x",
            "--rcfile f -ic x",
        ] {
            assert_eq!(argv(text), words(&format!("bash {text}")), "{text}");
        }
    }

    #[test]
    fn a_file_is_told_from_options_and_arguments() {
        for (text, options, file, arguments) in [
            ("./f", "", "./f", ""),
            ("-- f", "", "f", ""),
            ("-e f -c x", "-e", "f", "-c x"),
            ("-eu -o pipefail -- -f a", "-eu -o pipefail", "-f", "a"),
        ] {
            match read(&words(text)).unwrap() {
                What::File {
                    options: found,
                    file: name,
                    arguments: rest,
                } => {
                    assert_eq!(found, words(options), "{text}");
                    assert_eq!(name, file, "{text}");
                    assert_eq!(rest, words(arguments), "{text}");
                }
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn one_string_is_a_script_unless_it_is_named_like_a_file() {
        for text in ["make && make test", "ls", "a;b"] {
            let words = match read(&[OsString::from("-e"), text.into()]).unwrap() {
                What::Command(words) => words,
                other => panic!("{other:?}"),
            };
            assert_eq!(words, ["bash", "-e", "-c", text]);
        }
    }

    #[test]
    fn nobody_types_into_it() {
        for text in ["", "-l", "-i", "-s", "--", "-c", "-o pipefail"] {
            assert!(read(&words(text)).is_err(), "{text}");
        }
    }

    #[test]
    fn the_first_line_says_whose_script_it_is() {
        let of = |text: &str| interpreter(text.as_bytes());
        assert_eq!(of("#!/bin/sh -e\n").as_deref(), Some("sh"));
        assert_eq!(
            of("#! /usr/bin/env -S A=b python3 -u\n").as_deref(),
            Some("python3")
        );
        assert_eq!(of("echo\n"), None);
    }
}
