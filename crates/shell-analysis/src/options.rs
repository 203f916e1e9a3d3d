//! Reads a wrapper's or a shell's own options, to find where the inner command starts.

use crate::parse::is_identifier;
use crate::shell::Shell;
use crate::wrappers::{Inner, Wrapper};

/// Words as far as they are known; `None` is a glob, a substitution or otherwise unknown.
pub(crate) type Known<'a> = Option<&'a [u8]>;

/// What the words after a wrapper's name turned out to be.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// The inner command starts at this word; the words listed are `NAME=value` operands before it.
    Command {
        at: usize,
        assignments: Vec<usize>,
        replacement: Option<Vec<u8>>,
    },
    /// The inner command is this script; `from` is the word it stands in.
    Script { script: Vec<u8>, from: usize },
    /// No inner command: the wrapper is the command.
    Alone,
    /// The table does not cover this use.
    Unknown(&'static str),
}

/// Follows one row of the table to the letter.
pub(crate) fn read(row: &Wrapper, words: &[Known<'_>]) -> Shape {
    let mut at = 1;
    let mut replacement = None;
    let mut script: Option<(Vec<u8>, usize)> = None;
    while let Some(word) = words.get(at) {
        let Some(word) = *word else {
            return Shape::Unknown("an option or operand is not literal");
        };
        if word == b"--" {
            at = at.saturating_add(1);
            break;
        }
        let lone_dash = word == b"-";
        if lone_dash && (row.is_named("env") || row.bare.contains(&"-")) {
            at = at.saturating_add(1);
            continue;
        }
        if word.first() != Some(&b'-') || lone_dash {
            break;
        }
        match option(
            row,
            word,
            words.get(at.saturating_add(1)).copied().flatten(),
        ) {
            Read::Bare => at = at.saturating_add(1),
            Read::Valued { name, value, used } => {
                if row.is_named("xargs") && name == "-I" {
                    replacement = Some(value.to_vec());
                }
                if let Inner::ScriptOption(flag) = row.inner
                    && (name == flag || name == "--command")
                {
                    script = Some((value.to_vec(), at.saturating_add(used).saturating_sub(1)));
                }
                at = at.saturating_add(used);
            }
            Read::Stops => return Shape::Alone,
            Read::Unknown => return Shape::Unknown("an option is not in its table"),
        }
    }
    if let Some((script, from)) = script {
        return Shape::Script { script, from };
    }
    if row.operands > 0 {
        let operands = words.get(at..at.saturating_add(row.operands));
        if !operands.is_some_and(|operands| operands.iter().all(Option::is_some)) {
            return Shape::Unknown("an operand is missing or not literal");
        }
        at = at.saturating_add(row.operands);
    }
    let mut assignments = Vec::new();
    if row.inner == Inner::AfterAssignments {
        while let Some(Some(word)) = words.get(at) {
            let Some(equals) = word.iter().position(|&b| b == b'=') else {
                break;
            };
            if !is_identifier(word.get(..equals).unwrap_or_default()) {
                return Shape::Unknown("an assignment without a plain name");
            }
            assignments.push(at);
            at = at.saturating_add(1);
        }
    }
    match words.get(at) {
        None if matches!(row.inner, Inner::ScriptOption(_)) || row.operands == 0 => Shape::Alone,
        None => Shape::Unknown("no command"),
        Some(None) => Shape::Unknown("the inner program is not literal"),
        Some(Some(_)) => Shape::Command {
            at,
            assignments,
            replacement,
        },
    }
}

enum Read<'a> {
    Bare,
    Valued {
        name: &'static str,
        value: &'a [u8],
        used: usize,
    },
    Stops,
    Unknown,
}

fn option<'a>(row: &Wrapper, word: &'a [u8], next: Known<'a>) -> Read<'a> {
    let listed = |list: &'static [&'static str], name: &[u8]| {
        list.iter().copied().find(|flag| flag.as_bytes() == name)
    };
    if word.starts_with(b"--") {
        let equals = word.iter().position(|&b| b == b'=');
        let name = equals.map_or(word, |equals| word.get(..equals).unwrap_or(word));
        let glued = equals.and_then(|equals| word.get(equals.saturating_add(1)..));
        if let Some(name) = listed(row.valued, name) {
            return match (glued, next) {
                (Some(value), _) => Read::Valued {
                    name,
                    value,
                    used: 1,
                },
                (None, Some(value)) => Read::Valued {
                    name,
                    value,
                    used: 2,
                },
                (None, None) => Read::Unknown,
            };
        }
        return match glued {
            Some(_) => Read::Unknown,
            None if listed(row.bare, name).is_some() => Read::Bare,
            None if listed(row.stops, name).is_some() => Read::Stops,
            None => Read::Unknown,
        };
    }
    if listed(row.bare, word).is_some() {
        return Read::Bare;
    }
    // A cluster: bare letters, then perhaps one that takes the rest or the next word.
    let letters = word.get(1..).unwrap_or_default();
    for (index, letter) in letters.iter().enumerate() {
        let name = [b'-', *letter];
        if listed(row.bare, &name).is_some() {
            continue;
        }
        if listed(row.stops, &name).is_some() {
            return Read::Stops;
        }
        let Some(name) = listed(row.valued, &name) else {
            return Read::Unknown;
        };
        let rest = letters.get(index.saturating_add(1)..).unwrap_or_default();
        return match (rest, next) {
            ([], Some(value)) => Read::Valued {
                name,
                value,
                used: 2,
            },
            ([], None) => Read::Unknown,
            (value, _) => Read::Valued {
                name,
                value,
                used: 1,
            },
        };
    }
    Read::Bare
}

/// Where a shell invocation keeps its script.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ShellShape {
    /// `-c`: the script is this word.
    Script(usize),
    /// A script file, or standard input: the shell is the command.
    Program,
    /// Options this analysis does not follow.
    Unknown(&'static str),
}

/// Reads a POSIX-like shell's own options.
pub(crate) fn read_shell(shell: Shell, words: &[Known<'_>]) -> ShellShape {
    let mut command = false;
    let mut at = 1;
    while let Some(word) = words.get(at) {
        let Some(word) = *word else {
            return ShellShape::Unknown("a shell option or operand is not literal");
        };
        if shell == Shell::Bash && [&b"--login"[..], b"--norc", b"--noprofile"].contains(&word) {
            at = at.saturating_add(1);
            continue;
        }
        let Some(letters) = word.strip_prefix(b"-") else {
            if word.first() == Some(&b'+') {
                return ShellShape::Unknown("a shell option is not in its table");
            }
            return if command {
                ShellShape::Script(at)
            } else {
                ShellShape::Program
            };
        };
        if letters.is_empty() || command {
            // Whether options may follow `-c` is a matter of the shell.
            return ShellShape::Unknown("a dash where the script should be");
        }
        at = at.saturating_add(1);
        for letter in letters {
            match letter {
                b'c' => command = true,
                b'l' | b'e' | b'u' | b'x' => {}
                b'o' => {
                    let option = words.get(at).copied().flatten();
                    if !matches!(
                        option,
                        Some(b"pipefail" | b"errexit" | b"nounset" | b"xtrace")
                    ) {
                        return ShellShape::Unknown("a shell option is not in its table");
                    }
                    at = at.saturating_add(1);
                }
                _ => return ShellShape::Unknown("a shell option is not in its table"),
            }
        }
    }
    if command {
        ShellShape::Unknown("`-c` without a script")
    } else {
        ShellShape::Program
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wrappers::find;

    fn shape(line: &str) -> Shape {
        let words: Vec<Known<'_>> = line.split(' ').map(|word| Some(word.as_bytes())).collect();
        read(find(words[0].unwrap()).unwrap(), &words)
    }

    fn command(at: usize) -> Shape {
        Shape::Command {
            at,
            assignments: Vec::new(),
            replacement: None,
        }
    }

    #[test]
    fn options_with_and_without_values() {
        assert_eq!(shape("nice -n 10 make"), command(3));
        assert_eq!(shape("nice -n10 make"), command(2));
        assert_eq!(shape("nice --adjustment=10 make"), command(2));
        assert_eq!(shape("timeout -vk5 10 make"), command(3));
        assert_eq!(shape("timeout --foreground -- 10 make"), command(4));
        assert_eq!(shape("nice -- make"), command(2));
        assert_eq!(shape("command -v make"), Shape::Alone);
        assert_eq!(shape("env"), Shape::Alone);
        assert!(matches!(shape("nice -10 make"), Shape::Unknown(_)));
        assert!(matches!(shape("timeout 10"), Shape::Unknown(_)));
        assert!(matches!(shape("exec -a x make"), Shape::Unknown(_)));
    }

    #[test]
    fn env_assignments_are_listed() {
        assert_eq!(
            shape("env -u X - A=1 B= make C=2"),
            Shape::Command {
                at: 6,
                assignments: vec![4, 5],
                replacement: None
            }
        );
        assert!(matches!(shape("env 1A=x make"), Shape::Unknown(_)));
    }

    #[test]
    fn a_script_in_an_option() {
        assert_eq!(
            shape("script -qc id /dev/null"),
            Shape::Script {
                script: b"id".to_vec(),
                from: 2
            }
        );
    }

    #[test]
    fn shells() {
        let read = |line: &str| {
            let words: Vec<Known<'_>> = line.split(' ').map(|word| Some(word.as_bytes())).collect();
            read_shell(Shell::Bash, &words)
        };
        assert_eq!(read("bash -lc id"), ShellShape::Script(2));
        assert_eq!(read("bash -euo pipefail -c id"), ShellShape::Script(4));
        assert_eq!(read("bash --norc -c id x"), ShellShape::Script(3));
        assert_eq!(read("bash x.sh -c id"), ShellShape::Program);
        assert_eq!(read("bash"), ShellShape::Program);
        assert!(matches!(read("bash -c"), ShellShape::Unknown(_)));
        assert!(matches!(read("bash -ic id"), ShellShape::Unknown(_)));
        assert!(matches!(read("bash -c -- id"), ShellShape::Unknown(_)));
        assert!(matches!(read("bash -c -x id"), ShellShape::Unknown(_)));
        assert!(matches!(
            read("bash --rcfile x -c id"),
            ShellShape::Unknown(_)
        ));
        assert!(matches!(read("bash +e -c id"), ShellShape::Unknown(_)));
    }
}
