//! The plan and the real kernel against the oracle: random policies over random trees, and every access to every entry.
//!
//! Each case is one session in which one process tries everything, undoing each attempt before the next. What the
//! oracle denies must have failed; what it allows must have worked, but for the reasons in [`Excuse`]. Afterwards the
//! files of the host must be what the allowed attempts made of them.
//!
//! `PALISADE_DIFFERENTIAL_CASES` is how many cases are tried, `PALISADE_DIFFERENTIAL_SEED` where they start.
#![expect(
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test ends where its assumption fails"
)]

mod case;
mod found;
mod judge;
mod probe;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use palisade_linux_landlock::survey::{self, SurveyOptions};
use palisade_linux_landlock::{Command, LinuxLandlock, Plan, Tier, private_places};
use palisade_policy::{
    AcceptedLosses, Backend as _, CanonicalSandboxPolicy, Enforcement, Guarantee, PolicyError,
    ResolvedPolicy,
};
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use tempfile::TempDir;

use crate::support::{Stage, landlock_losses, run, start};
use case::{Case, entries};
use judge::{Excuse, Judge};
use probe::Attempt;

/// How often each excuse was taken, and how much was tried at all.
#[derive(Debug, Default)]
struct Tally {
    cases: usize,
    refused_policies: usize,
    attempts: usize,
    allowed: usize,
    excuses: BTreeMap<Excuse, usize>,
}

#[test]
fn the_full_tier_does_what_the_oracle_says() {
    let tally = compare(Tier::Full);
    // Otherwise nothing was compared.
    assert!(tally.allowed * 5 > tally.attempts, "{tally:?}");
    assert!(tally.allowed * 5 < tally.attempts * 4, "{tally:?}");
    let excused: usize = tally.excuses.values().sum();
    assert!(excused * 5 < tally.attempts, "{tally:?}");
}

#[test]
fn the_landlock_tier_denies_what_it_reports_as_enforced() {
    compare(Tier::Landlock);
}

fn compare(tier: Tier) -> Tally {
    let number = |name: &str, default: u64| {
        std::env::var(name).map_or(default, |text| text.parse().unwrap())
    };
    let cases = u32::try_from(number("PALISADE_DIFFERENTIAL_CASES", 40)).unwrap();
    let seed = number("PALISADE_DIFFERENTIAL_SEED", 4);
    println!("PALISADE_DIFFERENTIAL_SEED={seed} PALISADE_DIFFERENTIAL_CASES={cases}");
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let config = Config {
        cases,
        failure_persistence: None,
        max_shrink_iters: 300,
        ..Config::default()
    };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let program = Program::copy();
    let tally = std::cell::RefCell::new(Tally::default());
    let result = runner.run(&Case::any(), |case| {
        try_case(&case, tier, &program, &mut tally.borrow_mut()).map_err(TestCaseError::fail)
    });
    match result {
        Ok(()) => {}
        Err(TestError::Fail(why, case)) => panic!("{why}\nin the smallest case {case:#?}"),
        Err(error) => panic!("{error}"),
    }
    let tally = tally.into_inner();
    println!("{tier:?}: {tally:#?}");
    assert!(tally.refused_policies * 2 < tally.cases, "{tally:?}");
    tally
}

/// This test, where a session can execute it: not in `/tmp`, which sessions replace.
struct Program {
    _base: TempDir,
    path: PathBuf,
}

impl Program {
    fn copy() -> Self {
        let base = tempfile::Builder::new()
            .prefix("palisade-test-")
            .tempdir_in("/var/tmp")
            .unwrap();
        let path = fs::canonicalize(base.path()).unwrap().join("probe");
        fs::copy(std::env::current_exe().unwrap(), &path).unwrap();
        Self { _base: base, path }
    }
}

fn try_case(case: &Case, tier: Tier, program: &Program, tally: &mut Tally) -> Result<(), String> {
    tally.cases += 1;
    let stage = Stage::new();
    case.plant(&stage);
    let policy = case.policy(&stage);
    let Ok((policy, plan, enforcement)) = lower(&stage, &policy, tier) else {
        // A root in a guarded place or through a link, for example.
        tally.refused_policies += 1;
        return Ok(());
    };
    let before = snapshot(&stage);
    let attempts = attempts(case, &stage, &before);
    let judge = Judge::new(&policy, &enforcement, tier, before.keys());
    // Everything is judged by the tree as it is now.
    let verdicts: Vec<_> = attempts
        .iter()
        .map(|attempt| judge.expect(attempt))
        .collect();

    let session = start(&plan).map_err(|error| format!("{error}\n{plan:?}"))?;
    let arguments = [program.path.to_str().unwrap()]
        .into_iter()
        .chain(probe::ARGUMENTS);
    let mut variables = stage.env();
    variables.extend(probe::environment(&attempts));
    let cwd = Path::new("/");
    let command = Command::new(arguments, cwd).with_env(variables);
    let output = run(&session, &command).map_err(|error| error.to_string())?;
    session.end();
    let outcomes = probe::outcomes(&output.text)?;
    if outcomes.len() != attempts.len() {
        return Err(format!(
            "{} of {} answers: {output:?}",
            outcomes.len(),
            attempts.len()
        ));
    }

    let mut expected = before.clone();
    let mut wrong = Vec::new();
    for ((attempt, outcome), verdict) in attempts.iter().zip(&outcomes).zip(&verdicts) {
        tally.attempts += 1;
        tally.allowed += usize::from(verdict.is_allowed());
        match judge.compare(attempt, *outcome, verdict) {
            Ok(None) => {}
            Ok(Some(excuse)) => *tally.excuses.entry(excuse).or_default() += 1,
            Err(why) => wrong.push(why),
        }
        if let (Attempt::Append(path), Ok(())) = (attempt, outcome)
            && let Ok(real) = fs::canonicalize(path)
            && let Some(Node::File(text)) = expected.get_mut(&real)
        {
            text.push('+');
        }
    }
    for (path, node) in &expected {
        let now = node_at(path);
        if now.as_ref() != Some(node) {
            wrong.push(format!("{} is {now:?}, not {node:?}", path.display()));
        }
    }
    for path in snapshot(&stage).into_keys() {
        if !expected.contains_key(&path) {
            wrong.push(format!("{} is left behind", path.display()));
        }
    }
    if wrong.is_empty() {
        return Ok(());
    }
    let tree: Vec<String> = before
        .iter()
        .map(|(path, node)| format!("{}: {node:?}", path.display()))
        .collect();
    Err(format!(
        "{tier:?}\n{}\ntree:\n{}\nroots: {:?}\nrules: {:?}\nplan: {:?}\n{enforcement}",
        wrong.join("\n"),
        tree.join("\n"),
        policy.roots(),
        policy.canonical().rules(),
        plan.mounts,
    ))
}

fn lower(
    stage: &Stage,
    policy: &CanonicalSandboxPolicy,
    tier: Tier,
) -> Result<(ResolvedPolicy, Plan, Enforcement), PolicyError> {
    let mut host = stage.host(tier);
    let context = stage.context().with_private(private_places(&host));
    let policy = policy.resolve(&context)?;
    survey::look(&mut host, &policy, &SurveyOptions::launch());
    let lowered = LinuxLandlock.lower(&policy, &host)?;
    let lost = [Guarantee::ProtectedPaths, Guarantee::DeniedReads];
    let losses: AcceptedLosses = match tier {
        Tier::Full => lost.into_iter().collect(),
        Tier::Landlock => {
            let known = Guarantee::ALL.into_iter();
            let accepted = landlock_losses();
            known
                .filter(|guarantee| accepted.contains(*guarantee) || lost.contains(guarantee))
                .collect()
        }
    };
    let (plan, enforcement) = lowered.admit(&losses).unwrap();
    Ok((policy, plan, enforcement))
}

/// What is at a path on the host.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Node {
    Directory,
    File(String),
    Link(PathBuf),
}

fn node_at(path: &Path) -> Option<Node> {
    let metadata = fs::symlink_metadata(path).ok()?;
    Some(if metadata.is_dir() {
        Node::Directory
    } else if metadata.is_symlink() {
        Node::Link(fs::read_link(path).unwrap())
    } else {
        Node::File(fs::read_to_string(path).unwrap())
    })
}

fn snapshot(stage: &Stage) -> BTreeMap<PathBuf, Node> {
    [&stage.workspace, &stage.home, &stage.outside]
        .into_iter()
        .flat_map(|top| entries(top))
        .map(|path| {
            let node = node_at(&path).unwrap();
            (path, node)
        })
        .collect()
}

/// Everything that can be tried at each entry, at names that are free, and at some places of the system.
fn attempts(case: &Case, stage: &Stage, tree: &BTreeMap<PathBuf, Node>) -> Vec<Attempt> {
    let mut points: Vec<PathBuf> = tree.keys().cloned().collect();
    for (path, node) in tree {
        if let (Node::Link(_), Ok(inside)) = (node, fs::read_dir(path)) {
            let names = inside.map(|entry| entry.unwrap().file_name());
            let mut names: Vec<_> = names.collect();
            names.sort();
            points.extend(names.iter().take(3).map(|name| path.join(name)));
        }
    }
    points.extend(case.named(stage));
    points.sort();
    points.dedup();

    let mut attempts = Vec::new();
    for point in &points {
        match fs::metadata(point) {
            Ok(found) if found.is_dir() => {
                attempts.push(Attempt::List(point.clone()));
                attempts.push(Attempt::Change(point.clone()));
                attempts.push(Attempt::MakeFile(point.join("new")));
                attempts.push(Attempt::MakeDirectory(point.join("fresh")));
            }
            Ok(_) => {
                attempts.push(Attempt::Read(point.clone()));
                attempts.push(Attempt::Change(point.clone()));
                attempts.push(Attempt::Append(point.clone()));
            }
            Err(_) => {}
        }
        match node_at(point) {
            Some(Node::File(text)) => attempts.push(Attempt::RemoveFile(point.clone(), text)),
            Some(Node::Link(target)) => attempts.push(Attempt::RemoveLink(point.clone(), target)),
            Some(Node::Directory) => {
                let empty = fs::read_dir(point).unwrap().next().is_none();
                attempts.extend(empty.then(|| Attempt::RemoveDirectory(point.clone())));
            }
            None if point.parent().is_some_and(Path::is_dir) => {
                attempts.push(Attempt::MakeFile(point.clone()));
                attempts.push(Attempt::MakeDirectory(point.clone()));
            }
            None => {}
        }
    }
    for (from, to) in &case.moves {
        let point = |number: &u8| &points[usize::from(*number) % points.len()];
        let (from, to) = (point(from), point(to));
        // Moving an entry to where it is does nothing.
        if judge::entry(from) == judge::entry(to) || node_at(from).is_none() {
            continue;
        }
        if node_at(to).is_some() {
            attempts.push(Attempt::Exchange(from.clone(), to.clone()));
            let moved = to.with_file_name("moved");
            attempts.push(Attempt::Rename(from.clone(), moved));
        } else if to.parent().is_some_and(Path::is_dir) {
            attempts.push(Attempt::Rename(from.clone(), to.clone()));
        }
    }
    for path in [
        "/palisade-differential",
        "/tmp/palisade-differential",
        "/dev/shm/palisade-differential",
        "/var/tmp/palisade-differential",
    ] {
        let path = PathBuf::from(path);
        if path.parent().is_some_and(Path::is_dir) {
            attempts.push(Attempt::MakeFile(path));
        }
    }
    attempts.push(Attempt::Append("/dev/null".into()));
    // What stays comes last, so that everything else meets the tree as it was.
    attempts.sort_by_key(|attempt| matches!(attempt, Attempt::Append(_)));
    attempts
}
