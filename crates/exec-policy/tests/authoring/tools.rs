//! Explain, test, lint, diff, matrix, report and suggest, on a project's policy over the built-in rules.

use palisade_exec_policy::approvals::Moment;
use palisade_exec_policy::approvals::{StoredApprovals, offer};
use palisade_exec_policy::authoring::{
    Direction, Lint, LoggedAnswer, LoggedCommand, Severity, Workbench, diff, explain, lint, matrix,
    report, suggest, test,
};
use palisade_exec_policy::language::{Layer, Source, parse};
use palisade_exec_policy::matching::CommandFacts;
use palisade_exec_policy::{RuleDecision, WorkingBackend};
use palisade_policy::{AbsolutePath, SandboxType};
use palisade_shell_analysis::{Limits, Shell, analyze_script};
use proptest::prelude::*;

use crate::support::{alone, place, project, without_built_in_lines};

const PROJECT: &str = include_str!("samples/project.toml");
const EDITED: &str = include_str!("samples/edited.toml");
const CARELESS: &str = include_str!("samples/careless.toml");

#[test]
fn explanations_of_a_project() {
    let policy = project("policy.toml", PROJECT);
    let bench = Workbench::new(&policy);
    let place = place();
    let facts = CommandFacts::new(&place);
    let backend = WorkingBackend::new(SandboxType::LinuxLandlock);
    let text: Vec<String> = [
        "cargo test --workspace",
        "cd crates && RUST_LOG=debug nice -n 5 cargo add serde 2>&1 | tail -5",
        "bash -lc 'cargo publish'",
        "cargo add $(cat name)",
        "frob sync --some",
        "echo hi\u{200b} > notes.txt",
        "rm -rf build",
    ]
    .iter()
    .map(|command| explain(&bench, command, &facts, backend).to_string())
    .collect();
    insta::assert_snapshot!(without_built_in_lines(&text.join("\n")));
}

#[test]
fn a_stored_approval_shows_in_the_explanation() {
    let policy = alone("policy.toml", PROJECT);
    let bench = Workbench::new(&policy);
    let stored = StoredApprovals::parse(
        "version = 1\n[[approval]]\nrule = \"registry\"\nprefix = [\"cargo\", \"add\"]\nproject = \"/srv/app\"\ndate = 2026-03-01T00:00:00Z\n",
    )
    .unwrap();
    let root = AbsolutePath::new("/srv/app").unwrap();
    let now = Moment::parse("2026-03-02T00:00:00Z").unwrap();
    let answers = stored.at(&root, now);
    let place = place();
    let facts = CommandFacts::new(&place).with_approvals(&answers);
    let backend = WorkingBackend::new(SandboxType::LinuxLandlock);
    let explanation = explain(&bench, "cargo add serde", &facts, backend);
    assert!(
        explanation
            .decision
            .contains("a stored approval answers rule `registry`"),
        "{explanation}"
    );
    let explanation = explain(&bench, "cargo update", &facts, backend);
    assert!(explanation.decision.starts_with("asks"), "{explanation}");
}

#[test]
fn an_offer_settles_the_whole_command_or_is_not_made() {
    let text = format!(
        "{PROJECT}[[rule]]\nid = \"drop\"\nprefix = [\"frob\", \"db\", \"drop\"]\ndecision = \"prompt\"\n"
    );
    let policy = alone("policy.toml", &text);
    let bench = Workbench::new(&policy);
    let place = place();
    let facts = CommandFacts::new(&place);
    for (command, expected) in [
        ("cargo add serde", Some("cargo add")),
        ("cargo test && cargo add serde", Some("cargo add")),
        ("cargo add a && cargo add b", Some("cargo add")),
        ("cargo add a && cargo update", None),
        ("frobnicate ./data/in.txt", None),
        ("nice -n 5 cargo add serde", Some("cargo add")),
        ("cargo publish", None),
        ("cargo test", None),
        ("python3 x.py", None),
        ("bash run.sh", None),
        ("cargo add $(cat x)", None),
        ("gh pr view 12", Some("gh pr view")),
        ("gh pr view 12 && gh pr list", None),
        ("frob db drop all", Some("frob db drop")),
    ] {
        let analysis = analyze_script(command, Shell::Bash, &Limits::default());
        let evaluation = bench.ruleset().evaluate(&analysis, &facts);
        let offered = offer(&evaluation, &analysis).map(|amendment| amendment.prefix().join(" "));
        assert_eq!(offered.as_deref(), expected, "{command}");
    }
}

#[test]
fn tests_with_coverage() {
    let policy = project("policy.toml", PROJECT);
    let bench = Workbench::new(&policy);
    let place = place();
    let facts = CommandFacts::new(&place);
    let plain = test(&bench, &[], &facts);
    assert!(!plain.passes(100), "one rule has no example");
    assert!(plain.passes(75));
    let corpus = "version = 1\n[[case]]\nrun = \"frob sync --all\"\nexpect = \"prompt\"\n[[case]]\nrun = \"cargo test\"\nexpect = \"forbid\"\n";
    let corpus = parse(&Source::new(Layer::Session, "corpus.toml", corpus))
        .unwrap()
        .cases;
    let with_corpus = test(&bench, &corpus, &facts);
    assert_eq!(with_corpus.coverage.percent(), 100);
    assert_eq!(
        with_corpus.coverage.rules, 4,
        "built-in rules are not the author's"
    );
    assert_eq!(with_corpus.checked, plain.checked + 2);
    let own: Vec<String> = with_corpus
        .failures
        .iter()
        .filter(|failure| failure.origin().layer != Layer::BuiltIn)
        .map(ToString::to_string)
        .collect();
    assert_eq!(own.len(), 1, "{own:?}");
    assert!(
        own[0].starts_with(
            "corpus.toml:5:1: `cargo test` should be forbid, but the policy says allow"
        ),
        "{own:?}"
    );
    let policy = alone("policy.toml", PROJECT);
    insta::assert_snapshot!(test(&Workbench::new(&policy), &corpus, &facts).to_string());
}

#[test]
fn findings_in_a_careless_policy() {
    let policy = alone("careless.toml", CARELESS);
    let found = lint(&Workbench::new(&policy));
    assert!(found.has(Severity::Error));
    insta::assert_snapshot!(found.to_string());
    let careful = alone("policy.toml", PROJECT);
    let found = lint(&Workbench::new(&careful));
    let kinds: Vec<(Lint, &str)> = found
        .findings
        .iter()
        .map(|finding| (finding.lint, finding.rule.as_str()))
        .collect();
    assert_eq!(
        kinds,
        [(Lint::MissingExamples, "frob"), (Lint::MissingWhy, "frob")]
    );
}

#[test]
fn an_own_option_table_names_unknown_flags() {
    let text = "version = 1\n[options.\"frob sync\"]\nflag = [\"--all\"]\n[[rule]]\nid = \"frob\"\nprefix = [\"frob\", \"sync\"]\nwhen.flags = [\"--all\", \"--al\"]\ndecision = \"prompt\"\nwhy = \"x\"\nmatch = [\"frob sync --all\"]\n";
    let policy = alone("policy.toml", text);
    let found = lint(&Workbench::new(&policy));
    assert_eq!(found.findings.len(), 1);
    assert_eq!(found.findings[0].lint, Lint::UnknownOption);
    assert!(found.findings[0].message.contains("`--al`"));
}

#[test]
fn what_an_edit_changes() {
    let before = project("policy.toml", PROJECT);
    let after = project("policy.toml", EDITED);
    let place = place();
    let facts = CommandFacts::new(&place);
    let (old, new) = (Workbench::new(&before), Workbench::new(&after));
    let changes = diff(&old, &new, &facts);
    assert!(changes.is_loosening());
    insta::assert_snapshot!(without_built_in_lines(&changes.to_string()));
    assert!(diff(&old, &old, &facts).is_empty());
}

#[test]
fn an_edit_that_only_tightens_is_no_loosening() {
    let before = alone(
        "a.toml",
        "version = 1\n[[rule]]\nid = \"a\"\nprefix = [\"x\"]\ndecision = \"allow\"\n",
    );
    let after = alone(
        "b.toml",
        "version = 1\n[filesystem]\ndeny = [\"~/.x\"]\n[[rule]]\nid = \"a\"\nprefix = [\"x\"]\ndecision = \"forbid\"\n",
    );
    let place = place();
    let facts = CommandFacts::new(&place);
    let changes = diff(&Workbench::new(&before), &Workbench::new(&after), &facts);
    assert!(!changes.is_loosening(), "{changes}");
    assert_eq!(changes.moved.len(), 1);
    assert!(diff(&Workbench::new(&after), &Workbench::new(&before), &facts).is_loosening());
}

#[test]
fn a_setting_or_a_check_alone_can_loosen() {
    let place = place();
    let facts = CommandFacts::new(&place);
    let loosens = |before: &str, after: &str| {
        let (before, after) = (alone("a.toml", before), alone("b.toml", after));
        let changes = diff(&Workbench::new(&before), &Workbench::new(&after), &facts);
        assert!(changes.moved.is_empty(), "{changes}");
        changes.is_loosening()
    };
    let network = "version = 1\n[network]\nallow = [\"example.com\"]\n";
    assert!(loosens("version = 1\n", network));
    assert!(!loosens(network, "version = 1\n"));
    // Which operands a check lets through is seen by no witness, so the rule itself is named.
    let checked = |check: &str| {
        format!(
            "version = 1\n[[rule]]\nid = \"x\"\nprefix = [\"x\"]\ndecision = \"allow\"\n{check}"
        )
    };
    assert!(loosens(
        &checked("args = \"paths-in-project\"\n"),
        &checked("args = \"no-secrets\"\n")
    ));
}

#[test]
fn leaving_the_sandbox_is_a_loosening() {
    let rule = |unsandboxed: &str| {
        format!(
            "version = 1\n[[rule]]\nid = \"a\"\nprefix = [\"x\"]\ndecision = \"allow\"\n{unsandboxed}"
        )
    };
    let before = alone("a.toml", &rule(""));
    let after = alone("a.toml", &rule("unsandboxed = true\n"));
    let place = place();
    let changes = diff(
        &Workbench::new(&before),
        &Workbench::new(&after),
        &CommandFacts::new(&place),
    );
    assert!(changes.is_loosening());
    assert_eq!(
        changes.to_string(),
        "looser: `x` now runs without a sandbox, unasked (before: allow)\n  for example: x\n  because of `a` (a.toml:2:1)\n"
    );
}

#[test]
fn a_table_of_verdicts() {
    let policy = alone("policy.toml", PROJECT);
    let place = place();
    let commands = [
        "cargo test",
        "cargo add x",
        "cargo publish",
        "echo `id`",
        "a | b",
        "ls",
    ];
    let table = matrix(
        &Workbench::new(&policy),
        &commands,
        &CommandFacts::new(&place),
    );
    assert_eq!(table.count(RuleDecision::Forbid), 1);
    insta::assert_snapshot!(table.to_string());
}

#[test]
fn pages_in_markdown_and_html() {
    let text = PROJECT.replace(
        "Builds and tests in the sandbox",
        "Builds <b>&\\\"'</b> | tests",
    );
    let policy = alone("policy.toml", &text);
    let place = place();
    let page = report(
        &Workbench::new(&policy),
        &["cargo test", "echo '<script>alert(1)</script>'"],
        &CommandFacts::new(&place),
    );
    insta::assert_snapshot!(page.markdown());
    let html = page.html();
    assert!(
        !html.contains("<script>") && !html.contains("<b>"),
        "{html}"
    );
    assert!(
        html.contains("Builds &lt;b&gt;&amp;&quot;&#39;&lt;/b&gt; | tests"),
        "{html}"
    );
    assert!(
        html.contains("<code>echo &#39;&lt;script&gt;alert(1)&lt;/script&gt;&#39;</code>"),
        "{html}"
    );
    assert!(
        !html.contains("http://") && !html.contains("https://"),
        "it loads nothing"
    );
    for element in ["table", "tr", "td", "th", "code", "h2", "html", "body"] {
        let open = html.matches(&format!("<{element}>")).count()
            + html.matches(&format!("<{element} ")).count();
        assert_eq!(
            open,
            html.matches(&format!("</{element}>")).count(),
            "{element}"
        );
    }
}

fn logged(command: &str, answer: LoggedAnswer, count: usize) -> LoggedCommand {
    LoggedCommand {
        words: command.split(' ').map(str::to_owned).collect(),
        rule: None,
        answer,
        count,
    }
}

#[test]
fn suggestions_from_a_log() {
    use LoggedAnswer::{Approved, Denied, Forbidden, NotAsked};
    let mut log = vec![
        logged("frob sync --all", Approved, 2),
        logged("frob sync now", Approved, 3),
        logged("cargo add serde", Approved, 4),
        logged("terraform plan", Approved, 2),
        logged("git push origin", Approved, 9),
        logged("git push --force", Denied, 1),
        logged("npm publish", Approved, 5),
        logged("helm template x", Approved, 5),
        logged("helm template secrets", Forbidden, 1),
        logged("python3 x.py", Approved, 50),
        logged("bash -lc ls", Approved, 50),
        logged("rm -rf target", Approved, 50),
        logged("ls -la", NotAsked, 50),
    ];
    log.push(LoggedCommand {
        rule: Some("registry".to_owned()),
        ..logged("cargo update", Approved, 9)
    });
    let suggestions = suggest(&log);
    insta::assert_snapshot!(suggestions.to_string());
    let text = format!("version = 1\n{}", suggestions.text());
    let policy = alone("suggested.toml", &text);
    let place = place();
    let tested = test(&Workbench::new(&policy), &[], &CommandFacts::new(&place));
    assert!(tested.passes(100), "{tested}");
    assert_eq!(suggest(&[]).to_string(), "nothing to suggest\n");
}

fn rule() -> impl Strategy<Value = String> {
    let program = prop::sample::select(vec!["a", "b", "git"]);
    let word = prop::sample::select(vec!["x", "y", "push"]);
    (
        program,
        prop::option::of(word),
        prop::sample::select(vec!["allow", "prompt", "forbid"]),
        0..4u8,
    )
        .prop_map(|(program, word, decision, extra)| {
            let extra = match (extra, decision) {
                (1, _) => "when.flags = [\"--force\"]\n",
                (2, "allow") => "flags.forbid = [\"--force\"]\n",
                (3, "allow") => "unsandboxed = true\n",
                (4, "prompt") if program == "git" && word.is_none() => {
                    "except = [[\"git\", \"push\"]]\n"
                }
                (3, "prompt") => "sandbox.network = [\"example.com\"]\n",
                _ => "",
            };
            let word = word.map(|word| format!(", \"{word}\"")).unwrap_or_default();
            format!("prefix = [\"{program}\"{word}]\ndecision = \"{decision}\"\n{extra}")
        })
}

fn policy_text() -> impl Strategy<Value = String> {
    let settings = prop::sample::select(vec![
        "",
        "preset = \"read-only\"\n",
        "preset = \"ci\"\n",
        "[network]\nallow = [\"example.com\"]\n",
        "[filesystem]\nwrite = [\".\", \"/srv/cache\"]\ndeny = [\"~/.x\"]\n",
        "[defaults]\nunmatched = \"prompt\"\n",
        "[limits]\nwall = \"5m\"\n",
    ]);
    (settings, prop::collection::vec(rule(), 0..5)).prop_map(|(settings, rules)| {
        let rules: Vec<String> = rules
            .iter()
            .enumerate()
            .map(|(number, rule)| format!("[[rule]]\nid = \"r{number}\"\n{rule}"))
            .collect();
        format!("version = 1\n{settings}{}", rules.join(""))
    })
}

proptest! {
    #[test]
    fn a_difference_reads_the_same_both_ways(one in policy_text(), other in policy_text()) {
        let (one, other) = (alone("one.toml", &one), alone("other.toml", &other));
        let (one, other) = (Workbench::new(&one), Workbench::new(&other));
        let place = place();
        let facts = CommandFacts::new(&place);
        prop_assert!(diff(&one, &one, &facts).is_empty());
        let (there, back) = (diff(&one, &other, &facts), diff(&other, &one, &facts));
        prop_assert_eq!(there.moved.len(), back.moved.len());
        for moved in &there.moved {
            let reversed = back.moved.iter().any(|back| {
                back.witness == moved.witness && back.from == moved.to && back.to == moved.from && back.direction() == moved.direction().reversed()
            });
            prop_assert!(reversed, "{:?}", moved);
        }
        let count = |changes: &palisade_exec_policy::authoring::PolicyDiff, direction: Direction| {
            changes.settings.iter().filter(|change| change.direction == direction).count()
        };
        prop_assert_eq!(count(&there, Direction::Looser), count(&back, Direction::Stricter));
        prop_assert_eq!(count(&there, Direction::Stricter), count(&back, Direction::Looser));
        prop_assert_eq!(&there.unseen, &back.unseen);
    }

    /// Whatever the policies: a command that one allows and the other does not is one that the difference shows.
    #[test]
    fn no_loosening_is_missed(
        one in policy_text(),
        other in policy_text(),
        words in prop::collection::vec(prop::sample::select(vec!["a", "b", "git", "x", "y", "push", "--force"]), 1..4),
    ) {
        let (one, other) = (alone("one.toml", &one), alone("other.toml", &other));
        let (one, other) = (Workbench::new(&one), Workbench::new(&other));
        let place = place();
        let facts = CommandFacts::new(&place);
        let command = words.join(" ");
        let (old, new) = (one.evaluate(&command, &facts).rule_decision(), other.evaluate(&command, &facts).rule_decision());
        if new < old {
            prop_assert!(diff(&one, &other, &facts).is_loosening(), "{}: {:?} -> {:?}", command, old, new);
        }
    }
}
