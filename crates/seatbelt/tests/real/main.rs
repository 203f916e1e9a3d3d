//! What only a Mac can say: the kernel under a profile of ours, and what its profiles mean. Empty elsewhere.
//!
//! Nobody has run this yet; `docs/real-hardware.md` says what waits for it.
#![cfg(target_os = "macos")]
#![expect(clippy::unwrap_used, reason = "a test ends where its assumption fails")]

mod precedence;
mod preset;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A directory of its own, without links in its path.
fn workspace() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let real = std::fs::canonicalize(directory.path()).unwrap();
    (directory, real)
}

/// Runs words of which the first is the program, as a command that knows only its own directory.
fn run(words: &[std::ffi::OsString], cwd: &Path) -> Output {
    let (program, arguments) = words.split_first().unwrap();
    Command::new(program)
        .args(arguments)
        .current_dir(cwd)
        .output()
        .unwrap()
}

fn text(output: &Output) -> String {
    format!(
        "{}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}
