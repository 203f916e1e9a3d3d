//! The victim, from outside.

use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader};
use std::os::unix::fs::FileExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::attempts::VICTIM;

/// How long it may take to tidy up.
const PATIENCE: Duration = Duration::from_millis(300);

/// A process that attempts aim at. It ends when this is dropped.
#[derive(Debug)]
pub(super) struct Victim {
    child: Child,
    length: usize,
    /// Where its secret is.
    pub(super) memory: u64,
    /// Its descriptor of a file with the secret.
    pub(super) file: i32,
}

impl Victim {
    pub(super) fn start(
        program: &Path,
        secret: &str,
        owner: Option<(u32, u32)>,
    ) -> io::Result<Self> {
        let mut command = Command::new(program);
        command
            .args([VICTIM, secret])
            .env_clear()
            .env("VICTIM_SECRET", secret)
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        if let Some((user, group)) = owner {
            command.uid(user).gid(group);
        }
        let mut victim = Self {
            child: spawn_patiently(&mut command)?,
            length: secret.len(),
            memory: 0,
            file: 0,
        };
        let mut line = String::new();
        if let Some(out) = victim.child.stdout.take() {
            BufReader::new(out).read_line(&mut line)?;
        }
        let mut words = line.split_whitespace();
        let mut next = || words.next().ok_or_else(|| broken(&line));
        let memory = next()?.parse().map_err(|_| broken(&line))?;
        let file = next()?.parse().map_err(|_| broken(&line))?;
        victim.memory = memory;
        victim.file = file;
        Ok(victim)
    }

    pub(super) fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).unwrap_or_default()
    }

    /// All of it that an attempt could have changed.
    pub(super) fn state(&self) -> String {
        let about = |name: &str| {
            fs::read_to_string(format!("/proc/{}/{name}", self.child.id())).unwrap_or_default()
        };
        let stat = about("stat");
        // After the name in brackets: state is the first word, nice the 17th.
        let mut words = stat
            .rsplit_once(')')
            .map_or("", |(_, rest)| rest)
            .split_whitespace();
        // A sleeping and a running victim are equally well.
        let state = match words.next() {
            Some("S" | "R") => "alive",
            Some("Z" | "X") | None => "dead",
            Some(_) => "stopped",
        };
        let nice = words.nth(15).unwrap_or_default().to_owned();
        // How it is scheduled: the 41st of all, 22 after nice.
        let schedule = words.nth(21).unwrap_or_default().to_owned();
        let status = about("status");
        let line = |text: &str, key: &str| {
            text.lines()
                .find(|line| line.starts_with(key))
                .unwrap_or_default()
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" ")
        };
        format!(
            "{state}, nice {nice}, schedule {schedule}, {}, {}, {}, {}, oom {}, dumps {}, memory {}",
            // A signal that it had no time yet to die of.
            line(&status, "SigPnd:"),
            line(&status, "ShdPnd:"),
            line(&status, "Cpus_allowed:"),
            line(&about("limits"), "Max open files"),
            about("oom_score_adj").trim_end(),
            about("coredump_filter").trim_end(),
            self.remembers(),
        )
    }

    fn remembers(&self) -> String {
        let mut bytes = vec![0_u8; self.length];
        let read = File::open(format!("/proc/{}/mem", self.child.id()))
            .and_then(|file| file.read_exact_at(&mut bytes, self.memory));
        match read {
            Ok(()) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(_) => "unknown".to_owned(),
        }
    }
}

fn broken(line: &str) -> io::Error {
    io::Error::other(format!("the victim said {line:?}"))
}

impl Drop for Victim {
    fn drop(&mut self) {
        // It tidies up and ends when its input does, unless something happened to it.
        drop(self.child.stdin.take());
        let start = Instant::now();
        while start.elapsed() < PATIENCE && matches!(self.child.try_wait(), Ok(None)) {
            thread::sleep(Duration::from_millis(1));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts a program that was just written. A process that another thread forked meanwhile may still hold it open for
/// writing, until its own exec.
fn spawn_patiently(command: &mut Command) -> io::Result<Child> {
    let begin = Instant::now();
    loop {
        match command.spawn() {
            Err(error)
                if error.kind() == io::ErrorKind::ExecutableFileBusy
                    && begin.elapsed() < Duration::from_secs(5) =>
            {
                std::thread::sleep(Duration::from_millis(1));
            }
            done => return done,
        }
    }
}
