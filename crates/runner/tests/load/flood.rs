//! A flood: what is not kept takes no memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use palisade_runner::capture::Caps;
use palisade_runner::outcome::{Finished, Outcome};
use palisade_runner::session::{Command, Policy};

use crate::alone::alone;
use crate::counts::{Counts, status_kib};
use crate::support::{Stage, runtime};

/// What the command writes.
const FLOOD: u64 = 2 * 1024 * 1024 * 1024;

/// What a run may need besides what it keeps.
const BESIDES_KIB: u64 = 16 * 1024;

fn flood(policy: impl Fn(&Stage) -> Policy, run: impl Fn(Command) -> Finished) {
    let stage = Stage::new();
    let session = stage.session(policy(&stage));
    // Whatever is loaded or set up once is no matter of the flood.
    assert!(run(session.command("true")).outcome.success());
    let counts = Counts::now(stage.root());
    let before = status_kib("VmRSS");
    let seen = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&seen);
    let command = session
        .script("head -c 2147483648 /dev/zero; echo end >&2; exit 7")
        .live(move |chunk| {
            counter.fetch_add(chunk.bytes.len() as u64, Ordering::Relaxed);
        })
        .no_timeout();
    let finished = run(command);
    assert_eq!(finished.outcome, Outcome::Exited { code: 7 });
    let kept = &finished.output.stdout;
    let total = kept.omitted + (kept.head.len() + kept.tail.len()) as u64;
    assert_eq!(total, FLOOD);
    assert_eq!(finished.output.stderr.text(), "end\n");
    assert_eq!(seen.load(Ordering::Relaxed), FLOOD + 4);
    let caps = Caps::default();
    // Two streams, and both in the order of arrival.
    let kept_kib = 3 * (caps.head + caps.tail) as u64 / 1024;
    let grown = status_kib("VmHWM").saturating_sub(before);
    println!("note: a flood of 2 GiB: {grown} KiB more, of which {kept_kib} KiB may be kept");
    assert!(grown <= kept_kib + BESIDES_KIB, "{grown} KiB");
    drop(finished);
    counts.hold_again(stage.root());
}

#[test]
fn two_gibibytes_with_a_runtime() {
    alone("flood::two_gibibytes_with_a_runtime", || {
        let runtime = runtime();
        flood(Stage::confined, |command| {
            runtime.block_on(command.output()).unwrap()
        });
    });
}

#[test]
fn two_gibibytes_without_a_runtime_and_without_a_sandbox() {
    alone(
        "flood::two_gibibytes_without_a_runtime_and_without_a_sandbox",
        || flood(Stage::bare, |command| command.output_blocking().unwrap()),
    );
}
