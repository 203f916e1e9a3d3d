//! Ending one command of a session ends all that is its own and nothing else; the judged program is what runs; and who
//! asks without waiting gets an answer at once.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::time::{Duration, Instant};

use palisade_linux_landlock::{
    Child, Command, DirectLauncher, ExitCause, LaunchError, Session, Stdio, Step, Tier,
};
use rustix::io::Errno;

use crate::failures::step_of;
use crate::processes::wait_until;
use crate::support::{Stage, TIERS, run};
use crate::toolbox::all_installed;

const LONG: Duration = Duration::from_secs(60);

fn spawn(stage: &Stage, session: &Session, script: &str) -> Child {
    let stdio = Stdio::null().unwrap();
    session.spawn(&stage.script(script), &stdio).unwrap()
}

/// The number that a command wrote into a file, once it is there.
#[track_caller]
fn pid_in(stage: &Stage, file: &str) -> i32 {
    let path = stage.workspace.join(file);
    wait_until(LONG, || {
        let text = fs::read_to_string(&path).ok()?;
        text.strip_suffix('\n')?.trim().parse().ok()
    })
    .unwrap()
}

/// Which of these processes of the session are alive, as the session sees it.
fn alive(stage: &Stage, session: &Session, pids: &[i32]) -> Vec<i32> {
    let list: Vec<String> = pids.iter().map(ToString::to_string).collect();
    let script = format!(
        "for pid in {}; do case $(sed 's/.*) //' /proc/$pid/stat 2>/dev/null) in ''|Z*) ;; *) echo $pid;; esac; done",
        list.join(" ")
    );
    let output = stage.run(session, &script);
    output
        .assert_success()
        .text
        .lines()
        .map(|line| line.parse().unwrap())
        .collect()
}

#[track_caller]
fn wait_until_only(stage: &Stage, session: &Session, pids: &[i32], expected: &[i32]) {
    let reached = wait_until(LONG, || {
        (alive(stage, session, pids) == expected).then_some(())
    });
    let left = alive(stage, session, pids);
    assert!(reached.is_some(), "{left:?} instead of {expected:?}");
}

#[test]
fn ending_a_command_ends_what_it_hid_and_spares_the_others() {
    for tier in TIERS {
        let stage = Stage::new();
        let session = stage.session(&stage.workspace_write(), tier);
        // A server that an earlier command left behind, and one of its children.
        let script =
            "setsid sh -c 'echo $$ > server; sleep 1000 & echo $! > worker; wait' >/dev/null 2>&1 &
                      while [ ! -s worker ]; do sleep 0.01; done";
        stage.run(&session, script).assert_success();
        // Another command that runs, with a child that has no environment.
        let mut other = spawn(
            &stage,
            &session,
            "echo $$ > other; env -i sh -c 'echo $$ > other-child; exec sleep 1000'; exit 3",
        );
        // Everything that wants to outlive its command: in the background, as a daemon, as one without a mark, as one
        // that is stopped and deaf.
        let script = "echo $$ > leader; sleep 1000 & echo $! > background
             (setsid sh -c '(echo $$; exec sleep 1000) > /dev/null & echo $! > daemon' &)
             (env -i setsid sh -c 'sleep 1000 & echo $! > unmarked' &)
             (setsid sh -c \"trap '' HUP TERM INT; echo \\$\\$ > deaf; kill -STOP \\$\\$\" &)
             sleep 1000";
        let mut child = spawn(&stage, &session, script);
        let pid = |file| pid_in(&stage, file);
        let spared = [
            pid("server"),
            pid("worker"),
            pid("other"),
            pid("other-child"),
        ];
        let own = [
            pid("leader"),
            pid("background"),
            pid("daemon"),
            pid("unmarked"),
            pid("deaf"),
        ];
        let all: Vec<i32> = spared.into_iter().chain(own).collect();
        assert_eq!(alive(&stage, &session, &all), all, "{tier:?}");
        assert_eq!(other.try_wait().unwrap(), None);
        assert_eq!(child.try_wait().unwrap(), None);

        child.kill_tree().unwrap();
        assert_eq!(child.wait().unwrap().cause, ExitCause::Signal(9));
        wait_until_only(&stage, &session, &all, &spared);

        // It can be said again, also about one that is gone, and harms nobody.
        child.kill_tree().unwrap();
        wait_until_only(&stage, &session, &all, &spared);
        assert_eq!(other.try_wait().unwrap(), None, "{tier:?}");
        other.kill_tree().unwrap();
        assert_eq!(other.wait().unwrap().cause, ExitCause::Signal(9));
        wait_until_only(&stage, &session, &all, &spared[..2]);
        session.end();
    }
}

#[test]
fn what_a_command_left_behind_can_be_ended_after_it() {
    for tier in TIERS {
        let stage = Stage::new();
        let session = stage.session(&stage.workspace_write(), tier);
        let mut child = spawn(
            &stage,
            &session,
            "sleep 1000 & echo $! > left; (env -i setsid sleep 1000 & echo $! > unmarked)",
        );
        assert!(child.wait().unwrap().success());
        let pids = [pid_in(&stage, "left"), pid_in(&stage, "unmarked")];
        assert_eq!(alive(&stage, &session, &pids), pids, "{tier:?}");
        child.kill_tree().unwrap();
        wait_until_only(&stage, &session, &pids, &[]);
    }
}

/// Chains of processes that fork and exit faster than anybody can look, in their group and each in a session of its own,
/// while another command has to be spared, so that not everybody can be killed at once.
#[test]
fn storms_end_and_the_session_answers_meanwhile() {
    if !all_installed(&["python3"]) {
        return;
    }
    for tier in TIERS {
        let stage = Stage::new();
        let session = stage.session(&stage.workspace_write(), tier);
        let mut other = spawn(&stage, &session, "echo $$ > other; exec sleep 1000");
        let other_pid = pid_in(&stage, "other");
        let storm = "
import os, sys, time
kind = sys.argv[1]
if kind == 'empty':
    os.execve(sys.executable, [sys.executable, sys.argv[0], 'sessions'], {})
while True:
    if os.fork():
        os._exit(0)
    if kind == 'sessions':
        os.setsid()
    with open(kind, 'w') as file:
        file.write(str(os.getpid()) + '\\n')
";
        fs::write(stage.workspace.join("storm.py"), storm).unwrap();
        for kind in ["group", "sessions", "empty"] {
            let file = stage
                .workspace
                .join(if kind == "empty" { "sessions" } else { kind });
            let _ = fs::remove_file(&file);
            let mut child = spawn(&stage, &session, &format!("exec python3 storm.py {kind}"));
            wait_until(LONG, || file.exists().then_some(())).unwrap();
            child.kill_tree().unwrap();
            let asked = Instant::now();
            assert_eq!(stage.run(&session, "echo on").text, "on\n");
            assert!(asked.elapsed() < Duration::from_secs(20), "{tier:?} {kind}");
            child.wait().unwrap();
            // Nobody writes any more.
            wait_until(LONG, || {
                let _ = fs::remove_file(&file);
                std::thread::sleep(Duration::from_millis(50));
                (!file.exists()).then_some(())
            })
            .unwrap_or_else(|| panic!("{tier:?} {kind}: the chain goes on"));
        }
        assert_eq!(other.try_wait().unwrap(), None, "{tier:?}");
        assert_eq!(alive(&stage, &session, &[other_pid]), [other_pid]);
    }
}

/// A process whose first thread has ended looks dead and is not.
#[test]
fn a_process_without_its_first_thread_is_ended_too() {
    if !all_installed(&["python3"]) {
        return;
    }
    for tier in TIERS {
        let stage = Stage::new();
        let session = stage.session(&stage.workspace_write(), tier);
        let headless = "
import ctypes, os, threading, time
os.setsid()
def beat():
    while True:
        with open('beat', 'w') as file:
            file.write('on')
        time.sleep(0.005)
threading.Thread(target=beat).start()
ctypes.CDLL(None).pthread_exit(None)
";
        fs::write(stage.workspace.join("headless.py"), headless).unwrap();
        let mut other = spawn(&stage, &session, "exec sleep 1000");
        other.pid().unwrap();
        let mut child = spawn(&stage, &session, "(python3 headless.py &) ; sleep 1000");
        let beat = stage.workspace.join("beat");
        wait_until(LONG, || beat.exists().then_some(())).unwrap();
        child.kill_tree().unwrap();
        child.wait().unwrap();
        let still = wait_until(LONG, || {
            let _ = fs::remove_file(&beat);
            std::thread::sleep(Duration::from_millis(100));
            (!beat.exists()).then_some(())
        });
        assert!(still.is_some(), "{tier:?}: it goes on");
        assert_eq!(other.try_wait().unwrap(), None, "{tier:?}");
    }
}

/// What feeds the input of one command is not ended with another.
#[test]
fn the_input_of_another_command_goes_on() {
    let stage = Stage::new();
    let session = stage.session(&stage.workspace_write(), Tier::Full);
    // A file that the session does not see comes through a pipe, which a process fills.
    let hidden = tempfile::Builder::new()
        .prefix("palisade-input-")
        .tempfile_in("/tmp")
        .unwrap();
    let line = "0123456789abcdef".repeat(64);
    fs::write(hidden.path(), line.repeat(1024)).unwrap();
    let (mut reader, writer) = std::io::pipe().unwrap();
    let stdio = Stdio::new(
        fs::File::open(hidden.path()).unwrap().into(),
        writer.into(),
        fs::File::open("/dev/null").unwrap().into(),
    );
    let script =
        "head -c 1 >/dev/null; echo > waiting; while [ ! -e go ]; do sleep 0.01; done; wc -c";
    let mut reading = session.spawn(&stage.script(script), &stdio).unwrap();
    drop(stdio);
    wait_until(LONG, || {
        stage.workspace.join("waiting").exists().then_some(())
    })
    .unwrap();
    let mut child = spawn(&stage, &session, "sleep 1000 & echo $! > left; wait");
    let left = pid_in(&stage, "left");
    child.kill_tree().unwrap();
    child.wait().unwrap();
    wait_until_only(&stage, &session, &[left], &[]);
    fs::write(stage.workspace.join("go"), "").unwrap();
    assert!(reading.wait().unwrap().success());
    let mut count = String::new();
    std::io::Read::read_to_string(&mut reader, &mut count).unwrap();
    // Buffered input may be gone with `head`; what a killed feeder leaves is no more than a pipe holds.
    let count: usize = count.trim().parse().unwrap();
    assert!(count > 900_000, "{count}");
}

#[test]
fn every_command_has_a_mark_of_its_own() {
    for tier in TIERS {
        let stage = Stage::new();
        let session = stage.session(&stage.workspace_write(), tier);
        let mark = || {
            let env = stage
                .env()
                .iter()
                .map(|(name, value)| (name.clone(), value.clone()))
                .chain([("PALISADE_RUN".into(), "mine".into())])
                .collect();
            let command = stage.script("env | grep ^PALISADE_RUN").with_env(env);
            run(&session, &command).unwrap().text
        };
        let (first, second) = (mark(), mark());
        assert_ne!(first, second);
        for mark in [first, second] {
            let value = mark.trim().strip_prefix("PALISADE_RUN=").unwrap();
            assert_eq!(value.len(), 32, "{mark}");
            assert!(value.bytes().all(|byte| byte.is_ascii_hexdigit()), "{mark}");
        }
    }
}

fn tool(path: &Path, says: &str) -> (u64, u64) {
    fs::write(
        path,
        format!("#!/bin/sh\necho $0 {says} > ran\necho {says}\n"),
    )
    .unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    let is = fs::metadata(path).unwrap();
    (is.dev(), is.ino())
}

#[test]
fn the_judged_program_runs_and_no_other() {
    for tier in TIERS {
        let stage = Stage::new();
        let session = stage.session(&stage.workspace_write(), tier);
        let path = stage.workspace.join("tool");
        let (device, inode) = tool(&path, "judged");
        // The name that the program sees is another matter.
        let command = Command::new(["no-such-program", "argument"], &stage.workspace)
            .with_env(stage.env())
            .with_program(&path, device, inode);
        let output = run(&session, &command).unwrap();
        assert_eq!(output.assert_success().text, "judged\n", "{tier:?}");
        let shell = fs::canonicalize("/bin/sh").unwrap();
        let is = fs::metadata(&shell).unwrap();
        let named = Command::new(["my name", "-c", "echo $0"], &stage.workspace)
            .with_env(stage.env())
            .with_program(&shell, is.dev(), is.ino());
        assert_eq!(run(&session, &named).unwrap().text, "my name\n", "{tier:?}");

        // Another file in its place is not started.
        fs::remove_file(stage.workspace.join("ran")).unwrap();
        let next = stage.workspace.join("next");
        assert_ne!(tool(&next, "swapped"), (device, inode));
        fs::rename(&next, &path).unwrap();
        let error = run(&session, &command).unwrap_err();
        let step = (Step::ProgramChanged, Errno::STALE);
        assert_eq!(step_of(&error), step, "{tier:?}");
        let explanation = error.explain().unwrap().to_string();
        assert!(
            explanation.contains("judge the command again"),
            "{explanation}"
        );
        assert!(!stage.workspace.join("ran").exists(), "{tier:?}");
        fs::remove_file(&path).unwrap();
        let error = run(&session, &command).unwrap_err();
        assert_eq!(step_of(&error), (Step::Exec, Errno::NOENT), "{tier:?}");

        // A path that depends on a directory is no judged one.
        let relative = Command::new(["sh"], &stage.workspace).with_program("tool", device, inode);
        let error = run(&session, &relative).unwrap_err();
        assert_eq!(step_of(&error), (Step::Request, Errno::INVAL), "{tier:?}");
    }
}

#[test]
fn the_judged_program_runs_and_no_other_when_launched_directly() {
    let stage = Stage::new();
    let launcher =
        DirectLauncher::new(&stage.plan(&stage.workspace_write(), Tier::Landlock)).unwrap();
    let path = stage.workspace.join("tool");
    let (device, inode) = tool(&path, "judged");
    let command = Command::new(["name"], &stage.workspace)
        .with_env(stage.env())
        .with_program(&path, device, inode);
    let stdio = Stdio::null().unwrap();
    assert!(
        launcher
            .spawn(&command, &stdio)
            .unwrap()
            .wait()
            .unwrap()
            .success()
    );
    fs::remove_file(stage.workspace.join("ran")).unwrap();
    let next = stage.workspace.join("next");
    tool(&next, "swapped");
    fs::rename(&next, &path).unwrap();
    let error = launcher.spawn(&command, &stdio).unwrap_err();
    assert_eq!(step_of(&error), (Step::ProgramChanged, Errno::STALE));
    assert!(!stage.workspace.join("ran").exists());
}

#[test]
fn who_asks_without_waiting_gets_an_answer_at_once() {
    for tier in TIERS {
        let stage = Stage::new();
        let session = stage.session(&stage.workspace_write(), tier);
        let mut child = spawn(
            &stage,
            &session,
            "while [ ! -e go ]; do sleep 0.01; done; exit 7",
        );
        let pid = wait_until(LONG, || child.try_pid().unwrap()).unwrap();
        assert_eq!(child.pid().unwrap(), pid);
        assert_eq!(child.try_wait().unwrap(), None);
        fs::write(stage.workspace.join("go"), "").unwrap();
        let exit = wait_until(LONG, || child.try_wait().unwrap()).unwrap();
        assert_eq!(exit.cause, ExitCause::Code(7));
        assert_eq!(child.try_wait().unwrap(), Some(exit));
        assert_eq!(child.wait().unwrap(), exit);

        let stdio = Stdio::null().unwrap();
        let missing = Command::new(["/no/such/program"], &stage.workspace);
        let mut child = session.spawn(&missing, &stdio).unwrap();
        let error = wait_until(LONG, || child.try_wait().err()).unwrap();
        assert_eq!(step_of(&error), (Step::Exec, Errno::NOENT), "{tier:?}");
        assert_eq!(
            step_of(&child.try_pid().unwrap_err()),
            (Step::Exec, Errno::NOENT)
        );

        let mut child = spawn(&stage, &session, "sleep 1000");
        child.pid().unwrap();
        session.end();
        let lost = wait_until(LONG, || child.try_wait().err()).unwrap();
        assert!(matches!(lost, LaunchError::SessionLost), "{tier:?}: {lost}");
        assert!(
            matches!(child.kill_tree(), Err(LaunchError::SessionLost)),
            "{tier:?}"
        );
    }
}
