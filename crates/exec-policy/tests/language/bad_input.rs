//! What is refused, and with which words.

use palisade_exec_policy::language::{Layer, MAX_BYTES};

use crate::support::{FULL, errors, file};

#[test]
fn a_policy_that_says_everything_is_read() {
    let file = file(Layer::System, FULL);
    insta::assert_debug_snapshot!(file);
}

/// The errors of each text, under its title.
fn table(cases: &[(&str, &str)]) -> String {
    let mut table = String::new();
    for (title, text) in cases {
        table.push_str(&format!("# {title}\n{}\n\n", errors(text)));
    }
    table
}

/// The errors of each text behind a `version = 1`.
fn versioned(cases: &[(&str, &str)]) -> String {
    let texts: Vec<_> = cases
        .iter()
        .map(|(title, text)| (*title, format!("version = 1\n{text}")))
        .collect();
    let cases: Vec<_> = texts
        .iter()
        .map(|(title, text)| (*title, text.as_str()))
        .collect();
    table(&cases)
}

#[test]
fn what_is_no_policy_file_is_refused() {
    let shown = table(&[
        ("empty", ""),
        ("no version", "[defaults]\nask = \"never\""),
        ("another version", "version = 2"),
        ("a version of another type", "version = \"1\""),
        ("not TOML", "version = 1\n[defaults\nask = never\n= 3"),
        (
            "the same key twice",
            "version = 1\npreset = \"ci\"\npreset = \"ci\"",
        ),
        ("a byte order mark", "\u{feff}version = 1"),
        ("a NUL", "version = 1\n# \0\n"),
        ("a control character", "version = 1\npreset = \"c\x07i\""),
        ("rules as a table", "version = 1\n[rule]\nid = \"x\""),
        (
            "deep lists",
            &format!("version = 1\nx = {}", "[".repeat(5000)),
        ),
        (
            "deep keys",
            &format!("version = 1\n{}a = 1", "a.".repeat(5000)),
        ),
    ]);
    insta::assert_snapshot!(shown);
    let mut bytes = b"version = 1\nwhy = \"".to_vec();
    bytes.push(0xff);
    assert_eq!(errors(bytes), "policy.toml:2:8: the file is not UTF-8");
}

#[test]
fn a_huge_file_is_refused_before_it_is_read() {
    let text = vec![b'#'; 50 << 20];
    assert_eq!(
        errors(&text),
        format!(
            "policy.toml:1:1: the file has 52428800 bytes, more than the {MAX_BYTES} that are read"
        )
    );
}

#[test]
fn unknown_keys_are_refused() {
    let shown = versioned(&[
        ("at the top", "presett = \"ci\"\nrules = []"),
        (
            "in tables",
            "[defaults]\nunmached = \"prompt\"\n[filesystem]\nread-only = []\n[network]\nblock = []\n[limits]\nmem = \"1GiB\"",
        ),
        (
            "in rules",
            "[[rule]]\nid = \"a\"\nprefx = [\"a\"]\ndecision = \"allow\"\n[[rule]]\nid = \"b\"\nprefix = [\"b\"]\ndecision = \"allow\"\nflags.deny = [\"-x\"]\nsandbox.netwrok = []\nsandbox.limits.memry = \"1GiB\"\nwhen.flag = [\"-x\"]",
        ),
        (
            "in hosts, cases and programs",
            "network.allow = [{ host = \"a.example\" }]\n[[case]]\nrun = \"a\"\nexpected = \"allow\"\n[programs.git]\npath = [\"/usr/bin/git\"]",
        ),
        ("quoted", "\"\\u0000 x\" = 1\n\"a.b\".c = 1"),
    ]);
    insta::assert_snapshot!(shown);
}

#[test]
fn wrong_values_are_refused() {
    let shown = versioned(&[
        (
            "words",
            "preset = \"workspce\"\n[defaults]\nask = \"always\"\nopaque = \"alow\"\n[filesystem]\ngit = \"write\"",
        ),
        (
            "types",
            "preset = 1\ninclude = \"team.toml\"\n[defaults]\nask = true\n[filesystem]\nwrite = \".\"\n[limits]\nprocs = \"many\"\nwall = 5\nmemory = 1.5",
        ),
        (
            "durations and sizes",
            "[limits]\nwall = \"5 minutes\"\ncpu = \"0s\"\nmemory = \"2GB\"\ndisk = \"99999999999999999999TiB\"\nprocs = 0",
        ),
        (
            "paths",
            "[filesystem]\nwrite = [\"/\"]\ndeny = [\"\", \"../x\", \"~other/x\", \"a**b\"]\nprotected = [\"/etc\", \"..\"]",
        ),
        (
            "hosts",
            "network.allow = [\"https://a.example/x\", \"a b\", \"a.example:99999\", \"*\", \"127.1\", \"a.example\", \"a.example\"]",
        ),
        (
            "variables",
            "[env]\nkeep = [\"A-B\", \"1A\", \"\", \"*A\"]\nprefix = { \"A B\" = \"allow\", C = \"ask\" }",
        ),
        (
            "programs",
            "[programs]\ngit = 1\n[programs.\"/usr/bin/ls\"]\npaths = []\n[programs.ls]\npaths = [\"bin/ls\", \"/usr/../ls\"]",
        ),
        (
            "options",
            "[options.\"git  diff\"]\nvalue = [\"-O\"]\n[options.git]\nvalue = [\"-C\", \"C\", \"--x=1\"]\nflag = [\"-C\"]",
        ),
        ("cases", "[[case]]\nrun = \"\"\nexpect = \"ask\"\n[[case]]"),
        ("includes", "include = [\"\", \"a.toml\", \"a.toml\", 3]"),
    ]);
    insta::assert_snapshot!(shown);
}

#[test]
fn wrong_rules_are_refused() {
    let shown = versioned(&[
        ("nothing in it", "[[rule]]"),
        (
            "no id",
            "[[rule]]\nprefix = [\"git\", [\"push\", \"pull\"]]\ndecision = \"prompt\"",
        ),
        (
            "prefixes",
            "[[rule]]\nid = \"a\"\nprefix = \"git push\"\ndecision = \"allow\"\n[[rule]]\nid = \"b\"\nprefix = []\ndecision = \"allow\"\n[[rule]]\nid = \"c\"\nprefix = [\"git\", []]\ndecision = \"allow\"\n[[rule]]\nid = \"d\"\nprefix = [\"git\", \"\", \"a\\u0000b\", [\"x\", \"x\"], 3]\ndecision = \"allow\"",
        ),
        (
            "decisions",
            "[[rule]]\nid = \"\"\nprefix = [\"a\"]\ndecision = \"deny\"\nargs = \"sed\"\nunsandboxed = \"yes\"",
        ),
        (
            "flags",
            "[[rule]]\nid = \"a\"\nprefix = [\"a\"]\ndecision = \"allow\"\nflags.allow = [\"stat\", \"x\", \"-\", \"--\", \"---x\", \"--a=b\", \"-a b\"]\nwhen.flags = []",
        ),
        (
            "grants",
            "[[rule]]\nid = \"a\"\nprefix = [\"a\"]\ndecision = \"allow\"\nsandbox.write = [\"**/x\", \"..\"]\nsandbox.network = [3, { domain = \"a.example\", port = 0 }]\nsandbox.limits = 3",
        ),
    ]);
    insta::assert_snapshot!(shown);
}

#[test]
fn contradictions_are_refused() {
    let shown = versioned(&[
        (
            "a flag both ways",
            "[[rule]]\nid = \"a\"\nprefix = [\"a\"]\ndecision = \"allow\"\nflags.allow = [\"-x\", \"-y\"]\nflags.forbid = [\"-y\"]",
        ),
        (
            "a looser else",
            "[[rule]]\nid = \"a\"\nprefix = [\"a\"]\ndecision = \"forbid\"\nflags.forbid = [\"-y\"]\nflags.else = \"prompt\"",
        ),
        (
            "a forbid that leaves the sandbox",
            "[[rule]]\nid = \"a\"\nprefix = [\"a\"]\ndecision = \"forbid\"\nunsandboxed = true",
        ),
        (
            "a forbid with grants",
            "[[rule]]\nid = \"a\"\nprefix = [\"a\"]\ndecision = \"forbid\"\nsandbox.git = \"commit\"",
        ),
        (
            "grants outside the sandbox",
            "[[rule]]\nid = \"a\"\nprefix = [\"a\"]\ndecision = \"prompt\"\nunsandboxed = true\nsandbox.git = \"commit\"",
        ),
        (
            "an exception elsewhere",
            "[[rule]]\nid = \"a\"\nprefix = [\"git\", [\"log\", \"diff\"]]\ndecision = \"allow\"\nexcept = [[\"git\", \"log\"], [\"git\", \"push\", \"x\"], [\"git\", \"log\", \"x\"]]",
        ),
        ("an allow by default", "[defaults]\nunmatched = \"allow\""),
        (
            "full network and a list",
            "[network]\naccess = \"full\"\nallow = []",
        ),
        (
            "no network and a list",
            "[network]\naccess = \"restricted\"\nallow = [\"a.example\"]",
        ),
        (
            "writing in read-only",
            "preset = \"read-only\"\n[filesystem]\nwrite = [\".\"]",
        ),
        (
            "writing without the project",
            "[filesystem]\nwrite = [\"/srv/cache\"]",
        ),
        (
            "a root that is denied",
            "[filesystem]\nwrite = [\".\", \"/srv/cache\"]\ndeny = [\"/srv/cache\"]",
        ),
    ]);
    insta::assert_snapshot!(shown);
}

#[test]
fn only_the_first_hundred_errors_are_described() {
    let text = format!(
        "version = 1\n{}",
        (0..5000).map(|n| format!("x{n} = 1\n")).collect::<String>()
    );
    let errors = errors(text);
    assert_eq!(errors.lines().count(), 101);
    assert!(errors.ends_with("and 4900 more"), "{errors}");
}
