//! What a rule means.

use palisade_exec_policy::RuleDecision::{Allow, Forbid, Prompt};
use palisade_exec_policy::language::model::Layer;
use palisade_exec_policy::matching::{
    Approvals, CommandFacts, ExampleProblem, HeldBack, Programs, verify,
};
use palisade_exec_policy::{DefaultEntry, SegmentVerdict, VerdictSource};
use std::path::PathBuf;

use crate::support::{Policy, analyze};

#[test]
fn the_strictest_of_all_rules_wins() {
    let policy = Policy::only(
        r#"
version = 1
[[rule]]
id = "all"
prefix = ["git"]
decision = "allow"
[[rule]]
id = "push"
prefix = ["git", ["push", "pull"]]
decision = "prompt"
[[rule]]
id = "force"
prefix = ["git", "push"]
when.flags = ["--force", "-f"]
decision = "forbid"
"#,
    );
    policy.check(Allow, &["git status", "git log push"]);
    policy.check(
        Prompt,
        &[
            "git push",
            "git pull",
            "git -C x push",
            "git push -- -f",
            "git --frob push",
            "git --frob x push",
        ],
    );
    policy.check(
        Forbid,
        &[
            "git push -f",
            "git push -uf",
            "git -C x push --force",
            "git push --forc",
            "./git push -f",
            "GIT push -f",
        ],
    );
    policy.check(Prompt, &["git p*", "git push *", "foo"]);
    let facts = CommandFacts::new(&policy.place);
    let analysis = analyze("git push -f");
    let evaluation = policy.ruleset.evaluate(&analysis, &facts);
    let segment = &evaluation.segments()[0];
    let ids: Vec<&str> = segment
        .matches()
        .iter()
        .map(|found| found.rule.id())
        .collect();
    assert_eq!(ids, ["push", "force", "all"]);
    assert_eq!(segment.matches()[0].rule.origin().layer, Layer::User);
    assert_eq!(segment.matches()[0].rule.origin().line, 7);
}

#[test]
fn flags_are_seen_in_every_spelling() {
    let policy = Policy::only(
        r#"
version = 1
[options."tool get"]
value = ["-o", "--output", "-n"]
flag = ["-a", "-b", "--all", "--brief"]
[[rule]]
id = "get"
prefix = ["tool", "get"]
decision = "allow"
flags.forbid = ["-o", "--output", "-b"]
flags.else = "forbid"
[[rule]]
id = "list"
prefix = ["tool", "list"]
decision = "allow"
flags.allow = ["-a"]
"#,
    );
    policy.check(
        Allow,
        &[
            "tool get",
            "tool get -a x",
            "tool get --all x",
            "tool get -n 5 x",
            "tool get -- -o",
            "tool get src/*",
        ],
    );
    policy.check(
        Forbid,
        &[
            "tool get -o x",
            "tool get -ox",
            "tool get -ao x",
            "tool get --output x",
            "tool get --output=x",
            "tool get --outp x",
            "tool get x -o y",
            "tool get -ab",
            "tool get -z",
            "tool get --zzz",
            "tool get *",
            "tool get -n -o",
        ],
    );
    policy.check(Prompt, &["tool list -a", "tool list -b"]);
    policy.check(Allow, &["tool list"]);
}

#[test]
fn globals_belong_to_the_rule_that_lists_them() {
    let policy = Policy::only(
        r#"
version = 1
[[rule]]
id = "a"
prefix = ["tool", "get"]
globals = { value = ["-c"], flag = ["--quiet"] }
decision = "allow"
[[rule]]
id = "b"
prefix = ["tool", "put"]
decision = "allow"
[[rule]]
id = "c"
prefix = ["tool", "del"]
decision = "forbid"
"#,
    );
    policy.check(
        Allow,
        &[
            "tool get",
            "tool -c x get",
            "tool --quiet -c=x get",
            "tool put",
        ],
    );
    policy.check(
        Prompt,
        &["tool -c x put", "tool --quiet put", "tool --other get"],
    );
    policy.check(
        Forbid,
        &[
            "tool -c x del",
            "tool --other del",
            "tool --other x del",
            "x/tool del",
        ],
    );
}

#[test]
fn exceptions_carve_holes_into_their_own_rule_only() {
    let policy = Policy::only(
        r#"
version = 1
[[rule]]
id = "stash"
prefix = ["git", "stash"]
except = [["git", "stash", ["drop", "clear"]]]
decision = "allow"
[[rule]]
id = "docker"
prefix = ["docker"]
except = [["docker", "ps"]]
decision = "forbid"
[[rule]]
id = "docker-all"
prefix = ["docker"]
decision = "allow"
"#,
    );
    policy.check(Allow, &["git stash", "git stash pop", "docker ps -a"]);
    policy.check(
        Prompt,
        &["git stash drop", "git stash -q drop", "git stash d*"],
    );
    policy.check(Forbid, &["docker rm ps", "docker run x"]);
}

#[test]
fn wide_alternatives_do_not_explode() {
    let many: Vec<String> = (0..40).map(|n| format!("\"w{n}\"")).collect();
    let many = many.join(",");
    let policy = Policy::only(&format!(
        "version = 1\n[[rule]]\nid = \"wide\"\nprefix = [\"x\", [{many}], [{many}], [{many}], [{many}]]\ndecision = \"allow\"\n"
    ));
    policy.check(Allow, &["x w1 w2 w3 w39", "x w1 w2 w3 w39 more"]);
    policy.check(Prompt, &["x w1 w2 w3", "x w1 w2 w3 y", "x w1 w2 -q w3 w4"]);
}

struct Found(&'static str);

impl Programs for Found {
    fn resolve(&self, _: &str) -> Option<PathBuf> {
        Some(self.0.into())
    }
}

#[test]
fn a_name_allows_only_what_it_resolves_to() {
    let policy = Policy::with_user("version = 1\n[programs.git]\npaths = [\"/opt/git/bin/git\"]\n");
    policy.check(
        Allow,
        &["/opt/git/bin/git status", "git status", "/usr/bin/ls"],
    );
    policy.check(
        Prompt,
        &[
            "/usr/bin/git status",
            "./git status",
            "x/git status",
            "/tmp/git status",
            "./ls",
            "/srv/app/ls",
        ],
    );
    let says = |command: &str, found: &'static str| {
        let programs = Found(found);
        let facts = CommandFacts::new(&policy.place).with_programs(&programs);
        policy
            .ruleset
            .evaluate(&analyze(command), &facts)
            .rule_decision()
    };
    assert_eq!(says("git status", "/opt/git/bin/git"), Allow);
    assert_eq!(says("git status", "/usr/bin/git"), Prompt);
    assert_eq!(says("ls", "/usr/bin/ls"), Allow);
    assert_eq!(says("ls", "/home/dev/.cargo/bin/ls"), Allow);
    for planted in [
        "/srv/app/node_modules/.bin/ls",
        "/tmp/ls",
        "ls",
        "./ls",
        "/usr/bin/../../tmp/ls",
    ] {
        assert_eq!(says("ls", planted), Prompt, "{planted}");
    }
    assert_eq!(says("nice ls", "/tmp/nice"), Prompt);
}

#[test]
fn what_is_around_a_command_counts() {
    let policy = Policy::built_in();
    let held = |command: &str| {
        let facts = CommandFacts::new(&policy.place);
        let analysis = analyze(command);
        let evaluation = policy.ruleset.evaluate(&analysis, &facts);
        evaluation
            .segments()
            .last()
            .and_then(|segment| segment.held_back())
    };
    for (command, why) in [
        ("ls > ../x", HeldBack::Redirect),
        ("ls > .vscode/x", HeldBack::Redirect),
        ("cat < .env", HeldBack::Redirect),
        ("FOO=1 ls", HeldBack::Variable),
        ("cd .. && ls", HeldBack::Directory),
        ("cd - ; ls", HeldBack::Directory),
        ("alias ls=x; ls", HeldBack::Tainted),
        ("git -C .. status", HeldBack::GlobalOption),
        ("xargs touch", HeldBack::UnknownOperands),
        ("cat <(touch x)", HeldBack::Substitution),
        ("env -i ls", HeldBack::Wrapper),
    ] {
        assert_eq!(held(command), Some(why), "{command}");
        assert_eq!(policy.says(command), Prompt, "{command}");
    }
    for fine in [
        "ls > x",
        "ls 2>&1 >/dev/null",
        "RUST_LOG=a ls",
        "cd src && ls",
        "cd src; ls",
        "set -eu; ls",
        "export CI=1; ls",
    ] {
        assert_eq!(held(fine), None, "{fine}");
        assert_eq!(policy.says(fine), Allow, "{fine}");
    }
}

/// Without any built-in rule, too.
#[test]
fn privilege_never_inherits_an_allow() {
    let policy = Policy::only(
        "version = 1\n[[rule]]\nid = \"ls\"\nprefix = [\"ls\"]\ndecision = \"allow\"\n",
    );
    policy.check(Allow, &["ls", "nice ls"]);
    policy.check(
        Prompt,
        &[
            "sudo ls",
            "doas ls",
            "sudo -u x nice ls",
            "env -i ls",
            "xargs ls",
        ],
    );
}

struct Agreed(&'static str);

impl Approvals for Agreed {
    fn answers(&self, rule: &str, argv: &[&[u8]]) -> bool {
        rule == self.0 && argv.starts_with(&[b"git", b"push"])
    }
}

#[test]
fn a_stored_approval_answers_its_rule_and_nothing_else() {
    let policy = Policy::built_in();
    let approvals = Agreed("ask-git-remote");
    let facts = CommandFacts::new(&policy.place).with_approvals(&approvals);
    let answered = |command: &str| {
        let analysis = analyze(command);
        let evaluation = policy.ruleset.evaluate(&analysis, &facts);
        evaluation
            .verdicts()
            .iter()
            .any(|verdict| matches!(verdict, SegmentVerdict::Prompt { answered: true, .. }))
    };
    assert!(answered("git push origin main"));
    for not in [
        "git pull",
        "./git push",
        "git push > ../x",
        "PATH=. git push",
        "FOO=1 git push",
        "git push $x",
        "cd ..; git push",
        "git push -f",
    ] {
        assert!(!answered(not), "{not}");
    }
}

#[test]
fn a_rule_leaves_the_sandbox_only_for_exactly_what_it_matches() {
    let policy = Policy::only(
        "version = 1\n[[rule]]\nid = \"deploy\"\nprefix = [\"deploy\"]\ndecision = \"prompt\"\nunsandboxed = true\n",
    );
    let unsandboxed = |command: &str| {
        let facts = CommandFacts::new(&policy.place);
        let analysis = analyze(command);
        let evaluation = policy.ruleset.evaluate(&analysis, &facts);
        evaluation.verdicts().iter().all(|verdict| {
            matches!(
                verdict,
                SegmentVerdict::Prompt {
                    unsandboxed: true,
                    ..
                }
            )
        })
    };
    assert!(unsandboxed("deploy x"));
    for not in [
        "./deploy x",
        "PATH=. deploy",
        "deploy > ../x",
        "deploy $x",
        "DEPLOY x",
        "deploy; ls",
    ] {
        assert!(!unsandboxed(not), "{not}");
    }
}

#[test]
fn defaults_speak_where_no_rule_does() {
    let policy = Policy::with_user(
        "version = 1\n[defaults]\nunmatched = \"prompt\"\nopaque = \"forbid\"\ndanger = \"forbid\"\n",
    );
    policy.check(Forbid, &["ls $x", "rm -rf target", "nice rm -r x"]);
    policy.check(Prompt, &["frob"]);
    policy.check(Allow, &["ls"]);
    let source = |policy: &Policy, command: &str| {
        let facts = CommandFacts::new(&policy.place);
        let analysis = analyze(command);
        match policy.ruleset.evaluate(&analysis, &facts).source() {
            VerdictSource::Default(entry) => Some(entry),
            VerdictSource::Rule(_) => None,
        }
    };
    assert_eq!(source(&policy, "frob"), Some(DefaultEntry::Unmatched));
    let built_in = Policy::built_in();
    assert_eq!(
        source(&built_in, "find . -delete"),
        Some(DefaultEntry::Danger)
    );
    assert_eq!(source(&built_in, "frob"), Some(DefaultEntry::Unmatched));
    assert_eq!(source(&built_in, "ls $x"), Some(DefaultEntry::Opaque));
    assert_eq!(source(&built_in, "git push"), None);
}

#[test]
fn an_amendment_is_proposed_only_if_it_makes_the_whole_allowed() {
    let policy = Policy::built_in();
    let facts = CommandFacts::new(&policy.place);
    let candidate = |command: &str| {
        let analysis = analyze(command);
        let evaluation = policy.ruleset.evaluate(&analysis, &facts);
        evaluation
            .amendment_candidate(&analysis)
            .map(|amendment| amendment.prefix().join(" "))
    };
    assert_eq!(candidate("cargo add serde").as_deref(), Some("cargo add"));
    assert_eq!(candidate("ls && frob sync x").as_deref(), Some("frob sync"));
    assert_eq!(candidate("frob -x y").as_deref(), Some("frob -x y"));
    for none in [
        "ls",
        "rm -rf target",
        "frob a; other b",
        "frob > ../x",
        "FOO=1 frob",
        "frob $x",
        "sudo frob",
        "git push -f",
        "./frob x",
    ] {
        assert_eq!(candidate(none), None, "{none}");
    }
}

#[test]
fn examples_are_verified_with_the_final_verdict() {
    let policy = Policy::only(
        r#"
version = 1
[[rule]]
id = "all"
prefix = ["git"]
decision = "allow"
match = ["git push -f", "hg push", "git log"]
not_match = ["git status", "hg status"]
[[rule]]
id = "force"
prefix = ["git", "push"]
when.flags = ["-f"]
decision = "forbid"
match = ["cd a && git push -f"]
[[case]]
run = "cd a && git push -f"
expect = "prompt"
[[case]]
run = "git log"
expect = "allow"
"#,
    );
    let facts = CommandFacts::new(&policy.place);
    let failures = verify(&policy.ruleset, &policy.rules, &policy.cases, &facts);
    let text: Vec<String> = failures.iter().map(ToString::to_string).collect();
    assert_eq!(
        text,
        [
            "user.toml:7:10: rule `all` allows `git push -f`, but the policy says forbid: rule `force` (user.toml:9:1)",
            "user.toml:7:25: rule `all` does not match `hg push`",
            "user.toml:8:14: rule `all` matches `git status`, which it says it does not",
            "user.toml:15:1: `cd a && git push -f` should be prompt, but the policy says forbid: rule `force` (user.toml:9:1)",
        ]
    );
    assert!(matches!(
        failures[0].problem(),
        ExampleProblem::Stricter { found: Forbid, .. }
    ));
    assert_eq!(failures[0].command(), "git push -f");
}
