//! What we call plain, real shells run with exactly those arguments.
//!
//! Random nasty strings are analysed; each one called plain is given to real shells as `shell -c STRING`, in a
//! throw-away directory where every program the generator knows is a script that records how it was called. The
//! record must agree with the analysis. Run with `PALISADE_DIFF_SEED=n` to repeat a run and `PALISADE_DIFF_COUNT=n`
//! to change its length; with `PALISADE_CI_STRICT=1` a missing shell fails the test.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "the oracle is a real shell; the library under test stays pure"
)]

mod generate;
mod oracle;
mod verdict;

use std::time::{SystemTime, UNIX_EPOCH};

use palisade_shell_analysis::{Limits, Plain, Shell, analyze_script};

use generate::Rng;
use oracle::Oracle;

const STRINGS: usize = 24_000;
/// Fewer plain strings than this would make the test vacuous.
const MIN_PLAIN_SHARE: usize = 6;

#[derive(Default)]
struct Tally {
    compared: usize,
    exact: usize,
    disagreements: Vec<String>,
}

#[test]
fn real_shells_run_exactly_what_is_called_plain() {
    let seed = number("PALISADE_DIFF_SEED").unwrap_or_else(|| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        now.as_secs() ^ u64::from(now.subsec_nanos())
    });
    let count = number("PALISADE_DIFF_COUNT").map_or(STRINGS, |n| usize::try_from(n).unwrap());
    let mut rng = Rng::new(seed);
    let limits = Limits::default();
    let mut extended: Vec<(String, Plain)> = Vec::new();
    let mut posix: Vec<(String, Plain)> = Vec::new();
    let mut plain = 0;
    for _ in 0..count {
        let script = std::iter::repeat_with(|| generate::script(&mut rng))
            .find(|script| oracle::is_harmless(script))
            .unwrap();
        let as_bash = analyze_script(&script, Shell::Bash, &limits).plain;
        assert_eq!(
            as_bash,
            analyze_script(&script, Shell::Zsh, &limits).plain,
            "bash and zsh have the same rules: {script:?}"
        );
        if let Ok(posix_plain) = analyze_script(&script, Shell::Sh, &limits).plain {
            assert_eq!(as_bash.as_ref(), Ok(&posix_plain), "{script:?}");
            posix.push((script.clone(), posix_plain));
        }
        if let Ok(as_bash) = as_bash {
            plain += 1;
            extended.push((script, as_bash));
        }
    }
    eprintln!("differential: seed {seed}, {count} strings, {plain} plain");
    let mut disagreements = Vec::new();
    std::thread::scope(|scope| {
        let runs = [("bash", &extended), ("zsh", &extended), ("dash", &posix)];
        let handles =
            runs.map(|(name, scripts)| scope.spawn(move || (name, compare(name, scripts))));
        for handle in handles {
            let (name, tally) = handle.join().unwrap();
            let Some(tally) = tally else {
                eprintln!("skipped: {name} is not installed");
                let strict = std::env::var_os("PALISADE_CI_STRICT").is_some_and(|v| v == "1");
                assert!(!strict, "{name} is required");
                continue;
            };
            eprintln!(
                "differential: {name}: {} compared, {} of them exactly, {} disagreements",
                tally.compared,
                tally.exact,
                tally.disagreements.len()
            );
            assert!(
                tally.exact * 2 > tally.compared,
                "{name}: too few exact comparisons"
            );
            disagreements.extend(tally.disagreements);
        }
    });
    assert!(
        disagreements.is_empty(),
        "seed {seed}: {} disagreements, the first ones:\n{}",
        disagreements.len(),
        disagreements[..disagreements.len().min(20)].join("\n")
    );
    assert!(
        plain * MIN_PLAIN_SHARE >= count,
        "only {plain} of {count} strings were plain"
    );
}

/// Runs every script in one shell; `None` if the shell is missing.
fn compare(shell: &str, scripts: &[(String, Plain)]) -> Option<Tally> {
    let oracle = Oracle::new(shell)?;
    let mut tally = Tally::default();
    for batch in scripts.chunks(200) {
        let texts: Vec<&str> = batch.iter().map(|(text, _)| text.as_str()).collect();
        let runs = oracle.run(&texts);
        for ((text, plain), calls) in batch.iter().zip(runs) {
            tally.compared += 1;
            let exact = verdict::is_exact(plain);
            tally.exact += usize::from(exact);
            if let Err(why) = verdict::check(plain, &calls, exact) {
                tally
                    .disagreements
                    .push(format!("{shell} {text:?}: {why}; ran {calls:?}"));
            }
        }
    }
    Some(tally)
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}
