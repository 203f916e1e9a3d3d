//! `palisade policy`: each of its commands, on files of the test's own.

mod artefacts;
mod authors;
mod begin;
mod others;

use crate::support::{House, Said};

/// What was said, the same on every machine.
fn shown(house: &House, said: &Said) -> String {
    let mut text = format!("exit {}\n", said.code);
    for (name, part) in [("stdout", &said.out), ("stderr", &said.err)] {
        if !part.is_empty() {
            text.push_str(&format!("--- {name}\n{part}"));
        }
    }
    text.replace(house.home().to_str().unwrap(), "[HOME]")
}

fn policy(house: &House, arguments: &[&str]) -> Said {
    house.say([&["policy"], arguments].concat())
}
