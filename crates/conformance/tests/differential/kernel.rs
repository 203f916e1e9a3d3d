//! The kernel against the oracle and against the model: each case is one session in which one process tries everything,
//! undoing each attempt before the next. Afterwards the files of the host must be what the allowed attempts made of them.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use palisade_linux_landlock::{Command, Helper, LaunchError, Session, Stdio, Tier};
use palisade_policy::{CanonicalSandboxPolicy, Environment};
use tempfile::TempDir;

use crate::attempt::{Attempt, Outcome};
use crate::inside;
use crate::lowered::{Lowered, lower};
use crate::oracle::{Excuse, Expected, Judge};
use crate::predict::predict;
use crate::random::try_cases;
use crate::stage::{Stage, directory};
use crate::tries::{self, Node, node_at, snapshot};

/// How often each excuse was taken, and how much was tried at all.
#[derive(Debug, Default)]
struct Tally {
    cases: usize,
    refused_policies: usize,
    attempts: usize,
    allowed: usize,
    predicted: usize,
    excuses: BTreeMap<Excuse, usize>,
}

#[test]
fn the_full_tier_does_what_the_oracle_says() {
    let tally = compare(Tier::Full, 28);
    // Otherwise nothing was compared.
    assert!(tally.allowed * 5 > tally.attempts, "{tally:?}");
    assert!(tally.allowed * 5 < tally.attempts * 4, "{tally:?}");
    let excused: usize = tally.excuses.values().sum();
    assert!(excused * 5 < tally.attempts, "{tally:?}");
}

#[test]
fn the_landlock_tier_denies_what_it_reports_as_enforced() {
    compare(Tier::Landlock, 20);
}

fn compare(tier: Tier, cases: u32) -> Tally {
    let program = Program::copy();
    let mut tally = Tally::default();
    try_cases(cases, |case, stage, policy| {
        tally.cases += 1;
        // A session is not started if what it pins is gone by then, and here other tests share that directory.
        if case.opens_host_tmp() {
            tally.refused_policies += 1;
            return Ok(());
        }
        let attempts = tries::all(stage, case.named(stage), &case.moves);
        try_policy(stage, policy, attempts, tier, &program, &mut tally)
    });
    println!("kernel, {tier:?}: {tally:?}");
    assert!(tally.refused_policies * 2 < tally.cases, "{tally:?}");
    tally
}

/// The helper: where Cargo built it, or where whoever runs the tests as another user put it.
fn helper() -> Helper {
    let program = std::env::var_os("PALISADE_TEST_HELPER").map_or_else(
        || PathBuf::from(env!("CARGO_BIN_EXE_palisade-conformance")),
        PathBuf::from,
    );
    Helper::new(program)
}

/// This test, where a session can execute it: not in `/tmp`, which sessions replace.
struct Program {
    _base: TempDir,
    path: PathBuf,
}

impl Program {
    fn copy() -> Self {
        let base = directory("palisade-probe-");
        let path = fs::canonicalize(base.path()).unwrap().join("probe");
        fs::copy(std::env::current_exe().unwrap(), &path).unwrap();
        Self { _base: base, path }
    }
}

fn try_policy(
    stage: &Stage,
    policy: &CanonicalSandboxPolicy,
    mut attempts: Vec<Attempt>,
    tier: Tier,
    program: &Program,
    tally: &mut Tally,
) -> Result<(), String> {
    let Some(lowered) = lower(stage, policy, tier)? else {
        tally.refused_policies += 1;
        return Ok(());
    };
    attempts.retain(Attempt::is_local);
    let Lowered {
        policy,
        plan,
        enforcement,
    } = &lowered;
    let before = snapshot(stage);
    let judge = Judge::new(policy, enforcement, tier, before.keys());
    // Everything is judged by the tree as it is now.
    let judged: Vec<(Expected, Option<Outcome>)> = attempts
        .iter()
        .map(|attempt| (judge.expect(attempt), predict(plan, attempt)))
        .collect();
    let outcomes = perform(stage, &lowered, program, &attempts)?;

    let mut expected = before;
    let mut wrong = Vec::new();
    for ((attempt, outcome), (said, predicted)) in attempts.iter().zip(&outcomes).zip(&judged) {
        tally.attempts += 1;
        tally.allowed += usize::from(said.is_allowed());
        match judge.compare(attempt, *outcome, said) {
            Ok(None) => {}
            Ok(Some(excuse)) => *tally.excuses.entry(excuse).or_default() += 1,
            Err(why) => wrong.push(format!("the kernel: {why}")),
        }
        if let Some(predicted) = predicted {
            tally.predicted += 1;
            if predicted.is_ok() != outcome.is_ok() {
                wrong.push(format!(
                    "{attempt}\n  the kernel says {}, the model of the plan {}, the oracle {said}",
                    in_words(*outcome),
                    in_words(*predicted),
                ));
            }
        }
        if let (Attempt::Append(path), Ok(()), false) = (attempt, outcome, said.is_private())
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
    for path in snapshot(stage).into_keys() {
        if !expected.contains_key(&path) {
            wrong.push(format!("{} is left behind", path.display()));
        }
    }
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(format!(
            "{tier:?}\n{}\n{plan}\n{enforcement}",
            wrong.join("\n")
        )),
    }
}

fn in_words(outcome: Outcome) -> String {
    match outcome {
        Ok(()) => "it works".to_owned(),
        Err(errno) => std::io::Error::from_raw_os_error(errno).to_string(),
    }
}

/// Tries everything in a session of its own.
fn perform(
    stage: &Stage,
    lowered: &Lowered,
    program: &Program,
    attempts: &[Attempt],
) -> Result<Vec<Outcome>, String> {
    let session = Session::start(&lowered.plan, &helper())
        .map_err(|error| format!("{error}\n{}", lowered.plan))?;
    let words = [program.path.to_str().unwrap()]
        .into_iter()
        .chain(inside::ARGUMENTS);
    let mut variables: Environment = [
        (
            OsString::from("PATH"),
            OsString::from("/usr/local/bin:/usr/bin:/bin"),
        ),
        ("HOME".into(), stage.home.clone().into_os_string()),
        ("LC_ALL".into(), "C".into()),
    ]
    .into_iter()
    .collect();
    variables.extend(inside::environment(attempts));
    let command = Command::new(words, Path::new("/")).with_env(variables);
    let text = run(&session, &command).map_err(|error| error.to_string())?;
    session.end();
    let outcomes = inside::outcomes(&text)?;
    match outcomes.len() == attempts.len() {
        true => Ok(outcomes),
        false => Err(format!(
            "{} of {} answers: {text}",
            outcomes.len(),
            attempts.len()
        )),
    }
}

/// Runs a command in a session and gives what it wrote.
fn run(session: &Session, command: &Command) -> Result<String, LaunchError> {
    let (mut reader, writer) = std::io::pipe().unwrap();
    let writer = OwnedFd::from(writer);
    let null = File::open("/dev/null").unwrap();
    let stdio = Stdio::new(null.into(), writer.try_clone().unwrap(), writer);
    let mut child = session.spawn(command, &stdio)?;
    drop(stdio);
    // Read on the side: a command that is not started closes the pipe as well.
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    });
    let exit = child.wait();
    let text = reader.join().unwrap();
    exit.map(|_| text)
}
