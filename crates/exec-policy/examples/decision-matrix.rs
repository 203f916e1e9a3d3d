//! Prints `docs/decision-matrix.md`.
#![expect(
    clippy::print_stdout,
    reason = "an example talks to people through its output"
)]

fn main() {
    print!("{}", palisade_exec_policy::matrix::markdown());
}
