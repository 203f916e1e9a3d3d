//! Our sandbox as the subject of probes: a session with one command for each.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use palisade_linux_landlock::host::NamespaceSupport;
use palisade_linux_landlock::{Command, ExitCause, Helper, Tier, start_on, survey};
use palisade_policy::{
    AbsolutePath, AcceptedLosses, CanonicalSandboxPolicy, Enforcement, Environment, Guarantee,
    HostFacts, LimitKind, LimitLevel, Os, PathRules, PolicyContext, RelativePath, ResourceLimits,
    WorkspaceRoot,
};
use palisade_probes::run::{Ended, Ran, TIMEOUT, launch};
use palisade_probes::stage::{Setup, Stage};
use palisade_probes::{Expected, Mode, Outcome, Probe, Verdict, all};

/// One probe in one tier under one mode.
pub(crate) struct Case {
    probe: &'static Probe,
    tier: Tier,
    mode: Mode,
}

/// Every case whose probe has this in its name.
pub(crate) fn cases(part: &str) -> Vec<Case> {
    let mut cases = Vec::new();
    for probe in all().filter(|probe| probe.name.contains(part) && probe.is_built()) {
        for tier in [Tier::Full, Tier::Landlock] {
            if matches!(
                probe.expected(probes_tier(tier)),
                Expected::NotApplicable(_)
            ) {
                continue;
            }
            for mode in [Mode::Write, Mode::ReadOnly] {
                if probe.suits(mode) {
                    cases.push(Case { probe, tier, mode });
                }
            }
        }
    }
    cases
}

const fn probes_tier(tier: Tier) -> palisade_probes::Tier {
    match tier {
        Tier::Full => palisade_probes::Tier::Full,
        Tier::Landlock => palisade_probes::Tier::Landlock,
    }
}

/// Runs all cases, two at a time, and gives how many went as expected and what did not.
pub(crate) fn run_all(cases: &[Case]) -> (usize, Vec<String>) {
    let next = AtomicUsize::new(0);
    let deviations = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Some(deviation) = case.run() {
                        deviations.lock().unwrap().push(deviation);
                    }
                }
            });
        }
    });
    let deviations = deviations.into_inner().unwrap();
    (cases.len() - deviations.len(), deviations)
}

fn helper() -> Helper {
    let built = PathBuf::from(env!("CARGO_BIN_EXE_palisade-linux-sandbox"));
    Helper::new(std::env::var_os("PALISADE_TEST_HELPER").map_or(built, PathBuf::from))
}

impl Case {
    fn run(&self) -> Option<String> {
        let stage = Stage::prepare(&Setup {
            base: Path::new("/var/tmp"),
            program: &std::env::current_exe().unwrap(),
            owner: None,
            mode: self.mode,
        });
        let name = format!("{} ({:?}, {:?})", self.probe.name, self.tier, self.mode);
        let mut stage = match stage {
            Ok(stage) => stage,
            Err(error) => return Some(format!("{name}: the stage: {error}")),
        };
        // Where a limit ends a probe, it uses more than the limit.
        stage.site_mut().processes = 200;
        let mut pids = LimitLevel::NotEnforced;
        let verdict = launch(self.probe, &stage, &mut |line| {
            let (ran, enforcement) = self.spawn(&stage, line)?;
            pids = enforcement.limit(LimitKind::Pids);
            Ok(ran)
        });
        match verdict {
            Err(error) => Some(format!("{name}: {error}")),
            Ok(verdict) => {
                let deviation = self.deviation(&verdict, pids);
                let mark = if deviation.is_none() {
                    "ok"
                } else {
                    "DEVIATION"
                };
                println!(
                    "{name}: {:?} {} {:?} ... {mark}",
                    verdict.outcome, verdict.said, verdict.evidence
                );
                deviation.map(|deviation| format!("{name}: {deviation}"))
            }
        }
    }

    /// What the registry does not expect. Whether processes can be limited at all depends on the host's control groups:
    /// where the report says that they are, a known residue must be contained; where it says that they are counted now
    /// and then, a burst may or may not be over before somebody counts.
    fn deviation(&self, verdict: &Verdict, pids: LimitLevel) -> Option<String> {
        let tier = probes_tier(self.tier);
        let residue = matches!(self.probe.expected(tier), Expected::Residue(_));
        if residue && ["res-fork-bomb", "res-thread-bomb"].contains(&self.probe.name) {
            let fine = match pids {
                LimitLevel::Enforced => verdict.outcome == Outcome::Contained,
                LimitLevel::Sampled => {
                    matches!(verdict.outcome, Outcome::Contained | Outcome::Escaped)
                }
                LimitLevel::PerProcess | LimitLevel::NotEnforced => {
                    verdict.outcome == Outcome::Escaped
                }
            };
            return (!fine).then(|| format!("the report says {pids:?}: {verdict:?}"));
        }
        verdict.deviation(self.probe, tier)
    }

    fn policy(&self, stage: &Stage) -> CanonicalSandboxPolicy {
        let limits = ResourceLimits::unlimited()
            .with_pids(64)
            .with_memory_mb(256)
            .with_disk_mb(1024)
            .with_cpu_secs(1);
        let roots = stage
            .writable_roots()
            .map(|root| WorkspaceRoot::new(root).unwrap());
        let policy = match self.mode {
            Mode::ReadOnly => CanonicalSandboxPolicy::read_only(),
            _ => CanonicalSandboxPolicy::workspace_write(roots),
        };
        let defaults = PathRules::DEFAULT_PROTECTED
            .iter()
            .map(|name| RelativePath::new(name).unwrap());
        let workspace = &stage.site().workspace;
        let own = stage
            .protected()
            .into_iter()
            .filter_map(|path| RelativePath::new(path.strip_prefix(workspace).ok()?).ok());
        policy
            .with_limits_override(Some(limits))
            .with_paths(PathRules::default().with_protected(defaults.chain(own)))
    }

    fn spawn(&self, stage: &Stage, line: &[OsString]) -> io::Result<(Ran, Enforcement)> {
        let facts = HostFacts::new(Os::Linux)
            .with_uid(rustix::process::geteuid().as_raw())
            .with_home(AbsolutePath::new(&stage.site().home).unwrap());
        let context = PolicyContext::new(
            facts.clone(),
            WorkspaceRoot::new(&stage.site().workspace).unwrap(),
        );
        let mut kernel = survey::kernel(&facts);
        let losses: AcceptedLosses = match self.tier {
            Tier::Full => AcceptedLosses::none(),
            Tier::Landlock => {
                kernel.namespaces = NamespaceSupport::Refused {
                    why: "emulated".to_owned(),
                    cure: None,
                };
                [
                    Guarantee::ProtectedPaths,
                    Guarantee::MetadataOutside,
                    Guarantee::ProcessIsolation,
                ]
                .into_iter()
                .collect()
            }
        };
        let started = start_on(kernel, &self.policy(stage), &context, &losses, &helper())
            .map_err(io::Error::other)?;
        // The caller builds the environment from an allow-list; a secret of the user's is not on it.
        let env: Environment = stage
            .environment()
            .into_iter()
            .filter(|(name, _)| name == "PATH" || name == "HOME")
            .collect();
        let output = stage.root().join("output");
        let file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(&output)?;
        let null = OwnedFd::from(File::options().read(true).write(true).open("/dev/null")?);
        let stdio = palisade_linux_landlock::Stdio::new(null.try_clone()?, file.into(), null);
        let command = Command::new(line.iter().cloned(), &stage.site().workspace).with_env(env);
        let mut child = started
            .session
            .spawn(&command, &stdio)
            .map_err(io::Error::other)?;
        let ended = wait(&mut child)?;
        started.session.end();
        let ran = Ran {
            stdout: std::fs::read(output)?,
            ended,
        };
        Ok((ran, started.enforcement))
    }
}

fn wait(child: &mut palisade_linux_landlock::Child) -> io::Result<Ended> {
    let begin = Instant::now();
    child.pid().map_err(io::Error::other)?;
    let left = TIMEOUT.saturating_sub(begin.elapsed());
    let timeout = rustix::event::Timespec {
        tv_sec: i64::try_from(left.as_secs()).unwrap(),
        tv_nsec: i64::from(left.subsec_nanos()),
    };
    let mut watched = [rustix::event::PollFd::new(
        &*child,
        rustix::event::PollFlags::IN,
    )];
    if rustix::event::poll(&mut watched, Some(&timeout))? == 0 {
        return Ok(Ended::TimedOut);
    }
    Ok(match child.wait().map_err(io::Error::other)?.cause {
        ExitCause::Code(code) => Ended::Exited(code),
        ExitCause::Signal(signal) => Ended::Signalled(signal),
        // A limit that the session was over.
        _ => Ended::Signalled(9),
    })
}
