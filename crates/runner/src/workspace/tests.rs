//! Claims of threads and of real processes.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use palisade_policy::{
    CanonicalSandboxPolicy, GitAccess, HostFacts, NetworkAllowlistEntry, Os, PathRules, PathSpec,
    PolicyContext, RelativePath, ResolvedPolicy, WorkspaceRoot,
};

use super::{Claims, Conflict, Wait};
use crate::supervise::Cancellation;

/// A root that no other test of this program claims.
fn own_root() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("/srv/app-{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

fn resolve(policy: &CanonicalSandboxPolicy, root: &str) -> ResolvedPolicy {
    let facts = HostFacts::new(Os::Linux).with_uid(1000);
    let cwd = WorkspaceRoot::new(root).unwrap();
    policy.resolve(&PolicyContext::new(facts, cwd)).unwrap()
}

fn canonical(root: &str) -> CanonicalSandboxPolicy {
    let root = WorkspaceRoot::new(root).unwrap();
    CanonicalSandboxPolicy::workspace_write_with_sensitive_paths([root], [])
}

fn usual(root: &str) -> ResolvedPolicy {
    resolve(&canonical(root), root)
}

fn with(root: &str, change: impl FnOnce(PathRules) -> PathRules) -> ResolvedPolicy {
    let policy = canonical(root);
    let rules = policy.rules().unwrap().0.clone();
    resolve(&policy.with_paths(change(rules)), root)
}

fn lax(root: &str) -> ResolvedPolicy {
    with(root, |rules| {
        rules.with_protected([RelativePath::new(".vscode").unwrap()])
    })
}

fn denying(root: &str, path: &str) -> ResolvedPolicy {
    let path = PathSpec::parse(path).unwrap();
    with(root, |rules| rules.with_deny_read([path]))
}

fn try_claim(claims: &Claims, policy: &ResolvedPolicy) -> Result<super::Claim, Conflict> {
    claims.claim(policy, Wait::Refuse, &Cancellation::new())
}

#[track_caller]
fn refused(claims: &Claims, policy: &ResolvedPolicy) -> (String, u32) {
    match try_claim(claims, policy).unwrap_err() {
        Conflict::Weaker { clause, pid, .. } => (clause, pid),
        other => panic!("{other}"),
    }
}

#[test]
fn the_one_that_guards_less_is_refused_and_the_other_is_not() {
    let claims = Claims::new(None);
    let root = own_root();
    let running = try_claim(&claims, &usual(&root)).unwrap();
    let (clause, pid) = refused(&claims, &lax(&root));
    assert!(
        clause.contains(&format!("{root}/.agents protected")),
        "{clause}"
    );
    assert_eq!(pid, std::process::id());
    // The same guards, and more of them, are no conflict.
    let same = try_claim(&claims, &usual(&root)).unwrap();
    let more = try_claim(&claims, &denying(&root, "secret")).unwrap();
    // But now the usual one guards less than one that runs.
    let (clause, _) = refused(&claims, &usual(&root));
    assert_eq!(clause, format!("{root}/secret denied"));
    drop(more);
    drop(try_claim(&claims, &usual(&root)).unwrap());
    drop((running, same));
    drop(try_claim(&claims, &lax(&root)).unwrap());
}

#[test]
fn of_two_that_cannot_be_compared_the_later_one_waits() {
    let claims = Claims::new(None);
    let root = own_root();
    let first = try_claim(&claims, &denying(&root, "one")).unwrap();
    assert_eq!(
        refused(&claims, &denying(&root, "two")).0,
        format!("{root}/one denied")
    );
    drop(first);
    let second = try_claim(&claims, &denying(&root, "two")).unwrap();
    assert_eq!(
        refused(&claims, &denying(&root, "one")).0,
        format!("{root}/two denied")
    );
    // What is denied as a whole is denied in part.
    drop(second);
    let part = try_claim(&claims, &denying(&root, "private/keys")).unwrap();
    drop(try_claim(&claims, &denying(&root, "private")).unwrap());
    drop(part);
}

#[test]
fn git_counts_and_network_does_not() {
    let claims = Claims::new(None);
    let root = own_root();
    let git = |access| with(&root, |rules| rules.with_git(access));
    let running = try_claim(&claims, &git(GitAccess::Commit)).unwrap();
    assert_eq!(
        refused(&claims, &git(GitAccess::Full)).0,
        "git's directory private and imported"
    );
    let stronger = try_claim(&claims, &git(GitAccess::ReadOnly)).unwrap();
    assert_eq!(
        refused(&claims, &git(GitAccess::Commit)).0,
        "git's directory read-only"
    );
    drop((running, stronger));

    let running = try_claim(&claims, &usual(&root)).unwrap();
    let host = NetworkAllowlistEntry::https("example.com").unwrap();
    let online = CanonicalSandboxPolicy::workspace_write_with_network(
        [WorkspaceRoot::new(&root).unwrap()],
        [host],
    );
    drop(try_claim(&claims, &resolve_at_home(&online, &root)).unwrap());
    drop(
        try_claim(
            &claims,
            &resolve(&CanonicalSandboxPolicy::full_access(), &root),
        )
        .unwrap(),
    );
    let wider = CanonicalSandboxPolicy::workspace_write_with_sensitive_paths(
        [&root, "/srv/elsewhere"].map(|root| WorkspaceRoot::new(root).unwrap()),
        [],
    );
    drop(try_claim(&claims, &resolve(&wider, &root)).unwrap());
    drop(running);
}

/// For policies with secrets in a home.
fn resolve_at_home(policy: &CanonicalSandboxPolicy, root: &str) -> ResolvedPolicy {
    let home = palisade_policy::AbsolutePath::new("/home/dev").unwrap();
    let facts = HostFacts::new(Os::Linux).with_uid(1000).with_home(home);
    let cwd = WorkspaceRoot::new(root).unwrap();
    policy.resolve(&PolicyContext::new(facts, cwd)).unwrap()
}

#[test]
fn a_root_inside_another_is_the_same_workspace() {
    let claims = Claims::new(None);
    let root = own_root();
    let inner = format!("{root}/part");
    let running = try_claim(&claims, &usual(&inner)).unwrap();
    // The outer one does not guard what the inner one guards.
    let (clause, _) = refused(&claims, &usual(&root));
    assert!(clause.starts_with(&inner), "{clause}");
    drop(running);
    let running = try_claim(&claims, &denying(&root, "part/secret")).unwrap();
    assert_eq!(
        refused(&claims, &usual(&inner)).0,
        format!("{inner}/secret denied")
    );
    drop(running);
    // What the outer one guards elsewhere is no matter of the inner one.
    let running = try_claim(&claims, &denying(&root, "other")).unwrap();
    drop(try_claim(&claims, &usual(&inner)).unwrap());
    drop(try_claim(&claims, &lax(&format!("{root}-beside"))).unwrap());
    drop(running);
}

#[test]
fn waiting_ends_with_the_other_with_the_time_or_with_a_wish() {
    let claims = Claims::new(None);
    let root = own_root();
    let cancel = Cancellation::new();
    let running = try_claim(&claims, &usual(&root)).unwrap();
    let begun = Instant::now();
    let short = Wait::For(Duration::from_millis(50));
    assert!(claims.claim(&lax(&root), short, &cancel).is_err());
    assert!(begun.elapsed() >= Duration::from_millis(50));

    let long = Wait::For(Duration::from_secs(60));
    let waiting = |cancel: &Cancellation| {
        let (claims, root, cancel) = (claims.clone(), root.clone(), cancel.clone());
        std::thread::spawn(move || claims.claim(&lax(&root), long, &cancel))
    };
    let cancelled = waiting(&cancel);
    cancel.cancel();
    assert_eq!(cancelled.join().unwrap().unwrap_err(), Conflict::Cancelled);
    let waits = waiting(&Cancellation::new());
    drop(running);
    drop(waits.join().unwrap().unwrap());
    assert!(begun.elapsed() < Duration::from_secs(30));
}

#[test]
fn a_runtime_is_not_blocked() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let claims = Claims::new(None);
    let root = own_root();
    runtime.block_on(async {
        let running = try_claim(&claims, &usual(&root)).unwrap();
        let (policy, cancel) = (lax(&root), Cancellation::new());
        let long = Wait::For(Duration::from_secs(60));
        let waits = claims.claim_async(&policy, long, &cancel);
        let other = async {
            tokio::time::sleep(Duration::from_millis(20)).await;
            drop(running);
        };
        let (claim, ()) = tokio::join!(waits, other);
        drop(claim.unwrap());
    });
}

/// Another process: this program again, as one test that only such a process runs.
struct Other {
    child: Child,
    output: BufReader<std::process::ChildStdout>,
}

const ROLE: &str = "PALISADE_TEST_CLAIMS";

impl Other {
    fn start(directory: &Path, kind: &str, root: &str) -> Self {
        let mut child = Command::new("/proc/self/exe")
            .args(["--exact", "workspace::tests::other_process", "--nocapture"])
            .env(ROLE, format!("{}\n{kind}\n{root}", directory.display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, output }
    }

    fn answer(&mut self) -> String {
        loop {
            let mut line = String::new();
            assert_ne!(self.output.read_line(&mut line).unwrap(), 0, "no answer");
            if let Some(answer) = line.split("claims: ").nth(1) {
                return answer.trim().to_owned();
            }
        }
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    fn end(mut self) {
        self.child.stdin.take().unwrap().write_all(b"\n").unwrap();
        assert!(self.child.wait().unwrap().success());
    }
}

#[test]
#[expect(clippy::print_stdout, reason = "it answers another process")]
fn other_process() {
    let Ok(role) = std::env::var(ROLE) else {
        return;
    };
    let [directory, kind, root] = role.lines().collect::<Vec<_>>().try_into().unwrap();
    let claims = Claims::new(Some(PathBuf::from(directory)));
    let policy = match kind {
        "usual" => usual(root),
        _ => lax(root),
    };
    let wait = match kind {
        "waiting" => Wait::For(Duration::from_secs(60)),
        _ => Wait::Refuse,
    };
    if kind == "waiting" {
        println!("claims: waiting");
    }
    match claims.claim(&policy, wait, &Cancellation::new()) {
        Ok(claim) => {
            println!("claims: held");
            let mut line = String::new();
            std::io::stdin().read_line(&mut line).unwrap();
            drop(claim);
        }
        Err(conflict) => println!("claims: {conflict}"),
    }
}

fn claims_directory() -> (tempfile::TempDir, PathBuf) {
    let stage = tempfile::Builder::new()
        .prefix("palisade-claims-")
        .tempdir_in("/var/tmp")
        .unwrap();
    let directory = stage.path().join("run/claims");
    (stage, directory)
}

#[test]
fn other_processes_are_seen_and_the_killed_are_not() {
    let (_stage, directory) = claims_directory();
    let claims = Claims::new(Some(directory.clone()));
    let root = own_root();
    let mut other = Other::start(&directory, "usual", &root);
    assert_eq!(other.answer(), "held");
    let (clause, pid) = refused(&claims, &lax(&root));
    assert!(clause.contains("protected"), "{clause}");
    assert_eq!(pid, other.child.id());
    drop(try_claim(&claims, &usual(&root)).unwrap());
    let mut waiting = Other::start(&directory, "waiting", &root);
    assert_eq!(waiting.answer(), "waiting");
    // Killed, it leaves its file behind, and nobody heeds it.
    other.kill();
    assert_eq!(waiting.answer(), "held");
    drop(try_claim(&claims, &lax(&root)).unwrap());
    waiting.end();

    let own = try_claim(&claims, &usual(&root)).unwrap();
    let mut weaker = Other::start(&directory, "lax", &root);
    let answer = weaker.answer();
    assert!(answer.contains(&std::process::id().to_string()), "{answer}");
    assert!(answer.contains("run under the same policy"), "{answer}");
    drop(own);
    weaker.child.wait().unwrap();
    drop(try_claim(&claims, &usual(&root)).unwrap());
    // Nothing is left but the lock; the directories of workspaces go with the next look.
    let files: usize = fs::read_dir(&directory)
        .unwrap()
        .filter_map(|entry| fs::read_dir(entry.unwrap().path()).ok())
        .map(Iterator::count)
        .sum();
    assert_eq!(files, 0);
}

#[test]
fn many_at_once_agree_on_who_waits() {
    static INSIDE: AtomicU32 = AtomicU32::new(0);
    let (_stage, directory) = claims_directory();
    let root = own_root();
    let threads: Vec<_> = (0..8)
        .map(|number| {
            let (claims, root) = (Claims::new(Some(directory.clone())), root.clone());
            std::thread::spawn(move || {
                let policy = denying(&root, &format!("own-{number}"));
                let wait = Wait::For(Duration::from_secs(60));
                let claim = claims.claim(&policy, wait, &Cancellation::new()).unwrap();
                // Nobody else is here: every other one guards something that this one does not.
                assert_eq!(INSIDE.fetch_add(1, Ordering::SeqCst), 0);
                std::thread::yield_now();
                INSIDE.fetch_sub(1, Ordering::SeqCst);
                drop(claim);
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
}

#[test]
fn a_directory_that_others_can_write_is_refused() {
    let (_stage, directory) = claims_directory();
    let claims = Claims::new(Some(directory.clone()));
    let root = own_root();
    drop(try_claim(&claims, &usual(&root)).unwrap());
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o777)).unwrap();
    let conflict = try_claim(&claims, &usual(&root)).unwrap_err();
    assert!(conflict.to_string().contains("chmod 700"), "{conflict}");
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o700)).unwrap();
    drop(try_claim(&claims, &usual(&root)).unwrap());
    // A claim that nobody can read, of somebody who lives, lets nothing run beside it.
    let strange = directory.join("strange");
    fs::create_dir(&strange).unwrap();
    let file = fs::File::create(strange.join("claim")).unwrap();
    rustix::fs::flock(&file, rustix::fs::FlockOperation::LockExclusive).unwrap();
    let conflict = try_claim(&claims, &usual(&root)).unwrap_err();
    assert!(matches!(conflict, Conflict::Unusable { .. }), "{conflict}");
    drop(file);
    drop(try_claim(&claims, &usual(&root)).unwrap());
}
