//! Approvals: the person at the terminal, and programs that answer.

mod keys;
mod program;
mod socket;
mod window;

use crate::support::House;

/// A rule that asks about `touch`, in the user's policy, on its line 3.
const ASKS: &str = "version = 1

[[rule]]
id = \"ask-touch\"
prefix = [\"touch\"]
decision = \"prompt\"
why = \"files appear\"
";

/// A house where `touch` is asked about.
fn house() -> House {
    let house = House::new();
    house.write(".config/palisade/policy.toml", ASKS);
    house
}

/// How long to be sure that a question has not been answered: nothing to poll for, since nothing is to happen.
const MOMENT: std::time::Duration = std::time::Duration::from_millis(800);

/// Without colours, which are in the way of whoever compares texts.
fn plain(command: &mut std::process::Command) -> &mut std::process::Command {
    command.env("NO_COLOR", "1")
}
