//! Terminals: bare and in a session.

use std::fs::File;
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::fd::AsFd as _;

use super::support::{Starter, confined, end, order, stage, wait_readable};
use crate::launch::WindowSize;
use crate::os::Pty;
use crate::supervise::How;

struct Screen {
    pty: Pty,
    file: File,
    seen: String,
}

impl Screen {
    fn press(&mut self, keys: &str) {
        self.file.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits for a text, and forgets what was before it.
    #[track_caller]
    fn wait_for(&mut self, text: &str) {
        let mut some = [0; 4096];
        loop {
            if let Some(at) = self.seen.find(text) {
                self.seen.drain(..at + text.len());
                return;
            }
            match self.file.read(&mut some) {
                Ok(read) => self.seen.push_str(&String::from_utf8_lossy(&some[..read])),
                Err(error) if error.kind() == ErrorKind::WouldBlock => wait_readable(&self.pty),
                Err(error) => panic!("{error} instead of {text:?} after {:?}", self.seen),
            }
        }
    }
}

fn shell_on_a_terminal(cwd: &std::path::Path, starter: &Starter) {
    let size = |rows, columns| WindowSize { rows, columns };
    let (pty, stdio) = Pty::open(size(33, 101)).unwrap();
    let order = order(["/bin/bash", "--norc", "--noprofile", "-i"], cwd).with_terminal();
    let mut shell = starter.spawn(&order, stdio).unwrap();
    let file = File::from(pty.as_fd().try_clone_to_owned().unwrap());
    let mut screen = Screen {
        pty,
        file,
        seen: String::new(),
    };
    // The shell echoes what is typed, so what is waited for is never what was typed.
    screen.press("PS1='<$?>'; echo ready-$((40 + 2))\n");
    screen.wait_for("ready-42");
    assert!(!screen.seen.contains("no job control"), "{}", screen.seen);
    screen.press("stty size | tr ' ' x; tty | sed 's/dev/its/'\n");
    screen.wait_for("33x101");
    screen.pty.resize(size(44, 122)).unwrap();
    screen.press("stty size | tr ' ' x\n");
    screen.wait_for("44x122");
    screen.press("sleep 1000 & jobs; kill %1; wait %1; echo status-$?\n");
    screen.wait_for("Running");
    screen.wait_for("status-143");
    screen.press("sh -c 'echo begin-$((1 + 1)); exec sleep 1000'\n");
    screen.wait_for("begin-2");
    screen.press("\x03");
    screen.wait_for("<130>");
    screen.press("echo x > /dev/tty && test -t 2 && echo tty-$((3 + 4))\n");
    screen.wait_for("tty-7");
    screen.press("exit 5\n");
    assert_eq!(end(&mut shell).unwrap().how, How::Code(5));
}

#[test]
fn a_bare_shell_controls_its_jobs_and_sees_its_size() {
    let stage = stage();
    shell_on_a_terminal(stage.path(), &Starter::Bare);
}

#[test]
fn a_confined_shell_controls_its_jobs_and_sees_its_size() {
    let stage = stage();
    if let Some((workspace, session)) = confined(&stage) {
        shell_on_a_terminal(&workspace, &Starter::Confined(Box::new(session)));
    }
}
