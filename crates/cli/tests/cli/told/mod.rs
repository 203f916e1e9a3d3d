//! What `run` says to people: each line that it gives to type is typed here.

mod bad_input;
mod denials;
#[cfg(target_os = "linux")]
mod floors;
mod status;
#[cfg(target_os = "linux")]
mod sys;
#[cfg(target_os = "linux")]
mod system_calls;
#[cfg(target_os = "linux")]
mod weaker;

use crate::support::{House, Said};

/// What was said, the same on every machine.
pub(crate) fn plain(house: &House, text: &str) -> String {
    let program = house
        .palisade()
        .get_program()
        .to_string_lossy()
        .into_owned();
    let home = house.home().to_string_lossy().into_owned();
    text.replace(&program, "palisade")
        .replace(&home, "/home/dev")
}

/// The lines below a heading that says what to do.
pub(crate) fn below(said: &Said, heading: &str) -> String {
    let mut lines = said.err.lines().skip_while(|line| !line.contains(heading));
    assert!(lines.next().is_some(), "no `{heading}` in {}", said.err);
    let lines: Vec<&str> = lines
        .take_while(|line| line.starts_with("    "))
        .map(str::trim)
        .collect();
    lines.join("\n")
}

/// Types a line into a shell, in the project.
pub(crate) fn typed(house: &House, line: &str) -> Said {
    Said::of(house.command("bash").args(["-c", line]).output().unwrap())
}
