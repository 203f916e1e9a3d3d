//! What the output of a run costs against a plain pipe, side by side in one process.
//!
//! Every round runs each subject once, so that noise falls on all of them alike; the medians are compared. What a launch
//! costs is for `cargo xtask bench`.
#![expect(clippy::print_stdout, reason = "a benchmark says what it measured")]
#![cfg_attr(
    target_os = "linux",
    expect(
        clippy::unwrap_used,
        reason = "a benchmark ends where its assumption fails"
    )
)]

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
    println!("user {}\n", rustix::process::geteuid().as_raw());
    // How quickly it starts does not matter for a GiB of output.
    let helper = env!("CARGO_BIN_EXE_palisade-helper");
    streams::compare(&stage::Stage::new(helper.as_ref()));
}
