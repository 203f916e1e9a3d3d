//! What fails is named: the step, the error, the path and a remedy; and nothing has run, and nothing is left.
#![expect(clippy::unreachable, reason = "a test ends where its assumption fails")]

use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use palisade_linux_landlock::plan::Mount;
use palisade_linux_landlock::{Command, Helper, LaunchError, Session, Stdio, Step, Tier};
use palisade_policy::AbsolutePath;
use rustix::io::Errno;

use crate::support::{Stage, TIERS, run, start};

/// The step and the error of a failure.
#[track_caller]
pub(crate) fn step_of(error: &LaunchError) -> (Step, Errno) {
    match error {
        LaunchError::Step { step, source, .. } => {
            let errno = source.raw_os_error().unwrap();
            (*step, Errno::from_raw_os_error(errno))
        }
        other => unreachable!("no step: {other}"),
    }
}

#[track_caller]
fn path_of(error: &LaunchError) -> PathBuf {
    match error {
        LaunchError::Step {
            path: Some(path), ..
        } => path.clone(),
        other => unreachable!("no path: {other:?}"),
    }
}

fn names_in(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Starts a command that cannot be started, and then one that can.
#[track_caller]
fn refused(stage: &Stage, session: &Session, command: &Command) -> (Step, Errno) {
    let stdio = Stdio::null().unwrap();
    let mut child = session.spawn(command, &stdio).unwrap();
    let first = step_of(&child.wait().unwrap_err());
    // Asked again it says the same, and not how the process ended that could not become the command.
    assert_eq!(step_of(&child.wait().unwrap_err()), first);
    assert_eq!(step_of(&child.pid().unwrap_err()), first);
    assert_eq!(stage.run(session, "echo on").text, "on\n");
    first
}

#[test]
fn a_program_that_cannot_be_started_is_an_error_and_not_an_exit_code() {
    for tier in TIERS {
        let stage = Stage::new();
        let session = stage.session(&stage.workspace_write(), tier);
        let command =
            |program: &str| Command::new([program], &stage.workspace).with_env(stage.env());
        // Some of the directories in the path of whoever runs the tests may be closed to this user.
        let known = [("PATH".into(), "/usr/bin:/bin".into())];
        let searched = command("no-such-program").with_env(known.into_iter().collect());
        let failed = refused(&stage, &session, &searched);
        assert_eq!(failed, (Step::Exec, Errno::NOENT), "{tier:?}");
        for missing in ["/no/such/program", "./missing"] {
            let failed = refused(&stage, &session, &command(missing));
            assert_eq!(failed, (Step::Exec, Errno::NOENT), "{tier:?} {missing}");
        }
        fs::write(stage.workspace.join("text"), "not a program").unwrap();
        let failed = refused(&stage, &session, &command("./text"));
        assert_eq!(failed, (Step::Exec, Errno::ACCESS), "{tier:?}");
        let script = stage.workspace.join("broken");
        fs::write(&script, "not a program").unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        let failed = refused(&stage, &session, &command("./broken"));
        assert_eq!(failed, (Step::Exec, Errno::NOEXEC), "{tier:?}");
        let failed = refused(&stage, &session, &command("."));
        assert_eq!(failed.0, Step::Exec, "{tier:?}");
    }
}

#[test]
fn a_request_that_makes_no_sense_is_refused() {
    for tier in TIERS {
        let stage = Stage::new();
        let session = stage.session(&stage.workspace_write(), tier);
        let nothing = Vec::<&str>::new();
        for argv in [vec!["true", "a\0b"], vec![""], nothing] {
            let command = Command::new(argv, &stage.workspace).with_env(stage.env());
            let failed = refused(&stage, &session, &command);
            assert_eq!(failed, (Step::Request, Errno::INVAL), "{tier:?}");
        }
        let command = Command::new(["true"], "/no\0where").with_env(stage.env());
        let failed = refused(&stage, &session, &command);
        assert_eq!(failed, (Step::Request, Errno::INVAL), "{tier:?}");
        for (cwd, errno) in [("/no/where", Errno::NOENT), ("/dev/null", Errno::NOTDIR)] {
            let command = Command::new(["true"], cwd).with_env(stage.env());
            let failed = refused(&stage, &session, &command);
            assert_eq!(failed, (Step::WorkingDirectory, errno), "{tier:?}");
        }
        // Not a terminal, so that it cannot become the command's own.
        let command = stage.script("true").with_terminal();
        let failed = refused(&stage, &session, &command);
        assert_eq!(failed, (Step::Terminal, Errno::NOTTY), "{tier:?}");
    }
}

#[test]
fn a_directory_is_no_descriptor_for_a_command() {
    for tier in TIERS {
        let stage = Stage::new();
        let session = stage.session(&stage.workspace_write(), tier);
        for number in 0..3 {
            let open = |at| {
                File::open(if at == number { "/" } else { "/dev/null" })
                    .unwrap()
                    .into()
            };
            let stdio = Stdio::new(open(0), open(1), open(2));
            let error = session.spawn(&stage.script("true"), &stdio).unwrap_err();
            assert!(
                matches!(error, LaunchError::Descriptor { number: at, .. } if at == number),
                "{error}"
            );
        }
    }
}

#[test]
fn a_helper_that_is_missing_or_none_of_ours_is_found_out() {
    let stage = Stage::new();
    let plan = stage.plan(&stage.workspace_write(), Tier::Full);
    let start = |program: &Path| {
        Session::start(
            &plan,
            &Helper::new(program).with_patience(Duration::from_millis(300)),
        )
    };
    let missing = stage.outside.join("missing");
    let error = start(&missing).unwrap_err();
    assert!(
        matches!(&error, LaunchError::Helper { program, .. } if *program == missing),
        "{error}"
    );
    for other in ["/bin/true", "/bin/cat", "/bin/false"] {
        let error = start(Path::new(other)).unwrap_err();
        assert!(
            matches!(error, LaunchError::SessionLost),
            "{other}: {error}"
        );
    }
    // One that never answers, one that reads everything, one that answers nonsense, and one that hands the channel on.
    let scripts = [
        "exec sleep 1000",
        "exec cat > /dev/null",
        "cat > /dev/null & exec sleep 1000",
        "printf aaaaaaaaaaaaaaaa >&0; exec sleep 1000",
        "printf '\\001\\000\\000\\000z' >&0; exec sleep 1000",
    ];
    for script in scripts {
        let program = stage.outside.join("helper");
        fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let before = Instant::now();
        let error = start(&program).unwrap_err();
        assert!(
            matches!(error, LaunchError::Helper { .. } | LaunchError::SessionLost),
            "{script}: {error}"
        );
        assert!(before.elapsed() < Duration::from_secs(20), "{script}");
    }
}

#[test]
fn a_link_that_appears_after_the_look_is_a_failed_step() {
    let stage = Stage::new();
    let plan = stage.plan(&stage.workspace_write(), Tier::Full);
    let moved = stage.outside.join("moved");
    fs::rename(&stage.workspace, &moved).unwrap();
    symlink(&moved, &stage.workspace).unwrap();
    let error = start(&plan).unwrap_err();
    let (step, errno) = step_of(&error);
    assert_eq!(errno, Errno::LOOP, "{error}");
    // The janitor meets it too, but nobody waits for it by then.
    assert_eq!(step, Step::KeepTree, "{error}");
    assert!(
        error
            .explain()
            .unwrap()
            .to_string()
            .contains("symbolic link")
    );
    assert_eq!(names_in(&moved), [".git"]);

    // The same for a path inside, which only mounts are about.
    fs::remove_file(&stage.workspace).unwrap();
    fs::rename(&moved, &stage.workspace).unwrap();
    let git = stage.workspace.join(".git");
    fs::rename(&git, stage.outside.join("git")).unwrap();
    symlink(stage.outside.join("git"), &git).unwrap();
    let error = start(&plan).unwrap_err();
    let (step, errno) = step_of(&error);
    assert_eq!(errno, Errno::LOOP, "{error}");
    assert!(
        matches!(
            step,
            Step::Protect | Step::Pin | Step::Overlay | Step::KeepTree
        ),
        "{error}"
    );
    assert_eq!(path_of(&error), git);
    assert!(
        error
            .explain()
            .unwrap()
            .to_string()
            .contains("symbolic link")
    );
    assert_eq!(
        names_in(&stage.workspace),
        [".git"],
        "the placeholders are gone"
    );
}

#[test]
fn a_place_that_is_gone_is_a_failed_step() {
    let stage = Stage::new();
    let plan = stage.plan(&stage.workspace_write(), Tier::Full);
    fs::remove_dir_all(&stage.workspace).unwrap();
    let error = start(&plan).unwrap_err();
    assert_eq!(step_of(&error), (Step::KeepTree, Errno::NOENT), "{error}");
    assert!(path_of(&error).starts_with(&stage.workspace));
    assert!(!stage.workspace.exists());
}

#[test]
fn a_failure_in_the_middle_leaves_no_placeholder() {
    let stage = Stage::new();
    let mut plan = stage.plan(&stage.workspace_write(), Tier::Full);
    let nowhere = AbsolutePath::new(stage.outside.join("nowhere")).unwrap();
    for (step, mount) in [
        (
            Step::KeepTree,
            Mount::Keep {
                path: nowhere.clone(),
                writable: true,
            },
        ),
        (
            Step::Pin,
            Mount::Pin {
                path: nowhere.clone(),
            },
        ),
        (
            Step::Protect,
            Mount::Protect {
                path: nowhere.clone(),
            },
        ),
    ] {
        plan.mounts.push(mount);
        let error = start(&plan).unwrap_err();
        assert_eq!(step_of(&error), (step, Errno::NOENT), "{error}");
        assert_eq!(path_of(&error), nowhere.as_path());
        plan.mounts.pop();
    }
    assert_eq!(names_in(&stage.workspace), [".git"]);
    // A placeholder that cannot be made takes those before it along.
    plan.placeholders
        .push(AbsolutePath::new(nowhere.as_path().join("below")).unwrap());
    let error = start(&plan).unwrap_err();
    assert_eq!(step_of(&error), (Step::Janitor, Errno::NOENT), "{error}");
    assert_eq!(names_in(&stage.workspace), [".git"]);
    assert_eq!(names_in(&stage.outside), ["victim"]);
}

#[test]
fn nothing_is_started_where_a_write_outside_succeeds() {
    for tier in TIERS {
        let stage = Stage::new();
        let mut plan = stage.plan(&stage.workspace_write(), tier);
        plan.canaries = vec![AbsolutePath::new(&stage.workspace).unwrap()];
        let session = start(&plan).unwrap();
        let error = run(&session, &stage.script("touch ran")).unwrap_err();
        assert_eq!(
            step_of(&error),
            (Step::Canary, Errno::NOTRECOVERABLE),
            "{tier:?}"
        );
        assert!(
            error
                .explain()
                .unwrap()
                .to_string()
                .contains("nothing was started")
        );
        session.end();
        assert_eq!(names_in(&stage.workspace), [".git"], "{tier:?}");
    }
}

#[test]
fn a_canary_is_also_heard_where_only_the_second_wall_stands() {
    // Without the read-only root the canary of the full tier must not be content with another refusal.
    let stage = Stage::new();
    let mut plan = stage.plan(&stage.workspace_write(), Tier::Full);
    assert!(!plan.canaries.is_empty(), "{plan}");
    plan.mounts.push(Mount::Keep {
        path: AbsolutePath::new(&stage.outside).unwrap(),
        writable: true,
    });
    plan.canaries = vec![AbsolutePath::new(&stage.outside).unwrap()];
    let session = start(&plan).unwrap();
    let error = run(&session, &stage.script("true")).unwrap_err();
    let (step, errno) = step_of(&error);
    assert_eq!(step, Step::Canary);
    assert_ne!(errno, Errno::ROFS);
}

#[test]
fn a_lost_session_says_so_and_does_not_block() {
    for tier in TIERS {
        let stage = Stage::new();
        let session = stage.session(&stage.workspace_write(), tier);
        let stdio = Stdio::null().unwrap();
        let mut child = session.spawn(&stage.script("sleep 1000"), &stdio).unwrap();
        child.pid().unwrap();
        session.end();
        assert!(
            matches!(child.wait(), Err(LaunchError::SessionLost)),
            "{tier:?}"
        );
        assert!(
            matches!(child.signal(9), Err(LaunchError::SessionLost)),
            "{tier:?}"
        );
    }
}

#[test]
fn signals_reach_a_command_however_early_they_are_sent() {
    for tier in TIERS {
        let stage = Stage::new();
        let session = stage.session(&stage.workspace_write(), tier);
        let stdio = Stdio::null().unwrap();
        for _ in 0..50 {
            let mut child = session
                .spawn(&stage.script("exec sleep 1000"), &stdio)
                .unwrap();
            child.signal(15).unwrap();
            let exit = child.wait().unwrap();
            assert_eq!(
                exit.cause,
                palisade_linux_landlock::ExitCause::Signal(15),
                "{tier:?}"
            );
            // It is gone, and so is what the number meant.
            child.signal(9).unwrap();
            assert_eq!(child.wait().unwrap(), exit);
        }
        assert_eq!(stage.run(&session, "echo on").text, "on\n");
    }
}

#[test]
fn stopped_and_forking_trees_end_with_their_session() {
    for tier in TIERS {
        let stage = Stage::new();
        let session = stage.session(&stage.workspace_write(), tier);
        let marker = stage.workspace.join("alive");
        // A chain of processes that fork and exit, stopped ones, ones without descriptors, and a crowd of orphans.
        let script = r#"
            hop() { : > alive; hop & }
            (hop) >/dev/null 2>&1
            (sh -c 'kill -STOP $$' >/dev/null 2>&1 &)
            (setsid sh -c 'exec 0<&- 1>&- 2>&-; kill -STOP 0' >/dev/null 2>&1 &)
            i=0; while [ $i -lt 300 ]; do (sleep 1000 >/dev/null 2>&1 &) ; i=$((i+1)); done
            echo done
        "#;
        assert_eq!(stage.run(&session, script).text, "done\n", "{tier:?}");
        let before = Instant::now();
        session.end();
        assert!(before.elapsed() < Duration::from_secs(20), "{tier:?}");
        // Nobody writes any more.
        fs::remove_file(&marker).unwrap();
        std::thread::sleep(Duration::from_millis(50));
        assert!(!marker.exists(), "{tier:?}: the chain goes on");
    }
}
