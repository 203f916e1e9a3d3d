//! Rules for every Rust file.

use super::Finding;
use super::lexer::{Kind, Token};
use super::source::{Source, occurrences};

/// Of lines outside of tests. A file that outgrows it holds two things.
const MOST_LINES: usize = 600;

/// Macros that mark unfinished work.
const UNFINISHED: &[&str] = &["todo", "unimplemented", "dbg"];

/// Libraries return values; what to show, and when to end, is for the program.
const OUTPUT: &[&str] = &["print", "println", "eprint", "eprintln"];

/// Why a test may be ignored: others start it by its name, in a process of its own, and judge what came of it.
const PART: &str = "\"a part of other tests\"";

/// Crates under `crates/` that are programs.
const PROGRAMS: &[&str] = &["cli"];

pub(super) fn check(source: &Source<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut found = |line, message: String| findings.push(Finding::new(source.path, line, message));
    if !source.text.starts_with("//!") {
        found(
            1,
            "starts without a module doc (`//!`): say what the file is for".to_owned(),
        );
    }
    let lines = source.shipped_lines();
    if lines > MOST_LINES {
        found(
            MOST_LINES + 1,
            format!("{lines} lines outside of tests, at most {MOST_LINES}: split the file"),
        );
    }
    for name in UNFINISHED {
        for token in occurrences(&source.tokens, &[name, "!"]) {
            found(token.line, format!("`{name}!` is unfinished work"));
        }
    }
    for ignored in ignored_tests(&source.tokens) {
        match ignored.part {
            None => found(
                ignored.line,
                "an ignored test guards nothing: fix it or delete it".to_owned(),
            ),
            Some(name) if !starts_test(&source.tokens, name) => found(
                ignored.line,
                format!("no other test of this file starts `{name}`: delete it"),
            ),
            Some(_) => {}
        }
    }
    if !is_sys(source.path) {
        for token in occurrences(&source.tokens, &["unsafe"]) {
            found(token.line, "`unsafe` outside of a `sys` module".to_owned());
        }
    }
    if is_library_code(source) {
        let shipped = source.shipped_tokens();
        for name in OUTPUT {
            for token in occurrences(&shipped, &[name, "!"]) {
                found(
                    token.line,
                    format!("`{name}!` in a library: return the text"),
                );
            }
        }
        for token in occurrences(&shipped, &["process", ":", ":", "exit"]) {
            found(
                token.line,
                "`process::exit` in a library: return an error".to_owned(),
            );
        }
    }
    findings
}

struct Ignored<'a> {
    line: usize,
    /// The test's name if it is a part of others.
    part: Option<&'a str>,
}

fn ignored_tests<'a>(tokens: &[Token<'a>]) -> Vec<Ignored<'a>> {
    let starts = (0..tokens.len()).filter_map(|at| tokens.get(at..));
    starts
        .filter_map(|rest| match rest {
            [hash, open, ignore, rest @ ..]
                if hash.is("#") && open.is("[") && ignore.is("ignore") =>
            {
                let part = match rest {
                    [equals, reason, close, function, name, ..]
                        if equals.is("=")
                            && reason.text == PART
                            && close.is("]")
                            && function.is("fn") =>
                    {
                        Some(name.text)
                    }
                    _ => None,
                };
                Some(Ignored {
                    line: hash.line,
                    part,
                })
            }
            _ => None,
        })
        .collect()
}

/// Whether a string names the test the way the test program wants it: with its modules.
fn starts_test(tokens: &[Token<'_>], name: &str) -> bool {
    let end = format!("::{name}\"");
    tokens
        .iter()
        .any(|token| token.kind == Kind::Literal && token.text.ends_with(&end))
}

fn is_sys(path: &str) -> bool {
    path.split('/')
        .any(|part| part == "sys" || part == "sys.rs")
}

fn is_library_code(source: &Source<'_>) -> bool {
    let is_program = source.path.contains("/src/bin/") || source.path.ends_with("/src/main.rs");
    source
        .shipped_by()
        .is_some_and(|name| !PROGRAMS.contains(&name))
        && !is_program
}

#[cfg(test)]
mod tests {
    use super::super::fixtures;
    use super::*;

    #[track_caller]
    fn check_at(path: &str, text: &str, expected: &[&str]) {
        fixtures::check(check, path, text, expected);
    }

    #[test]
    fn a_module_doc_comes_first() {
        let missing = "1: starts without a module doc (`//!`): say what the file is for";
        check_at("xtask/src/a.rs", "//! Doc.\n", &[]);
        check_at("crates/a/tests/it.rs", "use a;\n", &[missing]);
        check_at("crates/a/src/a.rs", "// Note.\n//! Doc.\n", &[missing]);
    }

    #[test]
    fn size_is_measured_without_tests() {
        let body = "fn f() {}\n".repeat(599);
        let tests = format!("#[cfg(test)]\nmod tests {{\n{body}}}\n");
        check_at(
            "crates/a/src/a.rs",
            &format!("//! Doc.\n{body}{tests}"),
            &[],
        );
        check_at(
            "crates/a/src/a.rs",
            &format!("//! Doc.\n{tests}{body}fn g() {{}}\n"),
            &["601: 601 lines outside of tests, at most 600: split the file"],
        );
    }

    #[test]
    fn unfinished_work_is_found_in_tests_too() {
        check_at(
            "crates/a/src/a.rs",
            "//! Doc.\nfn f() { todo!() }\n#[cfg(test)]\nmod tests { fn g() { dbg!(1); } }\n",
            &[
                "2: `todo!` is unfinished work",
                "4: `dbg!` is unfinished work",
            ],
        );
        check_at(
            "crates/a/src/a.rs",
            "//! todo!()\nconst A: &str = \"todo!()\";\n",
            &[],
        );
    }

    #[test]
    fn no_test_is_ignored() {
        let expected = ["3: an ignored test guards nothing: fix it or delete it"];
        check_at(
            "crates/a/tests/it.rs",
            "//! Doc.\n#[test]\n#[ignore]\nfn f() {}\n",
            &expected,
        );
        check_at(
            "crates/a/tests/it.rs",
            "//! Doc.\n#[test]\n#[ignore = \"slow\"]\nfn f() {}\n",
            &expected,
        );
    }

    #[test]
    fn a_part_of_other_tests_is_started_by_them() {
        let path = "crates/a/tests/it.rs";
        let part = "#[test]\n#[ignore = \"a part of other tests\"]\nfn act() {}\n";
        let starts = |name: &str| format!("//! Doc.\nconst A: &str = \"{name}\";\n{part}");
        check_at(path, &starts("it::act"), &[]);
        let unstarted = ["4: no other test of this file starts `act`: delete it"];
        check_at(path, &starts("it::react"), &unstarted);
        check_at(path, &starts("act"), &unstarted);
        check_at(
            path,
            &format!("//! Doc.\n// \"it::act\"\n\n{part}"),
            &["5: no other test of this file starts `act`: delete it"],
        );
        check_at(
            path,
            &starts("it::act").replace("a part", "slow, and a part"),
            &["4: an ignored test guards nothing: fix it or delete it"],
        );
    }

    #[test]
    fn unsafe_lives_in_sys() {
        let text = "//! Doc.\n#![deny(unsafe_code)]\nfn f() { unsafe {} }\n";
        check_at(
            "crates/a/src/apply.rs",
            text,
            &["3: `unsafe` outside of a `sys` module"],
        );
        check_at("crates/a/src/sys/mount.rs", text, &[]);
        check_at("crates/a/src/sys.rs", text, &[]);
        check_at(
            "crates/a/src/apply.rs",
            "//! unsafe\nconst A: &str = \"unsafe\"; // unsafe\n",
            &[],
        );
    }

    #[test]
    fn libraries_are_silent() {
        let text = "//! Doc.\nfn f() { println!(); std::process::exit(1) }\n";
        check_at(
            "crates/a/src/a.rs",
            text,
            &[
                "2: `println!` in a library: return the text",
                "2: `process::exit` in a library: return an error",
            ],
        );
        for program in [
            "crates/cli/src/a.rs",
            "crates/a/src/bin/helper.rs",
            "crates/a/tests/it.rs",
        ] {
            check_at(program, text, &[]);
        }
    }
}
