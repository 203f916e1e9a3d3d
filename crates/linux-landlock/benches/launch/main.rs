//! What a launch costs, as a ratio to a bare `posix_spawn` of the same program, measured side by side in one run.
//!
//! Every round runs each subject once, so that noise falls on all of them alike; the medians are compared. A second
//! table adds one step of the full tier after another. `cargo bench -p palisade-linux-landlock` prints both.
#![expect(clippy::print_stdout, reason = "a benchmark says what it measured")]
#![cfg_attr(
    target_os = "linux",
    expect(
        clippy::unwrap_used,
        reason = "a benchmark ends where its assumption fails"
    )
)]

#[cfg(target_os = "linux")]
mod helper;
#[cfg(target_os = "linux")]
mod plans;
#[cfg(target_os = "linux")]
mod subjects;
#[cfg(target_os = "linux")]
mod workers;

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("skipped: the sandbox is for Linux");
}

#[cfg(target_os = "linux")]
fn main() {
    let mut arguments = std::env::args().skip(1);
    if arguments.next().as_deref() == Some(workers::ARGUMENT) {
        workers::serve(
            arguments.next().unwrap().parse().unwrap(),
            arguments.next().unwrap().into(),
        );
        return;
    }
    let helper = helper::build();
    let stage = plans::Stage::new();
    let rounds = std::env::var("PALISADE_BENCH_ROUNDS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(300);
    println!(
        "user {}, {rounds} rounds, helper: {}\n",
        rustix::process::geteuid().as_raw(),
        helper.about
    );
    subjects::compare(&stage, &helper.helper, rounds);
    subjects::steps(&stage, &helper.helper, rounds);
    workers::compare(&stage, &helper, rounds);
}
