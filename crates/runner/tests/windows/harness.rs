//! Runs tests one after another, each to its end, and tells what came of them.

use std::panic::catch_unwind;
use std::process::ExitCode;

/// A test and its name.
pub(crate) type Test = (&'static str, fn());

/// Runs those whose name holds the first argument that is no option.
pub(crate) fn run(groups: &[&[Test]]) -> ExitCode {
    let filter = std::env::args()
        .skip(1)
        .find(|argument| !argument.starts_with('-'))
        .unwrap_or_default();
    let (mut passed, mut failed) = (0, 0);
    let tests = groups.iter().copied().flatten();
    for (name, test) in tests.filter(|(name, _)| name.contains(&filter)) {
        match catch_unwind(test) {
            Ok(()) => {
                passed += 1;
                println!("test {name} ... ok");
            }
            Err(_) => {
                failed += 1;
                println!("test {name} ... FAILED");
            }
        }
    }
    let word = if failed == 0 { "ok" } else { "FAILED" };
    println!("test result: {word}. {passed} passed; {failed} failed");
    ExitCode::from(u8::from(failed > 0))
}
