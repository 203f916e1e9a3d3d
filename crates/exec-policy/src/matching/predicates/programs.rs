//! What single programs must not be given: words that run, fetch or reveal more than their rule means to allow.

use super::super::paths::resolve;
use super::super::program::folded_base;
use super::{Arg, View, parts};

/// Words that stand for leaving the project, as a target or a goal.
const LEAVES: &[&str] = &[
    "install",
    "deploy",
    "publish",
    "release",
    "upload",
    "push",
    "uninstall",
    "distclean",
];

/// Goals of JVM builds that stay in the project.
const GOALS: &[&str] = &[
    "test",
    "build",
    "check",
    "compile",
    "package",
    "verify",
    "clean",
    "assemble",
    "classes",
    "testClasses",
    "test-compile",
    "lint",
    "spotlessCheck",
    "validate",
];

/// Variables of make whose plain values change nothing that matters.
const MAKE_VARIABLES: &[&str] = &[
    "V", "VERBOSE", "DEBUG", "NDEBUG", "PREFIX", "RELEASE", "JOBS", "Q", "TEST", "TESTS", "PROFILE",
];

/// Scripts by names that no program of the system has.
const SCRIPTS: &[&str] = &[
    "dev",
    "build",
    "test",
    "lint",
    "typecheck",
    "type-check",
    "start",
    "format",
    "fmt",
    "check",
    "coverage",
    "docs",
    "e2e",
    "unit",
    "serve",
    "preview",
    "storybook",
];

/// Readers that print what files hold.
const PRINTERS: &[&str] = &[
    "cat", "tac", "head", "tail", "nl", "rev", "cut", "paste", "join", "comm", "cmp", "diff",
    "fold", "fmt", "column", "expand", "unexpand", "od", "hexdump", "strings", "pr", "zcat",
    "bzcat", "gzcat", "jq", "tsort", "numfmt",
];

fn is(word: &[u8], list: &[&str]) -> bool {
    list.iter().any(|entry| entry.as_bytes() == word)
}

fn starts(word: &[u8], list: &[&str]) -> bool {
    list.iter().any(|entry| word.starts_with(entry.as_bytes()))
}

fn contains(word: &[u8], text: &str) -> bool {
    let text = text.as_bytes();
    word.len() >= text.len() && word.windows(text.len()).any(|window| window == text)
}

fn is_option(word: &[u8]) -> bool {
    matches!(word, [b'-', _, ..])
}

/// A single-dash word that may hold this letter as an option.
fn has_letter(word: &[u8], letter: u8) -> bool {
    !word.starts_with(b"--") && is_option(word) && word.contains(&letter)
}

/// Whether a word is one of these long options, perhaps abbreviated or with a value.
fn is_long(word: &[u8], list: &[&str]) -> bool {
    let name = word.split(|&b| b == b'=').next().unwrap_or(word);
    name.len() > 3
        && name.starts_with(b"--")
        && list.iter().any(|entry| entry.as_bytes().starts_with(name))
}

/// Whether what another program finds would be printed by this one: nobody knows what it is.
pub(super) fn prints_unknown(runner: &[Arg<'_>], view: &View<'_>) -> bool {
    let base = |words: &[Arg<'_>]| {
        let word = words.first().and_then(|word| word.known());
        word.map(|word| folded_base(word).to_vec())
    };
    base(runner).is_some_and(|runner| is(&runner, &["xargs", "gxargs"]))
        && base(view.words).is_none_or(|program| is(&program, PRINTERS))
}

/// Whether a command must not be allowed for what is among its words, whichever rule speaks about it.
pub(super) fn refuses(view: &View<'_>) -> bool {
    let Some(program) = view.words.first().and_then(|word| word.known()) else {
        return false;
    };
    let words: Vec<&[u8]> = view
        .words
        .iter()
        .skip(1)
        .map(|word| match *word {
            Arg::Known(word) => word,
            Arg::Pattern { text, .. } => text,
            Arg::Pipe(_) | Arg::Unknown => b"",
        })
        .collect();
    of(&folded_base(program), &words, view)
}

fn of(program: &[u8], words: &[&[u8]], view: &View<'_>) -> bool {
    let any = |refused: &dyn Fn(&[u8]) -> bool| words.iter().any(|word| refused(word));
    let long = |list: &[&str]| any(&|word| is_long(word, list));
    match program {
        b"git" => git(words, view),
        b"python" | b"python3" => match words {
            [b"-m", module, rest @ ..] => of(module, rest, view),
            _ => false,
        },
        b"coverage" => !coverage(words, view),
        b"tox" => any(&|word| {
            is(word, &["exec", "e", "devenv", "d", "quickstart", "q"])
                || has_letter(word, b'x')
                || is_long(word, &["--override"])
        }),
        b"pylint" => long(&["--init-hook", "--load-plugins"]),
        b"mypy" => long(&[
            "--install-types",
            "--non-interactive",
            "--python-executable",
        ]),
        b"pytest" | b"py.test" => long(&["--pastebin", "--basetemp"]),
        b"make" | b"gmake" => any(&make),
        b"bun" => match words.iter().position(|word| *word == b"run") {
            Some(at) => !words
                .iter()
                .skip(at.saturating_add(1))
                .find(|word| !is_option(word))
                .is_some_and(|script| {
                    script
                        .split(|&b| b == b':')
                        .next()
                        .is_some_and(|head| is(head, SCRIPTS))
                }),
            None => false,
        },
        b"npm" | b"pnpm" | b"yarn" => any(&|word| word == b"env"),
        b"cmake" => any(&|word| {
            ["install", "deploy", "publish", "upload"]
                .iter()
                .any(|text| contains(word, text))
                || starts(word, &["-P", "-E", "-C", "--toolchain"])
                || (word.starts_with(b"-D")
                    && ["COMPILER", "LAUNCHER", "PROGRAM", "TOOLCHAIN"]
                        .iter()
                        .any(|text| contains(word, text)))
        }),
        b"mvn" | b"mvnw" | b"gradle" | b"gradlew" | b"sbt" => {
            !jvm(words, matches!(program, b"gradle" | b"gradlew"))
        }
        b"bundle" => match words {
            [b"exec", b"rake", rest @ ..] => !rest.iter().all(|word| {
                is(
                    word,
                    &["test", "spec", "lint", "rubocop", "--version", "--trace"],
                )
            }),
            _ => false,
        },
        b"just" | b"ninja" | b"scons" | b"meson" | b"bazel" | b"buck2" | b"ctest" => {
            any(&|word| is(word, LEAVES))
                || long(&[
                    "--wrapper",
                    "--gdb",
                    "--gdb-path",
                    "--run_under",
                    "--shell_executable",
                    "--shell",
                    "--shell-arg",
                    "--set",
                    "--justfile",
                    "--command",
                    "--build-and-test",
                    "--script",
                ])
                || (program == b"ninja" && any(&|word| starts(word, &["-t", "-f"])))
                || (program == b"ctest" && any(&|word| starts(word, &["-S", "-D", "-M", "-T"])))
        }
        b"stack" | b"cabal" => {
            any(&|word| starts(word, &["--exec", "--with", "--prog", "--test-wrapper"]))
        }
        b"zig" => any(&|word| {
            starts(
                word,
                &["--test-cmd", "--build-file", "--zig-lib-dir", "--libc"],
            )
        }),
        b"deno" => {
            any(&|word| parts(word).any(|part| starts(part, &["npm:", "jsr:", "http:", "https:"])))
        }
        b"gcc" | b"cc" | b"clang" | b"g++" | b"c++" | b"clang++" | b"rustc" | b"javac" => {
            compiler(program, words)
        }
        b"cargo" => cargo(words, view),
        b"jq" => any(&|word| {
            contains(word, "ENV")
                || has_letter(word, b'f')
                || is_long(word, &["--from-file"])
                || names_env(word)
        }),
        b"yq" => any(&|word| {
            ["env", "ENV", "load"]
                .iter()
                .any(|text| contains(word, text))
        }),
        b"ps" => shows_environment(words),
        b"grep" | b"egrep" | b"fgrep" | b"ggrep" | b"rg" => {
            let recursive = program == b"rg"
                || any(&|word| {
                    has_letter(word, b'r')
                        || has_letter(word, b'R')
                        || has_letter(word, b'd')
                        || is_long(
                            word,
                            &["--recursive", "--dereference-recursive", "--directories"],
                        )
                });
            recursive && searched(words).any(|word| leaves(word, view))
        }
        b"diff" => {
            let recursive = any(&|word| has_letter(word, b'r') || is_long(word, &["--recursive"]));
            recursive && any(&|word| leaves(word, view))
        }
        b"go" => {
            any(&|word| {
                let name = word.strip_prefix(b"-").unwrap_or(word);
                let name = name.strip_prefix(b"-").unwrap_or(name);
                is_option(word)
                    && (is(name, &["u", "export", "mod", "compiled"])
                        || starts(name, &["mod=", "export=", "u="]))
            }) || (words.first() == Some(&&b"list"[..]) && any(&|word| word.contains(&b'@')))
        }
        b"chmod" => any(&special_mode),
        b"find" | b"gfind" => words
            .iter()
            .skip_while(|word| is(word, &["-H", "-L", "-P"]))
            .take_while(|word| !is_option(word))
            .any(|word| reaches_home(word, view)),
        b"fd" | b"fdfind" => any(&|word| reaches_home(word, view)),
        _ => false,
    }
}

/// Whether something in a word points out of the project.
fn leaves(word: &[u8], view: &View<'_>) -> bool {
    parts(word).any(|part| {
        view.cwds
            .iter()
            .any(|cwd| !resolve(cwd, view.place, part).is_in_project(view.place))
    })
}

/// Whether something in a word is, holds or lies in the home directory, outside the project.
fn reaches_home(word: &[u8], view: &View<'_>) -> bool {
    parts(word).any(|part| {
        view.cwds.iter().any(|cwd| {
            let path = resolve(cwd, view.place, part);
            !path.is_in_project(view.place) && path.touches_home(view.place)
        })
    })
}

/// What is joined to `-I` or `-L` of a compiler: a directory to search, and no cluster of letters.
pub(super) fn search_directory<'a>(word: &'a [u8], view: &View<'_>) -> Option<&'a [u8]> {
    let program = view.words.first().and_then(|word| word.known())?;
    let compiler = is(
        &folded_base(program),
        &["gcc", "cc", "clang", "g++", "c++", "clang++"],
    );
    word.strip_prefix(b"-I")
        .or_else(|| word.strip_prefix(b"-L"))
        .filter(|directory| compiler && !directory.is_empty())
}

fn git(words: &[&[u8]], view: &View<'_>) -> bool {
    let internal = |path: &[u8]| {
        view.cwds
            .iter()
            .any(|cwd| resolve(cwd, view.place, path).is_git_internal())
    };
    let into = words
        .windows(2)
        .any(|pair| matches!(pair, [b"-C", path] if internal(path)));
    let glued = words.iter().any(|word| {
        word.strip_prefix(b"-C")
            .is_some_and(|path| !path.is_empty() && internal(path))
    });
    let subcommand = |name: &[u8]| words.contains(&name);
    // Two paths of which one lies outside are compared without a repository.
    let compares = (subcommand(b"diff") || subcommand(b"grep"))
        && words
            .iter()
            .filter(|word| !is_option(word) || is_long(word, &["--no-index"]))
            .any(|word| leaves(word, view))
        && (subcommand(b"diff") || words.iter().any(|word| is_long(word, &["--no-index"])));
    // A signature runs the program that signs.
    let signs = subcommand(b"commit")
        && words.iter().any(|word| {
            is_long(word, &["--gpg-sign"])
                || (is_option(word)
                    && !word.starts_with(b"--")
                    && word
                        .iter()
                        .take_while(|b| !matches!(b, b'm' | b'F' | b'C' | b'c' | b't' | b'u'))
                        .any(|&b| b == b'S'))
        });
    into || glued || compares || signs
}

fn coverage(words: &[&[u8]], view: &View<'_>) -> bool {
    match words {
        [b"run", rest @ ..] => {
            let at = rest.iter().position(|word| *word == b"-m");
            let (before, after) = at
                .and_then(|at| rest.split_at_checked(at))
                .unwrap_or((rest, &[]));
            before
                .iter()
                .all(|word| word.starts_with(b"--") || is(word, &["-a", "-p"]))
                && matches!(after, [_, module, args @ ..]
                    if is(module, &["pytest", "unittest"]) && !of(module, args, view))
        }
        [first, ..] => is(
            first,
            &[
                "report",
                "html",
                "xml",
                "json",
                "lcov",
                "erase",
                "combine",
                "--version",
                "--help",
            ],
        ),
        [] => true,
    }
}

fn make(word: &[u8]) -> bool {
    if word.iter().any(|b| matches!(b, b'$' | b'`')) {
        return true;
    }
    let Some(at) = word
        .iter()
        .position(|&b| b == b'=')
        .filter(|_| !is_option(word))
    else {
        return false;
    };
    let (name, value) = word.split_at_checked(at).unwrap_or((word, b""));
    !is(name, MAKE_VARIABLES)
        || !value
            .iter()
            .skip(1)
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'/' | b'+' | b'-'))
}

fn jvm(words: &[&[u8]], gradle: bool) -> bool {
    let mut value = false;
    words.iter().all(|word| {
        if std::mem::take(&mut value) {
            return true;
        }
        if is_option(word) {
            value = is(
                word,
                &[
                    "-pl",
                    "--projects",
                    "-T",
                    "--tests",
                    "-x",
                    "--exclude-task",
                    "--console",
                ],
            );
            return !starts(
                word,
                &[
                    "-f",
                    "-b",
                    "-I",
                    "--init",
                    "-c",
                    "-s",
                    "--settings",
                    "-gs",
                    "--file",
                    "--build-file",
                    "-J",
                    "-Dexec",
                ],
            ) || *word == b"-stacktrace";
        }
        let goal = if gradle {
            word.rsplit(|&b| b == b':').next().unwrap_or(word)
        } else {
            word
        };
        is(goal, GOALS)
    })
}

fn compiler(program: &[u8], words: &[&[u8]]) -> bool {
    const HARMLESS_CODEGEN: &[&str] = &[
        "opt-level=",
        "debuginfo=",
        "target-cpu=",
        "panic=",
        "lto",
        "codegen-units=",
        "overflow-checks",
        "debug-assertions",
        "target-feature=",
        "strip",
    ];
    const HARMLESS_LINK: &[&str] = &[
        "-Wl,--gc-sections",
        "-Wl,--as-needed",
        "-Wl,-O1",
        "-Wl,-z,now",
        "-Wl,-z,relro",
        "-Wl,-z,relro,-z,now",
        "-Wl,--no-undefined",
        "-Wl,--no-as-needed",
        "-Wl,-s",
    ];
    let mut codegen = false;
    words.iter().any(|word| {
        if std::mem::take(&mut codegen) {
            return !starts(word, HARMLESS_CODEGEN);
        }
        match program {
            b"rustc" => {
                codegen = is(word, &["-C", "--codegen"]);
                let joined = word
                    .strip_prefix(b"-C")
                    .or_else(|| word.strip_prefix(b"--codegen="))
                    .filter(|joined| !joined.is_empty());
                joined.is_some_and(|joined| !starts(joined, HARMLESS_CODEGEN))
                    || starts(word, &["--sysroot", "-Z", "--codege"])
                        && !codegen
                        && joined.is_none()
                    || is_long(word, &["--sysroot"])
            }
            b"javac" => starts(
                word,
                &[
                    "-J",
                    "--proc",
                    "-proc",
                    "-Xplugin",
                    "--module-path",
                    "-Xbootclasspath",
                ],
            ),
            _ => {
                (word.starts_with(b"-Wl,") && !is(word, HARMLESS_LINK))
                    || starts(
                        word,
                        &[
                            "-B",
                            "-Wa,",
                            "-Wp,",
                            "-Xlinker",
                            "-Xassembler",
                            "-Xpreprocessor",
                            "-Xclang",
                            "-T",
                            "--sysroot",
                            "--ld-path",
                            "--config",
                            "-ccc",
                            "--gcc-toolchain",
                            "-specs",
                            "--specs",
                            "-fplugin",
                            "-wrapper",
                            "-fuse-ld",
                            "-mllvm",
                            "-cc1",
                            "--prefix",
                        ],
                    )
            }
        }
    })
}

fn cargo(words: &[&[u8]], view: &View<'_>) -> bool {
    let sub = words
        .iter()
        .find(|word| !is_option(word) && word.first() != Some(&b'+'));
    let handed = words.iter().skip_while(|word| **word != b"--").skip(1);
    match sub {
        Some(&(b"fmt" | b"machete")) => words.iter().any(|word| leaves(word, view)),
        // The program that runs is the project's own; what the test harness is told is not.
        Some(&(b"run" | b"r")) | None => false,
        Some(_) => handed.into_iter().any(|word| leaves(word, view)),
    }
}

/// `env` as a word of its own.
fn names_env(word: &[u8]) -> bool {
    let edge = |b: Option<&u8>| b.is_none_or(|b| !b.is_ascii_alphanumeric() && *b != b'_');
    word.windows(3).enumerate().any(|(at, window)| {
        window == b"env"
            && edge(at.checked_sub(1).and_then(|at| word.get(at)))
            && edge(word.get(at.saturating_add(3)))
    })
}

/// `ps e`: the letter without a dash, also among others, and `-E` elsewhere.
fn shows_environment(words: &[&[u8]]) -> bool {
    let mut valued = false;
    words.iter().any(|word| {
        let value = std::mem::take(&mut valued);
        if is_option(word) {
            valued = word.starts_with(b"--")
                || matches!(
                    word.last(),
                    Some(b'o' | b'C' | b'u' | b'U' | b'g' | b'G' | b't' | b'p' | b'O')
                );
            return has_letter(word, b'E');
        }
        !value && word.iter().all(u8::is_ascii_alphabetic) && word.contains(&b'e')
    })
}

/// The operands of a search besides its pattern.
fn searched<'a>(words: &'a [&'a [u8]]) -> impl Iterator<Item = &'a [u8]> {
    let ended = words
        .iter()
        .position(|word| *word == b"--")
        .unwrap_or(words.len());
    let options = words.get(..ended).unwrap_or_default();
    let given = options.iter().any(|word| {
        has_letter(word, b'e') || has_letter(word, b'f') || starts(word, &["--reg", "--fil"])
    });
    let mut pattern = given;
    let mut value = false;
    words.iter().enumerate().filter_map(move |(at, word)| {
        if at < ended && is_option(word) {
            value = has_letter(word, b'e') && word.last() == Some(&b'e') || *word == b"--regexp";
            return None;
        }
        if std::mem::take(&mut value) || at == ended {
            return None;
        }
        let skipped = !pattern;
        pattern = true;
        (!skipped).then_some(*word)
    })
}

/// A mode that lets a file run as somebody else.
fn special_mode(word: &[u8]) -> bool {
    let octal = word.iter().all(u8::is_ascii_digit)
        && word.len() > 3
        && !(word.len() == 4 && word.first() == Some(&b'0'));
    let symbolic = word.iter().all(|b| b"ugoa+-=rwxXst,".contains(b))
        && word.iter().any(|b| matches!(b, b'+' | b'='))
        && word.iter().any(|b| matches!(b, b's' | b't'));
    octal || symbolic
}
