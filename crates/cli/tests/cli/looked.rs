//! What the tests of the commands that look and explain share.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::support::{House, Said};

/// Makes a file below home one that can be run.
pub(crate) fn make_executable(house: &House, file: &str) {
    let path = house.home().join(file);
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// What was said, without what differs from machine to machine.
pub(crate) fn redacted(house: &House, said: &Said) -> String {
    let text = format!("{}{}exit {}\n", said.out, said.err, said.code);
    let home = house.home().to_str().unwrap();
    let text = text.replace(home, "[HOME]");
    let words: Vec<&str> = text.split(' ').collect();
    let counted = words.iter().enumerate().map(|(at, word)| {
        let next = words.get(at + 1).copied().unwrap_or_default();
        let number = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
        // How many there are depends on the user.
        match number && next == "secrets" {
            true => "N",
            false => word,
        }
    });
    counted.collect::<Vec<_>>().join(" ")
}
