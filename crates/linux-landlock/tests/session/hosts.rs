//! Callers and hosts that are not as one would wish: sessions work there, or say which layer refuses and what helps.
#![expect(
    clippy::unreachable,
    clippy::print_stderr,
    reason = "a test ends where its assumption fails, and says what it skips"
)]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio as ProcessStdio;

use palisade_linux_landlock::{Command, DirectLauncher, LaunchError, Stdio, Step, Tier};
use palisade_policy::Environment;
use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};
use seccompiler::{
    SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
};

use crate::failures::step_of;
use crate::roles::{actor, perform, role, started_by, this_program};
use crate::support::{Stage, TIERS, helper_path, run, start};
use crate::sys;

/// Starts an actor of this file, with a stage of its own.
fn act(part: &str) {
    perform(actor(&this_program(), "hosts::caller", &[part]));
}

#[test]
fn a_caller_without_descriptors_0_to_2() {
    act("closed");
}

#[test]
fn a_caller_whose_directory_is_gone() {
    act("nowhere");
}

#[test]
fn a_caller_that_ignores_signals() {
    act("ignoring");
}

#[test]
fn a_container_that_refuses_namespaces() {
    act("container");
}

#[test]
fn sixteen_layers_of_landlock() {
    act("layers");
}

#[test]
#[ignore = "a part of other tests"]
fn caller() {
    let Some(role) = role() else { return };
    match role.first().map(String::as_str) {
        Some("closed") => closed(),
        Some("nowhere") => nowhere(),
        Some("ignoring") => ignoring(),
        Some("container") => container(),
        Some("layers") => layers(),
        Some("inside") => inside(Path::new(&role[1])),
        Some("masked") => masked(),
        other => unreachable!("no such part: {other:?}"),
    }
}

/// A session of each tier runs a command.
#[track_caller]
fn works(stage: &Stage, tiers: &[Tier]) {
    for tier in tiers {
        let session = stage.session(&stage.workspace_write(), *tier);
        let output = stage.run(&session, "echo fine; echo also >&2; exit 3");
        assert_eq!(output.text, "fine\nalso\n", "{tier:?}");
        assert_eq!(output.exit.cause.to_string(), "exit code 3", "{tier:?}");
    }
}

fn closed() {
    let stage = Stage::new();
    let kept = [
        rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 10).unwrap(),
        rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdout(), 10).unwrap(),
        rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stderr(), 10).unwrap(),
    ];
    sys::close_stdio();
    let outcome = std::panic::catch_unwind(|| {
        works(&stage, &TIERS);
        directly(&stage);
    });
    rustix::stdio::dup2_stdin(&kept[0]).unwrap();
    rustix::stdio::dup2_stdout(&kept[1]).unwrap();
    rustix::stdio::dup2_stderr(&kept[2]).unwrap();
    assert!(outcome.is_ok(), "{outcome:?}");
}

/// A direct launch: one that works, and one whose failure must not get lost.
fn directly(stage: &Stage) {
    let plan = stage.plan(&stage.workspace_write(), Tier::Landlock);
    let launcher = DirectLauncher::new(&plan).unwrap();
    let stdio = Stdio::null().unwrap();
    let mut child = launcher.spawn(&stage.script("exit 4"), &stdio).unwrap();
    assert_eq!(child.wait().unwrap().cause.to_string(), "exit code 4");
    let missing = Command::new(["/no/such/program"], &stage.workspace);
    let error = launcher.spawn(&missing, &stdio).unwrap_err();
    assert_eq!(step_of(&error), (Step::Exec, Errno::NOENT));
}

fn nowhere() {
    let stage = Stage::new();
    let gone = stage.outside.join("gone");
    fs::create_dir(&gone).unwrap();
    std::env::set_current_dir(&gone).unwrap();
    fs::remove_dir(&gone).unwrap();
    assert!(std::env::current_dir().is_err());
    works(&stage, &TIERS);
}

fn ignoring() {
    let stage = Stage::new();
    for signal in [libc::SIGCHLD, libc::SIGINT, libc::SIGXFSZ, libc::SIGHUP] {
        sys::ignore(signal);
    }
    works(&stage, &TIERS);
    for tier in TIERS {
        let session = stage.session(&stage.workspace_write(), tier);
        // A command starts with every signal as the system defines it.
        let output = stage.run(&session, "kill -INT $$; echo survived");
        assert_eq!(output.exit.cause.to_string(), "signal 2", "{tier:?}");
    }
}

/// What the usual profile of a container refuses.
fn container() {
    let stage = Stage::new();
    let plan = stage.plan(&stage.workspace_write(), Tier::Full);
    let new_user = libc::CLONE_NEWUSER.unsigned_abs().into();
    let condition = SeccompCondition::new(
        0,
        SeccompCmpArgLen::Dword,
        SeccompCmpOp::MaskedEq(new_user),
        new_user,
    );
    let with_namespaces = SeccompRule::new(vec![condition.unwrap()]).unwrap();
    let mut rules = BTreeMap::new();
    for refused in [libc::SYS_unshare, libc::SYS_mount, libc::SYS_setns] {
        rules.insert(refused, vec![]);
    }
    rules.insert(libc::SYS_clone, vec![with_namespaces]);
    let filter = SeccompFilter::new(
        rules,
        SeccompAction::Allow,
        SeccompAction::Errno(libc::EPERM.unsigned_abs()),
        std::env::consts::ARCH.try_into().unwrap(),
    );
    let program: seccompiler::BpfProgram = filter.unwrap().try_into().unwrap();
    seccompiler::apply_filter(&program).unwrap();
    refused_by_an_outer_filter(&start(&plan).unwrap_err());
    let names: Vec<_> = fs::read_dir(&stage.workspace).unwrap().collect();
    assert_eq!(names.len(), 1, "{names:?}");
    works(&stage, &[Tier::Landlock]);
}

#[track_caller]
fn refused_by_an_outer_filter(error: &LaunchError) {
    assert_eq!(step_of(error), (Step::Namespaces, Errno::PERM), "{error}");
    let explanation = error.explain().unwrap();
    assert!(
        explanation.layer.contains("outer system-call filter"),
        "{explanation}"
    );
    assert!(explanation.cure.unwrap().contains("landlock tier"));
}

fn layers() {
    let stage = Stage::new();
    let plan = stage.plan(&stage.workspace_write(), Tier::Landlock);
    for layer in 0..15 {
        if let Err(error) = sys::add_landlock_layer() {
            eprintln!("skipped: no Landlock: {error} at layer {layer}");
            return;
        }
    }
    works(&stage, &[Tier::Landlock]);
    sys::add_landlock_layer().unwrap();
    let session = start(&plan).unwrap();
    let error = run(&session, &stage.script("touch ran")).unwrap_err();
    assert_eq!(step_of(&error), (Step::Landlock, Errno::TOOBIG), "{error}");
    assert!(
        error
            .explain()
            .unwrap()
            .layer
            .contains("16 Landlock layers")
    );
    assert!(!stage.workspace.join("ran").exists());
}

/// Copies of the test program and the helper where a session can see them.
fn programs(stage: &Stage) -> (PathBuf, PathBuf) {
    let (program, helper) = (stage.outside.join("session"), stage.outside.join("helper"));
    fs::copy(this_program(), &program).unwrap();
    fs::copy(helper_path(), &helper).unwrap();
    (program, helper)
}

#[test]
fn inside_another_sandbox() {
    let stage = Stage::new();
    let (program, helper) = programs(&stage);
    let session = stage.session(&stage.workspace_write(), Tier::Full);
    // The inner stage lies in the outer workspace, and is made out here: the inner caller only uses it.
    let inner = stage.workspace.join("inner");
    for directory in ["workspace", "home", "outside"] {
        fs::create_dir_all(inner.join(directory)).unwrap();
    }
    let actor = actor(
        &program,
        "hosts::caller",
        &["inside", inner.to_str().unwrap()],
    );
    let mut env: Vec<(OsString, OsString)> = stage
        .env()
        .iter()
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    for (name, value) in actor.get_envs() {
        env.push((name.to_owned(), value.unwrap().to_owned()));
    }
    env.push(("PALISADE_TEST_HELPER".into(), helper.into_os_string()));
    let argv = [actor.get_program()].into_iter().chain(actor.get_args());
    let argv: Vec<OsString> = argv.map(ToOwned::to_owned).collect();
    let command = Command::new(argv, &stage.workspace).with_env(env.into_iter().collect());
    let output = run(&session, &command).unwrap();
    assert!(
        output.exit.success() && output.text.contains("1 passed"),
        "{}",
        output.text
    );
}

fn inside(root: &Path) {
    let stage = Stage::existing(root);
    let plan = stage.plan(&stage.workspace_write(), Tier::Full);
    refused_by_an_outer_filter(&start(&plan).unwrap_err());
    works(&stage, &[Tier::Landlock]);
    let session = stage.session(&stage.workspace_write(), Tier::Landlock);
    let output = stage.run(
        &session,
        "grep -E '^(Cap(Inh|Prm|Eff|Amb)|NoNewPrivs)' /proc/self/status",
    );
    let values: Vec<_> = output
        .text
        .split_ascii_whitespace()
        .skip(1)
        .step_by(2)
        .collect();
    let none = "0000000000000000";
    assert_eq!(values, [none, none, none, none, "1"], "{}", output.text);
}

#[test]
fn a_host_with_a_masked_proc() {
    let mut isolated = std::process::Command::new("unshare");
    isolated.args(["--mount", "--propagation", "private"]);
    let mut script = r#"mount --bind /dev/null /proc/version && exec "$@""#;
    if !rustix::process::geteuid().is_root() {
        isolated.args(["--user", "--map-current-user", "--keep-caps"]);
        script = r#"mount --bind /dev/null /proc/version && exec setpriv --inh-caps=-all --ambient-caps=-all "$@""#;
    }
    isolated.args(["sh", "-c", script, "sh"]);
    let possible = std::process::Command::new("unshare")
        .args(isolated.get_args())
        .arg("true")
        .stderr(ProcessStdio::null())
        .status();
    if !possible.is_ok_and(|status| status.success()) {
        eprintln!("skipped: no mount namespace for the test itself");
        return;
    }
    let inner = actor(&this_program(), "hosts::caller", &["masked"]);
    perform(started_by(isolated, &inner));
}

fn masked() {
    let stage = Stage::new();
    let plan = stage.plan(&stage.workspace_write(), Tier::Full);
    let error = start(&plan).unwrap_err();
    assert_eq!(step_of(&error), (Step::Proc, Errno::PERM), "{error}");
    let explanation = error.explain().unwrap();
    assert!(
        explanation.layer.contains("/proc is partly hidden"),
        "{explanation}"
    );
    assert!(explanation.cure.unwrap().contains("unmasked /proc"));
    works(&stage, &[Tier::Landlock]);
}

#[test]
fn thousands_of_arguments_and_an_environment_near_the_limit() {
    // A quarter of the stack, and never more than three quarters of 8 MiB.
    let stack = getrlimit(Resource::Stack).current.unwrap_or(u64::MAX);
    let limit = usize::try_from((stack / 4).min(6 << 20)).unwrap();
    const PIECE: usize = 100_000;
    let env = |bytes: usize, stage: &Stage| -> Environment {
        let mut env: Vec<(OsString, OsString)> = stage
            .env()
            .iter()
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        for number in 0..bytes / PIECE {
            env.push((
                format!("V{number:03}").into(),
                "v".repeat(PIECE - 14).into(),
            ));
        }
        env.into_iter().collect()
    };
    for tier in TIERS {
        let stage = Stage::new();
        let session = stage.session(&stage.workspace_write(), tier);
        let mut argv = vec![
            "sh".to_owned(),
            "-c".to_owned(),
            "echo $# ${4096}".to_owned(),
            "sh".to_owned(),
        ];
        argv.extend((1..=4096).map(|number| number.to_string()));
        let command = Command::new(argv, &stage.workspace).with_env(stage.env());
        assert_eq!(
            run(&session, &command).unwrap().text,
            "4096 4096\n",
            "{tier:?}"
        );

        let near = stage
            .script("echo ${#V000}")
            .with_env(env(limit - 2 * PIECE, &stage));
        assert_eq!(run(&session, &near).unwrap().text, "99986\n", "{tier:?}");
        let over = stage
            .script("echo ${#V000}")
            .with_env(env(limit + 2 * PIECE, &stage));
        let error = run(&session, &over).unwrap_err();
        assert_eq!(step_of(&error), (Step::Exec, Errno::TOOBIG), "{tier:?}");
    }
}

#[test]
fn sixty_four_launches_at_once() {
    for tier in TIERS {
        let stage = Stage::new();
        let session = stage.session(&stage.workspace_write(), tier);
        std::thread::scope(|scope| {
            for number in 0..64 {
                let (stage, session) = (&stage, &session);
                scope.spawn(move || {
                    let script = format!("echo {number}; exit {number}");
                    let output = stage.run(session, &script);
                    assert_eq!(output.text, format!("{number}\n"), "{tier:?}");
                    let exit = format!("exit code {number}");
                    assert_eq!(output.exit.cause.to_string(), exit, "{tier:?}");
                });
            }
        });
    }
}

#[test]
fn sixty_four_sessions_of_one_workspace() {
    for tier in TIERS {
        let stage = Stage::new();
        let plan = stage.plan(&stage.workspace_write(), tier);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..8 {
                        // They share placeholders, which the last one removes.
                        let session = start(&plan).unwrap();
                        let output = stage.run(&session, "echo x > .vscode/x; echo fine");
                        assert!(output.text.ends_with("fine\n"), "{tier:?} {}", output.text);
                    }
                });
            }
        });
        if tier == Tier::Full {
            let names: Vec<_> = fs::read_dir(&stage.workspace).unwrap().collect();
            assert_eq!(names.len(), 1, "{names:?}");
        }
    }
}

#[test]
fn a_large_caller() {
    let mut memory = vec![0_u8; 512 << 20];
    memory.iter_mut().step_by(4096).for_each(|byte| *byte = 1);
    works(&Stage::new(), &TIERS);
    assert_eq!(
        memory
            .iter()
            .step_by(4096)
            .filter(|byte| **byte == 1)
            .count(),
        131_072
    );
}
