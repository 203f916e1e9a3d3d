//! Records that cannot be kept: runs go on, and what was lost is counted.

use std::path::Path;
use std::sync::Arc;

use palisade_runner::approve::NoPrompter;
use palisade_runner::audit::{AuditRecord, AuditSink, JsonLines, Rotation};
use palisade_runner::session::SessionOptions;

use crate::alone::alone_through;
use crate::support::{Stage, both};

/// Runs commands until records are lost, and a few more.
fn records_are_lost_and_runs_are_not(stage: &Stage, file: &Path) {
    let sink = Arc::new(JsonLines::open(file, Rotation::default()).unwrap());
    let options = SessionOptions::default().with_audit(Arc::clone(&sink) as Arc<dyn AuditSink>);
    let session = stage.session_with(stage.confined(), NoPrompter, options);
    let mut runs = 0;
    while sink.lost() < 4 {
        for run in both(|| session.script("echo out; exit 3")) {
            assert_eq!(run.outcome.exit_code(), 3);
            assert_eq!(run.output.stdout.text(), "out\n");
            runs += 1;
        }
        assert!(runs < 200, "the disk is not full");
    }
    let text = std::fs::read_to_string(file).unwrap();
    let is_whole = |line: &&str| serde_json::from_str::<AuditRecord>(line).is_ok();
    let whole = text.lines().filter(is_whole).count() as u64;
    assert!(whole > 0, "{text}");
    assert_eq!(whole + sink.lost(), runs);
}

/// The kernel lets no file of this process grow beyond 4 KiB, and says so with an error and not with a signal.
#[test]
fn a_file_that_may_not_grow_loses_records_and_no_runs() {
    alone_through(
        &[
            "bash",
            "-c",
            "trap '' XFSZ; ulimit -f 4; exec \"$0\" \"$@\"",
        ],
        "records::a_file_that_may_not_grow_loses_records_and_no_runs",
        || {
            let stage = Stage::new();
            records_are_lost_and_runs_are_not(&stage, &stage.path("audit.jsonl"));
        },
    );
}

/// A file system of 8 KiB, mounted where nobody else sees it.
#[test]
fn a_full_disk_loses_records_and_no_runs() {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: only root can mount a small file system");
        return;
    }
    alone_through(
        &["unshare", "--mount"],
        "records::a_full_disk_loses_records_and_no_runs",
        || {
            let stage = Stage::new();
            let small = stage.path("small");
            std::fs::create_dir(&small).unwrap();
            let mounted = std::process::Command::new("mount")
                .args(["-t", "tmpfs", "-o", "size=8k,mode=700", "tmpfs"])
                .arg(&small)
                .status();
            assert!(mounted.unwrap().success());
            records_are_lost_and_runs_are_not(&stage, &small.join("audit.jsonl"));
            let unmounted = std::process::Command::new("umount").arg(&small).status();
            assert!(unmounted.unwrap().success());
        },
    );
}
