//! Random files: what the real `diff` and `git` write about them, applied, gives the new file.

use std::path::Path;
use std::process::Command;

use palisade_runner::patch::{Patch, apply};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::support::Stage;

const LINES: &[&[u8]] = &[
    b"a\n",
    b"b\n",
    b"\n",
    b"c\r\n",
    b"--- x\n",
    b"+++ y\n",
    b"@@ -1 +1 @@\n",
    b"\\ No newline\n",
    b"-- \n",
    b"\xff\xfe\n",
    b"diff --git a/x b/x\n",
];
const LAST: &[&[u8]] = &[b"", b"end", b"\r", b"-"];

/// Few different lines, so that hunks have more than one place, and a last line with or without its end.
fn any_file() -> impl Strategy<Value = Vec<u8>> {
    let line = proptest::sample::select(LINES);
    let last = proptest::sample::select(LAST);
    (proptest::collection::vec(line, 0..24), last).prop_map(|(lines, last)| {
        let mut content = lines.concat();
        content.extend_from_slice(last);
        content
    })
}

/// An edit of a file: some lines kept, some dropped, some added.
fn any_pair() -> impl Strategy<Value = (Vec<u8>, Vec<u8>)> {
    (any_file(), any_file(), any::<u64>()).prop_map(|(old, other, keep)| {
        let mut new = Vec::new();
        let mut others = other.split_inclusive(|byte| *byte == b'\n');
        for (i, line) in old.split_inclusive(|byte| *byte == b'\n').enumerate() {
            match (keep >> (i * 2 % 64)) & 3 {
                0 => {}
                1 => {
                    new.extend_from_slice(
                        others
                            .next()
                            .filter(|line| line.ends_with(b"\n"))
                            .unwrap_or_default(),
                    );
                    new.extend_from_slice(line);
                }
                _ => new.extend_from_slice(line),
            }
        }
        (old, new)
    })
}

fn write_diff(top: &Path, tool: &str, context: usize) -> Vec<u8> {
    let unified = format!("-U{context}");
    let output = match tool {
        "git" => Command::new("git")
            .current_dir(top)
            .args([
                "diff",
                "--no-index",
                "--no-color",
                "--text",
                &unified,
                "old/f",
                "new/f",
            ])
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .output(),
        _ => Command::new("diff")
            .current_dir(top)
            .args(["-a", "-N", &unified, "old/f", "new/f"])
            .output(),
    };
    let output = output.unwrap();
    assert!(
        output.status.code() < Some(2),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    output.stdout
}

fn try_pair(
    stage: &Stage,
    old: &[u8],
    new: &[u8],
    tool: &str,
    context: usize,
    noise: &[u8],
) -> Result<(), TestCaseError> {
    let at = |name: &str| stage.top.join(name);
    std::fs::create_dir_all(at("old")).unwrap();
    std::fs::create_dir_all(at("new")).unwrap();
    std::fs::write(at("old/f"), old).unwrap();
    std::fs::write(at("new/f"), new).unwrap();
    let patch = write_diff(&stage.top, tool, context);
    if old == new {
        prop_assert!(patch.is_empty());
        return Ok(());
    }
    // Both sides name the file in the workspace.
    let text = patch.split_inclusive(|byte| *byte == b'\n').enumerate();
    let mut named = Vec::new();
    let headers = if tool == "git" { 4 } else { 2 };
    for (i, line) in text {
        match line {
            _ if i >= headers => named.extend_from_slice(line),
            [b'-', b'-', b'-', b' ', ..] => named.extend_from_slice(b"--- a/f\n"),
            [b'+', b'+', b'+', b' ', ..] => named.extend_from_slice(b"+++ b/f\n"),
            [b'd', ..] => named.extend_from_slice(b"diff --git a/f b/f\n"),
            _ => named.extend_from_slice(line),
        }
    }
    std::fs::write(stage.workspace.join("f"), old).unwrap();
    let files = stage.files();
    let base = stage.path("");
    let parsed =
        Patch::parse(&named).unwrap_or_else(|error| panic!("{error}:\n{}", named.escape_ascii()));
    let applied = apply(&parsed, &files, &base)
        .unwrap_or_else(|error| panic!("{error}:\n{}", named.escape_ascii()));
    prop_assert!(applied.files[0].hunks.iter().all(|hunk| hunk.offset == 0));
    prop_assert_eq!(std::fs::read(stage.workspace.join("f")).unwrap(), new);

    // Damaged in one place: it applies or it does not, but never half.
    for (i, byte) in noise.iter().enumerate() {
        let mut damaged = named.clone();
        let position = (usize::from(*byte) * 31 + i * 7) % damaged.len();
        match i % 3 {
            0 => damaged[position] = *byte,
            1 => drop(damaged.remove(position)),
            _ => damaged.truncate(position),
        }
        std::fs::write(stage.workspace.join("f"), old).unwrap();
        let before = crate::support::tree(&stage.workspace);
        if let Ok(patch) = Patch::parse(&damaged)
            && apply(&patch, &files, &base).is_err()
        {
            prop_assert_eq!(crate::support::tree(&stage.workspace), before);
        } else {
            // It may have made another file; begin afresh.
            for entry in std::fs::read_dir(&stage.workspace).unwrap() {
                let entry = entry.unwrap();
                let name = entry.file_name();
                prop_assert!(
                    !name
                        .to_str()
                        .is_some_and(|name| name.starts_with(".palisade-"))
                );
                if entry.path().is_file() {
                    std::fs::remove_file(entry.path()).unwrap();
                }
            }
        }
    }
    Ok(())
}

#[test]
fn what_diff_and_git_write_applies() {
    let stage = Stage::new();
    let tools = proptest::sample::select(&["git", "diff"][..]);
    let noise = proptest::collection::vec(any::<u8>(), 0..4);
    let strategy = (any_pair(), tools, 0..4_usize, noise);
    let mut runner = TestRunner::new(Config {
        cases: 150,
        failure_persistence: None,
        ..Config::default()
    });
    runner
        .run(&strategy, |((old, new), tool, context, noise)| {
            try_pair(&stage, &old, &new, tool, context, &noise)
        })
        .unwrap();
}
