//! What runs inside the sandbox: performs a list of accesses, undoes each one, and prints how each went.

use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, symlink};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};

/// One attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Attempt {
    Read(PathBuf),
    List(PathBuf),
    /// Sets the mode that a file has.
    Change(PathBuf),
    MakeFile(PathBuf),
    MakeDirectory(PathBuf),
    /// Removes a file, and makes it again.
    RemoveFile(PathBuf, String),
    RemoveLink(PathBuf, PathBuf),
    RemoveDirectory(PathBuf),
    Rename(PathBuf, PathBuf),
    Exchange(PathBuf, PathBuf),
    /// Adds one byte; this stays.
    Append(PathBuf),
}

impl fmt::Display for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(path) => write!(f, "read\t{}", path.display()),
            Self::List(path) => write!(f, "list\t{}", path.display()),
            Self::Change(path) => write!(f, "change\t{}", path.display()),
            Self::MakeFile(path) => write!(f, "make-file\t{}", path.display()),
            Self::MakeDirectory(path) => write!(f, "make-directory\t{}", path.display()),
            Self::RemoveFile(path, text) => write!(f, "remove-file\t{}\t{text}", path.display()),
            Self::RemoveLink(path, target) => {
                write!(f, "remove-link\t{}\t{}", path.display(), target.display())
            }
            Self::RemoveDirectory(path) => write!(f, "remove-directory\t{}", path.display()),
            Self::Rename(from, to) => write!(f, "rename\t{}\t{}", from.display(), to.display()),
            Self::Exchange(one, two) => {
                write!(f, "exchange\t{}\t{}", one.display(), two.display())
            }
            Self::Append(path) => write!(f, "append\t{}", path.display()),
        }
    }
}

impl Attempt {
    fn parse(line: &str) -> Self {
        let mut parts = line.trim_end_matches('\n').split('\t');
        let word = parts.next().unwrap();
        let path = PathBuf::from(parts.next().unwrap());
        let more = parts.next().unwrap_or_default();
        match word {
            "read" => Self::Read(path),
            "list" => Self::List(path),
            "change" => Self::Change(path),
            "make-file" => Self::MakeFile(path),
            "make-directory" => Self::MakeDirectory(path),
            "remove-file" => Self::RemoveFile(path, more.replace('\u{1}', "\n")),
            "remove-link" => Self::RemoveLink(path, more.into()),
            "remove-directory" => Self::RemoveDirectory(path),
            "rename" => Self::Rename(path, more.into()),
            "exchange" => Self::Exchange(path, more.into()),
            "append" => Self::Append(path),
            other => panic!("no such attempt: {other}"),
        }
    }

    /// Does it, and undoes it; an undoing that fails is not an answer.
    fn perform(&self) -> Result<(), Failure> {
        let undo = |result: io::Result<()>| result.map_err(Failure::Undo);
        // An attempt may take away a link that its own path leads through, so undoing goes by the real path.
        let real = |path: &Path| {
            let parent = path.parent().and_then(|parent| parent.canonicalize().ok());
            let name = path.file_name();
            match (parent, name) {
                (Some(parent), Some(name)) => parent.join(name),
                _ => path.to_path_buf(),
            }
        };
        match self {
            Self::Read(path) => {
                let mut bytes = Vec::new();
                fs::File::open(path)?.read_to_end(&mut bytes)?;
            }
            Self::List(path) => {
                for entry in fs::read_dir(path)? {
                    entry?;
                }
            }
            Self::Change(path) => fs::set_permissions(path, fs::metadata(path)?.permissions())?,
            Self::MakeFile(path) => {
                OpenOptions::new()
                    .write(true)
                    .create_new(true)
                    .mode(0o644)
                    .open(path)?;
                undo(fs::remove_file(path))?;
            }
            Self::MakeDirectory(path) => {
                fs::create_dir(path)?;
                undo(fs::remove_dir(path))?;
            }
            Self::RemoveFile(path, text) => {
                let again = real(path);
                fs::remove_file(path)?;
                undo(fs::write(again, text))?;
            }
            Self::RemoveLink(path, target) => {
                let again = real(path);
                fs::remove_file(path)?;
                undo(symlink(target, again))?;
            }
            Self::RemoveDirectory(path) => {
                let again = real(path);
                fs::remove_dir(path)?;
                undo(fs::create_dir(again))?;
            }
            Self::Rename(from, to) => {
                let again = (real(to), real(from));
                rename(from, to, RenameFlags::NOREPLACE)?;
                undo(rename(&again.0, &again.1, RenameFlags::NOREPLACE))?;
            }
            Self::Exchange(one, two) => {
                let again = (real(one), real(two));
                rename(one, two, RenameFlags::EXCHANGE)?;
                undo(rename(&again.0, &again.1, RenameFlags::EXCHANGE))?;
            }
            Self::Append(path) => OpenOptions::new()
                .append(true)
                .open(path)?
                .write_all(b"+")?,
        }
        Ok(())
    }
}

fn rename(from: &Path, to: &Path, flags: RenameFlags) -> io::Result<()> {
    renameat_with(CWD, from, CWD, to, flags).map_err(io::Error::from)
}

enum Failure {
    Attempt(io::Error),
    Undo(io::Error),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Attempt(error)
    }
}

/// How an attempt went: done, or the error number.
pub(super) type Outcome = Result<(), i32>;

const ATTEMPTS: &str = "PALISADE_DIFFERENTIAL_ATTEMPTS";
const MARK: &str = "differential-outcome";

/// The variables that tell the probe what to do.
pub(super) fn environment(attempts: &[Attempt]) -> [(std::ffi::OsString, std::ffi::OsString); 1] {
    let lines: Vec<String> = attempts
        .iter()
        .map(|attempt| attempt.to_string().replace('\n', "\u{1}"))
        .collect();
    [(ATTEMPTS.into(), lines.join("\n").into())]
}

/// The arguments that make a test binary the probe.
pub(super) const ARGUMENTS: [&str; 4] = [
    "--exact",
    "differential::probe::inside",
    "--ignored",
    "--nocapture",
];

/// What the probe said; an error if something could not be undone.
pub(super) fn outcomes(text: &str) -> Result<Vec<Outcome>, String> {
    let mut outcomes = Vec::new();
    for line in text.lines() {
        let Some((_, line)) = line.split_once(MARK) else {
            continue;
        };
        match line.trim().split_once(' ') {
            None if line.trim() == "done" => outcomes.push(Ok(())),
            Some(("failed", code)) => outcomes.push(Err(code.parse().unwrap())),
            _ => return Err(format!("attempt {} was not undone: {line}", outcomes.len())),
        }
    }
    Ok(outcomes)
}

#[test]
#[ignore = "a part of other tests"]
fn inside() {
    let Ok(attempts) = std::env::var(ATTEMPTS) else {
        println!("skipped: nobody asked for anything");
        return;
    };
    for line in attempts.split('\n').filter(|line| !line.is_empty()) {
        let code = |error: io::Error| error.raw_os_error().unwrap_or(-1);
        match Attempt::parse(line).perform() {
            Ok(()) => println!("\n{MARK} done"),
            Err(Failure::Attempt(error)) => println!("\n{MARK} failed {}", code(error)),
            Err(Failure::Undo(error)) => {
                println!("\n{MARK} stuck {}", code(error));
                return;
            }
        }
    }
}
