//! The command line that this program was called with, and the same with one thing changed, as a shell reads it.

use std::ffi::{OsStr, OsString};

use palisade::runner::evidence::shell_line;

use crate::args;

/// Global options that take a value of their own.
const GLOBAL_WITH_VALUE: &[&str] = &["--color"];
/// Options that a command line may have once: a new one takes the place of the old one.
const ONCE: &[&str] = &[
    "--git",
    "--timeout",
    "--memory",
    "--pids",
    "--approval",
    "--mode",
];
/// Options of `run` that `explain` does not have, all with a value.
const OF_RUN_ONLY: &[&str] = &[
    "--env",
    "--events",
    "--approval-command",
    "--approval-socket",
    "--approval-timeout",
];

/// The words that this program was called with.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    words: Vec<OsString>,
    /// Where options of the command go: behind its name.
    at: usize,
}

impl Line {
    /// These words, of which the first is the name of this program.
    pub(crate) fn of(words: Vec<OsString>) -> Self {
        // A link that stands in for a shell takes no options of ours.
        if words.first().is_some_and(|name| args::is_shell(name)) {
            let as_shell = ["palisade", "sh"].map(OsString::from);
            let words = as_shell.into_iter().chain(words.into_iter().skip(1));
            return Self {
                words: words.collect(),
                at: 2,
            };
        }
        let mut at = 1;
        while let Some(word) = words.get(at) {
            if is_command(word) {
                return Self { words, at: at + 1 };
            }
            let takes_value = GLOBAL_WITH_VALUE.iter().any(|option| word == *option);
            at += if takes_value { 2 } else { 1 };
            if !is_option(word) {
                break;
            }
        }
        Self { words, at: 1 }
    }

    /// The same line with these options more. What may be given once is replaced.
    pub(crate) fn with(&self, options: &[OsString]) -> String {
        let (before, after) = self.words.split_at(self.at.min(self.words.len()));
        let replaced: Vec<&OsString> = options
            .iter()
            .filter(|option| ONCE.iter().any(|once| option == once))
            .collect();
        let kept = without(after, &|word| replaced.iter().any(|option| *option == word));
        let words: Vec<OsString> = before
            .iter()
            .cloned()
            .chain(options.iter().cloned())
            .chain(kept)
            .collect();
        shell_line(&words)
    }

    /// The line that explains the judgement of a command, with what this line says about the policy.
    pub(crate) fn explain(&self, argv: &[OsString]) -> String {
        let name = self.words.first().cloned();
        let plain = self
            .words
            .get(self.at.saturating_sub(1))
            .is_some_and(|word| word == "run");
        let mut words = match plain {
            true => vec![name.unwrap_or_else(|| "palisade".into())],
            false => vec!["palisade".into()],
        };
        words.push("explain".into());
        if plain {
            let options: Vec<OsString> = self
                .words
                .iter()
                .skip(self.at)
                .take_while(|word| *word != "--" && *word != "-c")
                .cloned()
                .collect();
            words.extend(without(&options, &|word| {
                OF_RUN_ONLY.iter().any(|option| word == *option)
            }));
        }
        words.push("--".into());
        words.extend(argv.iter().cloned());
        shell_line(&words)
    }
}

/// The words without some options and their values, up to where the command begins.
fn without(words: &[OsString], gone: &dyn Fn(&OsStr) -> bool) -> Vec<OsString> {
    let mut kept = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if word == "--" || word == "-c" {
            kept.push(word.clone());
            kept.extend(words.cloned());
            break;
        }
        let bytes = word.as_encoded_bytes();
        let name = bytes.split(|byte| *byte == b'=').next().unwrap_or(bytes);
        let name = OsString::from(String::from_utf8_lossy(name).as_ref());
        match gone(&name) {
            true if bytes.contains(&b'=') => {}
            true => {
                words.next();
            }
            false => kept.push(word.clone()),
        }
    }
    kept
}

fn is_command(word: &OsStr) -> bool {
    word == "run" || word == "sh"
}

fn is_option(word: &OsStr) -> bool {
    word.as_encoded_bytes().starts_with(b"-")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(words: &[&str]) -> Line {
        Line::of(words.iter().map(OsString::from).collect())
    }

    fn words(words: &[&str]) -> Vec<OsString> {
        words.iter().map(OsString::from).collect()
    }

    #[test]
    fn an_option_stands_behind_the_command_and_nothing_else_changes() {
        let rows: &[(&[&str], &str)] = &[
            (
                &["palisade", "run", "--", "touch", "/etc/x y"],
                "palisade run -w /etc -- touch '/etc/x y'",
            ),
            (
                &[
                    "palisade", "--color", "run", "-q", "run", "--net", "--", "run",
                ],
                "palisade --color run -q run -w /etc --net -- run",
            ),
            (
                &["./palisade", "run", "-c", "a && b"],
                "./palisade run -w /etc -c 'a && b'",
            ),
            (
                &["/opt/palisade-sh", "-c", "run"],
                "palisade sh -w /etc -c run",
            ),
        ];
        for (typed, expected) in rows {
            assert_eq!(line(typed).with(&words(&["-w", "/etc"])), *expected);
        }
    }

    #[test]
    fn what_may_be_given_once_is_replaced_before_the_command_only() {
        let typed = line(&[
            "palisade",
            "run",
            "--git",
            "read-only",
            "--timeout=1s",
            "--",
            "git",
            "--git",
            "x",
        ]);
        assert_eq!(
            typed.with(&words(&["--git", "commit"])),
            "palisade run --git commit --timeout=1s -- git --git x"
        );
        assert_eq!(
            typed.with(&words(&["--timeout", "10m"])),
            "palisade run --timeout 10m --git read-only -- git --git x"
        );
    }

    #[test]
    fn an_explanation_is_asked_for_under_the_same_policy() {
        let typed = line(&[
            "palisade",
            "run",
            "--net",
            "--events",
            "fd:3",
            "--env=A=b",
            "--",
            "rm",
            "-rf",
            "/",
        ]);
        assert_eq!(
            typed.explain(&words(&["rm", "-rf", "/"])),
            "palisade explain --net -- rm -rf /"
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_shell_reads_every_byte_back() {
        use std::os::unix::ffi::OsStringExt as _;
        let mut typed = words(&["printf", "run", "--", "it's", "$HOME\n", ""]);
        typed.push(OsString::from_vec(b"\xff\x1b[31m".to_vec()));
        let text = Line::of(typed.clone()).with(&words(&["-w", "/a b"]));
        // `printf` is the program here, so that it tells what it was called with.
        let script = text.replacen("printf run", "printf '%s\\0' run", 1);
        let output = std::process::Command::new("bash")
            .args(["-c", &script])
            .output()
            .unwrap();
        typed.splice(2..2, words(&["-w", "/a b"]));
        let mut expected = Vec::new();
        for word in typed.iter().skip(1) {
            expected.extend_from_slice(word.as_encoded_bytes());
            expected.push(0);
        }
        assert_eq!(output.stdout, expected);
    }
}
