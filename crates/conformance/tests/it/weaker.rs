//! A weaker host is one: what it lacks is really refused, and everything else is as before.

use std::process::{Command, Output};

fn on(host: &[&str], line: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_palisade-conformance"))
        .arg("weaker")
        .args(host)
        .arg("--")
        .args(line)
        .output()
        .unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn namespaces_are_refused_and_nothing_else() {
    let host = ["--no-user-namespaces"];
    for kind in ["--user", "--mount", "--pid", "--net"] {
        let refused = on(&host, &["unshare", kind, "--fork", "true"]);
        assert!(
            said(&refused).contains("Operation not permitted"),
            "{kind}: {refused:?}"
        );
    }
    let works = on(&host, &["sh", "-c", "echo a | cat; (exit 3)"]);
    assert_eq!(
        (works.stdout.as_slice(), works.status.code()),
        (b"a\n".as_slice(), Some(3))
    );
    // Without the filter they work, or the refusal above proves nothing.
    let unshare = ["--user", "--fork", "true"];
    let without = Command::new("unshare").args(unshare).output().unwrap();
    if !without.status.success() {
        eprintln!(
            "skipped: this host has no user namespaces: {}",
            said(&without)
        );
    }
}

#[test]
fn an_end_is_handed_on_by_the_supervisor() {
    let host = ["--landlock", "3"];
    assert_eq!(on(&host, &["sh", "-c", "exit 7"]).status.code(), Some(7));
    assert_eq!(
        on(&host, &["sh", "-c", "kill -9 $$"]).status.code(),
        Some(137)
    );
    // A process that outlives the command keeps nobody waiting.
    let left = on(&host, &["sh", "-c", "sleep 3 >/dev/null 2>&1 & exit 0"]);
    assert_eq!(left.status.code(), Some(0));
}

#[test]
fn what_makes_no_sense_runs_nothing() {
    for host in [&["--landlock", "many"][..], &["--no-network"], &[]] {
        let line: &[&str] = if host.is_empty() {
            &[]
        } else {
            &["echo", "ran"]
        };
        let refused = on(host, line);
        assert_eq!(refused.status.code(), Some(125), "{refused:?}");
        assert!(refused.stdout.is_empty(), "{refused:?}");
    }
}
