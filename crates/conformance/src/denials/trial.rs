//! One act: refused, explained, and tried again as the message says.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write as _};
use std::net::{Shutdown, TcpListener};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Child, Command as Process, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::list::Case;
use super::table::{Explained, Row};
use crate::subject::{self, Prefix, Programs, Run};
use crate::useful::{Ground, PATH, Slot, environment, yes};

const TIMEOUT: Duration = Duration::from_secs(120);

/// Fills the home that every act starts from.
pub(super) const BEFORE: &str = r#"
git init --quiet --initial-branch=main
mkdir -p ../shared/empty src left .claude
echo there > ../shared/there.txt
echo notes > ../notes.txt
echo readme > README.md
printf '#!/bin/sh\n' > run.sh; chmod 755 run.sh
echo 'int main(void) { return 0; }' > main.c
printf 'out:\n\tcp README.md ../shared/made\n' > Makefile
printf '[package]\nname = "tiny"\nversion = "0.1.0"\nedition = "2021"\n' > Cargo.toml
echo 'fn main() {}' > src/main.rs
echo '{"name":"left","version":"1.0.0"}' > left/package.json
echo '{}' > .claude/settings.json
git add -A && git commit --quiet -m First
git clone --quiet --bare . ../shared/remote.git
echo changed >> README.md
printf 'git commit --quiet --allow-empty -m scripted\n' > commit.sh
printf 'cat "$HOME/$1"\n' > read.sh
printf 'cp "$HOME/$1" copied\n' > copy.sh
printf 'ls "$HOME/$1"\n' > list.sh
printf 'import os, sys\nprint(open(os.environ["HOME"] + "/" + sys.argv[1]).read())\n' > read.py
printf 'console.log(require("fs").readFileSync(process.env.HOME + "/" + process.argv[2], "utf8"))\n' > read.js
printf 'import sys, urllib.request\nprint(urllib.request.urlopen(sys.argv[1]).read())\n' > fetch.py
mkdir -m 700 ../.ssh ../.aws
echo 'hidden ssh' > ../.ssh/id_ed25519
echo 'hidden aws' > ../.aws/credentials
echo 'hidden netrc' > ../.netrc
echo '# hidden npmrc' > ../.npmrc
echo 'hidden git' > ../.git-credentials
"#;

/// What is on this host and not in the sandbox.
pub(super) struct Host {
    port: u16,
    bystander: Child,
}

impl Host {
    /// A server on loopback that answers everybody, and a process.
    pub(super) fn new() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").context("a server on loopback")?;
        let port = listener.local_addr()?.port();
        thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let _ = stream
                    .write_all(b"HTTP/1.0 200 OK\r\nContent-Length: 14\r\n\r\nfrom the host\n");
                let _ = stream.shutdown(Shutdown::Write);
                hear_out(stream);
            }
        });
        let bystander = Process::new("sleep").arg("3600").spawn().context("sleep")?;
        Ok(Self { port, bystander })
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.bystander.kill();
        let _ = self.bystander.wait();
    }
}

/// Reads until the other side is done: who closes with something unread takes its own answer back.
fn hear_out(mut stream: impl io::Read + Send + 'static) {
    thread::spawn(move || io::copy(&mut stream, &mut io::sink()));
}

/// One act.
pub(super) struct Trial<'a> {
    pub(super) ground: &'a Ground,
    pub(super) slot: &'a str,
    pub(super) template: &'a Path,
    pub(super) case: &'a Case,
    pub(super) host: &'a Host,
    pub(super) programs: &'a Programs,
}

/// What a run said.
struct Said {
    ended_well: bool,
    stdout: String,
    stderr: String,
}

impl Trial<'_> {
    /// What came of it.
    pub(super) fn row(&self) -> Row {
        let mut row = Row::new(self.case);
        if let Err(error) = self.judge(&mut row) {
            row.faults.push(format!("{error:#}"));
        }
        row
    }

    fn judge(&self, row: &mut Row) -> Result<()> {
        let slot = self.ground.fresh(self.slot, self.template)?;
        let listener = UnixListener::bind(slot.home.join("shared/run.sock"))?;
        thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let _ = stream.write_all(b"from the socket\n");
                let _ = stream.shutdown(Shutdown::Write);
                hear_out(stream);
            }
        });
        let events = slot.scratch.join("events");
        let said = self.refused(&slot, &events)?;
        row.stderr = said.stderr.lines().map(str::to_owned).take(12).collect();
        if said.ended_well || self.is_done(&slot, &said)? {
            row.faults.push("it was not refused".to_owned());
            return Ok(());
        }
        let told = Told::read(&events)?;
        let wanted = self.filled(&self.case.names, &slot);
        row.resource = told
            .resources
            .iter()
            .any(|(resource, _)| resource.contains(&wanted))
            || (told.by_rule && said.stderr.contains(&wanted));
        row.clause = told.resources.iter().any(|(_, clause)| !clause.is_empty()) || told.by_rule;
        match &self.case.nothing {
            Some(_) => {
                let honest = ["nothing can be granted", "forbids it"];
                row.line = honest.iter().any(|words| said.stderr.contains(words));
                row.honest = true;
            }
            None => self.again(&slot, &said, row)?,
        }
        Ok(())
    }

    /// Runs the line that the message offers, exactly as it stands there.
    fn again(&self, slot: &Slot, said: &Said, row: &mut Row) -> Result<()> {
        let Some(line) = offered(&said.stderr) else {
            row.faults.push("no line is offered".to_owned());
            return Ok(());
        };
        let again = self.run(slot, &Prefix::default(), &["bash", "-c", &line])?;
        let done = match &self.case.still {
            Some(_) => {
                !again.stderr.contains("palisade: blocked")
                    && !again.stderr.contains("palisade: refused")
            }
            None => self.is_done(slot, &again)?,
        };
        if !done {
            row.faults.push(format!("the line does not help: {line}"));
            let said = again.stderr.lines().take(6);
            row.faults.extend(said.map(|line| format!("  {line}")));
        }
        row.line = done;
        Ok(())
    }

    fn refused(&self, slot: &Slot, events: &Path) -> Result<Said> {
        let script = self.filled(&self.case.script, slot);
        let mut line: Vec<OsString> = vec![self.programs.palisade.clone().into()];
        line.extend(["run", "--approval-command"].map(OsString::from));
        line.push(yes(&slot.scratch)?.into());
        line.extend([
            "--events".into(),
            events.into(),
            "-c".into(),
            OsString::from(script),
        ]);
        let prefix = Prefix {
            line,
            environment: Vec::new(),
        };
        self.run(slot, &prefix, &[])
    }

    fn run(&self, slot: &Slot, prefix: &Prefix, line: &[&str]) -> Result<Said> {
        let line: Vec<OsString> = line.iter().map(OsString::from).collect();
        let (ran, stderr) = subject::run(&Run {
            prefix,
            line: &line,
            environment: &environment(&slot.home),
            directory: &slot.project,
            timeout: TIMEOUT,
        })?;
        Ok(Said {
            ended_well: ran.ended == palisade_probes::run::Ended::Exited(0),
            stdout: String::from_utf8_lossy(&ran.stdout).into_owned(),
            stderr,
        })
    }

    /// Whether the act was done, seen from outside or by what it printed.
    fn is_done(&self, slot: &Slot, said: &Said) -> Result<bool> {
        if let Some(text) = &self.case.prints {
            return Ok(said.stdout.contains(text.as_str()));
        }
        let Some(script) = &self.case.done else {
            return Ok(false);
        };
        let status = Process::new("bash")
            .args(["-c", script])
            .current_dir(&slot.project)
            .env_clear()
            .env("PATH", PATH)
            .env("HOME", &slot.home)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .context("bash")?;
        Ok(status.success())
    }

    fn filled(&self, text: &str, slot: &Slot) -> String {
        text.replace("{home}", &slot.home.to_string_lossy())
            .replace("{project}", &slot.project.to_string_lossy())
            .replace("{port}", &self.host.port.to_string())
            .replace("{pid}", &self.host.bystander.id().to_string())
    }
}

/// The line that the message offers to run it again.
fn offered(stderr: &str) -> Option<String> {
    let mut lines = stderr.lines();
    lines.find(|line| line.trim_start().starts_with("run it again"))?;
    let mut line = lines.next()?.trim_start().to_owned();
    // A word with a line break in it goes on.
    for more in lines {
        if more.trim_start().starts_with("keep it so") {
            break;
        }
        line.push('\n');
        line.push_str(more);
    }
    Some(line)
}

/// What events told.
#[derive(Default)]
struct Told {
    resources: Vec<(String, String)>,
    by_rule: bool,
}

impl Told {
    fn read(events: &Path) -> Result<Self> {
        let mut told = Self::default();
        let text = fs::read_to_string(events).unwrap_or_default();
        for line in text.lines() {
            let event: Value = serde_json::from_str(line).context("an event")?;
            let field = |name: &str| {
                let value = event.get(name).and_then(Value::as_str);
                value.unwrap_or_default().to_owned()
            };
            match field("type").as_str() {
                "denied" => told.resources.push((field("resource"), field("clause"))),
                "refused" => told.by_rule = event.get("rule").is_some(),
                _ => {}
            }
        }
        Ok(told)
    }
}

impl Row {
    pub(super) fn explained(&self) -> Explained {
        match (self.resource && self.clause && self.line, self.honest) {
            (true, false) => Explained::Fully,
            (true, true) => Explained::Honestly,
            (false, _) => Explained::Not,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_offered_line_is_the_one_below_its_title() {
        let text = "touch: no\npalisade: blocked: create /x: y\n  run it again with just that:\n    palisade run -w /x -c 'a\nb'\n  keep it so, in /y:\n    write = []\n";
        assert_eq!(offered(text).unwrap(), "palisade run -w /x -c 'a\nb'");
        assert_eq!(offered("palisade: blocked: x"), None);
    }
}
