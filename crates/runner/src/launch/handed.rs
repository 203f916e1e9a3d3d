//! The host program's streams, given to a command: terminals replaced, standard error passed on, the rest handed over.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::Arc;

use rustix::fs::{FileType, OFlags, fstat};
use rustix::process::getpgrp;
use rustix::termios::{
    LocalModes, OptionalActions, OutputModes, isatty, tcgetattr, tcgetpgrp, tcgetwinsize, tcsetattr,
};

use super::start::Prepared;
use super::{HostStreams, TerminalUse, WindowSize};
use crate::capture::Caps;
use crate::os::{self, Pty, Stdio};
use crate::outcome::SetupFailure;
use crate::supervise::{Lent, Streams};

/// The size of a terminal that does not know its own.
const USUAL: WindowSize = WindowSize {
    rows: 24,
    columns: 80,
};

/// Who stands behind each stream of a command.
pub(super) fn prepare(host: HostStreams, caps: Caps) -> Result<Prepared, SetupFailure> {
    let terminal_use = host.terminal_use();
    let [in_tty, out_tty, err_tty] = [&host.stdin, &host.stdout, &host.stderr].map(isatty);
    let same = is_same(&host.stdout, &host.stderr);
    // Another terminal than that of standard output cannot be the same one inside.
    let err_shown = err_tty && (same || !out_tty);
    let mut streams = Streams::default();
    let mut terminal = None;
    let mut theirs = None;
    if in_tty || out_tty || err_shown {
        let outer = match (in_tty, out_tty) {
            (true, _) => &host.stdin,
            (false, true) => &host.stdout,
            (false, false) => &host.stderr,
        };
        let shown = match (out_tty, err_shown) {
            (true, _) => &host.stdout,
            (false, true) => &host.stderr,
            (false, false) => &host.stdin,
        };
        let (pty, inner) = Pty::pair(size_of_terminal(outer))?;
        // A terminal that cannot be asked is as terminals are when they are new.
        let _ = imitate(outer, &inner, terminal_use);
        streams.terminal = Some(pty.copy().map_err(|error| failed(&error))?);
        streams.terminal_to = Some(writable(copy(shown)?));
        if in_tty {
            let typed = readable(copy(&host.stdin)?);
            streams.typed = Some((typed, pty.copy().map_err(|error| failed(&error))?));
        }
        streams.keep = Some(copy(&inner)?);
        theirs = Some(inner);
        terminal = Some(Arc::new(pty));
    }
    let inside = |yes: bool| match theirs.as_ref().filter(|_| yes) {
        Some(inner) => copy(inner).map(Some),
        None => Ok(None),
    };
    let (stdin, stdout, stderr) = (inside(in_tty)?, inside(out_tty)?, inside(err_shown)?);
    let stderr_pipe = match stderr {
        Some(_) => None,
        None => {
            let (ours, pipe) = os::pipe_from_child()?;
            streams.stderr = Some(ours);
            Some(pipe)
        }
    };
    let stdout = match (stdout, &stderr_pipe) {
        (Some(inner), _) => inner,
        (None, Some(pipe)) if same => copy(pipe)?,
        (None, _) => host.stdout,
    };
    let stderr = match (stderr, stderr_pipe) {
        (Some(inner), _) => inner,
        (None, Some(pipe)) => {
            streams.stderr_to = Some(writable(host.stderr));
            pipe
        }
        (None, None) => os::null()?,
    };
    Ok(Prepared {
        theirs: Stdio {
            stdin: stdin.unwrap_or(host.stdin),
            stdout,
            stderr,
        },
        streams,
        caps,
        terminal,
    })
}

/// Whether two descriptors are of one file.
fn is_same(one: &OwnedFd, other: &OwnedFd) -> bool {
    match (fstat(one), fstat(other)) {
        (Ok(one), Ok(other)) => (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino),
        _ => false,
    }
}

/// A place to write to that others use too.
fn writable(descriptor: OwnedFd) -> Lent {
    let kind = fstat(&descriptor).map(|found| FileType::from_raw_mode(found.st_mode));
    // Writing to a file is waited for in any case, and nobody waits for a device that swallows everything.
    let is_file = kind == Ok(FileType::RegularFile);
    match os::apart(descriptor.as_fd(), OFlags::WRONLY) {
        Some(apart) => Lent {
            descriptor: apart,
            may_block: false,
        },
        None => Lent {
            descriptor,
            may_block: !is_file,
        },
    }
}

/// A terminal to read from that others use too.
fn readable(descriptor: OwnedFd) -> Lent {
    match os::apart(descriptor.as_fd(), OFlags::RDONLY) {
        Some(apart) => Lent {
            descriptor: apart,
            may_block: false,
        },
        None => Lent {
            descriptor,
            may_block: true,
        },
    }
}

/// Makes the inner terminal like the outer one. Where the outer one stays as it is, only one of the two may turn line ends
/// round and echo.
fn imitate(outer: &OwnedFd, inner: &OwnedFd, terminal_use: TerminalUse) -> io::Result<()> {
    let in_background = tcgetpgrp(outer).is_ok_and(|group| group != getpgrp());
    // In the background, it is as whoever is in the foreground wants it.
    let mut modes = tcgetattr(if in_background { inner } else { outer })?;
    if terminal_use != TerminalUse::Whole {
        modes.output_modes.remove(OutputModes::OPOST);
        modes.local_modes.remove(LocalModes::ECHO);
    }
    Ok(tcsetattr(inner, OptionalActions::Now, &modes)?)
}

fn size_of_terminal(outer: &OwnedFd) -> WindowSize {
    match tcgetwinsize(outer) {
        Ok(size) if size.ws_row > 0 && size.ws_col > 0 => WindowSize {
            rows: size.ws_row,
            columns: size.ws_col,
        },
        _ => USUAL,
    }
}

fn copy(descriptor: &OwnedFd) -> Result<OwnedFd, SetupFailure> {
    descriptor.try_clone().map_err(|error| failed(&error))
}

fn failed(error: &io::Error) -> SetupFailure {
    SetupFailure::new(
        "passing descriptors",
        error.raw_os_error(),
        format!("the streams of this program cannot be passed on: {error}"),
    )
}
