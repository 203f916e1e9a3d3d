//! A terminal of its own: job control, and the keys that send signals.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use palisade_linux_landlock::{Child, Command, Session, Stdio, Tier};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::support::TIERS;
use crate::toolbox::{Bench, all_installed};

/// The other side of a command's terminal.
struct Terminal {
    keyboard: File,
    screen: Receiver<Vec<u8>>,
    seen: String,
}

impl Terminal {
    fn start(session: &Session, command: Command) -> (Self, Child) {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let ours = openpt(flags).unwrap();
        grantpt(&ours).unwrap();
        unlockpt(&ours).unwrap();
        let theirs = rustix::fs::open(
            ptsname(&ours, Vec::new()).unwrap(),
            rustix::fs::OFlags::RDWR | rustix::fs::OFlags::NOCTTY | rustix::fs::OFlags::CLOEXEC,
            rustix::fs::Mode::empty(),
        )
        .unwrap();
        let copy = |of: &OwnedFd| of.try_clone().unwrap();
        let stdio = Stdio::new(copy(&theirs), copy(&theirs), theirs);
        let child = session.spawn(&command.with_terminal(), &stdio).unwrap();
        drop(stdio);
        let keyboard = File::from(copy(&ours));
        let (sender, screen) = channel();
        std::thread::spawn(move || {
            let mut reader = File::from(ours);
            let mut bytes = [0; 4096];
            // A terminal whose last user is gone reads as an error.
            while let Ok(read @ 1..) = reader.read(&mut bytes) {
                let read = bytes.get(..read).unwrap().to_vec();
                if sender.send(read).is_err() {
                    return;
                }
            }
        });
        let terminal = Self {
            keyboard,
            screen,
            seen: String::new(),
        };
        (terminal, child)
    }

    fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits for a text on the screen, and forgets what was before it.
    #[track_caller]
    fn wait_for(&mut self, text: &str) {
        let until = Instant::now() + Duration::from_secs(60);
        loop {
            if let Some(at) = self.seen.find(text) {
                self.seen.drain(..at + text.len());
                return;
            }
            let left = until.saturating_duration_since(Instant::now());
            let next = self.screen.recv_timeout(left);
            assert!(next.is_ok(), "no {text:?} in {:?}", self.seen);
            self.seen.push_str(&String::from_utf8_lossy(&next.unwrap()));
        }
    }
}

/// The shell echoes what is typed, so what is waited for is never what was typed.
#[test]
fn a_shell_controls_its_jobs() {
    for tier in TIERS {
        let bench = Bench::new();
        let session = bench.session(tier);
        let (mut terminal, mut shell) = Terminal::start(
            &session,
            bench.command(&["/bin/bash", "--norc", "--noprofile", "-i"]),
        );
        terminal.press("PS1=; echo ready-$((40 + 2))\n");
        terminal.wait_for("ready-42");
        assert!(
            !terminal.seen.contains("no job control"),
            "{}",
            terminal.seen
        );
        terminal.press("sleep 1000 & jobs; kill %1; wait %1; echo status-$?\n");
        terminal.wait_for("Running");
        terminal.wait_for("status-143");
        // Stopped by a key, continued in the background and in the foreground, ended by a key.
        terminal.press("sh -c 'echo begin-$((1 + 1)); exec sleep 1000'\n");
        terminal.wait_for("begin-2");
        terminal.press("\x1a");
        terminal.wait_for("Stopped");
        terminal.press("bg; jobs -r | wc -l | sed 's/^/running-/'\n");
        terminal.wait_for("running-1");
        terminal.press("echo fore-$((2 + 1)); fg\n");
        terminal.wait_for("fore-3");
        terminal.wait_for("sleep 1000");
        terminal.press("\x03");
        terminal.press("echo after-$?\n");
        terminal.wait_for("after-130");
        terminal.press(
            "stty size >/dev/null && echo x > /dev/tty && test -t 0 && echo tty-$((3 + 4))\n",
        );
        terminal.wait_for("tty-7");
        terminal.press("exit 5\n");
        let exit = shell.wait().unwrap();
        assert_eq!(
            exit.cause,
            palisade_linux_landlock::ExitCause::Code(5),
            "{tier:?}"
        );
    }
}

/// A terminal is a private matter of whoever opened it: commands get the one that they are given, and make none.
#[test]
fn no_further_terminals_can_be_made() {
    if !all_installed(&["python3"]) {
        return;
    }
    for tier in TIERS {
        let bench = Bench::new();
        let session = bench.session(tier);
        let output = bench.try_run(&session, "python3 -c 'import pty; pty.openpty()'");
        assert!(!output.exit.success(), "{tier:?}: {}", output.text);
    }
}

#[test]
fn the_session_ends_while_a_shell_has_the_terminal() {
    let bench = Bench::new();
    let session = bench.session(Tier::Full);
    let (mut terminal, mut shell) = Terminal::start(
        &session,
        bench.command(&["/bin/bash", "--norc", "--noprofile", "-i"]),
    );
    terminal.press("trap '' HUP TERM INT; echo ready-$((40 + 2))\n");
    terminal.wait_for("ready-42");
    session.end();
    assert!(shell.wait().is_err());
}
