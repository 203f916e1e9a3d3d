//! In a sandbox that is not ours: attempts that it is known to stop are seen to be stopped.
//!
//! Without this, an attempt that claims an escape whatever happens would go unnoticed here.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;
use std::thread;

use palisade_probes::run::{bare, launch};
use palisade_probes::stage::{Setup, Stage};
use palisade_probes::{Class, Expected, Mode, Outcome, Probe, Tier, Verdict, all, find};

use crate::controls::{is_root, program};

const BUBBLEWRAP: &str = "/usr/bin/bwrap";
const NOBODY: (u32, u32) = (65_534, 65_534);

/// It has no filter of system calls and no limits, keeps the socket files of its host, hands descriptors on, and does
/// not pin directories above a protected path. It watches by a first process that is open to what it watches.
fn is_beyond_it(probe: &Probe) -> bool {
    const NAMES: [&str; 24] = [
        "fs-scm-rights",
        "fs-nested-userns-remount",
        "git-parent-rename",
        "git-missing-root",
        "tty-tiocsti",
        "tty-tioclinux",
        "net-vsock",
        "net-i386-socketcall",
        "meta-mount-list",
        "sec-keyring",
        "sec-env",
        "dev-ptmx",
        "fs-pipe-outside",
        "meta-handle",
        "net-kernel-channels",
        "net-rare-datagrams",
        "proc-first-descriptor",
        "proc-peek",
        "race-parent-exchange",
        "race-placeholder",
        "race-placeholder-removed",
        "sec-any-environ",
        "sec-first-process",
        "tty-tiocsti-wide",
    ];
    let sockets = probe.class == Class::UnixSockets && probe.name != "unix-abstract";
    matches!(probe.class, Class::Resources | Class::Kernel)
        || sockets
        || NAMES.contains(&probe.name)
        || probe.name.contains("-inherited-")
}

fn wrapped(stage: &Stage, mode: Mode, line: &[OsString]) -> Vec<OsString> {
    const ALWAYS: &str = "--unshare-all --die-with-parent --cap-drop ALL --ro-bind / / --dev /dev --proc /proc --tmpfs /tmp";
    let mut all: Vec<OsString> = [BUBBLEWRAP]
        .into_iter()
        .chain(ALWAYS.split(' '))
        .map(Into::into)
        .collect();
    let mut add = |option: &str, paths: &[&Path]| {
        all.push(option.into());
        all.extend(paths.iter().map(|path| path.as_os_str().to_owned()));
    };
    if mode == Mode::Write {
        for root in stage.writable_roots() {
            add("--bind", &[root, root]);
        }
        for path in stage.protected().iter().filter(|path| path.exists()) {
            add("--ro-bind", &[path, path]);
        }
    }
    let nothing = Path::new("/dev/null");
    for path in stage.secrets() {
        if path.is_dir() {
            add("--tmpfs", &[&path]);
        } else {
            add("--ro-bind", &[nothing, &path]);
        }
    }
    for path in ["/etc/shadow", "/etc/gshadow"] {
        add("--ro-bind", &[nothing, Path::new(path)]);
    }
    all.extend_from_slice(line);
    all
}

fn is_missing() -> bool {
    let works = Command::new(BUBBLEWRAP)
        .args(["--unshare-all", "--ro-bind", "/", "/", "/bin/true"])
        .output();
    let missing = !works.is_ok_and(|output| output.status.success());
    if missing {
        eprintln!("skipped: bubblewrap is absent or does not work here");
    }
    missing
}

fn setup(mode: Mode, owner: Option<(u32, u32)>) -> Setup<'static> {
    Setup {
        base: Path::new("/var/tmp"),
        program: program(),
        owner,
        mode,
    }
}

fn inside(probe: &Probe, stage: &Stage, mode: Mode, owner: Option<(u32, u32)>) -> Verdict {
    launch(probe, stage, &mut |line| {
        bare(stage, owner, &wrapped(stage, mode, line))
    })
    .unwrap()
}

fn check(mode: Mode) {
    if is_missing() {
        return;
    }
    let owner = is_root().then_some(NOBODY);
    let mut wrong = Vec::new();
    for probe in all().filter(|probe| probe.is_built() && probe.suits(mode)) {
        if is_beyond_it(probe) {
            continue;
        }
        let verdict = inside(
            probe,
            &Stage::prepare(&setup(mode, owner)).unwrap(),
            mode,
            owner,
        );
        let fine = match probe.expected(Tier::Full) {
            Expected::Residue(_) => verdict.outcome == Outcome::Escaped,
            Expected::Works => verdict.outcome == Outcome::Works,
            Expected::Contained => {
                matches!(verdict.outcome, Outcome::Contained | Outcome::Unavailable)
            }
            Expected::NotApplicable(_) => true,
        };
        eprintln!("{verdict:?}");
        if !fine {
            wrong.push(verdict);
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn what_is_stopped_with_a_writable_workspace_is_seen_as_stopped() {
    check(Mode::Write);
}

#[test]
fn what_is_stopped_with_nothing_writable_is_seen_as_stopped() {
    check(Mode::ReadOnly);
}

/// Only in a network namespace of the test: the real address is nobody's to try.
#[test]
fn the_metadata_service_is_reached_without_a_sandbox_and_not_with_one() {
    let probe = find("net-cloud-metadata").unwrap();
    thread::spawn(move || {
        let setup = setup(Mode::Write, None);
        let open = match Stage::prepare_in_own_network(&setup) {
            Ok(stage) => stage,
            Err(error) => {
                let why = if is_root() {
                    "skipped"
                } else {
                    "for root alone"
                };
                eprintln!("{why}: no network namespace: {error}");
                return;
            }
        };
        let verdict = launch(probe, &open, &mut |line| bare(&open, None, line)).unwrap();
        assert_eq!(verdict.outcome, Outcome::Escaped, "{verdict:?}");
        if !is_missing() {
            let stage = Stage::prepare_in_own_network(&setup).unwrap();
            let verdict = inside(probe, &stage, Mode::Write, None);
            assert_eq!(verdict.outcome, Outcome::Contained, "{verdict:?}");
        }
    })
    .join()
    .unwrap();
}
