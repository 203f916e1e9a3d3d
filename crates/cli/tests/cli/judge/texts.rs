//! What `check` and `explain` say to people.

use insta::assert_snapshot;

use super::with_input;
use crate::looked::redacted;
use crate::support::House;

/// What was said, without what differs from machine to machine.
fn said(house: &House, arguments: &[&str], input: &[u8]) -> String {
    redacted(house, &with_input(house, arguments, input))
}

#[test]
fn check() {
    let house = House::new();
    house.write(
        ".config/palisade/policy.toml",
        "version = 1\n\n[[rule]]\nid = \"fetch\"\nprefix = [\"fetcher\"]\ndecision = \"allow\"\nsandbox.write = [\"~/cache\"]\n",
    );
    std::fs::create_dir(house.home().join("cache")).unwrap();
    let text: Vec<String> = [
        &["check", "--", "ls"][..],
        &["check", "--", "fetcher", "sync"],
        &["check", "--", "git", "push", "--force"],
        &["check", "--", "env", "LD_PRELOAD=x", "ls"],
        &["check", "--approval", "never", "--", "git", "push"],
        &["check", "--read-only", "--quiet", "--", "./frob", "a b"],
        &["check", "--mode", "open", "--", "./frob"],
        &["check", "--net=example.org", "--", "ls"],
        &["check"],
    ]
    .iter()
    .map(|words| {
        format!(
            "$ palisade {}\n{}",
            words.join(" "),
            said(&house, words, b"")
        )
    })
    .collect();
    assert_snapshot!(text.join("\n"));
}

#[test]
fn explain() {
    let house = House::new();
    let plain = said(
        &house,
        &[
            "explain", "--", "nice", "git", "-C", "sub", "push", "origin",
        ],
        b"",
    );
    let script = said(&house, &["explain"], b"cd sub && ls > out; rm -rf $HOME\n");
    assert_snapshot!(format!("{plain}\n{script}"));
}
