//! The caller's terminal: raw while the command has it, and as it was in every other moment.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};

use palisade::runner::launch::{Control, Descriptor, TerminalUse, WindowSize};
use rustix::process::Pid;
use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, isatty, tcgetattr, tcgetpgrp, tcgetsid,
    tcgetwinsize, tcsetattr,
};

/// The terminal of the caller.
#[derive(Debug)]
pub(super) struct Terminal {
    descriptor: OwnedFd,
    usage: TerminalUse,
    /// How it was before it was raw.
    before: Option<Termios>,
}

impl Terminal {
    /// The first of the three streams that is one.
    ///
    /// # Errors
    /// There is no descriptor left.
    pub(super) fn find(usage: TerminalUse) -> io::Result<Option<Self>> {
        let (stdin, stdout, stderr) = (io::stdin(), io::stdout(), io::stderr());
        let streams = [stdin.as_fd(), stdout.as_fd(), stderr.as_fd()];
        let Some(found) = streams.into_iter().find(|stream| isatty(*stream)) else {
            return Ok(None);
        };
        Ok(Some(Self {
            descriptor: found.try_clone_to_owned()?,
            usage,
            before: None,
        }))
    }

    pub(super) const fn usage(&self) -> TerminalUse {
        self.usage
    }

    /// Its size, if it knows it.
    pub(super) fn size(&self) -> Option<WindowSize> {
        let size = tcgetwinsize(&self.descriptor).ok()?;
        (size.ws_row > 0 && size.ws_col > 0).then_some(WindowSize {
            rows: size.ws_row,
            columns: size.ws_col,
        })
    }

    /// Whether it is still there.
    pub(super) fn is_there(&self) -> bool {
        tcgetattr(&self.descriptor).is_ok()
    }

    /// Whether what is typed there is for the command: this program is in the foreground, and, where it shares the
    /// terminal with the program that reads its output, that one has not taken the keys.
    pub(super) fn is_ours(&self) -> bool {
        let lines = || {
            tcgetattr(&self.descriptor)
                .is_ok_and(|modes| modes.local_modes.contains(LocalModes::ICANON))
        };
        self.is_in_foreground() && (self.usage != TerminalUse::Lines || lines())
    }

    /// Whether it is this program's, and not raw yet.
    pub(super) fn is_to_be_entered(&self) -> bool {
        self.usage == TerminalUse::Whole && self.before.is_none()
    }

    /// Where this is not the terminal of our process session, nobody else minds who uses it.
    fn is_in_foreground(&self) -> bool {
        tcgetpgrp(&self.descriptor).map_or(true, |group| group == rustix::process::getpgrp())
    }

    /// Makes it raw, if the command has it for itself and it is ours. One in the background does not fight for it.
    pub(super) fn enter(&mut self) {
        if self.usage != TerminalUse::Whole || !self.is_in_foreground() {
            return;
        }
        let before = match self.before.take() {
            Some(before) => Ok(before),
            None => tcgetattr(&self.descriptor),
        };
        let Ok(before) = before else { return };
        let mut raw = before.clone();
        raw.make_raw();
        if tcsetattr(&self.descriptor, OptionalActions::Now, &raw).is_ok() {
            self.before = Some(before);
        }
    }

    /// Makes it as it was.
    pub(super) fn leave(&mut self) {
        if let Some(before) = self.before.take()
            && self.is_in_foreground()
        {
            // One that is gone needs nothing.
            let _ = tcsetattr(&self.descriptor, OptionalActions::Now, &before);
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.leave();
    }
}

/// The terminal of the command.
pub(super) struct Inner {
    descriptor: Descriptor,
    modes: Termios,
}

impl Inner {
    pub(super) fn of(control: &Control) -> Option<Self> {
        let descriptor = control.terminal()?;
        let modes = tcgetattr(&descriptor).ok()?;
        Some(Self { descriptor, modes })
    }

    /// The key that ends its input.
    pub(super) fn end_of_input(&self) -> u8 {
        self.modes.special_codes[SpecialCodeIndex::VEOF]
    }

    /// The key that suspends, if it is one now.
    pub(super) fn suspend_key(&self) -> Option<u8> {
        let key = self.modes.special_codes[SpecialCodeIndex::VSUSP];
        let is_one = self.modes.local_modes.contains(LocalModes::ISIG) && key != 0;
        is_one.then_some(key)
    }

    /// Whether somebody inside minds jobs: the command put another group in front, or does not let itself be suspended, as
    /// shells do.
    pub(super) fn minds_jobs(&self) -> bool {
        let (Ok(front), Ok(leader)) = (tcgetpgrp(&self.descriptor), tcgetsid(&self.descriptor))
        else {
            return false;
        };
        front != leader || ignores_suspending(leader)
    }
}

/// Whether a process ignores the signal of Ctrl-Z.
fn ignores_suspending(process: Pid) -> bool {
    let path = format!("/proc/{}/status", process.as_raw_nonzero());
    let Ok(status) = std::fs::read_to_string(path) else {
        return false;
    };
    let ignored = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask & (1 << (libc::SIGTSTP - 1)) != 0)
}
