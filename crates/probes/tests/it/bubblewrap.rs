//! In a sandbox that is not ours: attempts that it is known to stop are seen to be stopped.
//!
//! Without this, an attempt that claims an escape whatever happens would go unnoticed here.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use palisade_probes::run::{bare, launch};
use palisade_probes::stage::{Setup, Stage};
use palisade_probes::{Class, Mode, Outcome, Probe, all};

use crate::controls::{is_root, program};

const BUBBLEWRAP: &str = "/usr/bin/bwrap";
const NOBODY: (u32, u32) = (65_534, 65_534);

/// It has no filter of system calls and no limits, keeps the socket files of its host, and does not pin directories
/// above a protected path.
fn is_beyond_it(probe: &Probe) -> bool {
    matches!(probe.class, Class::Resources | Class::Kernel)
        || (probe.class == Class::UnixSockets && probe.name != "unix-abstract")
        || [
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
        ]
        .contains(&probe.name)
        // Descriptors are handed on.
        || probe.name.contains("-inherited-")
}

fn wrapped(stage: &Stage, line: &[OsString]) -> Vec<OsString> {
    let mut all: Vec<OsString> = [
        BUBBLEWRAP,
        "--unshare-all",
        "--die-with-parent",
        "--cap-drop",
        "ALL",
        "--ro-bind",
        "/",
        "/",
        "--dev",
        "/dev",
        "--proc",
        "/proc",
        "--tmpfs",
        "/tmp",
    ]
    .iter()
    .map(Into::into)
    .collect();
    let mut add = |option: &str, paths: &[&Path]| {
        all.push(option.into());
        all.extend(paths.iter().map(|path| path.as_os_str().to_owned()));
    };
    for root in stage.writable_roots() {
        add("--bind", &[root, root]);
    }
    for path in stage.protected().iter().filter(|path| path.exists()) {
        add("--ro-bind", &[path, path]);
    }
    for path in stage.secrets() {
        if path.is_dir() {
            add("--tmpfs", &[&path]);
        } else {
            add("--ro-bind", &[Path::new("/dev/null"), &path]);
        }
    }
    for path in ["/etc/shadow", "/etc/gshadow"] {
        add("--ro-bind", &[Path::new("/dev/null"), Path::new(path)]);
    }
    all.extend_from_slice(line);
    all
}

#[test]
fn what_another_sandbox_stops_is_seen_as_stopped() {
    let works = Command::new(BUBBLEWRAP)
        .args(["--unshare-all", "--ro-bind", "/", "/", "/bin/true"])
        .output();
    if !works.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: bubblewrap is absent or does not work here");
        return;
    }
    let owner = is_root().then_some(NOBODY);
    let mut wrong = Vec::new();
    let probes = all().filter(|probe| {
        probe.is_built() && probe.suits(Mode::Write) && probe.mode != Mode::ReadOnly
    });
    for probe in probes.filter(|probe| !is_beyond_it(probe)) {
        let stage = Stage::prepare(&Setup {
            base: Path::new("/var/tmp"),
            program: program(),
            owner,
            mode: Mode::Write,
        })
        .unwrap();
        let verdict = launch(probe, &stage, &mut |line| {
            bare(&stage, owner, &wrapped(&stage, line))
        })
        .unwrap();
        let fine = match probe.expected(palisade_probes::Tier::Full) {
            palisade_probes::Expected::Residue(_) => verdict.outcome == Outcome::Escaped,
            palisade_probes::Expected::Works => verdict.outcome == Outcome::Works,
            _ => matches!(verdict.outcome, Outcome::Contained | Outcome::Unavailable),
        };
        eprintln!(
            "{} {:?}: {} {:?}",
            probe.name, verdict.outcome, verdict.said, verdict.evidence
        );
        if !fine {
            wrong.push(format!(
                "{}: {:?} {} {:?}",
                probe.name, verdict.outcome, verdict.said, verdict.evidence
            ));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
