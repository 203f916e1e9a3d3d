//! A person at a terminal: starts a program on a pty, waits for what it shows, types keys, resizes, hangs up.
//!
//! ```ignore
//! let mut terminal = Terminal::start(house.palisade().args(["run", "--", "sh"]));
//! terminal.expect("$ ");
//! terminal.type_keys("exit 5\n");
//! assert_eq!(terminal.end().code(), Some(5));
//! ```

mod sys;

use std::fs::File;
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcgetattr, tcsetwinsize};

/// How long anything may take; only what fails takes so long.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A terminal with a program on it, which ends with it.
pub(crate) struct Terminal {
    /// The person's side; `None` after hanging up.
    person: Option<File>,
    /// The program's side, kept open so that what was shown last can be read, and for its settings.
    program: Option<OwnedFd>,
    child: Child,
    /// What was shown and not yet expected.
    shown: String,
    /// Everything that was shown.
    all: String,
}

impl Terminal {
    /// Starts a program on a terminal of 24 lines and 80 columns, which is its controlling terminal and all three of
    /// its standard streams.
    pub(crate) fn start(command: &mut Command) -> Self {
        Self::start_sized(command, 24, 80)
    }

    /// The same with another size.
    pub(crate) fn start_sized(command: &mut Command, rows: u16, columns: u16) -> Self {
        Self::start_with(command, rows, columns, |command, terminal| {
            let stream = || Stdio::from(terminal.try_clone().unwrap());
            command.stdin(stream()).stdout(stream()).stderr(stream());
        })
    }

    /// The same with other streams, which `streams` sets, given the terminal. It is the controlling terminal in any case.
    pub(crate) fn start_with(
        command: &mut Command,
        rows: u16,
        columns: u16,
        streams: impl FnOnce(&mut Command, &OwnedFd),
    ) -> Self {
        let person = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        rustix::io::fcntl_setfd(&person, rustix::io::FdFlags::CLOEXEC).unwrap();
        grantpt(&person).unwrap();
        unlockpt(&person).unwrap();
        tcsetwinsize(&person, size(rows, columns)).unwrap();
        let name = ptsname(&person, Vec::new()).unwrap();
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let program = rustix::fs::open(name.as_c_str(), flags, Mode::empty()).unwrap();
        streams(command, &program);
        sys::control(command, program.try_clone().unwrap());
        let child = command.spawn().unwrap();
        // Where the program holds none of the streams, only its own descriptors keep the terminal open.
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        rustix::io::ioctl_fionbio(&person, true).unwrap();
        Self {
            person: Some(File::from(person)),
            program: Some(program),
            child,
            shown: String::new(),
            all: String::new(),
        }
    }

    /// Waits until a text is shown, and returns what was shown before it. What was expected before is not found again.
    /// The terminal echoes what is typed unless the program turned that off: wait for something else than that.
    #[track_caller]
    pub(crate) fn expect(&mut self, text: &str) -> String {
        let begin = Instant::now();
        loop {
            if let Some(at) = self.shown.find(text) {
                let before = self.shown.get(..at).unwrap_or_default().to_owned();
                self.shown.drain(..at + text.len());
                return before;
            }
            let more = self.read_for(Duration::from_millis(100));
            // What a program showed last is there when it has ended.
            let over = !more && (begin.elapsed() >= PATIENCE || self.has_ended());
            assert!(!over, "never showed {text:?}, but: {}", self.all);
        }
    }

    /// Types keys: `\r` is Enter where the program reads keys, `\n` where it reads lines; `\x03` is Ctrl-C.
    pub(crate) fn type_keys(&mut self, keys: impl AsRef<[u8]>) {
        let person = self.person.as_mut().expect("not after hanging up");
        person.write_all(keys.as_ref()).unwrap();
    }

    /// Types a key until it shows: a program may pass over one that comes too soon, or together with others.
    #[track_caller]
    pub(crate) fn press_until(&mut self, key: &str, text: &str) -> String {
        let begin = Instant::now();
        while !self.has_shown(text) && begin.elapsed() < PATIENCE {
            self.type_keys(key);
            let typed = Instant::now();
            while !self.has_shown(text) && typed.elapsed() < Duration::from_secs(3) {
                self.read_for(Duration::from_millis(50));
            }
        }
        self.expect(text)
    }

    /// Makes the window larger or smaller.
    pub(crate) fn resize(&self, rows: u16, columns: u16) {
        let person = self.person.as_ref().expect("not after hanging up");
        tcsetwinsize(person, size(rows, columns)).unwrap();
    }

    /// Whether the terminal reads lines and echoes them, as a shell leaves it to programs.
    pub(crate) fn is_cooked(&self) -> bool {
        use rustix::termios::LocalModes;
        let program = self.program.as_ref().expect("not after hanging up");
        let cooked = LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG;
        tcgetattr(program).unwrap().local_modes.contains(cooked)
    }

    /// Closes the window.
    pub(crate) fn hang_up(&mut self) {
        self.program = None;
        self.person = None;
    }

    /// Waits until the program has ended by itself. What it showed is in [`all`](Self::all).
    #[track_caller]
    pub(crate) fn end(&mut self) -> ExitStatus {
        let begin = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                while self.read_for(Duration::ZERO) {}
                return status;
            }
            assert!(begin.elapsed() < PATIENCE, "never ended: {}", self.all);
            // Somebody has to read, or it waits for that.
            if !self.read_for(Duration::from_millis(20)) {
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    }

    /// Everything that was shown so far, as the terminal got it.
    pub(crate) fn all(&self) -> &str {
        &self.all
    }

    /// Whether a text is shown that was not expected yet.
    pub(crate) fn has_shown(&mut self, text: &str) -> bool {
        while self.read_for(Duration::ZERO) {}
        self.shown.contains(text)
    }

    /// What the program wrote to standard error, if that was a pipe and it has ended.
    pub(crate) fn piped_errors(&mut self) -> String {
        let mut text = String::new();
        if let Some(errors) = &mut self.child.stderr {
            errors.read_to_string(&mut text).unwrap();
        }
        text
    }

    pub(crate) fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).unwrap()
    }

    fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some() && !self.read_for(Duration::ZERO)
    }

    /// Reads what there is, waiting so long for it. `false` if there was nothing.
    fn read_for(&mut self, patience: Duration) -> bool {
        let Some(person) = &mut self.person else {
            return false;
        };
        let timeout = Timespec::try_from(patience).unwrap();
        let mut polled = [PollFd::from_borrowed_fd(person.as_fd(), PollFlags::IN)];
        poll(&mut polled, Some(&timeout)).unwrap();
        let mut some = [0; 4096];
        match person.read(&mut some) {
            Ok(0) => false,
            Ok(read) => {
                let text = String::from_utf8_lossy(some.get(..read).unwrap()).into_owned();
                self.shown.push_str(&text);
                self.all.push_str(&text);
                true
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => false,
            // Nobody holds the other side any more.
            Err(error) if error.raw_os_error() == Some(rustix::io::Errno::IO.raw_os_error()) => {
                false
            }
            Err(error) => panic!("{error} after {}", self.all),
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // Gone already, if the test went well.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const fn size(rows: u16, columns: u16) -> Winsize {
    Winsize {
        ws_row: rows,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    }
}
