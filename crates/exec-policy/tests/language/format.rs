//! One way to write a policy, and nothing lost on the way.

use palisade_exec_policy::language::{Layer, Source, fmt};
use proptest::prelude::*;

use crate::support::FULL;

fn formatted(text: &str) -> String {
    match fmt(&Source::new(Layer::System, "policy.toml", text)) {
        Ok(text) => text,
        Err(errors) => panic!("{errors}\n{text}"),
    }
}

/// The same meaning, the same comments, and nothing left to do.
#[track_caller]
fn check(text: &str) -> String {
    let once = formatted(text);
    let read = |text: &str| text.parse::<toml::Table>().unwrap();
    assert_eq!(read(text), read(&once), "{text}\n->\n{once}");
    let comments = |text: &str| {
        let mut found: Vec<_> = text
            .lines()
            .filter_map(|line| line.split_once("# ").map(|(_, c)| c.trim().to_owned()))
            .collect();
        found.sort();
        found
    };
    assert_eq!(comments(text), comments(&once), "{text}\n->\n{once}");
    assert_eq!(formatted(&once), once, "not stable:\n{text}\n->\n{once}");
    once
}

#[test]
fn the_sample_is_well_formed() {
    insta::assert_snapshot!(check(FULL));
}

#[test]
fn a_mess_is_put_in_order() {
    let text = r#"# About this file.
# Two lines.

# Another paragraph.

# The preset.
preset   =   "ci" # nobody there
"version" = 1
include=["a.toml",   'b.toml']

[[case]]
expect="allow"
run='''ls
-la'''
# after the last key

# above the rule

# directly above the rule
[[ rule ]]   # a rule
    decision = "allow"
    match = [ # first
        "ls -la", # second
        # third
        "ls", "ls -l"
        # fourth
    ]


    # the prefix
    prefix = [ "ls" ]
    id = "ls"
    sandbox . limits = { procs = 3, wall = "5m" }
    flags.else = "forbid"
    flags.forbid = ["-R"]
[rule.when]
flags = ["--aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "--bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", "--ccccccccccccccccccccccccccccc"]
[network]
allow = [ {port=80,domain="a.example"}, "b.example" ]
[env]
prefix = { Z = "allow", "*" = "prompt", A = "forbid" }
[programs.zsh]
paths = []
[programs.awk]
paths = ["/usr/bin/awk"]
[defaults]
# unmatched = "prompt"
ask = "never"
# opaque = "prompt"
"#;
    insta::assert_snapshot!(check(text));
}

#[test]
fn lines_may_end_as_on_windows() {
    let text = check(
        "version = 1\r\n# a\r\n\r\n[[rule]]\r\nid = \"a\" # b\r\nprefix = [\r\n\"a\"]\r\ndecision = \"allow\"",
    );
    assert!(!text.contains('\r'), "{text:?}");
}

#[test]
fn a_file_that_is_no_policy_is_not_formatted() {
    let errors = fmt(&Source::new(Layer::User, "policy.toml", "version = 2")).unwrap_err();
    assert_eq!(
        errors.to_string(),
        "policy.toml:1:11: `version`: only version 1 of the format is known (found `2`)"
    );
}

/// A line that may stand between two others of a table.
fn noise() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => Just(String::new()),
        1 => Just("\n".to_owned()),
        1 => Just("\n\n".to_owned()),
        2 => "# [a-z]{1,6}\n",
        1 => "  # [a-z]{1,6}\n\n",
    ]
}

/// Lines in any order, with noise between them.
fn table(header: &'static str, lines: &'static [&'static str]) -> impl Strategy<Value = String> {
    let chosen = proptest::sample::subsequence(lines, 0..=lines.len()).prop_shuffle();
    (
        noise(),
        chosen,
        proptest::collection::vec((noise(), proptest::option::of("# [a-z]{1,5}")), lines.len()),
        noise(),
    )
        .prop_map(move |(before, chosen, noises, after)| {
            let mut text = format!("{before}{header}\n");
            for (line, (noise, behind)) in chosen.iter().zip(noises) {
                let behind = behind.unwrap_or_default();
                text.push_str(&format!("{noise}{line} {behind}\n"));
            }
            text + &after
        })
}

fn policies() -> impl Strategy<Value = String> {
    let head = table(
        "version = 1",
        &[
            "preset = \"ci\"",
            "include = [\"a.toml\", # x\n\"b.toml\"\n]",
            "\"limits\".wall = '5m'",
        ],
    );
    let tables = vec![
        table("[defaults]", &["ask = \"never\"", "opaque = \"forbid\""]).boxed(),
        table(
            "[network]",
            &["allow = [ 'a.example', { port = 1, domain = \"b.example\" },\n# c\n ]"],
        )
        .boxed(),
        table(
            "[env]",
            &["keep = [\n]", "prefix = { B = \"allow\", A = \"prompt\" }"],
        )
        .boxed(),
        table(
            "[filesystem]",
            &[
                "deny = [\"~/.ssh\"]",
                "read_only = [\"\"\"a\"\"\", ]",
                "git = 'full'",
            ],
        )
        .boxed(),
        table("[programs.git]\npaths = []", &[]).boxed(),
    ];
    let rule = table(
        "[[rule]]\nid = \"ID\"\nprefix = [\"a\", ['b', \"c\"]]\ndecision = \"prompt\"",
        &[
            "why = \"a # b\"",
            "flags.allow = [\"-a\"]",
            "flags.else = 'forbid'",
            "match = [\"a b\" # x\n, \"a c\"]",
            "sandbox.limits.wall = \"1h\"",
        ],
    );
    let rules = proptest::collection::vec(rule, 0..3);
    let case = proptest::collection::vec(
        table("[[case]]\nrun = \"\"\"\nls\"\"\"\nexpect = 'allow'", &[]),
        0..2,
    );
    (head, tables, rules, case, any::<bool>()).prop_map(|(head, tables, rules, cases, first)| {
        let rules: String = rules
            .into_iter()
            .enumerate()
            .map(|(index, rule)| rule.replace("ID", &index.to_string()))
            .collect();
        let (tables, cases) = (tables.concat(), cases.concat());
        match first {
            true => format!("{head}{rules}{cases}{tables}"),
            false => format!("{head}{tables}{rules}{cases}"),
        }
    })
}

proptest! {
    #[test]
    fn formatting_keeps_meaning_and_comments_and_is_stable(text in policies()) {
        let text = check(&text);
        // Every line of the sample ends in a blank, so this was formatted, not handed back.
        prop_assert!(!text.lines().any(|line| line.ends_with(' ')), "{}", text);
    }
}
