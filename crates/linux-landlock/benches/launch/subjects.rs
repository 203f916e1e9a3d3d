//! The subjects of the comparison, and the steps of the full tier one by one.

use std::path::Path;
use std::process::Command as Bare;
use std::time::{Duration, Instant};

use palisade_linux_landlock::plan::{Mount, NetworkNamespace, Plan};
use palisade_linux_landlock::seccomp::{Arch, Filter, Sockets, compile};
use palisade_linux_landlock::{Command, DirectLauncher, Helper, Session, Stdio, Tier};

use palisade_policy::SeccompProfile;

use crate::plans::Stage;

pub(crate) const PROGRAM: &str = "/bin/true";

/// Something to measure: a name and one run of it.
pub(crate) type Subject<'a> = (String, Box<dyn FnMut() + 'a>);

pub(crate) fn bare() {
    assert!(Bare::new(PROGRAM).env_clear().status().unwrap().success());
}

pub(crate) fn cold(plan: &Plan, helper: &Helper, workspace: &Path, stdio: &Stdio) {
    let session = Session::start(plan, helper).unwrap();
    warm(&session, workspace, stdio);
    session.end();
}

pub(crate) fn warm(session: &Session, workspace: &Path, stdio: &Stdio) {
    let mut child = session
        .spawn(&Command::new([PROGRAM], workspace), stdio)
        .unwrap();
    assert!(child.wait().unwrap().success());
}

/// The table of the README: each way to launch, against a bare launch.
pub(crate) fn compare(stage: &Stage, helper: &Helper, rounds: usize) {
    let workspace = stage.workspace.as_path();
    let stdio = Stdio::null().unwrap();
    let (full, landlock) = (stage.plan(Tier::Full), stage.plan(Tier::Landlock));
    let session = Session::start(&full, helper).unwrap();
    let landlock_session = Session::start(&landlock, helper).unwrap();
    let direct = DirectLauncher::new(&landlock).unwrap();
    let mut subjects: Vec<Subject<'_>> = vec![
        ("bare posix_spawn".to_owned(), Box::new(bare)),
        (
            "direct, landlock tier".to_owned(),
            Box::new(|| {
                let mut child = direct
                    .spawn(&Command::new([PROGRAM], workspace), &stdio)
                    .unwrap();
                assert!(child.wait().unwrap().success());
            }),
        ),
        (
            "next command of a landlock session".to_owned(),
            Box::new(|| warm(&landlock_session, workspace, &stdio)),
        ),
        (
            "next command of a full session".to_owned(),
            Box::new(|| warm(&session, workspace, &stdio)),
        ),
        (
            "cold run, landlock tier".to_owned(),
            Box::new(|| cold(&landlock, helper, workspace, &stdio)),
        ),
        (
            "cold run, full tier".to_owned(),
            Box::new(|| cold(&full, helper, workspace, &stdio)),
        ),
        (
            "cold run, full tier, survey and lowering included".to_owned(),
            Box::new(|| cold(&stage.plan(Tier::Full), helper, workspace, &stdio)),
        ),
    ];
    if Path::new("/usr/bin/bwrap").exists() {
        subjects.push((
            "bubblewrap --unshare-all".to_owned(),
            Box::new(|| {
                let arguments = [
                    "--unshare-all",
                    "--ro-bind",
                    "/",
                    "/",
                    "--dev",
                    "/dev",
                    "--proc",
                    "/proc",
                    PROGRAM,
                ];
                assert!(
                    Bare::new("/usr/bin/bwrap")
                        .args(arguments)
                        .status()
                        .unwrap()
                        .success()
                );
            }),
        ));
    } else {
        println!("bubblewrap is absent");
    }
    if let Ok(part) = std::env::var("PALISADE_BENCH_ONLY") {
        subjects.retain(|(name, _)| name.contains(&part));
    }
    print("a launch of /bin/true", &measure(&mut subjects, rounds));
}

/// The full tier, one thing after another left out of the plan.
pub(crate) fn steps(stage: &Stage, helper: &Helper, rounds: usize) {
    let workspace = stage.workspace.as_path();
    let stdio = Stdio::null().unwrap();
    let full = stage.plan(Tier::Full);
    let mut plans: Vec<(&str, Plan)> = vec![("cold run, full tier", full.clone())];
    let mut less = |name: &'static str, change: &dyn Fn(&mut Plan)| {
        let mut plan = plans.last().unwrap().1.clone();
        change(&mut plan);
        plans.push((name, plan));
    };
    less("... without placeholders and their janitor", &|plan| {
        let missing = std::mem::take(&mut plan.placeholders);
        plan.mounts
            .retain(|mount| !matches!(mount, Mount::Protect { path } if missing.contains(path)));
    });
    less("... without masks", &|plan| {
        plan.mounts
            .retain(|mount| !matches!(mount, Mount::Mask { .. }))
    });
    less("... without private directories", &|plan| {
        plan.mounts.retain(|mount| {
            !matches!(
                mount,
                Mount::Tmpfs { .. } | Mount::Overlay { .. } | Mount::Link { .. }
            )
        });
    });
    less("... without a private /dev", &|plan| {
        plan.mounts
            .retain(|mount| !matches!(mount, Mount::Devices { .. }))
    });
    less("... without a network of its own", &|plan| {
        plan.network = NetworkNamespace::Host
    });
    less("... with a filter of 4 calls", &|plan| {
        plan.filter = small_filter()
    });
    less("... without Landlock", &|plan| plan.landlock = None);
    let mut subjects: Vec<Subject<'_>> = vec![("bare posix_spawn".to_owned(), Box::new(bare))];
    for (name, plan) in &plans {
        let stdio = &stdio;
        subjects.push((
            (*name).to_owned(),
            Box::new(move || cold(plan, helper, workspace, stdio)),
        ));
    }
    print(
        "what each step of the full tier costs",
        &measure(&mut subjects, rounds),
    );
}

fn small_filter() -> Filter {
    let arch = if cfg!(target_arch = "x86_64") {
        Arch::X86_64
    } else {
        Arch::Aarch64
    };
    compile(&SeccompProfile::permissive(), Sockets::HostNetwork, arch).unwrap()
}

/// The median of each subject, all of them run once in every round.
pub(crate) fn measure(subjects: &mut [Subject<'_>], rounds: usize) -> Vec<(String, Duration)> {
    let mut times = vec![Vec::with_capacity(rounds); subjects.len()];
    for round in 0..rounds + rounds / 10 {
        for ((_, run), times) in subjects.iter_mut().zip(&mut times) {
            let begin = Instant::now();
            run();
            // The first rounds warm caches up.
            if round >= rounds / 10 {
                times.push(begin.elapsed());
            }
        }
    }
    subjects
        .iter()
        .zip(times)
        .map(|((name, _), times)| (name.clone(), median(times)))
        .collect()
}

pub(crate) fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times.get(times.len() / 2).copied().unwrap()
}

fn print(title: &str, medians: &[(String, Duration)]) {
    let (first, base) = medians.first().unwrap();
    let base = base.as_secs_f64();
    println!("| {title} | times {first} | median |\n|---|---:|---:|");
    for (name, time) in medians {
        println!(
            "| {name} | {:.2} | {} us |",
            time.as_secs_f64() / base,
            time.as_micros()
        );
    }
    println!();
}
