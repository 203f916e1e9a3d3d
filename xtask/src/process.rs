//! Running other programs and keeping what they say, in the order in which they said it.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::ci::Outcome;

pub(crate) struct Captured {
    /// What a person would type to see the same.
    pub(crate) command_line: String,
    pub(crate) success: bool,
    /// Standard output and standard error, interleaved.
    pub(crate) text: String,
    /// Whether it was ended because its time was up.
    pub(crate) timed_out: bool,
}

pub(crate) fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // Output is searched for phrases; colours would split them.
    command.env("CARGO_TERM_COLOR", "never");
    command
}

pub(crate) fn capture(mut command: Command) -> Result<Captured> {
    let command_line = describe(&command);
    let (mut reader, writer) = io::pipe().context("cannot create a pipe")?;
    command
        .stdin(Stdio::null())
        .stdout(writer.try_clone().context("cannot share a pipe")?)
        .stderr(writer);
    let mut child = command
        .spawn()
        .with_context(|| format!("cannot start `{command_line}`"))?;
    // The command still holds the writing ends; reading would never end.
    drop(command);
    let mut bytes = Vec::new();
    reader
        .read_to_end(&mut bytes)
        .with_context(|| format!("cannot read from `{command_line}`"))?;
    let status = child
        .wait()
        .with_context(|| format!("cannot wait for `{command_line}`"))?;
    Ok(Captured {
        command_line,
        success: status.success(),
        text: String::from_utf8_lossy(&bytes).into_owned(),
        timed_out: false,
    })
}

/// The same for a command that leaves others behind who keep its output open: it writes to a file, and is ended when its
/// time is up. Who starts others has to end those too.
pub(crate) fn capture_in_file(
    mut command: Command,
    file: &Path,
    longest: Duration,
) -> Result<Captured> {
    let command_line = describe(&command);
    let output = File::create(file).with_context(|| format!("cannot write {}", file.display()))?;
    command
        .stdin(Stdio::null())
        .stdout(output.try_clone().context("cannot share a file")?)
        .stderr(output);
    let mut child = command
        .spawn()
        .with_context(|| format!("cannot start `{command_line}`"))?;
    let start = Instant::now();
    let status = loop {
        let waiting = || format!("cannot wait for `{command_line}`");
        if let Some(status) = child.try_wait().with_context(waiting)? {
            break Some(status);
        }
        if start.elapsed() > longest {
            child.kill().with_context(waiting)?;
            child.wait().with_context(waiting)?;
            break None;
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let bytes = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    let mut text = String::from_utf8_lossy(&bytes).into_owned();
    if status.is_none() {
        text.push_str(&format!("\nended after {} s\n", longest.as_secs()));
    }
    Ok(Captured {
        command_line,
        success: status.is_some_and(|status| status.success()),
        text,
        timed_out: status.is_none(),
    })
}

/// Runs all commands, also after one has failed. The outcome holds the output of those that failed.
pub(crate) fn run_each(commands: impl IntoIterator<Item = Command>) -> Result<Outcome> {
    let mut failures = String::new();
    for command in commands {
        let captured = capture(command)?;
        if !captured.success {
            failures.push_str(&captured.report());
        }
    }
    Ok(Outcome::failed_if_any(failures))
}

impl Captured {
    /// What went wrong, the names of what failed first: a log is often read from its beginning, and cut.
    pub(crate) fn report(&self) -> String {
        let mut report = format!("$ {}\n", self.command_line);
        for line in self.text.lines().filter(|line| names_a_failure(line)) {
            report.push_str(&format!("{line}\n"));
        }
        for line in self.text.trim_end().lines().filter(|line| !is_well(line)) {
            report.push_str(&format!("{line}\n"));
        }
        report
    }
}

fn names_a_failure(line: &str) -> bool {
    line.starts_with("test ") && line.ends_with(" ... FAILED")
}

/// A line by which Cargo or a test harness says that something went as it should.
fn is_well(line: &str) -> bool {
    const PROGRESS: &[&str] = &[
        "Blocking ",
        "Checking ",
        "Compiling ",
        "Downloaded ",
        "Downloading ",
        "Finished ",
        "Locking ",
        "Updating ",
    ];
    let said = line.trim_start();
    (said.len() < line.len() && PROGRESS.iter().any(|word| said.starts_with(word)))
        || (line.starts_with("test ")
            && (line.ends_with(" ... ok") || line.ends_with(" ... ignored")))
        || line.starts_with("test result: ok. ")
        || names_a_failure(line)
}

fn describe(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program());
    let name = program.file_stem().unwrap_or(command.get_program());
    let mut line = name.to_string_lossy().into_owned();
    for arg in command.get_args() {
        line.push(' ');
        line.push_str(&arg.to_string_lossy());
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failing_command_is_named_with_its_output() {
        let mut command = cargo();
        command.arg("no-such-subcommand");
        let outcome = run_each([command]).unwrap();
        let Outcome::Failed(text) = outcome else {
            panic!("{outcome:?}");
        };
        assert!(
            text.starts_with("$ cargo no-such-subcommand\nerror: no such command"),
            "{text}"
        );
    }

    #[test]
    fn a_report_begins_with_what_failed_and_leaves_out_what_did_not() {
        let captured = Captured {
            command_line: "cargo test".to_owned(),
            success: false,
            text: "   Compiling a v1.0.0\nwarning: unused\ntest a ... ok\ntest b ... FAILED\n\n---- b stdout ----\n\
                   Finished is not a word of Cargo's here\n"
                .to_owned(),
            timed_out: false,
        };
        assert_eq!(
            captured.report(),
            "$ cargo test\ntest b ... FAILED\nwarning: unused\n\n---- b stdout ----\n\
             Finished is not a word of Cargo's here\n"
        );
    }

    #[test]
    fn a_passing_command_says_nothing() {
        let mut command = cargo();
        command.arg("--version");
        assert_eq!(run_each([command]).unwrap(), Outcome::passed());
    }

    #[test]
    fn a_command_is_ended_when_its_time_is_up() {
        let file = std::env::temp_dir().join(format!("xtask-capture-{}", std::process::id()));
        let mut sleeper = Command::new("sh");
        sleeper.args(["-c", "echo started; exec sleep 600"]);
        let captured = capture_in_file(sleeper, &file, Duration::from_millis(500)).unwrap();
        assert!(captured.timed_out && !captured.success);
        assert_eq!(captured.text, "started\n\nended after 0 s\n");
        // Somebody who stays behind does not keep anybody waiting.
        let mut parent = Command::new("sh");
        parent.args(["-c", "sleep 5 & echo done"]);
        let captured = capture_in_file(parent, &file, Duration::from_secs(60)).unwrap();
        assert!(captured.success && !captured.timed_out);
        assert_eq!(captured.text, "done\n");
        fs::remove_file(file).unwrap();
    }
}
