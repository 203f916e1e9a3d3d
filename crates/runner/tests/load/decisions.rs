//! What can go wrong between the decision and the start.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use palisade_exec_policy::{AskForApproval, ReviewDecision};
use palisade_runner::approve::{Prompt, prompt_queue};
use palisade_runner::outcome::Outcome;
use palisade_runner::session::{Command, Error, Policy, SessionOptions};

use crate::support::{GROUNDS, Stage, both, runtime};

/// Asks about everything that no rule knows.
fn asking(policy: Policy) -> Policy {
    policy.approval(AskForApproval::UnlessTrusted)
}

fn script(path: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::write(path, format!("#!/bin/sh\n{text}\n")).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

type Swap = fn(&Path);

/// Another file under the same name.
fn replace(program: &Path) {
    let other = program.with_extension("other");
    script(&other, "echo swapped > ran; echo swapped");
    std::fs::rename(&other, program).unwrap();
}

/// The same file with another content.
fn rewrite(program: &Path) {
    // The clock of a file system is coarse; a person is slower.
    let changed = |path: &Path| std::fs::metadata(path).unwrap();
    use std::os::unix::fs::MetadataExt as _;
    let before = changed(program);
    loop {
        script(program, "echo swapped > ran; echo swapped");
        let now = changed(program);
        if (now.ctime(), now.ctime_nsec()) != (before.ctime(), before.ctime_nsec()) {
            return;
        }
    }
}

/// Another file behind the same link.
fn relink(program: &Path) {
    let other = program.with_extension("target");
    script(&other, "echo swapped > ran; echo swapped");
    std::fs::remove_file(program).unwrap();
    std::os::unix::fs::symlink(&other, program).unwrap();
}

/// A person sees a command and says yes; meanwhile its file is swapped. The yes was for the other file.
#[test]
fn what_is_swapped_while_a_person_is_asked_does_not_run() {
    for swap in [replace as Swap, rewrite, relink] {
        for policy in GROUNDS {
            let stage = Stage::new();
            let program = stage.path("workspace/tool");
            let asked = Arc::new(Mutex::new(0));
            let prompter = {
                let (program, asked) = (program.clone(), Arc::clone(&asked));
                move |_: &Prompt| {
                    *asked.lock().unwrap() += 1;
                    swap(&program);
                    ReviewDecision::Approved
                }
            };
            let policy = asking(policy(&stage));
            let session = stage.session_with(policy, prompter, SessionOptions::default());
            let make = || {
                let _ = std::fs::remove_file(&program);
                script(&program, "echo judged");
                session.command(&program)
            };
            for run in both(make) {
                let Outcome::SetupFailed(failure) = &run.outcome else {
                    panic!("{:?}: {}", run.outcome, run.output.stdout.text());
                };
                assert_eq!(failure.step, "checking that the program is the judged one");
                assert!(failure.message.contains("judged"), "{failure}");
                assert!(!stage.path("workspace/ran").exists());
            }
            let child = runtime().block_on(async {
                match make().spawn().await {
                    Ok(child) => Ok(child.wait().await),
                    Err(error) => Err(error),
                }
            });
            let refused = match &child {
                Ok(run) => matches!(run.outcome, Outcome::SetupFailed(_)),
                Err(error) => matches!(error, Error::Sandbox(_)),
            };
            assert!(refused, "{child:?}");
            assert!(!stage.path("workspace/ran").exists());
            assert_eq!(*asked.lock().unwrap(), 3);
        }
    }
}

/// There was no such program when a person was asked, and there is one when they say yes.
#[test]
fn what_turns_up_while_a_person_is_asked_does_not_run() {
    let stage = Stage::new();
    let program = stage.path("workspace/tool");
    let prompter = {
        let program = program.clone();
        move |_: &Prompt| {
            script(&program, "echo swapped > ran");
            ReviewDecision::Approved
        }
    };
    let policy = asking(stage.confined());
    let session = stage.session_with(policy, prompter, SessionOptions::default());
    let make = || {
        let _ = std::fs::remove_file(&program);
        session.command(&program)
    };
    for run in both(make) {
        assert!(
            matches!(run.outcome, Outcome::SetupFailed(_)),
            "{:?}",
            run.outcome
        );
        assert!(!stage.path("workspace/ran").exists());
    }
}

/// A program that is rewritten between two commands is judged anew, and runs.
#[test]
fn what_changes_between_two_commands_is_judged_anew() {
    let stage = Stage::new();
    let session = stage.session(stage.confined());
    for text in ["one", "two"] {
        let program: PathBuf = stage.program("tool", &format!("echo {text}"));
        for run in both(|| session.command(&program)) {
            assert_eq!(run.output.stdout.text(), format!("{text}\n"));
        }
    }
}

fn denied(command: impl Fn() -> Command) {
    let blocking = command().output_blocking().unwrap_err();
    assert!(matches!(blocking, Error::Refused(_)), "{blocking}");
    let awaited = runtime().block_on(command().output()).unwrap_err();
    assert!(matches!(awaited, Error::Refused(_)), "{awaited}");
}

#[test]
fn a_prompt_channel_that_drops_means_no() {
    let stage = Stage::new();
    let (prompter, questions) = prompt_queue(4);
    let policy = asking(stage.confined());
    let session = stage.session_with(policy, prompter, SessionOptions::default());
    let program = stage.program("tool", ": > ran");
    // The question is taken, and whoever has it goes away without an answer.
    let person = std::thread::spawn(move || {
        let mut questions = questions;
        drop(questions.blocking_recv());
        drop(questions);
    });
    let refused = session.command(&program).output_blocking().unwrap_err();
    assert!(matches!(refused, Error::Refused(_)), "{refused}");
    person.join().unwrap();
    denied(|| session.command(&program));
    assert!(!stage.path("workspace/ran").exists());
    // What nobody has to be asked about still runs.
    assert!(
        session
            .command("true")
            .output_blocking()
            .unwrap()
            .outcome
            .success()
    );
}

/// A prompter of the host that panics while it holds a lock of its own: every later question finds the lock poisoned.
#[test]
fn a_prompter_that_panics_means_no_and_breaks_nothing() {
    let stage = Stage::new();
    let window = Mutex::new(0_u32);
    let prompter = move |_: &Prompt| {
        let mut window = window.lock().unwrap();
        *window += 1;
        panic!("the window is gone");
    };
    let policy = asking(stage.confined());
    let session = stage.session_with(policy, prompter, SessionOptions::default());
    let program = stage.program("tool", ": > ran");
    for _ in 0..3 {
        denied(|| session.command(&program));
    }
    assert!(!stage.path("workspace/ran").exists());
    for run in both(|| session.command("true")) {
        assert!(run.outcome.success());
    }
}
