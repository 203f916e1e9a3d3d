//! Denials that are easily lost: odd spellings, sections of another kind, calls with another meaning.

use palisade_exec_policy::RuleDecision;
use palisade_exec_policy::import::{
    Import, ImportError, claude_settings, codex_rules, srt_settings,
};

use crate::import::{policy, says};

fn claude(text: &str) -> Import {
    let import = claude_settings(text.as_bytes()).unwrap();
    policy(&import);
    import
}

fn codex(text: &str) -> Import {
    let import = codex_rules(text.as_bytes()).unwrap();
    policy(&import);
    import
}

/// Whether the report lists an entry as left out, and whether as a denial.
fn left(import: &Import, what: &str) -> Option<bool> {
    let left = &import.report.not_carried;
    left.iter()
        .find(|entry| entry.what == what)
        .map(|entry| entry.weakens)
}

#[test]
fn a_denial_of_everything_beats_questions_and_allows() {
    for text in [
        r#"{"permissions": {"allow": ["Bash(ls:*)"], "deny": ["Bash", "Bash(rm:*)"], "ask": ["Bash(foo:*)"]}}"#,
        r#"{"permissions": {"ask": ["Bash(foo:*)"], "allow": ["Bash(ls:*)"], "deny": ["Bash(rm:*)", "Bash"]}}"#,
    ] {
        let import = claude(text);
        for command in ["foo", "foo x", "ls", "rm x"] {
            assert_eq!(
                says(&import, command),
                RuleDecision::Forbid,
                "{command}\n{}",
                import.text
            );
        }
        assert_eq!(left(&import, "Bash(foo:*)"), Some(false));
        assert_eq!(left(&import, "Bash(ls:*)"), Some(false));
        assert_eq!(policy(&import).rules.len(), 1, "{}", import.text);
    }
}

#[test]
fn blanks_around_an_entry_do_not_undo_it() {
    for entry in [
        "Bash(git push:*) ",
        " Bash(git push:*)",
        "Bash (git push:*)\\n",
    ] {
        let import = claude(&format!(
            r#"{{"permissions": {{"allow": ["Bash(git:*)"], "deny": ["{entry}"]}}}}"#
        ));
        assert_eq!(says(&import, "git push x"), RuleDecision::Forbid, "{entry}");
        assert_eq!(says(&import, "git status"), RuleDecision::Allow, "{entry}");
    }
}

#[test]
fn entries_that_look_like_commands_put_allows_in_doubt() {
    for entry in [
        "bash(git push:*)",
        "BASH(git push:*)",
        "Bash[git push]",
        "Bash(git push:*",
        "Bash(git push:*) x",
        "Bash: git push",
        "\u{200b}Bash(git push:*)",
    ] {
        for list in ["deny", "ask"] {
            let import = claude(&format!(
                r#"{{"permissions": {{"allow": ["Bash(git:*)"], "{list}": ["{entry}"]}}}}"#
            ));
            assert_eq!(
                says(&import, "git push"),
                RuleDecision::Prompt,
                "{list} {entry}"
            );
            assert_eq!(left(&import, entry), Some(true), "{list} {entry}");
        }
        let import = claude(&format!(r#"{{"permissions": {{"allow": ["{entry}"]}}}}"#));
        assert_ne!(says(&import, "git push"), RuleDecision::Allow, "{entry}");
        assert!(!import.report.weakens(), "{entry}");
    }
    let import =
        claude(r#"{"permissions": {"allow": ["Bash(git:*)"], "deny": ["BashOutput", "Task"]}}"#);
    assert_eq!(
        says(&import, "git push"),
        RuleDecision::Allow,
        "no commands"
    );
}

#[test]
fn sections_of_another_kind_are_refused() {
    let expected = Err(ImportError::Syntax {
        line: 2,
        problem: "an object is expected here",
    });
    for text in [
        "{\n\"permissions\": [\"Bash\"]}",
        "{\n\"permissions\": \"none\"}",
        "{\n\"permissions\": null}",
        "{\n\"sandbox\": [1]}",
        "{\n\"sandbox\": true}",
        "{\"sandbox\": {\n\"network\": \"none\"}}",
        "{\"sandbox\": {\n\"filesystem\": [\"x\"]}}",
    ] {
        assert_eq!(claude_settings(text.as_bytes()), expected, "{text}");
    }
    for text in [
        "{\n\"filesystem\": [\"x\"], \"network\": {}}",
        "{\n\"network\": \"none\"}",
        "{\n\"network\": null}",
    ] {
        assert_eq!(srt_settings(text.as_bytes()), expected, "{text}");
    }
}

#[test]
fn denying_every_edit_leaves_nothing_writable() {
    for text in [
        r#"{"permissions": {"deny": ["Edit", "Write"]}}"#,
        r#"{"permissions": {"deny": ["Write "]}}"#,
        r#"{"permissions": {"allow": ["Edit(//srv/x)", "Edit(src)"], "additionalDirectories": ["//srv/y"], "deny": ["Edit", "Edit(infra)"]}}"#,
        r#"{"sandbox": {"filesystem": {"allowWrite": ["//srv/x"]}}, "permissions": {"deny": ["Edit"]}}"#,
    ] {
        let import = claude(text);
        assert!(
            import.text.contains("write = []"),
            "{text}\n{}",
            import.text
        );
        assert!(!import.report.weakens(), "{text}\n{}", import.report);
        let noted =
            import.report.carried.iter().any(|entry| {
                entry.note.contains("nothing is writable") && !entry.what.contains('(')
            });
        assert!(noted, "{}", import.report);
        assert!(
            import
                .report
                .carried
                .iter()
                .all(|entry| entry.note != "writable"),
            "{}",
            import.report
        );
    }
    let import = claude(r#"{"permissions": {"deny": ["Read"]}}"#);
    assert_eq!(left(&import, "Read"), Some(true));
    assert!(!import.text.contains("[filesystem]"), "{}", import.text);
}

#[test]
fn calls_with_another_meaning_put_the_whole_file_in_doubt() {
    for change in [
        "def prefix_rule(pattern):\n    pass",
        "def network_rule(host): pass",
        "prefix_rule = other",
        "prefix_rule = other(1)",
        "prefix_rule, x = a, b",
        "[x, prefix_rule] = [a, b]",
        "load(\"x.rules\", \"prefix_rule\")",
        "load(\"x.rules\", prefix_rule = \"y\")",
        "load(\"x.rules\", \"y\")",
    ] {
        let rules = "prefix_rule([\"ls\"])\nprefix_rule([\"rm\"], decision = \"forbidden\")";
        for text in [
            format!("{change}\n{rules}\n"),
            format!("{rules}\n{change}\n"),
        ] {
            let import = codex(&text);
            assert_eq!(says(&import, "ls"), RuleDecision::Prompt, "{text}");
            assert_eq!(says(&import, "rm"), RuleDecision::Forbid, "{text}");
            assert!(import.report.weakens(), "{text}");
        }
    }
    let import = codex("network_rule(\"example.com\")\nnetwork_rule = other\n");
    assert!(!import.text.contains("example.com"), "{}", import.text);
    assert_eq!(left(&import, "network example.com"), Some(false));
    assert_eq!(left(&import, "`network_rule`"), Some(true));
    // Names of somebody's own do no harm.
    let import =
        codex("RULES = [\"prefix_rule\"]\ndef f(prefix_rule):\n    pass\nprefix_rule([\"ls\"])\n");
    assert_eq!(says(&import, "ls"), RuleDecision::Allow);
}

#[test]
fn a_default_of_a_parameter_is_run_where_it_stands() {
    let import = codex(
        "prefix_rule([\"ls\"])\ndef f(x = prefix_rule([\"ls\"], decision = \"forbidden\")):\n    pass\n",
    );
    assert_eq!(says(&import, "ls"), RuleDecision::Prompt);
    assert_eq!(left(&import, "`def`"), Some(true));
}

#[test]
fn a_carriage_return_hides_nothing() {
    for text in [
        "prefix_rule([\"ls\"])\n# note\rprefix_rule([\"ls\"], decision = \"forbidden\")\n",
        "prefix_rule([\"ls\"])\nx = 1\rprefix_rule([\"ls\"], decision = \"forbidden\")\n",
        "prefix_rule([\"ls\"])\n\\\rprefix_rule([\"ls\"], decision = \"forbidden\")\n",
        "\n\r",
        "\n# end\r",
    ] {
        assert_eq!(
            codex_rules(text.as_bytes()),
            Err(ImportError::Syntax {
                line: 2,
                problem: "a carriage return that ends no line"
            }),
            "{text:?}"
        );
    }
    let import = codex("# note\r\nprefix_rule([\"ls\"])\r\nx = \\\r\n    1\r\n");
    assert_eq!(says(&import, "ls"), RuleDecision::Allow);
}

#[test]
fn a_program_without_paths_is_not_pinned() {
    let import =
        codex("prefix_rule([\"git\", \"status\"])\nhost_executable(name='git', paths=[])\n");
    assert!(!import.text.contains("[programs"), "{}", import.text);
    assert_eq!(left(&import, "executable git"), Some(true));
    assert_eq!(says(&import, "git status"), RuleDecision::Prompt);
}

/// Every key against every other would be two hundred million comparisons of strings.
#[test]
fn many_arguments_are_read_once() {
    const MANY: usize = 20_000;
    let mut text = "prefix_rule([\"ls\"]".to_owned();
    for n in 0..MANY {
        text.push_str(&format!(", a_rather_long_key_{n} = 'x'"));
    }
    let import = codex(&format!("{text})\n"));
    assert_eq!(says(&import, "ls"), RuleDecision::Allow);
    let twice = codex_rules(format!("{text},\na_rather_long_key_7 = 'y')").as_bytes());
    let key = "a_rather_long_key_7".to_owned();
    assert_eq!(twice, Err(ImportError::DuplicateKey { line: 2, key }));
}

/// As many hosts as a list may have, and as many denials.
#[test]
fn long_lists_of_hosts_are_imported() {
    let many = |name: &str| {
        let hosts: Vec<String> = (0..10_000)
            .map(|n| format!("\"{name}{n}.example.org\""))
            .collect();
        hosts.join(",")
    };
    let (allowed, denied) = (many("a"), many("b"));
    let text = format!(
        "{{\"network\": {{\"allowedDomains\": [{allowed}], \"deniedDomains\": [{denied}]}}}}"
    );
    let import = srt_settings(text.as_bytes()).unwrap();
    assert!(import.text.contains("\"a9999.example.org\""));
    assert_eq!(import.report.carried.len(), 20_000);
    assert!(import.report.not_carried.is_empty());
}
