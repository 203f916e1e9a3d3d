//! A Windows for one run: a Wine prefix of its own, booted before and ended after, whatever happens in between.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Result, bail};

use crate::process::{self, Captured};
use crate::stage::Stage;

/// The first boot fills the prefix.
const LONGEST_BOOT: Duration = Duration::from_secs(180);

pub(super) struct Prefix<'a> {
    stage: &'a Stage,
    folder: PathBuf,
    /// Where programs write. A file, not a pipe: Wine's services inherit it and keep it open, and a reader would wait
    /// for them.
    output: PathBuf,
}

impl<'a> Prefix<'a> {
    pub(super) fn boot(stage: &'a Stage, logs: &Path) -> Result<Self> {
        let prefix = Self {
            stage,
            folder: stage.give_folder("prefix")?,
            output: logs.join("wine-output.txt"),
        };
        fs::create_dir_all(logs)?;
        // Stays for a minute when nobody needs it, so that programs need not wait for a new one; and no longer, so that
        // nothing is left if we are killed.
        let mut server = prefix.command("wineserver");
        server.arg("-p60");
        let mut boot = prefix.command("wineboot");
        boot.arg("-i");
        for command in [server, boot] {
            let captured = prefix.capture(command, LONGEST_BOOT)?;
            if !captured.success {
                bail!("Wine does not start:\n{}", captured.report());
            }
        }
        Ok(prefix)
    }

    pub(super) fn wine(&self) -> Command {
        self.command("wine")
    }

    fn command(&self, program: &str) -> Command {
        let mut command = self.stage.command(program);
        command
            .env("WINEPREFIX", &self.folder)
            .env("WINEDEBUG", "-all")
            // Names of files are translated to this encoding; without one, only ASCII can be said.
            .env("LC_ALL", "C.UTF-8")
            // Neither is needed, and Wine would offer to download them.
            .env("WINEDLLOVERRIDES", "mscoree=;mshtml=");
        command
    }

    /// Runs a command and ends it, with everything that Wine runs, when its time is up.
    pub(super) fn capture(&self, command: Command, longest: Duration) -> Result<Captured> {
        let captured = process::capture_in_file(command, &self.output, longest)?;
        if captured.timed_out {
            self.end();
        }
        Ok(captured)
    }

    /// Ends the processes of this prefix, and of no other.
    fn end(&self) {
        let _ = self
            .command("wineserver")
            .arg("-k")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
    }
}

impl Drop for Prefix<'_> {
    fn drop(&mut self) {
        self.end();
        let _ = File::options()
            .write(true)
            .truncate(true)
            .open(&self.output);
    }
}
