//! The streams of the host program, for a command that stands in its place.

use std::io;

use super::Descriptor;

/// Three open files of the host program that a command is to have as its own.
///
/// - A terminal is never handed over: whoever has it could type into it. All streams that are one terminal outside are one
///   new terminal inside, and what is shown there is passed on.
/// - Everything else is handed over as it is, so nothing is copied, cut or held back, but for standard error: it comes
///   through a pipe and is passed on, because evidence of a denial is read there.
/// - Where standard output and standard error are one file, both come through one pipe, so that their order stays.
///
/// The flags of these descriptors, which others may share, are never changed.
#[derive(Debug)]
pub struct HostStreams {
    pub(super) stdin: Descriptor,
    pub(super) stdout: Descriptor,
    pub(super) stderr: Descriptor,
    /// Where the input stood, if it is a file that can be read again.
    began: Option<u64>,
}

/// How a command uses the terminal of the host program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TerminalUse {
    /// Not at all.
    None,
    /// It only writes there. The terminal stays as it is.
    Shown,
    /// It reads lines from there while its output goes to another program, which may want the terminal for itself. The
    /// terminal stays as it is.
    Lines,
    /// It has the terminal for itself: every key is passed on to its own terminal, which does what terminals do. The
    /// host program sets the outer one to raw mode.
    Whole,
}

impl HostStreams {
    /// These three, which are the command's from now on.
    #[must_use]
    pub fn new(stdin: Descriptor, stdout: Descriptor, stderr: Descriptor) -> Self {
        Self {
            began: offset(&stdin),
            stdin,
            stdout,
            stderr,
        }
    }

    /// The same files again, for one attempt. An input that is a file stands where it stood at first.
    pub(crate) fn copy(&self) -> io::Result<Self> {
        if let Some(began) = self.began {
            go_back(&self.stdin, began)?;
        }
        Ok(Self {
            began: self.began,
            stdin: self.stdin.try_clone()?,
            stdout: self.stdout.try_clone()?,
            stderr: self.stderr.try_clone()?,
        })
    }
}

#[cfg(unix)]
impl HostStreams {
    /// How the command will use the caller's terminal.
    #[must_use]
    pub fn terminal_use(&self) -> TerminalUse {
        use rustix::termios::isatty;
        match (isatty(&self.stdin), isatty(&self.stdout)) {
            (true, false) if is_pipe(&self.stdout) => TerminalUse::Lines,
            (true, _) => TerminalUse::Whole,
            (false, true) => TerminalUse::Shown,
            (false, false) if isatty(&self.stderr) => TerminalUse::Shown,
            (false, false) => TerminalUse::None,
        }
    }

    /// Whether a second attempt would read the same as the first: what came through a pipe is gone.
    pub(crate) fn can_be_read_again(&self) -> bool {
        !is_pipe(&self.stdin)
    }
}

/// Where a regular file stands.
#[cfg(unix)]
fn offset(descriptor: &Descriptor) -> Option<u64> {
    use rustix::fs::{FileType, SeekFrom, fstat, seek};
    let kind = fstat(descriptor).ok()?.st_mode;
    let is_file = FileType::from_raw_mode(kind) == FileType::RegularFile;
    is_file.then(|| seek(descriptor, SeekFrom::Current(0)).ok())?
}

#[cfg(unix)]
fn go_back(descriptor: &Descriptor, to: u64) -> io::Result<()> {
    rustix::fs::seek(descriptor, rustix::fs::SeekFrom::Start(to))?;
    Ok(())
}

#[cfg(not(unix))]
const fn offset(_: &Descriptor) -> Option<u64> {
    None
}

#[cfg(not(unix))]
const fn go_back(_: &Descriptor, _: u64) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
fn is_pipe(descriptor: &Descriptor) -> bool {
    use rustix::fs::FileType;
    rustix::fs::fstat(descriptor).is_ok_and(|found| {
        matches!(
            FileType::from_raw_mode(found.st_mode),
            FileType::Fifo | FileType::Socket
        )
    })
}

#[cfg(not(unix))]
impl HostStreams {
    /// Commands have no terminal of their own here.
    #[must_use]
    pub const fn terminal_use(&self) -> TerminalUse {
        TerminalUse::None
    }

    /// Nobody knows.
    #[expect(clippy::unused_self, reason = "other systems can tell")]
    pub(crate) const fn can_be_read_again(&self) -> bool {
        false
    }
}
