//! What does not run.

use palisade_exec_policy::{AskForApproval, ReviewDecision};
use palisade_policy::{CanonicalSandboxPolicy, Guarantee, SandboxType, WorkspaceRoot};
use palisade_runner::approve::Prompt;
use palisade_runner::host::{Host, HostParts};
use palisade_runner::judge::RuleBook;
use palisade_runner::launch::{Driver, Launch, OutputMode, Placed, WindowSize};
use palisade_runner::outcome::{Outcome, SetupFailure};
use palisade_runner::program::Seen;
use palisade_runner::session::{Error, Policy, Sandbox};

use super::acts::ACT;
use super::harness::Test;
use super::stage::{DRIVERS, Stage, environment, own};

pub(crate) const TESTS: &[Test] = &[
    ("a_swapped_program_is_refused", a_swapped_program_is_refused),
    (
        "a_swapped_directory_is_refused",
        a_swapped_directory_is_refused,
    ),
    (
        "a_program_that_came_later_is_refused",
        a_program_that_came_later_is_refused,
    ),
    ("batch_files_are_refused", batch_files_are_refused),
    (
        "what_is_no_program_is_refused",
        what_is_no_program_is_refused,
    ),
    ("a_terminal_is_refused", a_terminal_is_refused),
    (
        "a_policy_that_confines_never_runs_bare",
        a_policy_that_confines_never_runs_bare,
    ),
    ("losses_are_refused_by_name", losses_are_refused_by_name),
    (
        "a_token_that_does_not_restrict_is_not_used",
        a_token_that_does_not_restrict_is_not_used,
    ),
];

fn refused(outcome: &Outcome) -> &SetupFailure {
    match outcome {
        Outcome::SetupFailed(failure) => failure,
        other => panic!("{other:?}"),
    }
}

const JUDGED: &str = "checking that the program is the judged one";

fn a_swapped_program_is_refused() {
    let stage = Stage::new();
    let program = stage.file("tool.exe");
    std::fs::copy(own(), &program).unwrap();
    let command = stage.act_of(&program, "say", &["the judged one"]);
    let seen = Seen::look(&command);
    let launch = || {
        let mut launch = Launch::new(command.clone());
        launch.seen = Some(seen.clone());
        launch
    };
    for driver in DRIVERS {
        let run = stage.run(launch(), driver);
        assert_eq!(run.output.stdout.text(), "the judged one", "{run:?}");
    }
    // The same content under another number.
    let other = stage.file("other.exe");
    std::fs::copy(own(), &other).unwrap();
    std::fs::rename(&program, stage.file("away.exe")).unwrap();
    std::fs::rename(&other, &program).unwrap();
    for driver in DRIVERS {
        let run = stage.run(launch(), driver);
        assert_eq!(refused(&run.outcome).step, JUDGED);
    }
}

fn a_swapped_directory_is_refused() {
    let stage = Stage::new();
    let here = stage.file("here");
    std::fs::create_dir(&here).unwrap();
    let command = stage.act("say", &["there"]).with_cwd(&here);
    let seen = Seen::look(&command);
    std::fs::rename(&here, stage.file("away")).unwrap();
    std::fs::create_dir(&here).unwrap();
    let mut launch = Launch::new(command);
    launch.seen = Some(seen);
    let run = stage.run(launch, Driver::Blocking);
    assert_eq!(refused(&run.outcome).step, JUDGED);
}

fn a_program_that_came_later_is_refused() {
    let stage = Stage::new();
    let program = stage.file("late.exe");
    let command = stage.act_of(&program, "say", &["too late"]);
    let seen = Seen::look(&command);
    assert_eq!(seen.program, None);
    std::fs::copy(own(), &program).unwrap();
    let mut launch = Launch::new(command);
    launch.seen = Some(seen);
    let run = stage.run(launch, Driver::Blocking);
    assert_eq!(refused(&run.outcome).step, JUDGED);
}

fn batch_files_are_refused() {
    let stage = Stage::new();
    for name in ["run.bat", "RUN2.CMD"] {
        let file = stage.file(name);
        let made = stage.file("made");
        std::fs::write(
            &file,
            format!("@echo off\r\necho x> \"{}\"\r\n", made.display()),
        )
        .unwrap();
        let spelled = file.to_str().unwrap().to_owned();
        for program in [
            spelled.clone(),
            format!("{spelled}."),
            format!("{spelled} "),
        ] {
            let command = stage.act_of(program.as_ref(), "say", &["\" & echo x> made"]);
            let run = stage.run(Launch::new(command), Driver::Blocking);
            let failure = refused(&run.outcome);
            assert!(
                failure.message.contains("batch file"),
                "{}",
                failure.message
            );
            assert!(!made.exists(), "{program}");
        }
    }
}

fn what_is_no_program_is_refused() {
    let stage = Stage::new();
    let text = stage.file("text.exe");
    std::fs::write(&text, "no program at all\n").unwrap();
    std::fs::create_dir(stage.file("directory.exe")).unwrap();
    for name in ["text.exe", "directory.exe", "none.exe"] {
        let command = stage.act_of(&stage.file(name), "say", &["?"]);
        let run = stage.run(Launch::new(command), Driver::Blocking);
        let failure = refused(&run.outcome);
        assert_eq!(
            failure.step, "starting the program",
            "{name}: {}",
            failure.message
        );
    }
}

fn a_terminal_is_refused() {
    let stage = Stage::new();
    let mut launch = Launch::new(stage.act("say", &["on pipes"]));
    launch.output = OutputMode::Terminal {
        size: WindowSize {
            rows: 24,
            columns: 80,
        },
        caps: Default::default(),
    };
    let run = stage.run(launch, Driver::Blocking);
    assert_eq!(refused(&run.outcome).step, "opening a terminal");
}

fn a_policy_that_confines_never_runs_bare() {
    let stage = Stage::new();
    let root = WorkspaceRoot::new(stage.path()).unwrap();
    let policy = CanonicalSandboxPolicy::workspace_write([root.clone()]);
    let placed = Placed::new(SandboxType::None, policy, root);
    let launch = Launch::new(stage.act("say", &["bare"]));
    let host = host(&stage);
    let run = super::stage::block_on(palisade_runner::launch::run(
        &host,
        &placed,
        launch,
        Driver::Blocking,
    ));
    assert_eq!(refused(&run.outcome).step, "placing the command");
}

fn host(stage: &Stage) -> Host {
    let mut variables = environment();
    for (name, directory) in [("USERPROFILE", "home"), ("LOCALAPPDATA", "local")] {
        let path = stage.file(directory);
        std::fs::create_dir_all(&path).unwrap();
        variables.insert(name.into(), path.into());
    }
    Host::from_parts(HostParts::look().with_environment(variables))
}

fn yes(_: &Prompt) -> ReviewDecision {
    ReviewDecision::Approved
}

/// A workspace, beside everything that decides about commands.
fn workspace(stage: &Stage) -> std::path::PathBuf {
    let path = stage.file("workspace");
    std::fs::create_dir_all(&path).unwrap();
    path
}

fn losses_are_refused_by_name() {
    if cfg!(not(feature = "windows-token")) {
        println!("skipped: built without the Windows sandbox");
        return;
    }
    let stage = Stage::new();
    let policy = Policy::workspace(workspace(&stage));
    let error = Sandbox::on(host(&stage), policy).unwrap_err();
    let Error::Sandbox(failure) = &error else {
        panic!("{error:?}")
    };
    assert_eq!(failure.step, "accepting losses", "{error}");
    assert!(failure.message.contains("--accept-loss network"), "{error}");
}

/// Everything that can be lost was accepted; what cannot be is that a token restricts. On real Windows it does, and the
/// command runs in the sandbox; Wine says that it does, and is not believed.
fn a_token_that_does_not_restrict_is_not_used() {
    if cfg!(not(feature = "windows-token")) {
        println!("skipped: built without the Windows sandbox");
        return;
    }
    let stage = Stage::new();
    let mut policy = Policy::workspace(workspace(&stage)).approval(AskForApproval::OnRequest);
    for guarantee in Guarantee::ALL {
        policy = policy.accept_loss(guarantee);
    }
    match Sandbox::on(host(&stage), policy) {
        Err(error) => {
            let Error::Sandbox(failure) = &error else {
                panic!("{error:?}")
            };
            assert_eq!(failure.step, "the self-check of the sandbox", "{error}");
            assert!(failure.message.contains("nothing was started"), "{error}");
        }
        Ok(sandbox) => {
            let session = sandbox.session(RuleBook::builtin().unwrap(), yes).unwrap();
            let run = session
                .command(own())
                .args([ACT, "say", "inside"])
                .output_blocking();
            let run = run.unwrap();
            assert_eq!(run.sandbox, SandboxType::WindowsRestrictedToken, "{run:?}");
            assert_eq!(run.output.stdout.text(), "inside", "{run:?}");
        }
    }
}
