//! The benchmarks run, whatever they find: every row of the table of launches is there, and nothing is left behind.
//!
//! No speed is judged: that is for people, on a machine that does nothing else.
#![cfg(target_os = "linux")]
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test says what it skipped, and ends where its assumption fails"
)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use palisade_conformance::bench::{Outcome, Report, Whose};

/// What the programs are called that must lie beside each other.
const BESIDE: [&str; 2] = ["palisade", "palisade-linux-sandbox"];

fn program() -> PathBuf {
    env!("CARGO_BIN_EXE_palisade-conformance").into()
}

/// Whether the programs of other packages were built as well, which `cargo test --workspace` does.
fn all_built() -> bool {
    let missing = BESIDE
        .iter()
        .find(|name| !program().with_file_name(name).is_file());
    if let Some(name) = missing {
        println!("skipped: {name} was not built");
    }
    missing.is_none()
}

fn bench(arguments: &[&str]) -> Output {
    let peers = tempfile::tempdir().unwrap();
    Command::new(program())
        .args(["bench", "--peers"])
        .arg(peers.path())
        .args(arguments)
        .output()
        .unwrap()
}

/// Throw-away directories of benchmarks.
fn left_behind() -> Vec<PathBuf> {
    let entries = std::fs::read_dir("/var/tmp").unwrap().flatten();
    let paths = entries.map(|entry| entry.path());
    let is_ours = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("palisade-bench-")
    };
    paths.filter(is_ours).collect()
}

#[test]
fn every_launch_is_measured() {
    if !all_built() {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("report.json");
    let before = left_behind();
    let output = bench(&[
        "--rounds",
        "2",
        "--only",
        "launch",
        "--json",
        file.to_str().unwrap(),
    ]);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{output:?}");

    let report: Report = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    let [table] = report.tables.as_slice() else {
        panic!("{said}");
    };
    for case in ["a static no-op", "/bin/true"] {
        let rows: Vec<_> = table.rows.iter().filter(|row| row.case == case).collect();
        assert_eq!(rows.len(), 11, "{said}");
        for row in rows {
            let measured = matches!(&row.outcome, Outcome::Measured(figures) if figures.runs == 2);
            assert!(measured && row.ratio.is_some(), "{row:?}");
            assert!(said.contains(&row.subject), "{said}");
        }
    }
    let peers = table.rows.iter().filter(|row| row.whose == Whose::Peer);
    assert_eq!(peers.count(), 0, "nobody asked for them");
    let goals = table.rows.iter().filter(|row| !row.goals.is_empty());
    assert_eq!(goals.count(), 5, "{said}");
    // Another run may have ended meanwhile.
    let after = left_behind();
    assert!(after.iter().all(|path| before.contains(path)), "{after:?}");
}

#[test]
fn pages_are_written_from_what_was_measured() {
    let scratch = tempfile::tempdir().unwrap();
    let (file, into) = (scratch.path().join("report.json"), scratch.path());
    std::fs::write(&file, include_str!("report.json")).unwrap();
    let line = "cargo xtask bench --peers --write";
    let output = write(&file, into, line);
    assert!(output.status.success(), "{output:?}");

    let read = |name: &str| std::fs::read_to_string(into.join(name)).unwrap();
    let page = read("measured.md");
    assert!(
        page.contains(line) && page.contains("kernel 6.18"),
        "{page}"
    );
    assert!(page.contains("at most 1.3: **not met**"), "{page}");
    assert!(page.contains("absent: not installed"), "{page}");
    let plot = read("launch.svg");
    // Who was measured has a bar, who was not has none.
    assert!(plot.contains(">bare posix_spawn<") && plot.contains(">someone &amp; else<"));
    assert!(
        !plot.contains("nobody") && !plot.contains("static no-op"),
        "{plot}"
    );
    let json: serde_json::Value = serde_json::from_str(&read("measured.json")).unwrap();
    assert_eq!(json["command"], line);
}

fn write(file: &Path, into: &Path, line: &str) -> Output {
    Command::new(program())
        .args(["bench", "--command", line, "--into"])
        .arg(into)
        .arg("--from")
        .arg(file)
        .output()
        .unwrap()
}

#[test]
fn tables_are_named_and_others_refused() {
    let listed = bench(&["--list"]);
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    for name in [
        "launch",
        "parents",
        "paths",
        "crowd",
        "calls",
        "work",
        "decisions",
    ] {
        assert!(
            listed.lines().any(|line| line.starts_with(name)),
            "{listed}"
        );
    }
    let refused = bench(&["--only", "speed"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        !refused.status.success() && said.contains("no table `speed`"),
        "{said}"
    );
}
