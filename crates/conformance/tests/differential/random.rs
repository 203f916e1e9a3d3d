//! Random cases, and how a failure is told.

use std::fs;

use palisade_policy::CanonicalSandboxPolicy;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};

use crate::case::Case;
use crate::stage::Stage;

/// Tries something on this many random cases, each on a stage of its own; a failure is shrunk and told.
pub(crate) fn try_cases(
    cases: u32,
    mut try_one: impl FnMut(&Case, &Stage, &CanonicalSandboxPolicy) -> Result<(), String>,
) {
    let number = |name: &str, default: u64| {
        std::env::var(name).map_or(default, |text| text.parse().unwrap())
    };
    let times = u32::try_from(number("PALISADE_DIFFERENTIAL_CASES", 1)).unwrap();
    let seed = number("PALISADE_DIFFERENTIAL_SEED", 8);
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let config = Config {
        cases: cases * times,
        failure_persistence: None,
        max_shrink_iters: 400,
        ..Config::default()
    };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let try_one = std::cell::RefCell::new(&mut try_one);
    let result = runner.run(&Case::any(), |case| {
        let stage = Stage::new();
        case.plant(&stage);
        let policy = case.policy(&stage);
        (try_one.borrow_mut())(&case, &stage, &policy)
            .map_err(|why| TestCaseError::fail(tell(&why, &stage, &policy)))
    });
    match result {
        Ok(()) => {}
        Err(TestError::Fail(why, case)) => {
            panic!("PALISADE_DIFFERENTIAL_SEED={seed}\n{why}\nthe smallest case: {case:?}")
        }
        Err(error) => panic!("PALISADE_DIFFERENTIAL_SEED={seed}\n{error}"),
    }
}

/// A disagreement with all that it takes to understand it: the policy as JSON, and the tree.
fn tell(why: &str, stage: &Stage, policy: &CanonicalSandboxPolicy) -> String {
    let json = serde_json::to_string(policy).unwrap();
    let mut tree = String::new();
    for path in crate::case::entries(stage.workspace.parent().unwrap()) {
        let what = match fs::read_link(&path) {
            Ok(target) => format!(" -> {}", target.display()),
            Err(_) if path.is_dir() => "/".to_owned(),
            Err(_) => String::new(),
        };
        tree.push_str(&format!("  {}{what}\n", path.display()));
    }
    format!(
        "{why}\npolicy: {json}\ncwd: {}\ntree:\n{tree}",
        stage.workspace.display()
    )
}
