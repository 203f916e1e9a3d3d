//! What was agreed to for good, and the record of what ran.

mod approvals;
mod audit;
mod trust;

use crate::support::House;

/// A text in which nothing differs from machine to machine.
fn plain(house: &House, text: &str) -> String {
    let text = text.replace(house.home().to_str().unwrap(), "HOME");
    text.lines().map(|line| dated(line) + "\n").collect()
}

/// A line with its times replaced.
fn dated(line: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    for word in line.split(' ') {
        let bare = word.trim_end_matches([',', '"']).trim_start_matches('"');
        let is_time = bare.len() >= 20 && bare.ends_with('Z') && bare.contains('T');
        words.push(match is_time {
            true => word.replace(bare, "TIME"),
            false => word.to_owned(),
        });
    }
    words.join(" ")
}
