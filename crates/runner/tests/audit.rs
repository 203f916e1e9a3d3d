//! The audit file: who can read it, what is kept, and what happens when there is no room.
#![cfg(unix)]
#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test ends where its assumption fails, and says what it skips"
)]

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use palisade_policy::{CanonicalSandboxPolicy, SandboxType};
use palisade_runner::audit::{
    AnswerSource, AuditError, AuditRecord, AuditSink as _, DecisionWord, JsonLines, Rotation,
    Timestamp, read,
};
use palisade_runner::outcome::Outcome;

fn record(id: &str) -> AuditRecord {
    let argv = [
        "curl",
        "-H",
        "Authorization: Bearer abc",
        "https://example.com",
    ]
    .map(OsString::from);
    AuditRecord::new(Timestamp::from_millis(1_709_210_096_789), id, "shell")
        .with_command(&argv, Path::new("/srv/app"))
        .with_decision(DecisionWord::Ask, Some("rule:curl"))
        .with_answer("approved", AnswerSource::User)
        .with_policy(
            SandboxType::LinuxLandlock,
            &CanonicalSandboxPolicy::read_only(),
        )
        .with_outcome(&Outcome::Exited { code: 7 }, 42, Duration::from_millis(15))
}

fn stage() -> tempfile::TempDir {
    tempfile::tempdir_in("/var/tmp").unwrap()
}

fn ids(path: &Path) -> Vec<String> {
    read(path)
        .unwrap()
        .map(|record| record.unwrap().call_id)
        .collect()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn a_record_comes_back_without_its_secrets_and_only_the_user_can_read_it() {
    let stage = stage();
    let sink = JsonLines::in_state_dir(stage.path(), Rotation::default()).unwrap();
    sink.record(&record("one"));
    let path = stage.path().join("audit/audit.jsonl");
    assert_eq!(sink.path(), path);
    assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    let text = fs::read_to_string(&path).unwrap();
    let line = r#"{"v":1,"time":"2024-02-29T12:34:56.789Z","call_id":"one","tool":"shell","argv":["curl","-H","Authorization: [redacted]","https://example.com"],"cwd":"/srv/app","decision":"ask","rule":"rule:curl","answer":"approved","answer_source":"user","sandbox":"landlock","policy":""#;
    assert!(text.starts_with(line), "{text}");
    assert!(
        text.ends_with(
            r#""outcome":"exited","exit_code":7,"bytes_out":42,"duration_ms":15}
"#
        ),
        "{text}"
    );
    let back: Vec<_> = read(&path).unwrap().map(Result::unwrap).collect();
    assert_eq!(back, [record("one")]);
    assert_eq!(sink.lost(), 0);
}

#[test]
fn modes_that_are_too_open_are_closed() {
    let stage = stage();
    let directory = stage.path().join("audit");
    fs::create_dir(&directory).unwrap();
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(directory.join("audit.jsonl"), "").unwrap();
    fs::set_permissions(
        directory.join("audit.jsonl"),
        fs::Permissions::from_mode(0o644),
    )
    .unwrap();
    JsonLines::in_state_dir(stage.path(), Rotation::default()).unwrap();
    assert_eq!(
        (mode(&directory), mode(&directory.join("audit.jsonl"))),
        (0o700, 0o600)
    );
}

#[test]
fn files_that_somebody_else_could_have_prepared_are_refused() {
    let stage = stage();
    let base = fs::canonicalize(stage.path()).unwrap();
    fs::write(base.join("victim"), "").unwrap();
    symlink(base.join("victim"), base.join("link.jsonl")).unwrap();
    symlink(base.join("nowhere"), base.join("dangling.jsonl")).unwrap();
    fs::create_dir(base.join("real")).unwrap();
    symlink(base.join("real"), base.join("linked")).unwrap();
    fs::hard_link(base.join("victim"), base.join("second.jsonl")).unwrap();
    fs::create_dir(base.join("directory.jsonl")).unwrap();
    let fifo = base.join("fifo.jsonl");
    assert!(
        Command::new("mkfifo")
            .arg(&fifo)
            .status()
            .unwrap()
            .success()
    );
    fs::create_dir(base.join("open")).unwrap();
    fs::set_permissions(base.join("open"), fs::Permissions::from_mode(0o777)).unwrap();
    for path in [
        "link.jsonl",
        "dangling.jsonl",
        "linked/a.jsonl",
        "second.jsonl",
        "fifo.jsonl",
        "open/a.jsonl",
    ] {
        let error = JsonLines::open(base.join(path), Rotation::default()).unwrap_err();
        assert!(
            matches!(error, AuditError::Untrusted { .. }),
            "{path}: {error}"
        );
    }
    JsonLines::open(base.join("directory.jsonl"), Rotation::default()).unwrap_err();
    JsonLines::open("relative.jsonl", Rotation::default()).unwrap_err();
    assert_eq!(fs::read_to_string(base.join("victim")).unwrap(), "");
    assert!(!base.join("nowhere").exists() && !base.join("real/a.jsonl").exists());
}

#[test]
fn a_torn_line_costs_nobody_else_a_record() {
    let stage = stage();
    let path = stage.path().join("audit.jsonl");
    let sink = JsonLines::open(&path, Rotation::default()).unwrap();
    sink.record(&record("one"));
    let tear = |text: &str| {
        let mut file = fs::File::options().append(true).open(&path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    };
    tear(r#"{"v":1,"time":"2024-02"#);
    assert_eq!(ids(&path), ["one"]);
    sink.record(&record("two"));
    let all: Vec<_> = read(&path).unwrap().collect();
    assert_eq!(all.len(), 3);
    assert_eq!(all[0].as_ref().unwrap().call_id, "one");
    assert!(
        all[1]
            .as_ref()
            .unwrap_err()
            .to_string()
            .starts_with("line 2 is not a record")
    );
    assert_eq!(all[2].as_ref().unwrap().call_id, "two");

    // A line that lacks only its end is a record; one that is too long is not, and the next can be read.
    let whole = serde_json::to_string(&record("three")).unwrap();
    tear(&whole);
    assert_eq!(read(&path).unwrap().filter_map(Result::ok).count(), 3);
    tear(&format!("\n{}\n{whole}\n", "x".repeat(3 << 20)));
    let all: Vec<_> = read(&path).unwrap().collect();
    assert!(
        all[4]
            .as_ref()
            .unwrap_err()
            .to_string()
            .contains("too long")
    );
    assert_eq!(all[5].as_ref().unwrap().call_id, "three");
    assert_eq!(sink.lost(), 0);
}

#[test]
fn rotation_keeps_the_newest() {
    let stage = stage();
    let path = stage.path().join("audit.jsonl");
    let length = serde_json::to_string(&record("00")).unwrap().len() as u64 + 1;
    let sink = JsonLines::open(&path, Rotation::new(length * 2, 2)).unwrap();
    for id in ["01", "02", "03", "04", "05", "06", "07"] {
        sink.record(&record(id));
    }
    let numbered = |number: u32| PathBuf::from(format!("{}.{number}", path.display()));
    assert_eq!(ids(&path), ["07"]);
    assert_eq!(ids(&numbered(1)), ["05", "06"]);
    assert_eq!(ids(&numbered(2)), ["03", "04"]);
    assert!(!numbered(3).exists());
    assert_eq!(mode(&numbered(1)), 0o600);
}

/// Not a test: what the processes of the test below do.
#[test]
fn role_writer() {
    let Some(path) = std::env::var_os("PALISADE_AUDIT_WRITER") else {
        return;
    };
    let name = std::env::var("PALISADE_AUDIT_NAME").unwrap();
    let sink = JsonLines::open(PathBuf::from(path), Rotation::new(8 * 1024, 1000)).unwrap();
    for number in 0..50 {
        sink.record(&record(&format!("{name}-{number}")));
    }
    assert_eq!(sink.lost(), 0);
}

#[test]
fn several_processes_at_once_lose_nothing() {
    let stage = stage();
    let path = stage.path().join("audit.jsonl");
    let children: Vec<_> = (0..6)
        .map(|name| {
            Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "role_writer"])
                .env("PALISADE_AUDIT_WRITER", &path)
                .env("PALISADE_AUDIT_NAME", name.to_string())
                .stdout(std::process::Stdio::null())
                .spawn()
                .unwrap()
        })
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let mut seen = BTreeSet::new();
    let mut files = 0;
    for entry in fs::read_dir(stage.path()).unwrap() {
        let entry = entry.unwrap().path();
        if entry.extension().is_some_and(|ending| ending == "lock") {
            continue;
        }
        files += 1;
        for id in ids(&entry) {
            assert!(seen.insert(id));
        }
    }
    assert_eq!(seen.len(), 300);
    assert!(files > 5, "{files}");
}

/// Not a test: a process that may not write long files.
#[test]
fn role_without_room() {
    let Some(path) = std::env::var_os("PALISADE_AUDIT_FULL") else {
        return;
    };
    fill(&PathBuf::from(path), 300);
}

/// Writes until there is no room, and then some more.
fn fill(path: &Path, records: u64) {
    let sink = JsonLines::open(path, Rotation::new(0, 1)).unwrap();
    let kept = (0..records)
        .filter(|number| {
            let lost = sink.lost();
            sink.record(&record(&number.to_string()));
            sink.lost() == lost
        })
        .count() as u64;
    assert!(
        kept > 0 && sink.lost() > 0 && kept + sink.lost() == records,
        "{kept} {}",
        sink.lost()
    );
    let error = sink.try_record(&record("more")).unwrap_err();
    assert!(matches!(error, AuditError::NoSpace { .. }), "{error}");
    let whole = read(path).unwrap().filter(Result::is_ok).count() as u64;
    assert_eq!(whole, kept);
}

#[test]
fn a_limit_on_the_size_of_files_is_no_space() {
    let stage = stage();
    let path = stage.path().join("audit.jsonl");
    // 64 blocks of 512 or 1024 bytes; without a handler the signal would end the process.
    let status = Command::new("bash")
        .args([
            "-c",
            "ulimit -f 64 && trap '' XFSZ && exec \"$0\" --exact role_without_room",
        ])
        .arg(std::env::current_exe().unwrap())
        .env("PALISADE_AUDIT_FULL", &path)
        .stdout(std::process::Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
    assert!(fs::metadata(&path).unwrap().size() > 10_000);
}

#[test]
fn a_full_file_system_is_no_space_and_recovers() {
    let stage = stage();
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=32k,mode=700", "palisade-test"])
        .arg(stage.path())
        .stderr(std::process::Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    if !mounted {
        eprintln!("skipped: a file system cannot be mounted here");
        return;
    }
    let path = stage.path().join("audit.jsonl");
    let result = std::panic::catch_unwind(|| {
        fs::write(path.with_file_name("ballast"), [0; 8 * 1024]).unwrap();
        fill(&path, 200);
        fs::remove_file(path.with_file_name("ballast")).unwrap();
        let sink = JsonLines::open(&path, Rotation::default()).unwrap();
        sink.record(&record("after"));
        assert_eq!(sink.lost(), 0);
        let last = read(&path).unwrap().filter_map(Result::ok).last().unwrap();
        assert_eq!(last.call_id, "after");
    });
    let unmounted = Command::new("umount").arg(stage.path()).status().unwrap();
    assert!(unmounted.success());
    result.unwrap();
}

/// Counts what is said.
#[derive(Clone, Default)]
struct Ear(std::sync::Arc<std::sync::atomic::AtomicU64>);

impl tracing::Subscriber for Ear {
    fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::Id {
        tracing::Id::from_u64(1)
    }
    fn record(&self, _: &tracing::Id, _: &tracing::span::Record<'_>) {}
    fn record_follows_from(&self, _: &tracing::Id, _: &tracing::Id) {}
    fn event(&self, _: &tracing::Event<'_>) {
        self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    }
    fn enter(&self, _: &tracing::Id) {}
    fn exit(&self, _: &tracing::Id) {}
}

#[test]
fn a_sink_that_lost_its_directory_counts_and_goes_on() {
    let stage = stage();
    let path = stage.path().join("a/audit.jsonl");
    let sink = JsonLines::open(&path, Rotation::default()).unwrap();
    fs::remove_dir_all(stage.path().join("a")).unwrap();
    fs::write(stage.path().join("a"), "in the way").unwrap();
    let ear = Ear::default();
    tracing::subscriber::with_default(ear.clone(), || {
        sink.record(&record("one"));
        sink.record(&record("two"));
    });
    assert_eq!(sink.lost(), 2);
    // Said once.
    assert_eq!(ear.0.load(std::sync::atomic::Ordering::Relaxed), 1);
    fs::remove_file(stage.path().join("a")).unwrap();
    sink.record(&record("three"));
    assert_eq!(sink.lost(), 2);
    assert_eq!(ids(&path), ["three"]);
}
