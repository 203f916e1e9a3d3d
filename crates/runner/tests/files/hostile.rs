//! Patches that nobody would write on purpose: they are understood or refused, quickly, and never panic.

use std::time::{Duration, Instant};

use palisade_runner::patch::{Patch, PatchError, apply};
use proptest::prelude::*;

use crate::support::Stage;

const PIECES: &[&[u8]] = &[
    b"diff --git a/x b/x\n",
    b"diff --git \"a/x\\",
    b"--- a/x\n",
    b"+++ b/x\n",
    b"@@ -1 +1 @@\n",
    b"@@ -1,",
    b"+",
    b"-",
    b" ",
    b"\n",
    b"\\ No newline at end of file\n",
    b"rename from x\n",
    b"rename to y\n",
    b"new file mode 100644\n",
    b"old mode 100644\n",
    b"deleted file mode 100755\n",
    b"index 1..2 100644\n",
    b"/dev/null\n",
    b"--- /dev/null\n",
    b"+++ /dev/null\n",
    b"\"",
    b"\\777",
    b"a\n",
    b"@@ -0,0 +1,999999999 @@\n",
    b"@@ -999999999 +1 @@\n",
    b"\xff",
    b"\r\n",
    b"copy from x\n",
    b"copy to z\n",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_panic(pieces in proptest::collection::vec(proptest::sample::select(PIECES), 0..24)) {
        if let Ok(patch) = Patch::parse(&pieces.concat()) {
            prop_assert!(patch.paths().count() > 0);
            prop_assert!(patch.changes().count() > 0);
        }
    }

    #[test]
    fn no_random_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = Patch::parse(&bytes);
    }
}

fn quickly<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let begin = Instant::now();
    let done = work();
    let took = begin.elapsed();
    assert!(took < Duration::from_secs(20), "{what} took {took:?}");
    done
}

#[test]
fn long_patches_take_time_that_grows_with_their_length() {
    let megabytes = |piece: &[u8]| piece.repeat((4 << 20) / piece.len());
    for piece in [
        &b"\n"[..],
        b"--- a\n",
        b"-- \n",
        b"diff --git a/x b/x\n",
        b"\\ x\n",
        b"@@ -1 +1 @@\n",
        b"--- \n+++ \n",
        b"\"",
        b" \"",
        b"-\n",
    ] {
        quickly("parsing", || {
            Patch::parse(&megabytes(piece)).map(|_| ()).unwrap_err()
        });
        let mut one = b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n".to_vec();
        one.extend(megabytes(piece));
        quickly("parsing", || drop(Patch::parse(&one)));
    }
}

#[test]
fn hunks_that_are_nowhere_near_cost_a_bounded_time() {
    let stage = Stage::new();
    let line = b"the same line again\n";
    std::fs::write(stage.workspace.join("x"), line.repeat(400_000)).unwrap();
    // Every hunk nearly fits everywhere, and is said to be far behind the end.
    let mut patch = b"--- a/x\n+++ b/x\n".to_vec();
    for i in 0..2000_u64 {
        let start = 500_000 + i * 100;
        patch.extend(format!("@@ -{start},20 +{start},20 @@\n").into_bytes());
        for _ in 0..20 {
            patch.extend(b" the same line again\n");
        }
    }
    let patch = Patch::parse(&patch).unwrap();
    let result = quickly("looking", || apply(&patch, &stage.files(), &stage.path("")));
    assert!(matches!(result, Err(PatchError::Conflict(_))), "{result:?}");
}
