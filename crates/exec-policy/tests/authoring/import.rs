//! Importers: realistic files as snapshots, laws, and input that nobody meant well.

use palisade_exec_policy::RuleDecision;
use palisade_exec_policy::import::{
    Import, ImportError, MAX_IMPORT_BYTES, claude_settings, codex_rules, srt_settings,
};
use palisade_exec_policy::language::{Layer, PolicyFile, Source, parse};
use palisade_exec_policy::matching::{CommandFacts, PlaceFacts, Ruleset, RulesetInput};
use palisade_policy::{AbsolutePath, HostFacts, Os};
use palisade_shell_analysis::{Limits, Shell, analyze_script};
use proptest::prelude::*;

fn shown(import: &Import) -> String {
    format!("{}\n---\n{}", import.text, import.report)
}

pub(crate) fn policy(import: &Import) -> PolicyFile {
    parse(&Source::new(Layer::User, "imported", &import.text))
        .unwrap_or_else(|errors| panic!("{errors}"))
}

/// What the imported rules alone say.
pub(crate) fn says(import: &Import, command: &str) -> RuleDecision {
    let file = policy(import);
    let ruleset = Ruleset::compile(&RulesetInput::new(&file.rules).with_defaults(&file.defaults));
    let project = AbsolutePath::new("/srv/app").unwrap();
    let place = PlaceFacts::new(&project, &HostFacts::new(Os::Linux));
    let analysis = analyze_script(command, Shell::Bash, &Limits::default());
    ruleset
        .evaluate(&analysis, &CommandFacts::new(&place))
        .rule_decision()
}

#[test]
fn a_rules_file_of_a_team() {
    insta::assert_snapshot!(shown(
        &codex_rules(include_bytes!("samples/team.rules")).unwrap()
    ));
}

#[test]
fn computed_rules_are_listed_and_put_allows_in_doubt() {
    insta::assert_snapshot!(shown(
        &codex_rules(include_bytes!("samples/computed.rules")).unwrap()
    ));
}

#[test]
fn claude_code_settings() {
    insta::assert_snapshot!(shown(
        &claude_settings(include_bytes!("samples/claude-settings.json")).unwrap()
    ));
}

#[test]
fn denials_without_a_program_put_allows_in_doubt() {
    insta::assert_snapshot!(shown(
        &claude_settings(include_bytes!("samples/claude-headless.json")).unwrap()
    ));
}

#[test]
fn srt_settings_file() {
    insta::assert_snapshot!(shown(
        &srt_settings(include_bytes!("samples/srt-settings.json")).unwrap()
    ));
}

#[test]
fn what_was_denied_is_not_allowed() {
    let codex = codex_rules(include_bytes!("samples/team.rules")).unwrap();
    let claude = claude_settings(include_bytes!("samples/claude-settings.json")).unwrap();
    for (import, command) in [
        (&codex, "git push --force origin main"),
        (&codex, "git push -f"),
        (&codex, "git push origin --force"),
        (&codex, "rm -rf x"),
        (&codex, "kubectl delete pod x"),
        (&claude, "git push --force"),
        (&claude, "git push origin --force"),
        (&claude, "curl https://example.com"),
        (&claude, "rm -rf x"),
        (&claude, "docker run x --privileged y"),
        (&claude, "npm publish"),
        (&claude, "npm pub"),
        (&claude, "bash -c 'curl https://example.com'"),
    ] {
        assert_ne!(says(import, command), RuleDecision::Allow, "{command}");
    }
    for (import, command) in [
        (&claude, "git push --force"),
        (&claude, "curl https://example.com"),
        (&claude, "rm -rf x"),
        (&codex, "git push -f"),
    ] {
        assert_eq!(says(import, command), RuleDecision::Forbid, "{command}");
    }
    for (import, command) in [
        (&codex, "docker run x"),
        (&claude, "git push origin main"),
        (&claude, "git checkout main"),
        (&claude, "make"),
    ] {
        assert_eq!(says(import, command), RuleDecision::Prompt, "{command}");
    }
    for command in [
        "npm run test",
        "npm run test --watch",
        "git status",
        "git diff HEAD",
        "cargo test -p x",
        "npm run lint",
    ] {
        assert_eq!(says(&claude, command), RuleDecision::Allow, "{command}");
    }
    assert_eq!(
        says(&claude, "npm run lint --fix"),
        RuleDecision::Prompt,
        "only the exact words were allowed"
    );
}

#[test]
fn words_that_begin_like_a_denied_one_are_not_let_through() {
    let import = claude_settings(
        br#"{"permissions": {"allow": ["Bash(npm publish:*)", "Bash(npm ci:*)"], "deny": ["Bash(npm pub*)"]}}"#,
    )
    .unwrap();
    assert_eq!(
        says(&import, "npm publish"),
        RuleDecision::Prompt,
        "{}",
        import.text
    );
    assert_eq!(
        says(&import, "npm ci"),
        RuleDecision::Allow,
        "{}",
        import.text
    );
}

#[test]
fn arguments_that_could_say_anything_put_allows_in_doubt() {
    for text in [
        "prefix_rule([\"ls\"])\nprefix_rule(**values)\n",
        "prefix_rule([\"ls\"])\nprefix_rule(*values)\n",
        "prefix_rule([\"ls\"])\nprefix_rule([\"ls\"], **values)\n",
        "prefix_rule([\"ls\"])\nprefix_rule([\"ls\"], decision = strict)\n",
        "prefix_rule([\"ls\"])\nprefix_rule([\"ls\"], decision = \"never\")\n",
    ] {
        let import = codex_rules(text.as_bytes()).unwrap();
        assert_eq!(
            says(&import, "ls"),
            RuleDecision::Prompt,
            "{text}{}",
            import.text
        );
    }
}

#[test]
fn nothing_is_writable_where_the_project_was_not() {
    for (settings, expected) in [
        (r#"{"filesystem": {"allowWrite": ["/tmp"]}}"#, "write = []"),
        (r#"{"filesystem": {}}"#, "write = []"),
        (r#"{}"#, "write = []"),
        (
            r#"{"filesystem": {"allowWrite": ["/tmp", "."]}}"#,
            r#"write = [".", "/tmp"]"#,
        ),
        (
            r#"{"filesystem": {"allowWrite": [".", "/data"], "denyWrite": ["/data"]}}"#,
            r#"write = ["."]"#,
        ),
    ] {
        let import = srt_settings(settings.as_bytes()).unwrap();
        assert!(
            import.text.contains(expected),
            "{settings}\n{}",
            import.text
        );
        assert!(
            import.text.contains("[network]\nallow = []"),
            "{}",
            import.text
        );
    }
}

#[test]
fn denying_everything_allows_nothing() {
    for deny in ["Bash", "Bash(*)", "Bash(:*)", "*"] {
        let text =
            format!("{{\"permissions\": {{\"allow\": [\"Bash(ls:*)\"], \"deny\": [\"{deny}\"]}}}}");
        let import = claude_settings(text.as_bytes()).unwrap();
        assert_eq!(
            says(&import, "ls"),
            RuleDecision::Forbid,
            "{deny}: {}",
            import.text
        );
        let text = text.replace("deny", "ask");
        let import = claude_settings(text.as_bytes()).unwrap();
        assert_eq!(
            says(&import, "ls"),
            RuleDecision::Prompt,
            "{deny}: {}",
            import.text
        );
    }
}

#[test]
fn nothing_leaves_the_sandbox_and_no_allow_is_invented() {
    for import in [
        codex_rules(include_bytes!("samples/team.rules")).unwrap(),
        claude_settings(include_bytes!("samples/claude-settings.json")).unwrap(),
        srt_settings(include_bytes!("samples/srt-settings.json")).unwrap(),
    ] {
        let file = policy(&import);
        assert!(file.rules.iter().all(|rule| !rule.unsandboxed));
        assert!(
            file.rules
                .iter()
                .all(|rule| rule.sandbox == Default::default())
        );
        assert_eq!(file.preset, None);
    }
}

#[test]
fn hostile_files_are_refused_or_listed() {
    let big = vec![b' '; MAX_IMPORT_BYTES + 1];
    for import in [codex_rules, claude_settings, srt_settings] {
        assert_eq!(
            import(&big),
            Err(ImportError::TooLarge {
                limit: MAX_IMPORT_BYTES
            })
        );
        assert_eq!(import(b"\n\xff"), Err(ImportError::NotText { line: 2 }));
    }
    for (text, expected) in [
        ("prefix_rule(", "line 1: a bracket is never closed"),
        ("\n\"abc", "line 2: a string never ends"),
        ("'a\nb'", "line 1: a string ends with its line"),
        (")", "line 1: a bracket is closed that was never opened"),
        (
            "prefix_rule(pattern=[\"a\"],\n pattern=[\"b\"])",
            "line 2: the key `pattern` is there twice",
        ),
        ("f('\\q')", "line 1: an unknown escape in a string"),
        ("f('\\uD800')", "line 1: an unknown escape in a string"),
    ] {
        assert_eq!(
            codex_rules(text.as_bytes()).unwrap_err().to_string(),
            expected,
            "{text}"
        );
    }
    assert!(codex_rules("[".repeat(1000).as_bytes()).is_err());
    for (text, expected) in [
        ("[]", "line 1: the settings are not an object"),
        (
            "{\"permissions\": {\"allow\": [],\n\"allow\": []}}",
            "line 2: the key `allow` is there twice",
        ),
        (
            "{\"permissions\": {\"deny\": \"Bash\"}}",
            "line 1: a list of strings is expected here",
        ),
        ("{", "line 1: a key in double quotes is missing"),
    ] {
        assert_eq!(
            claude_settings(text.as_bytes()).unwrap_err().to_string(),
            expected,
            "{text}"
        );
    }
    let odd =
        claude_settings(br#"{"permissions": {"allow": ["Bash(ls:*)"], "deny": [1, "Bash(x"]}}"#)
            .unwrap();
    assert_eq!(
        says(&odd, "ls"),
        RuleDecision::Prompt,
        "a denial that cannot be read"
    );
    assert!(odd.report.weakens());
}

#[test]
fn everything_is_accounted_for() {
    let import = claude_settings(include_bytes!("samples/claude-settings.json")).unwrap();
    let text = include_str!("samples/claude-settings.json");
    for (number, line) in text.lines().enumerate() {
        let entry = line.trim().trim_end_matches(',');
        if entry.starts_with('"') && entry.ends_with('"') && !entry.contains(": ") {
            let line = number + 1;
            let found = import
                .report
                .carried
                .iter()
                .any(|carried| carried.line == line)
                || import
                    .report
                    .not_carried
                    .iter()
                    .any(|left| left.line == line);
            assert!(found, "line {line} is not in the report: {entry}");
        }
    }
}

fn pattern() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "git", "push", "rm", "-rf", "--force", "npm", "run", "ls", "x", "status", "pushy",
    ]);
    (
        prop::collection::vec(word, 1..4),
        prop::sample::select(vec!["", ":*", " *", "*", " * x"]),
    )
        .prop_map(|(words, tail)| format!("Bash({}{tail})", words.join(" ")))
}

/// Whether a pattern of the settings matches a command, as the tool reads it.
fn denies(pattern: &str, command: &str) -> bool {
    let inner = pattern
        .strip_prefix("Bash(")
        .and_then(|rest| rest.strip_suffix(')'))
        .unwrap();
    if let Some(prefix) = inner.strip_suffix(":*") {
        return command == prefix || command.starts_with(&format!("{prefix} "));
    }
    match inner.split_once('*') {
        None => command == inner,
        Some((head, tail)) => {
            command.len() >= head.len() + tail.len()
                && command.starts_with(head)
                && command.ends_with(tail)
        }
    }
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = codex_rules(&bytes);
        let _ = claude_settings(&bytes);
        let _ = srt_settings(&bytes);
    }

    #[test]
    fn arbitrary_rules_read_back(text in "((prefix_rule|network_rule|f)\\((pattern ?= ?)?[\\[\\]\"'a-z, =+*\\\\#\n-]{0,40}\\)?\n?){0,4}") {
        if let Ok(import) = codex_rules(text.as_bytes()) {
            policy(&import);
        }
    }

    #[test]
    fn arbitrary_permissions_read_back(entries in prop::collection::vec("[A-Za-z]{0,5}\\(?[ -~é\u{202e}]{0,20}\\)?", 0..6), list in "allow|ask|deny") {
        let entries: Vec<String> = entries.iter().map(|entry| serde_json::to_string(entry).unwrap()).collect();
        let text = format!("{{\"permissions\": {{\"{list}\": [{}]}}}}", entries.join(","));
        policy(&claude_settings(text.as_bytes()).unwrap());
    }

    #[test]
    fn arbitrary_paths_and_hosts_read_back(values in prop::collection::vec("[ -~é]{0,12}|[~./*a-z]{0,8}", 0..6)) {
        let values: Vec<String> = values.iter().map(|value| serde_json::to_string(value).unwrap()).collect();
        let values = values.join(",");
        let text = format!(
            "{{\"network\": {{\"allowedDomains\": [{values}], \"deniedDomains\": [{values}]}}, \"filesystem\": {{\"denyRead\": [{values}], \"denyWrite\": [{values}], \"allowWrite\": [\".\", {}]}}}}",
            if values.is_empty() { "\"/tmp\"".to_owned() } else { values.clone() }
        );
        policy(&srt_settings(text.as_bytes()).unwrap());
    }

    /// The law: what the settings deny or ask about, the import never allows.
    #[test]
    fn no_import_allows_what_was_denied(
        allow in prop::collection::vec(pattern(), 1..4),
        deny in prop::collection::vec(pattern(), 1..3),
        list in "deny|ask",
        command in prop::collection::vec(prop::sample::select(vec!["git", "push", "rm", "-rf", "--force", "npm", "run", "ls", "x", "status", "pushy"]), 1..5),
    ) {
        let command = command.join(" ");
        let quoted = |entries: &[String]| -> String {
            entries.iter().map(|entry| format!("\"{entry}\"")).collect::<Vec<_>>().join(",")
        };
        let text = format!("{{\"permissions\": {{\"allow\": [{}], \"{list}\": [{}]}}}}", quoted(&allow), quoted(&deny));
        let import = claude_settings(text.as_bytes()).unwrap();
        if deny.iter().any(|pattern| denies(pattern, &command)) {
            prop_assert_ne!(says(&import, &command), RuleDecision::Allow, "{}\n{}", command, import.text);
        }
        if says(&import, &command) == RuleDecision::Allow {
            // Nothing is allowed that no entry speaks about, but for further words after an exact one.
            let spoken = allow.iter().any(|pattern| {
                let inner = pattern.strip_prefix("Bash(").unwrap().trim_end_matches(')');
                denies(pattern, &command) || command.starts_with(inner.trim_end_matches(['*', ':', ' ']))
            });
            prop_assert!(spoken, "{}\n{}", command, import.text);
        }
    }
}
