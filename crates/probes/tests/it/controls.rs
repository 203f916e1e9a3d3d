//! Without a sandbox: what must get through does, and what cannot does not.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use palisade_probes::run::{bare, launch};
use palisade_probes::stage::{Setup, Stage};
use palisade_probes::{Alone, Class, Mode, Probe, Verdict, all};

const NOBODY: (u32, u32) = (65_534, 65_534);

/// The program: where Cargo built it, or where whoever runs the tests as another user put it.
pub(crate) fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        std::env::var_os("PALISADE_TEST_PROBE").map_or_else(
            || PathBuf::from(env!("CARGO_BIN_EXE_palisade-probe")),
            PathBuf::from,
        )
    })
}

pub(crate) fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt as _;
    std::fs::metadata("/proc/self").unwrap().uid() == 0
}

pub(crate) fn control(probe: &Probe, owner: Option<(u32, u32)>) -> Verdict {
    let mode = match probe.mode {
        Mode::ReadOnly => Mode::ReadOnly,
        Mode::Write | Mode::Both => Mode::Write,
    };
    let stage = Stage::prepare(&Setup {
        base: &std::env::temp_dir(),
        program: program(),
        owner,
        mode,
    })
    .unwrap();
    launch(probe, &stage, &mut |line| bare(&stage, owner, line)).unwrap()
}

fn check(owner: Option<(u32, u32)>, class: Class, of: fn(&Probe) -> Alone) {
    let mut deviations = Vec::new();
    for probe in all().filter(|probe| probe.class == class && probe.is_built()) {
        let verdict = control(probe, owner);
        eprintln!(
            "{} {:?}: {} {:?}",
            probe.name, verdict.outcome, verdict.said, verdict.evidence
        );
        deviations.extend(verdict.deviation_alone(of(probe)));
        // For root nothing stands in the way: a part that fails even so would prove nothing in a sandbox.
        let strict = owner.is_none() && is_root() && of(probe) == Alone::Escapes;
        if strict && verdict.said.contains("but not: ") {
            deviations.push(format!("{}: only in part: {}", probe.name, verdict.said));
        }
    }
    assert!(deviations.is_empty(), "{deviations:#?}");
}

fn check_both(class: Class) {
    if is_root() {
        check(None, class, |probe| probe.control.root);
        check(Some(NOBODY), class, |probe| probe.control.user);
    } else {
        check(None, class, |probe| probe.control.user);
    }
}

#[test]
fn files() {
    check_both(Class::Files);
}

#[test]
fn protected() {
    check_both(Class::Protected);
}

#[test]
fn metadata() {
    check_both(Class::Metadata);
}

#[test]
fn secrets() {
    check_both(Class::Secrets);
}

#[test]
fn devices() {
    check_both(Class::Devices);
}

#[test]
fn network() {
    check_both(Class::Network);
}

#[test]
fn unix_sockets() {
    check_both(Class::UnixSockets);
}

#[test]
fn processes() {
    check_both(Class::Processes);
}

#[test]
fn kernel() {
    check_both(Class::Kernel);
}

#[test]
fn resources() {
    check_both(Class::Resources);
}

#[test]
fn useful() {
    check_both(Class::Useful);
}
