//! What a run costs: output against a plain pipe, and launches against bare ones, side by side in one process.
//!
//! Every round runs each subject of a table once, so that noise falls on all of them alike; the medians are compared.
//! `cargo bench -p palisade-runner --bench run` prints two tables.
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
mod launches;
#[cfg(target_os = "linux")]
mod rounds;
#[cfg(target_os = "linux")]
mod stage;
#[cfg(target_os = "linux")]
mod streams;

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("skipped: the sandbox is for Linux");
}

#[cfg(target_os = "linux")]
fn main() {
    let helper = helper::build();
    let stage = stage::Stage::new(&helper.path);
    println!(
        "user {}, helper: {}\n",
        rustix::process::geteuid().as_raw(),
        helper.about
    );
    let only = std::env::var("PALISADE_BENCH_ONLY").unwrap_or_default();
    if "streams".contains(&only) {
        streams::compare(&stage);
    }
    if "launches".contains(&only) {
        launches::compare(&stage);
    }
}
