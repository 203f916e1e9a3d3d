//! `policy import` and `policy suggest`: what others wrote, and what people did.

use super::{policy, shown};
use crate::support::House;

const CODEX: &str = "\
prefix_rule(pattern = [\"git\", \"push\"], decision = \"forbidden\", justification = \"by people\")
host_executable(name = \"git\", paths = [\"/usr/bin/git\"])
";

#[test]
fn rules_of_codex_become_a_policy_that_holds() {
    let house = House::new();
    house.write("project/default.rules", CODEX);
    let said = policy(&house, &["import", "default.rules"]);
    insta::assert_snapshot!(shown(&house, &said));
    house.write("project/imported.toml", &said.out);
    let test = policy(&house, &["test", "imported.toml"]);
    assert_eq!(test.code, 0, "{test:?}");
}

#[test]
fn settings_of_claude_code_and_of_srt_do_too() {
    let house = House::new();
    let claude = r#"{"permissions": {"allow": ["Bash(cargo test:*)"], "deny": ["Read(./.env)", "mcp__db"]}}"#;
    house.write("project/settings.json", claude);
    let srt = r#"{"filesystem": {"denyRead": ["~/.ssh"], "allowWrite": ["."], "denyWrite": []},
        "network": {"allowedDomains": [], "deniedDomains": ["example.com"]}}"#;
    house.write("project/.srt-settings.json", srt);
    for (kind, file) in [("claude", "settings.json"), ("srt", ".srt-settings.json")] {
        let named = policy(&house, &["import", kind, file]);
        let guessed = policy(&house, &["import", file]);
        assert_eq!((named.code, &named.out), (guessed.code, &guessed.out));
        insta::assert_snapshot!(kind, shown(&house, &named));
    }
}

#[test]
fn an_import_is_written_once() {
    let house = House::new();
    house.write("project/x.rules", CODEX);
    let import = ["import", "codex", "x.rules", "-o", "out.toml"];
    let said = policy(&house, &import);
    assert_eq!((said.code, said.out.as_str()), (0, ""), "{said:?}");
    assert!(house.read("out.toml").contains("forbid"));
    assert_eq!(policy(&house, &import).code, 126);
    let forced = policy(&house, &[&import[..], &["--force"]].concat());
    assert_eq!(forced.code, 0, "{forced:?}");
}

#[test]
fn what_cannot_be_imported_is_refused() {
    let house = House::new();
    house.write("project/x.rules", "prefix_rule(pattern = [\n");
    house.write("project/notes.txt", "");
    let said = [
        policy(&house, &["import", "x.rules"]),
        policy(&house, &["import", "notes.txt"]),
        policy(&house, &["import", "cursor", "notes.txt"]),
        policy(&house, &["import", "codex", "none.rules"]),
    ];
    insta::assert_snapshot!(said.map(|said| shown(&house, &said)).join("\n"));
}

/// A record as `run` keeps it.
fn record(argv: &str, rule: &str, answer: &str, source: &str) -> String {
    format!(
        "{{\"v\":1,\"time\":\"2026-01-01T00:00:00.000Z\",\"call_id\":\"1\",\"tool\":\"shell\",\"argv\":{argv},\
         \"cwd\":\"/srv/app\",\"decision\":\"ask\",\"rule\":\"{rule}\",\"answer\":\"{answer}\",\"answer_source\":\"{source}\"}}\n"
    )
}

#[test]
fn what_people_keep_agreeing_to_is_suggested() {
    let house = House::new();
    let sh = r#"["/bin/sh","-c","timeout 9 npm run story"]"#;
    let approved = |argv, rule| record(argv, rule, "approved", "user").repeat(3);
    let mut records = approved(r#"["npm","run","story"]"#, "unmatched");
    records.push_str(&record(sh, "unmatched", "approved-for-session", "user"));
    // Asked by a rule, answered by configuration, refused once, dangerous: nothing to suggest.
    records.push_str(&approved(r#"["npm","run","asked"]"#, "my-rule"));
    records
        .push_str(&record(r#"["npm","run","kept"]"#, "unmatched", "approved", "config").repeat(9));
    records.push_str(&approved(r#"["npm","run","refused"]"#, "unmatched"));
    records.push_str(&record(
        r#"["npm","run","refused"]"#,
        "unmatched",
        "denied",
        "user",
    ));
    records.push_str(&approved(r#"["npm","run","risky"]"#, "danger"));
    records.push_str("not a record\n");
    house.write(".local/state/palisade/audit/audit.jsonl.1", &records);
    house.write(".local/state/palisade/audit/audit.jsonl", "");
    let said = policy(&house, &["suggest"]);
    insta::assert_snapshot!(shown(&house, &said));
    house.write("project/own.toml", &format!("version = 1\n{}", said.out));
    let test = policy(&house, &["test", "own.toml"]);
    assert_eq!(test.code, 0, "{test:?}");
}

#[test]
fn without_records_nothing_is_suggested() {
    let house = House::new();
    let said = policy(&house, &["suggest"]);
    assert_eq!((said.code, said.out.as_str()), (0, ""), "{said:?}");
    let said = policy(&house, &["suggest", "--audit", "none.jsonl"]);
    assert_eq!(said.code, 2, "{said:?}");
}
