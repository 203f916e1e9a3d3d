//! What profiles mean: observations that others have published, seen again.

use std::ffi::OsString;

use crate::{run, text, workspace};

/// Whether `cat` reads the file `a/f` under these rules, in which `A` is its directory and `F` the file.
fn reads(rules: &str) -> bool {
    let (_directory, real) = workspace();
    std::fs::create_dir(real.join("a")).unwrap();
    std::fs::write(real.join("a/f"), "content").unwrap();
    let parameter = |name: &str, path: &str| {
        let mut word = OsString::from(format!("-D{name}="));
        word.push(real.join(path));
        word
    };
    let words: Vec<OsString> = vec![
        "/usr/bin/sandbox-exec".into(),
        "-p".into(),
        format!("(version 1)\n(allow default)\n{rules}").into(),
        parameter("A", "a"),
        parameter("F", "a/f"),
        "/bin/cat".into(),
        real.join("a/f").into(),
    ];
    let output = run(&words, &real);
    let refused = text(&output).contains("Operation not permitted");
    assert_eq!(refused, !output.status.success(), "{}", text(&output));
    !refused
}

#[track_caller]
fn check(rules: &str, expected: bool) {
    assert_eq!(reads(rules), expected, "{rules}");
}

#[test]
fn of_two_rules_about_one_operation_the_last_counts() {
    let (allow, deny) = (
        r#"(allow file-read-data (literal (param "F")))"#,
        r#"(deny file-read-data (literal (param "F")))"#,
    );
    check(&format!("{allow}\n{deny}"), false);
    check(&format!("{deny}\n{allow}"), true);
}

#[test]
fn a_deeper_allow_after_a_shallower_deny_counts() {
    check(
        "(deny file-read-data (subpath (param \"A\")))\n(allow file-read-data (literal (param \"F\")))",
        true,
    );
}

#[test]
fn an_allow_without_a_filter_does_not_lift_a_deny_with_one() {
    check(
        "(deny file-read-data (literal (param \"F\")))\n(allow file-read-data)",
        false,
    );
}

#[test]
fn a_rule_about_the_narrower_operation_beats_a_later_one_about_the_wider() {
    check(
        "(allow file-read-data (literal (param \"F\")))\n(deny file-read* (literal (param \"F\")))",
        true,
    );
    check(
        "(deny file-read-data (subpath (param \"A\")))\n(allow file-read* (literal (param \"F\")))",
        false,
    );
}

#[test]
fn a_name_with_a_link_in_it_is_a_rule_about_nothing() {
    // `/tmp` is a link to `/private/tmp`.
    let directory = tempfile::tempdir_in("/tmp").unwrap();
    let spelled = directory.path().join("f");
    std::fs::write(&spelled, "content").unwrap();
    let mut parameter = OsString::from("-DF=");
    parameter.push(&spelled);
    let words: Vec<OsString> = vec![
        "/usr/bin/sandbox-exec".into(),
        "-p".into(),
        "(version 1)\n(allow default)\n(deny file-read-data (literal (param \"F\")))".into(),
        parameter,
        "/bin/cat".into(),
        spelled.into(),
    ];
    let output = run(&words, directory.path());
    assert!(output.status.success(), "{}", text(&output));
}
