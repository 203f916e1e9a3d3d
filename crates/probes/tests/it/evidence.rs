//! The stage is not to be talked out of what happened, and leaves nothing behind.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use palisade_probes::run::{Ended, Ran, bare, launch};
use palisade_probes::stage::{Setup, Stage};
use palisade_probes::{Mode, Outcome, find};

use crate::controls::program;

fn stage(mode: Mode) -> Stage {
    Stage::prepare(&Setup {
        base: &std::env::temp_dir(),
        program: program(),
        owner: None,
        mode,
    })
    .unwrap()
}

/// What a probe says that did nothing and was refused.
fn said(text: &str) -> io::Result<Ran> {
    Ok(Ran {
        stdout: text.as_bytes().to_vec(),
        ended: Ended::Exited(0),
    })
}

fn judged(mode: Mode, act: impl Fn(&Stage)) -> Outcome {
    let stage = stage(mode);
    let probe = find("fs-open-write").unwrap();
    let mut spawn = |_: &[OsString]| {
        act(&stage);
        said("refused: EACCES append\n")
    };
    launch(probe, &stage, &mut spawn).unwrap().outcome
}

#[test]
fn an_untouched_stage_gives_no_evidence() {
    assert_eq!(judged(Mode::Write, |_| {}), Outcome::Contained);
    assert_eq!(judged(Mode::ReadOnly, |_| {}), Outcome::Contained);
}

#[test]
fn a_lie_does_not_hide_a_change() {
    let acts: [fn(&Stage); 9] = [
        |stage| fs::write(stage.site().outside.join("file"), "changed").unwrap(),
        |stage| fs::write(stage.site().outside.join("new"), "").unwrap(),
        |stage| fs::remove_file(stage.site().home.join(".bashrc")).unwrap(),
        |stage| fs::write(stage.site().workspace.join("alias"), "changed").unwrap(),
        |stage| fs::write(stage.site().workspace.join(".git/hooks/x"), "").unwrap(),
        |stage| fs::create_dir(stage.site().plain.join(".git")).unwrap(),
        |stage| fs::write(stage.site().outside.join("pipe"), "a line").unwrap(),
        |stage| fs::write(&stage.site().terminal, "a line").unwrap(),
        |stage| fs::remove_file(stage.root().join("palisade-probe")).unwrap(),
    ];
    for (number, act) in acts.iter().enumerate() {
        assert_eq!(judged(Mode::Write, act), Outcome::Escaped, "{number}");
    }
}

/// What runs on is waited for before the files are looked at.
#[test]
fn what_is_written_after_the_run_is_seen() {
    let stage = stage(Mode::Write);
    let probe = find("proc-late-write").unwrap();
    let verdict = launch(probe, &stage, &mut |line| bare(&stage, None, line)).unwrap();
    let seen = verdict.evidence.join("; ");
    assert!(seen.contains("workspace/planted is new"), "{verdict:?}");
}

/// A sandbox that takes its time, on a busy machine, and then ends everything that is in it.
#[test]
fn who_only_outlives_the_command_writes_nothing() {
    let stage = stage(Mode::Write);
    let probe = find("proc-late-write").unwrap();
    let verdict = launch(probe, &stage, &mut |line| {
        let ran = bare(&stage, None, line)?;
        let left = left_of(&stage);
        assert_eq!(left.len(), 1);
        std::thread::sleep(Duration::from_millis(500));
        let ended = Command::new("kill").arg("-9").args(&left).status()?;
        assert!(ended.success());
        Ok(ran)
    });
    let verdict = verdict.unwrap();
    assert_eq!(verdict.outcome, Outcome::Contained, "{verdict:?}");
}

/// The processes that a run has left.
fn left_of(stage: &Stage) -> Vec<String> {
    let token = format!("token={}", stage.site().token);
    let processes = fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter(|process| {
            let line = fs::read(process.path().join("cmdline")).unwrap_or_default();
            line.split(|byte| *byte == 0)
                .any(|word| word == token.as_bytes())
        })
        .filter_map(|process| process.file_name().into_string().ok())
        .collect()
}

#[test]
fn work_in_the_workspace_is_evidence_only_when_nothing_is_writable() {
    let act = |stage: &Stage| fs::write(stage.site().workspace.join("notes"), "").unwrap();
    assert_eq!(judged(Mode::Write, act), Outcome::Contained);
    assert_eq!(judged(Mode::ReadOnly, act), Outcome::Escaped);
}

#[test]
fn a_told_secret_is_an_escape() {
    let stage = stage(Mode::Write);
    let key = fs::read_to_string(stage.site().home.join(".ssh/id_ed25519")).unwrap();
    let probe = find("sec-ssh-keys").unwrap();
    let mut spawn = |_: &[OsString]| said(&format!("refused: EACCES {key}"));
    let verdict = launch(probe, &stage, &mut spawn).unwrap();
    assert_eq!(verdict.outcome, Outcome::Escaped);
}

#[test]
fn the_command_line_of_a_probe_does_not_tell_the_secret() {
    let stage = stage(Mode::Write);
    for argument in stage.command_line(find("sec-env").unwrap()) {
        assert!(!stage.tells_secret(&argument.to_string_lossy()));
    }
}

#[test]
fn nothing_is_left_of_a_stage() {
    let probe = find("proc-setsid-survive").unwrap();
    let paths: Vec<PathBuf>;
    let victim;
    {
        let stage = stage(Mode::Write);
        launch(probe, &stage, &mut |line| bare(&stage, None, line)).unwrap();
        paths = vec![stage.root().to_owned(), stage.site().run.clone()];
        victim = stage.site().victim;
    }
    for path in paths {
        assert!(!path.exists(), "{}", path.display());
    }
    assert!(!PathBuf::from(format!("/proc/{victim}")).exists());
}
