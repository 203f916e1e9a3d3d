//! The helper between `sandbox-exec` and the command: it says that the sandbox is entered, makes sure that the program is
//! the judged one, and becomes it.
//!
//! It talks over descriptor [`DESCRIPTOR`], which whoever starts `sandbox-exec` leaves open: one byte when it runs, and a
//! record of eight if it cannot become the command. The descriptor is closed by the exec that starts the command.

#[cfg(unix)]
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io;
use std::process::ExitCode;

use super::error::ApplyError;

/// The first argument of a program that is started as this helper.
pub const WORD: &str = "--palisade-seatbelt-stage-1";

/// The descriptor that the helper talks over.
pub const DESCRIPTOR: i32 = 3;

/// What it says first.
const ENTERED: u8 = b'S';

/// The most that it says.
pub const REPORT_MAX: usize = 1 + RECORD;
const RECORD: usize = 8;

/// What the names of the command's variables begin with on their way to the helper.
///
/// `sandbox-exec` runs before there is a sandbox, and the libraries of the system do as variables say: they load a library,
/// or write a log where they are told to. So none of the command's has a name that anybody knows before the helper, in the
/// sandbox, gives it back.
const VARIABLE: &str = "palisade+";

/// The name of a variable of the command on its way to the helper.
#[must_use]
pub fn hidden_variable(name: &OsStr) -> OsString {
    let mut hidden = OsString::from(VARIABLE);
    hidden.push(name);
    hidden
}

/// The environment of the command: the variables that were hidden, under their own names, and those that were not, which
/// whoever started `sandbox-exec` has set for both and no command can set.
#[cfg(unix)]
fn revealed(
    variables: impl IntoIterator<Item = (OsString, OsString)>,
) -> BTreeMap<OsString, OsString> {
    use std::os::unix::ffi::OsStrExt as _;
    let mut plain = BTreeMap::new();
    let mut environment = BTreeMap::new();
    for (name, value) in variables {
        match name.as_bytes().strip_prefix(VARIABLE.as_bytes()) {
            Some(own) => environment.insert(OsStr::from_bytes(own).to_owned(), value),
            None => plain.insert(name, value),
        };
    }
    environment.extend(plain);
    environment
}

/// A command for the helper to become.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Staged {
    /// Where the program may be, in order.
    pub candidates: Vec<OsString>,
    /// What the only candidate must be: its device and inode number.
    pub identity: Option<(u64, u64)>,
    /// The name that it is started by, and its arguments.
    pub argv: Vec<OsString>,
}

/// A step of the helper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// Reading what it was asked for.
    Words = 1,
    /// Making sure that the program is the judged one.
    ProgramChanged,
    /// Starting the program.
    Exec,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Words => "reading the request",
            Self::ProgramChanged => "checking that the program is the judged one",
            Self::Exec => "starting the program",
        })
    }
}

impl Staged {
    /// A program at one of these places, started as this.
    pub fn new<A: Into<OsString>>(
        candidates: impl IntoIterator<Item = A>,
        argv: impl IntoIterator<Item = A>,
    ) -> Self {
        Self {
            candidates: candidates.into_iter().map(Into::into).collect(),
            identity: None,
            argv: argv.into_iter().map(Into::into).collect(),
        }
    }

    /// With what the program must be: its device and inode number.
    #[must_use]
    pub const fn with_identity(mut self, device: u64, inode: u64) -> Self {
        self.identity = Some((device, inode));
        self
    }

    /// The arguments of the helper.
    #[must_use]
    pub fn arguments(&self) -> Vec<OsString> {
        let identity = self.identity.map_or_else(
            || "-".to_owned(),
            |(device, inode)| format!("{device}:{inode}"),
        );
        let mut words: Vec<OsString> = vec![WORD.into(), identity.into()];
        words.push(self.candidates.len().to_string().into());
        words.extend(self.candidates.iter().cloned());
        words.extend(self.argv.iter().cloned());
        words
    }

    /// What [`Self::arguments`] wrote; `None` if these are not the words of this helper, or make no sense.
    #[cfg(unix)]
    fn parse(arguments: &[OsString]) -> Option<Self> {
        let [identity, count, rest @ ..] = arguments else {
            return None;
        };
        let identity = match identity.to_str()? {
            "-" => None,
            given => {
                let (device, inode) = given.split_once(':')?;
                Some((device.parse().ok()?, inode.parse().ok()?))
            }
        };
        let (candidates, argv) = rest.split_at_checked(count.to_str()?.parse().ok()?)?;
        let makes_sense = !candidates.is_empty()
            && !argv.is_empty()
            && (identity.is_none() || candidates.len() == 1);
        makes_sense.then(|| Self {
            candidates: candidates.to_vec(),
            identity,
            argv: argv.to_vec(),
        })
    }
}

/// Becomes the command that these arguments of a program ask for, the program's own name included; `None` at once if they
/// ask for something else. Call it before any thread is started.
#[must_use]
pub fn dispatch(arguments: &[OsString]) -> Option<ExitCode> {
    match arguments {
        [_, word, rest @ ..] if word == WORD => Some(enter(rest)),
        _ => None,
    }
}

/// Returns only if the command could not be started.
#[cfg(unix)]
fn enter(arguments: &[OsString]) -> ExitCode {
    let Ok(report) = crate::sys::stage::Report::take() else {
        // Nobody listens: whoever started this is not who may.
        return ExitCode::from(NOBODY_LISTENS);
    };
    report.say(&[ENTERED]);
    let (step, errno) = match Staged::parse(arguments) {
        None => (Step::Words, rustix::io::Errno::INVAL),
        Some(staged) => become_command(&staged),
    };
    let [a, b, c, d] = errno.raw_os_error().to_le_bytes();
    report.say(&[step as u8, 0, 0, 0, a, b, c, d]);
    ExitCode::from(127)
}

#[cfg(not(unix))]
fn enter(_: &[OsString]) -> ExitCode {
    ExitCode::from(NOBODY_LISTENS)
}

/// What the helper ends with where nobody listens.
const NOBODY_LISTENS: u8 = 126;

#[cfg(unix)]
fn become_command(staged: &Staged) -> (Step, rustix::io::Errno) {
    use rustix::io::Errno;
    let environment = revealed(std::env::vars_os());
    let mut last = Errno::NOENT;
    for candidate in &staged.candidates {
        if let Some(judged) = staged.identity {
            match rustix::fs::stat(candidate.as_os_str()) {
                Err(errno) => return (Step::Exec, errno),
                Ok(now) if identity(&now) != judged => {
                    return (Step::ProgramChanged, Errno::STALE);
                }
                Ok(_) => {}
            }
        }
        match crate::sys::stage::exec(candidate, &staged.argv, &environment) {
            Errno::NOENT | Errno::NOTDIR => {}
            // Another directory may have one that can be run; if none has, this is the better answer.
            errno @ (Errno::ACCESS | Errno::PERM) => last = errno,
            errno => return (Step::Exec, errno),
        }
    }
    (Step::Exec, last)
}

/// A device and inode number, as everybody here writes them.
#[cfg(unix)]
#[expect(
    clippy::unnecessary_cast,
    reason = "the types of these fields differ between systems"
)]
#[cfg_attr(
    target_os = "macos",
    expect(
        clippy::cast_sign_loss,
        reason = "the number of a device, kept as it is"
    )
)]
const fn identity(found: &rustix::fs::Stat) -> (u64, u64) {
    (found.st_dev as u64, found.st_ino as u64)
}

/// What was heard over the descriptor when the process has ended and nobody holds the other end.
///
/// # Errors
/// The command did not run, and why. `end` is how the process ended, a code or else a signal.
pub fn heard(report: &[u8], end: Result<i32, i32>) -> Result<(), ApplyError> {
    match report {
        [] => Err(ApplyError::never_entered(end)),
        [ENTERED] => Ok(()),
        [ENTERED, step, 0, 0, 0, errno @ ..] if errno.len() == 4 => {
            let step = [Step::Words, Step::ProgramChanged, Step::Exec]
                .into_iter()
                .find(|known| *known as u8 == *step)
                .ok_or(ApplyError::Garbled)?;
            let errno = errno.try_into().map_err(|_| ApplyError::Garbled)?;
            let source = io::Error::from_raw_os_error(i32::from_le_bytes(errno));
            Err(ApplyError::Step { step, source })
        }
        _ => Err(ApplyError::Garbled),
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<OsString> {
        words.iter().map(OsString::from).collect()
    }

    #[test]
    fn a_request_is_read_back_whatever_its_words_are() {
        for staged in [
            Staged::new(["/usr/bin/make"], ["make"]).with_identity(16_777_232, 9),
            Staged::new(["/a/x", "./x"], ["x", "--", "", WORD, "2", "-"]),
        ] {
            let arguments = staged.arguments();
            assert_eq!(arguments[0], WORD);
            assert_eq!(Staged::parse(&arguments[1..]), Some(staged));
        }
    }

    #[test]
    fn a_command_gets_its_own_variables_and_cannot_take_the_place_of_others() {
        let variable = |(name, value): (&str, &str)| (OsString::from(name), OsString::from(value));
        let hidden = |name: &str| hidden_variable(OsStr::new(name)).into_string().unwrap();
        let (lib, run) = (hidden("DYLD_INSERT_LIBRARIES"), hidden("PALISADE_RUN"));
        let passed = [
            (lib.as_str(), "/srv/app/x.dylib"),
            (&run, "forged"),
            ("PALISADE_RUN", "1"),
        ];
        for (name, _) in &passed[..2] {
            assert!(!name.starts_with("DYLD_") && !name.starts_with("PALISADE_"));
        }
        let expected = [
            ("DYLD_INSERT_LIBRARIES", "/srv/app/x.dylib"),
            ("PALISADE_RUN", "1"),
        ];
        assert_eq!(
            revealed(passed.map(variable)),
            expected.map(variable).into_iter().collect()
        );
        let mut reversed = passed.map(variable);
        reversed.reverse();
        assert_eq!(revealed(reversed), revealed(passed.map(variable)));
    }

    #[test]
    fn words_that_make_no_sense_are_no_request() {
        for bad in [
            &["-", "0", "sh"][..],
            &["-", "1", "/bin/sh"],
            &["-", "2", "/bin/sh", "sh"],
            &["-", "-1", "/bin/sh", "sh"],
            &["-", "99999999999999999999", "/bin/sh", "sh"],
            &["1", "1", "/bin/sh", "sh"],
            &["1:x", "1", "/bin/sh", "sh"],
            &["1:2", "2", "/bin/sh", "/usr/bin/sh", "sh"],
            &[],
        ] {
            assert_eq!(Staged::parse(&words(bad)), None, "{bad:?}");
        }
        assert_eq!(dispatch(&words(&["palisade", "make", WORD])), None);
        assert_eq!(dispatch(&words(&[WORD])), None);
    }

    #[test]
    fn only_what_was_never_heard_was_never_entered() {
        let is = |report: &[u8], end| heard(report, end);
        assert!(matches!(is(b"", Ok(71)), Err(ApplyError::NestedOrRefused)));
        assert!(matches!(is(b"", Ok(65)), Err(ApplyError::ProfileRefused)));
        assert!(matches!(
            is(b"", Ok(0)),
            Err(ApplyError::EndedBefore { code: 0 })
        ));
        assert!(matches!(
            is(b"", Err(9)),
            Err(ApplyError::KilledBefore { signal: 9 })
        ));
        // A command that ends as sandbox-exec would is a command that ended.
        for end in [Ok(71), Ok(65), Ok(64), Ok(0), Err(9)] {
            assert!(is(b"S", end).is_ok());
        }
        let failed = is(b"S\x03\0\0\0\x02\0\0\0", Ok(127));
        let Err(ApplyError::Step { step, source }) = failed else {
            panic!("{failed:?}")
        };
        assert_eq!((step, source.raw_os_error()), (Step::Exec, Some(2)));
        for garbled in [&b"x"[..], b"SS", b"S\x03\0\0\0", b"S\x09\0\0\0\x02\0\0\0"] {
            assert!(matches!(is(garbled, Ok(127)), Err(ApplyError::Garbled)));
        }
    }
}
