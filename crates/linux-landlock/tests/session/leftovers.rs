//! Nothing is left behind: mounts, files, processes, descriptors and control groups are as they were, also when one of
//! a session's processes is killed at a moment that nobody chose.
#![expect(
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "a test says what it skips, and its parts speak to each other"
)]

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use palisade_linux_landlock::{Helper, Session, Tier};
use palisade_policy::{CanonicalSandboxPolicy, ResourceLimits};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, set_child_subreaper, wait};

use crate::processes::{Process, children_of, wait_until};
use crate::roles::{actor, perform, role, started_by, this_program, tier_name, tier_named};
use crate::support::{Stage, TIERS, helper_path, run, start};

const RUNS: usize = 200;
const ROUNDS: usize = 40;

#[test]
fn two_hundred_runs_leave_nothing() {
    for tier in TIERS {
        supervise(tier, "runs");
    }
}

#[test]
fn whoever_is_killed_nothing_is_left() {
    for tier in TIERS {
        supervise(tier, "kills");
    }
}

#[test]
fn whoever_is_stopped_the_session_ends() {
    std::thread::scope(|scope| {
        for tier in TIERS {
            scope.spawn(move || supervise(tier, "stops"));
        }
    });
}

#[test]
fn what_the_last_of_all_cannot_remove_the_next_run_does() {
    supervise(Tier::Full, "massacre");
}

/// Starts a supervisor that has a `/tmp` for itself, so that nobody else's sessions are taken for its own.
fn supervise(tier: Tier, task: &str) {
    let place = tempfile::Builder::new()
        .prefix("palisade-test-")
        .tempdir_in("/var/tmp")
        .unwrap();
    let tmp = place.path().join("tmp");
    fs::create_dir(&tmp).unwrap();
    // What is in `/tmp` cannot be started from there.
    let (program, helper) = (place.path().join("session"), place.path().join("helper"));
    for (from, to) in [(this_program(), &program), (helper_path(), &helper)] {
        fs::hard_link(&from, to)
            .or_else(|_| fs::copy(&from, to).map(drop))
            .unwrap();
    }
    let mut isolated = Command::new("unshare");
    isolated.args(["--mount", "--propagation", "private"]);
    let root = rustix::process::geteuid().is_root();
    if !root {
        isolated.args(["--user", "--map-current-user", "--keep-caps"]);
    }
    let script = if root {
        r#"mount --bind "$1" /tmp && shift && exec "$@""#
    } else {
        r#"mount --bind "$1" /tmp && shift && exec setpriv --inh-caps=-all --ambient-caps=-all "$@""#
    };
    let works = Command::new("unshare")
        .args(isolated.get_args())
        .args(["sh", "-c", script, "sh"])
        .arg(&tmp)
        .arg("true")
        .stderr(Stdio::null())
        .status();
    if !works.is_ok_and(|status| status.success()) {
        eprintln!("skipped: no mount namespace for the test itself");
        return;
    }
    let inner = actor(&program, "leftovers::supervisor", &[task, tier_name(tier)]);
    isolated.args(["sh", "-c", script, "sh"]);
    isolated.arg(&tmp);
    let mut isolated = started_by(isolated, &inner);
    isolated.env("PALISADE_TEST_HELPER", &helper);
    perform(isolated);
}

#[test]
#[ignore = "a part of other tests"]
fn supervisor() {
    let Some(role) = role() else { return };
    let [task, tier] = role.as_slice() else {
        return;
    };
    let tier = tier_named(tier);
    // Orphans become ours, so that none can get away.
    set_child_subreaper(Some(rustix::process::getpid())).unwrap();
    let groups = OwnGroups::enter();
    let stage = Stage::new();
    match task.as_str() {
        "runs" => many_runs(&stage, tier, &groups),
        "kills" => many_kills(&stage, tier, &groups),
        "stops" => stops(&stage, tier, &groups),
        _ => massacre(&stage),
    }
}

fn policy(stage: &Stage) -> CanonicalSandboxPolicy {
    // With limits, so that there are control groups where the user may make some.
    CanonicalSandboxPolicy::workspace_write_with_limits([stage.root()], ResourceLimits::moderate())
}

/// What commands leave: servers in sessions of their own, and directories that are hard to remove.
const LITTER: &str = r#"
    (setsid sleep 1000 >/dev/null 2>&1 &)
    sleep 1000 >/dev/null 2>&1 &
    mkdir -p "$TMPDIR/a/b/c" && echo x > "$TMPDIR/a/b/c/file" && chmod 0 "$TMPDIR/a/b/c" "$TMPDIR/a/b"
    mkfifo "$TMPDIR/pipe"
"#;

fn many_runs(stage: &Stage, tier: Tier, groups: &OwnGroups) {
    let plan = stage.plan(&policy(stage), tier);
    // The first run opens what the test program itself keeps open.
    let session = start(&plan).unwrap();
    stage.run(&session, LITTER).assert_success();
    session.end();
    let before = Snapshot::take(stage, groups);
    for number in 0..RUNS {
        let session = start(&plan).unwrap();
        let script = if number % 10 == 0 { LITTER } else { "exit 0" };
        stage.run(&session, script).assert_success();
        session.end();
        // At once: the end of a session is the end of its processes.
        assert_eq!(any_child(), Err(Errno::CHILD));
    }
    assert_eq!(before, Snapshot::take(stage, groups));
    assert!(before.tmp.is_empty(), "{:?}", before.tmp);
}

#[derive(Clone, Copy, Debug)]
enum Victim {
    Runner,
    Helper,
    Init,
    Janitor,
    Command,
}

fn many_kills(stage: &Stage, tier: Tier, groups: &OwnGroups) {
    let before = Snapshot::take(stage, groups);
    let mut random = Random::new();
    let victims = [
        Victim::Runner,
        Victim::Helper,
        Victim::Init,
        Victim::Janitor,
        Victim::Command,
    ];
    for (round, victim) in victims.into_iter().cycle().take(ROUNDS).enumerate() {
        let root = stage.workspace.parent().unwrap().to_str().unwrap();
        let mut command = actor(
            &this_program(),
            "leftovers::runner",
            &[tier_name(tier), root],
        );
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut runner = command.spawn().unwrap();
        let enough = runner.stdin.take();
        let mut said = BufReader::new(runner.stdout.take().unwrap());
        let mut line = String::new();
        while !line.contains("ready") {
            line.clear();
            assert_ne!(
                said.read_line(&mut line).unwrap(),
                0,
                "the runner does not start"
            );
        }
        std::thread::sleep(Duration::from_micros(random.below(12_000)));
        let runner_pid = i32::try_from(runner.id()).unwrap();
        let found = wait_until(Duration::from_secs(5), || find(victim, runner_pid));
        let seed = random.0;
        kill(found.unwrap_or(runner_pid));
        drop(enough);
        // Whoever loses a session is told so, and does not wait forever.
        let ended = wait_until(Duration::from_secs(30), || runner.try_wait().unwrap());
        assert!(ended.is_some(), "{victim:?} {seed}: the runner hangs");
        drop(said);
        let alone = wait_until(Duration::from_secs(30), || {
            (any_child() == Err(Errno::CHILD)).then_some(())
        });
        assert!(
            alone.is_some(),
            "{victim:?} in round {round} ({seed}): {:#?}",
            children_of(own_pid())
        );
        let after = Snapshot::take(stage, groups);
        assert_eq!(before, after, "{victim:?} in round {round} ({seed})");
    }
}

/// Runs one session after the other until somebody ends it or one of them.
#[test]
#[ignore = "a part of other tests"]
fn runner() {
    let Some(role) = role() else { return };
    let [tier, root] = role.as_slice() else {
        return;
    };
    let stage = Stage::existing(Path::new(root));
    let plan = stage.plan(&policy(&stage), tier_named(tier));
    println!("ready");
    let enough = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&enough);
    std::thread::spawn(move || {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        told.store(true, Ordering::Relaxed);
    });
    while !enough.load(Ordering::Relaxed) {
        let script = format!("{LITTER}\nsleep 0.01");
        let Ok(session) = start(&plan) else { return };
        match run(&session, &stage.script(&script)) {
            Ok(output) if output.exit.success() => {}
            _ => return,
        }
    }
}

/// Finds one of the processes of a session by its place in the tree.
fn find(victim: Victim, runner: i32) -> Option<i32> {
    let helper = || children_of(runner).first().copied();
    // The janitor leads a session of its own; the helper's other child does not.
    let below = |janitor: bool| {
        let helper = helper()?;
        let mut children = children_of(helper.pid).into_iter();
        children.find(|process| (process.session == process.pid) == janitor)
    };
    let found = match victim {
        Victim::Runner => return Some(runner),
        Victim::Helper => helper(),
        Victim::Init => below(false),
        Victim::Janitor => below(true),
        Victim::Command => below(false).and_then(|init| children_of(init.pid).first().copied()),
    };
    found.map(|process: Process| process.pid)
}

/// Somebody stops a process of the session, which can then neither serve nor end by itself.
fn stops(stage: &Stage, tier: Tier, groups: &OwnGroups) {
    let plan = stage.plan(&policy(stage), tier);
    let before = Snapshot::take(stage, groups);
    for victim in [Victim::Helper, Victim::Init, Victim::Command] {
        let helper = Helper::new(helper_path()).with_patience(Duration::from_secs(10));
        let session = Session::start(&plan, &helper).unwrap();
        stage.run(&session, LITTER).assert_success();
        stop(find(victim, own_pid()).unwrap());
        drop(session);
        let alone = wait_until(Duration::from_secs(10), || {
            (any_child() == Err(Errno::CHILD)).then_some(())
        });
        assert!(alone.is_some(), "{victim:?}: {:#?}", children_of(own_pid()));
        assert_eq!(before, Snapshot::take(stage, groups), "{victim:?}");
    }
}

/// Init waits for the ends of pipes, and the janitor for init: with an end of one, they would wait for each other.
fn holds_no_pipe(janitor: i32) {
    let open = fs::read_dir(format!("/proc/{janitor}/fd")).unwrap();
    let open = open.map(|one| fs::read_link(one.unwrap().path()).unwrap());
    let open: Vec<String> = open.map(|one| one.display().to_string()).collect();
    assert!(open.len() > 3, "{open:?}");
    assert!(!open.iter().any(|one| one.starts_with("pipe:")), "{open:?}");
}

/// The janitor and everybody else at once: then, and only then, a marked directory may stay until the next run.
fn massacre(stage: &Stage) {
    let plan = stage.plan(&policy(stage), Tier::Full);
    let placeholder = stage.workspace.join(".vscode");
    let session = start(&plan).unwrap();
    assert!(placeholder.is_dir());
    let helper = children_of(own_pid()).first().copied().unwrap();
    let below = children_of(helper.pid);
    assert_eq!(below.len(), 2, "{below:?}");
    let janitor = below.iter().find(|one| one.session == one.pid).unwrap();
    holds_no_pipe(janitor.pid);
    // The helper first: it would do the chores of the other.
    stop(helper.pid);
    below.iter().for_each(|process| kill(process.pid));
    kill(helper.pid);
    drop(session);
    assert!(placeholder.is_dir(), "who removed it?");
    // A look at the host takes the directory for what it is.
    let plan = stage.plan(&policy(stage), Tier::Full);
    start(&plan).unwrap().end();
    assert!(!placeholder.exists());
    assert!(!stage.workspace.join(".claude").exists());
}

fn own_pid() -> i32 {
    rustix::process::getpid().as_raw_nonzero().get()
}

fn kill(pid: i32) {
    // It may have ended by itself.
    let _ = kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL);
}

fn stop(pid: i32) {
    kill_process(Pid::from_raw(pid).unwrap(), Signal::STOP).unwrap();
}

/// Reaps what was adopted; says whether there is a child left.
fn any_child() -> Result<(), Errno> {
    while wait(WaitOptions::NOHANG)?.is_some() {}
    Ok(())
}

/// What must be the same before and after.
#[derive(Debug, PartialEq, Eq)]
struct Snapshot {
    mounts: String,
    files: BTreeSet<(PathBuf, u32)>,
    tmp: BTreeSet<(PathBuf, u32)>,
    descriptors: usize,
    groups: Vec<String>,
}

impl Snapshot {
    fn take(stage: &Stage, groups: &OwnGroups) -> Self {
        let mut files = BTreeSet::new();
        for tree in [&stage.workspace, &stage.home, &stage.outside] {
            list(tree, &mut files);
        }
        let mut tmp = BTreeSet::new();
        list(Path::new("/tmp"), &mut tmp);
        Self {
            mounts: fs::read_to_string("/proc/self/mountinfo").unwrap(),
            files,
            tmp,
            descriptors: fs::read_dir("/proc/self/fd").unwrap().count(),
            groups: groups.list(),
        }
    }
}

fn list(directory: &Path, into: &mut BTreeSet<(PathBuf, u32)>) {
    for entry in fs::read_dir(directory).unwrap().flatten() {
        let metadata = entry.metadata().unwrap();
        into.insert((entry.path(), metadata.mode()));
        if metadata.is_dir() {
            list(&entry.path(), into);
        }
    }
}

/// Control groups for this process alone, where sessions make theirs; none where the user may not.
struct OwnGroups(Vec<PathBuf>);

impl OwnGroups {
    fn enter() -> Self {
        let mut groups = Vec::new();
        for controller in ["pids", "memory"] {
            let parent = Path::new("/sys/fs/cgroup").join(controller);
            let group = parent.join(format!("palisade-test-{}", own_pid()));
            if parent.join("cgroup.procs").exists() && fs::create_dir(&group).is_ok() {
                let entered = fs::write(group.join("cgroup.procs"), "0");
                groups.push(group);
                entered.unwrap();
            }
        }
        Self(groups)
    }

    fn list(&self) -> Vec<String> {
        self.0
            .iter()
            .flat_map(|group| fs::read_dir(group).unwrap().flatten())
            .filter(|entry| entry.file_type().unwrap().is_dir())
            .map(|entry| entry.file_name().into_string().unwrap())
            .collect()
    }
}

impl Drop for OwnGroups {
    fn drop(&mut self) {
        for group in &self.0 {
            let _ = fs::write(group.parent().unwrap().join("cgroup.procs"), "0");
            // Where a test has killed everybody who would have.
            for left in fs::read_dir(group).unwrap().flatten() {
                let _ = fs::remove_dir(left.path());
            }
            let _ = fs::remove_dir(group);
        }
    }
}

/// Numbers that differ from run to run.
struct Random(u64);

impl Random {
    fn new() -> Self {
        let now = std::time::UNIX_EPOCH.elapsed().unwrap();
        Self(u64::from(now.subsec_nanos()) | 1)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}
